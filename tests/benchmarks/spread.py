"""A fair choice of cells: every value of every axis about as often as any other, drawn with a fixed seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from itertools import count
from typing import TypeVar

from tests.benchmarks.assignor_inputs import INTENDED
from tests.benchmarks.assignor_inputs import Cell as ClientCell
from tests.benchmarks.server_inputs import Cell as ServerCell

Cell = TypeVar("Cell", ClientCell, ServerCell)


def spread(grid: Sequence[Cell], size: int) -> Iterator[Cell]:
    """All cells of ``grid``, in draws of ``size``.

    In each draw the axes are shuffled apart, each value equally often; a cell that is drawn again is passed over.
    """
    axes = [field.name for field in fields(grid[0])]
    kind, missing, seen = type(grid[0]), set(grid), set()
    for draw in count():
        if not missing or draw > 1000:
            break
        columns = [
            _shuffled(list(dict.fromkeys(getattr(cell, axis) for cell in grid)), size, f"{draw} {axis}")
            for axis in axes
        ]
        for values in zip(*columns, strict=True):
            cell = kind(*values)
            if cell not in seen:
                seen.add(cell)
                missing.discard(cell)
                yield cell
    yield from (cell for cell in grid if cell in missing)


def _shuffled(values: list[object], size: int, seed: str) -> list[object]:
    lot = random.Random(seed)
    lot.shuffle(values)
    repeated = (values * (size // len(values) + 1))[:size]
    lot.shuffle(repeated)
    return repeated


def is_larger(cell: Cell, other: Cell) -> bool:
    """``cell`` is at least as much work as ``other``: as many members and partitions a member, or more.

    Racks only add to it, and so does a second round: the first one is FULL.
    """
    if isinstance(cell, ClientCell) and isinstance(other, ClientCell):
        more = cell.is_rack_aware >= other.is_rack_aware and (cell.mode == other.mode or other.mode != INTENDED)
        other = replace(other, is_rack_aware=cell.is_rack_aware, mode=cell.mode)
    else:
        more = True
    return (
        more
        and cell.members >= other.members
        and cell.ratio >= other.ratio
        and replace(other, members=cell.members, ratio=cell.ratio) == cell
    )
