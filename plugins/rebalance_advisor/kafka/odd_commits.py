"""Committed offsets that lie outside their partition: beyond its end, or below its start. A lag of them is no lag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_rebalance.snapshot.model import Group, GroupType
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.offsets import TopicPartition


def note_odd_commits(
    groups: Iterable[Group],
    starts: Mapping[TopicPartition, int],
    ends: Mapping[TopicPartition, int],
    coverage: Coverage,
) -> None:
    """A gap for each group and topic with such offsets."""
    for group in groups:
        if group.type is GroupType.SHARE:
            continue  # its start moves with the log's, when somebody reads again
        found: dict[tuple[str, str], list[str]] = {}
        for commit in group.committed:
            key = (commit.topic, commit.partition)
            name = f"{commit.topic}-{commit.partition}"
            if commit.offset > ends.get(key, commit.offset):
                found.setdefault((commit.topic, "beyond the end"), []).append(
                    f"{commit.offset} of {name}, which ends at {ends[key]}"
                )
            elif commit.offset < starts.get(key, commit.offset):
                found.setdefault((commit.topic, "below the start"), []).append(
                    f"{commit.offset} of {name}, which begins at {starts[key]}"
                )
        for (topic, where), examples in found.items():
            words = f"{len(examples):,} committed offsets are {where}, such as {examples[0]}"
            coverage.add("group", group.id, f"lag of topic {topic}", words)
