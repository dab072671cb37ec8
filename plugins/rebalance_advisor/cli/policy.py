r"""``--policy FILE`` of ``check`` and ``verify``: a team's limits for any plan, as TOML (docs/carry-out-a-plan.md).

Example::

    max_hours = 6
    never_moved = ["payments\\..*"]  # patterns of whole names
    windows = ["Mon-Fri 22:00-05:00", "Sat 00:00-00:00"]  # UTC
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import Field, PlainValidator, Strict, TypeAdapter
from pydantic.dataclasses import dataclass

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.options.values import (
    CHECKED,
    MOST_HOURS,
    WRITTEN,
    Amount,
    BrokerId,
    Checked,
    Count,
    Patterns,
    Rate,
    Ratio,
    Several,
    Value,
)
from kafka_rebalance.policy import PlanPolicy, WeeklyWindow
from rebalance_advisor.input_bytes import MAX_SETTINGS_BYTES, ByteBudget, read_text

if TYPE_CHECKING:
    from kafka_rebalance.policy import BrokenRule

# None: no policy; empty: kept.
Broken = list["BrokenRule"] | None
EXIT_AGAINST_POLICY = 13


def add_policy_option(parser: argparse.ArgumentParser) -> None:
    help_text = "a TOML file of limits that the plan must keep: hours, bytes, topics never moved, windows of the week"
    parser.add_argument("--policy", type=Path, metavar="FILE", help=help_text)


def rules_broken_by(document: Mapping[str, Any], path: Path | None, now: datetime | None = None) -> Broken:
    if path is None:
        return None
    from kafka_rebalance.policy import broken_rules
    from rebalance_advisor.request.names_in_cluster import require_quick

    policy = read_policy(path)
    moved = {str(move["topic"]) for move in document["moves"]}
    require_quick([("never_moved", pattern) for pattern in policy.never_moved], sorted(moved))
    return broken_rules(document, policy, now)


def exit_code_with(code: int, broken: Broken) -> int:
    """13 if only the policy is broken; worse codes stay."""
    return EXIT_AGAINST_POLICY if code == 0 and broken else code


def policy_lines(broken: Broken) -> list[str]:
    if broken is None:
        return []
    from kafka_rebalance.render import render

    return [f"  policy: {rule.rule}: {render(rule.fact)}" for rule in broken] or ["  policy: kept"]


def policy_document(broken: Broken) -> list[dict[str, Any]] | None:
    from kafka_rebalance.render import with_texts

    return None if broken is None else [{"rule": rule.rule} | with_texts(rule.fact.document()) for rule in broken]


def _window(value: Any) -> WeeklyWindow:
    if not isinstance(value, str):
        raise ValueError(f"{excerpt(value)} is no text")  # noqa: TRY004 (pydantic takes no TypeError)
    return WeeklyWindow.from_text(value)


_Hours: TypeAlias = Annotated[
    float, Strict(), Field(ge=0, le=MOST_HOURS), Value("is no number of hours", f"give 0 to {MOST_HOURS:,}")
]


@dataclass(frozen=True, kw_only=True, config=CHECKED)
class _PolicyFile(Checked):
    max_hours: _Hours | None = None
    max_wave_hours: _Hours | None = None
    max_move_bytes: Amount | None = None
    max_moves: Count | None = None
    max_leader_changes: Count | None = None
    max_throttle: Rate | None = None
    max_gap: Ratio | None = None
    never_moved: Patterns = ()
    never_filled: Annotated[tuple[BrokerId, ...], Several()] = ()
    windows: Annotated[tuple[Annotated[WeeklyWindow, PlainValidator(_window)], ...], Several()] = ()


KEYS = tuple(_PolicyFile.__annotations__)


def read_policy(path: Path) -> PlanPolicy:
    try:
        document = tomllib.loads(read_text(path, ByteBudget(MAX_SETTINGS_BYTES)))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError.at(str(path), f"is no TOML: {error}") from error
    if not document:
        raise InvalidInputError.at(str(path), "sets no limit", f"known: {', '.join(KEYS)}")
    try:
        values = vars(TypeAdapter(_PolicyFile).validate_python(document, context=WRITTEN))
    except InvalidInputError as error:
        raise InvalidInputError.at(str(path), str(error)) from error
    given = {key: values[key] for key in KEYS if key != "max_throttle"}
    return PlanPolicy(**given, max_throttle_bytes_per_s=values["max_throttle"])
