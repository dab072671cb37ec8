"""What could not be read, and why: collected while reading, never a reason to stop and never a smaller cluster."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

from kafka_rebalance.snapshot.model import CoverageGap
from kafka_rebalance.snapshot.rights import Right, right_gap
from rebalance_advisor.kafka.connection.client import error_name

_SHOWN_PARTITIONS = 5
CONFIGS = "configs"
# Kafka's error for a refusal → the right that would have been needed, for configs and for all else.
_REFUSALS = {
    29: (Right.TOPIC_CONFIGS, Right.DESCRIBE_TOPICS),
    30: (Right.DESCRIBE_GROUPS, Right.DESCRIBE_GROUPS),
    31: (Right.BROKER_CONFIGS, Right.DESCRIBE_CLUSTER),
}


@dataclass(slots=True)
class Coverage:
    """Gaps found so far. ``cluster``, the subject of those that concern the whole of it, may become known later."""

    cluster: str = ""
    _gaps: set[CoverageGap] = field(default_factory=set)
    _rights: dict[Right, CoverageGap] = field(default_factory=dict)
    _partitions: dict[tuple[str, str, str], list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, subject_type: str, subject: object, what: str, reason: str) -> None:
        """One gap; the same one twice counts once."""
        self._gaps.add(CoverageGap(subject_type, str(subject), what, reason))

    def add_cluster(self, what: str, reason: str) -> None:
        """A gap of the whole cluster."""
        self.add("cluster", "", what, reason)

    def add_error(self, subject_type: str, subject: object, what: str, code: int) -> None:
        """A gap by Kafka's error code; a refusal is a missing right, too."""
        self.note_refusal(what, code)
        self.add(subject_type, subject, what, error_name(code))

    def note_refusal(self, what: str, code: int) -> None:
        """The right that would have been needed, where this code is a refusal."""
        if code in _REFUSALS:
            configs, others = _REFUSALS[code]
            self.add_right(configs if what.endswith(CONFIGS) else others)

    def add_right(self, right: Right, reason: str | None = None) -> None:
        """A right that this login does not have, or that nobody said it has; one gap for each right."""
        if right not in self._rights:
            self._rights[right] = right_gap(right) if reason is None else right_gap(right, reason)

    def add_partition(self, topic: str, partition: int, what: str, reason: str) -> None:
        """A gap of one partition; many of one topic with one reason become one line."""
        self._partitions[topic, what, reason].append(partition)

    def forget_topic(self, topic: str) -> None:
        """What was said of a topic that is read again, or that is gone."""
        self._gaps = {gap for gap in self._gaps if (gap.subject_type, gap.subject) != ("topic", topic)}
        for key in [key for key in self._partitions if key[0] == topic]:
            del self._partitions[key]

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
        return tuple(
            sorted(
                [*whole, *by_topic, *self._rights.values()],
                key=lambda gap: (gap.subject_type, gap.subject, gap.what, gap.reason),
            )
        )
