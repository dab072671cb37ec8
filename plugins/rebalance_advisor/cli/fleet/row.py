"""One cluster of a fleet: what its plan came to, or why there is none, as the child says it and the table shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kafka_rebalance.amounts import bytes_in_words, seconds_in_words
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.render import render
from kafka_rebalance.visible_text import visible
from rebalance_advisor.cli.exit_codes import EXIT_CANNOT_TELL, EXIT_DONE, EXIT_INFEASIBLE, exit_code_of

# From the mildest to the gravest: a cluster without a plan is worse than one whose plan says that nothing can be done.
_GRAVITY = (EXIT_DONE, EXIT_INFEASIBLE, EXIT_CANNOT_TELL, 2, 1)
_HEAD = ("cluster", "verdict", "bytes", "replicas", "leaders", "waves", "time", "highest over mean", "why")
_NONE = "-"


@dataclass(frozen=True, slots=True)
class FleetRow:
    """``skew``: resource → highest over mean, before and after. ``words``: the plan's first reason, or the error."""

    name: str
    input: str
    exit_code: int
    words: str
    folder: str | None = None
    plan_id: str | None = None
    verdict: str | None = None
    bytes: int | None = None
    replica_moves: int | None = None
    leader_changes: int | None = None
    waves: int | None = None
    seconds: float | None = None
    skew: Mapping[str, Sequence[float]] | None = None

    @classmethod
    def of_plan(cls, name: str, source: str, plan: Plan, folder: str) -> FleetRow:
        """Of a plan that was verified and written."""
        cost, why = plan.cost, render(plan.reasons[0]) if plan.reasons else ""
        return cls(
            name, source, exit_code_of(plan.verdict), why, folder, plan.plan_id,
            plan.verdict.value, cost.bytes, cost.replica_moves, cost.leader_changes, len(plan.waves), cost.seconds,
            {outcome.resource: [outcome.skew_before, outcome.skew_after] for outcome in plan.resources},
        )  # fmt: skip

    @classmethod
    def failed(cls, name: str, source: str, exit_code: int, error: str) -> FleetRow:
        """Of a cluster for which there is no plan."""
        return cls(name, source, exit_code, error)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> FleetRow:
        """The way back of ``document``."""
        return cls(**document)

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def worst_exit_code(rows: Sequence[FleetRow]) -> int:
    """The gravest of all; what nobody knows (a child that was killed) is as grave as bad input."""
    codes = [row.exit_code if row.exit_code in _GRAVITY else 1 for row in rows]
    return max(codes, key=_GRAVITY.index, default=EXIT_DONE)


def fleet_lines(rows: Sequence[FleetRow]) -> list[str]:
    """One line a cluster, in the order in which they were given."""
    cells = [list(_HEAD), *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEAD))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]


def _cells(row: FleetRow) -> list[str]:
    if row.verdict is None:
        return [visible(row.name), "no plan", *[_NONE] * (len(_HEAD) - 3), visible(row.words)]
    time = "unknown" if row.seconds is None else seconds_in_words(row.seconds)
    counts = (f"{count or 0:,}" for count in (row.replica_moves, row.leader_changes, row.waves))
    verdict = row.verdict.replace("_", " ")
    return [visible(row.name), verdict, bytes_in_words(row.bytes), *counts, time, _worst_skew(row), visible(row.words)]


def _worst_skew(row: FleetRow) -> str:
    """Of the resource that is furthest from even today, where there is any."""
    if not row.skew:
        return _NONE
    resource = max(row.skew, key=lambda name: (row.skew or {})[name][0])
    before, after = row.skew[resource]
    return f"{resource} {before:.3f} → {after:.3f}"
