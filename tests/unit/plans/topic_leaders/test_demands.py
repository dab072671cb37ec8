from __future__ import annotations

import numpy as np

from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import TopicBrokers, TopicLeaders
from kafka_rebalance.plans.draft import draft_of, empty_draft
from kafka_rebalance.plans.explain import MoveFacts
from kafka_rebalance.plans.request import PlanRequest, build_request
from kafka_rebalance.plans.topic_leaders import explain_topic_leaders, has_least_leaders, lacking_leaders, topic_demands
from kafka_rebalance.verify.cluster import cluster_arrays
from kafka_rebalance.verify.document import read_parameters
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.survival import TooFew, too_few_leaders
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

ROWS = [row("a", p, [0, 1, 2], GB) for p in range(7)] + [row("b", p, [1, 0], GB) for p in range(2)]
SNAPSHOT = cluster(ROWS, brokers(3))


def request(*rules: tuple[str, int], **more: object) -> PlanRequest:
    asked = tuple(TopicLeaders(*rule) for rule in rules)
    return build_request(SNAPSHOT, PlanOptions(min_topic_leaders=asked, **more))  # type: ignore[arg-type]


def test_the_most_that_a_rule_asks_counts_and_no_more_than_there_is() -> None:
    demands = topic_demands(request(("a", 1), (".*", 9)))
    assert demands.topics.tolist() == [0, 1]
    assert demands.requested.tolist() == [9, 9]
    assert demands.least.tolist() == [2, 0]
    assert demands.need.tolist() == [[2, 2, 2], [0, 0, 0]]


def test_whoever_may_not_lead_or_hold_the_topic_is_not_asked() -> None:
    confined = topic_demands(request((".*", 1), topic_brokers=(TopicBrokers("b", frozenset({0, 1})),)))
    assert confined.need.tolist() == [[1, 1, 1], [1, 1, 0]]
    demoted = topic_demands(request(("a", 3), demote_brokers=frozenset({0}), exclude_topics=("b",)))
    assert demoted.need.tolist() == [[0, 3, 3]]
    assert not len(topic_demands(request()).topics)


def test_what_lacks_is_named_with_the_broker_that_lacks_most() -> None:
    plan_request = request(("a", 2))
    problem = plan_request.problem(0.1)
    assert not has_least_leaders(plan_request, problem, empty_draft(plan_request))
    leader = problem.leader.copy()
    leader[:2] = 1
    assert has_least_leaders(request(), problem, empty_draft(plan_request))
    error = lacking_leaders(plan_request, problem, leader)
    assert isinstance(error, InfeasibleError)
    args = error.cause.args
    assert (args["broker"], args["topic"], args["leaders"], args["asked"]) == (2, "a", 0, 2)
    leader[2:4] = 2
    error = lacking_leaders(plan_request, problem, leader)
    assert error.cause.code is FactCode.TOPIC_LEADERS_BREAK_LIMITS


def test_only_moves_that_a_broker_needs_say_so() -> None:
    """Two to 1, which needs them; three to 2, any of which could stay."""
    plan_request = request(("a", 2))
    problem = plan_request.problem(0.1)
    leader = problem.leader.copy()
    leader[:5] = [1, 1, 2, 2, 2]
    lists = problem.replicas.copy()
    for p in range(5):
        lists[p] = [leader[p], *(b for b in range(3) if b != leader[p])]
    draft = draft_of(plan_request, lists, leader)
    other = fact(FactCode.SEPARATES_RACKS)
    why = MoveFacts([other] * 5, [other] * 5)
    explain_topic_leaders(plan_request, problem, draft, why)
    of = {"broker": 1, "topic": "a", "wanted": 2}
    assert why.reasons == [fact(FactCode.HAS_TOPIC_LEADERS, **of)] * 2 + [other] * 3
    assert why.worse_without == [fact(FactCode.LEADS_TOO_FEW, **of, leaders=1)] * 2 + [other] * 3


def test_the_verifier_counts_alike_by_itself() -> None:
    """Both name the same brokers on the same clusters and rules."""
    draw = np.random.default_rng(1)
    for asked in ((("a", 2),), ((".*", 9),), (("b", 1), ("a", 1)), (("c", 1),)):
        plan_request = request(*asked)
        problem, demands = plan_request.problem(0.1), topic_demands(plan_request)
        parameters = read_parameters(
            plan_request.options.document() | {"moves_per_broker": 1, "partitions_per_wave": 1}, FaultList()
        )
        assert parameters is not None
        arrays = cluster_arrays(SNAPSHOT, parameters)
        for _ in range(10):
            leader = np.where(problem.topic == 0, draw.integers(0, 3, 9), draw.integers(0, 2, 9)).astype(np.int32)
            result = too_few_leaders(arrays, parameters, leader)
            lacking = demands.of_rows(problem.topic).lacking(leader)
            assert (result is not None) is bool(lacking.any())
            if isinstance(result, TooFew):
                assert lacking["ab".index(result.topic), result.broker] == result.least - result.led
