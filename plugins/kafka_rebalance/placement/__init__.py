"""Kafka's own replica placers, exact under a ``java.util.Random`` seed.

``striped`` is what KRaft controllers do (3.0+), ``rack_alternating`` what ZooKeeper clusters did and
``kafka-reassign-partitions --generate`` before 4.1; ``generate`` is that tool's proposal, before 4.1 and since.
"""
