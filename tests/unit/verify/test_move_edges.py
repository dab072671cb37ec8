from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify.moves import check_moves, check_result, check_rollback
from kafka_rebalance.verify.waves import Traffic, check_times, check_waves, is_whole
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row
from tests.unit.plans.hand_plans import ROWS, SNAPSHOT
from tests.unit.verify.hand_claims import MOVE, THROTTLE, WAVE, arrays, claims, faults_of, parameters

ELECTION = {"preferred_election": True, "balance_within": None}
LEADS = MOVE | {"to": [1, 0], "leader_to": 1, "kind": "leader", "bytes": 0}


def one_step(waves: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All waves in one step."""
    return [{"waves": list(range(1, len(waves) + 1))}]


def rules(move: dict[str, Any], snapshot: ClusterSnapshot = SNAPSHOT, **asked: object) -> list[str]:
    claimed = claims(move, snapshot=snapshot, **asked)
    return faults_of(check_moves, [move], claimed, arrays(snapshot, **asked), parameters(**asked))


OFF = cluster([ROWS[0], replace(ROWS[1], leader=1), ROWS[2]], brokers(3))  # 1 leads what 0 is preferred to lead
BACK = MOVE | {"to": [0, 1], "leader_from": 1, "leader_to": 0, "kind": "leader", "bytes": 0}
RACKED = cluster([row("t", 1, (0, 1), 4 * GB)], brokers(5, racks=3))  # 0 and 3, 1 and 4, and 2 alone


@pytest.mark.parametrize(
    ("move", "snapshot", "asked", "codes"),
    [
        (LEADS, SNAPSHOT, {}, []),
        (LEADS, SNAPSHOT, {"leaders_only": True}, []),
        (LEADS, SNAPSHOT, {"leaders_only": True, "remove_brokers": [0]}, []),  # its replicas are not to move
        (LEADS, SNAPSHOT, {"remove_brokers": [0]}, ["broker_gone"]),
        (LEADS, SNAPSHOT, {"exclude_brokers": [0]}, []),  # it has been there
        (LEADS, SNAPSHOT, {"exclude_brokers": [1]}, ["leader_forbidden"]),
        (LEADS, SNAPSHOT, {"demote_brokers": [0, 1]}, []),  # one of them must
        (LEADS, SNAPSHOT, {"replication_factor": 3}, ["replication_factor"]),
        (LEADS, SNAPSHOT, {"replication_factor": 3, "leaders_only": True}, []),
        (LEADS, SNAPSHOT, ELECTION, ["scope"]),
        (BACK, OFF, ELECTION, []),
        (MOVE | {"to": [2, 1, 0]}, SNAPSHOT, {"replication_factor": 3, "leaders_only": True},
         ["replication_factor", "scope"]),
        (MOVE | {"from": [0, 1, 2]}, SNAPSHOT, {}, ["from_differs"]),
        (MOVE | {"from": [0]}, SNAPSHOT, {}, ["from_differs"]),
        (MOVE | {"leader_from": None}, SNAPSHOT, {}, ["from_differs"]),
        (MOVE | {"to": [2, 1], "leader_to": 0}, SNAPSHOT, {}, ["leader_forbidden", "leader_not_first"]),
        (MOVE | {"to": [0], "leader_to": 0, "bytes": 0}, SNAPSHOT, {"replication_factor": 1}, []),
        (MOVE | {"to": [0], "leader_to": 0, "bytes": 0, "kind": "leader"}, SNAPSHOT, {"replication_factor": 1},
         ["move_idle"]),
        (MOVE | {"to": [0, 3], "leader_to": 0}, RACKED, {}, ["rack"]),
        (MOVE | {"to": [0, 4], "leader_to": 0}, RACKED, {}, []),
        (MOVE | {"to": [0, 1, 3], "leader_to": 0}, RACKED, {"replication_factor": 3}, ["rack"]),
        (MOVE | {"to": [0, 1, 2], "leader_to": 0}, RACKED, {"replication_factor": 3}, []),
        (MOVE | {"to": [0, 1, 3], "leader_to": 0}, RACKED, {"replication_factor": 3, "exclude_brokers": [2]}, []),
    ],
)  # fmt: skip
def test_a_move_that_is_just_allowed_or_just_not(
    move: dict[str, Any], snapshot: ClusterSnapshot, asked: dict[str, Any], codes: list[str]
) -> None:
    assert rules(move, snapshot, **asked) == codes


SHARED = cluster([row("t", 1, (0, 1), 4 * GB), *[row("u", p, (0, 2)) for p in range(12)]], brokers(4, racks=2))


@pytest.mark.parametrize(
    ("snapshot", "asked", "verdict", "codes"),
    [
        (SHARED, {}, "rebalance", ["rack"]),  # u on 0 and 2, of one rack
        (SHARED, {}, "infeasible", []),
        (SHARED, {"exclude_topics": ["u"]}, "rebalance", []),
        (SHARED, {"leaders_only": True}, "rebalance", []),
        (SHARED, {"max_moves": 1}, "rebalance", []),  # a budget may leave something undone
        (SHARED, {"max_moves": 1}, "not_fixable_by_moving", ["rack"]),
        (SHARED, {"replication_factor": 3}, "nothing_to_do", ["rack", "replication_factor"]),
        (SNAPSHOT, {"replication_factor": 3, "exclude_topics": ["t"]}, "nothing_to_do", []),
        (SNAPSHOT, {"remove_brokers": [2], "exclude_topics": ["t"]}, "rebalance", []),
        (SNAPSHOT, {"demote_brokers": [0, 1, 2]}, "rebalance", []),
    ],
)
def test_what_must_be_true_in_the_end(
    snapshot: ClusterSnapshot, asked: dict[str, Any], verdict: str, codes: list[str]
) -> None:
    claimed = claims(LEADS, snapshot=snapshot, **asked)
    assert faults_of(check_result, claimed, arrays(snapshot, **asked), parameters(**asked), verdict) == codes


def test_an_unknown_partition_may_share_a_rack() -> None:
    rows = [*SHARED.each_partition()]
    unknown = cluster([rows[0], replace(rows[1], log_bytes=(None, None)), *[
        replace(item, replicas=(0, 1), isr=(0, 1)) for item in rows[2:]]], brokers(4, racks=2))  # fmt: skip
    claimed = claims(LEADS, snapshot=unknown)
    assert faults_of(check_result, claimed, arrays(unknown), parameters(), "rebalance") == []


def test_bytes_that_are_not_whole_may_be_one_off_and_a_billionth() -> None:
    assert is_whole(10**12, 10.0**12 + 1001, is_exact=False)
    assert not is_whole(10**12, 10.0**12 + 1002, is_exact=False)
    assert not is_whole(3, 5.0, is_exact=False)
    assert not is_whole(4, float("nan"), is_exact=False)
    assert is_whole(5, 5.0, is_exact=True)


# 6 GB leave broker 0 for 2, and then 5 GB come to 0 from 2, whose leader is 1.
TWO_ROWS = (row("t", 0, (0, 1), 6 * GB), row("t", 1, (0, 1), 4 * GB), row("u", 0, (1, 2), 5 * GB))
TWO = cluster(TWO_ROWS, brokers(3))
OUT = MOVE | {"partition": 0, "bytes": 6 * GB}
BACK_IN = MOVE | {"topic": "u", "partition": 0, "from": [1, 2], "to": [1, 0], "leader_from": 1, "leader_to": 1,
                  "bytes": 5 * GB, "wave": 2}  # fmt: skip
NO_LEADERS = {"leader_changes": 0, "leader_in_bytes_per_s": 0.0, "leader_out_bytes_per_s": 0.0}
WAVES: list[dict[str, Any]] = [
    WAVE | {"bytes": 6 * GB, "seconds": 6000.0, "free_disk_needed": {"2": 6 * GB}},
    WAVE | {"moves": [1], "bytes": 5 * GB, "seconds": 5000.0, "free_disk_needed": {"0": 5 * GB}, **NO_LEADERS},
]
COST = {"seconds": 11000.0, "seconds_slot_filling": 7000.0}


def waves(
    of: list[dict[str, Any]] = WAVES, limit: Any = None, cost: dict[str, Any] = COST, **asked: object
) -> list[str]:
    known, claimed = arrays(TWO, **asked), claims(OUT, BACK_IN, snapshot=TWO, **asked)
    numbers = {member: number for number, wave in enumerate(of, start=1) for member in wave["moves"]}
    moves = [OUT | {"wave": numbers.get(0, 1)}, BACK_IN | {"wave": numbers.get(1, 2)}]
    disk = None if limit is None else (np.array([10.0, 15, 5]) * GB, np.array(limit) * GB)
    document = {"moves": moves, "waves": of, "steps": one_step(of), "cost": cost}
    return faults_of(check_waves, document, claimed, known, parameters(**asked), disk)


def test_what_left_a_disk_makes_room_for_the_next_wave() -> None:
    """Broker 0 holds 10 GB, 4 after the first wave and 9 after the second; broker 2 holds 11 and then 6."""
    assert waves(limit=[9, 15, 11]) == []
    assert waves(limit=[8.999, 15, 11]) == ["wave_disk"]
    assert waves(limit=[9, 15, 10.999]) == ["wave_disk"]
    assert waves(limit=[9, 0, 11]) == []  # nothing comes to broker 1
    turned = [WAVES[1] | {"moves": [1]}, WAVES[0] | {"moves": [0]}]
    assert waves(turned, limit=[15, 15, 6]) == []
    assert waves(turned, limit=[14.999, 15, 6]) == ["wave_disk"]
    edge = 9 * (1 - 0.9e-9)
    assert (waves(limit=[edge, 15, 11]), waves(limit=[9 * (1 - 1.1e-9), 15, 11])) == ([], ["wave_disk"])


def test_waves_name_their_moves_once_in_order_and_are_not_empty() -> None:
    both = WAVE | {"moves": [0, 1], "bytes": 11 * GB, "seconds": 6000.0, "free_disk_needed": {"2": 6 * GB, "0": 5 * GB}}
    assert waves([both], cost={"seconds": 6000.0, "seconds_slot_filling": 6000.0}) == []
    assert waves([both | {"moves": [1, 0]}], cost={"seconds": 6000.0, "seconds_slot_filling": 6000.0}) == ["order"]
    assert waves([both, WAVES[1]]) == ["wave_members"]
    assert waves([WAVES[0]]) == ["wave_members"]
    assert waves([*WAVES, WAVES[1] | {"moves": []}]) == ["wave_members"]
    assert waves([*WAVES, WAVES[1] | {"moves": [2]}]) == ["wave_members"]
    assert waves([*WAVES, WAVES[1] | {"moves": [-1]}]) == ["wave_members"]
    assert waves([both], moves_per_broker=1, cost={"seconds": 6000.0, "seconds_slot_filling": 6000.0}) == []
    assert waves([both], partitions_per_wave=1, cost={"seconds": 6000.0, "seconds_slot_filling": 6000.0}) == [
        "wave_limit"
    ]


@pytest.mark.parametrize(
    ("cost", "codes"),
    [
        ({"seconds": 11000.0, "seconds_slot_filling": 6000.0}, []),  # the busiest broker reads or writes 6 GB
        ({"seconds": 11000.0, "seconds_slot_filling": 6000 * (1 - 0.9e-9)}, []),
        ({"seconds": 11000.0, "seconds_slot_filling": 6000 * (1 - 2e-9)}, ["slot_filling"]),
        ({"seconds": 11000.0, "seconds_slot_filling": 11000 * (1 + 0.9e-9)}, []),
        ({"seconds": 11000.0, "seconds_slot_filling": 11000 * (1 + 2e-9)}, ["slot_filling"]),
        ({"seconds": 11001.0, "seconds_slot_filling": 7000.0}, ["cost"]),
        ({"seconds": 11000.0, "seconds_slot_filling": None}, ["slot_filling"]),
        ({"seconds": None, "seconds_slot_filling": None}, ["cost", "slot_filling"]),
    ],
)
def test_the_whole_time_is_that_of_the_waves(cost: dict[str, Any], codes: list[str]) -> None:
    assert waves(cost=cost) == codes


def test_no_waves_take_no_time_and_unknown_ones_an_unknown() -> None:
    known, claimed = arrays(TWO), claims(OUT, BACK_IN, snapshot=TWO)
    assert faults_of(check_times, "cost", {"seconds": 0, "seconds_slot_filling": 0}, [], claimed, known) == []
    unknown = [WAVES[0], WAVES[1] | {"seconds": None}]
    nothing = {"seconds": None, "seconds_slot_filling": None}
    assert faults_of(check_times, "cost", nothing, unknown, claimed, known) == []
    stopped = [wave | {"throttle_bytes_per_s": 0} for wave in WAVES]
    assert faults_of(check_times, "cost", COST, stopped, claimed, known) == []
    faster = [WAVES[0], WAVES[1] | {"throttle_bytes_per_s": 2 * THROTTLE}]
    quick = COST | {"seconds_slot_filling": 3000.0}
    assert faults_of(check_times, "cost", quick, faster, claimed, known) == []
    assert faults_of(check_times, "cost", quick, WAVES, claimed, known) == ["slot_filling"]
    # The way back: broker 2 sends the 6 GB, and broker 1 the 5.
    assert faults_of(check_times, "rollback", COST | {"seconds_slot_filling": 6000.0}, WAVES, claimed, known) == []


URGENT = (row("t", 0, (0, 1), 6 * GB), row("t", 1, (0, 1), 4 * GB), row("u", 0, (1, 2), 5 * GB, isr=(1,)))


@pytest.mark.parametrize(
    ("first_rows", "asked", "codes"),
    [
        (URGENT, {}, ["wave_order"]),  # u is out of sync, and would have fitted into the first wave
        (URGENT, {"partitions_per_wave": 1}, []),
        (URGENT, {"moves_per_broker": 1}, ["wave_order"]),  # 0 sends one and 1 sends one
        (TWO_ROWS, {}, []),
        ((row("t", 0, (0, 1), 6 * GB, isr=(0,)), *URGENT[1:]), {}, []),
    ],
)
def test_what_is_out_of_sync_goes_first_where_it_fits(first_rows: tuple, asked: dict, codes: list[str]) -> None:
    snapshot = cluster(first_rows, brokers(3))
    known, claimed = arrays(snapshot, **asked), claims(OUT, BACK_IN, snapshot=snapshot, **asked)
    document = {"moves": [OUT, BACK_IN], "waves": WAVES, "steps": one_step(WAVES), "cost": COST}
    assert faults_of(check_waves, document, claimed, known, parameters(**asked), None) == codes


def test_one_sender_has_no_second_slot_for_what_is_out_of_sync() -> None:
    """Both are read from broker 0, which may send one at a time; a leader change copies nothing and is not urgent."""
    rows = (row("t", 0, (0, 1), 6 * GB), row("t", 1, (0, 1), 4 * GB), row("u", 0, (0, 2), 5 * GB, isr=(0,)))
    snapshot = cluster(rows, brokers(3))
    second = BACK_IN | {"from": [0, 2], "to": [0, 1], "leader_from": 0, "leader_to": 0}
    ways = [WAVES[0], WAVES[1] | {"free_disk_needed": {"1": 5 * GB}}]
    for limit, codes in ((1, []), (2, ["wave_order"])):
        known, claimed = arrays(snapshot, moves_per_broker=limit), claims(OUT, second, snapshot=snapshot)
        document = {
            "moves": [OUT, second],
            "waves": ways,
            "steps": one_step(ways),
            "cost": COST | {"seconds_slot_filling": 11000.0},
        }
        assert faults_of(check_waves, document, claimed, known, parameters(moves_per_broker=limit), None) == codes
    elected = second | {"to": [2, 0], "leader_to": 2, "kind": "leader", "bytes": 0}
    quick = [WAVES[0], WAVE | {"moves": [1], "bytes": 0, "seconds": 0.0, "free_disk_needed": {}}]
    document = {
        "moves": [OUT, elected],
        "waves": quick,
        "steps": one_step(quick),
        "cost": {"seconds": 6000.0, "seconds_slot_filling": 6000.0},
    }
    claimed = claims(OUT, elected, snapshot=snapshot)
    assert faults_of(check_waves, document, claimed, arrays(snapshot), parameters(), None) == []


@pytest.mark.parametrize(
    ("written", "asked", "throttles"),
    [
        (199.0, 200, (200, 200)),
        (200.0, 200, (200, 252)),  # written as fast as copied: just there the order of a sum decides
        (201.0, 200, (253, 253)),
        (202.0, 200, (254, 254)),
        (200.0, 100, (251, 252)),
        (0.0, 1, (1, 1)),
    ],
)
def test_copies_keep_up_with_what_is_written_and_a_quarter(written: float, asked: int, throttles: tuple) -> None:
    quiet = Traffic.forward(claims(), arrays(), np.array([0]))
    assert replace(quiet, busiest_rate=written).throttle(asked) == throttles


def test_traffic_knows_each_size_rate_and_reader() -> None:
    """Partition 0 is written at 10, 1 at 20, u at 30; the leaving copy on broker 2 is 7 GB, not 5."""
    rows = (TWO_ROWS[0], TWO_ROWS[1], row("u", 0, (1, 2), log_bytes=(5 * GB, 7 * GB)))
    rates = {LoadKind.IN_BYTES_PER_S: [10.0, 20.0, 30.0]}
    snapshot = cluster(rows, brokers(3), rates=rates)
    known, claimed = arrays(snapshot), claims(OUT, BACK_IN, snapshot=snapshot)
    both = np.array([0, 1])
    forward, backward = Traffic.forward(claimed, known, both), Traffic.backward(claimed, known, both)
    assert (forward.arriving / GB).tolist() == [5, 0, 6]
    assert (forward.sent / GB).tolist() == [6, 5, 0]
    assert (forward.leaving / GB).tolist() == [6, 0, 7]
    assert (forward.copies_in.tolist(), forward.moves_out.tolist()) == ([1, 0, 1], [1, 1, 0])
    assert (forward.busiest_rate, forward.seconds(2e6)) == (30, 3000)
    assert (backward.arriving / GB).tolist() == [6, 0, 5]
    assert (backward.sent / GB).tolist() == [0, 5, 6]
    assert (backward.copies_in.tolist(), backward.moves_out.tolist()) == ([1, 0, 1], [0, 1, 1])
    three = MOVE | {"to": [2, 1, 3], "bytes": 8 * GB}
    wide = cluster(rows, brokers(4), rates=rates)
    asked = {"replication_factor": 3}
    grown = Traffic.forward(claims(three, snapshot=wide, **asked), arrays(wide, **asked), np.array([0]))
    assert ((grown.sent / GB).tolist(), grown.busiest_rate) == ([8, 0, 0, 0], 40)  # two copies of what is written
    assert (grown.arriving / GB).tolist() == [0, 0, 4, 4]


def test_the_way_back_costs_what_it_copies() -> None:
    known, claimed = arrays(TWO), claims(OUT, BACK_IN, snapshot=TWO)
    back = [
        WAVES[1] | {"moves": [1], "bytes": 5 * GB, "seconds": 5000.0, "free_disk_needed": {"2": 5 * GB}},
        WAVES[0] | {"bytes": 6 * GB, "seconds": 6000.0, "free_disk_needed": {"0": 6 * GB}},
    ]
    rollback = COST | {"replica_moves": 2, "bytes": 11 * GB, "leader_changes": 1, "waves": back, "not_undone": []}
    document = {"rollback": rollback, "waves": WAVES}
    assert faults_of(check_rollback, document, claimed, known, parameters()) == []
    for change, code in (
        ({"leader_changes": 2}, "rollback_cost"), ({"leader_changes": 0}, "rollback_cost"),
        ({"waves": back[::-1]}, "rollback_order"), ({"bytes": None}, "rollback_cost"), ({"seconds": 1.0}, "cost"),
    ):  # fmt: skip
        wrong = document | {"rollback": rollback | change}
        assert faults_of(check_rollback, wrong, claimed, known, parameters()) == [code]
    assert faults_of(check_rollback, {"rollback": rollback, "waves": []}, claimed, known, parameters()) == [
        "rollback_order"
    ]
