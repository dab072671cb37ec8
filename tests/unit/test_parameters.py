from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.kernels import kernel
from kafka_rebalance.cluster_arrays.problem import ModelParams
from kafka_rebalance.parameters import Parameters, number
from kafka_rebalance.planner.params import AnnealParams, Effort, HandOverParams, NeighbourhoodParams, SolveParams
from kafka_rebalance.plans.params import DEFAULTS, PlanParams


@dataclass(frozen=True, kw_only=True)
class Oven(Parameters):
    """A parameter class."""

    ascending = (("warmth", "hottest"),)

    warmth: float = number(0.5, least=0.0, most=1.0)
    trays: int = number(2, least=1)
    levels: tuple[float, ...] = number((0.1, 0.2), least=0.0)
    hottest: float = number(1.0, least=0.0)


def classes_within(parameters: Any) -> Iterator[Any]:
    """The parameter classes that one is composed of, itself first."""
    yield parameters
    for field in fields(parameters):
        value = getattr(parameters, field.name)
        if is_dataclass(value):
            yield from classes_within(value)


def test_values_in_range_are_kept_and_whole_numbers_become_fractions() -> None:
    oven = Oven(warmth=1, trays=3, levels=[1, 2.5])  # type: ignore[arg-type]
    assert (oven.warmth, oven.trays, oven.levels) == (1.0, 3, (1.0, 2.5))
    assert type(oven.warmth) is float
    assert type(oven.levels[0]) is float


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"warmth": 1.5}, r"Oven\.warmth: expected within 0\.\.1, got 1\.5"),
        ({"warmth": float("nan")}, r"Oven\.warmth: expected within 0\.\.1, got nan"),
        ({"trays": 0}, r"Oven\.trays: expected >= 1, got 0"),
        ({"trays": 2.0}, r"Oven\.trays: 2\.0 is not a whole number"),
        ({"trays": True}, r"Oven\.trays: True is not a whole number"),
        ({"warmth": "hot"}, r"Oven\.warmth: 'hot' is not a number"),
        ({"levels": (0.1, -1.0)}, r"Oven\.levels: expected >= 0, got -1\.0"),
        ({"hottest": float("inf")}, r"Oven\.hottest: expected a finite number >= 0, got inf"),
        ({"levels": (0.1, float("nan"))}, r"Oven\.levels: expected >= 0, got nan"),
        ({"warmth": 0.7, "hottest": 0.6}, r"Oven\.hottest: expected at least warmth \(0\.7\), got 0\.6"),
        ({"levels": ()}, r"Oven\.levels: \(\) is not a list of numbers"),
        ({"levels": 0.1}, r"Oven\.levels: 0\.1 is not a list of numbers"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_place(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Oven(**values)


def test_every_order_of_numbers_is_held_by_its_class() -> None:
    """A pair swapped is refused, in each class that declares an order; equal numbers are fine."""
    swapped = set()
    for parameters in classes_within(PlanParams()):
        for names in parameters.ascending:
            for lower, upper in pairwise(names):
                low, high = getattr(parameters, lower), getattr(parameters, upper)
                replace(parameters, **dict.fromkeys(names, low))
                if low < high:
                    swapped.add((type(parameters).__name__, upper))
                    with pytest.raises(InvalidInputError, match=f"{type(parameters).__name__}.*: expected at least"):
                        replace(parameters, **{lower: high, upper: low})
    assert {("AnnealParams", "warm"), ("BudgetSearchParams", "swaps")} <= swapped
    assert len(swapped) >= 8


def test_a_variant_is_checked_again() -> None:
    with pytest.raises(InvalidInputError, match="least_fit"):
        replace(SolveParams().replicas, least_fit=2.0)


@pytest.mark.parametrize("whole", [PlanParams(), ModelParams()], ids=lambda whole: type(whole).__name__)
def test_every_number_has_a_range_its_default_is_in_and_is_refused_below(whole: Any) -> None:
    numbers = 0
    for parameters in classes_within(whole):
        for field in fields(parameters):
            value = getattr(parameters, field.name)
            if is_dataclass(value):
                continue
            numbers += 1
            assert {"least", "most"} <= field.metadata.keys(), f"{type(parameters).__name__}.{field.name} has no range"
            first = value[0] if isinstance(value, tuple) else value
            below = type(first)(field.metadata["least"] - 1)
            with pytest.raises(InvalidInputError, match=field.name):
                replace(parameters, **{field.name: (below,) if isinstance(value, tuple) else below})
    assert numbers >= 4


@pytest.mark.usefixtures("whole_search")
def test_defaults_are_what_a_plan_without_parameters_is_made_with() -> None:
    assert PlanParams() == DEFAULTS
    assert DEFAULTS.frontier.solve.effort.program_steps == 0
    assert DEFAULTS.budget.solve.effort == replace(Effort(), program_steps=0)
    assert replace(DEFAULTS.solve, effort=Effort(rounds=1)) != DEFAULTS.solve


def test_tuples_may_have_other_lengths() -> None:
    assert NeighbourhoodParams(brokers=(3,), near=(0.1, 0.2, 0.3)).brokers == (3,)


@kernel
def read_by_a_kernel(params: AnnealParams) -> float:
    return params.warm * 1000 + params.return_percent


def test_a_kernel_reads_them_and_a_copy_has_memory_of_its_own() -> None:
    params = AnnealParams(warm=0.25, return_percent=50)
    copies = [copy.copy(params), copy.deepcopy(params), pickle.loads(pickle.dumps(params)), replace(params)]
    assert copies == [params] * 4
    assert len({duplicate._address for duplicate in (params, *copies)}) == 5
    del params
    np.full(1000, -1, dtype=np.int64)
    assert [read_by_a_kernel(duplicate) for duplicate in copies] == [300.0] * 4


def test_a_record_of_other_numbers_is_of_the_same_type_so_that_nothing_is_compiled_again() -> None:
    params = HandOverParams(cost_of_moving_on=1, misses_borne=3)
    assert params._numba_type_ == HandOverParams()._numba_type_
