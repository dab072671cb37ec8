from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.errors import InfeasibleError, UsageError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target
from kafka_rebalance.plans.failures import robustness_of
from kafka_rebalance.plans.option_fit import require_brokers_fit, require_countable_bytes, require_measured
from kafka_rebalance.plans.params import DEFAULTS
from kafka_rebalance.plans.plan import Verdict
from kafka_rebalance.plans.previous import PreviousPlan, continued_plan, differs, leaves_nothing_behind, what_is_left
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.plans.unseen import could_change, nothing_usable
from kafka_rebalance.snapshot.model import BrokerState
from tests.coverage_gaps import gap_of
from tests.facts_said import said
from tests.unit.planner.hand_problems import THREE, hand_problem
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row
from tests.unit.plans.hand_plans import MOVED, ROWS, SNAPSHOT, hand

MOVE = {"topic": "t", "partition": 1, "from": [0, 1], "to": [2, 1], "leader_to": 2}
TRIALS, NOISE = DEFAULTS.robustness.trials, DEFAULTS.robustness.noise


def earlier(options: PlanOptions, *moves: dict[str, object]) -> dict[str, object]:
    return {"plan_id": "f" * 64, "parameters": options.document(), "moves": list(moves)}


def test_a_move_that_is_still_to_be_made_is_left() -> None:
    known = hand()
    result = what_is_left(known.plan_request, known.problem, earlier(known.plan_request.options, MOVE))
    assert result is not None
    assert (result.left, result.done, result.replicas.tolist(), result.leader.tolist()) == (
        1,
        0,
        MOVED.tolist(),
        [0, 2, 0],
    )


def test_a_plan_that_is_done_wants_something_else_or_is_contradicted_leaves_nothing() -> None:
    known = hand()
    options = known.plan_request.options
    stays = {**MOVE, "to": [0, 1], "leader_to": 0}
    elsewhere = {**MOVE, "from": [1, 2]}
    unknown = {**MOVE, "to": [7, 1]}
    for previous in (
        earlier(options), earlier(options, stays), earlier(options, elsewhere), earlier(options, unknown),
        earlier(PlanOptions(within=0.3), MOVE),
    ):  # fmt: skip
        assert what_is_left(known.plan_request, known.problem, previous) is None


def test_a_placement_that_leaves_something_behind() -> None:
    problem = hand_problem(THREE, 3, leaving=[0])
    ones = np.ones(3, dtype=np.int32)
    assert not leaves_nothing_behind(problem, problem.replicas, problem.leader)
    assert leaves_nothing_behind(problem, np.array([[1, 2]] * 3), ones)
    assert not leaves_nothing_behind(problem, np.array([[1, -1]] * 3), ones)  # one replica of two
    same_rack = replace(problem, rack=np.array([0, 1, 1], dtype=np.int32))
    assert leaves_nothing_behind(same_rack, np.array([[1, 2]] * 3), ones)  # no other rack is open
    open_rack = replace(same_rack, stays=np.ones(3, dtype=np.bool_), takes_replicas=np.ones(3, dtype=np.bool_))
    assert not leaves_nothing_behind(open_rack, np.array([[1, 2]] * 3), ones)
    demoted = replace(problem, keeps_leaders=np.array([False, False, True]), takes_leaders=problem.stays & (ones > 0))
    assert not leaves_nothing_behind(demoted, np.array([[1, 2]] * 3), ones)
    offline = replace(open_rack, rack=np.arange(3, dtype=np.int32), must_leave=open_rack.replicas == 1)
    assert not leaves_nothing_behind(offline, np.array([[2, 1]] * 3), 2 * ones)  # in another place of the list
    assert not differs(problem, problem.replicas, problem.leader)
    assert differs(problem, problem.replicas, np.array([1, 0, 0]))


def test_a_plan_well_inside_the_dead_band_is_confirmed() -> None:
    """Partition 1 to broker 2, partition 0 led by 1: disks at 11, 10 and 9 of 10, a leader and two replicas each."""
    known = hand(PlanOptions())
    replicas = np.array([[1, 0], [2, 1], [0, 2]], dtype=np.int32)
    plan = PreviousPlan("e" * 64, replicas, np.array([1, 2, 0], dtype=np.int32), left=2, done=3)
    kept = continued_plan(known.plan_request, known.problem, plan, 0, lambda _: None)
    assert kept is not None
    assert len(kept) == 2


def test_nothing_is_kept_where_everybody_is_inside() -> None:
    even = cluster([row("t", p, (p, (p + 1) % 3), GB) for p in range(3)], brokers(3))
    plan_request = build_request(even, PlanOptions())
    problem = plan_request.problem(0.1)
    plan = PreviousPlan("e" * 64, problem.replicas, problem.leader, left=1, done=0)
    assert continued_plan(plan_request, problem, plan, 0, lambda _: None) is None


def test_a_verdict_on_a_large_imbalance_stands_whatever_the_noise() -> None:
    """20 equal partitions on broker 0, none on 1: half of them moved is better in every trial."""
    problem = hand_problem([((0,), 10.0)] * 20, 2)
    replicas = np.array([[b % 2] for b in range(20)], dtype=np.int32)
    stands = robustness_of(problem, Verdict.REBALANCE, (replicas, replicas[:, 0]), 0.1, 0.2, seed=0)
    assert stands is not None
    assert (stands.trials, stands.noise, stands.verdict_stands) == (TRIALS, NOISE, TRIALS)
    nothing = robustness_of(problem, Verdict.NOTHING_TO_DO, (problem.replicas, problem.leader), 0.1, 0.2, seed=0)
    assert nothing is not None
    assert nothing.verdict_stands == 0
    uneven = robustness_of(problem, Verdict.NOT_FIXABLE_BY_MOVING, (problem.replicas, problem.leader), 0.1, 0.2, seed=0)
    assert uneven is not None
    assert uneven.verdict_stands == TRIALS


def test_counts_are_never_off() -> None:
    problem = hand_problem(THREE, 3, resources=("replicas",))
    assert robustness_of(problem, Verdict.REBALANCE, (problem.replicas, problem.leader), 0.1, 0.2, seed=0) is None


def answers(*states: tuple[str, int]) -> Fact:
    return fact(FactCode.NO_BROKER_ANSWERS, brokers_by_state=states)


def test_what_makes_a_cluster_unusable() -> None:
    assert nothing_usable(SNAPSHOT) == ()
    dead = brokers(3, b0=BrokerState.DEAD, b1=BrokerState.DEAD, b2=BrokerState.FENCED)
    assert nothing_usable(replace(SNAPSHOT, brokers=tuple(dead))) == (answers(("dead", 2), ("fenced", 1)),)
    silent = brokers(3, b0=BrokerState.SILENT, b1=BrokerState.DISCONNECTED, b2=BrokerState.SILENT)
    result = nothing_usable(replace(SNAPSHOT, brokers=tuple(silent)))
    assert result == (answers(("silent", 2), ("disconnected", 1)),)
    assert len(nothing_usable(cluster([], brokers(3)))) == 1
    unled = cluster([row("t", 0, (0, 1), GB, leader=None, isr=())], brokers(3))
    assert nothing_usable(unled) == (fact(FactCode.NO_PARTITION_USABLE, partitions=1),)


def test_what_was_not_seen_may_change_the_answer() -> None:
    even = [row("t", p, (p, (p + 1) % 3), GB) for p in range(3)]
    known = build_request(cluster(even, brokers(3)), PlanOptions())
    assert could_change(known, known.problem(0.1)) == ()
    hidden = replace(
        cluster(even, brokers(3)),
        coverage=(gap_of("topic", "secret", FactCode.LACKS_DESCRIPTION, "denied"),),
    )
    plan_request = build_request(hidden, PlanOptions())
    result = said(could_change(plan_request, plan_request.problem(0.1)), FactCode.MAY_BE_OUTSIDE_BAND)
    assert {args["first_hidden"] for args in result} == {"secret"}
    some = [*even, *[row("u", p, (p, (p + 1) % 3), None) for p in range(3)]]
    part = build_request(cluster(some, brokers(3)), PlanOptions())
    (reported,) = said(could_change(part, part.problem(0.1)), FactCode.FIGURE_KNOWN_FOR_FEW)
    assert reported["known_share"] == 0.5


def test_partitions_stuck_on_a_dead_broker_decide() -> None:
    rows = [row("t", p, (p, (p + 1) % 3), GB) for p in range(3)] + [row("u", 0, (3,), GB, leader=None, isr=())]
    plan_request = build_request(cluster(rows, brokers(4, b3=BrokerState.DEAD)), PlanOptions())
    stuck = fact(FactCode.LEADERLESS_ON_GONE_BROKER, broker=3, state="dead", partitions=1)
    assert stuck in could_change(plan_request, plan_request.problem(0.1))


def test_options_that_the_cluster_contradicts() -> None:
    with pytest.raises(UsageError, match="--add-broker 1:a"):
        require_brokers_fit(SNAPSHOT, PlanOptions(add_brokers={1: "a"}))
    dead = cluster(ROWS, brokers(3, b1=BrokerState.DEAD))
    with pytest.raises(UsageError, match="broker 1 is in the cluster, and dead"):
        require_brokers_fit(dead, PlanOptions(add_brokers={1: None}))
    with pytest.raises(InfeasibleError, match=r"factor_above_brokers\(replication_factor=65, brokers=3"):
        require_brokers_fit(SNAPSHOT, PlanOptions(replication_factor=65))
    require_brokers_fit(SNAPSHOT, PlanOptions(add_brokers={3: "a"}, replication_factor=64))


def test_a_target_of_what_nobody_measured_is_refused() -> None:
    with pytest.raises(UsageError, match="--target in"):
        require_measured(build_request(SNAPSHOT, PlanOptions(targets={"in": Target(0.9, 1.1)})))
    require_measured(build_request(SNAPSHOT, PlanOptions(targets={"disk": Target(0.9, 1.1)})))


def test_bytes_that_nobody_can_count_cannot_be_limited() -> None:
    unknown = cluster([ROWS[0], replace(ROWS[1], log_bytes=(None, None)), ROWS[2]], brokers(3))
    known = hand(PlanOptions(within=0.2, max_move_bytes=5 * GB), snapshot=unknown)
    with pytest.raises(InfeasibleError, match=r"sizes_unknown\(option='--max-move-bytes', partitions=1"):
        require_countable_bytes(known.plan_request, known.draft)
    measured = hand(PlanOptions(within=0.2, max_move_bytes=5 * GB))
    require_countable_bytes(measured.plan_request, measured.draft)
