"""Key → partition, as each client and version does it; and what a sample of keys shows about a topic.

Start with ``contract.py`` and ``registry.py``; the families are ``kafka_java``, ``librdkafka``, ``sarama``.
``key_scores`` weighs a sample: skew, hottest keys, what another partition count remaps, where clients disagree.
"""
