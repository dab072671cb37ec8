"""Assignors on the cells of Kafka's own benchmarks beside Kafka's Java: equal answers, CPU milliseconds, a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from kafka_assignors.registry import by_name
from tests.benchmarks import assignor_inputs, server_inputs
from tests.benchmarks.dictionary_form import dictionary_ms
from tests.benchmarks.java_side import JavaSide, side_by_side
from tests.benchmarks.spread import is_larger, spread

FAMILIES = ("range", "cooperative-sticky", "uniform")
MORE_FAMILIES = ("server-range",)
# The classes of earlier clients, each beside the last release that has it (sticky and cooperative-sticky share theirs).
EARLIER_FAMILIES = {
    "range@2.4": "3.4.1",
    "cooperative-sticky@3.5.2": "3.7.0",
    "cooperative-sticky@3.5": "3.5.1",
    "cooperative-sticky@3.4.1": "3.4.1",
    "cooperative-sticky@3.0": "3.3.2",
    "cooperative-sticky@2.8.1": "2.8.2",
    "cooperative-sticky@2.5.1": "2.8.0",
    "cooperative-sticky@2.4": "2.5.0",
}
EARLIER_CELLS = 24  # of each: in large cells their Java takes minutes
MANY_MEMBERS = 1000
# Dictionaries of a large cell take seconds to make: only the first cells of a run have them.
_DICTIONARY_CELLS = 24
_LARGER = "larger than"

Cell = assignor_inputs.Cell | server_inputs.Cell


@dataclass(slots=True)
class FamilyTable:
    """What was measured for one family, in ``rounds`` turns.

    ``left_out``: cells that Kafka's side does not end in time, with the reason.
    """

    family: str
    rounds: int
    rows: list[tuple[Cell, float, float, float]] = field(default_factory=list)
    left_out: list[tuple[Cell, str]] = field(default_factory=list)

    def measure(self, java: JavaSide, cells: int | None) -> Iterator[str]:
        """Measure so many cells (``None``: the whole grid); yields a line a cell, as it is done."""
        grid = self.grid()
        wanted = len(grid) if cells is None else min(cells, len(grid))
        for cell in grid if cells is None else spread(grid, wanted):
            if len(self.rows) == wanted:
                break
            slow = next((other for other, _ in self.left_out if is_larger(cell, other)), None)
            if slow is not None:
                self.left_out.append((cell, f"{_LARGER} {slow}"))
                continue
            yield self._measured(java, cell)

    def grid(self) -> list[Cell]:
        """All cells, small ones first."""
        if self.is_server:
            return list(server_inputs.grid(self.family.removeprefix("server-")))
        return list(assignor_inputs.grid(self.family))

    @property
    def is_server(self) -> bool:
        """The coordinator runs it, not the group's leader."""
        return self.family in ("uniform", "server-range")

    def _measured(self, java: JavaSide, cell: Cell) -> str:
        inputs = server_inputs if self.is_server else assignor_inputs
        assignor = by_name(cell.strategy)
        request = inputs.request_of(cell, assignor)  # type: ignore[arg-type]
        reported, ours = side_by_side(java, cell.question(), lambda: assignor.assign(request), self.rounds)
        if reported.reason:
            self.left_out.append((cell, reported.reason))
            return f"{cell}: left out, {reported.reason}"
        result = inputs.checksum(request, assignor.assign(request))
        if result != reported.checksum:
            raise AssertionError(f"{cell}: the answers differ")
        is_asked = len(self.rows) < _DICTIONARY_CELLS and self.family not in EARLIER_FAMILIES
        form = dictionary_ms(request, cell.strategy) if is_asked else float("nan")
        self.rows.append((cell, reported.cpu_ms, ours, form))
        return f"{cell}: Kafka {reported.cpu_ms:.3f} ms, ours {ours:.3f} ms, {ours / reported.cpu_ms:.3f}"

    def ratios(self, least_members: int = 0) -> list[float]:
        """ours/Kafka of each measured cell."""
        return [ours / theirs for cell, theirs, ours, _ in self.rows if cell.members >= least_members]

    def summary(self) -> str:
        """One row for the table of all families."""
        if not self.rows:
            return f"| {self.family} | 0 | | | | | |"
        ratios, many = self.ratios(), self.ratios(MANY_MEMBERS) or [float("nan")]
        mean = float(np.exp(np.mean(np.log(ratios))))
        costs = [np.log(form / ours) for _, _, ours, form in self.rows if not np.isnan(form)]
        forms = f"{np.exp(np.mean(costs)):.0f} ×" if costs else ""
        counts = f"{len(ratios)} | {len(self.out_of_reach())}"
        return f"| {self.family} | {counts} | {mean:.3f} | {max(many):.3f} | {max(ratios):.3f} | {forms} |"

    def lines(self) -> Iterator[str]:
        """The whole table, and what was left out."""
        yield (
            f"| {self.family}: members × ratio, topics | racks | subscriptions | mode | Kafka ms | ours ms | ours/Kafka"
            " | ours from and to dictionaries, ms |"
        )
        yield "|---|---|---|---|---|---|---|---|"
        for cell, theirs, ours, form in sorted(self.rows, key=lambda row: _place(row[0])):
            end = "" if np.isnan(form) else f"{form:.1f}"
            yield f"| {_columns(cell)} | {theirs:.3f} | {ours:.3f} | {ours / theirs:.3f} | {end} |"
        yield from self.left_out_lines()

    def out_of_reach(self) -> list[tuple[Cell, str]]:
        """Cells that were tried in vain, and the others of the grid that are larger than one of them."""
        tried = [(cell, reason) for cell, reason in self.left_out if not reason.startswith(_LARGER)]
        known = {cell for cell, *_ in (*self.rows, *tried)}
        return [
            *sorted(tried, key=lambda row: _place(row[0])),
            *(
                (cell, f"{_LARGER} one of those tried")
                for cell in self.grid()
                if cell not in known and any(is_larger(cell, other) for other, _ in tried)
            ),
        ]

    def left_out_lines(self) -> Iterator[str]:
        """What is not in the table, and why."""
        cells = self.out_of_reach()
        if cells:
            yield ""
            yield f"Left out, because Kafka's side does not end in time ({len(cells)} of {len(self.grid())}):"
            yield ""
            yield from (f"- {cell}: {reason}" for cell, reason in cells)


def _place(cell: Cell) -> tuple[object, ...]:
    return (cell.members, cell.ratio, cell.topics, *_columns(cell).split("|"))


def _columns(cell: Cell) -> str:
    size = f"{cell.members} × {cell.ratio}, {cell.topics}"
    if isinstance(cell, server_inputs.Cell):
        kind, mode = cell.homogeneous, "INCREMENTAL" if cell.incremental else "FULL"
        return f"{size} | | {_kind(kind)} | {mode}"
    return f"{size} | {'yes' if cell.is_rack_aware else 'no'} | {_kind(cell.is_homogeneous)} | {cell.mode}"


def _kind(is_homogeneous: bool) -> str:
    return "equal" if is_homogeneous else "5 kinds"
