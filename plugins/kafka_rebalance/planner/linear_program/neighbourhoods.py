"""A plan made cheaper piece by piece: for a few brokers at a time, who holds which partition is decided anew, exactly.

Large neighbourhood search (Shaw 1998), led by the linear program. What a plan costs beyond the program's optimum is,
arc by arc and row by row, what it pays for differing from it:

    cost(plan) - cost(program) = Σ regret of arcs that differ + Σ price · slack left in rows of loads

So the core of the program (``core_arcs.py``) is decided once, all brokers at once. From then on the brokers with most
of that are taken up first, with the partitions that differ, have moved, or hardly care. All else stays as it is, and a
program in whole numbers (HiGHS) finds the best for what is open. Topics stay spread.

Example: 30 brokers × 3,000 partitions, one drained, ±3 %: 4.3 % above the program's optimum becomes 0.5 % in two dozen
steps of about a second each. Deterministic: one thread, steps and nodes are counted, no clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from kafka_rebalance.arrays import Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.linear_program.arcs import Arcs
from kafka_rebalance.planner.linear_program.core_arcs import core_arcs
from kafka_rebalance.planner.linear_program.relaxation import (
    Relaxed,
    Rows,
    capacity_rows,
    load_rows,
    rack_rows,
)
from kafka_rebalance.planner.params import DEFAULTS, LinearProgramParams, NeighbourhoodParams
from kafka_rebalance.planner.scales import mean_bytes, resource_scale
from kafka_rebalance.planner.topic_spread import topic_limit


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """The linear program and its optimum; ``bands`` are low and high, float64[B, all D]."""

    problem: Problem
    arcs: Arcs
    relaxed: Relaxed
    bands: tuple[Floats, Floats]
    params: LinearProgramParams = DEFAULTS.linear_program


@dataclass(frozen=True, slots=True, eq=False)
class _Rules:
    """The rules for all arcs: ``matrix`` · x <= ``most``, each partition's factor, each topic's limit per broker."""

    matrix: Any
    most: Floats
    partition: Any
    line: Longs
    factor: Floats
    cell: Longs
    limit: Floats
    allowed: int


def decided_core(program: Program, replicas: Ints, *, allowed: int, held: Flags) -> Floats | None:
    """Shares float64[A], all 0 or 1, with the core decided anew, but for partitions ``held`` bool[P].

    None where nothing cheaper than ``replicas`` int32[P, W] was found, or they are near the program's optimum.
    """
    arcs, limits = program.arcs, program.params.neighbourhoods
    share = (replicas[arcs.row] == arcs.broker[:, None]).any(axis=1).astype(np.float64)
    best, cost = float(arcs.cost @ program.relaxed.share), float(arcs.cost @ share)
    rules = _rules(program, allowed)
    if cost - best <= limits.near[0] * best or (rules.partition @ share != rules.factor).any():
        return None
    is_open = core_arcs(program.problem, arcs, program.relaxed, share, program.params) & ~held[arcs.row]
    return _decided(arcs, rules, share, is_open, limits.near[0] * best, limits)


def cheaper_plans(program: Program, replicas: Ints, *, allowed: int, steps: int, seed: int) -> Iterator[Floats]:
    """Shares float64[A], all 0 or 1, each cheaper than the one before and than ``replicas`` int32[P, W].

    The program's bands hold the loads of ``replicas``; ``allowed`` replicas may lie where their topic has its share
    already; ``steps`` are made at most.
    """
    arcs, limits = program.arcs, program.params.neighbourhoods
    rules = _rules(program, allowed)
    share = (replicas[arcs.row] == arcs.broker[:, None]).any(axis=1).astype(np.float64)
    if (rules.partition @ share != rules.factor).any():
        return  # a replica is where none may be
    rng = np.random.default_rng(seed)
    best = float(arcs.cost @ program.relaxed.share)
    gaps = [float(arcs.cost @ share) - best]
    open_arcs = min(limits.most_open, max(limits.least_open, len(arcs.row) // limits.arcs_per_open))
    levels = limits.near if len(arcs.row) > limits.few_arcs else limits.near[:1]
    patience = limits.patience + len(arcs.row) // limits.arcs_per_patience
    level, since, kind = 0, 0, 0
    for step in range(steps):
        closes_little = step - since >= patience and gaps[-1] > (1 - limits.least_closed) * gaps[-1 - patience]
        if closes_little and gaps[-1] <= limits.far * best:
            level, since = level + 1, step
        if level == len(levels) or gaps[-1] <= levels[level] * best:
            return
        brokers = min(program.problem.broker_count, limits.brokers[kind])
        is_open = _open_arcs(program, share, brokers, open_arcs * (2 + level) // 2, rng)
        gap = max(limits.least_gap * best, limits.gap_share * gaps[-1])
        found = _decided(arcs, rules, share, is_open, gap, limits)
        if found is not None:
            share = found
            yield share
        gaps.append(float(arcs.cost @ share) - best)
        if gaps[-1] > (1 - limits.least_closed) * gaps[-2]:
            kind = (kind + 1) % len(limits.brokers)


def _rules(program: Program, allowed: int) -> _Rules:
    problem, arcs, (low, high) = program.problem, program.arcs, program.bands
    count, slack = len(arcs.row), program.params.neighbourhoods.row_slack * resource_scale(problem)
    rows = Rows(count)
    load_rows(problem, arcs, low + slack * (low > 0), high - slack, rows)
    capacity_rows(problem, arcs, rows)
    rack_rows(problem, arcs, rows)
    matrix: Any = sp.vstack(rows.blocks).tocsc()
    free, line = np.unique(arcs.row, return_inverse=True)
    partition: Any = sp.csc_matrix((np.ones(count), (line, np.arange(count))), (len(free), count))
    limit = np.repeat(topic_limit(problem).astype(np.float64), problem.broker_count)
    pinned = problem.replicas[problem.pinned]
    topic = np.repeat(problem.topic[problem.pinned].astype(np.int64), pinned.shape[1])
    there = pinned.ravel() >= 0
    np.subtract.at(limit, topic[there] * problem.broker_count + pinned.ravel()[there], 1.0)
    return _Rules(
        matrix=matrix,
        most=np.concatenate(rows.most),
        partition=partition,
        line=line,
        factor=problem.target_rf[free].astype(np.float64),
        cell=problem.topic[arcs.row].astype(np.int64) * problem.broker_count + arcs.broker,
        limit=limit,
        allowed=allowed,
    )


def _losses(program: Program, share: Floats) -> Floats:
    """float64[B]: what each broker's part in ``share`` costs beyond the program's optimum, in the units of the arcs."""
    problem, arcs, relaxed, bands = program.problem, program.arcs, program.relaxed, program.bands
    columns = arcs.columns
    load = arcs.fixed.copy()
    np.add.at(load, arcs.broker, arcs.weight * share[:, None])
    low, high = bands[0][:, columns], np.minimum(bands[1], problem.limit)[:, columns]
    price = relaxed.prices[:, columns] / max(mean_bytes(problem), 1e-300)
    with np.errstate(invalid="ignore"):
        headroom = np.where(price > 0, high - load, load - low)
        lost = np.maximum(np.where(price == 0, 0.0, np.abs(price) * headroom), 0.0).sum(axis=1)
    differs = relaxed.regret * np.abs(share - relaxed.share)
    return np.asarray(lost + np.bincount(arcs.broker, weights=differs, minlength=problem.broker_count) / 2)


def _open_arcs(program: Program, share: Floats, chosen: int, most: int, rng: np.random.Generator) -> Flags:
    """Which arcs one step decides, about ``most``: of the preferred partitions, those of ``chosen`` brokers and those
    that are taken, by the plan or by the linear program.
    """
    problem, arcs, limits = program.problem, program.arcs, program.params.neighbourhoods
    losses = _losses(program, share) + 1e-300
    brokers, count = problem.broker_count, problem.partition_count
    first = rng.choice(brokers, size=min(limits.chosen_first, brokers), replace=False, p=losses / losses.sum())
    odds = losses / losses.sum() + 0.5 / brokers
    others = rng.choice(brokers, size=min(chosen, brokers), replace=False, p=odds / odds.sum())
    is_first, is_chosen = np.zeros((2, brokers), dtype=np.bool_)
    is_first[first] = is_chosen[first] = True
    is_chosen[others[: max(0, chosen - limits.chosen_first * (chosen < brokers))]] = True
    preference = _preferences(program, share, is_first[arcs.broker], is_chosen[arcs.broker], rng)
    unused = program.params.arcs.unused_share
    usable = is_chosen[arcs.broker] | (share > 0.5) | (program.relaxed.share > unused)
    ranked = np.argsort(-preference, kind="stable")
    arcs_of_row = np.bincount(arcs.row[usable], minlength=count)
    is_wanted = np.zeros(count, dtype=np.bool_)
    is_wanted[ranked[: np.searchsorted(np.cumsum(arcs_of_row[ranked]), most)]] = True
    return np.asarray(is_wanted[arcs.row] & usable)


def _preferences(
    program: Program, share: Floats, at_first: Flags, at_chosen: Flags, rng: np.random.Generator
) -> Floats:
    """float64[P], drawn anew for each step: how much a partition is wanted in it.

    ``at_first`` and ``at_chosen`` bool[A] are the arcs of the first and of all chosen brokers.

    Wanted are those that lie otherwise than in the linear program, the large ones most; those that hardly care, above
    all around the first brokers; and what has moved there. Who has nothing on the chosen brokers can add little.
    """
    problem, arcs, relaxed = program.problem, program.arcs, program.relaxed
    count, taken = problem.partition_count, share > 0.5

    def any_arc(of: Flags) -> Flags:
        return np.bincount(arcs.row[of], minlength=count) > 0

    is_here = arcs.is_kept | taken
    differs = any_arc(np.abs(share - relaxed.share) > program.params.arcs.unused_share)
    size = np.argsort(np.argsort(np.where(differs, problem.move_bytes, -1.0), kind="stable")) / max(1, count - 1)
    size = np.clip(1.0 - (1.0 - size) * count / max(1, int(differs.sum())), 0.0, 1.0)
    least = np.full(count, np.inf)
    asked = at_chosen & (relaxed.regret > 0)
    np.minimum.at(least, arcs.row[asked], relaxed.regret[asked])
    undecided = program.params.neighbourhoods.undecided_partitions
    calm = np.exp(-np.argsort(np.argsort(least, kind="stable")) / undecided)
    draw = rng.random((3, count))
    preference = differs * draw[0] * (0.6 + 0.9 * size)
    preference += calm * draw[1] * np.where(any_arc(at_first & is_here), 2.0, 1.0)
    preference += 1.5 * draw[2] * any_arc(at_first & (arcs.is_kept != taken))
    preference[~any_arc(at_chosen & is_here)] *= 0.2
    return np.asarray(preference)


def _decided(
    arcs: Arcs, rules: _Rules, share: Floats, is_open: Flags, gap: float, limits: NeighbourhoodParams
) -> Floats | None:
    """``share`` with what is open at its cheapest, to ``gap``; None where nothing cheaper was found."""
    some = np.flatnonzero(is_open)
    if not len(some):
        return None
    rest = np.where(is_open, 0.0, share)
    paid = float(arcs.cost[some] @ share[some])
    held = np.bincount(rules.cell, weights=rest, minlength=len(rules.limit))
    cells, cell = np.unique(rules.cell[some], return_inverse=True)
    spare = np.maximum(rules.limit[cells] - held[cells], 0.0)
    # A column for each topic and broker that may come to hold more than the limit: by how many.
    is_tight = np.bincount(cell) > spare
    column = np.cumsum(is_tight) - 1
    mine = is_tight[cell]
    beyond = int(is_tight.sum())
    tight: Any = sp.csr_matrix((np.ones(mine.sum()), (column[cell[mine]], np.flatnonzero(mine))), (beyond, len(some)))
    excess = max(0.0, rules.allowed - float(np.maximum(held - rules.limit, 0.0).sum()))
    cost, ones = sp.csr_matrix(arcs.cost[some]), sp.csr_matrix(np.ones((1, beyond)))
    matrix: Any = sp.bmat([[rules.matrix[:, some], None], [tight, -sp.eye(beyond)], [cost, None], [None, ones]]).tocsr()
    most = np.concatenate(
        [rules.most - rules.matrix @ rest, spare[is_tight], [paid * (1 - limits.least_saving), excess]]
    )
    bound = np.diff(matrix.indptr) > 0
    lines = np.unique(rules.line[some])
    wanted = (rules.factor - rules.partition @ rest)[lines]
    counts: Any = sp.hstack([rules.partition.tocsr()[lines][:, some], sp.csr_matrix((len(lines), beyond))]).tocsr()
    answer = milp(
        np.append(arcs.cost[some], np.zeros(beyond)),
        integrality=np.append(np.ones(len(some)), np.zeros(beyond)),
        bounds=Bounds(0, np.append(np.ones(len(some)), np.full(beyond, np.inf))),
        constraints=[LinearConstraint(matrix[bound], -np.inf, most[bound]), LinearConstraint(counts, wanted, wanted)],
        options={"mip_rel_gap": gap / max(paid, 1e-300), "node_limit": limits.nodes},
    )
    if answer.x is None:
        return None
    found = share.copy()
    found[some] = np.round(answer.x[: len(some)])
    return found if float(arcs.cost @ found) < float(arcs.cost @ share) else None
