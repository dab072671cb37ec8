"""The cluster of a plan, today and afterwards, recomputed from the snapshot."""
