"""Which broker coordinates a group, which strategy and leader it gets, and what a rebalance does to reading."""
