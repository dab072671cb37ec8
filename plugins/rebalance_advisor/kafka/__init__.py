"""Read a running cluster into a ``ClusterSnapshot`` without writing to it; unread parts become coverage gaps."""
