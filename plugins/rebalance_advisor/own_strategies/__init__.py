"""Custom assignors and partitioners, each in its own limited process."""
