"""The parts of Java and Scala that decide Kafka's answers.

``strings``: UTF-16 order and ``hashCode`` over UTF-8 columns. ``keys``: TopicPartition, Uuid, Optional, Integer.
``hash_order``: iteration order of a HashMap or HashSet. ``priority_queue``: poll order of a PriorityQueue.
``scala_maps``: Scala's maps. ``seeded_random``: Random and MockRandom.

OpenJDK 8 to 17, recorded on 17 (19 sizes ``HashMap(Map)`` and ``HashSet(Collection)`` differently). Bins that became
red-black trees (nine keys of one bucket in a table of 64 or more) are modelled as chains: only strings built to
collide get there.
"""
