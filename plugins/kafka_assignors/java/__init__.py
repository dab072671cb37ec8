"""The parts of Java and Scala that decide Kafka's answers: OpenJDK 8 to 17, recorded on 17 (19 sizes ``HashMap(Map)``
and ``HashSet(Collection)`` differently).

Bins that became red-black trees (nine keys of one bucket in a table of 64 or more) are modelled as chains: only strings
built to collide get there.
"""
