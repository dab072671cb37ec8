"""Placement of one broker's replicas in its log dirs, and a lower bound on the bytes moved.

Promises, in order: a dir that may not receive gets nothing; fewest bytes above ceilings in total; fewest below floors;
fewest moved.

Search: make the move that repairs most per byte, ties to the largest, until all dirs are within limits. Then replicas
return or swap with lighter ones. Small problems without a proof go to exact integer programs. O(moves × R × D).
Example: ceilings 100, dir 0 holds 60, 50, 30. 30 repairs most per byte but leaves 10, so 50 moves and 30 returns.

Bound: a dir above its ceiling loses whole replicas that weigh the excess, one below its floor gains such; the larger of
both sums of the lightest sets. The lightest set is a covering knapsack in units of need / 1,000, rounded up: never
above the true answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, hstack, identity, kron, vstack

from kafka_assignors.arrays import Floats, Longs
from kafka_rebalance.errors import UsageError
from kafka_rebalance.planner.params import LOG_DIRS


@dataclass(frozen=True, slots=True, eq=False)
class LogDirProblem:
    """``size_bytes`` at least 1: an empty replica must leave an emptied dir, too."""

    size_bytes: Longs
    dir_of: Longs
    floor_bytes: Longs
    ceiling_bytes: Longs
    may_receive: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        dirs = len(self.ceiling_bytes)
        if not len(self.floor_bytes) == len(self.may_receive) == dirs:
            raise UsageError.at("log dirs", f"{dirs} ceilings, {len(self.floor_bytes)} floors", "one of each a dir")
        if len(self.size_bytes) != len(self.dir_of):
            raise UsageError.at("log dirs", f"{len(self.size_bytes)} sizes of {len(self.dir_of)} replicas", "one each")
        if len(self.dir_of) and not 0 <= int(self.dir_of.min()) <= int(self.dir_of.max()) < dirs:
            raise UsageError.at("log dirs", f"a replica in dir {int(self.dir_of.max())} of {dirs}", "0 is the first")
        if (self.size_bytes < 1).any():
            raise UsageError.at("log dirs", f"a replica of {int(self.size_bytes.min())} bytes", "at least 1")
        if (self.floor_bytes > self.ceiling_bytes).any():
            raise UsageError.at("log dirs", "a floor above its ceiling", "a floor is at most its ceiling")

    def load_bytes(self, dir_of: Longs) -> Longs:
        result = np.zeros(len(self.ceiling_bytes), dtype=np.int64)
        np.add.at(result, dir_of, self.size_bytes)
        return result

    def moved_bytes(self, dir_of: Longs) -> int:
        return int(self.size_bytes[dir_of != self.dir_of].sum())

    def cost(self, dir_of: Longs) -> tuple[int, int, int]:
        """Bytes above ceilings, below floors, moved: minimised in this order."""
        load = self.load_bytes(dir_of)
        over = np.maximum(load - self.ceiling_bytes, 0).sum()
        under = np.maximum(self.floor_bytes - load, 0).sum()
        return int(over), int(under), self.moved_bytes(dir_of)


def fewest_moved_bytes(problem: LogDirProblem, floor_bytes: Longs, ceiling_bytes: Longs) -> int:
    """Lower bound for placements within the limits."""
    load = problem.load_bytes(problem.dir_of)
    leaves = arrives = 0
    for log_dir, bytes_now in enumerate(load.tolist()):
        is_here = problem.dir_of == log_dir
        leaves += lightest_cover_bytes(problem.size_bytes[is_here], bytes_now - int(ceiling_bytes[log_dir]))
        arrives += lightest_cover_bytes(problem.size_bytes[~is_here], int(floor_bytes[log_dir]) - bytes_now)
    return max(leaves, arrives)


def lightest_cover_bytes(size_bytes: Longs, need_bytes: int) -> int:
    """Lower bound on a set of ``need_bytes`` or more; the need itself if all together weigh less."""
    if need_bytes <= 0 or int(size_bytes.sum()) < need_bytes:
        return max(need_bytes, 0)
    unit = max(1, need_bytes // LOG_DIRS.bound_units)
    need = -(-need_bytes // unit)
    lightest = np.full(need + 1, np.iinfo(np.int64).max // 2, dtype=np.int64)  # [u]: of sets of u units or more
    lightest[0] = 0
    for size in np.sort(size_bytes).tolist():
        units = min(-(-size // unit), need)
        with_replica = np.concatenate((np.full(units, size, dtype=np.int64), lightest[: need + 1 - units] + size))
        lightest = np.minimum(lightest, with_replica)
    return max(need_bytes, int(lightest[need]))


def placed_in_whole_numbers(problem: LogDirProblem) -> Longs | None:
    """An integer program in floating point, not a proof; ``None`` if too large or unsolved."""
    replicas, dirs = len(problem.size_bytes), len(problem.ceiling_bytes)
    if not 0 < replicas * dirs <= LOG_DIRS.whole_cells:
        return None
    scale = float(problem.size_bytes.max())
    size = problem.size_bytes / scale
    loads = kron(csr_array(size[None, :]), identity(dirs))  # replica × dir, then over[D], then under[D]
    none = csr_array((dirs, dirs))
    one_dir = hstack([kron(identity(replicas), np.ones((1, dirs))), csr_array((replicas, 2 * dirs))])
    rows: Any = vstack([
        one_dir, hstack([loads, -identity(dirs), none]), hstack([loads, none, identity(dirs)]),
    ])  # fmt: skip
    low = np.concatenate((np.ones(replicas), np.full(dirs, -np.inf), problem.floor_bytes / scale))
    high = np.concatenate((np.ones(replicas), problem.ceiling_bytes / scale, np.full(dirs, np.inf)))
    constraints = [LinearConstraint(rows.tocsr(), low, high)]
    is_home = np.arange(dirs)[None, :] == problem.dir_of[:, None]
    moved = np.where(is_home, 0.0, size[:, None]).ravel()
    free = (is_home | problem.may_receive[None, :]).ravel().astype(np.float64)
    cells = replicas * dirs
    upper = np.concatenate((free, np.full(2 * dirs, np.inf)))
    integrality = np.concatenate((np.ones(cells, dtype=np.int64), np.zeros(2 * dirs, dtype=np.int64)))
    over = np.concatenate((np.zeros(cells), np.ones(dirs), np.zeros(dirs)))
    under = np.concatenate((np.zeros(cells + dirs), np.ones(dirs)))
    chosen: Floats | None = None
    for aim in (over, under, np.concatenate((moved, np.zeros(2 * dirs)))):
        answer = milp(
            aim,
            constraints=constraints,
            bounds=Bounds(0.0, upper),
            integrality=integrality,
            options={"node_limit": LOG_DIRS.whole_nodes, "mip_rel_gap": 0.0},
        )
        chosen = answer.x
        if chosen is None:
            return None
        constraints = [*constraints, LinearConstraint(aim[None, :], -np.inf, float(aim @ chosen) + 1e-9)]
    assert chosen is not None
    dir_of: Longs = np.argmax(chosen[:cells].reshape(replicas, dirs), axis=1).astype(np.int64)
    return dir_of


@dataclass(frozen=True, slots=True, eq=False)
class LogDirPlacement:
    """``bound_bytes`` holds for the limits asked, each widened to this placement's load."""

    dir_of: Longs
    moved_bytes: int
    bound_bytes: int
    over_bytes: int
    under_bytes: int


def place_in_log_dirs(problem: LogDirProblem) -> LogDirPlacement:
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
    dir_of = problem.dir_of.copy()
    rows = np.arange(len(dir_of))
    while len(rows):
        load = problem.load_bytes(dir_of)
        now = _outside(problem, load)
        without = _outside(problem, load[dir_of] - problem.size_bytes, dir_of) - now[dir_of]
        mended = np.empty((len(rows), len(load)))
        for log_dir in range(len(load)):
            targets = np.full(len(rows), log_dir)
            mended[:, log_dir] = now[log_dir] - _outside(problem, load[log_dir] + problem.size_bytes, targets) - without
        mended[:, ~problem.may_receive] = 0.0
        mended[rows, dir_of] = 0.0
        rate = mended / problem.size_bytes[:, None]
        best = float(rate.max())
        if best <= 0.0 or float(mended.max()) < 1.0:
            break
        candidates = np.argwhere(rate >= best)
        replica, log_dir = candidates[np.argmax(problem.size_bytes[candidates[:, 0]])]
        dir_of[replica] = log_dir
    return dir_of


def _outside(problem: LogDirProblem, load: Longs, dirs: Longs | None = None) -> Floats:
    """Weighted; ``dirs`` None = all."""
    places = slice(None) if dirs is None else dirs
    over = np.maximum(load - problem.ceiling_bytes[places], 0)
    under = np.maximum(problem.floor_bytes[places] - load, 0)
    outside: Floats = LOG_DIRS.over_weight * over + under
    return outside


def _with_fewer_bytes(problem: LogDirProblem, dir_of: Longs) -> Longs:
    """Heaviest first. Bytes fall, so this ends."""
    dir_of = dir_of.copy()
    is_better = True
    while is_better:
        is_better = False
        moved = np.flatnonzero(dir_of != problem.dir_of)
        for replica in moved[np.argsort(-problem.size_bytes[moved], kind="stable")].tolist():
            is_better |= _put_back(problem, dir_of, replica)
    return dir_of


def _put_back(problem: LogDirProblem, dir_of: Longs, replica: int) -> bool:
    pair = np.array([problem.dir_of[replica], dir_of[replica]], dtype=np.int64)  # home dir, present dir
    size = problem.size_bytes
    load = problem.load_bytes(dir_of)[pair]
    allowed = _outside(problem, load, pair).sum()
    load = load + np.array([size[replica], -size[replica]])
    is_lighter = (dir_of == pair[0]) & (problem.dir_of == pair[0]) & (size < size[replica])
    instead = np.flatnonzero(is_lighter)
    instead = instead[np.argsort(size[instead], kind="stable")]
    gone = np.concatenate((np.zeros(1, dtype=np.int64), size[instead]))  # no swap, then each lighter one
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
