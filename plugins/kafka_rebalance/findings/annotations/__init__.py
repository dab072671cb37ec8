"""What is added to findings once they are found: whose they are, which are quiet, which key is behind them."""
