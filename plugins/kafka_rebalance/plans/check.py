"""Check of a plan on a newer snapshot, move by move. The worst status wins:

- harmful: a move contradicts the cluster (its partition is in another reassignment, its broker is gone or takes no
  replicas); a reassignment of others has begun; partitions are below min ISR; or, where nothing else has changed, the
  remaining moves would overfill a disk, put replicas on one rack, or worsen the balance;
- stale: the plan has expired, or the cluster differs (``ReasonCode``);
- not worth it: all is done, or the rest no longer pays;
- valid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np

from kafka_assignors.arrays import ABSENT, Floats, Ints
from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.cluster_arrays.bands import BAND_ROUNDING
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.dead_band import gain_per_byte, gained, worst_deviation
from kafka_rebalance.plans.draft import Draft, bands_of, draft_of, empty_draft, outcome_of
from kafka_rebalance.plans.params import DEFAULTS, CheckParams, OptionParams, PlanParams
from kafka_rebalance.plans.plan import Verdict, plan_id, require_format
from kafka_rebalance.plans.request import PlanRequest, build_request, lacks_racks
from kafka_rebalance.plans.unseen import could_change, hidden_topics, nothing_usable
from kafka_rebalance.snapshot.coverage import Right, missing_rights
from kafka_rebalance.snapshot.model import ClusterSnapshot, least_in_sync
from kafka_rebalance.snapshot.times import parse_time, time_text


class PlanStatus(IntEnum):
    """Exit codes of ``rebalance-advisor check``."""

    VALID = 0
    STALE = 10
    NOT_WORTH_IT = 11
    HARMFUL = 12


class ReasonCode(StrEnum):
    """Result of a check, from which a status follows."""

    MOVES_LEFT = "moves_left"
    STILL_NOTHING_TO_DO = "still_nothing_to_do"

    SNAPSHOT_OLDER = "snapshot_older"  # than the plan's own
    ANOTHER_CLUSTER = "another_cluster"  # without ids: the plan's brokers and partitions are not there
    EXPIRED = "expired"
    TOPIC_DELETED = "topic_deleted"
    TOPIC_RECREATED = "topic_recreated"
    PARTITION_DELETED = "partition_deleted"
    PARTITIONS_ADDED = "partitions_added"
    PARTITION_MOVED = "partition_moved"  # neither where it was nor where the plan puts it
    REPLICATION_FACTOR_CHANGED = "replication_factor_changed"
    BROKER_ADDED = "broker_added"
    BROKER_LOST = "broker_lost"  # gone or dead since, and no target of a move
    BROKER_BACK = "broker_back"
    RACKS_GONE = "racks_gone"
    RACK_CHANGED = "rack_changed"
    SOMETHING_TO_DO = "something_to_do"  # the plan said that there is nothing
    NOT_SEEN = "not_seen"  # rights, unresponsive brokers
    NO_PLAN_TO_KEEP = "no_plan_to_keep"  # its verdict advised nothing

    ALL_DONE = "all_done"
    GAINS_TOO_LITTLE = "gains_too_little"
    BALANCED_ALREADY = "balanced_already"

    IN_REASSIGNMENT = "in_reassignment"  # being moved elsewhere
    TARGET_GONE = "target_gone"
    TARGET_UNUSABLE = "target_unusable"  # dead, fenced, or takes no replicas
    NO_LEADER = "no_leader"
    OUT_OF_SYNC = "out_of_sync"  # the reassignment cannot end, and the replica may not lead
    OVER_CAPACITY = "over_capacity"
    RACKS_SHARED = "racks_shared"
    BALANCE_WORSE = "balance_worse"
    FOREIGN_REASSIGNMENT = "foreign_reassignment"  # begun since
    UNDER_MIN_ISR = "under_min_isr"  # copying slows brokers that must catch up first

    SIZES_CHANGED = "sizes_changed"  # by more than a tenth
    CAPACITY_CHANGED = "capacity_changed"
    STILL_REASSIGNING = "still_reassigning"  # since before the plan


STATUS_OF = (
    dict.fromkeys(ReasonCode, PlanStatus.STALE)
    | dict.fromkeys((ReasonCode.MOVES_LEFT, ReasonCode.STILL_NOTHING_TO_DO), PlanStatus.VALID)
    | dict.fromkeys(
        (ReasonCode.SIZES_CHANGED, ReasonCode.CAPACITY_CHANGED, ReasonCode.STILL_REASSIGNING), PlanStatus.VALID
    )  # warnings
    | dict.fromkeys(
        (ReasonCode.ALL_DONE, ReasonCode.GAINS_TOO_LITTLE, ReasonCode.BALANCED_ALREADY), PlanStatus.NOT_WORTH_IT
    )
    | dict.fromkeys(
        (
            ReasonCode.IN_REASSIGNMENT,
            ReasonCode.TARGET_GONE,
            ReasonCode.TARGET_UNUSABLE,
            ReasonCode.NO_LEADER,
            ReasonCode.OUT_OF_SYNC,
            ReasonCode.OVER_CAPACITY,
            ReasonCode.RACKS_SHARED,
            ReasonCode.BALANCE_WORSE,
            ReasonCode.FOREIGN_REASSIGNMENT,
            ReasonCode.UNDER_MIN_ISR,
        ),
        PlanStatus.HARMFUL,
    )
)
_ORDER = (PlanStatus.VALID, PlanStatus.NOT_WORTH_IT, PlanStatus.STALE, PlanStatus.HARMFUL)


@dataclass(frozen=True, slots=True)
class Reason:
    code: ReasonCode
    facts: tuple[Fact, ...]

    @property
    def status(self) -> PlanStatus:
        return STATUS_OF[self.code]

    def document(self) -> dict[str, Any]:
        return {"code": self.code.value, "facts": [fact.document() for fact in self.facts]}


def reason(code: ReasonCode, fact_code: FactCode, **args: Any) -> Reason:
    return Reason(code, (fact(fact_code, **args),))


def worst(reasons: Iterable[Reason]) -> PlanStatus:
    """Harmful before stale before not worth it before valid."""
    return max((cause.status for cause in reasons), key=_ORDER.index, default=PlanStatus.VALID)


def shortened(reasons: Iterable[Reason], most: int = DEFAULTS.check.reasons_per_code) -> tuple[Reason, ...]:
    """At most ``most`` reasons of each code, and the number of the others, in order of appearance."""
    by_code: dict[ReasonCode, list[Reason]] = {}
    for cause in reasons:
        by_code.setdefault(cause.code, []).append(cause)
    kept: list[Reason] = []
    for code, same in by_code.items():
        kept += same[:most]
        if len(same) > most:
            kept.append(reason(code, FactCode.AND_MORE, count=len(same) - most))
    return tuple(kept)


MOST_BROKER_ID = MOST_PARTITION = 2**31 - 1
MOST_BYTES = 2**63 - 1
MOST_LOAD = 1e300  # sums of larger loads overflow


@dataclass(frozen=True, slots=True)
class PlannedMove:
    topic: str
    partition: int
    start: tuple[int, ...]
    target: tuple[int, ...]
    leader: int
    copied_bytes: int | None = None

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class PlannedState:
    plan_id: str
    cluster: str
    cluster_id: str | None
    captured_at: datetime | None
    expires_at: datetime | None
    verdict: str
    options: PlanOptions
    moves: tuple[PlannedMove, ...]
    topic_ids: Mapping[str, str | None]
    broker_racks: Mapping[int, str | None]
    dead_brokers: frozenset[int]
    topic_partitions: Mapping[str, int]
    reassigning: frozenset[tuple[str, int]]
    disk_before: Mapping[int, float]  # empty: the plan does not balance disks
    capacities: Mapping[str, Mapping[int, float]]  # resource -> broker -> capacity in the plan


def require_sealed(document: Any, source: str = "plan") -> None:
    """Raises InvalidInputError where ``plan_id`` is not the hash of the rest."""
    if not isinstance(document, Mapping) or not isinstance(document.get("plan_id"), str):
        raise InvalidInputError.at(source, "is no plan", "a plan has plan_id, parameters and moves")
    try:
        recomputed = plan_id(document)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError.at(source, f"holds what no plan can hold ({type(error).__name__})") from error
    if recomputed != document["plan_id"]:
        raise InvalidInputError.at(
            f"{source}: plan_id",
            f"{_short(document['plan_id'])} is not the hash of the document ({recomputed[:12]}…)",
            "the plan was changed after it was made: take the original, or make a new one",
        )


def read_planned(document: Any, source: str = "plan") -> PlannedState:
    require_sealed(document, source)
    require_format(document, source)
    read = _Fields(document, source)
    observed = _Fields(read.field("seen", dict), f"{source}.seen")
    return PlannedState(
        plan_id=read.field("plan_id", str),
        cluster=read.field("cluster", str),
        cluster_id=read.maybe("cluster_id"),
        captured_at=read.time("captured_at"),
        expires_at=read.time("expires_at"),
        verdict=read.field("verdict", str),
        options=PlanOptions.from_document(read.field("parameters", dict)),
        moves=_moves(read.field("moves", list), source),
        topic_ids=_topic_ids(read),
        broker_racks=_read_racks(observed),
        dead_brokers=frozenset(observed.brokers("dead_brokers")),
        topic_partitions=_counts(observed),
        reassigning=_reassigning(observed),
        disk_before=_disk_before(read),
        capacities=_read_capacities(read.field("resources", list), source),
    )


@dataclass(frozen=True, slots=True)
class _Fields:
    document: Mapping[str, Any]
    path: str

    def wrong(self, name: str, value: Any, hint: str = "") -> InvalidInputError:
        return InvalidInputError.at(f"{self.path}.{name}", f"{_short(value)} cannot be", hint)

    def field(self, name: str, kind: type) -> Any:
        if name not in self.document:
            raise InvalidInputError.at(f"{self.path}.{name}", "is missing")
        value = self.document[name]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.wrong(name, value)
        return value

    def maybe(self, name: str) -> str | None:
        if self.document.get(name) is None:
            return None
        return str(self.field(name, str))

    def time(self, name: str) -> datetime | None:
        text = self.maybe(name)
        return None if text is None else parse_time(text, f"{self.path}.{name}")

    def number(self, name: str, highest: int) -> int:
        value: int = self.field(name, int)
        if not 0 <= value <= highest:
            raise self.wrong(name, value)
        return value

    def brokers(self, name: str) -> tuple[int, ...]:
        value = self.field(name, list)
        if not all(_is_broker(broker) for broker in value) or len(set(value)) != len(value):
            raise self.wrong(name, value, "broker ids, each once")
        return tuple(value)


def _moves(items: list[Any], path: str) -> tuple[PlannedMove, ...]:
    moves: list[PlannedMove] = []
    keys: set[tuple[str, int]] = set()
    for number, item in enumerate(items):
        item_path = f"{path}.moves[{number}]"
        if not isinstance(item, dict):
            raise InvalidInputError.at(item_path, f"{_short(item)} is no move")
        read = _Fields(item, item_path)
        move = PlannedMove(
            topic=read.field("topic", str),
            partition=read.number("partition", MOST_PARTITION),
            start=read.brokers("from"),
            target=read.brokers("to"),
            leader=read.number("leader_to", MOST_BROKER_ID),
            copied_bytes=None if item.get("bytes") is None else read.number("bytes", MOST_BYTES),
        )
        if not move.start or not move.target or move.leader not in move.target:
            raise InvalidInputError.at(item_path, "from or to is empty, or leader_to is not among to")
        if (move.topic, move.partition) in keys:
            raise InvalidInputError.at(item_path, f"{_short(move.name)} is moved twice")
        keys.add((move.topic, move.partition))
        moves.append(move)
    return tuple(moves)


def _topic_ids(read: _Fields) -> dict[str, str | None]:
    value = read.field("topic_ids", dict)
    if not all(element is None or isinstance(element, str) for element in value.values()):
        raise read.wrong("topic_ids", value, "topic: id or null")
    return dict(value)


def _read_racks(observed: _Fields) -> dict[int, str | None]:
    racks: dict[int, str | None] = {}
    for key, rack in observed.field("broker_racks", dict).items():
        if rack is not None and not isinstance(rack, str):
            raise observed.wrong("broker_racks", rack, "racks as text")
        racks[_broker_of(key, observed, "broker_racks")] = rack
    return racks


def _disk_before(read: _Fields) -> dict[int, float]:
    disk = read.field("before", dict).get("disk")
    return {} if disk is None else _by_broker(disk, read, "before")


def _read_capacities(resources: list[Any], path: str) -> dict[str, dict[int, float]]:
    capacities = {}
    for number, item in enumerate(resources):
        item_path = f"{path}.resources[{number}]"
        if not isinstance(item, dict):
            raise InvalidInputError.at(item_path, f"{_short(item)} is no resource")
        read = _Fields(item, item_path)
        if item.get("capacity") is not None:
            capacities[str(read.field("resource", str))] = _by_broker(item["capacity"], read, "capacity")
    return capacities


def _by_broker(value: Any, read: _Fields, name: str) -> dict[int, float]:
    if not isinstance(value, dict):
        raise read.wrong(name, value, "a number for each broker")
    numbers = {}
    for key, number in value.items():
        if not isinstance(number, int | float) or isinstance(number, bool) or not 0 <= number <= MOST_LOAD:
            raise read.wrong(name, number, "a number for each broker")
        numbers[_broker_of(key, read, name)] = float(number)
    return numbers


def _broker_of(key: Any, read: _Fields, name: str) -> int:
    if not (key.isascii() and key.isdecimal() and len(key) <= 10 and int(key) <= MOST_BROKER_ID):
        raise read.wrong(name, key, "broker ids as text")
    return int(key)


def _counts(observed: _Fields) -> dict[str, int]:
    counts: dict[str, int] = observed.field("topic_partitions", dict)
    for value in counts.values():
        if not isinstance(value, int) or isinstance(value, bool):
            raise observed.wrong("topic_partitions", value, "topic: number of partitions")
    return dict(counts)


def _reassigning(observed: _Fields) -> frozenset[tuple[str, int]]:
    pairs: list[Any] = observed.field("reassigning", list)
    for pair in pairs:
        if not isinstance(pair, list) or [type(part) for part in pair] != [str, int]:
            raise observed.wrong("reassigning", pair, "topic and partition")
    return frozenset((topic, partition) for topic, partition in pairs)


def _is_broker(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_BROKER_ID


def _short(value: Any) -> str:
    if isinstance(value, list | dict):
        return f"a {'list' if isinstance(value, list) else 'object'} of {len(value)}"
    if isinstance(value, int) and abs(value) > 2**63:
        return "a number beyond 2^63"
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass(frozen=True, slots=True)
class LeftMove:
    """Problem row, target and leader as broker indices."""

    row: int
    target: list[int]
    leader: int


@dataclass(frozen=True, slots=True)
class MoveStates:
    """``reasons``: conflicts and changes; the other moves are done or left."""

    done: int
    left: tuple[LeftMove, ...]
    reasons: tuple[Reason, ...]


def move_states(
    planned: PlannedState, plan_request: PlanRequest, problem: Problem, recreated: AbstractSet[str]
) -> MoveStates:
    at_row = {row: at for at, row in enumerate(plan_request.rows.tolist())}
    row_of = plan_request.snapshot.row_of
    topics = {topic.name for topic in plan_request.snapshot.topics}
    left: list[LeftMove] = []
    reasons: list[Reason] = []
    done = changed = 0
    for move in planned.moves:
        row = row_of.get((move.topic, move.partition))
        if move.topic in recreated or move.topic not in topics:
            changed += 1  # once for the topic
            continue
        if row is None or row not in at_row:
            args = {"partition": move.name, "is_on_gone_brokers": row is not None}
            reasons.append(reason(ReasonCode.PARTITION_DELETED, FactCode.PARTITION_IS_GONE, **args))
            continue
        outcome = _state(move, plan_request, problem, row, at_row[row])
        if isinstance(outcome, Reason):
            reasons.append(outcome)
        elif outcome is None:
            done += 1
        else:
            left.append(outcome)
    return MoveStates(done, tuple(left), tuple(reasons))


def _state(
    move: PlannedMove, plan_request: PlanRequest, problem: Problem, row: int, at: int
) -> Reason | LeftMove | None:
    index = plan_request.brokers.index_of
    joined = {broker.id for broker in plan_request.snapshot.brokers}
    target = [index.get(broker, ABSENT) if broker in joined else ABSENT for broker in move.target]
    today = [broker for broker in problem.replicas[at].tolist() if broker >= 0]
    leader = index.get(move.leader, ABSENT)
    if today == target and (bool(plan_request.partitions.in_flight[row]) or int(problem.leader[at]) == leader):
        return None
    conflict = _conflict(plan_request, problem, (row, at), move, target, today)
    if conflict is not None:
        return conflict
    start = [index.get(broker, ABSENT) for broker in move.start]
    if today in (start, target):
        return LeftMove(at, target, leader)
    ids = [int(plan_request.brokers.arrays.ids[broker]) for broker in today]
    if len(today) not in (len(start), len(target)):
        counts = {"now": len(today), "then": len(start)}
        return reason(
            ReasonCode.REPLICATION_FACTOR_CHANGED, FactCode.NOW_OTHER_REPLICA_COUNT, partition=move.name, **counts
        )
    places = {"now": tuple(ids), "then": tuple(move.start)}
    return reason(ReasonCode.PARTITION_MOVED, FactCode.NOW_OTHER_REPLICAS, partition=move.name, **places)


def _conflict(
    plan_request: PlanRequest,
    problem: Problem,
    rows: tuple[int, int],
    move: PlannedMove,
    target: list[int],
    today: list[int],
) -> Reason | None:
    """``rows``: in the snapshot, and in the problem."""
    row, at = rows
    if plan_request.partitions.in_flight[row]:
        return reason(ReasonCode.IN_REASSIGNMENT, FactCode.PARTITION_BEING_REASSIGNED, partition=move.name)
    if ABSENT in target:
        broker = move.target[target.index(ABSENT)]
        target_id = {"partition": move.name, "broker": broker}
        return reason(ReasonCode.TARGET_GONE, FactCode.TARGET_NOT_IN_CLUSTER, **target_id)
    # With leader changes alone a list may keep a replica on a lost broker.
    gone = [b for b in target if not problem.stays[b] and (problem.moves_replicas or b not in today)]
    if gone:
        lost = plan_request.brokers.brokers[gone[0]]
        args = {"partition": move.name, "broker": lost.id, "state": lost.state.value}
        return reason(ReasonCode.TARGET_UNUSABLE, FactCode.TARGET_IN_STATE, **args)
    closed = [b for b in target if b not in today and not problem.takes_replicas[b]]
    if closed:
        args = {"partition": move.name, "broker": plan_request.brokers.brokers[closed[0]].id}
        return reason(ReasonCode.TARGET_UNUSABLE, FactCode.TARGET_TAKES_NO_REPLICAS, **args)
    may_be_on = problem.sets.brokers[problem.sets.of_partition[at]]
    outside = [b for b in target if b not in today and not may_be_on[b]]
    if outside:
        args = {"partition": move.name, "broker": plan_request.brokers.brokers[outside[0]].id}
        return reason(ReasonCode.TARGET_UNUSABLE, FactCode.TARGET_NOT_FOR_TOPIC, **args)
    if plan_request.partitions.leaderless[row]:
        return reason(ReasonCode.NO_LEADER, FactCode.NO_LEADER_TO_COPY_FROM, partition=move.name)
    return _out_of_sync(plan_request, row, move, target)


def _out_of_sync(plan_request: PlanRequest, row: int, move: PlannedMove, target: list[int]) -> Reason | None:
    """A reassignment ends only when all its replicas are in sync, and a leader must be in sync."""
    partitions = plan_request.partitions
    replicas = partitions.placement.replicas[row]
    behind = [b for b in replicas[partitions.laggards[row]].tolist() if b in target]
    changes = {b for b in replicas.tolist() if b >= 0} != set(target)
    blocking = [b for b in behind if changes or b == target[0]]
    if not blocking:
        return None
    args = {"partition": move.name, "broker": plan_request.brokers.brokers[blocking[0]].id}
    return reason(ReasonCode.OUT_OF_SYNC, FactCode.REPLICA_OUT_OF_SYNC, **args)


def why_not_comparable(planned: PlannedState, snapshot: ClusterSnapshot) -> tuple[Reason, ...]:
    """The snapshot is older, or of another cluster. Raises InvalidInputError where both ids are known and differ."""
    ids = {planned.cluster_id, snapshot.cluster_id} - {None}
    if len(ids) > 1:
        problem = f"the plan is of cluster {planned.cluster_id}, the snapshot of {snapshot.cluster_id}"
        raise InvalidInputError.at("check", problem, "give its own snapshot")
    reasons = []
    then, now = planned.captured_at, snapshot.captured_at
    if then is not None and now is not None and now < then:
        times = {"snapshot_at": time_text(now), "plan_at": time_text(then)}
        reasons.append(reason(ReasonCode.SNAPSHOT_OLDER, FactCode.SNAPSHOT_BEFORE_PLAN, **times))
    if planned.cluster_id is None or snapshot.cluster_id is None:
        reasons += _another_cluster(planned, snapshot)
    return tuple(reasons)


def expired(planned: PlannedState, snapshot: ClusterSnapshot, now: datetime | None) -> Iterator[Reason]:
    """Expiry by the snapshot's time, or by ``now`` where given."""
    moments = [moment for moment in (snapshot.captured_at, now) if moment is not None]
    if planned.expires_at is not None and moments and max(moments) > planned.expires_at:
        yield reason(ReasonCode.EXPIRED, FactCode.PLAN_EXPIRED, expires_at=time_text(planned.expires_at))


def changes_since(planned: PlannedState, snapshot: ClusterSnapshot) -> Iterator[Reason]:
    yield from _brokers(planned, snapshot)
    yield from _changed_racks(planned, snapshot)
    yield from _topics(planned, snapshot)
    yield from _reassignments(planned, snapshot)
    yield from _under_min_isr(planned, snapshot)


def recreated_topics(planned: PlannedState, snapshot: ClusterSnapshot) -> frozenset[str]:
    """Moved topics that were recreated. An id that one side lacks is unknown, not different."""
    today = {topic.name: topic.topic_id for topic in snapshot.topics}
    return frozenset(
        name
        for name, was in planned.topic_ids.items()
        if was is not None and today.get(name) is not None and today[name] != was
    )


def _another_cluster(planned: PlannedState, snapshot: ClusterSnapshot) -> Iterator[Reason]:
    row_of, table = snapshot.row_of, snapshot.partitions
    matching = 0
    for move in planned.moves:
        row = row_of.get((move.topic, move.partition))
        if row is not None:
            today = set(table.replicas[table.offsets[row] : table.offsets[row + 1]].tolist())
            matching += today >= set(move.start) or today >= set(move.target)
    if 2 * matching < len(planned.moves):
        yield _looks_like_another(planned, "partitions", matching, len(planned.moves))
        return
    planned_racks = planned.broker_racks
    present = planned_racks.keys() & {broker.id for broker in snapshot.brokers}
    if 2 * len(present) < len(planned_racks):
        yield _looks_like_another(planned, "brokers", len(present), len(planned_racks))


def _looks_like_another(planned: PlannedState, what: str, matching: int, total: int) -> Reason:
    counts = {"what": what, "found": matching, "known": total}
    return reason(ReasonCode.ANOTHER_CLUSTER, FactCode.LOOKS_LIKE_ANOTHER_CLUSTER, cluster=planned.cluster, **counts)


def _brokers(planned: PlannedState, snapshot: ClusterSnapshot) -> Iterator[Reason]:
    options = planned.options
    today = {broker.id: broker for broker in snapshot.brokers}
    for broker in sorted(today.keys() - planned.broker_racks.keys()):
        yield reason(ReasonCode.BROKER_ADDED, FactCode.BROKER_HAS_JOINED, broker=broker)
    removed = {broker for broker, rack in planned.broker_racks.items() if options.is_removed(broker, rack)}
    expected = planned.broker_racks.keys() - planned.dead_brokers - removed
    for broker in sorted(expected):
        if broker not in today and broker not in options.add_brokers:
            yield reason(ReasonCode.BROKER_LOST, FactCode.BROKER_HAS_LEFT, broker=broker)
        elif broker in today and not today[broker].state.is_responsive:
            state = today[broker].state.value
            yield reason(ReasonCode.BROKER_LOST, FactCode.BROKER_NOW_IN_STATE, broker=broker, state=state)
    for broker in sorted(planned.dead_brokers & today.keys()):
        if today[broker].state.is_responsive:
            state = today[broker].state.value
            yield reason(ReasonCode.BROKER_BACK, FactCode.BROKER_HAS_RETURNED, broker=broker, state=state)


def _changed_racks(planned: PlannedState, snapshot: ClusterSnapshot) -> Iterator[Reason]:
    was = planned.broker_racks
    # Racks of dead brokers are unknown.
    today = {broker.id: broker.rack for broker in snapshot.brokers if broker.state.is_responsive and broker.id in was}
    if today and any(was[broker] for broker in today) and not any(today.values()):
        yield reason(ReasonCode.RACKS_GONE, FactCode.NOW_NO_RACKS)
        return
    for broker, rack in sorted(today.items()):
        if rack != was[broker] and broker not in planned.dead_brokers:
            racks = {"now": rack, "then": was[broker]}
            yield reason(ReasonCode.RACK_CHANGED, FactCode.NOW_OTHER_RACK, broker=broker, **racks)


def _topics(planned: PlannedState, snapshot: ClusterSnapshot) -> Iterator[Reason]:
    today = {topic.name: index for index, topic in enumerate(snapshot.topics)}
    moved = {move.topic for move in planned.moves}
    hidden, may_hide = hidden_topics(snapshot), Right.DESCRIBE_CLUSTER in missing_rights(snapshot.coverage)
    for name in sorted(moved - today.keys()):
        if name in hidden or may_hide:
            yield reason(ReasonCode.NOT_SEEN, FactCode.TOPIC_NOT_SHOWN, topic=name)
        else:
            yield reason(ReasonCode.TOPIC_DELETED, FactCode.TOPIC_HAS_LEFT, topic=name)
    for name in sorted(recreated_topics(planned, snapshot)):
        yield reason(ReasonCode.TOPIC_RECREATED, FactCode.TOPIC_MADE_ANEW, topic=name)
    column = snapshot.partitions.topic
    for name in sorted(planned.topic_partitions.keys() & moved & today.keys()):
        count = int((column == today[name]).sum())
        if count > planned.topic_partitions[name]:
            counts = {"now": count, "then": planned.topic_partitions[name]}
            yield reason(ReasonCode.PARTITIONS_ADDED, FactCode.NOW_MORE_PARTITIONS, topic=name, **counts)


def still_reassigning(planned: PlannedState, snapshot: ClusterSnapshot) -> Iterator[Reason]:
    for name in _foreign(planned, snapshot, were_running=True):
        yield reason(ReasonCode.STILL_REASSIGNING, FactCode.STILL_REASSIGNED_BY_OTHERS, partition=name)


def _reassignments(planned: PlannedState, snapshot: ClusterSnapshot) -> Iterator[Reason]:
    """If none ran then, ``kafka-reassign-partitions.sh --execute`` refuses to start beside them."""
    for name in _foreign(planned, snapshot, were_running=False):
        yield reason(ReasonCode.FOREIGN_REASSIGNMENT, FactCode.NOW_REASSIGNED_BY_OTHERS, partition=name)


def _foreign(planned: PlannedState, snapshot: ClusterSnapshot, *, were_running: bool) -> Iterator[str]:
    table = snapshot.partitions
    own = {(move.topic, move.partition) for move in planned.moves}
    for row in sorted({*table.adding, *table.removing}):
        key = (snapshot.topics[int(table.topic[row])].name, int(table.partition[row]))
        if key not in own and (key in planned.reassigning) == were_running:
            yield snapshot.name_of(row)


def _under_min_isr(planned: PlannedState, snapshot: ClusterSnapshot) -> Iterator[Reason]:
    """Not those known to the plan, and not those whose missing replicas it replaces: there the plan is the cure."""
    table = snapshot.partitions
    if table.in_sync is None:
        return
    in_sync = np.bincount(table.row_of_replica, weights=table.in_sync, minlength=len(table)).astype(np.int64)
    least = np.minimum(least_in_sync(snapshot), table.replica_counts)  # brokers use at most the replica count
    moves = {(move.topic, move.partition): move for move in planned.moves}
    for row in np.flatnonzero(in_sync < least).tolist():
        cells = slice(int(table.offsets[row]), int(table.offsets[row + 1]))
        missing = set(table.replicas[cells][~table.in_sync[cells]].tolist())
        move = moves.get((snapshot.topics[int(table.topic[row])].name, int(table.partition[row])))
        if missing <= planned.dead_brokers or (move is not None and not missing & set(move.target)):
            continue
        counts = {"in_sync": int(in_sync[row]), "least": int(least[row])}
        yield reason(ReasonCode.UNDER_MIN_ISR, FactCode.TOO_FEW_IN_SYNC, partition=snapshot.name_of(row), **counts)


def drift_since(planned: PlannedState, plan_request: PlanRequest, params: CheckParams) -> Iterator[Reason]:
    """Warnings about the cluster's size, copied sizes and capacities. Unknown values give none."""
    yield from _all_sizes(planned, plan_request, params.most_drift)
    yield from _copied(planned.moves, plan_request, params.most_drift)
    yield from _changed_capacities(planned, plan_request, params.most_drift)


def _all_sizes(planned: PlannedState, plan_request: PlanRequest, most: float) -> Iterator[Reason]:
    then = sum(planned.disk_before.values())
    outcome = outcome_of(plan_request, empty_draft(plan_request))
    if not then or "disk" not in outcome.resources:
        return
    now = float(outcome.before[:, outcome.column("disk")].sum())
    if _is_other(then, now, most):
        yield _sizes_changed(then, now, is_copied=False)


def _copied(moves: Sequence[PlannedMove], plan_request: PlanRequest, most: float) -> Iterator[Reason]:
    row_of, size = plan_request.snapshot.row_of, plan_request.partitions.size
    then = now = 0.0
    for move in moves:
        copies, row = len(set(move.target) - set(move.start)), row_of.get((move.topic, move.partition))
        if not copies or move.copied_bytes is None or row is None or np.isnan(size[row]):
            continue
        then += move.copied_bytes
        now += copies * float(size[row])
    if _is_other(then, now, most):
        yield _sizes_changed(then, now, is_copied=True)


def _sizes_changed(then: float, now: float, *, is_copied: bool) -> Reason:
    sizes = {"now_bytes": now, "then_bytes": float(then)}
    return reason(ReasonCode.SIZES_CHANGED, FactCode.NOW_OTHER_SIZES, **sizes, is_copied=is_copied)


def _changed_capacities(planned: PlannedState, plan_request: PlanRequest, most: float) -> Iterator[Reason]:
    ids = plan_request.brokers.arrays.ids.tolist()
    for resource, then in planned.capacities.items():
        values = plan_request.brokers.arrays.capacity.get(resource)
        if values is None:
            yield reason(ReasonCode.CAPACITY_CHANGED, FactCode.NOW_UNKNOWN_CAPACITY, resource=resource)
            continue
        now: Mapping[int, float] = dict(zip(ids, values.tolist(), strict=True))
        for broker in sorted(then.keys() & now.keys()):
            if _is_other(then[broker], now[broker], most):
                amounts = {"now": now[broker], "then": then[broker]}
                args = {"resource": resource, "broker": broker} | amounts
                yield reason(ReasonCode.CAPACITY_CHANGED, FactCode.NOW_OTHER_CAPACITY, **args)


def _is_other(then: float, now: float, most: float) -> bool:
    return abs(now - then) > most * then


@dataclass(frozen=True, slots=True)
class Effect:
    """``gain``: reduction of today's ``imbalance``; ``copied_bytes`` of known size."""

    harm: tuple[Reason, ...]
    gain: float
    imbalance: float
    copied_bytes: float


def effect_of(
    plan_request: PlanRequest, problem: Problem, left: Sequence[LeftMove], params: CheckParams = DEFAULTS.check
) -> Effect:
    replicas, leaders = problem.replicas.copy(), problem.leader.copy()
    width = max([replicas.shape[1], *(len(move.target) for move in left)])
    replicas = np.pad(replicas, ((0, 0), (0, width - replicas.shape[1])), constant_values=ABSENT)
    for move in left:
        replicas[move.row] = ABSENT
        replicas[move.row, : len(move.target)] = move.target
        leaders[move.row] = move.leader
    draft = draft_of(plan_request, replicas, leaders)
    outcome = outcome_of(plan_request, draft)
    before, after = outcome.before, outcome.after
    bands, stays = bands_of(problem), problem.stays
    today, gain = gained(bands, outcome.states_before, outcome.states_after, stays)
    harm = _harm(plan_request, problem, draft, before, after)
    if gain < -params.least_harm and not plan_request.hard:
        harm.append(reason(ReasonCode.BALANCE_WORSE, FactCode.IMBALANCE_WOULD_GROW, growth=float(-gain)))
    return Effect(tuple(harm), gain, today, float((draft.copies * np.nan_to_num(draft.size)).sum()))


def worth(plan_request: PlanRequest, problem: Problem, effect: Effect, left: int) -> Reason:
    options = plan_request.options
    if plan_request.hard or options.preferred_election:
        what_is_left = fact(FactCode.MOVES_ARE_LEFT, moves=left, gain=None, imbalance=None)
        return Reason(ReasonCode.MOVES_LEFT, (*plan_request.hard, what_is_left))
    amounts = {"gain": float(effect.gain), "imbalance": float(effect.imbalance)}
    rate = gain_per_byte(effect.gain, effect.copied_bytes, float(np.nan_to_num(plan_request.partitions.size).sum()))
    if effect.gain <= 0 or (not options.is_explicit and rate < options.least_gain_per_byte):
        return reason(ReasonCode.GAINS_TOO_LITTLE, FactCode.GAIN_OF_REST, **amounts)
    leaders = (problem.leader, problem.leader if problem.preferred is None else problem.preferred)
    loads = [broker_loads(problem, problem.replicas, leader) for leader in leaders]
    worst = [None if options.band is None else worst_deviation(problem, load, options.band) for load in loads]
    if all(deviation is None or deviation.ratio == 1.0 for deviation in worst):
        return reason(ReasonCode.BALANCED_ALREADY, FactCode.EVERY_BROKER_INSIDE)
    return reason(ReasonCode.MOVES_LEFT, FactCode.MOVES_ARE_LEFT, moves=left, **amounts)


def _harm(plan_request: PlanRequest, problem: Problem, draft: Draft, before: Floats, after: Floats) -> list[Reason]:
    reasons = []
    ids, caps = plan_request.brokers.arrays.ids, plan_request.caps
    for d, name in enumerate(problem.resources):
        cap = caps.get(name, np.full(len(ids), np.inf)) * (1 + BAND_ROUNDING)
        over = problem.stays & (after[:, d] > np.minimum(problem.limit[:, d], cap)) & (after[:, d] > before[:, d])
        if over.any():
            args = {"resource": name, "broker": int(ids[over.argmax()]), "is_cap": name in caps}
            reasons.append(reason(ReasonCode.OVER_CAPACITY, FactCode.BROKER_WOULD_OVERFLOW, **args))
    target = np.asarray((draft.end >= 0).sum(axis=1), dtype=np.int32)
    shares = lacks_racks(draft.end, plan_request.brokers.arrays, target) & ~lacks_racks(
        _may_stay(plan_request, draft), plan_request.brokers.arrays, target
    )
    if shares.any():
        count = int(shares.sum())
        reasons.append(reason(ReasonCode.RACKS_SHARED, FactCode.RACKS_WOULD_BE_SHARED, partitions=count))
    return reasons


def _may_stay(plan_request: PlanRequest, draft: Draft) -> Ints:
    """A rack that only today's other replicas use is not lost."""
    placement = plan_request.partitions.placement
    if placement.must_leave is None:
        return draft.start
    return np.where(placement.must_leave[draft.row], ABSENT, placement.replicas[draft.row])


@dataclass(frozen=True, slots=True)
class CheckResult:
    status: PlanStatus
    because: tuple[Reason, ...]
    done: int
    left: int
    warnings: tuple[Reason, ...] = ()

    @property
    def codes(self) -> tuple[ReasonCode, ...]:
        return tuple(dict.fromkeys(cause.code for cause in self.because))


def check_plan(
    document: Mapping[str, Any],
    snapshot: ClusterSnapshot,
    params: PlanParams = DEFAULTS,
    *,
    now: datetime | None = None,
) -> CheckResult:
    """Judge a parsed ``plan.json`` on a newer snapshot, and by the clock ``now``.

    Raises InvalidInputError for a document that is no plan of ours or was changed, and for another cluster id.
    """
    planned = read_planned(document)
    strangers = why_not_comparable(planned, snapshot)
    late = tuple(expired(planned, snapshot, now))
    if strangers:
        return _result((*strangers, *late), 0, len(planned.moves), params)
    try:
        with np.errstate(over="raise", invalid="raise"):
            judged = _check_moves if planned.moves else _check_rest
            return judged(planned, snapshot, late, params)
    except FloatingPointError as error:
        hint = "look for a load or a size that nothing can have"
        raise InvalidInputError.at("snapshot", "its loads are too large to be added up", hint) from error


def _check_moves(
    planned: PlannedState, snapshot: ClusterSnapshot, late: tuple[Reason, ...], params: PlanParams
) -> CheckResult:
    plan_request = build_request(snapshot, _options(planned, snapshot, params.options), params.options)
    problem = plan_request.problem(plan_request.options.band)
    states = move_states(planned, plan_request, problem, recreated_topics(planned, snapshot))
    warnings = (*drift_since(planned, plan_request, params.check), *still_reassigning(planned, snapshot))
    reasons = (*states.reasons, *late, *changes_since(planned, snapshot))
    done, left = states.done, len(states.left)
    if not reasons and not left:
        reasons = (reason(ReasonCode.ALL_DONE, FactCode.ALL_MOVES_DONE, moves=done),)
    if not reasons:
        effect = effect_of(plan_request, problem, states.left, params.check)
        reasons = effect.harm or (worth(plan_request, problem, effect, left),)
    return _result(reasons, done, left, params, warnings)


def _check_rest(
    planned: PlannedState, snapshot: ClusterSnapshot, late: tuple[Reason, ...], params: PlanParams
) -> CheckResult:
    if late:
        return _result(late, 0, 0, params)
    if planned.verdict != Verdict.NOTHING_TO_DO.value:
        why = reason(ReasonCode.NO_PLAN_TO_KEEP, FactCode.PLAN_HAD_VERDICT, verdict=planned.verdict[:40])
        return _result((why,), 0, 0, params)
    if unusable := nothing_usable(snapshot):
        return _result(tuple(Reason(ReasonCode.NOT_SEEN, (why,)) for why in unusable), 0, 0, params)
    plan_request = build_request(snapshot, _options(planned, snapshot, params.options), params.options)
    within = plan_request.options.band
    problem = plan_request.problem(within)
    loads = broker_loads(problem, problem.replicas, problem.leader)
    far = None if within is None else worst_deviation(problem, loads, within)
    allowed = (within or 0.0) if plan_request.options.is_explicit else plan_request.options.dead_band
    must = (*plan_request.hard, *plan_request.unmet)
    if must or (far is not None and abs(far.ratio - 1) > allowed + 1e-9):
        why = Reason(ReasonCode.SOMETHING_TO_DO, (*must, fact(FactCode.NOW_SOMETHING_TO_DO)))
        return _result((why,), 0, 0, params)
    if unseen := could_change(plan_request, problem, params.unseen):
        return _result(tuple(Reason(ReasonCode.NOT_SEEN, (why,)) for why in unseen), 0, 0, params)
    return _result((reason(ReasonCode.STILL_NOTHING_TO_DO, FactCode.NOW_NOTHING_TO_DO),), 0, 0, params)


def _options(planned: PlannedState, snapshot: ClusterSnapshot, params: OptionParams) -> PlanOptions:
    """Plan options without brokers and racks that have left since."""
    options = planned.options
    present = {broker.id for broker in snapshot.brokers}
    broker_ids = present | options.add_brokers.keys()
    factor = options.replication_factor
    if factor is not None and factor > max(len(broker_ids), params.most_replication_factor):
        raise InvalidInputError.at("plan.parameters", f"replication factor {factor:,} on {len(broker_ids):,} brokers")
    return replace(
        options,
        remove_brokers=options.remove_brokers & broker_ids,
        demote_brokers=options.demote_brokers & broker_ids,
        exclude_brokers=options.exclude_brokers & broker_ids,
        remove_racks=options.remove_racks & {broker.rack for broker in snapshot.brokers},
    )


def _result(
    reasons: tuple[Reason, ...], done: int, left: int, params: PlanParams, warnings: tuple[Reason, ...] = ()
) -> CheckResult:
    status = worst(reasons)
    ordered = sorted(reasons, key=lambda cause: cause.status is not status)
    most = params.check.reasons_per_code
    return CheckResult(status, shortened(ordered, most), done, left, shortened(warnings, most))
