"""How a finding about one broker describes the plan: text, evidence and cost, all from the plan's own moves.

Without a plan the finding says what would have to be done, and what that would cost at least.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_rebalance.amounts import amount_in_words, bytes_in_words
from kafka_rebalance.findings.context import Evidence, FindingContext
from kafka_rebalance.findings.plan_effects import NOTHING, outcome_for
from kafka_rebalance.findings.words import counted
from kafka_rebalance.resources import TABLE
from kafka_rebalance.scoring.cluster_scores import BrokerScore

LOAD_NAMES = {row.name: row.load_name for row in TABLE}


def plan_words(context: FindingContext, score: BrokerScore, otherwise: str) -> str:
    """What becomes of this load; ``otherwise``: what to do where there is no plan to speak of."""
    plan = context.plan
    if plan is None:
        return otherwise
    if not plan.moves:
        return f"the plan moves nothing ({plan.verdict.value.replace('_', ' ')})"
    loads = outcome_for(plan, score.resource, score.broker)
    if context.plan_effects.get(score.broker, NOTHING).is_nothing:
        return "the plan leaves it as it is"
    if loads is None:
        return f"the plan does not balance {score.resource}"
    before, after = loads
    if after >= before:
        return f"the plan takes nothing off it ({amount_in_words(after, score.unit)} afterwards)"
    return (
        f"the plan takes {amount_in_words(before - after, score.unit)} off it, to {amount_in_words(after, score.unit)}"
    )


def plan_evidence(context: FindingContext, scores: Sequence[BrokerScore]) -> Evidence:
    """Numbers of the plan for one broker, by resource; nothing where there is no plan."""
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


def plan_cost(context: FindingContext, broker: int, otherwise: str) -> str:
    """What leaves this broker by the plan, what is copied to it, its leader changes; without a plan ``otherwise``."""
    if context.plan is None:
        return otherwise
    effect = context.plan_effects.get(broker, NOTHING)
    if effect.is_nothing:
        return "nothing: the plan does not touch it"
    parts = []
    if effect.replicas_out:
        parts.append(f"{_amount(effect.bytes_out)} leave it")
    if effect.replicas_in:
        parts.append(f"{_amount(effect.bytes_in)} copied to it")
    changes = effect.leaders_out + effect.leaders_in
    if changes:
        parts.append(counted(changes, "leader change"))
    return ", ".join(parts)


def copied_by_plan(context: FindingContext, broker: int, otherwise: float) -> float:
    """Bytes that the plan copies from or to this broker, as far as sizes are known; without a plan ``otherwise``."""
    if context.plan is None:
        return max(otherwise, 0.0)
    effect = context.plan_effects.get(broker, NOTHING)
    return (effect.bytes_out or 0.0) + (effect.bytes_in or 0.0)


def excess(score: BrokerScore) -> float:
    """Load above the fair share, in the resource's unit."""
    return score.load - (score.fair_share or 0.0) * (score.capacity or 1.0)


def moved_away(context: FindingContext, score: BrokerScore) -> float:
    """The share of the excess that the plan takes away; without a plan all of it."""
    if context.plan is None:
        return 1.0
    loads = outcome_for(context.plan, score.resource, score.broker)
    over = excess(score)
    if loads is None or over <= 0:
        return 0.0
    return (loads[0] - loads[1]) / over


def _amount(value: float | None) -> str:
    return "an unknown size" if value is None else bytes_in_words(value)
