"""Rules on one move of 4 GB from broker 0 to 2, its wave, its way back, and the sentences about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot
from kafka_rebalance.verify.moves.costs import check_costs, is_whole, total
from kafka_rebalance.verify.moves.rollback_rules import check_rollback
from kafka_rebalance.verify.moves.rules import check_moves, check_result
from kafka_rebalance.verify.moves.statements import check_statements
from kafka_rebalance.verify.moves.wave_rules import check_waves
from kafka_rebalance.verify.moves.wave_traffic import Traffic
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row
from tests.unit.plans.hand_plans import ROWS, SNAPSHOT
from tests.unit.verify.hand_claims import MOVE, THROTTLE, WAVE, arrays, claims, faults_of, parameters

COST: dict[str, Any] = {
    "replica_moves": 1, "bytes": 4 * GB, "leader_changes": 1, "seconds": 4000.0, "seconds_slot_filling": 4000.0,
}  # fmt: skip
ROLLBACK: dict[str, Any] = COST | {"waves": [WAVE | {"free_disk_needed": {"0": 4 * GB}}], "not_undone": []}
DOCUMENT: dict[str, Any] = {
    "moves": [MOVE], "waves": [WAVE], "cost": COST, "rollback": ROLLBACK, "verdict": "rebalance",
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
    assert ("unmovable" in codes, "from_differs" in codes) == (True, False)  # that nobody leads it today is right


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
    dear = DOCUMENT | {"moves": [MOVE | {"bytes": 5 * GB, "reason": " "}]}
    assert faults_of(check_costs, dear, claimed, known, parameters()) == ["cost", "explanation", "move_bytes"]
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
    assert faults_of(check_waves, DOCUMENT, claimed, known, parameters(partitions_per_wave=0), None) == ["wave_limit"]
    assert faults_of(check_waves, DOCUMENT, claimed, known, parameters(moves_per_broker=0), None) == ["wave_limit"]


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


STATED: dict[str, Any] = DOCUMENT | {
    "preconditions": [
        "each moved partition still has the replicas in `from`", "brokers 0, 1, 2 are alive",
        "receiving brokers have the free disk that each wave names",
    ],
    "explanations": [
        "broker 0 gives up 1 replica of 4 GB, loses 1 leadership: why",
        "broker 2 receives 1 replica of 4 GB, gains 1 leadership: why",
    ],
    "robustness": {
        "trials": 20, "noise": 0.3, "verdict_stands": 19,
        "words": "with every load off by up to 30% at random, it stands in 19 of 20 trials",
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        ({}, []),
        ({"preconditions": STATED["preconditions"][1:]}, ["precondition"]),
        ({"preconditions": [*STATED["preconditions"][:1], "brokers 0, 1 are alive"]}, ["precondition"]),
        ({"preconditions": STATED["preconditions"][:2]}, ["precondition"]),
        ({"preconditions": [*STATED["preconditions"], "the added brokers have joined"]}, ["precondition"]),
        ({"explanations": STATED["explanations"][:1]}, ["explanation"]),
        ({"explanations": STATED["explanations"][::-1]}, ["explanation"]),
        (
            {
                "explanations": [
                    "broker 0 gives up 1 replica of 5 GB, loses 1 leadership: why",
                    STATED["explanations"][1],
                ]
            },
            ["explanation"],
        ),
        ({"moves": [MOVE | {"reason": "relieves broker 9"}]}, ["explanation"]),
        ({"robustness": None}, ["robustness"]),
        ({"robustness": STATED["robustness"] | {"verdict_stands": 18}}, ["robustness"]),
        ({"robustness": STATED["robustness"] | {"verdict_stands": 21}}, ["robustness"]),
    ],
)
def test_sentences_that_people_act_on_are_true(change: dict, codes: list[str]) -> None:
    assert faults_of(check_statements, STATED | change, claims(), arrays(), parameters()) == codes


ADDED = "the added brokers have joined the cluster, empty, in the racks that were named"


def test_only_brokers_that_the_snapshot_lacks_have_to_be_added() -> None:
    """Broker 2 is called new by the input itself: it is there, and not empty. Broker 3 is named by an option alone."""
    new = replace(SNAPSHOT, brokers=tuple(brokers(3, b2=BrokerState.NEW)))
    added = STATED | {"preconditions": [*STATED["preconditions"], ADDED]}
    for options in ({}, {"add_brokers": {"2": None}}):
        known = arrays(new, **options)
        claimed = claims(snapshot=new, **options)
        assert faults_of(check_statements, STATED, claimed, known, parameters(**options)) == []
        assert faults_of(check_statements, added, claimed, known, parameters(**options)) == ["precondition"]


def test_brokers_that_an_option_adds_are_told() -> None:
    options = {"add_brokers": {"3": None}}
    document = STATED | {
        "preconditions": [STATED["preconditions"][0], "brokers 0, 1, 3 are alive", STATED["preconditions"][2]],
        "explanations": [line.replace("broker 2", "broker 3") for line in STATED["explanations"]],
    }
    claimed = claims(MOVE | {"to": [3, 1], "leader_to": 3}, **options)
    known = arrays(**options)
    assert faults_of(check_statements, document, claimed, known, parameters(**options)) == ["precondition"]
    document["preconditions"].append(ADDED)
    assert faults_of(check_statements, document, claimed, known, parameters(**options)) == []
