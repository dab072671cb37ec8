"""Common parts of our Spark jobs."""
