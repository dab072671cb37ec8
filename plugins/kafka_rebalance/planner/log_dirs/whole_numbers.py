"""A small broker's dirs decided in whole numbers: one program an aim, each within what the ones before it reached."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, hstack, identity, kron, vstack

from kafka_rebalance.arrays import Floats, Longs
from kafka_rebalance.planner.log_dirs.problem import LogDirProblem
from kafka_rebalance.planner.params import LOG_DIRS


def placed_in_whole_numbers(problem: LogDirProblem) -> Longs | None:
    """``dir_of`` int64[R]: least above ceilings, then below floors, then moved; ``None`` if too large or unsolved.

    The program counts in floating point, so its answer is good and no proof: whoever takes it weighs it again.
    """
    replicas, dirs = len(problem.size_bytes), len(problem.ceiling_bytes)
    if not 0 < replicas * dirs <= LOG_DIRS.whole_cells:
        return None
    scale = float(problem.size_bytes.max())
    size = problem.size_bytes / scale
    loads = kron(csr_array(size[None, :]), identity(dirs))  # variables: replica × dir, then over[D], then under[D]
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
    assert chosen is not None  # there are three aims
    dir_of: Longs = np.argmax(chosen[:cells].reshape(replicas, dirs), axis=1).astype(np.int64)
    return dir_of
