"""Figures and sentences of a plan's steps; the store keeps ``step_figures`` as rows.

Example: ``2. Relieve broker 9: 16 replicas, 1.2 TiB, 3 h 20 min, no leader changes; broker 9's disk 93 % → 61 % of
capacity; steps 1 to 2 copy 1.2 TiB, 0.20 % above what is provably needed``.

A plan in a few lines; only reasons are cut.

Example::

    Verdict: rebalance: move 20 replicas, copy 1.2 TiB, change 551 leaders, 3 h 21 min
      urgent: The disks of broker 9 are 93% full; …
      4 partitions have replicas that share a rack
      ... and 8 more reasons
      step                        bytes  replicas  leaders        time  before → after
      1. Elect preferred leaders    0 B         0      541           -  highest leaders over mean 1.46 × → 1.03 ×
      2. Relieve broker 9       1.2 TiB        16        9  3 h 21 min  broker 9's disk 93 % → 61 % of capacity
      proof: 1.2 TiB copied, 0.01 % above what is provably needed
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kafka_rebalance.amounts import counted, format_bytes, format_ratio, format_seconds
from kafka_rebalance.facts import FactCode
from kafka_rebalance.render import render_document
from kafka_rebalance.render.needed import amount_of, describe_needed

Document = Mapping[str, Any]
UNDER_REPLICATED = "under_replicated"
_BROKEN = MappingProxyType(
    {
        FactCode.RAISES_REPLICATION_FACTOR.value: "with too few replicas",
        FactCode.LOWERS_REPLICATION_FACTOR.value: "with too many replicas",
        FactCode.SEPARATES_RACKS.value: "with replicas that share a rack",
        FactCode.LEAVES_FORBIDDEN_BROKER.value: "on brokers that their topics may not use",
        FactCode.LEAVES_OFFLINE_LOG_DIR.value: "on offline log dirs",
        FactCode.LEAVES_BROKER.value: "on brokers that are dead or to be removed",
        FactCode.LEAVES_DEMOTED_LEADER.value: "led by demoted brokers",
        UNDER_REPLICATED: "with replicas out of sync",
    }
)


@dataclass(frozen=True, slots=True)
class StepFigures:
    """``*_so_far`` and ``lower_bound_bytes`` include the steps before it.

    ``resource``: lowered by the step, with its fullest broker. ``repairs``: partitions by the code of their fault.
    """

    step: int
    kind: str
    first_wave: int
    last_wave: int
    partitions: int
    replica_moves: int
    bytes: int | None
    leader_changes: int
    seconds: float | None
    bytes_so_far: int | None
    lower_bound_bytes: float | None
    gap: float | None
    resource: str | None
    skew_before: float | None
    skew_after: float | None
    fullest_broker_before: int | None
    fullest_broker_after: int | None
    used_ratio_before: float | None
    used_ratio_after: float | None
    repairs: Mapping[str, int]


def step_figures(plan: Document) -> list[StepFigures]:
    capacities = {outcome["resource"]: outcome.get("capacity") or {} for outcome in plan["resources"]}
    soon = (reason["args"] for reason in plan["reasons"] if reason["code"] == FactCode.DISKS_FILL_SOON.value)
    fills_soon = next(soon, None)
    figures: list[StepFigures] = []
    so_far: int | None = 0
    for number, step in enumerate(plan["steps"], start=1):
        cost = step["cost"]
        so_far = None if so_far is None or cost["bytes"] is None else so_far + cost["bytes"]
        members = [plan["moves"][m] for wave in step["waves"] for m in plan["waves"][wave - 1]["moves"]]
        outcome = _shown_outcome(step, capacities, fills_soon)
        before, after = (_used_ratio(outcome, capacities, time) for time in ("before", "after"))
        figures.append(
            StepFigures(
                step=number, kind=step["kind"], first_wave=min(step["waves"]), last_wave=max(step["waves"]),
                partitions=len(members), replica_moves=cost["replica_moves"], bytes=cost["bytes"],
                leader_changes=cost["leader_changes"], seconds=cost["seconds"], bytes_so_far=so_far,
                lower_bound_bytes=step["lower_bound_bytes"], gap=step["gap"], resource=outcome.get("resource"),
                skew_before=outcome.get("skew_before"), skew_after=outcome.get("skew_after"),
                fullest_broker_before=outcome.get("fullest_before"), fullest_broker_after=outcome.get("fullest_after"),
                used_ratio_before=before, used_ratio_after=after, repairs=_repairs(step["kind"], members),
            )
        )  # fmt: skip
    return figures


def _shown_outcome(
    step: Document, capacities: Mapping[str, Mapping[str, float]], fills_soon: Mapping[str, Any] | None
) -> Document:
    """Return leaders for an election, the fullest resource for a relief, else the largest fall of skew.

    A relief without full brokers shows the disk that is full first.
    """
    outcomes: Sequence[Document] = step["resources"]
    if step["kind"] == "repair" or not outcomes:
        return {}
    if step["kind"] == "elect":
        outcomes = [outcome for outcome in outcomes if outcome["resource"] == "leaders"] or outcomes
    if step["kind"] == "relieve":
        if fills_soon is not None and not fills_soon["full_brokers"]:
            disk = next(outcome for outcome in outcomes if outcome["resource"] == "disk")
            of_broker = {f"fullest_{time}": fills_soon["broker"] for time in ("before", "after")}
            return {**disk, **of_broker, "load_before": fills_soon["load"], "load_after": fills_soon["load_after"]}
        used = [(_used_ratio(outcome, capacities, "before"), outcome) for outcome in outcomes]
        measured = [(ratio, outcome) for ratio, outcome in used if ratio is not None]
        if measured:
            return max(measured, key=lambda pair: pair[0])[1]
    return max(outcomes, key=lambda outcome: outcome["skew_before"] - outcome["skew_after"])


def _used_ratio(outcome: Document, capacities: Mapping[str, Mapping[str, float]], time: str) -> float | None:
    capacity = capacities.get(outcome.get("resource", ""), {}).get(str(outcome.get(f"fullest_{time}")))
    return outcome[f"load_{time}"] / capacity if capacity else None


def _repairs(kind: str, moves: Sequence[Document]) -> dict[str, int]:
    codes = Counter(move["reason"]["code"] for move in moves)
    repairs = {code: count for code, count in sorted(codes.items()) if code in _BROKEN}
    others = len(moves) - sum(repairs.values())
    return repairs | ({UNDER_REPLICATED: others} if kind == "repair" and others else {})


def step_title(step: StepFigures) -> str:
    """Return ``Elect preferred leaders``, ``Repair 4 partitions``, …"""
    if step.kind == "elect":
        return "Elect preferred leaders"
    if step.kind == "repair":
        return f"Repair {counted(step.partitions, 'partition')}"
    if step.kind == "relieve":
        broker = step.fullest_broker_before
        return "Relieve full brokers" if broker is None else f"Relieve broker {broker}"
    return "Even out the load"


def step_effect(step: StepFigures) -> str:
    repaired = ", ".join(f"{count:,} {_BROKEN.get(code, code)}" for code, count in sorted(step.repairs.items()))
    if step.kind == "repair":
        return repaired
    return "; ".join(filter(None, (_levels(step), f"repairs partitions: {repaired}" if repaired else "")))


def _levels(step: StepFigures) -> str:
    if step.resource is None:
        return ""
    if step.kind == "relieve" and step.used_ratio_before is not None and step.used_ratio_after is not None:
        before, after = _percents(step.used_ratio_before, step.used_ratio_after)
        if step.fullest_broker_before == step.fullest_broker_after:
            return f"broker {step.fullest_broker_before}'s {step.resource} {before} → {after} of capacity"
        return (
            f"fullest {step.resource} {before} (broker {step.fullest_broker_before}) → {after} "
            f"(broker {step.fullest_broker_after}) of capacity"
        )
    before, after = format_ratio(step.skew_before), format_ratio(step.skew_after)
    return f"highest {step.resource} over mean {before} → {after}"


def _percents(before: float, after: float) -> tuple[str, str]:
    """Return both with at most one digit, where they differ by it."""
    digits = 1 if f"{100 * before:.0f}" == f"{100 * after:.0f}" else 0
    return f"{100 * before:.{digits}f} %", f"{100 * after:.{digits}f} %"


def step_cost(step: StepFigures) -> str:
    """Return ``16 replicas, 1.2 TiB, 3 h 20 min, 4 leader changes``."""
    leaders = counted(step.leader_changes, "leader change") if step.leader_changes else "no leader changes"
    if not step.replica_moves:
        return f"{leaders}, nothing is copied"
    time = "time unknown" if step.seconds is None else format_seconds(step.seconds)
    size = "size unknown" if step.bytes is None else format_bytes(step.bytes)
    return f"{counted(step.replica_moves, 'replica')}, {size}, {time}, {leaders}"


def step_bound(step: StepFigures) -> str:
    bound_text = describe_needed("bytes", step.bytes_so_far, step.lower_bound_bytes) if step.bytes else ""
    if not bound_text or step.bytes_so_far == step.bytes:
        return bound_text
    return f"steps 1 to {step.step} copy {format_bytes(step.bytes_so_far)}, {bound_text}"


def step_waves(step: StepFigures) -> str:
    if step.first_wave == step.last_wave:
        return f"wave {step.first_wave}"
    return f"waves {step.first_wave} to {step.last_wave}"


def describe_progress(applied: int, partitions: int) -> str:
    if not applied:
        return "not started"
    return "done" if applied == partitions else f"{applied:,} of {partitions:,} done"


def step_line(step: StepFigures) -> str:
    return f"{step.step}. {step_title(step)}: " + "; ".join(
        filter(None, (step_cost(step), step_effect(step), step_bound(step)))
    )


def step_lines(plan: Document) -> list[str]:
    return [step_line(step) for step in step_figures(plan)]


_HEAD = ("step", "bytes", "replicas", "leaders", "time", "before → after")
_AT_LEFT = (0, len(_HEAD) - 1)
_NONE = "-"


def brief_lines(plan: Document, *, urgent: Sequence[str] = (), uncovered: str = "", most: int) -> list[str]:
    """Return at most ``most`` lines. Of ``urgent`` sentences the first is shown. ``uncovered``: blind spots."""
    first = [_verdict_line(plan)]
    if urgent:
        more = f" ... and {len(urgent) - 1} more" if len(urgent) > 1 else ""
        first.append(f"  urgent: {urgent[0]}{more}")
    last = [f"  {line}" for line in (*step_table(plan), *_proof(plan))]
    last += [f"  blind spots: {uncovered}"] if uncovered else []
    reasons = cut([render_document(reason) for reason in plan["reasons"]], most - len(first) - len(last), "reasons")
    return [*first, *(f"  {reason}" for reason in reasons), *last]


def cut(lines: Sequence[str], most: int, nouns: str) -> list[str]:
    if len(lines) <= most:
        return list(lines)
    kept = max(most - 1, 0)
    return [*lines[:kept], f"... and {len(lines) - kept:,} more {nouns}"] if most > 0 else []


def step_table(plan: Document) -> list[str]:
    rows = [_cells(step) for step in step_figures(plan)]
    if not rows:
        return []
    widths = [max(len(row[column]) for row in (_HEAD, *rows)) for column in range(len(_HEAD))]
    return ["  ".join(_align(row, widths)).rstrip() for row in (_HEAD, *rows)]


def _align(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        cell.ljust(width) if column in _AT_LEFT else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]


def _cells(step: StepFigures) -> tuple[str, ...]:
    return (
        f"{step.step}. {step_title(step)}",
        format_bytes(step.bytes),
        f"{step.replica_moves:,}",
        f"{step.leader_changes:,}",
        format_seconds(step.seconds) if step.replica_moves else _NONE,
        step_effect(step),
    )


def _verdict_line(plan: Document) -> str:
    verdict, cost = f"Verdict: {plan['verdict'].replace('_', ' ')}", plan["cost"]
    if not plan["moves"]:
        return verdict
    leaders = f"change {counted(cost['leader_changes'], 'leader')}"
    if not cost["replica_moves"]:
        return f"{verdict}: {leaders}, copy nothing"
    time = "time unknown" if cost["seconds"] is None else format_seconds(cost["seconds"])
    size = "an unknown size" if cost["bytes"] is None else format_bytes(cost["bytes"])
    changes = [f"move {counted(cost['replica_moves'], 'replica')}", f"copy {size}"]
    return f"{verdict}: {', '.join([*changes, *([leaders] if cost['leader_changes'] else []), time])}"


def _proof(plan: Document) -> list[str]:
    bound = next((proved for proved in plan["lower_bound"] if proved["cost"] == "bytes"), None)
    amount = plan["cost"]["bytes"]
    bound_text = describe_needed("bytes", amount, bound["value"]) if bound is not None and amount else ""
    return [f"proof: {amount_of('bytes', amount)} copied, {bound_text}"] if bound_text else []
