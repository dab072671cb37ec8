"""Snapshot of one cluster: brokers, topics, partitions, groups, loads. Frozen, checked when built, readable as JSON."""
