"""The assignment of a member in one cell of ``--members --verbose``.

Three ways to print it: ``orders(0,1), payments(2)`` up to 3.6; ``(0,1), (2)`` from 3.7 to 3.9, which lost the topics'
names (the offsets dump has them); ``orders:0,1;payments:2`` from 4.0 on. ``-`` is nothing.
"""

from __future__ import annotations

import re

from kafka_rebalance.snapshot.model import TopicPartitions
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.dumps.files.dump_lines import Line, whole_number

_WITH_BRACKETS = re.compile(r"(?P<topic>[\w.-]*)\((?P<partitions>\d+(?:,\d+)*)\)(?:,\s*|$)")


def read_assignment(cell: str, line: Line) -> TopicPartitions | None:
    """Topics sorted, partitions ascending; ``None`` where the tool printed no topics.

    Raises InvalidInputError for a cell that is cut or names a partition twice.
    """
    if cell in ("", "-"):
        return ()
    if "(" in cell:
        pairs = _bracketed(cell, line)
        if pairs is None:
            return None
    else:
        pairs = _with_colons(cell, line)
    if len(set(pairs)) != len(pairs):
        raise line.refuse(f"a partition stands twice in the assignment {excerpt(cell)}")
    return runs_of(pairs)


def runs_of(pairs: list[tuple[str, int]]) -> TopicPartitions:
    """(topic, partition) pairs as sorted runs."""
    runs: dict[str, list[int]] = {}
    for topic, partition in sorted(pairs):
        runs.setdefault(topic, []).append(partition)
    return tuple((topic, tuple(partitions)) for topic, partitions in runs.items())


def partition_count(runs: TopicPartitions) -> int:
    """How many partitions the runs hold."""
    return sum(len(partitions) for _, partitions in runs)


def _bracketed(cell: str, line: Line) -> list[tuple[str, int]] | None:
    pairs: list[tuple[str, int]] = []
    at = 0
    while at < len(cell):
        match = _WITH_BRACKETS.match(cell, at)
        if match is None:
            raise line.refuse(f"is no assignment: {excerpt(cell[at : at + 60])}")
        pairs += [(match["topic"], whole_number(part, line, "a partition")) for part in match["partitions"].split(",")]
        at = match.end()
    if all(not topic for topic, _ in pairs):
        return None
    if any(not topic for topic, _ in pairs):
        raise line.refuse(f"a topic's name is missing in {cell[:60]!r}")
    return pairs


def _with_colons(cell: str, line: Line) -> list[tuple[str, int]]:
    """``t:0,1;u:2``; ``t:0,t:1`` as share groups print it."""
    pairs: list[tuple[str, int]] = []
    topic = ""
    for word in re.split(r"[;,]\s*", cell):
        name, colon, number = word.rpartition(":")
        topic = name if colon else topic
        if not topic:
            raise line.refuse(f"is no assignment: {excerpt(cell)}")
        pairs.append((topic, whole_number(number, line, "a partition")))
    return pairs
