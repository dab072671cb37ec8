"""Effect of a plan on one broker; without a plan the remedy and its least cost."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.findings.context import NOTHING, Evidence, FindingContext, outcome_for
from kafka_rebalance.resources import TABLE
from kafka_rebalance.scoring.scores import BrokerScore

LOAD_NAMES = {row.name: row.load_name for row in TABLE}


def plan_outcome(context: FindingContext, score: BrokerScore, otherwise: Fact) -> Fact:
    plan = context.plan
    if plan is None:
        return otherwise
    if not plan.moves:
        return fact(FactCode.PLAN_MOVES_NOTHING, verdict=plan.verdict.value)
    loads = outcome_for(plan, score.resource, score.broker)
    if context.plan_effects.get(score.broker, NOTHING).is_nothing:
        return fact(FactCode.PLAN_LEAVES_BROKER)
    if loads is None:
        return fact(FactCode.PLAN_LEAVES_RESOURCE, resource=score.resource)
    return fact(FactCode.PLAN_CHANGES_LOAD, resource=score.resource, before=loads[0], after=loads[1])


def plan_evidence(context: FindingContext, scores: Sequence[BrokerScore]) -> Evidence:
    if context.plan is None or not scores:
        return {}
    effect = context.plan_effects.get(scores[0].broker, NOTHING)
    evidence: Evidence = {
        "plan_replicas_out": effect.replicas_out,
        "plan_bytes_out": effect.bytes_out,
        "plan_replicas_in": effect.replicas_in,
        "plan_bytes_in": effect.bytes_in,
        "plan_leaders_out": effect.leaders_out,
        "plan_leaders_in": effect.leaders_in,
    }
    for score in scores:
        loads = outcome_for(context.plan, score.resource, score.broker)
        evidence[f"plan_after_{LOAD_NAMES[score.resource]}"] = None if loads is None else loads[1]
    return evidence


def plan_cost(context: FindingContext, broker: int, otherwise: Fact) -> Fact:
    if context.plan is None:
        return otherwise
    effect = context.plan_effects.get(broker, NOTHING)
    return fact(
        FactCode.PLAN_TOUCHES_BROKER,
        replicas_out=effect.replicas_out,
        bytes_out=effect.bytes_out,
        replicas_in=effect.replicas_in,
        bytes_in=effect.bytes_in,
        leader_changes=effect.leaders_out + effect.leaders_in,
    )


def copied_by_plan(context: FindingContext, broker: int, otherwise: float) -> float:
    if context.plan is None:
        return max(otherwise, 0.0)
    effect = context.plan_effects.get(broker, NOTHING)
    return (effect.bytes_out or 0.0) + (effect.bytes_in or 0.0)


def excess(score: BrokerScore) -> float:
    return score.load - (score.fair_share or 0.0) * (score.capacity or 1.0)


def moved_away(context: FindingContext, score: BrokerScore) -> float:
    if context.plan is None:
        return 1.0
    loads = outcome_for(context.plan, score.resource, score.broker)
    over = excess(score)
    if loads is None or over <= 0:
        return 0.0
    return (loads[0] - loads[1]) / over
