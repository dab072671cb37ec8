from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.log_dir_plans.make import LogDirRequest, make_log_dir_plan
from kafka_rebalance.log_dir_plans.plan import DirMoveState, progress_of, require_log_dir_plan
from kafka_rebalance.snapshot.model import ClusterSnapshot, FutureReplica, Partition
from tests.unit.log_dir_plans.dir_clusters import disks, one_broker, snapshot_of

START = one_broker([(10, 0)], disks(10, 0, 5))
PLAN = make_log_dir_plan(START, LogDirRequest(None, frozenset({(1, "/d0")}))).document()


def later(**changes: object) -> ClusterSnapshot:
    """The one partition with something changed."""
    row = replace(START.partition(0), **changes)
    stays = Partition("t", 1, (1,), 1, log_bytes=(1,), log_dirs=(1,))
    return snapshot_of([row, stays], START.brokers)


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, DirMoveState.OPEN),
        ({"future": (FutureReplica(1, 1, 5),)}, DirMoveState.MOVING),
        ({"future": (FutureReplica(1, 2, 5),)}, DirMoveState.ELSEWHERE),
        ({"log_dirs": (1,)}, DirMoveState.DONE),
        ({"log_dirs": (2,)}, DirMoveState.ELSEWHERE),
        ({"log_dirs": (None,)}, DirMoveState.UNKNOWN),
        ({"topic": "u"}, DirMoveState.GONE),
    ],
)
def test_each_state(changes: dict[str, object], state: DirMoveState) -> None:
    assert PLAN["moves"][0]["dirs_to"] == ["/d1"]
    progress = progress_of(PLAN, later(**changes))
    assert progress.states == (state,)
    assert progress.counts[state] == 1
    assert progress.is_done is (state is DirMoveState.DONE)


def test_a_dir_is_empty_once_nobody_lies_in_it_whoever_came_since() -> None:
    newcomer = Partition("t", 2, (1,), 1, log_bytes=(1,), log_dirs=(0,))
    rows = [replace(START.partition(0), log_dirs=(1,)), newcomer]
    progress = progress_of(PLAN, snapshot_of(rows, START.brokers))
    assert progress.states == (DirMoveState.DONE,)
    assert progress.not_empty == ("broker 1 /d0: 1 replica",)
    assert not progress.is_done


def test_what_is_no_such_plan_or_was_changed_is_refused() -> None:
    assert require_log_dir_plan(PLAN, "p") == PLAN
    for wrong, text in (
        ([], "no plan between log dirs"),
        ({**PLAN, "format_version": 2}, "format_version"),
        ({**PLAN, "cluster": "x"}, "not its hash"),
    ):
        with pytest.raises(InvalidInputError, match=text):
            require_log_dir_plan(wrong, "p")
    with pytest.raises(InvalidInputError, match="of another"):
        progress_of({**PLAN, "cluster_id": "a"}, replace(START, cluster_id="b"))
