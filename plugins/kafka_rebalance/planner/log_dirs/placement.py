"""Replicas moved between the dirs of one broker until every dir is within its limits, for as few bytes as it takes.

**Promises, in this order.** A dir that may not receive gets nothing. As few bytes above ceilings as can be, all dirs
together; as few below floors; few bytes moved. The same answer for the same problem.

**Way.** While a dir is outside its limits, the one move that mends most for each byte, of equal ones the largest. Then
each replica that moved is put back where that hurts nothing, or exchanged for a lighter one of the same dir. What is
small enough and not yet proved is decided in whole numbers: there all promises are exact. Example: ceilings 100 and
100, dir 0 holds 60, 50, 30 and dir 1 nothing, 40 too much. 60 would mend 40 of 60, 50 mends 40 of 50, 30 mends 30 of 30
and leaves 10, for which 50 has to go: so 30 is put back, 50 moved, and 50 is the bound.
O(moves × R × D).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Floats, Longs
from kafka_rebalance.planner.log_dirs.bound import fewest_moved_bytes
from kafka_rebalance.planner.log_dirs.problem import LogDirProblem
from kafka_rebalance.planner.log_dirs.whole_numbers import placed_in_whole_numbers
from kafka_rebalance.planner.params import LOG_DIRS


@dataclass(frozen=True, slots=True, eq=False)
class LogDirPlacement:
    """``dir_of`` int64[R]; ``bound_bytes``: no placement moves less whose dirs end within the limits asked, each
    widened to where this one leaves its dir. ``over_bytes`` above ceilings and ``under_bytes`` below floors, 0 where
    all hold.
    """

    dir_of: Longs
    moved_bytes: int
    bound_bytes: int
    over_bytes: int
    under_bytes: int


def place_in_log_dirs(problem: LogDirProblem) -> LogDirPlacement:
    """The dirs of one broker's replicas. No randomness, no clock."""
    dir_of = _with_fewer_bytes(problem, _within_limits(problem))
    over, under, moved = problem.cost(dir_of)
    if over or under or moved > _bound(problem, dir_of):
        exact = placed_in_whole_numbers(problem)
        if exact is not None and problem.cost(exact) < (over, under, moved):
            dir_of = exact
            over, under, moved = problem.cost(dir_of)
    return LogDirPlacement(dir_of, moved, _bound(problem, dir_of), over, under)


def _bound(problem: LogDirProblem, dir_of: Longs) -> int:
    load = problem.load_bytes(dir_of)
    floor, ceiling = np.minimum(problem.floor_bytes, load), np.maximum(problem.ceiling_bytes, load)
    return fewest_moved_bytes(problem, floor, ceiling)


def _within_limits(problem: LogDirProblem) -> Longs:
    """Move after move while one mends something; each lowers what is outside, so it ends."""
    dir_of = problem.dir_of.copy()
    rows = np.arange(len(dir_of))
    while len(rows):
        load = problem.load_bytes(dir_of)
        now = _outside(problem, load)
        without = _outside(problem, load[dir_of] - problem.size_bytes, dir_of) - now[dir_of]
        mended = np.empty((len(rows), len(load)))
        for place in range(len(load)):
            there = np.full(len(rows), place)
            mended[:, place] = now[place] - _outside(problem, load[place] + problem.size_bytes, there) - without
        mended[:, ~problem.may_receive] = 0.0
        mended[rows, dir_of] = 0.0
        rate = mended / problem.size_bytes[:, None]
        best = float(rate.max())
        if best <= 0.0 or float(mended.max()) < 1.0:
            break
        candidates = np.argwhere(rate >= best)
        replica, place = candidates[np.argmax(problem.size_bytes[candidates[:, 0]])]
        dir_of[replica] = place
    return dir_of


def _outside(problem: LogDirProblem, load: Longs, dirs: Longs | None = None) -> Floats:
    """What loads are outside the limits of their dirs, weighed; ``dirs`` of the loads where they are not all dirs."""
    places = slice(None) if dirs is None else dirs
    over = np.maximum(load - problem.ceiling_bytes[places], 0)
    under = np.maximum(problem.floor_bytes[places] - load, 0)
    outside: Floats = LOG_DIRS.over_weight * over + under
    return outside


def _with_fewer_bytes(problem: LogDirProblem, dir_of: Longs) -> Longs:
    """Put back, or exchanged for a lighter one, the heaviest first; each change moves fewer bytes, so it ends."""
    dir_of = dir_of.copy()
    is_better = True
    while is_better:
        is_better = False
        moved = np.flatnonzero(dir_of != problem.dir_of)
        for replica in moved[np.argsort(-problem.size_bytes[moved], kind="stable")].tolist():
            is_better |= _put_back(problem, dir_of, replica)
    return dir_of


def _put_back(problem: LogDirProblem, dir_of: Longs, replica: int) -> bool:
    """One replica back in its dir, with the lightest of its dir gone in its stead where one has to, in ``dir_of``.

    Only where the two dirs are no further outside their limits than before.
    """
    pair = np.array([problem.dir_of[replica], dir_of[replica]], dtype=np.int64)  # its own dir, the one it is in
    size = problem.size_bytes
    load = problem.load_bytes(dir_of)[pair]
    allowed = _outside(problem, load, pair).sum()
    load = load + np.array([size[replica], -size[replica]])
    is_lighter = (dir_of == pair[0]) & (problem.dir_of == pair[0]) & (size < size[replica])
    instead = np.flatnonzero(is_lighter)
    instead = instead[np.argsort(size[instead], kind="stable")]
    gone = np.concatenate((np.zeros(1, dtype=np.int64), size[instead]))  # nothing, then each of the lighter ones
    outside = sum(
        _outside(problem, load[end] + sign * gone, np.full(len(gone), pair[end])) for end, sign in ((0, -1), (1, 1))
    )
    fits = np.flatnonzero(outside <= allowed)
    if not len(fits):
        return False
    dir_of[replica] = pair[0]
    if fits[0] > 0:
        dir_of[instead[fits[0] - 1]] = pair[1]
    return True
