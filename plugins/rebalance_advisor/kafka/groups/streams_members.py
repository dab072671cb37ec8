"""Topology and members of a streams group (KIP-1071), as StreamsGroupDescribe tells them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_rebalance.snapshot.group import Member, Subtopology, TaskIds, Tasks, partitions_of_tasks


def subtopologies_of(described: Any) -> tuple[Subtopology, ...]:
    """Empty while the group is not initialized, or while topics of its own are missing."""
    rows = (described.topology.subtopologies or ()) if described.topology is not None else ()
    return tuple(
        Subtopology(
            id=row.subtopology_id,
            source_topics=tuple(sorted(row.source_topics)),
            repartition_topics=tuple(sorted(topic.name for topic in row.repartition_source_topics)),
            changelog_topics=tuple(sorted(topic.name for topic in row.state_changelog_topics)),
        )
        for row in sorted(rows, key=lambda row: str(row.subtopology_id))
    )


def streams_member(raw: Any, subtopologies: tuple[Subtopology, ...], partition_counts: Mapping[str, int]) -> Member:
    """Its subscription is what the whole topology reads; what it reads itself follows from its active tasks."""
    tasks, target = _tasks(raw.assignment), _tasks(raw.target_assignment)
    topics = {topic for subtopology in subtopologies for topic in subtopology.read_topics}
    return Member(
        id=raw.member_id,
        instance_id=raw.instance_id or None,
        client_id=raw.client_id or None,
        host=raw.client_host or None,
        rack=raw.rack_id or None,
        subscription=tuple(sorted(topics)) if subtopologies else None,
        assigned=partitions_of_tasks(tasks.active, subtopologies, partition_counts),
        target=partitions_of_tasks(target.active, subtopologies, partition_counts),
        generation=raw.member_epoch,
        is_classic=bool(raw.is_classic),
        process_id=raw.process_id or None,
        tasks=tasks,
        target_tasks=target,
    )


def _tasks(assignment: Any) -> Tasks:
    return Tasks(_ids(assignment.active_tasks), _ids(assignment.standby_tasks), _ids(assignment.warmup_tasks))


def _ids(rows: Any) -> TaskIds:
    return tuple(sorted((row.subtopology_id, tuple(sorted(row.partitions))) for row in rows or ()))
