"""The lower bounds, recomputed."""
