from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target
from kafka_rebalance.planner.solution import Widening
from kafka_rebalance.plans.cluster_notes import cluster_notes, refuse_too_much_for_the_disks
from kafka_rebalance.plans.dead_band import Deviation
from kafka_rebalance.plans.draft import bands_of, draft_of, empty_draft, outcome_of
from kafka_rebalance.plans.explain import (
    Ratios,
    Repair,
    count_band_binds,
    disks_full,
    does_not_pay,
    explain_brokers,
    explain_moves,
    largest_alone,
    time_notes,
    what_is_repaired,
    why_outside,
    why_rebalance,
    widenings,
    within_dead_band,
)
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.snapshot.model import Capacity
from tests.facts_said import said
from tests.unit.planner.hand_problems import hand_problem
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row, with_capacity
from tests.unit.plans.hand_plans import SNAPSHOT, hand


def test_a_move_is_told_by_what_stood_furthest_from_its_share() -> None:
    """Broker 0 had 1.5 of disk and replicas but 3 of leaders; without the move it would keep 3 instead of 2."""
    known = hand()
    why = explain_moves(known.plan_request, known.draft, known.outcome, known.bands, 0.2)
    of = {"broker": 0, "resource": "leaders"}
    assert why.reasons == [fact(FactCode.RELIEVES_BROKER, **of, times_share=3.0)]
    levels = {"times_share_without": 3.0, "times_share_after": 2.0}
    assert why.worse_without == [fact(FactCode.BROKER_FURTHER_OFF, **of, **levels)]


def test_what_a_move_takes_past_its_share_is_no_repair() -> None:
    """8, 6, 4 GB, share 6; 6, 3, 9 afterwards. t-1 repairs broker 0; without t-3 brokers 1 and 2 have 6: no repair."""
    rows = [row("t", p, (b,), size * GB) for p, (b, size) in enumerate(((0, 6), (0, 2), (1, 3), (1, 3), (2, 4)))]
    plan_request = ask_of(cluster(rows, brokers(3)))
    draft = draft_of(plan_request, np.array([[0], [2], [1], [2], [2]], dtype=np.int32), np.array([0, 2, 1, 2, 2]))
    disk = Ratios(np.array([[8.0], [6.0], [4.0]]) / 6, np.array([[6.0], [3.0], [9.0]]) / 6, np.full((3, 1), 6.0 * GB))
    result = what_is_repaired(plan_request, draft, ("disk",), disk)
    assert result.broker.tolist() == [0, 1]
    assert [Repair(kind) for kind in result.kind] == [Repair.RELIEVES, Repair.NONE]
    assert result.without.tolist() == pytest.approx([8 / 6, 6 / 6])


def test_what_must_go_is_told_before_what_is_uneven() -> None:
    known = hand(PlanOptions(within=0.2, demote_brokers=frozenset({0})))
    why = explain_moves(known.plan_request, known.draft, known.outcome, known.bands, 0.2)
    assert why.reasons == [fact(FactCode.LEAVES_DEMOTED_LEADER, broker=0)]
    known = hand(PlanOptions(within=0.2, remove_brokers=frozenset({0})))
    why = explain_moves(known.plan_request, known.draft, known.outcome, known.bands, 0.2)
    assert why.reasons == [fact(FactCode.LEAVES_BROKER, broker=0, state="draining")]


def test_a_line_for_each_broker_that_gives_or_takes() -> None:
    known = hand()
    first, second = explain_brokers(known.plan_request, known.draft, known.outcome, known.bands, 0.2)
    nothing = dict.fromkeys(("replicas_out", "replicas_in", "bytes_out", "bytes_in", "leaders_out", "leaders_in"), 0)
    leaders = {"state": "alive", "resource": "leaders"}
    gives = {"replicas_out": 1, "bytes_out": 4.0 * GB, "leaders_out": 1, "times_share": 3.0, "times_share_after": 2.0}
    gets = {"replicas_in": 1, "bytes_in": 4.0 * GB, "leaders_in": 1, "times_share": 0.0, "times_share_after": 1.0}
    assert first == fact(FactCode.BROKER_CHANGES, broker=0, **(nothing | leaders | gives))
    assert second == fact(FactCode.BROKER_CHANGES, broker=2, **(nothing | leaders | gets))


def test_one_partition_larger_than_any_band_is_the_cause() -> None:
    """20, 2 and 2 GB: the mean is 8, a band of a fifth ends at 9.6."""
    snapshot = cluster([row("t", p, (p,), size * GB) for p, size in enumerate((20, 2, 2))], brokers(3))
    plan_request = ask_of(snapshot)
    problem = plan_request.problem(0.2)
    assert largest_alone(problem, problem.column("disk") or 0) == (0, 20 * GB)
    outcome = outcome_of(plan_request, empty_draft(plan_request))
    result = widenings(plan_request, problem, outcome, bands_of(problem), problem.replicas, problem.leader)
    by_side = {(widening.resource, widening.side): widening for widening in result}
    high = by_side["disk", "high"]
    assert (high.broker, high.requested, high.used) == (0, pytest.approx(1.2), pytest.approx(2.5))
    assert high.cause == fact(FactCode.PARTITION_ABOVE_BAND, partition="t-0", times_band=pytest.approx(20 / 9.6))
    assert by_side["disk", "low"].used == pytest.approx(0.25)


def ask_of(snapshot):
    return build_request(snapshot, PlanOptions(within=0.2))


def test_counts_that_do_not_let_loads_be_even() -> None:
    """30 partitions of 10 GB, disks of 1000 and 500 GB: the second may hold 90..110 GB, its count at least 14."""
    problem = hand_problem([((0,), 10.0)] * 30, 2, resources=("disk", "replicas"))
    low, high = problem.band_low.copy(), problem.band_high.copy()
    high[1, 0], low[1, 1] = 110.0, 14.0  # 14 replicas of 10 GB are 140
    result = count_band_binds(replace(problem, band_low=low, band_high=high), 0, 1, is_high=True)
    assert result is not None
    assert (result.args["count"], result.args["counted"]) == (14, "replicas")
    assert result.args["times_edge"] == pytest.approx(140 / 110)
    assert count_band_binds(problem, 0, 1, is_high=True) is None


def test_full_disks_let_nothing_go() -> None:
    problem = hand_problem([((0,), 10.0), ((0,), 8.0), ((1,), 5.0)], 2, disk_limit=[100.0, 10.0])
    result = disks_full(problem, 0, problem.replicas, problem.leader)
    assert result is not None
    assert (result.args["smallest_replica_bytes"], result.args["free_bytes"]) == (8.0, 5.0)
    roomy = hand_problem([((0,), 10.0), ((0,), 4.0), ((1,), 5.0)], 2, disk_limit=[100.0, 10.0])
    assert disks_full(roomy, 0, roomy.replicas, roomy.leader) is None


def test_reasons_of_verdicts_hold_their_figures() -> None:
    known = hand()
    assert within_dead_band(known.plan_request, None, 0.2) == fact(FactCode.ALL_INSIDE_BAND)
    reported = within_dead_band(known.plan_request, Deviation(broker=0, resource="disk", ratio=1.15), 0.2)
    assert reported.args == {"dead_band": 0.2, "broker": 0, "resource": "disk", "times_share": 1.15}
    cause, helps = fact(FactCode.NOTHING_MOVABLE), fact(FactCode.RAISE_BUDGET)
    assert InfeasibleError(cause, helps).facts == (cause, helps)
    assert InfeasibleError(cause).facts == (cause,)
    assert does_not_pay(0.01, 10.0, 100.0).args == {
        "copied_bytes": 10.0, "copied_share": 0.1, "imbalance_removed": 0.01,
    }  # fmt: skip


def test_what_stands_outside_is_named_by_its_furthest_broker() -> None:
    known = hand()
    reported = said(why_rebalance(known.plan_request, known.bands, known.outcome, ()), FactCode.BROKERS_OUTSIDE_BAND)
    disk = [args for args in reported if args["resource"] == "disk"]
    assert disk == [
        {"resource": "disk", "side": "high", "brokers": 1, "furthest_broker": 0, "times_mean": 1.5},
        {"resource": "disk", "side": "low", "brokers": 1, "furthest_broker": 2, "times_mean": 0.5},
    ]
    nothing_movable, other = fact(FactCode.NOTHING_MOVABLE), fact(FactCode.NOTHING_NEARER_FOUND)
    widened = (Widening("disk", "high", 1.2, 1.5, 0, nothing_movable), Widening("disk", "low", 0.8, 0.5, 2, other))
    first = why_outside(known.plan_request, known.bands, known.outcome, widened)[0]
    assert first == fact(FactCode.BAND_NOT_MET, resource="disk", cause=nothing_movable)


def test_notes_of_one_broker_of_racks_disks_and_empty_partitions() -> None:
    alone = hand_notes(cluster([row("t", 0, (0,), GB)], brokers(1)))
    assert alone == (fact(FactCode.ONLY_BROKER, broker=0),)
    disks = hand_notes(replace(SNAPSHOT, brokers=tuple(mixed_disks())))
    (args,) = said(disks, FactCode.DISKS_DIFFER)
    assert (args["smallest_broker"], args["largest_broker"]) == (0, 2)
    empty = hand_notes(cluster([row("t", 0, (0, 1), 0)], brokers(2)))
    assert fact(FactCode.ALL_PARTITIONS_EMPTY) in empty
    assert hand_notes(SNAPSHOT) == ()


def test_more_replicas_than_racks_and_a_rack_without_any() -> None:
    racks = cluster([row("t", 0, (0, 2), GB)], brokers(4, racks=2))  # 0 and 2 are in one rack, 1 and 3 in the other
    assert said(hand_notes(racks), FactCode.RACK_EMPTY)
    three = cluster([row("t", 0, (0, 1, 2), GB)], brokers(4, racks=2))
    (args,) = said(hand_notes(three), FactCode.MORE_REPLICAS_THAN_RACKS)
    assert args["most_in_rack"] == 2


def hand_notes(snapshot):
    plan_request = ask_of(snapshot)
    return cluster_notes(plan_request.brokers, plan_request.partitions, plan_request.target_rf)


def mixed_disks():
    """100 GB each, the last one 200."""
    first, second, third = with_capacity(SNAPSHOT, 100.0 * GB)
    return [first, second, replace(third, capacity=Capacity(disk_bytes=200.0 * GB))]


def test_disks_too_small_for_everything_are_refused() -> None:
    """30 GB on three disks of 9."""
    problem = hand_problem([((0, 1), 6.0), ((0, 1), 4.0), ((0, 2), 5.0)], 3, disk_limit=[9.0, 9.0, 9.0])
    with pytest.raises(InfeasibleError, match=r"disks_too_small\(brokers=3"):
        refuse_too_much_for_the_disks(problem)
    refuse_too_much_for_the_disks(hand_problem([((0,), 6.0)], 3, disk_limit=[2.0, 2.0, 2.0]))


def test_a_target_speaks_of_the_plain_mean() -> None:
    known = hand(PlanOptions(targets={"disk": Target(0.9, 1.1)}))
    lines = explain_brokers(
        known.plan_request, known.draft, known.outcome, known.bands, known.plan_request.options.band
    )
    # Counts have no target, their band is that of 10 %.
    assert (lines[0].args["resource"], lines[0].args["times_share"]) == ("leaders", pytest.approx(3.0))


def test_what_must_leave_a_broker_and_another_factor_are_counted() -> None:
    snapshot = cluster([row("t", 0, [0, 1]), row("t", 1, [1, 2])], brokers(4))
    hard = build_request(snapshot, PlanOptions(remove_brokers=frozenset({0}))).hard
    assert hard == (fact(FactCode.REPLICAS_MUST_LEAVE_BROKER, broker=0, state="draining", replicas=1),)
    assert build_request(cluster([row("t", 0, [0])], brokers(3)), PlanOptions(replication_factor=2)).hard[:1] == (
        fact(FactCode.REPLICATION_FACTOR_DIFFERS, partitions=1),
    )


def test_a_throttle_that_is_raised_and_a_plan_longer_than_it_is_valid_are_told() -> None:
    options = PlanOptions(throttle_bytes_per_s=2**20, expires_after_hours=2)
    assert time_notes(options, 7200.0, [2**20]) == ()
    assert time_notes(options, None, []) == ()
    raised, late = time_notes(options, 10800.0, [2**20, 5 * 2**20])
    assert raised.args == {
        "throttle_bytes_per_s": 2**20, "highest_bytes_per_s": 5 * 2**20, "raised_waves": 1, "waves": 2,
    }  # fmt: skip
    assert late == fact(FactCode.LONGER_THAN_VALID, seconds=10800.0, valid_hours=2)
