"""What a plan is asked for: options, their ranges, and which of them contradict each other."""
