"""The plan on the page: how good it is, what more or less balance would cost, brokers, waves, moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_rebalance.amounts import (
    amount_in_words,
    bytes_in_words,
    ratio_in_words,
    seconds_in_words,
)
from kafka_rebalance.facts import BoundProof, Fact
from kafka_rebalance.render import render, render_document
from kafka_rebalance.render.needed import amount_of, needed_words
from kafka_rebalance.render.plan_reasons import PROOFS
from rebalance_advisor.publish.charts.broker_levels import (
    band_of,
    broker_levels_chart,
    broker_rows,
)
from rebalance_advisor.publish.charts.drawing import Specification, svg_of
from rebalance_advisor.publish.charts.frontier import frontier_chart, frontier_label
from rebalance_advisor.publish.charts.wave_times import wave_times_chart
from rebalance_advisor.publish.frontier_rows import frontier_rows

Document = Mapping[str, Any]
MOST_MOVES = 1000
COST_NAMES = {
    "bytes": "bytes copied",
    "replica_moves": "replicas moved",
    "leader_changes": "leader changes",
    "seconds": "time",
}


def plan_section(advisory: Document) -> dict[str, Any]:
    """What the template prints of the plan."""
    plan = advisory["plan"]
    return {
        "reasons": [render_document(reason) for reason in plan["reasons"]],
        "bounds": bound_rows(plan),
        "frontier": frontier_rows(plan["frontier"]),
        "frontier_svg": _drawn(
            frontier_chart(plan["frontier"]), frontier_label(plan["frontier"]) if plan["frontier"] else ""
        ),
        "resources": [_resource(plan, outcome) for outcome in plan["resources"]] if plan["moves"] else [],
        "waves": _waves(plan),
        "waves_svg": _drawn(
            wave_times_chart(plan["waves"]),
            f"{len(plan['waves'])} waves, {seconds_in_words(plan['cost']['seconds'])} in all",
        ),
        "moves": largest_moves(plan),
        "more_moves": max(0, len(plan["moves"]) - MOST_MOVES),
    }


def _drawn(specification: Specification | None, label: str) -> str:
    return "" if specification is None else svg_of(specification, label)


def bound_rows(plan: Document) -> list[dict[str, str]]:
    """Each cost beside what nobody can do below."""
    rows = []
    for bound in plan["lower_bound"]:
        name = bound["cost"]
        amount = plan["cost"].get(name)
        rows.append(
            {
                "name": COST_NAMES.get(name, name),
                "cost": amount_of(name, amount),
                "bound": amount_of(name, bound["value"]),
                "gap": needed_words(name, amount, bound["value"]) or "none is proved",
                "proof": PROOFS[BoundProof(bound["proof"])],
            }
        )
    return rows


def _resource(plan: Document, outcome: Document) -> dict[str, Any]:
    """One chart, and the same in words for who reads no chart."""
    rows = broker_rows(plan, outcome)
    unit, many = outcome["unit"], len(plan["before"][outcome["resource"]])
    low, high = band_of(outcome)
    skews = f"{ratio_in_words(outcome['skew_before'])} → {ratio_in_words(outcome['skew_after'])}"
    return {
        "name": outcome["resource"],
        "skews": skews,
        "band": _band_words(low, high, is_widened=any(edge is not None for edge in outcome["widened_to"])),
        "note": f"{len(rows)} of {many} brokers, furthest from the mean" if many > len(rows) else "",
        "svg": svg_of(broker_levels_chart(rows, (low, high)), f"{outcome['resource']}: highest over mean {skews}"),
        "rows": [
            {
                "broker": row["broker"],
                "before": f"{amount_in_words(row['load_before'], unit)} ({ratio_in_words(row['before'])})",
                "after": f"{amount_in_words(row['load_after'], unit)} ({ratio_in_words(row['after'])})",
            }
            for row in rows
        ],
    }


def _band_words(low: float | None, high: float | None, *, is_widened: bool) -> str:
    if low is None and high is None:
        return ""
    edges = f"{0 if low is None else low:.2f} to {'any' if high is None else f'{high:.2f}'}"
    return f"band {edges}{', widened to what can be met' if is_widened else ''}"


def _waves(plan: Document) -> list[dict[str, str]]:
    return [
        {
            "name": f"{number:02d}",
            "moves": f"{len(wave['moves']):,}",
            "bytes": bytes_in_words(wave["bytes"]),
            "seconds": seconds_in_words(wave["seconds"]),
            "throttle": f"{bytes_in_words(wave['throttle_bytes_per_s'])}/s",
        }
        for number, wave in enumerate(plan["waves"], start=1)
    ]


def largest_moves(plan: Document) -> list[dict[str, Any]]:
    """The first ``MOST_MOVES`` by bytes, unknown sizes first: they may be the largest."""
    by_size = sorted(
        plan["moves"],
        key=lambda move: (move["bytes"] is not None, -(move["bytes"] or 0), move["wave"], move["topic"]),
    )
    return [
        {
            "partition": f"{move['topic']}-{move['partition']}",
            "from": ", ".join(map(str, move["from"])),
            "to": ", ".join(map(str, move["to"])),
            "leader": str(move["leader_to"])
            if move["leader_from"] == move["leader_to"]
            else f"{'none' if move['leader_from'] is None else move['leader_from']} → {move['leader_to']}",
            "bytes": bytes_in_words(move["bytes"]),
            "wave": f"{move['wave']:02d}",
            "reason": render(Fact.from_document(move["reason"])),
        }
        for move in by_size[:MOST_MOVES]
    ]
