"""The work of our Spark jobs, between what they read from the store and what they save."""
