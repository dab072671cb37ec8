"""Options of a plan, their ranges, and the pairs that contradict each other."""
