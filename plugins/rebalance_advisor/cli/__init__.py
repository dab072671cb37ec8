"""The shell command `rebalance-advisor`."""
