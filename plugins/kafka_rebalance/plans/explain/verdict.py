"""The reasons of a verdict, in sentences with numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kafka_rebalance.amounts import amount_in_words, bytes_in_words, seconds_in_words
from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.solution import Bounds, Widening
from kafka_rebalance.plans.dead_band import Deviation, imbalance
from kafka_rebalance.plans.explain.outside_band import causes
from kafka_rebalance.plans.outcome import Bands, Outcome
from kafka_rebalance.plans.plan import BudgetClaim
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.resources import ROWS


def deviation_words(plan_request: PlanRequest, worst: Deviation | None, dead_band: float) -> str:
    """Why nothing is done: how far the furthest broker is from its share."""
    if worst is None or worst.ratio == 1.0:
        return "every broker is inside its band"
    broker = plan_request.brokers.brokers[worst.broker].id
    return (
        f"every broker is within {dead_band:.0%} of its share; furthest is broker {broker}: "
        f"its {ROWS[worst.resource].words} {worst.ratio:.2f} × its share"
    )


def infeasible_words(error: InfeasibleError) -> tuple[str, ...]:
    """The smallest cause, and what would help."""
    return (error.cause, *((error.relaxation,) if error.relaxation else ()))


def pay_words(gain: float, copied: float, total: float) -> str:
    """Why a plan that was found is not advised."""
    return (
        f"a plan would not pay: it copies {bytes_in_words(copied)} ({copied / total:.1%} of all) "
        f"and takes {max(gain, 0.0):.3g} off the imbalance (share of load outside its band, summed over resources)"
    )


def outside_words(
    plan_request: PlanRequest,
    bands: Bands,
    outcome: Outcome,
    widened: tuple[Widening, ...],
    *,
    is_proved: bool = False,
) -> tuple[str, ...]:
    """What stands outside its band although nothing can be moved to help, and why: the smallest cause first."""
    load, stays = outcome.before, plan_request.brokers.arrays.stays
    if imbalance(bands, outcome.elected_before, stays) < imbalance(bands, load, stays):
        first = "leaders are more even once first replicas that are out of sync have caught up and are elected: wait"
        return (first, *_worst_lines(plan_request, bands, load, "until then"))
    lines = [f"{bound.resource}: {bound.cause}" for bound in widened if bound.side == "high"]
    lines += [f"{bound.resource}: {bound.cause}" for bound in widened if bound.side == "low"] if not lines else []
    outside = _worst_lines(
        plan_request,
        bands,
        load,
        "and no plan is inside all bands" if is_proved else "and no move that was found helps",
    )
    if not outside:
        outside = _worst_once_elected(plan_request, bands, outcome)
    return (*dict.fromkeys(lines), *outside)


def rebalance_words(
    plan_request: PlanRequest, bands: Bands, outcome: Outcome, widened: tuple[Widening, ...]
) -> tuple[str, ...]:
    """What must move, which resources are outside their bands, today or once preferred replicas are elected, and what
    even this plan cannot bring inside.
    """
    lines = [*plan_request.hard, *_worst_lines(plan_request, bands, outcome.before, "")]
    lines += _worst_once_elected(plan_request, bands, outcome)
    lines += causes(widened)
    if plan_request.options.preferred_election:
        lines.append("leadership goes back to the first replica of each list")
    return tuple(lines) or (_improvement(plan_request, bands, outcome.before, outcome.after),)


def widened_bounds_words(widened: tuple[Widening, ...], asked: Bounds, *, is_proved: bool = False) -> tuple[str, ...]:
    """What the printed bounds and gaps are about where the bands asked for are not met; ``is_proved``: no plan meets
    them.
    """
    if not widened:
        return ()
    if is_proved:
        words = "bounds and gaps are for the bands as widened: no plan meets those asked for"
        return (f"{words} (proved by a program in whole numbers)",)
    least = asked.bytes.value
    known = f"none that met those asked for could copy less than {bytes_in_words(least)}" if least > 0 else ""
    return (
        "bounds and gaps are for the bands as widened, not for those asked for, which no plan that was found meets"
        + (f": {known}" if known else ""),
    )


def nothing_within_budget_words(plan_request: PlanRequest, bands: Bands, load: Floats) -> tuple[str, ...]:
    """Something stands outside, and what would help is beyond the budget."""
    was = imbalance(bands, load, plan_request.brokers.arrays.stays)
    first = (
        f"the budget ({_limits(plan_request)}) allows no move and no leader change that lowers the imbalance "
        f"({was:.3g}: share of load outside its band, summed over resources)"
    )
    return (first, *_worst_lines(plan_request, bands, load, ""))


def within_budget_words(plan_request: PlanRequest, bands: Bands, before: Floats, after: Floats) -> tuple[str, ...]:
    """What the budget buys, what remains outside, and how to go on."""
    stays = plan_request.brokers.arrays.stays
    was, left = imbalance(bands, before, stays), imbalance(bands, after, stays)
    first = (
        f"within the budget ({_limits(plan_request)}) imbalance (share of load outside its band, summed over "
        f"resources) goes from {was:.3g} to {left:.3g}"
    )
    lines = _worst_lines(plan_request, bands, after, "after this plan")
    further = "what is left needs more than the budget: plan again afterwards, with this plan as --previous"
    return (first, *plan_request.hard, *lines, *([further] if lines else []))


def election_words(plan_request: PlanRequest, outcome: Outcome) -> tuple[str, ...]:
    """That preferred leaders end less even than they were: highest over mean, of brokers that stay."""
    stays, d = plan_request.brokers.arrays.stays, outcome.column("leaders")
    asked = plan_request.options.preferred_election
    first, last = (outcome.before, outcome.after) if asked else (outcome.elected_before, outcome.elected_after)
    counts = (first[stays, d], last[stays, d])
    before, after = (float(count.max() / count.mean()) if count.any() else 0.0 for count in counts)
    if after <= before + BAND_ROUNDING:
        return ()
    words = "once preferred replicas are elected, leaders are less even than "
    words += "today (a plan without --preferred-election reorders lists instead)" if asked else "without this plan"
    return (f"{words}: highest over mean {before:.2f}, afterwards {after:.2f}",)


def least_imbalance_words(claim: BudgetClaim | None) -> tuple[str, ...]:
    """What nobody can do better within the budget, where that is known to be anything."""
    if claim is None or not claim.least_imbalance:
        return ()
    return (f"no plan within the budget can come below an imbalance of {claim.least_imbalance:.3g} (weak duality)",)


def time_words(options: PlanOptions, seconds: float | None, throttles: Sequence[int]) -> tuple[str, ...]:
    """That a throttle is raised, and that a plan takes longer than it is valid; ``throttles`` of its waves."""
    words = []
    raised = [throttle for throttle in throttles if throttle > options.throttle_bytes_per_s]
    if raised:
        waves = f"{len(raised):,} of {len(throttles):,} wave{'s' * (len(throttles) > 1)}"
        given, most = (amount_in_words(rate, "bytes/s") for rate in (options.throttle_bytes_per_s, max(raised)))
        words.append(
            f"the throttle of {given} is below what partitions that move take in meanwhile, and their copies would "
            f"never catch up: {waves} use{'s' * (len(raised) == 1)} up to {most}"
        )
    if seconds is not None and seconds > 3600 * options.expires_after_hours:
        words.append(
            f"the plan takes {seconds_in_words(seconds)} at the throttle, longer than it is valid "
            f"({options.expires_after_hours:,} h): raise --throttle, or plan again from time to time with this plan as "
            "--previous"
        )
    return tuple(words)


def _limits(plan_request: PlanRequest) -> str:
    options = plan_request.options
    texts = (
        "" if options.max_move_bytes is None else f"at most {bytes_in_words(options.max_move_bytes)}",
        "" if options.max_moves is None else f"at most {options.max_moves:,} replica moves",
        "" if options.max_leader_changes is None else f"at most {options.max_leader_changes:,} leader changes",
        "" if options.max_hours is None else f"at most {options.max_hours:g} h at the throttle",
    )
    return ", ".join(text for text in texts if text)


def _worst_lines(plan_request: PlanRequest, bands: Bands, load: Floats, ending: str) -> tuple[str, ...]:
    """For each resource outside its band the broker that is furthest out."""
    stays = plan_request.brokers.arrays.stays
    lines = []
    for d, name in enumerate(plan_request.resources):
        capacity = plan_request.brokers.arrays.capacity.get(name, np.ones(len(load)))
        mean = bands.mean[d] * capacity
        over = np.where(stays, load[:, d] - bands.high[:, d], -np.inf)
        under = np.where(stays, bands.low[:, d] - load[:, d], -np.inf)
        for side, words in ((over, "above"), (under, "below")):
            b = int(side.argmax())
            if side[b] > 1e-9 * max(float(mean.max()), 1e-12):
                count = int((side > 1e-9 * max(float(mean.max()), 1e-12)).sum())
                ratio = load[b, d] / mean[b] if mean[b] > 0 else 0.0
                lines.append(
                    f"{name}: {count} broker{'s' if count > 1 else ''} {words} the band, furthest broker "
                    f"{plan_request.brokers.brokers[b].id} at {ratio:.2f} × the mean"
                    + (f", {ending}" if ending else "")
                )
    return tuple(lines)


def _worst_once_elected(plan_request: PlanRequest, bands: Bands, outcome: Outcome) -> tuple[str, ...]:
    """As ``_worst_lines``, of resources that an election of preferred replicas changes."""
    changes = ~np.isclose(outcome.elected_before, outcome.before, rtol=BAND_ROUNDING, atol=0.0).all(axis=0)
    low, high = np.where(changes, bands.low, -np.inf), np.where(changes, bands.high, np.inf)
    ending = "once preferred replicas are elected"
    return _worst_lines(plan_request, replace(bands, low=low, high=high), outcome.elected_before, ending)


def _improvement(plan_request: PlanRequest, bands: Bands, before: Floats, after: Floats) -> str:
    stays = plan_request.brokers.arrays.stays
    was, will_be = imbalance(bands, before, stays), imbalance(bands, after, stays)
    return f"imbalance (share of load outside its band, summed over resources) {was:.3g}, afterwards {will_be:.3g}"
