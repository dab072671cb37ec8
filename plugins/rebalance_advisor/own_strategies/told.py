"""What came of each strategy of one's own in a run, in a line: how many groups it answered, and why not the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_rebalance.facts import Fact
from kafka_rebalance.render import render

Row = tuple[str, Fact | None]  # a strategy's name, and why it is refused


def told_of_own(rows: Iterable[Row], names: Sequence[str]) -> list[str]:
    """A line for each of ``names``; ``rows`` are those of all groups and strategies."""
    errors: dict[str, list[Fact | None]] = {name: [] for name in names}
    for name, error in rows:
        if name in errors:
            errors[name].append(error)
    return [_line(name, found) for name, found in errors.items()]


def _line(name: str, errors: Sequence[Fact | None]) -> str:
    refused = [error for error in errors if error is not None]
    line = f"own strategy {name}: {len(errors) - len(refused)} of {len(errors)} groups answered"
    return f"{line}; the first refusal: {render(refused[0])}" if refused else line
