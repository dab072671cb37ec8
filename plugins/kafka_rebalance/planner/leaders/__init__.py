"""Who leads: the fewest leader changes for even counts and rates."""
