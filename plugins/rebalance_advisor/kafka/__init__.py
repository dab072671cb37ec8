"""Read a running cluster into a ``ClusterSnapshot``."""
