"""Why a plan has its verdict: what is outside its band, what a budget or the dead band allows, what pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.solution import Bounds, Widening
from kafka_rebalance.plans.dead_band import Deviation, imbalance
from kafka_rebalance.plans.outcome import Bands, Outcome
from kafka_rebalance.plans.plan import BudgetClaim
from kafka_rebalance.plans.request import PlanRequest


def within_dead_band(plan_request: PlanRequest, worst: Deviation | None, dead_band: float) -> Fact:
    """Why nothing is done: how far the furthest broker is from its share."""
    if worst is None or worst.ratio == 1.0:
        return fact(FactCode.ALL_INSIDE_BAND)
    return fact(
        FactCode.ALL_WITHIN_DEAD_BAND,
        dead_band=dead_band,
        broker=plan_request.brokers.brokers[worst.broker].id,
        resource=worst.resource,
        times_share=worst.ratio,
    )


def does_not_pay(gain: float, copied: float, total: float) -> Fact:
    """Why a plan that was found is not advised."""
    return fact(
        FactCode.DOES_NOT_PAY, copied_bytes=float(copied), copied_share=copied / total, imbalance_removed=max(gain, 0.0)
    )


def why_outside(
    plan_request: PlanRequest,
    bands: Bands,
    outcome: Outcome,
    widened: tuple[Widening, ...],
    *,
    is_proved: bool = False,
) -> tuple[Fact, ...]:
    """What is outside its band although nothing can be moved to help, and why: the smallest cause first."""
    load, stays = outcome.before, plan_request.brokers.arrays.stays
    if imbalance(bands, outcome.elected_before, stays) < imbalance(bands, load, stays):
        return (fact(FactCode.WAITS_FOR_ELECTION), *outside_band(plan_request, bands, load, when="until_elected"))
    of_side = {side: [bound for bound in widened if bound.side == side] for side in ("high", "low")}
    causes = {(bound.resource, str(bound.cause)): bound for bound in of_side["high"] or of_side["low"]}
    lines = [fact(FactCode.BAND_NOT_MET, resource=bound.resource, cause=bound.cause) for bound in causes.values()]
    proof = "whole_numbers" if is_proved else "none"
    outside = outside_band(plan_request, bands, load, proof=proof) or _outside_once_elected(
        plan_request, bands, outcome
    )
    return (*lines, *outside)


def why_rebalance(
    plan_request: PlanRequest, bands: Bands, outcome: Outcome, widened: tuple[Widening, ...]
) -> tuple[Fact, ...]:
    """What must move, which resources are outside their bands, today or once preferred replicas are elected, and what
    even this plan cannot bring inside.
    """
    facts = [*plan_request.hard, *outside_band(plan_request, bands, outcome.before)]
    facts += _outside_once_elected(plan_request, bands, outcome)
    facts += [
        fact(
            FactCode.BAND_WIDENED, resource=bound.resource, asked_times_mean=bound.asked, used_times_mean=bound.used,
            cause=bound.cause,
        )
        for bound in widened
    ]  # fmt: skip
    if plan_request.options.preferred_election:
        facts.append(fact(FactCode.PREFERRED_REPLICAS_ELECTED))
    if facts:
        return tuple(facts)
    stays = plan_request.brokers.arrays.stays
    before, after = imbalance(bands, outcome.before, stays), imbalance(bands, outcome.after, stays)
    return (fact(FactCode.IMBALANCE_CHANGES, imbalance_before=before, imbalance_after=after),)


def bounds_of_widened_bands(
    widened: tuple[Widening, ...], asked: Bounds, *, is_proved: bool = False
) -> tuple[Fact, ...]:
    """What the bounds and gaps are about where the bands asked for are not met; ``is_proved``: no plan meets them."""
    if not widened:
        return ()
    least = None if is_proved or asked.bytes.value <= 0 else float(asked.bytes.value)
    return (fact(FactCode.BOUNDS_OF_WIDENED_BANDS, is_proved=is_proved, least_bytes_as_asked=least),)


def budget_allows_nothing(plan_request: PlanRequest, bands: Bands, load: Floats) -> tuple[Fact, ...]:
    """Something is outside its band, and what would help is beyond the budget."""
    was = imbalance(bands, load, plan_request.brokers.arrays.stays)
    first = fact(FactCode.BUDGET_ALLOWS_NOTHING, **_limits(plan_request.options), imbalance=was)
    return (first, *outside_band(plan_request, bands, load))


def budget_cuts_short(plan_request: PlanRequest, bands: Bands, before: Floats, after: Floats) -> tuple[Fact, ...]:
    """What the budget buys, what remains outside, and how to go on."""
    stays = plan_request.brokers.arrays.stays
    was, left = imbalance(bands, before, stays), imbalance(bands, after, stays)
    first = fact(
        FactCode.BUDGET_CUTS_SHORT, **_limits(plan_request.options), imbalance_before=was, imbalance_after=left
    )
    outside = outside_band(plan_request, bands, after, when="after_plan")
    further = (fact(FactCode.REST_NEEDS_MORE_BUDGET),) if outside else ()
    return (first, *plan_request.hard, *outside, *further)


def election_less_even(plan_request: PlanRequest, outcome: Outcome) -> tuple[Fact, ...]:
    """That preferred leaders end less even than they were: highest over mean, of brokers that stay."""
    stays, d = plan_request.brokers.arrays.stays, outcome.column("leaders")
    asked = plan_request.options.preferred_election
    first, last = (outcome.before, outcome.after) if asked else (outcome.elected_before, outcome.elected_after)
    counts = (first[stays, d], last[stays, d])
    before, after = (float(count.max() / count.mean()) if count.any() else 0.0 for count in counts)
    if after <= before + BAND_ROUNDING:
        return ()
    return (fact(FactCode.ELECTION_LESS_EVEN, is_asked=asked, skew_before=before, skew_after=after),)


def least_imbalance_in_budget(claim: BudgetClaim | None) -> tuple[Fact, ...]:
    """What no plan within the budget comes below, where that is known to be anything."""
    if claim is None or not claim.least_imbalance:
        return ()
    return (fact(FactCode.LEAST_IMBALANCE_IN_BUDGET, imbalance=claim.least_imbalance),)


def time_notes(options: PlanOptions, seconds: float | None, throttles: Sequence[int]) -> tuple[Fact, ...]:
    """That a throttle is raised, and that a plan takes longer than it is valid; ``throttles`` of its waves."""
    notes = []
    raised = [throttle for throttle in throttles if throttle > options.throttle_bytes_per_s]
    if raised:
        notes.append(
            fact(
                FactCode.THROTTLE_RAISED,
                throttle_bytes_per_s=options.throttle_bytes_per_s,
                highest_bytes_per_s=max(raised),
                raised_waves=len(raised),
                waves=len(throttles),
            )
        )
    if seconds is not None and seconds > 3600 * options.expires_after_hours:
        notes.append(fact(FactCode.LONGER_THAN_VALID, seconds=seconds, valid_hours=options.expires_after_hours))
    return tuple(notes)


def _limits(options: PlanOptions) -> dict[str, Any]:
    return {
        "max_move_bytes": options.max_move_bytes,
        "max_moves": options.max_moves,
        "max_leader_changes": options.max_leader_changes,
        "max_hours": options.max_hours,
    }


def outside_band(plan_request: PlanRequest, bands: Bands, load: Floats, **said: str) -> tuple[Fact, ...]:
    """For each resource outside its band the broker that is furthest out; ``said``: of which state, with what proof."""
    stays = plan_request.brokers.arrays.stays
    facts = []
    for d, name in enumerate(plan_request.resources):
        capacity = plan_request.brokers.arrays.capacity.get(name, np.ones(len(load)))
        mean = bands.mean[d] * capacity
        over = np.where(stays, load[:, d] - bands.high[:, d], -np.inf)
        under = np.where(stays, bands.low[:, d] - load[:, d], -np.inf)
        for distance, side in ((over, "high"), (under, "low")):
            b = int(distance.argmax())
            if distance[b] > 1e-9 * max(float(mean.max()), 1e-12):
                facts.append(
                    fact(
                        FactCode.BROKERS_OUTSIDE_BAND,
                        resource=name,
                        side=side,
                        brokers=int((distance > 1e-9 * max(float(mean.max()), 1e-12)).sum()),
                        furthest_broker=plan_request.brokers.brokers[b].id,
                        times_mean=float(load[b, d] / mean[b]) if mean[b] > 0 else 0.0,
                        **said,
                    )
                )
    return tuple(facts)


def _outside_once_elected(plan_request: PlanRequest, bands: Bands, outcome: Outcome) -> tuple[Fact, ...]:
    """As ``outside_band``, of resources that an election of preferred replicas changes."""
    changes = ~np.isclose(outcome.elected_before, outcome.before, rtol=BAND_ROUNDING, atol=0.0).all(axis=0)
    low, high = np.where(changes, bands.low, -np.inf), np.where(changes, bands.high, np.inf)
    return outside_band(plan_request, replace(bands, low=low, high=high), outcome.elected_before, when="once_elected")
