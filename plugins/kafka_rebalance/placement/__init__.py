"""Kafka's own replica placers, exact under a ``java.util.Random`` seed."""
