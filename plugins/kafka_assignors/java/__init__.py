"""The parts of Java and Scala that decide Kafka's answers: strings, hash codes, order of maps and queues, random draws.

``strings``: UTF-16 order and ``hashCode`` over raw UTF-8 columns. ``keys``: TopicPartition, Uuid, Optional, Integer.
``hash_order``: the order in which a HashMap or HashSet walks its keys; ``JavaHashMap`` is one that lives long.
``priority_queue``: the order in which a PriorityQueue polls. ``scala_maps``: Scala's maps. ``seeded_random``: Random
and MockRandom.

All of it stands for OpenJDK 8 to 17 (``HashMap(Map)`` and ``HashSet(Collection)`` size their tables differently from
19 on) and was recorded on 17. Bins that became red-black trees (nine keys of one bucket in a table of 64 or more) are
modelled as plain chains: real ids do not get there, strings built to collide do.
"""
