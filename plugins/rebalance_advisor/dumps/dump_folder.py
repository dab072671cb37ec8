"""Read a folder of dumps of Kafka's tools.

Required: ``kafka-topics --describe``, topic znodes, or a group table. Missing parts are gaps. Sub-folders are several
snapshots: the newest is returned, with rates since the one before; files beside them belong to all. A contradiction
that time explains (a rebalance, a move, a deleted topic) is a gap; others are refused.

``kafka-log-dirs --describe`` (o.a.k.tools.LogDirsCommand) prints two lines of prose, then ``{"version": 1, "brokers":
[{"broker", "logDirs": [{"logDir", "error", "partitions": [{"partition": "topic-0", "size", "offsetLag",
"isFuture"}]}]}]}``; several are merged. Volume totals are unknown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt, visible
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    ClusterSnapshot,
    CoverageGap,
    Group,
    LogDir,
    Partition,
    Topic,
    partition_table,
)
from kafka_rebalance.snapshot.partition_table import FutureReplica
from kafka_rebalance.snapshot.rates import measure_rates
from kafka_rebalance.snapshot.times import parse_time
from rebalance_advisor.dumps.broker_lists import (
    BrokerListing,
    GivenBrokers,
    looks_like_brokers,
    looks_like_listing,
    read_brokers,
)
from rebalance_advisor.dumps.capacity_file import Capacities, looks_like_capacity, parse_capacity, with_capacity
from rebalance_advisor.dumps.groups_dump import (
    GroupsDump,
    Offsets,
    OffsetsDump,
    SeenElsewhere,
    looks_like_groups,
    looks_like_offsets,
)
from rebalance_advisor.dumps.input_file import json_documents, parse_json
from rebalance_advisor.dumps.text_lines import LARGEST_ID, LARGEST_LONG, as_printed
from rebalance_advisor.dumps.topic_znodes import TopicZnodes, looks_like_znodes
from rebalance_advisor.dumps.topics_dump import TopicsDump, looks_like_topics, refuse_empty
from rebalance_advisor.input_bytes import ByteBudget, PartOfInputError, folder_entries, read_bytes, read_text

Replica = tuple[str, int, int]  # topic, partition, broker


@dataclass(slots=True)
class LogDirsDump:
    """The last dump has priority.

    ``future``: unfinished copies between dirs. ``dirs``: path → error by broker. ``asked_in_parts``: brokers queried by
    topic.
    """

    log_bytes: dict[Replica, int] = field(default_factory=dict)
    dir_of_replica: dict[Replica, str] = field(default_factory=dict)
    future: dict[Replica, tuple[str, int]] = field(default_factory=dict)
    dirs: dict[int, dict[str, str | None]] = field(default_factory=dict)
    asked_in_parts: set[int] = field(default_factory=set)
    gaps: list[CoverageGap] = field(default_factory=list)

    def read(self, text: str, location: str) -> None:
        documents = json_documents(text, location, _is_prose)
        if not documents:
            raise InvalidInputError.at(location, "holds no JSON", "kafka-log-dirs prints one after two lines of prose")
        for number, (first_line, block) in enumerate(documents):
            path = location if number == 0 else f"{location}:{first_line}"
            document = parse_json(block, location, first_line)
            if document.get("version") != 1:
                raise InvalidInputError.at(
                    f"{path}.version", f"{excerpt(document.get('version'))} is unknown", "expected 1"
                )
            listed = set[int]()
            for index, item in enumerate(_list(document, "brokers", path)):
                here = f"{path}.brokers[{index}]"
                broker = _whole(item, "broker", here, LARGEST_ID)
                if broker in listed:
                    raise InvalidInputError.at(here, f"broker {broker} is listed twice")
                listed.add(broker)
                self._read_broker(item, broker, here)

    def log_dirs(self, broker: int) -> tuple[LogDir, ...]:
        return tuple(LogDir(path, error=error) for path, error in sorted(self.dirs.get(broker, {}).items()))

    def _read_broker(self, item: Any, broker: int, path: str) -> None:
        if broker in self.dirs:
            self.asked_in_parts.add(broker)
        errors, replicas = self.dirs.setdefault(broker, {}), set[Replica]()
        for number, log_dir in enumerate(_list(item, "logDirs", path)):
            here = f"{path}.logDirs[{number}]"
            name, error = _text(log_dir, "logDir", here), log_dir.get("error")
            if error is not None and errors.get(name) is None:
                what, reason = fact(FactCode.LACKS_LOG_DIR, path=name), fact(FactCode.AS_REPORTED, text=str(error))
                self.gaps.append(CoverageGap("broker", str(broker), what, reason))
            errors[name] = errors.get(name) if error is None else str(error)
            for index, row in enumerate(_list(log_dir, "partitions", here)):
                self._read_replica(row, (broker, name), replicas, f"{here}.partitions[{index}]")

    def _read_replica(self, row: Any, broker_dir: tuple[int, str], replicas: set[Replica], path: str) -> None:
        name = _text(row, "partition", path)
        topic, _, number = name.rpartition("-")
        if not topic or not number.isascii() or not number.isdigit() or len(number) > 9:
            raise InvalidInputError.at(f"{path}.partition", f"expected topic-number, found {excerpt(name)}")
        size = _whole(row, "size", path, LARGEST_LONG)
        is_future = row.get("isFuture", False)
        if not isinstance(is_future, bool):
            raise InvalidInputError.at(f"{path}.isFuture", f"expected true or false, found {excerpt(is_future)}")
        broker, log_dir = broker_dir
        replica = (topic, int(number), broker)
        if is_future:
            self.future[replica] = (log_dir, size)
            return
        if replica in replicas:
            raise InvalidInputError.at(path, f"{name} stands twice on broker {broker}")
        replicas.add(replica)
        self.log_bytes[replica], self.dir_of_replica[replica] = size, log_dir


def _is_prose(line: str) -> bool:
    return line.startswith(("Querying brokers for log directories", "Received log directory information from"))


def looks_like_log_dirs(text: str) -> bool:
    return '"logDirs"' in text or text.lstrip().startswith("Querying brokers for log directories information")


def _field(item: Any, name: str, path: str) -> Any:
    if not isinstance(item, dict):
        raise InvalidInputError.at(path, f"expected an object, found {excerpt(item)}")
    if name not in item:
        raise InvalidInputError.at(path, f"{name!r} is missing")
    return item[name]


def _list(item: Any, name: str, path: str) -> list[Any]:
    value = _field(item, name, path)
    if not isinstance(value, list):
        raise InvalidInputError.at(f"{path}.{name}", f"expected a list, found {type(value).__name__}")
    return value


def _text(item: Any, name: str, path: str) -> str:
    value = _field(item, name, path)
    if not isinstance(value, str) or not value:
        raise InvalidInputError.at(f"{path}.{name}", f"expected a text, found {excerpt(value)}")
    return value


def _whole(item: Any, name: str, path: str, largest: int) -> int:
    value = _field(item, name, path)
    if type(value) is not int or not 0 <= value <= largest:
        raise InvalidInputError.at(f"{path}.{name}", f"expected a whole number, found {excerpt(value)}")
    return value


# Of a topic that only a group names, because its highest number may be misread.
_MOST_PARTITIONS = 200_000


class StrayLog(NamedTuple):
    """``name`` is topic and number."""

    path: str
    name: str
    log_bytes: int


@dataclass(slots=True)
class DumpParts:
    cluster: str
    location: str
    topics: TopicsDump = field(default_factory=TopicsDump)
    groups: GroupsDump = field(default_factory=GroupsDump)
    log_dirs: LogDirsDump = field(default_factory=LogDirsDump)
    offsets: OffsetsDump = field(default_factory=OffsetsDump)
    znodes: TopicZnodes = field(default_factory=TopicZnodes)
    given: GivenBrokers = field(default_factory=lambda: GivenBrokers({}, frozenset()))
    captured_at: datetime | None = None
    gaps: list[CoverageGap] = field(default_factory=list)

    @property
    def listing(self) -> BrokerListing:
        return self.znodes.brokers

    @property
    def is_sufficient(self) -> bool:
        return bool(self.topics.rows or self.topics.deleted or self.znodes.topics or self.groups.notes)

    def miss(self, what: Fact | FactCode, reason: Fact) -> None:
        self.miss_of("cluster", self.cluster, what, reason)

    def miss_of(self, subject_type: str, subject: object, what: Fact | FactCode, reason: Fact) -> None:
        lacking = fact(what) if isinstance(what, FactCode) else what
        self.gaps.append(CoverageGap(subject_type, str(subject), lacking, reason))


def snapshot_of_parts(parts: DumpParts) -> ClusterSnapshot:
    parts.znodes.add_to(parts.topics)
    if _holds_groups_alone(parts):
        return _snapshot_of_groups(parts)
    refuse_empty(parts.topics, parts.location)
    parts.topics.require_whole()
    groups = parts.groups.groups()
    topics = tuple(parts.topics.topics[name] for name in sorted(parts.topics.topics))
    brokers = {broker.id: broker for broker in _brokers(parts)}
    rows, strays = _with_sizes_and_offsets(parts, brokers)
    index = {topic.name: number for number, topic in enumerate(topics)}
    _note_what_is_missing(parts, brokers)
    znode_gaps = (replace(gap, subject=gap.subject or parts.cluster) for gap in parts.znodes.gaps)
    gaps = (*parts.gaps, *znode_gaps, *parts.log_dirs.gaps, *parts.offsets.gaps, *parts.groups.gaps)
    return ClusterSnapshot(
        cluster=parts.cluster,
        brokers=tuple(_with_strays(brokers[broker], strays) for broker in sorted(brokers)),
        topics=topics,
        partitions=partition_table(rows, index),
        groups=groups,
        captured_at=parts.captured_at,
        source="dumps",
        coverage=gaps,
    )


def _holds_groups_alone(parts: DumpParts) -> bool:
    others = (
        parts.topics.topics,
        parts.topics.deleted,
        parts.log_dirs.dirs,
        parts.given.brokers,
        parts.listing.brokers,
    )
    return bool(parts.groups.notes) and not any(others)


def _snapshot_of_groups(parts: DumpParts) -> ClusterSnapshot:
    """Kafka numbers partitions without gaps."""
    parts.miss(FactCode.LACKS_PLACEMENT, fact(FactCode.NO_DUMP_OF_TOPICS))
    groups = parts.groups.groups()
    start, end = _offsets(parts)
    named = {(topic, number) for group in groups for topic, number in _partitions_of(group)} | end.keys()
    partition_counts = Counter(topic for topic, _ in named)
    counts = {topic: number + 1 for topic, number in sorted(named)}  # the last number is the highest
    for topic, count in counts.items():
        if count > _MOST_PARTITIONS:
            hint = "correct the number, or add kafka-topics --describe"
            raise InvalidInputError.at(
                parts.location, f"partition {count - 1:,} of topic {topic} is out of range", hint
            )
        if gap := count - partition_counts[topic]:
            reason = fact(FactCode.PARTITIONS_NOT_SHOWN, missing=gap, partitions=count)
            parts.miss_of("topic", topic, FactCode.LACKS_PARTITIONS, reason)
    topics = tuple(Topic(name) for name in counts)
    rows = [
        Partition(topic, number, (), None, start_offset=start.get((topic, number)), end_offset=end.get((topic, number)))
        for topic, count in counts.items()
        for number in range(count)
    ]
    _note_what_is_missing(parts, {})
    return ClusterSnapshot(
        cluster=parts.cluster,
        brokers=(),
        topics=topics,
        partitions=partition_table(rows, {topic.name: number for number, topic in enumerate(topics)}),
        groups=groups,
        captured_at=parts.captured_at,
        source="dumps",
        coverage=(*parts.gaps, *parts.offsets.gaps, *parts.groups.gaps),
    )


def _partitions_of(group: Group) -> set[tuple[str, int]]:
    runs = [run for member in group.members for run in (*member.assigned, *(member.target or ()))]
    given = {(topic, number) for topic, numbers in runs for number in numbers}
    return given | {(offset.topic, offset.partition) for offset in group.committed}


def _with_sizes_and_offsets(
    parts: DumpParts, brokers: Mapping[int, Broker]
) -> tuple[list[Partition], dict[int, list[StrayLog]]]:
    dumped, described = parts.log_dirs, parts.topics.rows
    sizes, copies = dict(dumped.log_bytes), dict(dumped.future)
    log_bytes = {
        key: tuple(sizes.pop((*key, broker), None) for broker in row.replicas) for key, row in described.items()
    }
    index = {
        broker: {log_dir.path: number for number, log_dir in enumerate(described_broker.log_dirs)}
        for broker, described_broker in brokers.items()
    }
    has_several_dirs = any(len(paths) > 1 for paths in index.values())
    start, end = _offsets(parts)
    failed = {broker for broker, dirs in dumped.dirs.items() if any(dirs.values())}
    topics_with_sizes = {topic for topic, _, _ in dumped.log_bytes}
    _note_missing_sizes(parts, log_bytes, set(dumped.dirs) - failed)
    rows = [
        replace(
            row,
            leader=_living_leader(row, brokers),
            log_bytes=log_bytes[key],
            log_dirs=_dir_indexes(dumped, index, key, row) if has_several_dirs else (),
            future=_moving(copies, index, key, row),
            offline=_offline(dumped, row, log_bytes[key], failed, is_shown=key[0] in topics_with_sizes),
            start_offset=start.get(key),
            end_offset=end.get(key),
        )
        for key, row in described.items()
    ]
    _note_undescribed(parts, {topic for topic, _, _ in sizes} | {topic for topic, _ in (*start, *end)})
    left = [(*key, dumped.dir_of_replica[key], size) for key, size in sizes.items()]
    left += [(*key, path, size) for key, (path, size) in copies.items()]
    return rows, _strays(left)


def _note_missing_sizes(
    parts: DumpParts, log_bytes: Mapping[tuple[str, int], Sequence[int | None]], whole: set[int]
) -> None:
    """Note brokers whose dirs all work and list no log of a replica, but for those still being added."""
    missing: Counter[int] = Counter()
    for key, sizes in log_bytes.items():
        row = parts.topics.rows[key]
        lacks = {broker for broker, size in zip(row.replicas, sizes, strict=True) if size is None}
        missing.update((lacks - set(row.adding)) & whole)
    for broker, count in sorted(missing.items()):
        parts.miss_of("broker", broker, FactCode.LACKS_SIZES, fact(FactCode.REPLICAS_NOT_IN_DIRS, replicas=count))


def _dir_indexes(
    dumped: LogDirsDump, index: Mapping[int, Mapping[str, int]], key: tuple[str, int], row: Partition
) -> tuple[int | None, ...]:
    paths = [(broker, dumped.dir_of_replica.get((*key, broker))) for broker in row.replicas]
    return tuple(None if path is None else index[broker][path] for broker, path in paths)


def _moving(
    copies: dict[tuple[str, int, int], tuple[str, int]],
    index: Mapping[int, Mapping[str, int]],
    key: tuple[str, int],
    row: Partition,
) -> tuple[FutureReplica, ...]:
    """Return the copies between the dirs of a broker, taken from ``copies``."""
    moving = [(broker, *copies.pop((*key, broker))) for broker in row.replicas if (*key, broker) in copies]
    return tuple(FutureReplica(broker, index[broker][path], size) for broker, path, size in moving)


def _note_undescribed(parts: DumpParts, elsewhere: set[str]) -> None:
    """Note topics that other dumps name and ``kafka-topics --describe`` does not."""
    for topic in sorted(elsewhere - parts.topics.topics.keys() - parts.topics.deleted):
        parts.miss_of("topic", topic, FactCode.LACKS_DESCRIPTION, fact(FactCode.TOPIC_NOT_IN_DUMP))


def _strays(logs: Iterable[tuple[str, int, int, str, int]]) -> dict[int, list[StrayLog]]:
    """Return logs by broker; each one as (topic, partition, broker, path, bytes)."""
    strays: dict[int, list[StrayLog]] = {}
    for topic, number, broker, path, size in logs:
        strays.setdefault(broker, []).append(StrayLog(path, f"{topic}-{number}", size))
    return strays


def _living_leader(row: Partition, brokers: Mapping[int, Broker]) -> int | None:
    """Return the first replica that is not dead when the ISR is unknown."""
    if row.isr is not None:
        return row.leader
    return next((broker for broker in row.replicas if not brokers[broker].state.is_gone), None)


def _offline(
    dumped: LogDirsDump, row: Partition, log_bytes: Sequence[int | None], failed: set[int], *, is_shown: bool
) -> tuple[int, ...]:
    """Replicas that no working dir of their broker holds while another dir ``failed``.

    The leader's dir works: its failure is newer. A broker queried by topic shows nothing of others (``is_shown``).
    """
    if not failed:
        return row.offline
    lost = set(row.offline)
    for broker, size in zip(row.replicas, log_bytes, strict=True):
        is_lost = size is None and broker in failed and broker not in (row.leader, *row.adding)
        if is_lost and (is_shown or broker not in dumped.asked_in_parts):
            lost.add(broker)
    return tuple(broker for broker in row.replicas if broker in lost)


def _with_strays(broker: Broker, strays: Mapping[int, list[StrayLog]]) -> Broker:
    dirs = []
    for log_dir in broker.log_dirs:
        mine = [stray for stray in strays.get(broker.id, ()) if stray.path == log_dir.path]
        largest = max(mine, key=lambda stray: (stray.log_bytes, stray.name), default=None)
        dirs.append(
            replace(
                log_dir,
                stray_logs=len(mine),
                stray_bytes=sum(stray.log_bytes for stray in mine),
                largest_stray=largest.name if largest else None,
            )
        )
    return replace(broker, log_dirs=tuple(dirs))


def _offsets(parts: DumpParts) -> tuple[Offsets, Offsets]:
    """(start, end); end of the groups' rows if there is no dump."""
    by_groups = parts.groups.end_offsets()
    start, end = parts.offsets.start_and_end(parts.cluster, lambda: _seen_elsewhere(parts, by_groups))
    if not start and not end:
        parts.miss(FactCode.LACKS_OFFSETS, _no_dump("offsets"))
    elif not start:
        parts.miss(FactCode.LACKS_START_OFFSETS, _no_dump("earliest_offsets"))
    elif not end:
        parts.miss(FactCode.LACKS_END_OFFSETS, _no_dump("latest_offsets"))
    _note_missing_offsets(parts, FactCode.LACKS_START_OFFSETS, start)
    _note_missing_offsets(parts, FactCode.LACKS_END_OFFSETS, end)
    _compare_end_offsets(parts, by_groups, end)
    parts.groups.note_older_ends(end)
    return start, {**by_groups, **end}


def _seen_elsewhere(parts: DumpParts, by_groups: Offsets) -> SeenElsewhere:
    sizes = parts.log_dirs.log_bytes.items()
    return SeenElsewhere(by_groups, frozenset((topic, number) for (topic, number, _), size in sizes if size > 0))


def _compare_end_offsets(parts: DumpParts, by_groups: Offsets, end: Offsets) -> None:
    """Offsets only grow, so one dump must be nowhere below the other."""
    higher = [key for key, offset in by_groups.items() if offset > end.get(key, offset)]
    lower = [key for key, offset in by_groups.items() if offset < end.get(key, offset)]
    if higher and lower:
        reason = fact(
            FactCode.END_OFFSETS_DISAGREE,
            higher=len(higher),
            first_higher=f"{higher[0][0]}-{higher[0][1]}",
            lower=len(lower),
            first_lower=f"{lower[0][0]}-{lower[0][1]}",
        )
        parts.miss(fact(FactCode.LACKS_LAG, topic=None), reason)


def _note_missing_offsets(parts: DumpParts, what: FactCode, offsets: Offsets) -> None:
    skipped = {gap.subject for gap in parts.offsets.gaps if gap.subject_type == "partition"}
    missing = [f"{topic}-{number}" for topic, number in sorted(parts.topics.rows.keys() - offsets.keys())]
    missing = [name for name in missing if name not in skipped]
    if offsets and missing:
        reason = fact(
            FactCode.PARTITIONS_NOT_IN_DUMP, missing=len(missing), partitions=len(parts.topics.rows), first=missing[0]
        )
        parts.miss(what, reason)


def _brokers(parts: DumpParts) -> tuple[Broker, ...]:
    """All named brokers. Raises InvalidInputError when brokers.csv lacks a leader.

    Alive: leads, is in an ISR with a leader, has log dirs, coordinates or is listed. An ISR without a leader is only
    the last known one.
    """
    rows, given, listing = parts.topics.rows.values(), parts.given.brokers, parts.listing.brokers
    placed = {broker for row in rows for broker in row.replicas}
    responsive = _responsive(parts)
    listed_anywhere = {None, *given, *listing}
    for row in rows if given else ():
        if row.isr is not None and row.leader not in listed_anywhere:
            problem = f"brokers.csv lacks broker {row.leader}, which leads {row.topic}-{row.partition}"
            raise InvalidInputError.at(parts.location, problem, "add it")
    brokers = []
    for broker in sorted(placed | responsive | given.keys() | listing.keys()):
        listed = listing.get(broker, Broker(broker))
        broker_row = given.get(broker, listed)
        brokers.append(
            replace(
                broker_row,
                rack=broker_row.rack or listed.rack,
                host=broker_row.host or listed.host,
                port=listed.port if broker_row.port is None else broker_row.port,
                state=_state(parts, broker, is_placed=broker in placed, is_responsive=broker in responsive),
                log_dirs=parts.log_dirs.log_dirs(broker),
            )
        )
    return tuple(brokers)


def _responsive(parts: DumpParts) -> set[int]:
    responsive = parts.topics.observing | parts.log_dirs.dirs.keys()
    responsive |= {notes.coordinator for notes in parts.groups.notes.values() if notes.coordinator is not None}
    for row in parts.topics.rows.values():
        if row.isr is None:
            responsive |= set() if parts.listing.is_whole else set(row.replicas)
        elif row.leader is not None:
            responsive |= {row.leader, *row.isr}
    return responsive


def _state(parts: DumpParts, broker: int, *, is_placed: bool, is_responsive: bool) -> BrokerState:
    """State of brokers.csv, else of a broker list, else of other dumps.

    A broker missing in the list but alive in another dump stopped or started between the two.
    """
    given, listing = parts.given, parts.listing
    if broker in given.stated:
        return given.brokers[broker].state
    if broker in listing.brokers:
        return listing.brokers[broker].state
    if listing.is_whole and is_responsive:
        parts.miss_of("broker", broker, FactCode.LACKS_LIVENESS, fact(FactCode.BROKER_NOT_LISTED))
    if listing.is_whole:
        return BrokerState.DEAD if is_placed and not is_responsive else BrokerState.UNRESPONSIVE
    if is_responsive:
        return BrokerState.ALIVE
    if broker not in given.brokers:
        return BrokerState.DEAD
    # An empty broker may be new; only a missing answer among all others' log dirs speaks against it.
    return BrokerState.UNRESPONSIVE if is_placed or parts.log_dirs.dirs else BrokerState.ALIVE


def _note_what_is_missing(parts: DumpParts, brokers: Mapping[int, Broker]) -> None:
    _note_racks(parts, brokers)
    for topic in sorted(parts.topics.deleted):
        parts.miss_of("topic", topic, FactCode.LACKS_EVERYTHING, fact(FactCode.BEING_DELETED))
    if not parts.groups.notes:
        parts.miss(FactCode.LACKS_GROUPS, _no_dump("groups"))
    if parts.captured_at is None:
        parts.miss(FactCode.LACKS_TIME, _no_dump("captured_at"))
    if not parts.log_dirs.dirs:
        parts.miss(FactCode.LACKS_SIZES, _no_dump("log_dirs"))
        return
    placed = {broker for row in parts.topics.rows.values() for broker in row.replicas}
    for broker in sorted(placed - parts.log_dirs.dirs.keys()):
        if brokers[broker].state is not BrokerState.DEAD:
            parts.miss_of("broker", broker, FactCode.LACKS_SIZES, fact(FactCode.BROKER_NOT_IN_DUMP))


def _note_racks(parts: DumpParts, brokers: Mapping[int, Broker]) -> None:
    staying = [broker for broker in brokers.values() if broker.state.stays]
    without = tuple(broker.id for broker in staying if broker.rack is None)
    if not parts.given.brokers and not parts.listing.brokers:
        parts.miss(FactCode.LACKS_RACKS, _no_dump("brokers"))
    elif 0 < len(without) < len(staying):
        parts.miss(FactCode.LACKS_RACKS, fact(FactCode.BROKERS_HAVE_NO_RACK, brokers=without))


def _no_dump(of: str) -> Fact:
    return fact(FactCode.NO_DUMP, of=of)


_KNOWN = (
    "kafka-topics, znodes of topics and brokers, kafka-consumer-groups, kafka-log-dirs, kafka-get-offsets, "
    "kafka-broker-api-versions, kafka-cluster list-endpoints, brokers.csv, a capacity file, captured_at"
)
_LONGEST_TIME = 40


def read_folder(
    folder: Path, cluster: str, budget: ByteBudget | None = None, *, is_strict: bool = False
) -> ClusterSnapshot:
    """Newest snapshot, with rates if there is an older one.

    Raises InvalidInputError for contradictory files, and for a broken file that a plan depends on or the rest cannot
    replace, or with ``is_strict``; other broken files are gaps.
    """
    budget = ByteBudget() if budget is None else budget
    beside, readings = folder_entries(folder, keeps_odd=True)
    if not readings:
        return _read_reading(folder, beside, cluster, budget, is_strict=is_strict)
    snapshots = [
        _read_reading(
            subfolder, beside + folder_entries(subfolder, keeps_odd=True)[0], cluster, budget, is_strict=is_strict
        )
        for subfolder in readings
    ]
    by_time: list[tuple[datetime, ClusterSnapshot]] = []
    for reading, snapshot in zip(readings, snapshots, strict=True):
        if snapshot.captured_at is None:
            hint = f"rates need the time of each part of {folder}"
            raise InvalidInputError.at(str(reading), "has no captured_at", hint)
        by_time.append((snapshot.captured_at, snapshot))
    newest = [snapshot for _, snapshot in sorted(by_time, key=itemgetter(0))[-2:]]
    if len(newest) == 1:
        return newest[0]
    measured = measure_rates(*newest)
    older = (
        gap for gap in newest[0].coverage if gap.reason.code is FactCode.FILE_LEFT_OUT and gap not in measured.coverage
    )
    return replace(measured, coverage=(*measured.coverage, *older))


def read_group_table(text: str, location: str, cluster: str) -> ClusterSnapshot:
    parts = _Sorter(DumpParts(cluster, location))
    parts.add(text, location)
    return snapshot_of_parts(parts.parts)


def _read_reading(
    folder: Path, files: list[Path], cluster: str, budget: ByteBudget, *, is_strict: bool
) -> ClusterSnapshot:
    parts, used = _Sorter(DumpParts(cluster, str(folder))), budget.used
    left_out: dict[Path, InvalidInputError] = {}
    try:
        parts.add_files(files, budget)
    except PartOfInputError:
        raise
    except InvalidInputError:
        left_out = {} if is_strict else _unreadable_files(files, ByteBudget(budget.limit, used))
        if not left_out:
            raise
        parts = _Sorter(DumpParts(cluster, str(folder)))  # discards what a broken file added
        parts.add_files([path for path in files if path not in left_out], ByteBudget(budget.limit, used))
        if not parts.parts.is_sufficient:
            raise next(iter(left_out.values())) from None
    for path, error in left_out.items():
        name = visible(path.name)
        line, text = _line_and_text(error, path)
        reason = fact(FactCode.FILE_LEFT_OUT, file=name, line=line, text=text)
        parts.parts.miss(fact(FactCode.LACKS_FILE, file=name), reason)
    snapshot = snapshot_of_parts(parts.parts)
    return snapshot if parts.capacities is None else with_capacity(snapshot, parts.capacities)


def _unreadable_files(files: list[Path], budget: ByteBudget) -> dict[Path, InvalidInputError]:
    """Files that fail even alone. Raises InvalidInputError for one that a plan depends on."""
    result: dict[Path, InvalidInputError] = {}
    for path in files:
        used = budget.used
        try:
            _Sorter(DumpParts("", "")).add_files([path], budget)
        except PartOfInputError:
            raise
        except InvalidInputError as error:
            if _is_base_of_plans(_readable_part(path, ByteBudget(budget.limit, used))):
                raise
            result[path] = error
    return result


def _readable_part(path: Path, budget: ByteBudget) -> str:
    try:
        return read_bytes(path, budget).decode("utf-8", "ignore").replace("\0", "")
    except InvalidInputError:
        return ""


def _is_base_of_plans(text: str) -> bool:
    if re.search(r"Topic:.*(?:Partition|Replica)", text):
        return True  # broken rows of kafka-topics, too
    looks = (looks_like_capacity, looks_like_brokers, looks_like_znodes, looks_like_listing)
    is_time = len(text) <= _LONGEST_TIME and _looks_like_time(text)
    return not looks_like_log_dirs(text) and (is_time or any(look(text) for look in looks))


def _line_and_text(error: InvalidInputError, path: Path) -> tuple[int | None, str]:
    if not error.location.startswith(str(path)):
        return None, str(error)
    line = error.location.removeprefix(str(path)).removeprefix(":")
    text = error.problem + (f"; {error.hint}" if error.hint else "")
    if line.isascii() and line.isdigit():
        return int(line), visible(text)
    return None, visible(f"{line}: {text}" if line else text)


@dataclass(slots=True)
class _Sorter:
    parts: DumpParts
    capacities: Capacities | None = None
    _seen: dict[str, str] = field(default_factory=dict)

    def add_files(self, files: list[Path], budget: ByteBudget) -> None:
        for path in files:
            self.add(as_printed(read_text(path, budget)), str(path))

    def add(self, text: str, location: str) -> None:
        if not text.strip():
            name = Path(location).name
            self.parts.miss(fact(FactCode.LACKS_FILE, file=name), fact(FactCode.FILE_EMPTY, file=name))
        elif looks_like_log_dirs(text):
            self.parts.log_dirs.read(text, location)
        elif looks_like_capacity(text):
            self._once("a capacity file", location)
            self.capacities = parse_capacity(text, location)
        elif looks_like_brokers(text):
            self._once("brokers.csv", location)
            self.parts.given = read_brokers(text, location)
        elif len(text) <= _LONGEST_TIME and _looks_like_time(text):
            self._once("captured_at", location)
            self.parts.captured_at = _time(text.strip(), f"{location}:1")
        elif looks_like_znodes(text):
            self.parts.znodes.read(text, location)
        else:
            self._add_table(text, location)

    def _add_table(self, text: str, location: str) -> None:
        """Without a final line end it may be cut."""
        if looks_like_listing(text):
            self.parts.znodes.brokers.read(text, location)
        elif looks_like_topics(text):
            self.parts.topics.read(text, location)
        elif looks_like_groups(text):
            self.parts.groups.read(text, location)
        elif looks_like_offsets(text):
            self.parts.offsets.read(text, location)
        else:
            raise InvalidInputError.at(f"{location}:1", "is no known dump", f"known: {_KNOWN}; leave other files out")
        if not text.endswith("\n"):
            name = Path(location).name
            self.parts.miss(fact(FactCode.LACKS_LAST_LINE, file=name), fact(FactCode.FILE_CUT, file=name))

    def _once(self, what: str, location: str) -> None:
        if what in self._seen:
            raise InvalidInputError.at(location, f"is the second one: {what} is already {self._seen[what]}")
        self._seen[what] = location


def _time(text: str, location: str) -> datetime:
    """Errors do not quote a possibly private file."""
    try:
        parse_time(text, location)
    except InvalidInputError:
        hint = "write 2026-01-31T06:00:00Z, or leave the file out"
        raise InvalidInputError.at(location, "what begins like a time is no ISO 8601 time", hint) from None
    return parse_time(text, location, needs_zone=True)


def _looks_like_time(text: str) -> bool:
    return re.match(r"\s*\d{4}(-|\d{4}[T ])", text, re.ASCII) is not None
