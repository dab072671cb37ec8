"""What could not be read, and why: collected while reading, never a reason to stop and never a smaller cluster."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

from kafka_rebalance.snapshot.model import CoverageGap

_SHOWN_PARTITIONS = 5


@dataclass(slots=True)
class Coverage:
    """Gaps found so far. ``cluster``, the subject of those that concern the whole of it, may become known later."""

    cluster: str = ""
    _gaps: set[CoverageGap] = field(default_factory=set)
    _partitions: dict[tuple[str, str, str], list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, subject_type: str, subject: object, what: str, reason: str) -> None:
        """One gap; the same one twice counts once."""
        self._gaps.add(CoverageGap(subject_type, str(subject), what, reason))

    def add_cluster(self, what: str, reason: str) -> None:
        """A gap of the whole cluster."""
        self.add("cluster", "", what, reason)

    def add_partition(self, topic: str, partition: int, what: str, reason: str) -> None:
        """A gap of one partition; many of one topic with one reason become one line."""
        self._partitions[topic, what, reason].append(partition)

    @property
    def gaps(self) -> tuple[CoverageGap, ...]:
        """All gaps in a fixed order."""
        by_topic = []
        for (topic, what, reason), partitions in self._partitions.items():
            shown = ", ".join(str(partition) for partition in sorted(partitions)[:_SHOWN_PARTITIONS])
            more = len(partitions) - _SHOWN_PARTITIONS
            words = f"partition {shown}" + (f" and {more} more" if more > 0 else "") + f": {reason}"
            by_topic.append(CoverageGap("topic", topic, what, words))
        whole = [replace(gap, subject=self.cluster) if gap.subject_type == "cluster" else gap for gap in self._gaps]
        return tuple(sorted([*whole, *by_topic], key=lambda gap: (gap.subject_type, gap.subject, gap.what, gap.reason)))
