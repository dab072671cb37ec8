"""Key counts of a topic in batches that merge: partitions exactly, heavy and distinct keys by samples."""
