from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from kafka_rebalance.errors import InfeasibleError, UsageError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.placement_rules import log_dir_full
from kafka_rebalance.log_dir_plans.make import (
    DirCopy,
    LogDirRequest,
    broker_places,
    cut_waves,
    make_log_dir_plan,
    place_broker,
)
from kafka_rebalance.log_dir_plans.plan import LogDirPlan
from kafka_rebalance.snapshot.model import Broker, BrokerState, ClusterSnapshot, LogDir, Partition
from kafka_rebalance.verify.log_dirs import check_log_dir_plan
from tests.sample import for_each
from tests.unit.findings.sample_clusters import findings_of
from tests.unit.log_dir_plans.dir_clusters import (
    disks,
    one_broker,
    random_broker,
    snapshot_of,
    three_brokers,
)


def empty(*dirs: str) -> frozenset[tuple[int, str]]:
    return frozenset((1, path) for path in dirs)


def fewest_bytes(snapshot: ClusterSnapshot, request: LogDirRequest, plan: LogDirPlan) -> int | None:
    """Of all placements within the plan's limits, widened to each disk's end, in plain Python."""
    (brokers,) = plan.brokers
    rows = list(snapshot.each_partition())
    paths = [log_dir.path for log_dir in snapshot.brokers[0].log_dirs]
    places = {path: location for location in brokers.places for path in location.paths}
    best = None
    for ends in itertools.product(range(len(paths)), repeat=len(rows)):
        moved = sum(row.log_bytes[0] for row, end in zip(rows, ends, strict=True) if end != row.log_dirs[0])
        used = {path: (places[path].used_before or 0) - places[path].held_before for path in paths}
        for row, end in zip(rows, ends, strict=True):
            used[paths[end]] += row.log_bytes[0]
        is_within = all(
            min(p.floor_bytes, p.used_after) <= used[path] <= max(p.ceiling_bytes, p.used_after)
            for path, p in places.items()
            if not p.is_removed
        )
        is_empty = not any((1, paths[end]) in request.removed for end in ends)
        if is_within and is_empty and (best is None or moved < best):
            best = moved
    return best


def can_be_emptied(snapshot: ClusterSnapshot, request: LogDirRequest) -> bool:
    """Some placement leaves nothing there and no disk above nine tenths, or fuller than it is."""
    rows, dirs = list(snapshot.each_partition()), snapshot.brokers[0].log_dirs
    now = [sum(row.log_bytes[0] for row in rows if row.log_dirs[0] == n) for n in range(len(dirs))]
    staying = [n for n, item in enumerate(dirs) if (1, item.path) not in request.removed]
    for ends in itertools.product(staying, repeat=len(rows)):
        held = [
            sum(row.log_bytes[0] for row, end in zip(rows, ends, strict=True) if end == n) for n in range(len(dirs))
        ]
        others = [item.total_bytes - item.usable_bytes - now[n] for n, item in enumerate(dirs)]
        if all(others[n] + held[n] <= max(math.floor(0.9 * dirs[n].total_bytes), others[n] + now[n]) for n in staying):
            return True
    return False


@for_each("seed", range(4), fast=range(1))
def test_what_a_finding_says_of_a_full_disk_its_command_does(seed: int) -> None:
    """300 brokers: a disk above 85 % is relieved by the moves that the finding counts, or by none."""
    random = np.random.default_rng(seed)
    met = Counter[bool]()
    for _ in range(300):
        snapshot, _ = random_broker(random)
        for found in findings_of(snapshot, log_dir_full.__name__):
            plan = make_log_dir_plan(snapshot, LogDirRequest(0.1))
            (full,) = (place for place in plan.brokers[0].places if place.paths == found.evidence["paths"])
            counts = tuple(
                found.evidence[name] for name in ("replica_moves_between_dirs", "dir_bytes", "dir_bytes_lower_bound")
            )
            met[any(counts)] += 1
            if full.used_after < full.used_before:
                assert counts == (plan.replica_moves, plan.dir_bytes, plan.lower_bound_bytes)
            else:
                assert counts == (0, 0, 0)
    assert met[True] >= 10
    assert met[False]


def test_a_full_disk_is_relieved_also_where_that_evens_nothing_out() -> None:
    """95 and 30 of 100: the one replica of 50 leaves 45 and 80, further from even than before."""
    plan = make_log_dir_plan(one_broker([(50, 0)], disks(95, 30, total=100)), LogDirRequest(0.1))
    assert [place.used_after for place in plan.brokers[0].places] == [45, 80]
    assert check_log_dir_plan(plan.document(), one_broker([(50, 0)], disks(95, 30, total=100))) == ()


def test_moves_that_no_order_has_room_for_are_left_out() -> None:
    """Disks of 100 hold 94 and 70: 40 and 30 would change places, and neither fits beside the other."""
    plan = make_log_dir_plan(one_broker([(40, 0), (30, 1)], disks(94, 70, total=100)), LogDirRequest(0.0))
    assert plan.moves == ()


@for_each("seed", range(4))
def test_bound_optimum_and_plan_of_random_brokers_in_this_order_and_verified(seed: int) -> None:
    """60 brokers a seed: verified, bound ≤ fewest bytes of all placements ≤ plan; refused only where nothing fits."""
    random = np.random.default_rng(seed)
    planned = refused = 0
    for _ in range(60):
        snapshot, request = random_broker(random)
        try:
            plan = make_log_dir_plan(snapshot, request)
        except InfeasibleError:
            refused += 1
            assert not can_be_emptied(snapshot, request)
            continue
        planned += 1
        assert check_log_dir_plan(plan.document(), snapshot) == ()
        optimum = fewest_bytes(snapshot, request, plan)
        assert optimum is not None
        assert plan.lower_bound_bytes <= optimum <= plan.dir_bytes
    assert planned >= 40
    assert refused


def test_a_dir_is_emptied_onto_the_emptiest_disks() -> None:
    """60 leave disks of 100, where 10 and 40 are: the level is 55, so 40 go to the first and 20 to the second."""
    replicas = [(40, 0), (20, 0), (10, 1), (40, 2)]
    plan = make_log_dir_plan(one_broker(replicas, disks(60, 10, 40, total=100)), LogDirRequest(None, empty("/d0")))
    assert [(move.partition, move.dirs_from, move.dirs_to) for move in plan.moves] == [
        (0, ("/d0",), ("/d1",)), (1, ("/d0",), ("/d2",))
    ]  # fmt: skip
    assert (plan.verdict, plan.dir_bytes, plan.lower_bound_bytes, plan.replica_moves) == ("rebalance", 60, 60, 2)
    assert plan.reasons == (fact(FactCode.DIRS_MOVE, replicas=2, copied_bytes=60, least_bytes=60),)


def test_disks_are_balanced_by_their_used_share_with_what_is_not_kafkas() -> None:
    """60 and 20 of 100, 20 of the first are a stranger's: 20 move."""
    plan = make_log_dir_plan(one_broker([(20, 0), (20, 0), (20, 1)], disks(60, 20, total=100)), LogDirRequest(0.05))
    assert plan.dir_bytes == plan.lower_bound_bytes == 20
    assert [location.used_after for location in plan.brokers[0].places] == [40, 40]


def test_whole_replicas_that_come_no_nearer_are_told() -> None:
    plan = make_log_dir_plan(
        one_broker([(50, 0)], (LogDir("/d0", 100, 50), LogDir("/d1", 100, 100))), LogDirRequest(0.1)
    )
    assert plan.verdict == "not_fixable_by_moving"
    assert plan.reasons[0] == fact(FactCode.DIR_STAYS_OUTSIDE, broker=1, paths=("/d0",), used_share=0.5)
    plan = make_log_dir_plan(one_broker([(50, 0), (50, 1)], disks(50, 50, total=100)), LogDirRequest(0.1))
    assert (plan.verdict, plan.moves, plan.waves) == ("nothing_to_do", (), ())


def test_nothing_goes_to_a_cordoned_dir_and_of_one_disks_dirs_to_the_emptiest() -> None:
    dirs = (
        LogDir("/a", 100, 50),
        LogDir("/b", 200, 150),
        LogDir("/c", 200, 150),
        LogDir("/x", 300, 299, is_cordoned=True),
    )
    plan = make_log_dir_plan(one_broker([(30, 0), (20, 0), (10, 1)], dirs), LogDirRequest(None, empty("/a")))
    assert {move.dirs_to for move in plan.moves} <= {("/b",), ("/c",)}
    assert plan.moves[0].dirs_to == ("/c",)


def test_two_dirs_of_one_disk_and_one_of_them_is_emptied() -> None:
    """The disk is as full afterwards; what else is on it is not counted as movable twice."""
    dirs = (LogDir("/a", 1000, 500), LogDir("/b", 1000, 500))
    snapshot = one_broker([(30, 0), (20, 0), (10, 1)], dirs)
    plan = make_log_dir_plan(snapshot, LogDirRequest(None, empty("/a")))
    assert [move.dirs_to for move in plan.moves] == [("/b",), ("/b",)]
    assert plan.brokers[0].places[1].used_after == plan.brokers[0].places[1].used_before == 500
    assert check_log_dir_plan(plan.document(), snapshot) == ()


def test_unknown_sizes_of_disks_are_said_and_nothing_is_invented() -> None:
    snapshot = three_brokers()
    plan = make_log_dir_plan(snapshot, LogDirRequest(0.05))
    assert plan.left_out == {"3": fact(FactCode.DIRS_LEFT_OUT, why="sizes_unknown")}
    assert fact(FactCode.DIRS_LEFT_OUT, why="sizes_unknown", broker=3) in plan.reasons
    emptied = make_log_dir_plan(snapshot, LogDirRequest(None, frozenset({(3, "/d0")})))
    assert [location.used_after for location in emptied.brokers[0].places] == [None, None]
    assert fact(FactCode.DISK_SIZES_UNKNOWN, broker=3) in emptied.reasons
    assert check_log_dir_plan(emptied.document(), snapshot) == ()


def test_a_partition_moves_at_two_brokers_in_one_row() -> None:
    snapshot = three_brokers()
    plan = make_log_dir_plan(snapshot, LogDirRequest(None, frozenset({(1, "/d0"), (2, "/d0")})))
    both = [move for move in plan.moves if None not in move.dirs_to]
    assert both
    assert all(len({move.topic, move.partition}) == 2 for move in both)
    assert plan.replica_moves == sum(path is not None for move in plan.moves for path in move.dirs_to)


@pytest.mark.parametrize(
    "change",
    [{"adding": (1,)}, {"log_bytes": (None,)}, {"log_dirs": (None,)}, {"offline": (1,)}],
    ids=["moving", "size", "dir", "offline"],
)
def test_what_cannot_leave_a_dir_that_is_to_be_empty_refuses_the_plan(change: dict) -> None:
    fields = {"isr": (1,), "log_bytes": (10,), "log_dirs": (0,)} | change
    rows = [Partition("t", 0, (1,), 1, **fields), Partition("t", 1, (1,), 1, log_bytes=(5,), log_dirs=(1,))]
    with pytest.raises(InfeasibleError, match=r"dir_holds_immovable\(broker=1, replicas=1\)"):
        make_log_dir_plan(snapshot_of(rows, (Broker(1, log_dirs=disks(10, 5)),)), LogDirRequest(None, empty("/d0")))


def test_what_does_not_fit_is_refused_with_the_bytes_that_lack() -> None:
    """95 of 100 go where 90 may be: the one replica of 95 stays, or is 5 too many."""
    with pytest.raises(
        InfeasibleError, match=r"dir_not_emptied\(broker=1, paths=\['/d0'\], lacking_bytes=5, most_used_share=0.9"
    ):
        make_log_dir_plan(one_broker([(95, 0)], disks(95, 0, total=99)), LogDirRequest(None, empty("/d0")))


@pytest.mark.parametrize(
    ("removed", "message"),
    [
        ((2, "/d0"), "there is no such broker; known: 1"),
        ((1, "/x"), "the broker has no such log dir; known: /d0, /d1"),
    ],
)
def test_a_dir_that_is_not_there_is_refused(removed: tuple[int, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_log_dir_plan(one_broker([(5, 0)], disks(5, 0)), LogDirRequest(None, frozenset({removed})))


def test_the_last_dir_a_failed_one_and_a_silent_broker_are_refused() -> None:
    request = LogDirRequest(None, empty("/d0"))
    with pytest.raises(UsageError, match="no other dir of the broker may receive"):
        make_log_dir_plan(one_broker([(5, 0)], disks(5, 0)), LogDirRequest(None, empty("/d0", "/d1")))
    failed = (LogDir("/d0", error="offline"), LogDir("/d1", 100, 50))
    with pytest.raises(UsageError, match="the dir failed"):
        make_log_dir_plan(one_broker([(5, 1)], failed), request)
    silent = snapshot_of(
        [Partition("t", 0, (1,), 1, log_bytes=(5,), log_dirs=(0,))],
        (Broker(1, log_dirs=disks(5, 0), state=BrokerState.SILENT),),
    )
    with pytest.raises(UsageError, match="the broker is silent; start it first"):
        make_log_dir_plan(silent, request)
    with pytest.raises(UsageError, match="no broker is seen to have two of them"):
        make_log_dir_plan(one_broker([(5, 0)], disks(5)), LogDirRequest(0.1))


@pytest.mark.parametrize(
    "wrong", [{}, {"within": 1.0}, {"within": math.nan}, {"within": 0.1, "partitions_per_wave": 0}]
)
def test_values_that_cannot_be_are_refused(wrong: dict) -> None:
    with pytest.raises(UsageError):
        LogDirRequest(**wrong)


def test_places_of_a_broker() -> None:
    snapshot = one_broker([(5, 0), (7, 1), (3, 2)], (LogDir("/a", 10, 1), LogDir("/b", 10, 1), LogDir("/c", 20, 2)))
    places = broker_places(snapshot.brokers[0], snapshot.partitions, frozenset())
    assert places is not None
    assert [[item.path for item in dirs] for dirs in places.dirs] == [["/a", "/b"], ["/c"]]
    assert places.held_bytes(places.place_of).tolist() == [12, 3]
    assert place_broker(places, 0.5).moved_bytes == 0
    emptied = broker_places(snapshot.brokers[0], snapshot.partitions, frozenset({"/a"}))
    assert emptied is not None
    assert (emptied.is_removed.tolist(), emptied.volume_of.tolist()) == ([True, False, False], [0, 0, 1])
    one_disk = broker_places(snapshot.brokers[0], snapshot.partitions, frozenset())
    assert one_disk is not None
    assert broker_places(Broker(1, log_dirs=snapshot.brokers[0].log_dirs[:2]), snapshot.partitions, frozenset()) is None


def test_waves_leave_room_for_both_copies_and_wait_for_what_is_freed() -> None:
    """Disk 0 has 10 free, disk 1 has 5: 8 goes from 1 to 0 first, which frees what 9 needs; 3 fits at once."""
    moves = [
        [DirCopy((1, 0), (1, 1), 9)], [DirCopy((1, 1), (1, 0), 8)], [DirCopy((1, 0), (1, 1), 3)],
    ]  # fmt: skip
    waves = cut_waves(moves, {(1, 0): 10, (1, 1): 5}, 2, 10)
    assert [(wave.moves, wave.dir_bytes, wave.seconds) for wave in waves] == [((1, 2), 11, 5.5), ((0,), 9, 4.5)]
    assert [wave.moves for wave in cut_waves(moves, {}, 2, 1)] == [(0,), (1,), (2,)]
    with pytest.raises(InfeasibleError, match=r"dir_moves_without_room\(moves=1\)"):
        cut_waves(moves[:1], {(1, 1): 5}, 2, 10)


def test_the_same_snapshot_and_request_give_the_same_bytes() -> None:
    first, again = (make_log_dir_plan(three_brokers(), LogDirRequest(0.05)) for _ in range(2))
    assert first.plan_id == again.plan_id
    assert first.document() == again.document()
