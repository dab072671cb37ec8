"""Print the demo cluster as Kafka 4.3's own tools do, column for column (share groups: ``share_dumps``)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from hashlib import md5

from stack.demo.groups import DemoGroup, DemoMember, coordinator_of
from stack.demo.topics import BROKERS, CAPACITY_BYTES, DemoTopic, rack_of

_NARROW = ("#PARTITIONS", "CURRENT-EPOCH", "TARGET-EPOCH", "UPGRADED")
_EMPTY_NOTE = "\nConsumer group '{}' has no active members.\n"


def brokers_csv() -> str:
    rows = [f"{broker},{rack_of(broker)},{host_of(broker)}" for broker in BROKERS]
    return "\n".join(["id,rack,host", *rows]) + "\n"


def capacity_csv() -> str:
    rows = [f"{broker},{CAPACITY_BYTES},,," for broker in BROKERS]
    return "\n".join(["broker,disk_bytes,in_bytes_per_s,out_bytes_per_s,cpu_percent", *rows]) + "\n"


def kafka_topics(topics: Sequence[DemoTopic]) -> str:
    return "".join(_describe(topic) for topic in topics)


def kafka_log_dirs(topics: Sequence[DemoTopic], moment: int) -> str:
    held: dict[int, list[dict[str, object]]] = {broker: [] for broker in BROKERS}
    for topic in topics:
        for partition in topic.partitions:
            for broker, size in zip(partition.replicas, partition.sizes(moment), strict=True):
                row = {"partition": f"{topic.name}-{partition.number}", "size": size, "offsetLag": 0, "isFuture": False}
                held[broker].append(row)
    brokers = [
        {"broker": broker, "logDirs": [{"partitions": rows, "error": None, "logDir": "/var/lib/kafka/data"}]}
        for broker, rows in held.items()
    ]
    listed = ",".join(map(str, BROKERS))
    return (
        "Querying brokers for log directories information\n"
        f"Received log directory information from brokers {listed}\n"
        + json.dumps({"brokers": brokers, "version": 1}, separators=(",", ":"))
        + "\n"
    )


def kafka_get_offsets(topics: Sequence[DemoTopic], moment: int, *, earliest: bool) -> str:
    """kafka-get-offsets --time earliest | latest; rows sorted as texts, as in the tool."""
    partitions = {f"{topic.name}-{partition.number}": partition for topic in topics for partition in topic.partitions}
    return "".join(
        f"{partition.topic}:{partition.number}:{(partition.starts if earliest else partition.ends)[moment]}\n"
        for _, partition in sorted(partitions.items())
    )


def kafka_consumer_groups_offsets(groups: Sequence[DemoGroup], topics: Sequence[DemoTopic], moment: int) -> str:
    ends = {
        (topic.name, partition.number): partition.ends[moment] for topic in topics for partition in topic.partitions
    }
    header = (
        "GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID"
    )  # fmt: skip
    widths = (15, 15, 10, 15, 15, 15, 15, 15, 0)
    text = ""
    for group in groups:
        rows = [
            (group.id, *(str(number) for number in _reading(group, partition, ends[partition], moment)), *_who(member))
            for partition, member in _readers(group)
        ]
        rows += [(group.id, "-", "-", "-", "-", "-", *_who(member)) for member in group.members if not member.assigned]
        text += _EMPTY_NOTE.format(group.id) if not group.members else ""
        text += table(header, rows, widths, stretched=(0, 1, 6, 7))
    return text


def kafka_consumer_groups_members(groups: Sequence[DemoGroup]) -> str:
    text = ""
    for group in groups:
        if not group.members:
            text += _EMPTY_NOTE.format(group.id)
            continue
        has_instances = any(member.instance_id for member in group.members)
        header = ["GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "CURRENT-EPOCH",
                  "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT", "UPGRADED"]  # fmt: skip
        widths = [15, 15, 17, 15, 15, 15, 15, 20, 15, 20, 0]
        rows = [_member_row(group, member) for member in group.members]
        if len({member.is_upgraded for member in group.members}) == 1:  # set while both protocols are in use
            for columns in (header, widths, *rows):
                del columns[-1]  # type: ignore[attr-defined]
        if not has_instances:
            for columns in (header, widths, *rows):
                del columns[2]  # type: ignore[attr-defined]
        stretched = [number for number, name in enumerate(header) if name not in _NARROW]
        text += table(header, rows, widths, stretched)
    return text


def kafka_consumer_groups_state(groups: Sequence[DemoGroup], topics: Sequence[DemoTopic]) -> str:
    by_name = {topic.name: topic for topic in topics}
    header = ("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS")
    text = ""
    for group in groups:
        broker = coordinator_of(group.id, by_name)
        strategy = group.strategy if group.members else "-"
        row = (group.id, f"{host_of(broker)}:9092  ({broker})", strategy, group.state, str(len(group.members)))
        text += _EMPTY_NOTE.format(group.id) if not group.members else ""
        text += table(header, [row], (15, 25, 20, 20, 0), stretched=(0, 1))
    return text


def host_of(broker: int) -> str:
    return f"broker-{broker}.demo.example"


def _describe(topic: DemoTopic) -> str:
    topic_id = base64.urlsafe_b64encode(md5(topic.name.encode(), usedforsecurity=False).digest()).decode().rstrip("=")
    configs = ",".join(f"{name}={value}" for name, value in topic.configs.items())
    replication = len(topic.partitions[0].replicas)
    head = f"Topic: {topic.name}\tTopicId: {topic_id}\tPartitionCount: {len(topic.partitions)}"
    lines = [f"{head}\tReplicationFactor: {replication}\tConfigs: {configs}"]
    for partition in topic.partitions:
        replicas = ",".join(map(str, partition.replicas))
        lines.append(
            f"\tTopic: {topic.name}\tPartition: {partition.number}\tLeader: {partition.leader}"
            f"\tReplicas: {replicas}\tIsr: {replicas}\tElr: \tLastKnownElr: "
        )
    return "\n".join(lines) + "\n"


def _readers(group: DemoGroup) -> Iterator[tuple[tuple[str, int], DemoMember | None]]:
    owner = {partition: member for member in group.members for partition in member.assigned}
    return ((partition, owner.get(partition)) for partition in sorted(group.committed))


def _reading(
    group: DemoGroup, partition: tuple[str, int], end: int, moment: int
) -> tuple[str, int, int, int, int]:  # fmt: skip
    committed = group.committed[partition][moment]
    return (*partition, committed, end, end - committed)


def _who(member: DemoMember | None) -> tuple[str, str, str]:
    return ("-", "-", "-") if member is None else (member.id, member.host, member.client_id)


def _member_row(group: DemoGroup, member: DemoMember) -> list[str]:
    assigned = assignment_cell(member)
    epoch = "-" if group.epoch is None else str(group.epoch)
    target = "-" if group.epoch is None else assigned
    return [group.id, member.id, member.instance_id, member.host, member.client_id, str(len(member.assigned)),
            epoch, assigned, epoch, target, str(member.is_upgraded).lower()]  # fmt: skip


def assignment_cell(member: DemoMember) -> str:
    runs: dict[str, list[int]] = {}
    for topic, number in sorted(member.assigned):
        runs.setdefault(topic, []).append(number)
    return ";".join(f"{topic}:{','.join(map(str, numbers))}" for topic, numbers in runs.items()) or "-"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int], stretched: Sequence[int]) -> str:
    """Padded as by Java's ``%-15s``; ``stretched`` columns grow with their longest cell."""
    if not rows:
        return ""
    full = [
        max(width, *(len(row[number]) for row in rows)) if number in stretched else width
        for number, width in enumerate(widths)
    ]
    lines = [" ".join(cell.ljust(width) for cell, width in zip(row, full, strict=True)) for row in (header, *rows)]
    return "\n" + "\n".join(lines) + "\n"
