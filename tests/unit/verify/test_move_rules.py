"""Rules on one move of 4 GB from broker 0 to 2, its wave, its way back, and the facts about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.loads import recompute
from kafka_rebalance.verify.moves import check_moves, check_result, check_rollback
from kafka_rebalance.verify.stated_facts import check_stated_facts
from kafka_rebalance.verify.waves import Traffic, check_costs, check_waves, is_whole, total
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row
from tests.unit.plans.hand_plans import ROWS, SNAPSHOT
from tests.unit.verify.hand_claims import DISK, MOVE, THROTTLE, WAVE, arrays, claims, faults_of, parameters

COST: dict[str, Any] = {
    "replica_moves": 1, "bytes": 4 * GB, "leader_changes": 1, "seconds": 4000.0, "seconds_slot_filling": 4000.0,
}  # fmt: skip
ROLLBACK: dict[str, Any] = COST | {"waves": [WAVE | {"free_disk_needed": {"0": 4 * GB}}], "not_undone": []}
DOCUMENT: dict[str, Any] = {
    "moves": [MOVE], "waves": [WAVE], "steps": [{"waves": [1]}], "cost": COST, "rollback": ROLLBACK,
    "verdict": "rebalance",
    "resources": [{"resource": "disk"}],
}  # fmt: skip


def rules(move: dict[str, Any], snapshot: ClusterSnapshot = SNAPSHOT, **asked: object) -> list[str]:
    claimed = claims(move, snapshot=snapshot, **asked)
    return faults_of(check_moves, [move], claimed, arrays(snapshot, **asked), parameters(**asked))


@pytest.mark.parametrize(
    ("change", "asked", "codes"),
    [
        ({}, {}, []),
        ({"from": [1, 0]}, {}, ["from_differs"]),
        ({"leader_from": 1}, {}, ["from_differs"]),
        ({"leader_to": 1}, {}, ["leader_not_first"]),
        ({"to": [2], "kind": "replica"}, {}, ["replication_factor"]),
        ({"to": [2, 1, 0]}, {"replication_factor": 3}, []),
        ({"kind": "leader"}, {}, ["move_idle"]),
        ({}, {"exclude_topics": ["t"]}, ["topic_excluded"]),
        ({}, {"leaders_only": True}, ["scope"]),
        ({}, {"remove_brokers": [2]}, ["broker_gone", "leader_forbidden"]),
        ({}, {"exclude_brokers": [2]}, ["broker_closed", "leader_forbidden"]),
        ({}, {"demote_brokers": [2]}, ["leader_forbidden"]),
        ({"to": [0, 1], "leader_to": 0}, {}, ["move_idle"]),
    ],
)
def test_a_rule_for_each_thing_that_a_move_may_not_do(change: dict, asked: dict, codes: list[str]) -> None:
    assert rules(MOVE | change, **asked) == codes


def test_a_move_may_not_share_a_rack() -> None:
    assert rules(MOVE | {"to": [2, 0], "leader_to": 2}, cluster(ROWS, brokers(3, racks=2))) == ["rack"]


def test_what_is_being_reassigned_or_has_no_leader_stays() -> None:
    flying = cluster([ROWS[0], replace(ROWS[1], adding=(1,)), ROWS[2]], brokers(3))
    assert "in_flight" in rules(MOVE, flying)
    unled = cluster([ROWS[0], replace(ROWS[1], leader=None, isr=()), ROWS[2]], brokers(3))
    codes = rules(MOVE | {"leader_from": None}, unled)
    assert ("unmovable" in codes, "from_differs" in codes) == (True, False)  # it has no leader today


@pytest.mark.parametrize(
    ("asked", "codes"),
    [
        ({}, []),
        ({"remove_brokers": [0]}, ["broker_left", "leader_forbidden"]),
        ({"demote_brokers": [0]}, ["leader_forbidden"]),
        ({"replication_factor": 3}, ["replication_factor"]),
        ({"remove_brokers": [0], "leaders_only": True}, []),
    ],
)
def test_what_the_whole_cluster_must_be_afterwards(asked: dict, codes: list[str]) -> None:
    assert faults_of(check_result, claims(**asked), arrays(**asked), parameters(**asked), "rebalance") == codes


def test_a_demoted_broker_leads_nothing_that_broker_0_could_lead() -> None:
    flipped = cluster([row("t", 0, (1, 0), 6 * GB), *ROWS[1:]], brokers(3))
    asked = {"demote_brokers": [1]}
    claimed = claims(snapshot=flipped, **asked)
    assert faults_of(check_result, claimed, arrays(flipped, **asked), parameters(**asked), "rebalance") == [
        "leader_forbidden"
    ]


def test_replicas_left_in_one_rack_are_a_fault() -> None:
    shared = cluster(ROWS, brokers(3, racks=2))
    moved = claims(MOVE | {"to": [2, 1]}, snapshot=shared)
    assert faults_of(check_result, moved, arrays(shared), parameters(), "rebalance") == [
        "rack"
    ]  # partition 2 on 0 and 2


def test_costs_are_the_sums_of_the_moves() -> None:
    known, claimed = arrays(), claims()
    assert faults_of(check_costs, DOCUMENT, claimed, known, parameters()) == []
    for wrong in (COST | {"bytes": 1}, COST | {"replica_moves": 2}, COST | {"leader_changes": 0}):
        assert faults_of(check_costs, DOCUMENT | {"cost": wrong}, claimed, known, parameters()) == ["cost"]
    dear = DOCUMENT | {"moves": [MOVE | {"bytes": 5 * GB}]}
    assert faults_of(check_costs, dear, claimed, known, parameters()) == ["cost", "move_bytes"]
    assert faults_of(check_costs, DOCUMENT, claimed, known, parameters(max_move_bytes=3 * GB)) == ["budget"]
    assert faults_of(check_costs, DOCUMENT, claimed, known, parameters(max_move_bytes=4 * GB)) == []


def test_whole_numbers_and_unknown_ones() -> None:
    assert is_whole(None, float("nan"), is_exact=True)
    assert not is_whole(0, float("nan"), is_exact=True)
    assert not is_whole(4, 5.0, is_exact=True)
    assert is_whole(4, 5.0, is_exact=False)
    assert (total([1, 2]), total([1, None])) == (3, None)


def test_traffic_of_the_move_forward_and_back() -> None:
    forward = Traffic.forward(claims(), arrays(), np.array([0]))
    assert (forward.arriving / GB).tolist() == [0, 0, 4]
    assert (forward.sent / GB).tolist() == [4, 0, 0]
    assert (forward.leaving / GB).tolist() == [4, 0, 0]
    assert (forward.copies_in.tolist(), forward.moves_out.tolist()) == ([0, 0, 1], [1, 0, 0])
    assert forward.seconds(THROTTLE) == 4000
    backward = Traffic.backward(claims(), arrays(), np.array([0]))
    assert (backward.arriving / GB).tolist() == [4, 0, 0]
    assert (backward.sent / GB).tolist() == [0, 0, 4]


def test_a_throttle_is_raised_a_quarter_above_what_is_written() -> None:
    quiet = Traffic.forward(claims(), arrays(), np.array([0]))
    assert quiet.throttle(100) == (100, 100)
    busy = replace(quiet, busiest_rate=200.0)
    assert busy.throttle(100)[0] in (250, 251)
    assert busy.throttle(1000) == (1000, 1000)


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        ({}, []),
        ({"moves": []}, ["wave_members"]),
        ({"moves": [0, 1]}, ["wave_members"]),
        ({"bytes": 5}, ["wave_bytes"]),
        ({"seconds": 3999.0}, ["cost", "slot_filling", "wave_seconds"]),
        ({"throttle_bytes_per_s": 2 * THROTTLE}, ["wave_seconds", "wave_throttle"]),
        ({"throttle_bytes_per_s": 1}, ["slot_filling", "wave_seconds", "wave_throttle"]),  # too low, and a throttle
        ({"throttle_bytes_per_s": 0}, ["wave_throttle"]),
        ({"free_disk_needed": {}}, ["wave_disk"]),
        ({"free_disk_needed": {"2": 5}}, ["wave_disk"]),
    ],
)
def test_a_wave_says_what_it_copies_and_how_long(change: dict, codes: list[str]) -> None:
    document = DOCUMENT | {"waves": [WAVE | change]}
    assert faults_of(check_waves, document, claims(), arrays(), parameters(), None) == codes


def test_a_wave_keeps_to_slots_rows_and_disks() -> None:
    known, claimed = arrays(), claims()
    used = np.array([15.0, 10.0, 5.0]) * GB
    assert faults_of(check_waves, DOCUMENT, claimed, known, parameters(), (used, np.full(3, 15.0 * GB))) == []
    assert faults_of(check_waves, DOCUMENT, claimed, known, parameters(), (used, np.full(3, 8.9 * GB))) == ["wave_disk"]
    for limit in ("partitions_per_wave", "moves_per_broker"):
        none = parameters()
        object.__setattr__(none, limit, 0)
        assert faults_of(check_waves, DOCUMENT, claimed, known, none, None) == ["wave_limit"]


def test_the_way_back_is_the_waves_turned_round() -> None:
    known, claimed = arrays(), claims()

    def codes(**change: object) -> list[str]:
        return faults_of(check_rollback, DOCUMENT | change, claimed, known, parameters())

    assert codes() == []
    assert codes(rollback=None) == ["rollback_order"]
    assert codes(rollback=ROLLBACK | {"waves": []}) == ["rollback_order"]
    assert codes(rollback=ROLLBACK | {"not_undone": [0]}) == ["rollback_undone"]
    assert codes(rollback=ROLLBACK | {"replica_moves": 2}) == ["rollback_cost"]
    assert codes(rollback=ROLLBACK | {"bytes": 5}) == ["rollback_cost"]
    assert codes(waves=[], rollback=None) == []


def test_what_left_a_dead_broker_cannot_go_back() -> None:
    gone = replace(
        cluster([ROWS[0], replace(ROWS[1], leader=1, isr=(1,)), ROWS[2]], brokers(3)),
        brokers=(replace(SNAPSHOT.brokers[0], state=BrokerState.DEAD), *SNAPSHOT.brokers[1:]),
    )
    move = MOVE | {"leader_from": 1}
    claimed = claims(move, snapshot=gone)
    nothing = {"replica_moves": 0, "bytes": 0, "leader_changes": 0, "seconds": 0.0, "seconds_slot_filling": 0.0}
    document = DOCUMENT | {"moves": [move], "rollback": nothing | {"waves": [], "not_undone": [0]}}
    assert faults_of(check_rollback, document, claimed, arrays(gone), parameters()) == []


def gives(broker: int, before: float, after: float, **changes: object) -> dict[str, Any]:
    """The fact of a broker of the hand-made cluster, with its share of 10 GB of disk."""
    nothing = dict.fromkeys(("replicas_out", "replicas_in", "bytes_out", "bytes_in", "leaders_out", "leaders_in"), 0)
    level = {"state": "alive", "resource": "disk", "times_share": before, "times_share_after": after}
    return {"code": "broker_changes", "args": {"broker": broker} | nothing | level | changes}


def alive(*ids: int) -> dict[str, Any]:
    return {"code": "brokers_alive", "args": {"brokers": list(ids)}}


AS_PLANNED, IN_SYNC, FREE_DISK = (
    {"code": code, "args": {}} for code in ("replicas_as_planned", "kept_replicas_in_sync", "free_disk_left")
)
OUT = gives(0, 1.5, 1.1, replicas_out=1, bytes_out=4.0 * GB, leaders_out=1)
INTO = gives(2, 0.5, 0.9, replicas_in=1, bytes_in=4.0 * GB, leaders_in=1)
STATED: dict[str, Any] = DOCUMENT | {
    "resources": [DISK],
    "preconditions": [AS_PLANNED, alive(0, 1, 2), IN_SYNC, FREE_DISK],
    "explanations": [OUT, INTO],
    "robustness": {"trials": 20, "noise": 0.3, "verdict_stands": 19},
}


def stated(document: dict[str, Any], snapshot: ClusterSnapshot = SNAPSHOT, **options: object) -> list[str]:
    known, asked = arrays(snapshot, **options), parameters(**options)
    claimed = claims(*document["moves"], snapshot=snapshot, **options)
    levels = recompute(claimed, known, asked)
    return faults_of(check_stated_facts, document, snapshot, claimed, known, levels, asked)


def said(field: str, **args: object) -> dict[str, Any]:
    """The move with other arguments in one of its facts."""
    return {"moves": [MOVE | {field: MOVE[field] | {"args": MOVE[field]["args"] | args}}]}


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        ({}, []),
        ({"preconditions": [alive(0, 1, 2), IN_SYNC, FREE_DISK]}, ["precondition"]),
        ({"preconditions": [AS_PLANNED, alive(0, 1), IN_SYNC, FREE_DISK]}, ["precondition"]),
        ({"preconditions": [AS_PLANNED, alive(0, 1, 2), IN_SYNC]}, ["precondition"]),
        ({"explanations": [OUT]}, ["explanation"]),
        ({"explanations": [INTO, OUT]}, ["explanation"]),
        (
            {"explanations": [OUT | {"args": OUT["args"] | {"bytes_out": 5.0 * GB}}, INTO]},
            ["explanation"],
        ),
        (
            {"explanations": [OUT | {"args": OUT["args"] | {"times_share": 1.4}}, INTO]},
            ["explanation"],
        ),
        ({"explanations": [OUT | {"args": OUT["args"] | {"more": 1}}, INTO]}, ["explanation"]),
        (said("reason", broker=9), ["explanation"]),
        (said("reason", broker=1), ["explanation"]),
        (said("reason", times_share=1.4), ["explanation"]),
        (said("reason", resource=["disk"]), ["explanation"]),
        (said("worse_without", times_share_after=1.2), ["explanation"]),
        (said("worse_without", times_share_without=1.05), ["explanation"]),
        (said("worse_without", times_share_without="much"), ["explanation"]),
        ({"robustness": None}, ["robustness"]),
        ({"robustness": STATED["robustness"] | {"verdict_stands": 21}}, ["robustness"]),
        ({"robustness": STATED["robustness"] | {"noise": 1.0}}, ["robustness"]),
    ],
)
def test_facts_that_people_act_on_are_true(change: dict, codes: list[str]) -> None:
    assert stated(STATED | change) == codes


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        ({"verdict": "infeasible"}, []),
        ({"resources": [DISK | {"resource": "leaders"}]}, []),
        ({"verdict": "cannot_tell"}, []),
        ({"verdict": "not_fixable_by_moving"}, ["robustness"]),
    ],
)
def test_robustness_is_there_where_something_measured_was_tried(change: dict, codes: list[str]) -> None:
    result = stated(STATED | change | {"robustness": None})
    assert [code for code in result if code == "robustness"] == codes


def test_explanations_begin_with_those_that_give_or_get_most() -> None:
    """Broker 2 gets 6 and gives 5 GB, broker 0 gives 6 and gets 5: equal bytes and counts, so ids decide."""
    two = cluster([row("t", 0, (0, 1), 6 * GB), row("t", 1, (0, 1), 4 * GB), row("u", 0, (1, 2), 5 * GB)], brokers(3))
    moves = [
        MOVE | {"partition": 0, "bytes": 6 * GB},
        MOVE | {"topic": "u", "partition": 0, "from": [1, 2], "to": [1, 0], "leader_from": 1, "leader_to": 1},
    ]
    exchanged = {"replicas_out": 1, "replicas_in": 1}
    of_0 = gives(0, 1.0, 0.9, **exchanged, bytes_out=6.0 * GB, bytes_in=5.0 * GB, leaders_out=1)
    of_2 = gives(2, 0.5, 0.6, **exchanged, bytes_out=5.0 * GB, bytes_in=6.0 * GB, leaders_in=1)
    document = STATED | {"moves": moves, "explanations": [of_0, of_2]}
    known, asked = arrays(two), parameters()
    claimed = claims(*moves, snapshot=two)
    levels, faults = recompute(claimed, known, asked), FaultList()
    check_stated_facts(document, two, claimed, known, levels, asked, faults)
    assert not [fault for fault in faults.faults if fault.location.startswith("plan.explanations")], faults.faults
    swapped = document | {"explanations": [of_2, of_0]}
    faults = FaultList()
    check_stated_facts(swapped, two, claimed, known, levels, asked, faults)
    assert [fault.location for fault in faults.faults if fault.location.startswith("plan.explanations")] == [
        "plan.explanations"
    ]


def test_a_replica_out_of_sync_that_leaves_is_said_beside_why_the_move_is_made() -> None:
    def dropping(broker: object, why: object) -> dict[str, Any]:
        reason = {"code": "drops_out_of_sync", "args": {"broker": broker, "why": why}}
        return STATED | {"moves": [MOVE | {"reason": reason}]}

    assert stated(dropping(0, MOVE["reason"])) == []
    for broker, why in ((1, MOVE["reason"]), ([0], MOVE["reason"]), (0, "relieves"), (0, {"code": [], "args": {}})):
        assert stated(dropping(broker, why)) == ["explanation"]


JOINED = {"code": "added_brokers_joined", "args": {"brokers": [3]}}


def test_only_brokers_that_the_snapshot_lacks_have_to_be_added() -> None:
    """Broker 2 is called new by the input itself: it is there, and not empty. Broker 3 is named by an option alone."""
    new = replace(SNAPSHOT, brokers=tuple(brokers(3, b2=BrokerState.NEW)))
    document = STATED | {"explanations": [OUT, INTO | {"args": INTO["args"] | {"state": "new"}}]}
    added = document | {"preconditions": [*STATED["preconditions"][:3], JOINED, FREE_DISK]}
    for options in ({}, {"add_brokers": {"2": None}}):
        assert stated(document, new, **options) == []
        assert stated(added, new, **options) == ["precondition"]


def test_brokers_that_an_option_adds_are_waited_for() -> None:
    options = {"add_brokers": {"3": None}}
    move = MOVE | {"to": [3, 1], "leader_to": 3}
    named = [AS_PLANNED, alive(0, 1, 3), IN_SYNC]
    document = STATED | {"moves": [move], "preconditions": [*named, FREE_DISK]}
    assert "precondition" in stated(document, **options)
    assert "precondition" not in stated(document | {"preconditions": [*named, JOINED, FREE_DISK]}, **options)
