"""Every class of the planner's parameters: found in its module and in the package, checked, part of ``SolveParams``."""

from __future__ import annotations

from dataclasses import fields, replace
from types import ModuleType
from typing import Any

import pytest

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.kernels.by_reference import ByReference
from kafka_rebalance.parameters import Parameters
from kafka_rebalance.planner import params
from kafka_rebalance.planner.params import (
    bound_params,
    budget_params,
    kernel_params,
    leader_params,
    log_dir_params,
    program_params,
    replica_params,
    solve_params,
    steering_params,
    survive_params,
    topic_leader_params,
    widening_params,
)
from tests.sample import for_each
from tests.unit.planner.pinned_answers import differences

MODULES = (
    bound_params, budget_params, kernel_params, leader_params, log_dir_params, program_params, replica_params,
    solve_params, steering_params, survive_params, topic_leader_params, widening_params,
)  # fmt: skip


def own_classes(module: ModuleType) -> list[type]:
    return [kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__]


CLASSES = [kind for module in MODULES for kind in own_classes(module)]
CHECKED = [kind for kind in CLASSES if issubclass(kind, Parameters) and kind is not params.KernelParams]


def test_the_package_names_every_class_and_the_defaults() -> None:
    assert sorted([kind.__name__ for kind in CLASSES] + ["DEFAULTS", "LOG_DIRS"]) == sorted(params.__all__)


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
    """``make mutate`` puts declarations to the tests of their own folder."""
    assert not differences("parameters")


def test_every_class_is_part_of_what_a_search_is_given() -> None:
    """But for what is no search of its own: the dirs of one broker."""

    def parts(made: object) -> set[type]:
        below = [getattr(made, field.name) for field in fields(made)]  # type: ignore[arg-type]
        return {type(made)}.union(*(parts(part) for part in below if isinstance(part, Parameters)))

    assert parts(params.DEFAULTS) == set(CHECKED)


def test_what_kernels_read_is_laid_out_in_memory() -> None:
    kernel_records = [kind for kind in CHECKED if issubclass(kind, params.KernelParams)]
    assert len(kernel_records) >= 7
    assert all(issubclass(kind, ByReference) for kind in kernel_records)
