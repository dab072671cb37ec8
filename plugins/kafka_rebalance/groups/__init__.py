"""A group's inputs, and its replay under each strategy."""
