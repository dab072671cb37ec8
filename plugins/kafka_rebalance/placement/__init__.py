"""Kafka's own replica placers, exact under a ``java.util.Random`` seed.

``striped``: KRaft controllers (3.0+); ``rack_alternating``: ZooKeeper clusters, and ``kafka-reassign-partitions
--generate`` before 4.1; ``generate``: that tool's proposal.
"""
