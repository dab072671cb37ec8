"""Sealed plan that moves replicas between the log dirs of each broker.

Promises, in order: a dir to be emptied holds nothing; no disk is filled above its limit, a fuller one gets no fuller;
few bytes are above 85 % of a disk; each disk is as near to its limits as whole replicas allow; few bytes.

Without a balance, replicas leave largest first, each to the least used disk; only if that overfills a disk, anywhere
with room. Example: 40 and 20 leave, disks of 100 hold 10 and 40: 40 goes to the first (50), 20 to the second (60).

Waves: every disk has room for both copies, counted at the wave's start, because Kafka removes a source only after the
copy; the reverse fits, too. Largest moves first. Unknown sizes are not limited. O(waves × moves).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kafka_assignors.arrays import Flags, Longs
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.errors import InfeasibleError, UsageError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.log_dir_plans.plan import BrokerDirs, DirPlace, LogDirMove, LogDirPlan, LogDirWave
from kafka_rebalance.options.plan_options import DEFAULT_THROTTLE_BYTES_PER_S
from kafka_rebalance.planner.log_dirs import LogDirProblem, fewest_moved_bytes, place_in_log_dirs
from kafka_rebalance.planner.params import LOG_DIRS, LogDirParams
from kafka_rebalance.snapshot.codec import snapshot_id
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, LogDir
from kafka_rebalance.snapshot.partition_table import UNKNOWN_DIR, PartitionTable
from kafka_rebalance.snapshot.times import optional_time_text

BALANCE, REMOVE = "--balance-log-dirs", "--remove-log-dir"


@dataclass(frozen=True, slots=True)
class LogDirRequest:
    """Request with at least one of the two. Raises UsageError.

    within   largest distance of each disk's used share from its broker's, 0.1 = ten points; None: no balance
    removed  broker and path of each dir to be emptied
    """

    within: float | None = None
    removed: frozenset[tuple[int, str]] = frozenset()
    throttle_bytes_per_s: int = DEFAULT_THROTTLE_BYTES_PER_S
    partitions_per_wave: int = 5000

    def __post_init__(self) -> None:
        if self.within is None and not self.removed:
            raise UsageError.at("log dirs", "nothing is asked", f"give {BALANCE} 10% or {REMOVE} BROKER:/path")
        if self.within is not None and not (math.isfinite(self.within) and 0 <= self.within < 1):
            raise UsageError.at(BALANCE, f"{excerpt(self.within)} is no share", "give 10% or 0.1")
        for name in ("throttle_bytes_per_s", "partitions_per_wave"):
            if getattr(self, name) < 1:
                raise UsageError.at(name, f"{excerpt(getattr(self, name))} cannot be", "give 1 or more")

    def removed_of(self, broker: int) -> frozenset[str]:
        return frozenset(path for owner, path in self.removed if owner == broker)

    def document(self) -> dict[str, Any]:
        removed: dict[str, list[str]] = {}
        for broker, path in sorted(self.removed):
            removed.setdefault(str(broker), []).append(path)
        return {
            "balance_within": self.within,
            "remove_log_dirs": removed,
            "throttle_bytes_per_s": self.throttle_bytes_per_s,
            "partitions_per_wave": self.partitions_per_wave,
        }


def require_dirs_fit(snapshot: ClusterSnapshot, request: LogDirRequest) -> None:
    """Raises UsageError for a wrong dir, and where no broker has two dirs."""
    brokers = {broker.id: broker for broker in snapshot.brokers}
    if not any(len(broker.log_dirs) > 1 for broker in snapshot.brokers):
        raise UsageError.at("log dirs", "no broker is seen to have two of them", "read the live cluster, or its dump")
    for broker, path in sorted(request.removed):
        _require_removable(brokers, broker, path, request.removed_of(broker))


def _require_removable(brokers: Mapping[int, Broker], broker: int, path: str, removed: frozenset[str]) -> None:
    option = f"{REMOVE} {broker}:{excerpt(path)}"
    if broker not in brokers:
        raise UsageError.at(option, "there is no such broker", f"known: {', '.join(map(str, sorted(brokers)))}")
    by_path = {log_dir.path: log_dir for log_dir in brokers[broker].log_dirs}
    if path not in by_path:
        raise UsageError.at(option, "the broker has no such log dir", f"known: {', '.join(by_path) or 'none'}")
    if by_path[path].error is not None:
        raise UsageError.at(
            option, "the dir failed: nothing can be copied from it", "take its broker's replicas off it"
        )
    if not brokers[broker].state.is_responsive:
        raise UsageError.at(option, f"the broker is {brokers[broker].state.value}", "start it first")
    if not brokers[broker].state.stays:
        raise UsageError.at(option, f"the broker is {brokers[broker].state.value}", "everything leaves it anyway")
    staying = [
        candidate
        for candidate in by_path.values()
        if candidate.path not in removed and candidate.error is None and not candidate.is_cordoned
    ]
    if not staying:
        raise UsageError.at(
            option, "no other dir of the broker may receive", f"remove the broker: --remove-broker {broker}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class BrokerPlaces:
    """D places on V volumes; dirs with the same total and usable bytes share a volume.

    ``dirs`` of each place, one where it is emptied; ``total_bytes``, ``usable_bytes`` are 0 without ``knows_sizes``
    (then each dir is a volume). ``cells`` of movable replicas; ``stuck``: cells of immovable replicas that may be in a
    dir to be emptied.
    """

    broker: Broker
    dirs: tuple[tuple[LogDir, ...], ...]
    is_removed: Flags
    volume_of: Longs
    total_bytes: Longs
    usable_bytes: Longs
    knows_sizes: bool
    knows_places: bool
    cells: Longs
    place_of: Longs
    dir_of: Longs
    size_bytes: Longs
    stuck: Longs

    @property
    def may_receive(self) -> Flags:
        is_open = [any(not log_dir.is_cordoned for log_dir in dirs) for dirs in self.dirs]
        return np.array(is_open, dtype=np.bool_) & ~self.is_removed

    @property
    def used_bytes(self) -> Longs:
        """int64[V]; by its replicas where sizes are unknown."""
        if self.knows_sizes:
            used_now: Longs = np.maximum(self.total_bytes - self.usable_bytes, 0)
            return used_now
        used = np.zeros(len(self.total_bytes), dtype=np.int64)
        np.add.at(used, self.volume_of, self.held_bytes(self.place_of))
        return used

    def held_bytes(self, place_of: Longs) -> Longs:
        bytes_held = np.zeros(len(self.dirs), dtype=np.int64)
        np.add.at(bytes_held, place_of, self.size_bytes)
        return bytes_held


def broker_places(broker: Broker, table: PartitionTable, removed: frozenset[str]) -> BrokerPlaces | None:
    """Return the broker's places, None for fewer than two."""
    working = [log_dir for log_dir in broker.log_dirs if log_dir.error is None]
    knows_sizes = all(log_dir.total_bytes and log_dir.usable_bytes is not None for log_dir in working)
    volume_of = {
        log_dir.path: (log_dir.total_bytes, log_dir.usable_bytes) if knows_sizes else log_dir.path
        for log_dir in working
    }
    volumes = list(dict.fromkeys(volume_of.values()))
    keys = [(log_dir.path, volume_of[log_dir.path]) if log_dir.path in removed else ("", volume_of[log_dir.path])
            for log_dir in working]  # fmt: skip
    places = list(dict.fromkeys(keys))
    if len(places) < 2:
        return None
    place_of_path = {log_dir.path: places.index(key) for log_dir, key in zip(working, keys, strict=True)}
    place_of_dir = np.array(
        [place_of_path.get(broker_dir.path, UNKNOWN_DIR) for broker_dir in broker.log_dirs], dtype=np.int64
    )
    cells, is_movable = _cells(broker.id, table)
    dir_of = np.full(len(cells), UNKNOWN_DIR) if table.log_dir is None else table.log_dir[cells]
    place_of = np.where(dir_of == UNKNOWN_DIR, UNKNOWN_DIR, place_of_dir[dir_of])
    is_movable &= place_of != UNKNOWN_DIR
    is_removed = np.array([bool(path) for path, _ in places], dtype=np.bool_)
    is_stuck = ~is_movable & ((dir_of == UNKNOWN_DIR) | is_removed[place_of] & (place_of != UNKNOWN_DIR))
    sizes = np.array(volumes if knows_sizes else [(0, 0)] * len(volumes), dtype=np.int64).reshape(-1, 2)
    return BrokerPlaces(
        broker=broker,
        dirs=tuple(tuple(d for d, key in zip(working, keys, strict=True) if key == place_key) for place_key in places),
        is_removed=is_removed,
        volume_of=np.array([volumes.index(volume) for _, volume in places], dtype=np.int64),
        total_bytes=sizes[:, 0],
        usable_bytes=sizes[:, 1],
        knows_sizes=knows_sizes,
        knows_places=not len(cells) or bool((dir_of != UNKNOWN_DIR).any()),
        cells=cells[is_movable],
        place_of=place_of[is_movable],
        dir_of=dir_of[is_movable].astype(np.int64),
        size_bytes=table.replica_log_bytes[cells[is_movable]],
        stuck=cells[is_stuck],
    )


def _cells(broker: int, table: PartitionTable) -> tuple[Longs, Flags]:
    cells = np.flatnonzero(table.replicas == broker).astype(np.int64)
    rows = np.searchsorted(table.offsets, cells, side="right") - 1
    busy = sorted({*table.adding, *table.removing, *table.future, *table.observers, *table.offline})
    return cells, (table.replica_log_bytes[cells] >= 0) & ~np.isin(rows, busy)


@dataclass(frozen=True, slots=True, eq=False)
class PlacedDirs:
    """``floor_bytes``, ``ceiling_bytes`` int64[D]: requested load of movable replicas; ``fixed_bytes``: other load;
    ``bound_bytes``: lower bound for these limits, each widened to this placement.
    """

    places: BrokerPlaces
    place_of: Longs
    floor_bytes: Longs
    ceiling_bytes: Longs
    fixed_bytes: Longs
    bound_bytes: int

    @property
    def moved_bytes(self) -> int:
        return int(self.places.size_bytes[self.place_of != self.places.place_of].sum())


def place_broker(places: BrokerPlaces, within: float | None, params: LogDirParams = LOG_DIRS) -> PlacedDirs:
    """Place replicas. Raises InfeasibleError where a dir cannot be emptied."""
    _refuse_stuck(places)
    fixed, most = _fixed(places), _most(places, params)
    floor, ceiling = _limits(places, within, fixed, most)
    bytes_held = places.held_bytes(places.place_of)
    lacking = 0
    for place_of in _tries(places, within, (floor, ceiling), most, params):
        after = places.held_bytes(place_of)
        is_left = places.is_removed[place_of]
        over = np.where(places.is_removed, 0, np.maximum(after - np.maximum(most, bytes_held), 0))
        lacking = int(places.size_bytes[is_left].sum() + over.sum())
        is_orderly = places.is_removed.any() or _has_order(places, place_of)
        if not is_left.any() and not over.any() and is_orderly:
            problem = _problem(places, floor, ceiling)
            return PlacedDirs(places, place_of, floor, ceiling, fixed, _bound(places, problem, place_of))
    removed = (dirs for dirs, is_removed in zip(places.dirs, places.is_removed.tolist(), strict=True) if is_removed)
    raise InfeasibleError(
        fact(
            FactCode.DIR_NOT_EMPTIED,
            broker=places.broker.id,
            paths=tuple(log_dir.path for dirs in removed for log_dir in dirs),
            lacking_bytes=lacking,
            most_used_share=params.most_used_ratio,
        ),
        fact(FactCode.FREE_DIR),
    )


def _has_order(places: BrokerPlaces, place_of: Longs) -> bool:
    """Whether disks have room for both copies in some order."""
    rows = np.flatnonzero(place_of != places.place_of)
    volumes = (places.volume_of[ends[rows]].tolist() for ends in (places.place_of, place_of))
    sizes = places.size_bytes[rows].tolist()
    copies = [[DirCopy((0, source), (0, target), size)] for source, target, size in zip(*volumes, sizes, strict=True)]
    usable = places.usable_bytes.tolist() if places.knows_sizes else ()
    try:
        cut_waves(copies, {(0, volume): size for volume, size in enumerate(usable)}, 1, len(rows))
    except InfeasibleError:
        return False
    return True


def _refuse_stuck(places: BrokerPlaces) -> None:
    if places.is_removed.any() and len(places.stuck):
        raise InfeasibleError(
            fact(FactCode.DIR_HOLDS_IMMOVABLE, broker=places.broker.id, replicas=len(places.stuck)),
            fact(FactCode.WAIT_FOR_DIR_MOVES),
        )


def _fixed(places: BrokerPlaces) -> Longs:
    bytes_held = np.zeros(len(places.total_bytes), dtype=np.int64)
    np.add.at(bytes_held, places.volume_of, places.held_bytes(places.place_of))
    fixed: Longs = np.maximum(places.used_bytes - bytes_held, 0)[places.volume_of]
    return fixed


def _most(places: BrokerPlaces, params: LogDirParams) -> Longs:
    """int64[D]: most movable bytes by disk size, all if unknown."""
    if not places.knows_sizes:
        return np.full(len(places.dirs), int(places.size_bytes.sum()), dtype=np.int64)
    allowed = np.floor(params.most_used_ratio * places.total_bytes).astype(np.int64)[places.volume_of]
    most: Longs = np.maximum(allowed - _fixed(places), 0)
    return most


def _limits(places: BrokerPlaces, within: float | None, fixed: Longs, most: Longs) -> tuple[Longs, Longs]:
    floor = np.zeros(len(places.dirs), dtype=np.int64)
    bytes_held, stays = places.held_bytes(places.place_of), ~places.is_removed
    ceiling = np.where(stays, np.maximum(most, bytes_held), 0)
    if within is not None and places.knows_sizes:
        total = places.total_bytes[places.volume_of]
        share = (int(bytes_held.sum()) + int(fixed[stays].sum())) / int(total[stays].sum())
        high = np.floor((share + within) * total).astype(np.int64) - fixed
        low = np.ceil((share - within) * total).astype(np.int64) - fixed
        ceiling = np.where(stays, np.clip(high, 0, ceiling), 0)
        floor = np.where(places.may_receive, np.clip(low, 0, ceiling), 0)
    return floor, ceiling


def _tries(
    places: BrokerPlaces, within: float | None, limits: tuple[Longs, Longs], most: Longs, params: LogDirParams
) -> Iterator[Longs]:
    """Yield placements, best first; the last may use all room."""
    if within is None or not places.knows_sizes:
        yield _spread(places)
    else:
        problem = _problem(places, *limits)
        placed = place_in_log_dirs(problem).dir_of
        outside, then = (sum(problem.cost(dir_of)[:2]) for dir_of in (problem.dir_of, placed))
        is_vain = outside - then < params.least_gain_per_byte * problem.moved_bytes(placed)
        even = problem.dir_of if is_vain and not places.is_removed.any() else placed
        full = np.floor(params.full_ratio * places.total_bytes).astype(np.int64)[places.volume_of] - _fixed(places)
        relief = _problem(places, np.zeros_like(full), np.where(places.is_removed, 0, np.maximum(full, 0)))
        relieved = place_in_log_dirs(relief).dir_of
        if relief.cost(relieved)[0] < relief.cost(even)[0]:
            yield relieved
        yield even
    bytes_held = places.held_bytes(places.place_of)
    widest = np.where(places.is_removed, 0, np.maximum(most, bytes_held))
    yield place_in_log_dirs(_problem(places, np.zeros(len(bytes_held), dtype=np.int64), widest)).dir_of


def _spread(places: BrokerPlaces) -> Longs:
    """Place evicted replicas, largest first, on the least used disk; without sizes, on the one that holds least."""
    place_of = places.place_of.copy()
    used = (places.held_bytes(place_of) + _fixed(places)).astype(np.float64)
    scale = places.total_bytes[places.volume_of].astype(np.float64) if places.knows_sizes else np.ones(len(used))
    leaving = np.flatnonzero(places.is_removed[place_of])
    for row in leaving[np.argsort(-places.size_bytes[leaving], kind="stable")].tolist():
        after = np.where(places.may_receive, (used + places.size_bytes[row]) / scale, np.inf)
        target = int(after.argmin())
        place_of[row] = target
        used[target] += places.size_bytes[row]
    return place_of


def _problem(places: BrokerPlaces, floor: Longs, ceiling: Longs) -> LogDirProblem:
    return LogDirProblem(
        size_bytes=np.maximum(places.size_bytes, 1),
        dir_of=places.place_of,
        floor_bytes=np.minimum(floor, ceiling),
        ceiling_bytes=ceiling,
        may_receive=places.may_receive,
    )


def _bound(places: BrokerPlaces, problem: LogDirProblem, place_of: Longs) -> int:
    """Lower bound on moved bytes; empty replicas count as a byte in the problem only."""
    load = problem.load_bytes(place_of)
    floor, ceiling = np.minimum(problem.floor_bytes, load), np.maximum(problem.ceiling_bytes, load)
    return max(0, fewest_moved_bytes(problem, floor, ceiling) - int((places.size_bytes == 0).sum()))


Disk = tuple[int, int]  # broker, volume


@dataclass(frozen=True, slots=True)
class DirCopy:
    source: Disk
    target: Disk
    size_bytes: int


def cut_waves(
    moves: Sequence[Sequence[DirCopy]], free_bytes: Mapping[Disk, int], throttle_bytes_per_s: int, most_moves: int
) -> tuple[LogDirWave, ...]:
    """Return waves; ``free_bytes`` without disks of unknown size. Raises InfeasibleError where no order has room."""
    free = dict(free_bytes)
    left = sorted(range(len(moves)), key=lambda m: (-sum(copy.size_bytes for copy in moves[m]), m))
    waves = []
    while left:
        members, arriving = _fitting(moves, left, free, most_moves)
        if not members:
            raise InfeasibleError(fact(FactCode.DIR_MOVES_WITHOUT_ROOM, moves=len(left)), fact(FactCode.FREE_DIR))
        copies = [copy for m in members for copy in moves[m]]
        for disk in free:
            free[disk] -= arriving[disk]
        for copy in copies:
            if copy.source in free:
                free[copy.source] += copy.size_bytes
        busiest: Counter[int] = Counter()
        for copy in copies:
            busiest[copy.target[0]] += copy.size_bytes
        total = sum(copy.size_bytes for copy in copies)
        waves.append(LogDirWave(tuple(sorted(members)), total, max(busiest.values()) / throttle_bytes_per_s))
        left = [m for m in left if m not in set(members)]
    return tuple(waves)


def _fitting(
    moves: Sequence[Sequence[DirCopy]], left: Sequence[int], free: Mapping[Disk, int], most_moves: int
) -> tuple[list[int], Counter[Disk]]:
    members: list[int] = []
    arriving: Counter[Disk] = Counter()
    for m in left:
        arriving_then = Counter(arriving)
        for copy in moves[m]:
            arriving_then[copy.target] += copy.size_bytes
        if len(members) < most_moves and all(
            arriving_then[copy.target] <= free[copy.target] for copy in moves[m] if copy.target in free
        ):
            members.append(m)
            arriving = arriving_then
    return members, arriving


class MovedReplica(NamedTuple):
    cell: int
    target: str
    copy: DirCopy
    reason: Fact


def make_log_dir_plan(
    snapshot: ClusterSnapshot, request: LogDirRequest, *, advisor_version: str = "", params: LogDirParams = LOG_DIRS
) -> LogDirPlan:
    """Return a sealed plan. Raises UsageError for an unknown dir, InfeasibleError where one cannot be emptied."""
    require_dirs_fit(snapshot, request)
    placed, left_out, unknown = _placed(snapshot, request, params)
    moved = sorted(
        (replica for broker in placed for replica in moved_replicas(broker)), key=lambda replica: replica.cell
    )
    moves, copies = _moves(snapshot, moved)
    free = {
        (dirs.places.broker.id, volume): int(usable)
        for dirs in placed
        if dirs.places.knows_sizes
        for volume, usable in enumerate(dirs.places.usable_bytes)
    }
    waves = cut_waves(copies, free, request.throttle_bytes_per_s, request.partitions_per_wave)
    wave_of = {m: number for number, wave in enumerate(waves, start=1) for m in wave.moves}
    brokers = tuple(broker_dirs(dirs) for dirs in placed)
    verdict, reasons = _verdict(brokers, moves, len(moved), request, left_out, unknown)
    return LogDirPlan(
        cluster=snapshot.cluster,
        cluster_id=snapshot.cluster_id,
        snapshot_id=snapshot_id(snapshot),
        captured_at=optional_time_text(snapshot.captured_at),
        parameters=request.document(),
        verdict=verdict,
        reasons=reasons,
        topic_ids=_topic_ids(snapshot, moves),
        replica_moves=len(moved),
        dir_bytes=sum(move.dir_bytes for move in moves),
        lower_bound_bytes=sum(broker.lower_bound_bytes for broker in brokers),
        seconds=sum(wave.seconds for wave in waves),
        brokers=brokers,
        moves=tuple(replace(move, wave=wave_of[m]) for m, move in enumerate(moves)),
        waves=waves,
        left_out=left_out,
        advisor_version=advisor_version,
    ).sealed()


def _placed(
    snapshot: ClusterSnapshot, request: LogDirRequest, params: LogDirParams
) -> tuple[list[PlacedDirs], dict[str, Fact], frozenset[str]]:
    placed, left_out, unknown = [], dict[str, Fact](), set[str]()
    for broker in snapshot.brokers:
        name, removed = str(broker.id), request.removed_of(broker.id)
        is_serving = broker.state.is_responsive and broker.state.stays
        if not broker.log_dirs and request.within is not None and is_serving:
            left_out[name] = _left_out("dirs_unknown")
            unknown.add(name)
        if len(broker.log_dirs) < 2 or (request.within is None and not removed):
            continue
        if not is_serving:
            left_out[name] = _left_out("state", state=broker.state.value)
            continue
        places = broker_places(broker, snapshot.partitions, removed)
        if places is None:
            working = sum(log_dir.error is None for log_dir in broker.log_dirs)
            left_out[name] = _left_out("one_disk" if working > 1 else "one_dir_works")
        elif why := _unknown_figure(places, request.within, removed):
            left_out[name] = _left_out(why)
            unknown.add(name)
        else:
            placed.append(place_broker(places, request.within, params))
    if not unknown.isdisjoint(str(broker) for broker, _ in request.removed):
        # An order to empty dirs is executed completely or not at all.
        left_out |= {str(dirs.places.broker.id): _left_out("other_broker") for dirs in placed}
        placed = []
    return placed, left_out, frozenset(unknown)


def _unknown_figure(places: BrokerPlaces, within: float | None, removed: Collection[str]) -> str | None:
    if not places.knows_places:
        return "places_unknown"
    needs_sizes = within is not None and not removed
    return "sizes_unknown" if needs_sizes and not places.knows_sizes else None


def _left_out(why: str, **args: str) -> Fact:
    return fact(FactCode.DIRS_LEFT_OUT, why=why, **args)


def moved_replicas(placed: PlacedDirs) -> list[MovedReplica]:
    """Return moved replicas, largest first; the target is the disk's dir that holds least by the plan."""
    places, moved = placed.places, []
    bytes_held = {log_dir.path: 0 for log_dir in places.broker.log_dirs}
    for number, size in zip(places.dir_of.tolist(), places.size_bytes.tolist(), strict=True):
        bytes_held[places.broker.log_dirs[number].path] += size
    rows = np.flatnonzero(placed.place_of != places.place_of)
    for row in rows[np.argsort(-places.size_bytes[rows], kind="stable")].tolist():
        source, target = int(places.place_of[row]), int(placed.place_of[row])
        size = int(places.size_bytes[row])
        path = min(
            (d.path for d in places.dirs[target] if not d.is_cordoned), key=lambda path: (bytes_held[path], path)
        )
        bytes_held[path] += size
        broker = places.broker.id
        copy = DirCopy((broker, int(places.volume_of[source])), (broker, int(places.volume_of[target])), size)
        moved.append(MovedReplica(int(places.cells[row]), path, copy, _reason(places, source, path)))
    return moved


def _reason(places: BrokerPlaces, source: int, path: str) -> Fact:
    if places.is_removed[source]:
        return fact(FactCode.EMPTIES_DIR, broker=places.broker.id, path=places.dirs[source][0].path)
    return fact(FactCode.EVENS_DISKS, broker=places.broker.id, path=path)


def _moves(snapshot: ClusterSnapshot, moved: list[MovedReplica]) -> tuple[list[LogDirMove], list[list[DirCopy]]]:
    table = snapshot.partitions
    paths = {broker.id: [log_dir.path for log_dir in broker.log_dirs] for broker in snapshot.brokers}
    by_row: dict[int, list[MovedReplica]] = {}
    for replica in moved:
        by_row.setdefault(int(np.searchsorted(table.offsets, replica.cell, side="right")) - 1, []).append(replica)
    moves, copies = [], []
    for row, members in by_row.items():
        first, replicas = int(table.offsets[row]), table.replicas_of(row)
        goes = {replica.cell - first: replica for replica in members}
        assert table.log_dir is not None
        dirs = table.log_dir[first : first + len(replicas)].tolist()
        moves.append(
            LogDirMove(
                topic=snapshot.topics[int(table.topic[row])].name,
                partition=int(table.partition[row]),
                replicas=replicas,
                dirs_from=tuple(paths[b][dirs[j]] if j in goes else None for j, b in enumerate(replicas)),
                dirs_to=tuple(goes[j].target if j in goes else None for j in range(len(replicas))),
                dir_bytes=sum(replica.copy.size_bytes for replica in members),
                reasons=tuple(replica.reason for replica in members),
            )
        )
        copies.append([replica.copy for replica in members])
    return moves, copies


def broker_dirs(placed: PlacedDirs) -> BrokerDirs:
    places = placed.places
    before, after = places.held_bytes(places.place_of), places.held_bytes(placed.place_of)
    used, fixed = places.used_bytes[places.volume_of], placed.fixed_bytes
    rows = []
    for d, dirs in enumerate(places.dirs):
        tells = places.knows_sizes and not bool(places.is_removed[d])
        rows.append(
            DirPlace(
                paths=tuple(log_dir.path for log_dir in dirs),
                is_removed=bool(places.is_removed[d]),
                total_bytes=int(places.total_bytes[places.volume_of[d]]) if places.knows_sizes else None,
                used_before=int(used[d]) if tells else None,
                used_after=int(fixed[d] + after[d]) if tells else None,
                held_before=int(before[d]),
                held_after=int(after[d]),
                floor_bytes=int(placed.floor_bytes[d] + fixed[d]) if tells else None,
                ceiling_bytes=int(placed.ceiling_bytes[d] + fixed[d]) if tells else None,
            )
        )
    bound = min(placed.bound_bytes, placed.moved_bytes)
    return BrokerDirs(places.broker.id, placed.moved_bytes, bound, tuple(rows))


def _verdict(
    brokers: tuple[BrokerDirs, ...],
    moves: list[LogDirMove],
    replicas: int,
    request: LogDirRequest,
    left_out: dict[str, Fact],
    unknown: frozenset[str],
) -> tuple[str, tuple[Fact, ...]]:
    outside = [] if request.within is None else _outside_band(brokers)
    unknown_facts = [fact(FactCode.DIRS_LEFT_OUT, **why.args, broker=int(broker)) for broker, why in left_out.items()]
    unknown_facts += [
        fact(FactCode.DISK_SIZES_UNKNOWN, broker=broker.broker)
        for broker in brokers
        if broker.places[0].total_bytes is None
    ]
    emptied = {str(broker) for broker, _ in request.removed}
    if unknown & emptied or (unknown and not moves and not outside):
        of_all = tuple(sorted(int(broker) for broker in unknown))
        headline = fact(FactCode.DIRS_NOT_KNOWN, brokers=of_all, is_to_empty=bool(unknown & emptied))
        return "cannot_tell", (headline, *outside, *unknown_facts)
    if not moves:
        verdict = "not_fixable_by_moving" if outside else "nothing_to_do"
        return verdict, (*([] if outside else [fact(FactCode.DIRS_AS_ASKED)]), *outside, *unknown_facts)
    headline = fact(
        FactCode.DIRS_MOVE,
        replicas=replicas,
        copied_bytes=sum(move.dir_bytes for move in moves),
        least_bytes=sum(broker.lower_bound_bytes for broker in brokers),
    )
    return "rebalance", (headline, *outside, *unknown_facts)


def _outside_band(brokers: Iterable[BrokerDirs]) -> list[Fact]:
    facts = []
    for broker in brokers:
        for dirs in broker.places:
            used, total = dirs.used_after, dirs.total_bytes
            if used is None or not total:
                continue
            if not (dirs.floor_bytes or 0) <= used <= (dirs.ceiling_bytes or 0):
                stays = fact(
                    FactCode.DIR_STAYS_OUTSIDE, broker=broker.broker, paths=dirs.paths, used_share=used / total
                )
                facts.append(stays)
    return facts


def _topic_ids(snapshot: ClusterSnapshot, moves: list[LogDirMove]) -> dict[str, str | None]:
    ids = {topic.name: topic.topic_id for topic in snapshot.topics}
    return {name: ids[name] for name in sorted({move.topic for move in moves})}
