"""Print the share groups of the demo cluster as Kafka 4.3's kafka-share-groups does, column for column."""

from __future__ import annotations

from collections.abc import Sequence

from stack.demo.dumps import assignment_cell, host_of, table
from stack.demo.groups import DemoGroup, coordinator_of
from stack.demo.topics import DemoTopic


def kafka_share_groups_offsets(groups: Sequence[DemoGroup], topics: Sequence[DemoTopic], moment: int) -> str:
    ends = {
        (topic.name, partition.number): partition.ends[moment] for topic in topics for partition in topic.partitions
    }
    text = ""
    for group in groups:
        rows = [
            (group.id, partition[0], str(partition[1]), str(starts[moment]), str(ends[partition] - starts[moment]))
            for partition, starts in sorted(group.committed.items())
        ]
        text += table(("GROUP", "TOPIC", "PARTITION", "START-OFFSET", "LAG"), rows, (15, 15, 10, 13, 0), (0, 1))
    return text


def kafka_share_groups_members(groups: Sequence[DemoGroup]) -> str:
    header = ("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "MEMBER-EPOCH", "ASSIGNMENT")
    text = ""
    for group in groups:
        rows = [
            (group.id, member.id, member.host, member.client_id, str(len(member.assigned)), str(group.epoch),
             assignment_cell(member))
            for member in group.members
        ]  # fmt: skip
        text += table(header, rows, (15, 15, 15, 15, 12, 13, 0), (0, 1, 2, 3))
    return text


def kafka_share_groups_state(groups: Sequence[DemoGroup], topics: Sequence[DemoTopic]) -> str:
    by_name = {topic.name: topic for topic in topics}
    text = ""
    for group in groups:
        broker = coordinator_of(group.id, by_name)
        row = (group.id, f"{host_of(broker)}:9092  ({broker})", group.state, str(len(group.members)))
        text += table(("GROUP", "COORDINATOR (ID)", "STATE", "#MEMBERS"), [row], (15, 25, 15, 0), (0, 1))
    return text
