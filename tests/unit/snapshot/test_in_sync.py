from dataclasses import replace

from kafka_rebalance.snapshot.model import (
    Broker,
    ClusterSnapshot,
    Partition,
    Topic,
    is_bounded_by_replicas,
    least_in_sync,
    partition_table,
)


def test_each_partition_has_the_least_of_its_topic_and_one_where_nobody_set_a_number() -> None:
    texts = {"a": "2", "b": None, "c": "two", "d": "99999999999999999999", "e": "٣"}
    topics = tuple(
        Topic(name, configs={} if text is None else {"min.insync.replicas": text}) for name, text in texts.items()
    )
    rows = [Partition(name, number, (1,), 1, (1,), (None,)) for name in texts for number in (0, 1)]
    table = partition_table(rows, {name: index for index, name in enumerate(texts)})
    snapshot = ClusterSnapshot(cluster="c", brokers=(Broker(1),), topics=topics, partitions=table)
    assert least_in_sync(snapshot).tolist() == [2, 2, 1, 1, 1, 1, 1, 1, 1, 1]


def test_where_the_topic_says_nothing_its_leaders_broker_does() -> None:
    rows = [
        Partition(name, number, (1, 2), leader, (1, 2)) for name in "ab" for number, leader in enumerate((1, 2, None))
    ]
    topics = (Topic("a", configs={"min.insync.replicas": "3"}), Topic("b"))
    brokers = (Broker(1, configs={"min.insync.replicas": "2"}), Broker(2, configs={"min.insync.replicas": "x"}))
    snapshot = ClusterSnapshot("c", brokers, topics, partition_table(rows, {"a": 0, "b": 1}))
    assert least_in_sync(snapshot).tolist() == [3, 3, 3, 2, 1, 1]
    versions = {None: False, "3.6.2": False, "3.7": True, "3.7.0": True, "4.1.0": True, "7.6.0-ccs": False}
    assert {v: is_bounded_by_replicas(replace(snapshot, kafka_version=v)) for v in versions} == versions
