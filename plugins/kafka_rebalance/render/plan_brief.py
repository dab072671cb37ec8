"""A plan in a few lines; only reasons are cut.

Example::

    Verdict: rebalance: move 20 replicas, copy 1.2 TiB, change 551 leaders, 3 h 21 min
      urgent: The disks of broker 9 are 93% full; …
      4 partitions have replicas that share a rack
      ... and 8 more reasons
      step                        bytes  replicas  leaders        time  today → after
      1. Elect preferred leaders    0 B         0      541           -  highest leaders over mean 1.46 × → 1.03 ×
      2. Relieve broker 9       1.2 TiB        16        9  3 h 21 min  broker 9's disk 93 % → 61 % of capacity
      proof: 1.2 TiB copied, 0.01 % above what is provably needed
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_rebalance.amounts import bytes_in_words, counted, seconds_in_words
from kafka_rebalance.render import render_document
from kafka_rebalance.render.needed import amount_of, needed_words
from kafka_rebalance.render.steps import StepFigures, step_effect, step_figures, step_title

Document = Mapping[str, Any]
_HEAD = ("step", "bytes", "replicas", "leaders", "time", "today → after")
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
    shown = max(most - 1, 0)
    return [*lines[:shown], f"... and {len(lines) - shown:,} more {nouns}"] if most > 0 else []


def step_table(plan: Document) -> list[str]:
    rows = [_cells(step) for step in step_figures(plan)]
    if not rows:
        return []
    widths = [max(len(row[column]) for row in (_HEAD, *rows)) for column in range(len(_HEAD))]
    return ["  ".join(_aligned(row, widths)).rstrip() for row in (_HEAD, *rows)]


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        cell.ljust(width) if column in _AT_LEFT else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]


def _cells(step: StepFigures) -> tuple[str, ...]:
    return (
        f"{step.step}. {step_title(step)}",
        bytes_in_words(step.bytes),
        f"{step.replica_moves:,}",
        f"{step.leader_changes:,}",
        seconds_in_words(step.seconds) if step.replica_moves else _NONE,
        step_effect(step),
    )


def _verdict_line(plan: Document) -> str:
    verdict, cost = f"Verdict: {plan['verdict'].replace('_', ' ')}", plan["cost"]
    if not plan["moves"]:
        return verdict
    leaders = f"change {counted(cost['leader_changes'], 'leader')}"
    if not cost["replica_moves"]:
        return f"{verdict}: {leaders}, copy nothing"
    time = "time unknown" if cost["seconds"] is None else seconds_in_words(cost["seconds"])
    size = "an unknown size" if cost["bytes"] is None else bytes_in_words(cost["bytes"])
    changes = [f"move {counted(cost['replica_moves'], 'replica')}", f"copy {size}"]
    return f"{verdict}: {', '.join([*changes, *([leaders] if cost['leader_changes'] else []), time])}"


def _proof(plan: Document) -> list[str]:
    bound = next((proved for proved in plan["lower_bound"] if proved["cost"] == "bytes"), None)
    amount = plan["cost"]["bytes"]
    words = needed_words("bytes", amount, bound["value"]) if bound is not None and amount else ""
    return [f"proof: {amount_of('bytes', amount)} copied, {words}"] if words else []
