from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.problem import Budget, Problem
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.infeasible import rack_limit_cause
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Verdict
from kafka_rebalance.snapshot.model import Broker
from tests.properties.exact_plans import ExactPlans
from tests.unit.planner.hand_problems import hand_problem
from tests.unit.planner.sample_clusters import GB, cluster, row


def counted(racks: list[int], factors: list[int], caps: np.ndarray) -> Problem:
    """Replicas alone, each partition on the first brokers; caps by broker."""
    rows = [(tuple(range(factor)), 1.0) for factor in factors]
    return hand_problem(rows, len(racks), within=None, resources=("replicas",), racks=racks, caps={"replicas": caps})


def test_a_lone_broker_of_a_rack_holds_one_replica_of_each_partition() -> None:
    """Racks of 1 and 3, factor 2, 6 partitions: the lone one must hold 6 and may hold 4; all together may hold 16."""
    problem = counted([0, 1, 1, 1], [2] * 6, np.full(4, 4.0))
    cause = rack_limit_cause(problem, "replicas", problem.band_high[:, 0])
    assert cause is not None
    assert (cause.brokers.tolist(), cause.lacking) == ([0], pytest.approx(2.0))
    assert (cause.fact.args["needed"], cause.fact.args["limit"], cause.fact.args["racks"]) == (6, 4, ("0",))
    assert cause.helps == fact(FactCode.RAISE_LIMIT, resource="replicas", limit=6)
    assert rack_limit_cause(problem, "replicas", np.full(4, 6.0)) is None


def test_two_racks_together_lack_what_neither_lacks_alone() -> None:
    """Three racks of one broker, factor 2: of 6 partitions two racks hold 6 at the least, and may hold 2 and 3."""
    problem = counted([0, 1, 2], [2] * 6, np.array([2.0, 3.0, 9.0]))
    cause = rack_limit_cause(problem, "replicas", problem.band_high[:, 0])
    assert cause is not None
    assert (cause.brokers.tolist(), cause.lacking) == ([0, 1], pytest.approx(1.0))


def test_where_racks_do_not_bind_nothing_is_said() -> None:
    problem = counted([0, 1, 1, 1], [2] * 6, np.full(4, 4.0))
    most = problem.band_high[:, 0]
    for other in (
        replace(problem, moves_replicas=False),
        replace(problem, budget=Budget(max_replica_moves=1)),
        replace(problem, takes_replicas=np.array([True, True, True, False])),
        replace(problem, must_leave=np.ones((6, 2), dtype=np.bool_)),
    ):
        assert rack_limit_cause(other, "replicas", most) is None
    assert rack_limit_cause(problem, "leaders", most) is None


def test_two_hundred_random_caps_are_kept_by_somebody_or_have_their_cause() -> None:
    result = 0
    for seed in range(200):
        draw = np.random.default_rng(seed)
        count = int(draw.integers(2, 6))
        racks = np.unique(draw.integers(0, int(draw.integers(2, 5)), count), return_inverse=True)[1].tolist()
        factors = draw.integers(1, min(count, 3) + 1, int(draw.integers(2, 6))).tolist()
        mean = sum(factors) / count
        problem = counted(racks, factors, np.maximum(np.round(mean * draw.uniform(0.7, 1.9, count)), 1.0))
        caps = problem.band_high[:, 0]
        cause = rack_limit_cause(problem, "replicas", caps)
        is_possible = ExactPlans(problem).least("bytes") is not None
        if cause is None:
            assert is_possible or sum(factors) > caps.sum(), seed
            continue
        result += 1
        assert not is_possible, seed
        wider = problem.band_high.copy()
        wider[cause.brokers[0], 0] += cause.lacking - 1
        assert ExactPlans(replace(problem, band_high=wider)).least("bytes") is None, seed
    assert result > 20


def test_a_plan_says_which_rack_cannot_keep_the_cap() -> None:
    brokers = [Broker(number, rack="b" if number else "a") for number in range(4)]
    snapshot = cluster([row("t", p, [0, 1 + p % 3], GB) for p in range(6)], brokers)
    plan = make_plan(snapshot, PlanOptions(caps={"replicas": 4}, with_frontier=False))
    assert plan.verdict is Verdict.INFEASIBLE
    cause = plan.reasons[0]
    assert (cause.code, cause.args["racks"], cause.args["brokers"]) == (FactCode.LIMITS_TOO_LOW, ("a",), 1)
    assert (cause.args["needed"], cause.args["limit"]) == (6, pytest.approx(4))
