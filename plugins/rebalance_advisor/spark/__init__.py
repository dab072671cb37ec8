"""Common parts of our Spark jobs: shipped code, checks of executors, packing, progress."""
