"""Committed offsets that lie outside their partition: beyond its end, or below its start. A lag of them is no lag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_rebalance.facts import FactCode, fact
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
        found: dict[tuple[str, bool], list[tuple[int, str, int]]] = {}
        for commit in group.committed:
            key = (commit.topic, commit.partition)
            name = f"{commit.topic}-{commit.partition}"
            if commit.offset > ends.get(key, commit.offset):
                found.setdefault((commit.topic, True), []).append((commit.offset, name, ends[key]))
            elif commit.offset < starts.get(key, commit.offset):
                found.setdefault((commit.topic, False), []).append((commit.offset, name, starts[key]))
        for (topic, is_beyond_end), examples in found.items():
            offset, name, limit = examples[0]
            reason = fact(
                FactCode.COMMITS_OUTSIDE_LOG,
                commits=len(examples),
                is_beyond_end=is_beyond_end,
                offset=offset,
                partition=name,
                limit=limit,
            )
            coverage.add("group", group.id, fact(FactCode.LACKS_LAG, topic=topic), reason)
