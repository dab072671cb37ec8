"""Lower bounds that a linear program proves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from kafka_assignors.arrays import Floats, Longs
from kafka_rebalance.cluster_arrays.problem import Budget, Problem, broker_loads
from kafka_rebalance.facts import BoundProof
from kafka_rebalance.planner.ascent import busy_prices, evenness_prices
from kafka_rebalance.planner.bounds import (
    better_prices,
    covering_prices,
    holdings_of,
    lower_bounds,
    proven_by,
    raised,
    raised_by_covers,
)
from kafka_rebalance.planner.linear_program.programs import with_covers
from kafka_rebalance.planner.linear_program.relaxation import (
    Arcs,
    WholeProgram,
    arcs_of,
    budget_rows,
    carried_by,
    is_small,
    relax,
    relax_flows,
    whole_program,
)
from kafka_rebalance.planner.params import DEFAULTS, LinearProgramParams, SolveParams
from kafka_rebalance.planner.replicas.search import replica_columns
from kafka_rebalance.planner.scales import mean_bytes, resource_scale
from kafka_rebalance.planner.solution import Bounds, CostProof, EvennessProof, LowerBound
from kafka_rebalance.planner.state import WorkingBands

# Bounds on moves and on time as strong as those on bytes: prices that prove them to anybody (``CostProof``).
#
# Promises, in order
# 1. No value is above what the best lawful plan within the bands costs: weak duality, whatever the program answers.
# 2. On small clusters the values are those of linear programs: fewest copies; least bytes of the busiest broker, in or
#    out. On larger ones prices climb (``planner.ascent``); on the largest time is not looked for.
#
# Example: broker 0 holds four replicas of 10 GB, two others none, and no broker may hold more than 16.7 GB: 23.3 GB
# leave,
# 2.33 replicas, so 3 moves; and broker 0 sends it all, whichever broker receives.
#
# Complexity: two linear programs of P · B arcs, or some hundred passes each, and a pass for each proof.


MOVES, SECONDS = "replica_moves", "seconds"


def are_programs_quick(problem: Problem, params: LinearProgramParams = DEFAULTS.linear_program) -> bool:
    """Programs of all moves cost little beside a search; beyond that prices climb instead."""
    return is_small(problem, replace(params.arcs, most_arcs=min(params.arcs.most_arcs, params.proofs.most_arcs)))


def with_cost_proofs(problem: Problem, bounds: Bounds, params: SolveParams = DEFAULTS) -> Bounds:
    """``bounds`` of the problem's own bands, with a proof of time, and of moves where it is above what is counted."""
    if not problem.moves_replicas or problem.pinned.all():
        return bounds
    limits = params.linear_program
    arcs = arcs_of(problem, limits.arcs) if are_programs_quick(problem, limits) else None
    moves = fewest_moves(problem, arcs, params)
    least = float(np.ceil(moves.value - params.bounds.count_tolerance * max(moves.value, 1.0)))
    proofs = dict(bounds.proofs)
    time = None
    if arcs is not None:
        time = least_busy(problem, arcs, params)
    elif bounds.certificate is not None and is_small(problem, limits.arcs):
        busy = busy_prices(problem, bounds.certificate.prices, limits.proofs.busy)
        time = time_proof(problem, busy.prices, busy.receiving, busy.sending, params)
    if time is not None:
        proofs[SECONDS] = time
    if least > bounds.replica_moves.value:
        bounds = replace(bounds, replica_moves=LowerBound(least, BoundProof.PRICES_OF_MOVES))
        proofs[MOVES] = moves
    return replace(bounds, proofs=proofs)


def fewest_moves(problem: Problem, arcs: Arcs | None, params: SolveParams = DEFAULTS) -> CostProof:
    """The best of the prices of what is held too much of, and of the linear program; without ``arcs`` better ones."""
    one = np.ones(problem.partition_count)
    load, counted_one = broker_loads(problem, problem.replicas, problem.leader), replace(problem, move_bytes=one)
    covering = covering_prices(counted_one, holdings_of(problem), load, replica_columns(problem), params.bounds)
    tried = [np.zeros_like(load), covering]
    if arcs is None:
        climbed = better_prices(counted_one, covering, params.linear_program.proofs.moves)
        tried += [] if climbed is None else [climbed]
    if arcs is not None:
        counted = replace(arcs, cost=np.where(arcs.is_kept, 0.0, 1.0))
        relaxed = relax(problem, counted, problem.band_low, problem.band_high)
        if relaxed is not None:
            tried.append(relaxed.prices / max(mean_bytes(problem), 1e-300))
    no_price = np.zeros(problem.broker_count)
    proofs = [
        CostProof(prices, no_price, no_price, max(0.0, proven_by(problem, prices, one, params.bounds)))
        for prices in tried
    ]
    return max(proofs, key=lambda proof: proof.value)


def least_busy(problem: Problem, arcs: Arcs, params: SolveParams = DEFAULTS) -> CostProof | None:
    """What the busiest broker receives or sends at least, in bytes; None where no shares meet the bands or none has
    to send a byte. The duals of the two rows of each broker are what a byte costs there; they sum up to 1.
    """
    flowing = relax_flows(problem, arcs, np.zeros(len(arcs.row)), weight=1.0)
    if flowing is None:
        return None
    total = float(flowing.receiving.sum() + flowing.sending.sum())
    if total <= 0:
        return None
    return time_proof(problem, flowing.prices / total, flowing.receiving / total, flowing.sending / total, params)


def time_proof(
    problem: Problem, prices: Floats, receiving: Floats, sending: Floats, params: SolveParams = DEFAULTS
) -> CostProof:
    """What the prices prove; ``receiving`` and ``sending`` float64[B], together 1."""
    sent = np.where(problem.leader >= 0, sending[np.maximum(problem.leader, 0)], 0.0)
    value = proven_by(problem, prices, problem.move_bytes * sent, params.bounds, receiving=receiving)
    return CostProof(prices, receiving, sending, max(0.0, value))


# How even a plan within a budget can be at best, and the prices that prove it to anybody (``EvennessProof``).
#
# Promises, in order
# 1. ``value`` is never above the imbalance of any lawful plan that the budget allows: weak duality, whatever the
#    program answers.
# 2. On small clusters it is the optimum of the linear program: replicas and leaders in shares. On larger ones prices
#    climb to it (``planner.ascent``): 12 brokers × 1,000 partitions in 0.2 CPU seconds instead of 7 to 30.
#
# Imbalance: load outside its bands, above or below whichever is more, over all load of the resource; summed up over
# resources. Of one resource it is at least λ · (what is above) + μ · (what is below), over all load, for any λ + μ <=
# 1; so prices of a resource whose highest and lowest differ by no more than 1 / (all load) prove
#
#     imbalance >= Σ over partitions of min over placements (Σ price · load placed + charges for copies and changes)
#                  - Σ price⁺ · band_high + Σ price⁻ · band_low - Σ charge · budget
#
# Example: broker 0 holds four replicas of 10 GB, two others none, no broker may hold more than 20 GB, and one move is
# allowed: half of all load is outside, a quarter after the move, and 0.25 is proved.
#
# Complexity: one linear program of 2 · P · B variables, and a pass for the proof.


def least_imbalance(
    problem: Problem, params: SolveParams = DEFAULTS, *, beside: Floats | None = None
) -> EvennessProof | None:
    """None where the program is too large to be worth its time, or leaders cannot be chosen. ``beside``
    float64[D]: load that is no part of the problem and counts in "all load" (replicas on brokers that are gone).
    """
    if problem.elects_preferred or not is_small(problem, params.linear_program.arcs) or problem.pinned.all():
        return None
    if not problem.moves_replicas:  # no move is a budget like any other
        problem = replace(problem, budget=replace(problem.budget, max_replica_moves=0))
    total, limits = all_load(problem), params.linear_program
    if problem.moves_replicas and not are_programs_quick(problem, limits):
        prices, charges = evenness_prices(problem, total, limits.proofs.evenness)
    else:
        found = _relaxed(problem, params)
        if found is None:
            return None
        prices, charges = found
    prices = prices / _excess_of(prices, total + (0.0 if beside is None else beside))
    return proof_of(problem, prices, charges, params)


def proof_of(problem: Problem, prices: Floats, charges: Budget, params: SolveParams = DEFAULTS) -> EvennessProof:
    """What ``prices`` float64[B, D], imbalance per unit of load, prove with ``charges`` per byte, move, change."""
    charged = [charge or 0.0 for charge in _three(charges)]
    copy = problem.move_bytes * charged[0] + charged[1]
    value = proven_by(problem, prices, copy, params.bounds, leader_change=charged[2])
    for charge, limit in zip(charged, _three(problem.budget), strict=True):
        value -= charge * (limit or 0.0)
    return EvennessProof(prices, charged[0], charged[1], charged[2], max(0.0, value))


def all_load(problem: Problem) -> Floats:
    """float64[D]: no plan makes the brokers carry more of each resource in all."""
    held = (problem.replicas >= 0).sum(axis=1)
    total = (problem.follower_load * np.maximum(held, problem.target_rf)[:, None] + problem.leader_extra).sum(axis=0)
    disk = problem.column("disk")
    if problem.own_disk is not None and disk is not None:
        beyond = np.where(problem.replicas >= 0, problem.own_disk - problem.move_bytes[:, None], 0.0)
        total[disk] += np.maximum(beyond, 0.0).sum()
    return np.asarray(total)


def _excess_of(prices: Floats, total: Floats) -> Floats:
    """float64[D], 1 or more: what prices must be divided by to be within 1 / (all load)."""
    span = np.maximum(prices, 0.0).max(axis=0) + np.maximum(-prices, 0.0).max(axis=0)
    return np.asarray(np.maximum(1.0, span * total))


def _three(budget: Budget) -> tuple[float | None, float | None, float | None]:
    return budget.max_bytes, budget.max_replica_moves, budget.max_leader_changes


@dataclass(frozen=True, slots=True, eq=False)
class _Outside:
    """Variables behind the ``first``: what each of ``brokers`` is above, and below, for each of ``columns``; then the
    greater sum of each column.
    """

    first: int
    brokers: Longs
    columns: Longs

    @property
    def count(self) -> int:
        return (2 * len(self.brokers) + 1) * len(self.columns)

    def side(self, side: int, d: int) -> Longs:
        """Of all brokers, above (0) or below (1), the ``d``-th column."""
        begin = self.first + (2 * d + side) * len(self.brokers)
        return np.arange(begin, begin + len(self.brokers))

    def greater(self, d: int) -> int:
        return self.first + 2 * len(self.brokers) * len(self.columns) + d


def _relaxed(problem: Problem, params: SolveParams) -> tuple[Floats, Budget] | None:
    """Prices float64[B, D] and charges by the duals of the program; None where it has no answer."""
    total = all_load(problem)
    columns, brokers = np.flatnonzero(total > 0), np.flatnonzero(problem.stays)
    shape = problem.band_low.shape
    unbounded = WorkingBands(np.zeros(shape), np.full(shape, np.inf))
    more = (2 * len(brokers) + 1) * len(columns)
    program = whole_program(problem, unbounded, params.linear_program, more=more)
    if program is None:
        return None
    outside = _Outside(2 * len(program.arcs.row), brokers, columns)
    begin = sum(len(most) for most in program.rows.most)
    _add_bands(program, outside, total)
    limits = budget_rows(program)
    worth = np.zeros(outside.first + outside.count)
    worth[[outside.greater(d) for d in range(len(columns))]] = 1.0
    top = np.append(program.top, np.full(outside.count, np.inf))
    matrix: Any = sp.vstack(program.rows.blocks).tocsr()
    answer = linprog(
        worth,
        matrix,
        np.concatenate(program.rows.most),
        program.equal,
        program.wanted,
        bounds=list(zip(np.zeros(len(top)), top, strict=True)),
        method="highs",
    )
    if not answer.success:
        return None
    duals = np.maximum(-answer.ineqlin.marginals[begin:], 0.0)
    prices = np.zeros(shape)
    for d, column in enumerate(columns.tolist()):
        above, below = (duals[(2 * d + side) * len(brokers) :][: len(brokers)] for side in (0, 1))
        prices[brokers, column] = (above - below) / total[column]
    charges = duals[len(duals) - len(limits) :]
    found = dict(zip((name for name, _ in limits), (charges / [unit for _, unit in limits]).tolist(), strict=True))
    return prices, Budget(**found)


def _add_bands(program: WholeProgram, outside: _Outside, total: Floats) -> None:
    """Rows of loads within bands but for what is outside, in shares of all load; then those of the greater sums."""
    problem, rows = program.problem, program.rows
    both, fixed = carried_by(problem, program.arcs)
    scale = resource_scale(problem)
    broker, count = np.tile(program.arcs.broker, 2), len(outside.brokers)
    # Without a band nothing is above it, whatever is carried.
    band_high = np.minimum(problem.band_high, total)
    for d, column in enumerate(outside.columns.tolist()):
        share = scale[column] / total[column]
        mine = np.flatnonzero(np.isin(broker, outside.brokers))
        line = np.searchsorted(outside.brokers, broker[mine])
        there = fixed[outside.brokers, column] * share
        for side, sign, band in ((0, 1.0, band_high), (1, -1.0, problem.band_low)):
            most = sign * (band[outside.brokers, column] / total[column] - there)
            rows.add(
                np.append(line, np.arange(count)),
                np.append(mine, outside.side(side, d)),
                np.append(sign * both[mine, column] * share, np.full(count, -1.0)),
                most,
            )
    for d in range(len(outside.columns)):
        for side in (0, 1):
            variable = np.append(outside.side(side, d), outside.greater(d))
            factor = np.append(np.ones(count), -1.0)
            rows.add(np.zeros(count + 1, dtype=np.int64), variable, factor, np.zeros(1))


# Bounds for bands that had to be widened, as strong as those for the requested bands.
#
# Prices prove something for any bands, so those found for the requested bands are tried as well. On a small cluster
# whose replicas' bands were widened, the linear program of all moves is solved anew: the one for the requested bands
# had no solution, or prices of bands that no longer bind.


def widened_bounds(
    problem: Problem,
    found: Bounds | None,
    low: Floats,
    high: Floats,
    plan_bytes: float,
    params: SolveParams = DEFAULTS,
) -> Bounds:
    """Bounds for ``problem`` within ``low``..``high`` float64[B, D]; ``found``: those for its own bands."""
    wider = replace(problem, band_low=low, band_high=high)
    prices = None if found is None or found.certificate is None else found.certificate.prices
    bounds = lower_bounds(wider, prices=prices, params=params.bounds)
    proof = None if found is None else found.proofs.get("bytes")
    if proof is not None:
        bounds = raised_by_covers(wider, bounds, proof.prices, proof.covers, params.bounds)
    if not problem.moves_replicas or plan_bytes <= bounds.bytes.value * (1 + params.gaps.near):  # strong enough
        return bounds
    bounds = raised(wider, bounds, params.bounds)
    if not is_small(problem, params.linear_program.arcs):
        return bounds
    columns = replica_columns(problem)
    if np.array_equal(low[:, columns], problem.band_low[:, columns]) and np.array_equal(
        high[:, columns], problem.band_high[:, columns]
    ):
        return bounds
    arcs = arcs_of(wider, params.linear_program.arcs)
    relaxed = relax(wider, arcs, low, high)
    if relaxed is None:
        return bounds
    stronger = lower_bounds(wider, prices=relaxed.prices, params=params.bounds)
    if plan_bytes > stronger.bytes.value * (1 + params.gaps.near):
        relaxed = with_covers(wider, arcs, relaxed, WorkingBands(low, high), params.linear_program.covers)
        stronger = raised_by_covers(wider, stronger, relaxed.prices, relaxed.covers, params.bounds)
    return max(bounds, stronger, key=lambda proved: proved.bytes.value)
