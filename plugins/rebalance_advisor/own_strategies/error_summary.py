"""Groups that each custom assignor answered, and why not others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kafka_rebalance.facts import Fact
from kafka_rebalance.render import render

if TYPE_CHECKING:
    from kafka_rebalance.groups.group_replay import GroupReplay


def error_summary(groups: Iterable[GroupReplay], names: Sequence[str]) -> list[str]:
    errors: dict[str, list[Fact | None]] = {name: [] for name in names}
    for group in groups:
        for score in group.scores[1:]:
            if score.assignor in errors:
                errors[score.assignor].append(score.error)
    return [_line(name, failures) for name, failures in errors.items()]


def _line(name: str, errors: Sequence[Fact | None]) -> str:
    refused = [error for error in errors if error is not None]
    line = f"own strategy {name}: {len(errors) - len(refused)} of {len(errors)} groups answered"
    return f"{line}; the first refusal: {render(refused[0])}" if refused else line
