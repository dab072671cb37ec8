"""``--min-topic-leaders``: every broker that may lead leads so many partitions of each of these topics."""
