from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, Partition, Topic, partition_table
from kafka_rebalance.snapshot.rates import named_partitions, rows_of_same


def snapshot(topics):
    """Topics by name: (id, partition numbers)."""
    rows = [Partition(name, number, (1,), 1) for name, (_, numbers) in topics.items() for number in numbers]
    return ClusterSnapshot(
        cluster="c", brokers=(Broker(1),), topics=tuple(Topic(name, known[0]) for name, known in topics.items()),
        partitions=partition_table(rows, {name: index for index, name in enumerate(topics)}),
    )  # fmt: skip


def test_rows_are_found_whatever_the_order_of_topics_and_the_partitions_that_are_gone():
    """Before: rows a-0, a-1, b-0. Now b-0 is row 0, a-1 and a-2 are rows 1 and 2, c-0 is new."""
    before = named_partitions(snapshot({"a": ("1", [0, 1]), "b": ("2", [0])}))
    now = snapshot({"b": ("2", [0]), "a": ("1", [1, 2]), "c": ("3", [0])})
    assert rows_of_same(before, now).tolist() == [2, 1, -1, -1]


def test_another_id_is_another_topic_and_an_untold_one_may_be_the_same():
    before = named_partitions(snapshot({"a": ("1", [0]), "b": (None, [0]), "c": ("3", [0])}))
    now = snapshot({"a": ("9", [0]), "b": ("2", [0]), "c": (None, [0])})
    assert rows_of_same(before, now).tolist() == [-1, 1, 2]


def test_of_nothing_nothing_is_found():
    some, none = snapshot({"a": ("1", [0])}), snapshot({})
    assert rows_of_same(named_partitions(none), some).tolist() == [-1]
    assert rows_of_same(named_partitions(some), none).tolist() == []
