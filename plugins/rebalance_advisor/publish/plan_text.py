from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kafka_rebalance.amounts import counted, format_bytes, format_ratio, format_seconds
from kafka_rebalance.facts import Fact, FactCode
from kafka_rebalance.plans.plan import Plan, find_slowest_broker
from kafka_rebalance.render import render, render_all, render_document
from kafka_rebalance.render.needed import amount_of, describe_needed
from kafka_rebalance.render.plan_reasons import PROOFS
from kafka_rebalance.render.steps import step_lines

Document = Mapping[str, Any]


def compared_resources(points: Sequence[Document], balanced: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the resources whose highest skew tells plans of a frontier apart, and those that have a skew, too.

    Compared are those that the plan balances, else all. A resource that is only watched may be uneven in a plan that
    is even, and would hide all choices.
    """
    named = sorted({name for point in points for name in point["skew"]})
    compared = [name for name in named if name in balanced] or named
    return compared, [name for name in named if name not in compared]


def highest_skew(point: Document, compared: Collection[str]) -> tuple[str, float] | None:
    """Return the resource with the highest skew of those compared, and its skew; None where no skew is known."""
    skews = [(name, skew) for name, skew in sorted(point["skew"].items()) if name in compared]
    return max(skews, key=lambda named: named[1], default=None)


def frontier_rows(points: Sequence[Document], balanced: Collection[str]) -> list[dict[str, Any]]:
    """Return the points in words. ``balanced``: the resources that the plan balances."""
    compared, _ = compared_resources(points, balanced)
    return [
        {
            "band": "none" if point["tolerance"] is None else f"±{100 * point['tolerance']:.1f} %",
            "bytes": format_bytes(point["bytes"]),
            "bound": format_bytes(point["lower_bound_bytes"]),
            "gap": describe_needed("bytes", point["bytes"], point["lower_bound_bytes"]),
            "replica_moves": f"{point['replica_moves']:,}",
            "leader_changes": f"{point['leader_changes']:,}",
            "skew": _describe_skew(highest_skew(point, compared)),
            "name": point["name"] or "",
            "is_recommended": point["is_recommended"],
            "reason": "; ".join(map(render_document, point["reasons"])),
        }
        for point in points
    ]


def frontier_lines(points: Sequence[Document], balanced: Collection[str]) -> list[str]:
    lines = []
    for point, row in zip(points, frontier_rows(points, balanced), strict=True):
        if point["name"] or point["is_recommended"]:
            title = " ".join(filter(None, (row["name"], "(this plan)" if point["is_recommended"] else "")))
            cost = f"{row['bytes']}, " if point["bytes"] is not None else ""
            lines.append(
                f"  {title:<20} {cost}{row['replica_moves']} replicas, {row['leader_changes']} leader changes: "
                f"worst {row['skew']}"
            )
    return lines


def _describe_skew(highest: tuple[str, float] | None) -> str:
    return "unknown" if highest is None else f"{format_ratio(highest[1])} ({highest[0]})"


_SHOWN_BROKERS = 5


def plan_lines(plan: Plan, uncovered: str = "") -> list[str]:
    verdict = plan.verdict.value.replace("_", " ") + (f" (does not cover {uncovered})" if uncovered else "")
    lines = [f"Verdict: {verdict}", *(f"  {reason}" for reason in render_all(plan.reasons))]
    lines += [f"  {line}" for line in step_lines(plan.document)]
    if plan.moves:
        width = max([9, *(len(outcome.resource) for outcome in plan.resources)])
        lines += [
            f"  {outcome.resource:<{width}} highest over mean {outcome.skew_before:.3f} → {outcome.skew_after:.3f}"
            for outcome in plan.resources
        ]
        lines += _once_elected(plan)
    lines += [f"  {resource} is left out: {render(why)}" for resource, why in plan.left_out.items()]
    if plan.moves:
        lines += [_cost(plan), *_bounds(plan)]
        lines += [f"  {render(change)}" for change in plan.explanations[:_SHOWN_BROKERS]]
        if len(plan.explanations) > _SHOWN_BROKERS:
            lines.append(f"  and {len(plan.explanations) - _SHOWN_BROKERS} more brokers, in the report")
    if plan.frontier:
        balanced = [outcome.resource for outcome in plan.resources if outcome.watched is None]
        points = [asdict(point) for point in plan.frontier]
        lines += ["What other allowed ranges would cost:", *frontier_lines(points, balanced)]
    if plan.robustness is not None:
        lines.append(render(Fact(FactCode.VERDICT_HOLDS, {"verdict": plan.verdict.value} | asdict(plan.robustness))))
    return lines


def _once_elected(plan: Plan) -> list[str]:
    preferred = plan.preferred_leaders
    leaders = next((outcome for outcome in plan.resources if outcome.resource == "leaders"), None)
    if preferred is None or leaders is None or not leaders.mean_level:
        return []
    if (preferred.before, preferred.after) == (leaders.before, leaders.after):
        return []
    before, after = (max(count.values()) / leaders.mean_level for count in (preferred.before, preferred.after))
    return [f"  leaders   once preferred replicas are elected {before:.3f} → {after:.3f}"]


def _cost(plan: Plan) -> str:
    cost, waves = plan.cost, len(plan.waves)
    text = (
        f"Cost: {counted(cost.replica_moves, 'replica')}, {format_bytes(cost.bytes)}, "
        f"{counted(cost.leader_changes, 'leader change')}, "
        f"{waves} wave{'' if waves == 1 else 's'}"
    )
    if cost.seconds is None:
        return text + ", time unknown"
    filling = format_seconds(cost.seconds_slot_filling)
    text += f" of {format_seconds(cost.seconds)} ({filling} for a driver that keeps slots full)"
    busiest = find_slowest_broker(plan)
    if busiest is None:
        return text
    needed = f"{format_seconds(busiest.seconds)} of {format_seconds(cost.seconds)}"
    return text + f"; slowest is broker {busiest.broker}'s {busiest.direction} throttle: {needed}"


def _bounds(plan: Plan) -> list[str]:
    lines = []
    for bound in plan.lower_bound:
        amount = getattr(plan.cost, bound.cost)
        if text := describe_needed(bound.cost, amount, bound.value):
            name = bound.cost.replace("_", " ")
            lines.append(f"  {name}: {amount_of(bound.cost, amount)}, {text} ({PROOFS[bound.proof]})")
    return lines
