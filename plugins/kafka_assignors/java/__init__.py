"""The parts of Java and Scala that decide Kafka's answers: OpenJDK 8 to 17, recorded on 17 (19 sizes ``HashMap(Map)``
and ``HashSet(Collection)`` differently).

Bins that became red-black trees (nine keys of one bucket in a table of 64 or more) are exact for MirrorMaker, but for
names of one hash, and modelled as chains elsewhere. Names with numbers may get there: 300 of ``orders.0`` to
``orders.2999``, one set in a few thousand.
"""
