"""Readers of each partition without a group: subtasks of Flink, tasks of MirrorMaker 2. O(partitions).

Flink (``KafkaSourceEnumerator.getSplitOwner``), promises in this order:

1. Subtask (start + p) mod parallelism reads partition p. start = (31 · Java's hash of the topic, without its sign
   bit) mod parallelism.
2. So subtasks differ by one partition of each topic at most; over all topics by as many as there are topics.

MirrorMaker 2 (``MirrorSourceConnector.taskConfigs``), promises in this order:

1. There are min(``tasks.max``, partitions) tasks. All partitions are dealt to them in turn, so tasks differ by one.
2. The turn goes topic by topic in the order of Java's HashMap of names, and inside a topic by number.

Topics that share a bin of that map have the order in which the brokers list them, which is taken to be that of names.
Example: topics a and b of 4 partitions. Flink with parallelism 3: a starts at 31 · 97 mod 3 = 1, b at 31 · 98 mod 3 =
2. MirrorMaker with 3 tasks: a-0, a-3 and b-2 to task 0.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.java.hash_order import DEFAULT_CAPACITY, map_copy_capacity, put_order_with_trees
from kafka_assignors.java.strings import hash_code, hash_codes
from kafka_assignors.releases import Releases
from kafka_assignors.string_column import StringColumn

FLINK = Releases("Flink-connector", "4.0", "5.0")
MIRROR_MAKER = Releases("Kafka", "4.3", "4.3")

Readers = dict[str, tuple[int, ...]]  # topic → reader of each partition
_NOT_SIGN = 0x7FFFFFFF


def flink_readers(partition_counts: Mapping[str, int], parallelism: int) -> Readers:
    """Return the subtask of each partition."""
    _check(parallelism, "parallelism")
    starts = {topic: (31 * hash_code(topic) & _NOT_SIGN) % parallelism for topic in partition_counts}
    return {
        topic: tuple((starts[topic] + partition) % parallelism for partition in range(count))
        for topic, count in partition_counts.items()
    }


def mirror_maker_readers(partition_counts: Mapping[str, int], tasks_max: int) -> Readers:
    """Return the task of each partition."""
    _check(tasks_max, "tasks_max")
    tasks, turn = min(tasks_max, sum(partition_counts.values())), 0
    readers: Readers = dict.fromkeys(partition_counts, ())
    for topic in mirror_maker_order(sorted(partition_counts)):
        readers[topic] = tuple((turn + partition) % tasks for partition in range(partition_counts[topic]))
        turn += partition_counts[topic]
    return readers


def mirror_maker_order(topics: list[str]) -> list[str]:
    """``topics``: as a broker lists them.

    The names come from a map and a set; the admin client's answer is a presized map, its copy, and another one.
    """
    count = len(topics)
    for capacity in (DEFAULT_CAPACITY, DEFAULT_CAPACITY, count, map_copy_capacity(count), count):
        column = StringColumn.of(topics)
        order = put_order_with_trees(hash_codes(column.data, column.offsets), int(capacity))
        topics = [topics[index] for index in order.tolist()]
    return topics


def _check(readers: int, location: str) -> None:
    if readers < 1:
        raise InvalidInputError.at(location, f"{readers}", "1 or more")
