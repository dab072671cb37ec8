"""The parts of one folder of dumps → one snapshot.

The dumps were taken one after the other. Where they contradict each other in a way that time explains (a group
rebalanced, a replica moved, a topic was deleted), the gap is named; where time explains nothing, the input is refused.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    ClusterSnapshot,
    CoverageGap,
    Partition,
    partition_table,
)
from rebalance_advisor.dumps.groups.groups_dump import GroupsDump
from rebalance_advisor.dumps.log_dirs_dump import LogDirsDump
from rebalance_advisor.dumps.offsets_dump import Offsets, OffsetsDump, SeenElsewhere
from rebalance_advisor.dumps.topic_znodes import TopicZnodes
from rebalance_advisor.dumps.topics_dump import TopicsDump, refuse_empty


@dataclass(slots=True)
class DumpParts:
    """What the files of one folder hold, sorted by kind."""

    cluster: str
    place: str
    topics: TopicsDump = field(default_factory=TopicsDump)
    groups: GroupsDump = field(default_factory=GroupsDump)
    log_dirs: LogDirsDump = field(default_factory=LogDirsDump)
    offsets: OffsetsDump = field(default_factory=OffsetsDump)
    znodes: TopicZnodes = field(default_factory=TopicZnodes)
    brokers: dict[int, Broker] | None = None
    captured_at: datetime | None = None
    gaps: list[CoverageGap] = field(default_factory=list)

    def miss(self, what: str, reason: str) -> None:
        """Note a gap of the whole cluster."""
        self.gaps.append(CoverageGap("cluster", self.cluster, what, reason))


def snapshot_of_parts(parts: DumpParts) -> ClusterSnapshot:
    """Raises InvalidInputError where a dump was cut, or brokers.csv lacks a broker that leads."""
    parts.znodes.add_to(parts.topics)
    refuse_empty(parts.topics, parts.place)
    parts.topics.require_whole()
    groups = parts.groups.groups()
    topics = tuple(parts.topics.topics[name] for name in sorted(parts.topics.topics))
    rows = _with_sizes_and_offsets(parts)
    index = {topic.name: number for number, topic in enumerate(topics)}
    brokers = _brokers(parts)
    _note_what_is_missing(parts)
    znode_gaps = (replace(gap, subject=gap.subject or parts.cluster) for gap in parts.znodes.gaps)
    gaps = (*parts.gaps, *znode_gaps, *parts.log_dirs.gaps, *parts.offsets.gaps, *parts.groups.gaps)
    return ClusterSnapshot(
        cluster=parts.cluster,
        brokers=brokers,
        topics=topics,
        partitions=partition_table(rows, index),
        groups=groups,
        captured_at=parts.captured_at,
        source="dumps",
        coverage=gaps,
    )


def _with_sizes_and_offsets(parts: DumpParts) -> list[Partition]:
    """The rows of kafka-topics with what the other dumps know of them."""
    sizes = dict(parts.log_dirs.log_bytes)
    start, end = _offsets(parts)
    rows = []
    missing: Counter[int] = Counter()
    whole = {
        broker for broker, dirs in parts.log_dirs.log_dirs.items() if all(log_dir.error is None for log_dir in dirs)
    }
    for (topic, number), row in parts.topics.rows.items():
        log_bytes = tuple(sizes.pop((topic, number, broker), None) for broker in row.replicas)
        if None in log_bytes:
            pairs = zip(row.replicas, log_bytes, strict=True)
            missing.update(b for b, size in pairs if size is None and b in whole and b not in row.adding)
        first, last = start.get((topic, number)), end.get((topic, number))
        rows.append(replace(row, log_bytes=log_bytes, start_offset=first, end_offset=last))
    for broker, count in sorted(missing.items()):
        reason = f"its log dirs do not hold {count:,} replicas that kafka-topics places there"
        parts.gaps.append(CoverageGap("broker", str(broker), "sizes", reason))
    known = parts.topics.topics.keys()
    elsewhere = {topic for topic, _, _ in sizes} | {topic for topic, _ in (*start, *end)}
    for topic in sorted(elsewhere - known):
        reason = "log dirs or offsets name it, kafka-topics does not: deleted meanwhile, or the dump was cut"
        parts.gaps.append(CoverageGap("topic", topic, "description", reason))
    for broker, count in sorted(Counter(broker for topic, _, broker in sizes if topic in known).items()):
        reason = f"{count} partitions that kafka-topics does not place there: moved meanwhile"
        parts.gaps.append(CoverageGap("broker", str(broker), "stray replicas", reason))
    return rows


def _offsets(parts: DumpParts) -> tuple[Offsets, Offsets]:
    """Start and end offsets; where no dump of end offsets holds a partition, the groups' rows may show its end."""
    by_groups = parts.groups.end_offsets()
    start, end = parts.offsets.start_and_end(parts.cluster, lambda: _seen_elsewhere(parts, by_groups))
    if not start and not end:
        parts.miss("start and end offsets", "no kafka-get-offsets dump in the folder")
    elif not start:
        parts.miss("start offsets", "no kafka-get-offsets --time earliest dump: what retention deleted is not seen")
    elif not end:
        parts.miss("end offsets", "no kafka-get-offsets --time latest dump: only what groups show of them is seen")
    _note_missing_offsets(parts, "start offsets", start)
    _note_missing_offsets(parts, "end offsets", end)
    _compare_end_offsets(parts, by_groups, end)
    return start, {**by_groups, **end}


def _seen_elsewhere(parts: DumpParts, by_groups: Offsets) -> SeenElsewhere:
    sizes = parts.log_dirs.log_bytes.items()
    return SeenElsewhere(by_groups, frozenset((topic, number) for (topic, number, _), size in sizes if size > 0))


def _compare_end_offsets(parts: DumpParts, by_groups: Offsets, end: Offsets) -> None:
    """What lag is computed from against what the groups' tool computed it from.

    Offsets only grow: of two dumps taken one after the other the later one is nowhere below. Where each is greater
    somewhere, they are no reading of one moment, and lags computed from them are not those that the tool prints.
    """
    higher = [key for key, offset in by_groups.items() if offset > end.get(key, offset)]
    lower = [key for key, offset in by_groups.items() if offset < end.get(key, offset)]
    if higher and lower:
        reason = f"the groups' rows show end offsets above those of the dump of offsets for {len(higher):,} partitions "
        reason += f"({higher[0][0]}-{higher[0][1]}, …) and below for {len(lower):,} ({lower[0][0]}-{lower[0][1]}, …): "
        parts.miss("lag", reason + "lag is computed from the dump of offsets, and is not what the LAG column says")


def _note_missing_offsets(parts: DumpParts, what: str, offsets: Offsets) -> None:
    """A dump that was filtered or cut holds fewer partitions than there are; the tool names those that it skipped."""
    skipped = {gap.subject for gap in parts.offsets.gaps if gap.subject_type == "partition"}
    missing = [f"{topic}-{number}" for topic, number in sorted(parts.topics.rows.keys() - offsets.keys())]
    missing = [name for name in missing if name not in skipped]
    if offsets and missing:
        parts.miss(
            what, f"{len(missing):,} of {len(parts.topics.rows):,} partitions are not in the dump: {missing[0]}, …"
        )


def _brokers(parts: DumpParts) -> tuple[Broker, ...]:
    """Those of brokers.csv, else those that a dump has seen alive; a broker that only replica lists name is dead."""
    rows = parts.topics.rows.values()
    placed = {broker for row in rows for broker in row.replicas}
    leading = {row.leader for row in rows if row.leader is not None}
    in_sync = {broker for row in rows for broker in (row.replicas if row.isr is None else row.isr)}
    if parts.brokers is not None:
        known = dict(parts.brokers)
        for broker in sorted(leading - known.keys()):
            name = next(f"{row.topic}-{row.partition}" for row in rows if row.leader == broker)
            raise InvalidInputError.at(parts.place, f"brokers.csv lacks broker {broker}, which leads {name}", "add it")
    else:
        coordinators = {notes.coordinator for notes in parts.groups.notes.values() if notes.coordinator is not None}
        seen = leading | in_sync | parts.topics.observing | coordinators | parts.log_dirs.log_dirs.keys()
        known = {broker: Broker(broker) for broker in seen}
    for broker in placed - known.keys():
        known[broker] = Broker(broker, state=BrokerState.DEAD)
    dirs = parts.log_dirs.log_dirs
    return tuple(replace(known[broker], log_dirs=dirs.get(broker, ())) for broker in sorted(known))


def _note_what_is_missing(parts: DumpParts) -> None:
    if parts.brokers is None:
        parts.miss("racks", "no brokers.csv (id,rack,host) in the folder")
    if not parts.groups.notes:
        parts.miss("consumer groups", "no kafka-consumer-groups dump in the folder, or no groups")
    if parts.captured_at is None:
        parts.miss("time", "no captured_at in the folder")
    if not parts.log_dirs.log_dirs:
        parts.miss("sizes", "no kafka-log-dirs dump in the folder")
        return
    placed = {broker for row in parts.topics.rows.values() for broker in row.replicas}
    alive = parts.brokers.keys() if parts.brokers is not None else placed
    for broker in sorted((placed & alive) - parts.log_dirs.log_dirs.keys()):
        reason = "the kafka-log-dirs dump does not hold this broker"
        parts.gaps.append(CoverageGap("broker", str(broker), "sizes", reason))
