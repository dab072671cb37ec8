"""From a snapshot and what is asked to a sealed plan between log dirs."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.log_dir_plans.places import BrokerPlaces, broker_places
from kafka_rebalance.log_dir_plans.placing import PlacedDirs, place_broker
from kafka_rebalance.log_dir_plans.plan import BrokerDirs, DirPlace, LogDirMove, LogDirPlan
from kafka_rebalance.log_dir_plans.request import LogDirRequest, require_dirs_fit
from kafka_rebalance.log_dir_plans.waves import DirCopy, cut_waves
from kafka_rebalance.planner.params import LOG_DIRS, LogDirParams
from kafka_rebalance.snapshot.codec import snapshot_id
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.times import optional_time_text


class _Moved(NamedTuple):
    """One replica that changes its dir; ``cell`` in the partition table."""

    cell: int
    target: str
    copy: DirCopy
    reason: Fact


def make_log_dir_plan(
    snapshot: ClusterSnapshot, request: LogDirRequest, *, advisor_version: str = "", params: LogDirParams = LOG_DIRS
) -> LogDirPlan:
    """The same snapshot and request give the same bytes.

    Raises UsageError for a dir that is not there, InfeasibleError where one cannot be emptied.
    """
    require_dirs_fit(snapshot, request)
    placed, left_out, unknown = _placed(snapshot, request, params)
    moved = sorted((one for broker in placed for one in _moved(broker)), key=lambda one: one.cell)
    moves, copies = _moves(snapshot, moved)
    free = {
        (dirs.places.broker.id, volume): int(usable)
        for dirs in placed
        if dirs.places.knows_sizes
        for volume, usable in enumerate(dirs.places.usable_bytes)
    }
    waves = cut_waves(copies, free, request.throttle_bytes_per_s, request.partitions_per_wave)
    wave_of = {m: number for number, wave in enumerate(waves, start=1) for m in wave.moves}
    brokers = tuple(_broker(dirs) for dirs in placed)
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
    """Brokers with places to choose from, why others are left out, and of which of these too little is known."""
    placed, left_out, unknown = [], dict[str, Fact](), set[str]()
    for broker in snapshot.brokers:
        removed = request.removed_of(broker.id)
        if not broker.log_dirs and request.within is not None and broker.state.is_heard and broker.state.stays:
            left_out[str(broker.id)] = _left_out("dirs_unknown")
            unknown.add(str(broker.id))
        if len(broker.log_dirs) < 2 or (request.within is None and not removed):
            continue
        if not broker.state.is_heard or not broker.state.stays:
            left_out[str(broker.id)] = _left_out("state", state=broker.state.value)
            continue
        places = broker_places(broker, snapshot.partitions, removed)
        if places is None:
            working = sum(log_dir.error is None for log_dir in broker.log_dirs)
            left_out[str(broker.id)] = _left_out("one_disk" if working > 1 else "one_dir_works")
            continue
        if not places.knows_places:
            why = "places_unknown"
        elif request.within is not None and not removed and not places.knows_sizes:
            why = "sizes_unknown"
        else:
            placed.append(place_broker(places, request.within, params))
            continue
        left_out[str(broker.id)] = _left_out(why)
        unknown.add(str(broker.id))
    if not unknown.isdisjoint(str(broker) for broker, _ in request.removed):
        # Part of an order to empty dirs is no answer: nothing is moved.
        left_out |= {str(one.places.broker.id): _left_out("other_broker") for one in placed}
        placed = []
    return placed, left_out, frozenset(unknown)


def _left_out(why: str, **said: str) -> Fact:
    return fact(FactCode.DIRS_LEFT_OUT, why=why, **said)


def _moved(placed: PlacedDirs) -> list[_Moved]:
    """Each replica that moves with the dir that gets it: of its disk's dirs, the one that holds least, by the plan."""
    places, moved = placed.places, []
    held = {log_dir.path: 0 for log_dir in places.broker.log_dirs}
    for number, size in zip(places.dir_of.tolist(), places.size_bytes.tolist(), strict=True):
        held[places.broker.log_dirs[number].path] += size
    rows = np.flatnonzero(placed.place_of != places.place_of)
    for row in rows[np.argsort(-places.size_bytes[rows], kind="stable")].tolist():
        source, target = int(places.place_of[row]), int(placed.place_of[row])
        size = int(places.size_bytes[row])
        path = min((d.path for d in places.dirs[target] if not d.is_cordoned), key=lambda path: (held[path], path))
        held[path] += size
        broker = places.broker.id
        copy = DirCopy((broker, int(places.volume_of[source])), (broker, int(places.volume_of[target])), size)
        moved.append(_Moved(int(places.cells[row]), path, copy, _reason(places, source, path)))
    return moved


def _reason(places: BrokerPlaces, source: int, path: str) -> Fact:
    if places.is_removed[source]:
        return fact(FactCode.EMPTIES_DIR, broker=places.broker.id, path=places.dirs[source][0].path)
    return fact(FactCode.EVENS_DISKS, broker=places.broker.id, path=path)


def _moves(snapshot: ClusterSnapshot, moved: list[_Moved]) -> tuple[list[LogDirMove], list[list[DirCopy]]]:
    """By partition, in the order of the snapshot."""
    table = snapshot.partitions
    paths = {broker.id: [log_dir.path for log_dir in broker.log_dirs] for broker in snapshot.brokers}
    by_row: dict[int, list[_Moved]] = {}
    for one in moved:
        by_row.setdefault(int(np.searchsorted(table.offsets, one.cell, side="right")) - 1, []).append(one)
    moves, copies = [], []
    for row, members in by_row.items():
        first, replicas = int(table.offsets[row]), table.replicas_of(row)
        goes = {one.cell - first: one for one in members}
        assert table.log_dir is not None  # else no broker has places
        dirs = table.log_dir[first : first + len(replicas)].tolist()
        moves.append(
            LogDirMove(
                topic=snapshot.topics[int(table.topic[row])].name,
                partition=int(table.partition[row]),
                replicas=replicas,
                dirs_from=tuple(paths[b][dirs[j]] if j in goes else None for j, b in enumerate(replicas)),
                dirs_to=tuple(goes[j].target if j in goes else None for j in range(len(replicas))),
                dir_bytes=sum(one.copy.size_bytes for one in members),
                reasons=tuple(one.reason for one in members),
            )
        )
        copies.append([one.copy for one in members])
    return moves, copies


def _broker(placed: PlacedDirs) -> BrokerDirs:
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
    outside = [
        fact(
            FactCode.DIR_STAYS_OUTSIDE,
            broker=broker.broker,
            paths=place.paths,
            used_share=place.used_after / place.total_bytes,
        )
        for broker in brokers
        for place in broker.places
        if place.used_after is not None
        and place.total_bytes
        and request.within is not None
        and not (place.floor_bytes or 0) <= place.used_after <= (place.ceiling_bytes or 0)
    ]
    silent = [fact(FactCode.DIRS_LEFT_OUT, **why.args, broker=int(broker)) for broker, why in left_out.items()]
    silent += [
        fact(FactCode.DISK_SIZES_UNKNOWN, broker=broker.broker)
        for broker in brokers
        if broker.places[0].total_bytes is None
    ]
    asked = {str(broker) for broker, _ in request.removed}
    if unknown & asked or (unknown and not moves and not outside):
        of_all = tuple(sorted(int(broker) for broker in unknown))
        told = fact(FactCode.DIRS_NOT_KNOWN, brokers=of_all, is_to_empty=bool(unknown & asked))
        return "cannot_tell", (told, *outside, *silent)
    if not moves:
        verdict = "not_fixable_by_moving" if outside else "nothing_to_do"
        return verdict, (*([] if outside else [fact(FactCode.DIRS_AS_ASKED)]), *outside, *silent)
    told = fact(
        FactCode.DIRS_MOVE,
        replicas=replicas,
        copied_bytes=sum(move.dir_bytes for move in moves),
        least_bytes=sum(broker.lower_bound_bytes for broker in brokers),
    )
    return "rebalance", (told, *outside, *silent)


def _topic_ids(snapshot: ClusterSnapshot, moves: list[LogDirMove]) -> dict[str, str | None]:
    ids = {topic.name: topic.topic_id for topic in snapshot.topics}
    return {name: ids[name] for name in sorted({move.topic for move in moves})}
