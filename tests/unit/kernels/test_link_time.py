from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit

from kafka_assignors.kernels import EntryCompiler, InnerCompiler


def inner(function: Callable[..., Any]) -> Any:
    return njit(function, pipeline_class=InnerCompiler, no_cpython_wrapper=True)


@inner
def bottom(number: int) -> int:
    if number > 1000:
        raise ValueError("too large")
    return number + 1


@inner
def left(number: int) -> int:
    return bottom(number) * 2


@inner
def right(number: int) -> int:
    return bottom(left(number)) * 3


@pytest.fixture(scope="module")
def top() -> Any:
    @njit(pipeline_class=EntryCompiler)
    def compiled(number: int) -> int:
        return right(number) + left(number) + bottom(number)

    compiled(0)
    return compiled


def library(compiled: Any) -> Any:
    (overload,) = compiled.overloads.values()
    return overload.library


def test_it_computes_what_the_plain_functions_do(top: Any) -> None:
    """For 5: left 12, right (12 + 1) · 3 = 39, bottom 6."""
    assert top(5) == 39 + 12 + 6
    for number in np.random.default_rng(1).integers(-1000, 400, 50).tolist():
        assert top(number) == (2 * (number + 1) + 1) * 3 + 2 * (number + 1) + number + 1


def test_an_error_of_an_inner_kernel_reaches_python_with_its_words(top: Any) -> None:
    with pytest.raises(ValueError, match="too large"):
        top(1001)


def test_each_inner_kernel_is_linked_once_and_before_what_it_calls(top: Any) -> None:
    """bottom is called by all three: a numba left alone would have made it part of each of them."""
    ours = [library(right), library(left), library(bottom)]
    assert [linked for linked in library(top)._linking_libraries if linked in ours] == ours


@pytest.mark.parametrize("kernel", [bottom, left, right], ids=["bottom", "left", "right"])
def test_an_inner_kernel_alone_has_no_machine_code(top: Any, kernel: Any) -> None:
    (overload,) = kernel.overloads.values()
    assert library(kernel).get_pointer_to_function(overload.fndesc.llvm_cfunc_wrapper_name) == 0
    assert library(top).get_pointer_to_function(next(iter(top.overloads.values())).fndesc.llvm_cpython_wrapper_name)
