"""Strategies of clients that are not Java's: librdkafka, Sarama, franz-go, kafka-python, aiokafka, KafkaJS, kafka-go.

Their leaders fill maps without an order, so only who reads what is theirs; the order inside our lists is by topic and
partition. Strings compare by code points (as bytes of UTF-8 do), where Java compares UTF-16 code units.
"""
