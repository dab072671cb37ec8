"""The stage ``topic_leaders``: give every broker the leaders that ``--min-topic-leaders`` requests.

Of each allowed topic every eligible broker leads at least ``n`` partitions, by the largest matching rule. Eligible
brokers stay, may receive leaders and replicas, and may hold the topic (``--topic-brokers``). With too few led
partitions each gets the rounded-down share. Example: ``t.*=2``, 5 partitions, 4 brokers: one each.

Promises, in order: the draft has all of them; it keeps every budget and cap; where lists may be reordered, the next
preferred election keeps them and the bands; a balance plan that has them is unchanged; if it cannot get them, the
search starts from today's placement. If both fail, InfeasibleError names topic, broker and deficit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Ints, Longs
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.planner.params import TopicLeaderParams
from kafka_rebalance.planner.placed import in_kafka_order
from kafka_rebalance.planner.solve import elected_leaders, leaders_first
from kafka_rebalance.planner.topic_leaders import LeaderDemand, Led, with_least_leaders
from kafka_rebalance.plans.budget import keeps_hours
from kafka_rebalance.plans.dead_band import evens_out, imbalance
from kafka_rebalance.plans.draft import Draft, bands_of, draft_of, empty_draft, in_problem_rows, outcome_of
from kafka_rebalance.plans.explain import MoveFacts, over_caps
from kafka_rebalance.plans.failures import with_follower_order
from kafka_rebalance.plans.params import PlanParams
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.state import PlanState


@dataclass(frozen=True, slots=True, eq=False)
class TopicDemands:
    """``topics`` int64[T] in the snapshot, ``requested`` and ``least`` leaders on each of ``eligible`` bool[T, B].
    ``least`` is below ``requested`` where partitions are too few.
    """

    topics: Longs
    requested: Longs
    least: Longs
    eligible: Flags

    @property
    def need(self) -> Longs:
        return np.asarray(self.least[:, None] * self.eligible)

    def of_rows(self, topic_of_row: Ints) -> LeaderDemand:
        number = np.full(int(max(topic_of_row.max(initial=0), self.topics.max(initial=0))) + 1, ABSENT, np.int32)
        number[self.topics] = np.arange(len(self.topics))
        return LeaderDemand(self.need, number[topic_of_row])


def topic_demands(plan_request: PlanRequest) -> TopicDemands:
    options, arrays = plan_request.options, plan_request.brokers.arrays
    placement, names = plan_request.partitions.placement, [topic.name for topic in plan_request.snapshot.topics]
    open_to = arrays.takes_leaders & arrays.takes_replicas
    led = np.bincount(placement.topic[placement.leader != ABSENT], minlength=len(names))
    rows = []
    for number, name in enumerate(names if options.min_topic_leaders else ()):
        requested = max((rule.leaders for rule in options.min_topic_leaders if rule.covers(name)), default=0)
        if not requested or not options.is_topic_allowed(name):
            continue
        mine = [rule for rule in options.topic_brokers if rule.covers(name)]
        may = [all(rule.allows(broker.id, broker.rack) for rule in mine) for broker in plan_request.brokers.brokers]
        eligible = open_to & np.array(may, dtype=np.bool_)
        least = min(requested, int(led[number]) // max(int(eligible.sum()), 1))
        rows.append((number, requested, least, eligible))
    return TopicDemands(
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array([row[2] for row in rows], dtype=np.int64),
        np.array([row[3] for row in rows], dtype=np.bool_).reshape(len(rows), len(arrays.ids)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class LeastLed:
    """``reasons``: the changes for it."""

    draft: Draft
    reasons: tuple[Fact, ...]


class LeadTopics:
    name = "topic_leaders"

    def applies(self, state: PlanState) -> bool:
        return state.is_possible and bool(state.options.min_topic_leaders)

    def run(self, state: PlanState) -> PlanState:
        state.progress("leaders of topics")
        kept = with_topic_leaders(state.request, state.problem, state.draft, state.params)
        return state.changed_by_rule(kept.draft, kept.reasons)


def has_least_leaders(plan_request: PlanRequest, problem: Problem, draft: Draft) -> bool:
    if not plan_request.options.min_topic_leaders:
        return True
    _, leader = in_problem_rows(draft, problem.replicas, problem.leader)
    return not topic_demands(plan_request).of_rows(problem.topic).lacking(leader).any()


def with_topic_leaders(plan_request: PlanRequest, problem: Problem, draft: Draft, params: PlanParams) -> LeastLed:
    """Raises InfeasibleError where no plan was found."""
    demands = topic_demands(plan_request)
    if has_least_leaders(plan_request, problem, draft):
        lists, leader = in_problem_rows(draft, problem.replicas, problem.leader)
        lasting = _lasting(plan_request, problem, demands, draft, lists, leader)
        return LeastLed(lasting, _leader_facts(plan_request, demands))
    nearest: Led | None = None
    for start in (draft.without(np.flatnonzero(draft.is_reorder)), empty_draft(plan_request)):
        if nearest is not None and (not len(draft) or plan_request.hard):
            continue
        led = _searched(problem, demands, start, params.solve.topic_leaders)
        other = _draft_of(plan_request, problem, demands, led)
        if not led.lacking and _is_lawful(plan_request, problem, other, params):
            return LeastLed(other, (_changed(draft, other), *_leader_facts(plan_request, demands)))
        if nearest is None or (led.lacking, not led.is_proved) < (nearest.lacking, not nearest.is_proved):
            nearest = led
    assert nearest is not None
    raise lacking_leaders(plan_request, problem, nearest.leader, is_proved=nearest.is_proved)


def _searched(problem: Problem, demands: TopicDemands, start: Draft, params: TopicLeaderParams) -> Led:
    lists, leader = in_problem_rows(start, problem.replicas, problem.leader)
    lists = lists[:, : problem.replicas.shape[1]]
    return with_least_leaders(problem, demands.of_rows(problem.topic), lists, leader, params)


def _draft_of(plan_request: PlanRequest, problem: Problem, demands: TopicDemands, led: Led) -> Draft:
    lists, leader = in_kafka_order(problem, led.lists, _index_of(led.lists, led.leader))
    leader = np.where(led.leader < 0, led.leader, leader)
    draft = with_follower_order(plan_request, draft_of(plan_request, lists, leader))
    return _lasting(plan_request, problem, demands, draft, lists, leader)


def _lasting(
    plan_request: PlanRequest, problem: Problem, demands: TopicDemands, draft: Draft, lists: Ints, leader: Ints
) -> Draft:
    """Leaders first in their lists where the next election would harm it."""
    first = leaders_first(problem, lists, leader)
    if np.array_equal(first, lists):
        return draft
    other = with_follower_order(plan_request, draft_of(plan_request, first, leader))
    demand, bands, stays = demands.of_rows(problem.topic), bands_of(problem), plan_request.brokers.arrays.stays

    def lost(which: Draft, replicas: Ints) -> tuple[int, float]:
        elected = elected_leaders(problem, replicas, leader)
        states = outcome_of(plan_request, which).states_after
        return int(demand.lacking(elected).sum()), round(max(imbalance(bands, load, stays) for load in states), 6)

    return other if lost(other, first) < lost(draft, lists) else draft


def _index_of(lists: Ints, leader: Ints) -> Ints:
    return np.asarray((lists == leader[:, None]).argmax(axis=1), dtype=np.int32)


def _is_lawful(plan_request: PlanRequest, problem: Problem, draft: Draft, params: PlanParams) -> bool:
    outcome = outcome_of(plan_request, draft)
    if over_caps(plan_request, outcome.after_by_resource) or not keeps_hours(plan_request, draft, params):
        return False
    if not len(draft) or plan_request.hard or not has_least_leaders(plan_request, problem, empty_draft(plan_request)):
        return True
    return evens_out(bands_of(problem), outcome, plan_request.brokers.arrays.stays)


def lacking_leaders(
    plan_request: PlanRequest, problem: Problem, leader: Ints, *, is_proved: bool = False
) -> InfeasibleError:
    demands, options = topic_demands(plan_request), plan_request.options
    demand = demands.of_rows(problem.topic)
    lacking = demand.lacking(leader)
    if not lacking.any():
        return InfeasibleError(fact(FactCode.TOPIC_LEADERS_BREAK_LIMITS), fact(FactCode.RAISE_CAP_OR_HOURS))
    topic, broker = np.unravel_index(int(lacking.argmax()), lacking.shape)
    return InfeasibleError(
        fact(
            FactCode.TOPIC_LEADERS_LACKING,
            broker=int(plan_request.brokers.arrays.ids[broker]),
            topic=plan_request.snapshot.topics[int(demands.topics[topic])].name,
            leaders=int(demand.led(leader)[topic, broker]),
            asked=int(demands.least[topic]),
            lacking_in_all=int(lacking.sum()),
            is_limited=options.has_budget or not options.moves_replicas,
            is_proved=is_proved,
        ),
        fact(FactCode.ASK_FEWER_LEADERS),
    )


def _leader_facts(plan_request: PlanRequest, demands: TopicDemands) -> tuple[Fact, ...]:
    if not len(demands.topics):
        return (fact(FactCode.TOPIC_LEADERS_ASKED_OF_NONE),)
    kept = fact(FactCode.TOPIC_LEADERS_KEPT, topics=len(demands.topics))
    fewer = np.flatnonzero(demands.least < demands.requested)
    if not len(fewer):
        return (kept,)
    first = int(fewer[0])
    return (
        kept,
        fact(
            FactCode.TOPIC_LEADERS_FEWER_THAN_ASKED,
            topics=len(fewer),
            first=plan_request.snapshot.topics[int(demands.topics[first])].name,
            leaders=int(demands.least[first]),
            asked=int(demands.requested[first]),
        ),
    )


def _changed(was: Draft, draft: Draft) -> Fact:
    return fact(
        FactCode.CHANGED_FOR_TOPIC_LEADERS,
        replica_moves=int(draft.copies.sum()),
        leader_changes=int(draft.changes_leader.sum()),
        replica_moves_for_balance=int(was.copies.sum()) if len(was) else None,
        leader_changes_for_balance=int(was.changes_leader.sum()) if len(was) else None,
    )


# Reasons of moves: the broker that leads too few without the move.


def explain_topic_leaders(plan_request: PlanRequest, problem: Problem, draft: Draft, why: MoveFacts) -> None:
    if not plan_request.options.min_topic_leaders or not len(draft):
        return
    demands = topic_demands(plan_request)
    demand = demands.of_rows(problem.topic)
    _, leader = in_problem_rows(draft, problem.replicas, problem.leader)
    led = demand.led(leader)
    for move in np.flatnonzero(draft.changes_leader).tolist():
        topic, broker = int(demand.of_partition[draft.problem_row[move]]), int(draft.leader_to[move])
        if topic < 0 or not 0 < led[topic, broker] <= demand.need[topic, broker]:
            continue
        least = int(demands.least[topic])
        of = {
            "broker": int(plan_request.brokers.arrays.ids[broker]),
            "topic": plan_request.snapshot.topics[int(demands.topics[topic])].name,
            "wanted": least,
        }
        why.reasons[move] = fact(FactCode.HAS_TOPIC_LEADERS, **of)
        why.worse_without[move] = fact(FactCode.LEADS_TOO_FEW, **of, leaders=least - 1)
