import pickle
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kafka_assignors.kernels import ByReference, inner_kernel, kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Part(ByReference):
    """A record in a record."""

    counts: Ints
    weight: float


@dataclass(frozen=True, eq=False)
class Whole(ByReference):
    """One field of each kind."""

    table: Floats
    flags: npt.NDArray[np.bool_]
    row: int
    is_open: bool
    part: Part
    cube: npt.NDArray[np.int64]


@inner_kernel
def _count(part: Part, value: int) -> None:
    part.counts[value] += 1


@kernel
def summed(whole: Whole) -> tuple[float, float, int]:
    """The chosen row with the rest, a weight, the shape; counts how many flags are set."""
    total = 0.0
    for column in range(whole.table.shape[1]):
        total += whole.table[whole.row, column]
        whole.table[whole.row, column] = -1.0
    for is_set in whole.flags:
        _count(whole.part, 1 if is_set else 0)
    cube = 0
    for i in range(whole.cube.shape[0]):
        for j in range(whole.cube.shape[1]):
            for k in range(whole.cube.shape[2]):
                cube += whole.cube[i, j, k]
    return total if whole.is_open else -total, whole.part.weight, cube


@kernel
def copied(whole: Whole) -> Floats:
    """A row as an array of its own."""
    return whole.table[whole.row].copy()


def drawn(rng: np.random.Generator) -> Whole:
    rows, columns, *sides = rng.integers(1, 6, 5)
    return Whole(
        table=rng.normal(size=(rows, columns)),
        flags=rng.random(int(rng.integers(0, 9))) < 0.5,
        row=int(rng.integers(rows)),
        is_open=bool(rng.random() < 0.5),
        part=Part(np.zeros(2, np.int32), float(rng.normal())),
        cube=rng.integers(-9, 9, sides),
    )


def test_a_kernel_reads_and_changes_what_python_holds() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        whole = drawn(rng)
        row = copied(whole)
        expected = whole.table[whole.row].copy()
        total, weight, cube = summed(whole)
        assert (row == expected).all()
        assert total == pytest.approx(expected.sum() if whole.is_open else -expected.sum())
        assert (weight, cube) == (whole.part.weight, whole.cube.sum())
        assert (whole.table[whole.row] == -1.0).all()
        assert whole.part.counts.tolist() == [int((~whole.flags).sum()), int(whole.flags.sum())]


def test_a_replaced_field_is_the_one_that_is_read_and_the_old_record_is_as_it_was() -> None:
    old = drawn(np.random.default_rng(4))
    new = replace(old, table=old.table + 1.0)
    assert (copied(new) == copied(old) + 1.0).all()


def test_a_pickled_record_has_arrays_and_words_of_its_own() -> None:
    whole = drawn(np.random.default_rng(6))
    row = copied(whole)
    again = pickle.loads(pickle.dumps(whole))
    whole.table[:] = 0.0
    assert (copied(again) == row).all()
    assert (copied(whole) == 0.0).all()


def test_the_plain_function_does_the_same() -> None:
    rng = np.random.default_rng(5)
    plain: Any = summed
    for _ in range(20):
        whole = drawn(rng)
        if whole.flags.any():
            continue
        twin = replace(whole, table=whole.table.copy(), flags=whole.flags[:0])
        whole = replace(whole, flags=whole.flags[:0])
        assert plain.py_func(twin) == pytest.approx(summed(whole))


def test_an_array_of_another_layout_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="counts: an array of shape"):
        Part(np.zeros(6, np.int32)[::2], 1.0)
