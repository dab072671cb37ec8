"""One reading of a cluster: brokers, topics, partitions, groups, loads; frozen, checked when built, and as JSON."""
