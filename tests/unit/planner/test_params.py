from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.kernels import ByReference
from kafka_rebalance.parameters import Parameters
from kafka_rebalance.planner import params
from tests.sample import for_each
from tests.unit.planner.pinned_answers import differences

CLASSES = [kind for kind in vars(params).values() if isinstance(kind, type) and kind.__module__ == params.__name__]
CHECKED = [kind for kind in CLASSES if issubclass(kind, Parameters) and kind is not params.KernelParams]


@for_each("kind", CHECKED)
def test_a_number_outside_its_range_is_refused_with_its_place(kind: type) -> None:
    made, numbers = kind(), [field for field in fields(kind) if field.metadata]
    for number in numbers:
        below = number.metadata["least"] - 1
        value: Any = (below,) if isinstance(number.default, tuple) else type(number.default)(below)
        with pytest.raises(InvalidInputError, match=f"{kind.__name__}.{number.name}"):
            replace(made, **{number.name: value})
    assert numbers or all(isinstance(getattr(made, field.name), Parameters) for field in fields(kind))


@pytest.mark.usefixtures("whole_search")
def test_defaults_and_ranges_are_those_written_down() -> None:
    """``make mutate`` tests declarations by their own folder."""
    assert not differences("parameters")


def test_every_class_is_part_of_what_a_search_is_given() -> None:
    """Except the dirs of one broker, which are no search of their own."""

    def parts(made: object) -> set[type]:
        below = [getattr(made, field.name) for field in fields(made)]  # type: ignore[arg-type]
        return {type(made)}.union(*(parts(part) for part in below if isinstance(part, Parameters)))

    assert parts(params.DEFAULTS) == set(CHECKED)


def test_what_kernels_read_is_laid_out_in_memory() -> None:
    kernel_records = [kind for kind in CHECKED if issubclass(kind, params.KernelParams)]
    assert len(kernel_records) >= 7
    assert all(issubclass(kind, ByReference) for kind in kernel_records)
