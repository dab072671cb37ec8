"""What could not be read, and why: collected while reading, never a reason to stop and never a smaller cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from kafka_rebalance.amounts import counted
from kafka_rebalance.snapshot.group_reads.unread_groups import COMMITS_OF_BROKER, LIST_OF_BROKER
from kafka_rebalance.snapshot.model import CoverageGap
from kafka_rebalance.snapshot.rights import Right, right_gap
from rebalance_advisor.kafka.connection.client import error_name, reason_of

_SHOWN_PARTITIONS = 5
CONFIGS = "configs"
# What only one broker can tell; in braces what is counted.
LOG_DIRS = "log dirs"
GROUP_LIST = LIST_OF_BROKER
GROUP_MEMBERS = "members of {groups} that it coordinates"
GROUP_COMMITS = f"{COMMITS_OF_BROKER} {{groups}} that it coordinates"
REST = "the rest of the reading"
PARTITION_OFFSETS = "offsets of {partitions} that it leads"
_IN_ORDER = (LOG_DIRS, CONFIGS, GROUP_LIST, GROUP_MEMBERS, GROUP_COMMITS, PARTITION_OFFSETS)
# Kafka's error for a refusal → the right that would have been needed, for configs and for all else.
_REFUSALS = {
    29: (Right.TOPIC_CONFIGS, Right.DESCRIBE_TOPICS),
    30: (Right.GROUP_CONFIGS, Right.DESCRIBE_GROUPS),
    31: (Right.BROKER_CONFIGS, Right.DESCRIBE_CLUSTER),
}


@dataclass(slots=True)
class Coverage:
    """Gaps found so far. ``cluster``, the subject of those that concern the whole of it, may become known later."""

    cluster: str = ""
    _gaps: set[CoverageGap] = field(default_factory=set)
    _rights: dict[Right, CoverageGap] = field(default_factory=dict)
    _partitions: dict[tuple[str, str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    _unanswered: dict[tuple[int, str], dict[str, set[object]]] = field(default_factory=dict)

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

    def add_unanswered(self, broker: int, part: str, why: Exception | str, things: Iterable[object] = ()) -> None:
        """``part`` of what this broker alone can tell, and did not. One line for each broker and reason, in the end.

        ``part`` is one of the names above, or words of the same form; ``things`` (partitions, groups) are counted once.
        """
        reason = reason_of(why) if isinstance(why, Exception) else why
        self._unanswered.setdefault((broker, reason), {}).setdefault(part, set()).update(things)

    def forget_topic(self, topic: str) -> None:
        """What was said of a topic that is read again, or that is gone."""
        self._gaps = {gap for gap in self._gaps if (gap.subject_type, gap.subject) != ("topic", topic)}
        for key in [key for key in self._partitions if key[0] == topic]:
            del self._partitions[key]
        for parts in self._unanswered.values():
            if PARTITION_OFFSETS in parts:
                parts[PARTITION_OFFSETS] -= {key for key in parts[PARTITION_OFFSETS] if _is_of(key, topic)}

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
                [*whole, *by_topic, *self._of_brokers(), *self._rights.values()],
                key=lambda gap: (gap.subject_type, gap.subject, gap.what, gap.reason),
            )
        )

    def _of_brokers(self) -> list[CoverageGap]:
        found = []
        for (broker, reason), parts in self._unanswered.items():
            told = {part: things for part, things in parts.items() if (things or "{" not in part) and part != REST}
            order = [part for part in _IN_ORDER if part in told] + sorted(told.keys() - set(_IN_ORDER))
            what = ", ".join(_counted(part, len(told[part])) for part in order)
            found.append(CoverageGap("broker", str(broker), what or REST, reason))
        return found


def _counted(part: str, count: int) -> str:
    return part.format(groups=counted(count, "group"), partitions=counted(count, "partition"))


def _is_of(key: object, topic: str) -> bool:
    return isinstance(key, tuple) and key[0] == topic
