"""Defaults and ranges of the planner's parameters, and its tolerances, as text for the pinned answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from kafka_rebalance.parameters import Parameters
from kafka_rebalance.planner import params
from kafka_rebalance.planner.params import LOG_DIRS, LogDirParams, SolveParams

PARTS = [field.name for field in fields(SolveParams)]


def parameters(part: int) -> dict[str, object]:
    """Default, least and most of every number of one part of ``SolveParams``; of log dirs after the last."""
    if part == len(PARTS):
        return dict(_numbers("log_dirs", LOG_DIRS))
    return dict(_numbers(PARTS[part], getattr(SolveParams(), PARTS[part])))


def _numbers(location: str, group: Parameters | LogDirParams) -> Iterator[tuple[str, str]]:
    assert is_dataclass(group)
    for field in fields(group):
        value, allowed = getattr(group, field.name), field.metadata
        if isinstance(value, Parameters):
            yield from _numbers(f"{location}.{field.name}", value)
        else:
            has_range = f" in {allowed['least']!r}..{allowed['most']!r}" if allowed else ""
            yield f"{location}.{field.name}", f"{value!r}{has_range}"


def rounding(_: int) -> dict[str, object]:
    """Literals compiled into the kernels."""
    return {
        name: repr(value) for name, value in vars(params).items() if name.isupper() and isinstance(value, float | int)
    }
