from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.infeasible import (
    disks_cause,
    forced_copies,
    largest_copy_cause,
    program_cause,
    rack_cause,
    smallest_cause,
)
from kafka_rebalance.planner.params import ArcParams, LinearProgramParams
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Verdict
from kafka_rebalance.snapshot.model import Broker, Capacity
from tests.unit.planner.hand_problems import hand_problem
from tests.unit.planner.sample_clusters import GB, cluster, row

# Two racks of two brokers; every partition gets a second replica, in the other rack.
TWO_RACKS = (0, 0, 1, 1)


def grown(sizes: Sequence[float], limits: Sequence[float], racks: Sequence[int] | None = TWO_RACKS) -> Problem:
    """All of ``sizes`` on broker 0, each to get a second replica elsewhere."""
    factors = np.full(len(sizes), 2, dtype=np.int32)
    return hand_problem(
        [((0,), size) for size in sizes], len(limits), within=None, racks=racks, disk_limit=limits, target_rf=factors
    )


def test_a_rack_whose_disks_are_too_small_is_named_with_what_is_lacking() -> None:
    """30 must go to rack 1, which offers 10 + 12: 30 of 22 are 136.4 %, 8 are lacking. Rack 0 has enough."""
    cause = smallest_cause(grown([10.0, 10.0, 10.0], [100.0, 100.0, 10.0, 12.0]))
    assert cause is not None
    assert (cause.brokers.tolist(), cause.lacking) == ([2, 3], pytest.approx(8.0))
    assert (cause.fact.code, cause.fact.args["rack"]) == (FactCode.DISKS_LACK_ROOM, "1")
    assert (cause.fact.args["needed_bytes"], cause.fact.args["free_bytes"]) == (30.0, 22.0)


def test_brokers_that_leave_a_rack_without_room_are_named() -> None:
    """Broker 2 leaves rack 1, where 3 has room for 12 of 30. Broker 1 leaves rack 0, where 0 stays."""
    rows = [((0, 2), 10.0), ((0, 2), 10.0), ((1, 2), 10.0)]
    problem = hand_problem(rows, 4, within=None, racks=TWO_RACKS, leaving=(1, 2), disk_limit=[25.0, 99.0, 99.0, 12.0])
    forced = forced_copies(problem)
    assert forced is not None
    for cause, lacking, leaving in (
        (rack_cause(problem, forced), 18.0, (2,)),
        (disks_cause(problem, forced), 23.0, (1, 2)),
    ):
        assert cause is not None
        assert (cause.lacking, cause.fact.args["leaving_brokers"]) == (pytest.approx(lacking), leaving)


def test_all_disks_together_and_one_replica_that_fits_nowhere() -> None:
    """Without racks: 30 must be copied, and 5 + 12 + 12 are free, 1 too little. One of 10 does not fit beside 9."""
    forced = forced_copies(problem := grown([10.0, 10.0, 10.0], [35.0, 12.0, 12.0], None))
    assert forced is not None
    assert rack_cause(problem, forced) is None
    cause = disks_cause(problem, forced)
    assert cause is not None
    assert (cause.lacking, cause.brokers.tolist()) == (pytest.approx(1.0), [0, 1, 2])
    forced = forced_copies(problem := grown([10.0], [100.0, 9.0, 8.0], None))
    assert forced is not None
    largest = largest_copy_cause(problem, forced)
    assert largest is not None
    assert (largest.lacking, largest.brokers.tolist()) == (pytest.approx(1.0), [1])
    assert disks_cause(problem, forced) is None


def test_what_only_the_program_of_all_copies_sees() -> None:
    """Broker 0 has 60 free, but holds a replica of each: 30 must go to the others, which have 12 + 13."""
    problem = grown([10.0, 10.0, 10.0], [90.0, 12.0, 13.0], None)
    forced = forced_copies(problem)
    assert forced is not None
    assert (rack_cause(problem, forced), disks_cause(problem, forced)) == (None, None)
    cause = program_cause(problem, forced)
    assert cause is not None
    assert (cause.lacking, cause.brokers.tolist()) == (pytest.approx(5.0), [1, 2])
    assert (cause.fact.args["brokers"], cause.fact.args["is_by_program"]) == ((1, 2), True)
    assert (cause.fact.args["needed_bytes"], cause.fact.args["free_bytes"]) == (pytest.approx(30.0), 25.0)


def received(limits: Sequence[float], racks: Sequence[int] | None) -> Problem:
    """Three partitions on broker 0 that receive 10 a second each, to get a second replica; sizes unknown."""
    problem = hand_problem(
        [((0,), 1.0)] * 3, 4, within=None, racks=racks, resources=("in",), rates=[10.0] * 3,
        target_rf=np.full(3, 2, dtype=np.int32),
    )  # fmt: skip
    return replace(problem, limit=np.array(limits)[:, None])


def test_what_brokers_may_receive_is_counted_together_then_by_rack() -> None:
    """60 of 30 + 9 + 8 + 7: 6 lacking; rack 1 lacks 30 - (12 + 13). Broker 0 keeps its present 30."""
    for limits, racks, lacking, brokers in (
        ([9.0, 9.0, 8.0, 7.0], TWO_RACKS, 6.0, [0, 1, 2, 3]),
        ([50.0, 50.0, 12.0, 13.0], TWO_RACKS, 5.0, [2, 3]),
    ):
        cause = smallest_cause(received(limits, racks))
        assert cause is not None
        assert (cause.resource, cause.lacking, cause.brokers.tolist()) == ("in", pytest.approx(lacking), brokers)
    assert smallest_cause(received([30.0, 10.0, 10.0, 10.0], None)) is None
    assert smallest_cause(received([50.0, 50.0, 15.0, 15.0], TWO_RACKS)) is None


def test_no_program_is_solved_for_a_cluster_beyond_its_limit() -> None:
    problem = grown([10.0, 10.0, 10.0], [90.0, 12.0, 13.0], None)  # nine pairs of partition and broker
    forced = forced_copies(problem)
    assert forced is not None
    for most, is_solved in ((8, False), (9, True)):
        params = LinearProgramParams(arcs=ArcParams(most_arcs=most))
        assert (program_cause(problem, forced, params) is not None) is is_solved


def test_a_plan_names_the_rack_and_a_plan_for_a_smaller_factor_is_made() -> None:
    """Rack b's only broker of 50 GB cannot hold the second replicas of 6 × 10 GB."""
    rows = [row("t", p, [0], 10 * GB) for p in range(6)]
    brokers = [
        Broker(0, rack="a", capacity=Capacity(disk_bytes=500.0 * GB)),
        Broker(1, rack="b", capacity=Capacity(disk_bytes=50.0 * GB)),
    ]
    plan = make_plan(cluster(rows, brokers), PlanOptions(replication_factor=2))
    assert plan.verdict is Verdict.INFEASIBLE
    cause, helps = plan.reasons[:2]
    assert (cause.code, cause.args["rack"], cause.args["brokers"]) == (FactCode.DISKS_LACK_ROOM, "b", (1,))
    assert (cause.args["needed_bytes"], cause.args["free_bytes"]) == (60 * GB, 50 * GB)
    assert helps == fact(FactCode.ADD_DISK, lacking_bytes=10 * GB)
