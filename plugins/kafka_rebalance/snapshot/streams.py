"""What a group of type ``streams`` (KIP-1071) tells beside members and offsets: its topology, and who runs which task.

A task is one partition number of one subtopology: it reads that partition of each topic that the subtopology reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

TaskIds = tuple[tuple[str, tuple[int, ...]], ...]  # subtopology → partition numbers


@dataclass(frozen=True, slots=True)
class Tasks:
    """Tasks of one member: active ones read and write, standby ones keep a copy of the state, warm-up ones catch up."""

    active: TaskIds = ()
    standby: TaskIds = ()
    warmup: TaskIds = ()


@dataclass(frozen=True, slots=True)
class Subtopology:
    """One part of the application: what it reads (its source topics, and repartition topics that it made itself) and
    the changelogs of its state, which it writes, and reads again to restore it.
    """

    id: str
    source_topics: tuple[str, ...] = ()
    repartition_topics: tuple[str, ...] = ()
    changelog_topics: tuple[str, ...] = ()

    @property
    def read_topics(self) -> tuple[str, ...]:
        """What its active tasks consume."""
        return tuple(sorted({*self.source_topics, *self.repartition_topics}))


def partitions_of_tasks(
    tasks: TaskIds, subtopologies: Iterable[Subtopology], partition_counts: Mapping[str, int]
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Partitions that active tasks consume, by topic. A topic may have fewer partitions than its subtopology has tasks;
    one whose count is unknown is taken to have them all.
    """
    topics_of = {subtopology.id: subtopology.read_topics for subtopology in subtopologies}
    found: dict[str, set[int]] = {}
    for subtopology_id, numbers in tasks:
        for topic in topics_of.get(subtopology_id, ()):
            count = partition_counts.get(topic)
            there = {number for number in numbers if count is None or number < count}
            if there:
                found.setdefault(topic, set()).update(there)
    return tuple((topic, tuple(sorted(found[topic]))) for topic in sorted(found))
