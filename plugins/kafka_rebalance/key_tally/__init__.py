"""Keys of a topic counted in batches that merge: partitions exactly, heavy and different keys by samples."""
