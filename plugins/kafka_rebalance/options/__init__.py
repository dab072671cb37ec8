"""The options of a plan, their ranges, and which of them contradict each other."""
