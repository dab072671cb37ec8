from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.snapshot.coverage import CoverageGap, Right, right_gap
from rebalance_advisor.kafka.connection.client import kafka_error, reason_of

_SHOWN_PARTITIONS = 5
CONFIGS = fact(FactCode.LACKS_CONFIGS, kind=None)
# Parts that only one broker can answer, in output order, with count argument.
_PARTS = MappingProxyType(
    {
        FactCode.LACKS_LOG_DIRS: None,
        FactCode.LACKS_CONFIGS: None,
        FactCode.LACKS_GROUPS_OF_BROKER: None,
        FactCode.LACKS_MEMBERS_OF_GROUPS: "groups",
        FactCode.LACKS_COMMITS_OF_GROUPS: "groups",
        FactCode.LACKS_OFFSETS_OF_PARTITIONS: "partitions",
    }
)
# Refusal code → missing right, for configs and for others.
_REFUSALS = {
    29: (Right.TOPIC_CONFIGS, Right.DESCRIBE_TOPICS),
    30: (Right.GROUP_CONFIGS, Right.DESCRIBE_GROUPS),
    31: (Right.BROKER_CONFIGS, Right.DESCRIBE_CLUSTER),
}


@dataclass(slots=True)
class Coverage:
    cluster: str = ""
    _gaps: set[CoverageGap] = field(default_factory=set)
    _rights: dict[Right, CoverageGap] = field(default_factory=dict)
    _partitions: dict[tuple[str, FactCode, Fact], list[int]] = field(default_factory=lambda: defaultdict(list))
    _unanswered: dict[tuple[int, Fact], dict[FactCode, set[object]]] = field(default_factory=dict)

    def add(self, subject_type: str, subject: object, what: Fact | FactCode, reason: Fact | FactCode) -> None:
        self._gaps.add(CoverageGap(subject_type, str(subject), _fact(what), _fact(reason)))

    def add_cluster(self, what: Fact | FactCode, reason: Fact | FactCode) -> None:
        self.add("cluster", "", what, reason)

    def add_error(self, subject_type: str, subject: object, what: Fact | FactCode, code: int) -> None:
        """A refusal also adds the missing right."""
        self.note_refusal(what, code)
        self.add(subject_type, subject, what, kafka_error(code))

    def note_refusal(self, what: Fact | FactCode, code: int) -> None:
        if code in _REFUSALS:
            configs, others = _REFUSALS[code]
            self.add_right(configs if _fact(what).code is FactCode.LACKS_CONFIGS else others)

    def add_right(self, right: Right, *, is_told: bool = True) -> None:
        self._rights.setdefault(right, right_gap(right, is_told=is_told))

    def add_partition(self, topic: str, partition: int, what: FactCode, reason: Fact | FactCode) -> None:
        """Gaps of one topic with one reason are merged."""
        self._partitions[topic, what, _fact(reason)].append(partition)

    def add_unanswered(
        self, broker: int, part: Fact | FactCode | None, why: Exception | Fact | FactCode, things: Iterable[object] = ()
    ) -> None:
        """``part`` None: the rest. ``things`` count once."""
        reason = reason_of(why) if isinstance(why, Exception) else _fact(why)
        parts = self._unanswered.setdefault((broker, reason), {})
        if part is not None:
            parts.setdefault(_fact(part).code, set()).update(things)

    def forget_topic(self, topic: str) -> None:
        self._gaps = {gap for gap in self._gaps if (gap.subject_type, gap.subject) != ("topic", topic)}
        for key in [key for key in self._partitions if key[0] == topic]:
            del self._partitions[key]
        for parts in self._unanswered.values():
            offsets = parts.get(FactCode.LACKS_OFFSETS_OF_PARTITIONS, set())
            offsets -= {key for key in offsets if _is_of(key, topic)}

    @property
    def gaps(self) -> tuple[CoverageGap, ...]:
        by_topic = []
        for (topic, what, reason), numbers in self._partitions.items():
            first = tuple(sorted(numbers)[:_SHOWN_PARTITIONS])
            why = fact(FactCode.OF_PARTITIONS, partitions=len(numbers), first=first, why=reason)
            by_topic.append(CoverageGap("topic", topic, fact(what), why))
        whole = (replace(gap, subject=self.cluster) if gap.subject_type == "cluster" else gap for gap in self._gaps)
        return tuple(
            sorted(
                [*whole, *by_topic, *self._of_brokers(), *self._rights.values()],
                key=lambda gap: (gap.subject_type, gap.subject, str(gap.what), str(gap.reason)),
            )
        )

    def _of_brokers(self) -> list[CoverageGap]:
        gaps = []
        for (broker, reason), unanswered in self._unanswered.items():
            parts = []
            for code, counted_by in _PARTS.items():
                things = unanswered.get(code)
                if things is not None and (things or counted_by is None):
                    counts = {} if counted_by is None else {counted_by: len(things)}
                    parts.append(CONFIGS if code is CONFIGS.code else fact(code, **counts))
            what = fact(FactCode.LACKS_PARTS, parts=tuple(parts)) if parts else fact(FactCode.LACKS_REST)
            gaps.append(CoverageGap("broker", str(broker), what, reason))
        return gaps


def _fact(given: Fact | FactCode) -> Fact:
    return fact(given) if isinstance(given, FactCode) else given


def _is_of(key: object, topic: str) -> bool:
    return isinstance(key, tuple) and key[0] == topic
