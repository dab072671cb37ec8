"""Why each move is made, and why a band is not met, in words."""
