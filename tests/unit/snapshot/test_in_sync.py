"""``min.insync.replicas`` of each partition, as far as a broker would take it."""

from kafka_rebalance.snapshot.in_sync import least_in_sync
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, Partition, Topic, partition_table


def test_each_partition_has_the_least_of_its_topic_and_one_where_nobody_set_a_number() -> None:
    texts = {"a": "2", "b": None, "c": "two", "d": "99999999999999999999", "e": "٣"}
    topics = tuple(
        Topic(name, configs={} if text is None else {"min.insync.replicas": text}) for name, text in texts.items()
    )
    rows = [Partition(name, number, (1,), 1, (1,), (None,)) for name in texts for number in (0, 1)]
    table = partition_table(rows, {name: place for place, name in enumerate(texts)})
    snapshot = ClusterSnapshot(cluster="c", brokers=(Broker(1),), topics=topics, partitions=table)
    assert least_in_sync(snapshot).tolist() == [2, 2, 1, 1, 1, 1, 1, 1, 1, 1]
