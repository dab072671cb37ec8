"""The plan document's parts for one move of 4 GB: moves, waves, rollback, bounds, certificate, conditions."""

from __future__ import annotations

import numpy as np
import pytest

from kafka_rebalance import amounts
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.bounds import lower_bounds
from kafka_rebalance.plans.compose import plan_without_brokers
from kafka_rebalance.plans.draft import draft_of, empty_draft
from kafka_rebalance.plans.explain import MoveFacts
from kafka_rebalance.plans.params import DEFAULTS
from kafka_rebalance.plans.parts import bounds_of, certificate_of, moves_of, preconditions_of
from kafka_rebalance.plans.plan import Move, MoveKind, Verdict
from kafka_rebalance.plans.unseen import observed_state, topic_ids_of
from kafka_rebalance.plans.waves import cost_of, cut_into_waves, rollback_of, slots_of, waves_forward
from kafka_rebalance.snapshot.codec import snapshot_id
from tests.unit.planner.sample_clusters import GB
from tests.unit.plans.hand_plans import SNAPSHOT, hand

# 4 GB at 1 MB/s.
SLOW = PlanOptions(within=0.2, throttle_bytes_per_s=1_000_000)
LEAST_SLOTS = DEFAULTS.waves.least_slots


def test_the_move_as_the_document_has_it() -> None:
    known = hand()
    why, worse = fact(FactCode.SEPARATES_RACKS), fact(FactCode.SHARES_RACK)
    (move,) = moves_of(known.plan_request, known.draft, np.array([0]), MoveFacts([why], [worse]))
    assert move == Move("t", 1, (0, 1), (2, 1), 0, 2, MoveKind.REPLICA, 4 * GB, move.wave, why, worse)


def test_one_wave_lasts_as_long_as_its_bytes_at_the_throttle() -> None:
    known = hand(SLOW)
    slots = slots_of(known.plan_request, known.draft)
    assert slots == LEAST_SLOTS
    plan = cut_into_waves(known.plan_request, known.draft, known.outcome.before[:, known.outcome.column("disk")], slots)
    assert (plan.wave_of.tolist(), plan.stuck.tolist()) == ([0], [])
    (wave,) = waves_forward(known.plan_request, known.draft, plan.wave_of)
    assert (wave.moves, wave.bytes, wave.seconds) == ((0,), 4 * GB, 4000.0)
    assert wave.free_disk_needed == {2: 4 * GB}
    cost = cost_of(known.plan_request, known.draft, (wave,))
    assert (cost.replica_moves, cost.bytes, cost.leader_changes, cost.seconds) == (1, 4 * GB, 1, 4000.0)
    rollback = rollback_of(known.plan_request, known.draft, plan.wave_of)
    assert (rollback.cost.bytes, rollback.cost.leader_changes, rollback.not_undone) == (4 * GB, 1, ())
    assert rollback.waves[0].free_disk_needed == {0: 4 * GB}


def test_as_many_at_a_time_as_were_asked_for() -> None:
    known = hand(PlanOptions(within=0.2, moves_per_broker=3))
    assert slots_of(known.plan_request, known.draft) == 3


def test_leaders_alone_go_before_copies_in_waves_of_their_own() -> None:
    known = hand(SLOW)
    replicas, leaders = np.array([[1, 0], [2, 1], [0, 2]], dtype=np.int32), np.array([1, 2, 0], dtype=np.int32)
    draft = draft_of(known.plan_request, replicas, leaders)
    plan = cut_into_waves(known.plan_request, draft, None, 10)
    assert draft.row.tolist() == [0, 1]
    assert plan.wave_of.tolist() == [0, 1]
    first, second = waves_forward(known.plan_request, draft, plan.wave_of)
    assert (first.bytes, first.seconds, second.bytes) == (0, 0.0, 4 * GB)


def test_bounds_of_a_plan_and_of_none() -> None:
    known = hand(SLOW)
    (wave,) = waves_forward(known.plan_request, known.draft, np.array([0], dtype=np.int32))
    cost = cost_of(known.plan_request, known.draft, (wave,))
    nothing = bounds_of(known.plan_request, cost, None, known.outcome, known.bands, (wave,))
    assert {(bound.cost, bound.value, bound.gap) for bound in nothing} == {
        (name, 0.0, 0.0) for name in ("bytes", "replica_moves", "leader_changes", "seconds")
    }
    result = lower_bounds(known.problem)
    bounds = {
        bound.cost: bound for bound in bounds_of(known.plan_request, cost, result, known.outcome, known.bands, (wave,))
    }
    assert bounds["bytes"].value == pytest.approx(3 * GB)  # broker 0 is 3 GB above 12
    assert bounds["bytes"].gap == pytest.approx(1 / 3)
    # Broker 2 lacks 3 of 8 GB, and 3 GB spread over three receivers are 1 each.
    assert bounds["seconds"].value == pytest.approx(3000.0)
    assert bounds["replica_moves"].value == 1
    assert set(certificate_of(known.plan_request, known.problem, result)) == {"disk"}
    assert certificate_of(known.plan_request, known.problem, result)["disk"] == pytest.approx({0: 1.0})
    assert certificate_of(known.plan_request, known.problem, None) == {}


def test_conditions_name_the_brokers_that_the_moves_touch() -> None:
    known = hand()
    facts = preconditions_of(known.plan_request, known.draft)
    assert fact(FactCode.BROKERS_ALIVE, brokers=(0, 1, 2)) in facts
    assert fact(FactCode.FREE_DISK_LEFT) in facts
    assert preconditions_of(known.plan_request, empty_draft(known.plan_request)) == ()


def test_what_the_plan_saw() -> None:
    known = hand()
    seen = observed_state(known.plan_request, known.draft)
    assert seen.topic_partitions == {"t": 3}
    assert seen.broker_racks == dict.fromkeys(range(3))
    assert (seen.dead_brokers, seen.reassigning) == ((), ())
    assert topic_ids_of(known.plan_request, known.draft) == {"t": None}
    assert topic_ids_of(known.plan_request, empty_draft(known.plan_request)) == {}


def test_without_brokers_nothing_can_be_told() -> None:
    known = hand()
    plan = plan_without_brokers(known.plan_request, (fact(FactCode.NO_BROKER_SEEN),), seed=3, advisor_version="x")
    assert (plan.verdict, plan.reasons, plan.moves) == (Verdict.CANNOT_TELL, (fact(FactCode.NO_BROKER_SEEN),), ())
    assert plan.snapshot_id == snapshot_id(SNAPSHOT)
    assert (plan.cost.bytes, plan.seed, plan.parameters["moves_per_broker"]) == (0, 3, LEAST_SLOTS)


def test_amounts_keep_three_digits_and_the_unit_that_fits() -> None:
    assert amounts.format_bytes(0) == "0 B"
    assert amounts.format_bytes(999) == "999 B"
