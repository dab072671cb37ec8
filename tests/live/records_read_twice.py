"""Which records the members of a group read twice, and how long before a partition was given up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from kafka_assignors.coordinator.timeline import Partition
from tests.live.java_members import Span

Again = tuple[Partition, int, int | None]


@dataclass(frozen=True, slots=True)
class Reads:
    """What a group read: the first time of each record, and those read again, with how old the first reading was when
    its reader gave the partition up (None: it never did).
    """

    first_ms: dict[tuple[Partition, int], int]
    again: list[Again]


def reads_of(spans: Sequence[Span]) -> Reads:
    first: dict[tuple[Partition, int], Span] = {}
    given_up: dict[tuple[str, Partition], list[int]] = defaultdict(list)
    again = []
    for span in spans:
        if span.first < 0:
            given_up[span.member, span.partition].append(span.at_ms)
            continue
        for offset in range(span.first, span.last + 1):
            known = first.setdefault((span.partition, offset), span)
            if known is not span:
                ends = [at for at in given_up[known.member, span.partition] if at >= known.at_ms]
                again.append((span.partition, offset, min(ends) - known.at_ms if ends else None))
    return Reads({record: span.at_ms for record, span in first.items()}, again)
