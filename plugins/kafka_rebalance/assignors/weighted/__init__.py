"""Our own assignor: partitions by measured rate, with a bound on the best possible."""
