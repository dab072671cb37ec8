from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kafka_assignors.visible_text import visible_json
from kafka_rebalance.amounts import counted, format_bytes, format_percent, format_seconds
from kafka_rebalance.plans.applied import AppliedPlan, MoveState
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.render.checks import APPLY_STATES
from rebalance_advisor.publish.escape import markdown_text

OUTCOME_FILES = ("outcome.json", "outcome.md")
_MOST_MOVES_SHOWN = 50
_STATE_TEXTS = {
    MoveState.APPLIED: "done", MoveState.PLACED: "replicas there, leader not elected", MoveState.MOVING: "under way",
    MoveState.OPEN: "nothing has happened", MoveState.ELSEWHERE: "moved by somebody else",
    MoveState.GONE: "not there any more",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Carried:
    """Approval and duration: ``told`` by that person, or ``at_most``."""

    application_id: str
    answered_by: str | None
    verified_at: str | None
    realised_seconds: float | None
    seconds_basis: str | None


def outcome_files(plan: Plan, applied: AppliedPlan, carried: Carried) -> dict[str, bytes]:
    document = outcome_document(plan, applied, carried)
    text = visible_json(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)) + "\n"
    return dict(zip(OUTCOME_FILES, (text.encode(), render_outcome(plan, applied, carried).encode()), strict=True))


def outcome_document(plan: Plan, applied: AppliedPlan, carried: Carried) -> dict[str, Any]:
    return {
        "format_version": 1,
        "plan_id": plan.plan_id,
        "cluster": plan.cluster,
        "application_id": carried.application_id,
        "answered_by": carried.answered_by,
        "verified_at": carried.verified_at,
        "state": applied.state.value,
        "text": APPLY_STATES[applied.state],
        "moves": {state.value: count for state, count in applied.counts.items()},
        "not_applied": [
            {"topic": move.topic, "partition": move.partition, "wave": move.wave, "state": state.value}
            for move, state in zip(plan.moves, applied.states, strict=True)
            if state is not MoveState.APPLIED
        ],
        "short_isr": list(applied.short_isr),
        "throttles": [{"subject": subject, "setting": key} for subject, key in applied.throttles],
        "bytes": {
            "predicted": applied.predicted_bytes,
            "realised": applied.realised_bytes,
            "unsized_moves": applied.unsized_moves,
            "brokers": [
                {"broker": row.broker, "predicted": row.predicted_bytes, "realised": row.realised_bytes}
                for row in applied.brokers
            ],
        },
        "seconds": {
            "predicted": plan.cost.seconds, "realised": carried.realised_seconds, "basis": carried.seconds_basis,
        },
    }  # fmt: skip


def render_outcome(plan: Plan, applied: AppliedPlan, carried: Carried) -> str:
    return "\n".join(
        [*_head(plan, applied, carried), "", *_amounts(plan, applied, carried), *_open_moves(plan, applied)]
    )


def _head(plan: Plan, applied: AppliedPlan, carried: Carried) -> Iterator[str]:
    yield f"# Outcome of plan {plan.plan_id[:12]}: {applied.state.value.replace('_', ' ')}"
    yield ""
    yield f"Cluster {markdown_text(plan.cluster)}: {APPLY_STATES[applied.state]}."
    who = "" if carried.answered_by is None else f", approved by {markdown_text(carried.answered_by)}"
    yield f"Read {carried.verified_at or 'at a time that is not known'}{who} ({markdown_text(carried.application_id)})."
    yield ""
    for state, count in applied.counts.items():
        if count:
            yield f"- {count:,} of {counted(len(applied.states), 'move')}: {_STATE_TEXTS[state]}"


def _amounts(plan: Plan, applied: AppliedPlan, carried: Carried) -> Iterator[str]:
    yield "| | predicted | realised |"
    yield "|---|---|---|"
    off = ""
    if applied.predicted_bytes:
        off = f" ({format_percent(applied.realised_bytes / applied.predicted_bytes)} of it)"
    bytes_told = format_bytes(applied.realised_bytes)
    yield f"| bytes of what is done | {format_bytes(applied.predicted_bytes)} | {bytes_told}{off} |"
    for row in applied.brokers:
        yield (f"| to broker {row.broker} | {format_bytes(row.predicted_bytes)} | {format_bytes(row.realised_bytes)} |")
    at_most = "at most " if carried.seconds_basis == "at_most" else ""
    took = "not known" if carried.realised_seconds is None else at_most + format_seconds(carried.realised_seconds)
    yield f"| time of the whole plan | {format_seconds(plan.cost.seconds)} | {took} |"
    if applied.unsized_moves:
        yield ""
        yield f"Done, and of unknown size, so in neither column: {counted(applied.unsized_moves, 'move')}."


def _open_moves(plan: Plan, applied: AppliedPlan) -> Iterator[str]:
    left = [
        f"- {markdown_text(move.topic)}-{move.partition} (wave {move.wave}): {_STATE_TEXTS[state]}"
        for move, state in zip(plan.moves, applied.states, strict=True)
        if state is not MoveState.APPLIED
    ]
    yield from _section("Moves that are not done", left)
    yield from _section("Replicas that are not in sync", [f"- {markdown_text(name)}" for name in applied.short_isr])
    throttles = [f"- {markdown_text(subject)}: `{key}`" for subject, key in applied.throttles]
    yield from _section("Throttles that are left (the end of commands.md says how to take them off)", throttles)
    yield ""


def _section(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield from ("", f"## {title}", "", *lines[:_MOST_MOVES_SHOWN])
        if len(lines) > _MOST_MOVES_SHOWN:
            yield f"- and {len(lines) - _MOST_MOVES_SHOWN:,} more"
