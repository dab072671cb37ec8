from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from itertools import product
from typing import Any

from kafka_rebalance.log_dir_plans.make import LogDirRequest, make_log_dir_plan
from kafka_rebalance.snapshot.model import BrokerState, LogDir, Partition
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.log_dirs import (
    check_dir_files,
    check_dir_shape,
    check_dir_waves,
    check_levels,
    check_log_dir_plan,
    disks_of,
    is_unknown,
    may_move,
    read_dir_moves,
)
from rebalance_advisor.cli.log_dirs import JSON_FILE, log_dir_files
from tests.unit.log_dir_plans.dir_clusters import disks, one_broker

SNAPSHOT = one_broker([(40, 0), (20, 0), (10, 1)], disks(60, 10, total=200))
PLAN = make_log_dir_plan(SNAPSHOT, LogDirRequest(None, frozenset({(1, "/d0")})))


def document() -> dict[str, Any]:
    return deepcopy(PLAN.document())


def test_disks_and_dirs_as_the_snapshot_has_them() -> None:
    dirs = (LogDir("/a", 100, 30), LogDir("/b", 100, 30), LogDir("/c", 50, 10), LogDir("/x", error="offline"))
    dirs += (LogDir("/d", 100, 30),)
    snapshot = one_broker([(5, 0), (7, 1), (3, 2), (9, 3)], dirs)
    mine = disks_of(snapshot, {"remove_log_dirs": {"1": ["/b"]}})[1]
    assert [([item.path for item in p.dirs], p.is_removed, p.disk, p.held) for p in mine.places] == [
        (["/a", "/d"], False, 0, 5), (["/b"], True, 0, 7), (["/c"], False, 1, 3)
    ]  # fmt: skip
    assert (mine.total, mine.usable, mine.used(0), mine.others(0)) == ([100, 50], [30, 10], 70, 58)
    assert mine.unmovable_by_path == {"/x": 1}
    assert mine.place_at("/x") is None
    assert not mine.places[1].is_open


def test_what_may_move() -> None:
    assert may_move(Partition("t", 0, (1,), 1))
    assert not may_move(Partition("t", 0, (1, 2), 1, adding=(2,)))
    assert not may_move(Partition("t", 0, (1, 2), 1, observers=(2,)))


def test_moves_are_read_and_their_bytes_added_up() -> None:
    faults = FaultList()
    changes = read_dir_moves(document(), SNAPSHOT, disks_of(SNAPSHOT, document()["parameters"]), faults)
    assert [(change.move, change.row, change.broker, change.size) for change in changes] == [
        (0, 0, 1, 40),
        (1, 1, 1, 20),
    ]
    assert not faults.has_any()


def test_levels_after_the_moves_and_what_stays() -> None:
    """Without its moves the dir to empty holds two replicas, and no level matches."""
    faults, plan = FaultList(), document()
    check_levels(plan, disks_of(SNAPSHOT, plan["parameters"]), [], faults)
    assert faults.counts["log_dir_left"] == 1
    assert faults.has_any("log_dir_levels", "cost")


def test_a_wave_needs_room_for_all_that_comes() -> None:
    """140 bytes free: 60 fit; 60 with 190 used do not."""
    plan = document()
    result = disks_of(SNAPSHOT, plan["parameters"])
    changes = read_dir_moves(plan, SNAPSHOT, result, FaultList())
    for usable, is_full in ((60, False), (59, True)):
        faults = FaultList()
        result[1].usable[1] = usable
        check_dir_waves(plan, result, changes, faults)
        assert faults.has_any("log_dir_room") is is_full


def test_the_shape() -> None:
    assert check_dir_shape(document(), FaultList())
    for wrong in ({"format_version": 2, "verdict": "maybe"}, {"format_version": True}, {"verdict": "maybe"}):
        faults = FaultList()
        assert not check_dir_shape({**document(), **wrong}, faults)
        assert faults.counts == {"shape": 1}


def test_files_of_a_plan_that_moves_nothing() -> None:
    idle = make_log_dir_plan(SNAPSHOT, LogDirRequest(0.9))
    files = {name: content for name, content in log_dir_files(idle).items() if name != JSON_FILE}
    assert list(files) == ["commands.md"]
    faults = FaultList()
    check_dir_files(idle.document(), files, faults)
    assert not faults.has_any()
    assert check_log_dir_plan(idle.document(), SNAPSHOT, files) == ()


def test_a_broker_whose_dirs_share_one_disk_may_be_left_out() -> None:
    snapshot = one_broker([(40, 0), (20, 1)], (LogDir("/d0", 100, 30), LogDir("/d1", 100, 30)))
    idle = make_log_dir_plan(snapshot, LogDirRequest(0.1))
    files = {name: content for name, content in log_dir_files(idle).items() if name != JSON_FILE}
    assert list(idle.document()["left_out"]) == ["1"]
    assert check_log_dir_plan(idle.document(), snapshot, files) == ()


def test_a_broker_is_unknown_where_an_option_concerns_it_and_its_disks_or_dirs_are_not_told() -> None:
    """To empty a dir no sizes are needed; where it holds nothing, or one dir alone, there is nothing to know."""
    known, unknown = disks(60, 10, total=200), (LogDir("/d0"), LogDir("/d1"))
    reported, hidden = [(40, 0), (20, 1)], [(40, None), (20, None)]
    for dirs, replicas, within, removed in product(
        (known, unknown), (reported, hidden, []), (None, 0.0, 0.1), (False, True)
    ):
        snapshot = one_broker(replicas, dirs)  # type: ignore[arg-type]
        asked = {"balance_within": within, "remove_log_dirs": {"1": ["/d0"]} if removed else {}}
        mine = disks_of(snapshot, asked)[1]
        lacks = replicas is hidden or (dirs is unknown and not removed)
        assert is_unknown(asked, mine) is (lacks and (removed or within is not None)), (dirs, replicas, within, removed)
        one_place = replace(mine, places=mine.places[:1])
        dead = replace(mine, broker=replace(mine.broker, state=BrokerState.DEAD))
        assert not is_unknown(asked, one_place)
        assert not is_unknown(asked, dead)
