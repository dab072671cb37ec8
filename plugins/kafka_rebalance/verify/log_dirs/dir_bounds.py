"""A bound on what is copied between the disks of one broker, recomputed: covers of what must leave and arrive.

A place above its ceiling loses whole replicas that weigh at least the excess, one below its floor gets such: the
lightest cover of each is a knapsack, counted in thousandths of the need, sizes rounded up. So no cover weighs less.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

UNITS = 1_000
_NEVER = 2**62


def lightest_cover(sizes: Sequence[int], need: int) -> int:
    """No set of ``sizes`` that weighs ``need`` or more weighs less than this; the need itself where all weigh less."""
    if need <= 0:
        return 0
    if sum(sizes) < need:
        return need
    unit = max(1, need // UNITS)
    cells = (need + unit - 1) // unit
    least = np.full(cells, _NEVER, dtype=np.int64)  # [u]: of sets that make up exactly u units
    least[0], covered = 0, _NEVER
    for size in sizes:
        step = (size + unit - 1) // unit
        reaching = least[max(cells - step, 0) :].min(initial=_NEVER)
        covered = min(covered, int(reaching) + size)
        if 0 < step < cells:
            least[step:] = np.minimum(least[step:], least[:-step] + size)
    return max(need, covered)


def broker_bound(places: Sequence[tuple[Sequence[int], int, int]]) -> int:
    """``places``: sizes held now, floor and ceiling, each widened to what the plan leaves. Bytes nobody avoids."""
    leaves = arrives = 0
    for number, (sizes, floor, ceiling) in enumerate(places):
        held = sum(sizes)
        others = [size for other, (theirs, _, _) in enumerate(places) if other != number for size in theirs]
        leaves += lightest_cover(sizes, held - ceiling)
        arrives += lightest_cover(others, floor - held)
    return max(leaves, arrives)
