"""The Scala 2.13 that decides answers of Kafka's brokers up to 3.9: in which order its hash maps give keys back.

``mutable_map``: the map of a classic group's members. ``immutable_map``: the map in which votes are counted.
"""
