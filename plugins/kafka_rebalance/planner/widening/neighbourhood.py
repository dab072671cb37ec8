"""A program in whole numbers that is too large to be solved at once, improved part by part.

What lies on a few brokers is decided anew, replicas and leaders together, and all else stays as it is: large
neighbourhood search (Shaw 1998), as ``linear_program.neighbourhoods`` makes it for replicas alone. Deterministic: steps
and nodes are counted, one thread, no clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from kafka_rebalance.arrays import Flags, Floats, Longs
from kafka_rebalance.planner.linear_program.whole_plan import WholeProgram
from kafka_rebalance.planner.params import WideningParams


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """What is minimised over all variables: ``factor`` · x, within ``least`` <= x <= ``most``, float64 each.

    ``is_whole`` bool: 0 or 1. ``step``: what lowers the goal by less is no improvement; ``patience``: so many times as
    many steps as of others. ``first(x)``: the brokers that
    a step must open, the others are drawn.
    """

    factor: Floats
    least: Floats
    most: Floats
    is_whole: Flags
    step: float
    patience: int
    first: Callable[[Floats], Longs]


def improved(program: WholeProgram, goal: Goal, start: Floats, *, seed: int, params: WideningParams) -> Floats:
    """``start``, a solution, or what steps from it come to."""
    matrix: Any = sp.vstack(program.rows.blocks).tocsc()
    rules = (matrix, np.concatenate(program.rows.most), program.equal.tocsc())
    rng, best, since = np.random.default_rng(seed), start, 0
    is_tiny = 2 * len(program.arcs.row) <= params.few_variables
    most, nodes = (params.few_variables, params.nodes) if is_tiny else (params.open_variables, params.step_nodes)
    for _ in range(params.steps * goal.patience):
        is_open, is_all = _opened(program, goal, best, rng, most)
        found = _decided(program, goal, rules, best, is_open, nodes)
        since = 0 if found is not None else since + 1
        best = best if found is None else found
        if since >= params.patience * goal.patience or (is_all and found is None):
            break
    return best


def _opened(program: WholeProgram, goal: Goal, best: Floats, rng: np.random.Generator, most: int) -> tuple[Flags, bool]:
    """Variables that one step decides, and whether these are all: brokers are opened while there is left."""
    arcs, count = program.arcs, len(program.arcs.row)
    first = goal.first(best)
    others = rng.permutation(np.setdiff1d(np.flatnonzero(program.problem.stays), first))
    is_there = best[:count] > 0.5
    chosen = np.zeros(program.problem.broker_count, dtype=np.bool_)
    is_open = np.zeros(count, dtype=np.bool_)
    order = np.concatenate([first, others])
    for number, broker in enumerate(order.tolist()):
        chosen[broker] = True
        rows = np.zeros(program.problem.partition_count, dtype=np.bool_)
        rows[arcs.row[is_there & chosen[arcs.broker]]] = True
        wider = rows[arcs.row] & (chosen[arcs.broker] | is_there)
        if number >= 2 and 2 * int(wider.sum()) > most:
            break
        is_open = wider
    return np.concatenate([is_open, is_open, np.ones(len(best) - 2 * count, dtype=np.bool_)]), bool(is_open.all())


def _decided(
    program: WholeProgram, goal: Goal, rules: tuple[Any, Floats, Any], best: Floats, is_open: Flags, nodes: int
) -> Floats | None:
    matrix, most, equal = rules
    rest, some = np.where(is_open, 0.0, best), np.flatnonzero(is_open)
    part, same = matrix[:, some].tocsr(), equal[:, some].tocsr()
    bound, counted = np.diff(part.indptr) > 0, np.diff(same.indptr) > 0
    now = float(goal.factor[some] @ best[some])
    cut = sp.csr_matrix(goal.factor[some])
    left = np.append((most - matrix @ rest)[bound], now - goal.step)
    wanted = (program.wanted - equal @ rest)[counted]
    answer = milp(
        goal.factor[some],
        integrality=goal.is_whole[some].astype(np.int64),
        bounds=Bounds(goal.least[some], goal.most[some]),
        constraints=[
            LinearConstraint(sp.vstack([part[bound], cut]), -np.inf, left),
            LinearConstraint(same[counted], wanted, wanted),
        ],
        options={"node_limit": nodes, "mip_rel_gap": 1e-3},
    )
    if answer.x is None:
        return None
    found = best.copy()
    found[some] = np.where(goal.is_whole[some], np.round(answer.x), answer.x)
    return found
