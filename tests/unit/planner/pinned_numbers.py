"""Defaults and ranges of the planner's parameters, and its tolerances, as text: for the pinned answers.

A plan is what these numbers make of a cluster: who changes one means to change plans, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from kafka_rebalance.parameters import Parameters
from kafka_rebalance.planner import tolerances
from kafka_rebalance.planner.params import SolveParams


def parameters(part: int) -> dict[str, object]:
    """Of one part of ``SolveParams``: default, least and most of every number."""
    name = fields(SolveParams)[part].name
    return dict(_numbers(name, getattr(SolveParams(), name)))


def _numbers(place: str, group: Parameters) -> Iterator[tuple[str, str]]:
    assert is_dataclass(group)
    for field in fields(group):
        value = getattr(group, field.name)
        if isinstance(value, Parameters):
            yield from _numbers(f"{place}.{field.name}", value)
        else:
            yield f"{place}.{field.name}", f"{value!r} in {field.metadata['least']!r}..{field.metadata['most']!r}"


def rounding(_: int) -> dict[str, object]:
    """What is compiled into the kernels as literals."""
    return {name: repr(value) for name, value in vars(tolerances).items() if name.isupper()}
