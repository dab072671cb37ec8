"""What Kafka's own tools print of a cluster, read by regular expressions: the other side of every comparison."""

import re
from datetime import UTC, datetime
from pathlib import Path

from stack.kafka.tools import KafkaTools


def printed_partitions(text: str) -> dict[tuple[str, int], tuple[int, list[int], list[int]]]:
    """``kafka-topics --describe`` → (topic, partition) → (leader, replicas, ISR sorted)."""
    rows = re.findall(r"Topic: (\S+)\tPartition: (\d+)\tLeader: (\d+)\tReplicas: (\S+)\tIsr: (\S+)", text)
    return {
        (topic, int(p)): (int(leader), [int(b) for b in replicas.split(",")], sorted(int(b) for b in isr.split(",")))
        for topic, p, leader, replicas, isr in rows
    }


def printed_groups(tools: KafkaTools) -> dict[str, tuple[str, int, list[str]]]:
    """``kafka-consumer-groups`` → group → (state, coordinator, members sorted)."""
    states = re.findall(
        r"(?m)^(\S+) +\S+ +\((\d+)\) +\S+ +(\S+) +\d+", tools.groups("--describe", "--all-groups", "--state")
    )
    members = re.findall(r"(?m)^(\S+) +(\S+) +", tools.groups("--describe", "--all-groups", "--members"))
    return {
        group: (state, int(broker), sorted(member for name, member in members if name == group))
        for group, broker, state in states
    }


def printed_sizes(tools: KafkaTools) -> dict[tuple[int, str, int], int]:
    """``kafka-log-dirs`` → (broker, topic, partition) → bytes."""
    sizes = {}
    for broker in tools.log_dirs()["brokers"]:
        for stored in (row for log_dir in broker["logDirs"] for row in log_dir["partitions"]):
            topic, _, partition = stored["partition"].rpartition("-")
            sizes[broker["broker"], topic, int(partition)] = stored["size"]
    return sizes


def folder_of_dumps(tools: KafkaTools, path: Path) -> str:
    """What an operator would put into a folder: the tools' output, brokers and racks among it, and the time."""
    (path / "topics.txt").write_text(tools.topics("--describe"))
    (path / "log-dirs.txt").write_text(tools.log_dirs_text())
    (path / "members.txt").write_text(tools.groups("--describe", "--all-groups", "--members", "--verbose"))
    (path / "groups.txt").write_text(tools.groups("--describe", "--all-groups"))
    (path / "states.txt").write_text(tools.groups("--describe", "--all-groups", "--state"))
    (path / "brokers.txt").write_text(tools.broker_api_versions())
    (path / "captured_at").write_text(datetime.now(UTC).isoformat())
    return str(path)
