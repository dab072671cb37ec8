"""Lower bounds that a linear program proves.

Dual prices, by ascent, for evenness within a budget and for the copy time of the busiest broker. Every result proves
a bound (``bounds.proven_by``).

Example: broker 0 holds four replicas of 10 GB, its limit is 20 GB, one move is allowed. A price of 1 / 40 GB and a
charge of 0.25 a move prove that 0.25 of all load stays outside.

O(P · B · D) a step. Source: Kingma and Ba 2015 (Adam).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from kafka_assignors.arrays import Flags, Floats, Longs
from kafka_rebalance.cluster_arrays.problem import Budget, Problem, broker_loads
from kafka_rebalance.facts import BoundProof
from kafka_rebalance.planner.bounds import (
    Chosen,
    better_prices,
    cheapest_placements,
    choices_of,
    covering_prices,
    holdings_of,
    lower_bounds,
    open_bands,
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
from kafka_rebalance.planner.params import DEFAULTS, AscentParams, LinearProgramParams, SolveParams
from kafka_rebalance.planner.replicas.search import replica_columns
from kafka_rebalance.planner.scales import mean_bytes, resource_scale
from kafka_rebalance.planner.solution import Bounds, CostProof, EvennessProof, LowerBound
from kafka_rebalance.planner.state import WorkingBands


@dataclass(frozen=True, slots=True, eq=False)
class Busy:
    """Prices float64[B, D]; cost of a byte at its receiver and at today's leader, together 1."""

    prices: Floats
    receiving: Floats
    sending: Floats


def evenness_prices(problem: Problem, total: Floats, params: AscentParams) -> tuple[Floats, Budget]:
    """Imbalance per unit of load, and charges; ``total`` float64[D] is all load.

    A resource's highest and lowest price differ by at most 1 / (all load).
    """
    carried = total > 0
    scale = np.where(carried, total, 1.0)
    order, choices = choices_of(problem, scale, 1.0)
    low, high = (side[order].T for side in open_bands(problem, scale))
    budget, size, today = problem.budget, choices.size, choices.leader
    limits = (budget.max_bytes, budget.max_replica_moves, budget.max_leader_changes)
    limited = np.array([limit is not None for limit in limits])
    limit = np.array([limit or 0.0 for limit in limits])
    unit = np.maximum(limit, (mean_bytes(problem), 1.0, 1.0))
    shape, prices = low.shape, low.size
    chosen = Chosen.of(low, len(size))

    def proved(at: Floats) -> tuple[float, Floats]:
        price, charge = np.ascontiguousarray(at[:prices].reshape(shape)), at[prices : prices + 3] / unit
        charged = choices._replace(cost=size * charge[0] + charge[1], shut=choices.shut + charge[2])
        value = cheapest_placements(charged, price, chosen) - _paid(price, low, high) - float(charge @ limit)
        changes = float(((chosen.leader != today) & (chosen.leader >= 0) & (today >= 0)).sum())
        spent = np.array([float(chosen.copies @ size), float(chosen.copies.sum()), changes])
        slopes, most = _slopes(price, chosen.load, low, high), at[prices + 3 :, None]
        # Limits of the spread move with the prices at either end.
        is_end = (price >= most) | (price <= most - 1.0)
        ends = (slopes.reshape(shape) * is_end).sum(axis=1)
        return value, np.concatenate([slopes, (spent - limit) / unit, ends])

    def allowed(at: Floats) -> Floats:
        most = at[prices + 3 :].clip(0.0, 1.0)[:, None] * carried[:, None]
        least = (most - 1.0) * carried[:, None]
        price = np.clip(at[:prices].reshape(shape), least * np.isfinite(low), most * np.isfinite(high))
        charge = np.where(limited, at[prices : prices + 3].clip(0.0), 0.0)
        return np.concatenate([price.ravel(), charge, most.ravel()])

    start = np.concatenate([np.zeros(prices), limited.astype(np.float64), np.full(len(total), 0.5)])
    multipliers = _climbed(allowed(start), proved, allowed, _steps(problem, params), params)
    result = np.empty((problem.broker_count, len(total)))
    result[order] = multipliers[:prices].reshape(shape).T / scale
    charges = [
        float(charge) if is_limited else None
        for charge, is_limited in zip(multipliers[prices : prices + 3] / unit, limited, strict=True)
    ]
    return result, Budget(charges[0], charges[1], charges[2])  # type: ignore[arg-type]  # charges, not limits


def busy_prices(problem: Problem, prices: Floats, params: AscentParams) -> Busy:
    """Multipliers that bound the busiest broker's bytes, from ``prices`` on."""
    scale, unit, brokers = resource_scale(problem), max(mean_bytes(problem), 1e-300), problem.broker_count
    order, choices = choices_of(problem, scale, unit)
    low, high = (side[order].T for side in open_bands(problem, scale))
    size, led, leader = choices.size, choices.leader >= 0, np.maximum(choices.leader, 0)
    shape, count = low.shape, low.size
    chosen = Chosen.of(low, len(size))

    def proved(at: Floats) -> tuple[float, Floats]:
        price, weight = np.ascontiguousarray(at[:count].reshape(shape)), _weights(at[count:])
        receiving, sending = weight[:brokers], weight[brokers:]
        charged = choices._replace(cost=size * np.where(led, sending[leader], 0.0), receiving=receiving)
        value = cheapest_placements(charged, price, chosen) - _paid(price, low, high)
        sent = np.bincount(leader[led], weights=(chosen.copies * size)[led], minlength=brokers)
        copied = np.append(chosen.received, sent)
        slope = weight * (copied - float(copied @ weight) / len(weight))
        return value, np.append(_slopes(price, chosen.load, low, high), slope)

    def allowed(at: Floats) -> Floats:
        price = np.clip(at[:count].reshape(shape), least, most)
        return np.append(price, at[count:])

    least, most = np.where(np.isfinite(low), -np.inf, 0.0), np.where(np.isfinite(high), np.inf, 0.0)
    start = np.append((prices * scale / unit)[order].T * 2, np.zeros(2 * brokers))
    multipliers = _climbed(allowed(start), proved, allowed, _steps(problem, params), params)
    weight = _weights(multipliers[count:]) / (2 * brokers)
    result, receiving, sending = np.empty_like(prices), np.empty(brokers), np.empty(brokers)
    result[order] = multipliers[:count].reshape(shape).T * unit / scale / (2 * brokers)
    receiving[order], sending[order] = weight[:brokers], weight[brokers:]
    return Busy(result, receiving, sending)


def _weights(logarithm: Floats) -> Floats:
    weight = np.exp(logarithm - logarithm.max())
    return np.asarray(weight / weight.mean())


def _steps(problem: Problem, params: AscentParams) -> int:
    pairs = max(1, int((~problem.pinned).sum()) * problem.broker_count)
    return max(params.least_steps, min(params.most_steps, params.work // pairs))


def _paid(price: Floats, low: Floats, high: Floats) -> float:
    up, down = price > 0, price < 0
    return float((price[up] * high[up]).sum() + (price[down] * low[down]).sum())


def _slopes(price: Floats, load: Floats, low: Floats, high: Floats) -> Floats:
    """Supergradient, 0 for a band without an end."""
    above, below = load - high, load - low
    outside = np.maximum(above, 0.0) + np.minimum(below, 0.0)
    slope = np.where(price > 0, above, np.where(price < 0, below, outside))
    return np.asarray(np.where(np.isfinite(slope), slope, 0.0).ravel())


def _climbed(
    start: Floats,
    proved: Callable[[Floats], tuple[float, Floats]],
    allowed: Callable[[Floats], Floats],
    steps: int,
    params: AscentParams,
) -> Floats:
    at, best, best_at = start, -np.inf, start
    mean, square = np.zeros_like(start), np.zeros_like(start)
    for step in range(steps):
        value, slope = proved(at)
        if value > best:
            best, best_at = value, at
        mean = params.memory * mean + (1 - params.memory) * slope
        square = params.long_memory * square + (1 - params.long_memory) * slope * slope
        first, second = 1 - params.memory ** (step + 1), 1 - params.long_memory ** (step + 1)
        length = params.first_step * (params.last_step / params.first_step) ** (step / steps)
        moved = at + length * (mean / first) / (np.sqrt(square / second) + params.least_slope)
        crosses: Flags = at * moved < 0
        at = allowed(np.where(crosses, 0.0, moved))
    return best_at


# Bounds on moves and time with prices (``CostProof``).
#
# Promises, in order: no value exceeds the cost of the best lawful plan within the bands (weak duality); small clusters
# get the optimum of linear programs, larger ones dual ascent (``planner.ascent``), the largest no bound on time.
#
# Example: broker 0 holds four replicas of 10 GB, two others none, at most 16.7 GB each. 23.3 GB leave, so 3 moves.


MOVES, SECONDS = "replica_moves", "seconds"


def are_programs_quick(problem: Problem, params: LinearProgramParams = DEFAULTS.linear_program) -> bool:
    return is_small(problem, replace(params.arcs, most_arcs=min(params.arcs.most_arcs, params.proofs.most_arcs)))


def with_cost_proofs(problem: Problem, bounds: Bounds, params: SolveParams = DEFAULTS) -> Bounds:
    """Add a proof of time, and of moves where it exceeds the count."""
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
    """Best of covering prices and the linear program; without ``arcs``, of dual ascent."""
    unit_bytes = np.ones(problem.partition_count)
    load, unit_problem = (
        broker_loads(problem, problem.replicas, problem.leader),
        replace(problem, move_bytes=unit_bytes),
    )
    covering = covering_prices(unit_problem, holdings_of(problem), load, replica_columns(problem), params.bounds)
    tried = [np.zeros_like(load), covering]
    if arcs is None:
        climbed = better_prices(unit_problem, covering, params.linear_program.proofs.moves)
        tried += [] if climbed is None else [climbed]
    if arcs is not None:
        counted = replace(arcs, cost=np.where(arcs.is_kept, 0.0, 1.0))
        relaxed = relax(problem, counted, problem.band_low, problem.band_high)
        if relaxed is not None:
            tried.append(relaxed.prices / max(mean_bytes(problem), 1e-300))
    no_price = np.zeros(problem.broker_count)
    proofs = [
        CostProof(prices, no_price, no_price, max(0.0, proven_by(problem, prices, unit_bytes, params.bounds)))
        for prices in tried
    ]
    return max(proofs, key=lambda proof: proof.value)


def least_busy(problem: Problem, arcs: Arcs, params: SolveParams = DEFAULTS) -> CostProof | None:
    """Least bytes of the busiest broker; duals of its two rows are the prices of a byte and sum to 1."""
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
    sent = np.where(problem.leader >= 0, sending[np.maximum(problem.leader, 0)], 0.0)
    value = proven_by(problem, prices, problem.move_bytes * sent, params.bounds, receiving=receiving)
    return CostProof(prices, receiving, sending, max(0.0, value))


# Best evenness within a budget, with prices (``EvennessProof``).
#
# Promises, in order: ``value`` is never above the imbalance of a lawful plan within the budget (weak duality); small
# clusters get the optimum of a linear program, larger ones dual ascent.
#
# Imbalance: Σ over resources of the larger of load above and load below bands, over all load. It is at least λ · above
# + μ · below for λ + μ <= 1, so prices whose highest and lowest differ by at most 1 / (all load) prove
#
#     imbalance >= Σ over partitions of min over placements (Σ price · load placed + charges for copies and changes)
#                  - Σ price⁺ · band_high + Σ price⁻ · band_low - Σ charge · budget


def least_imbalance(
    problem: Problem, params: SolveParams = DEFAULTS, *, beside: Floats | None = None
) -> EvennessProof | None:
    """Best evenness; None if too large or leaders are fixed. ``beside``: further load in "all load"."""
    if problem.elects_preferred or not is_small(problem, params.linear_program.arcs) or problem.pinned.all():
        return None
    if not problem.moves_replicas:
        problem = replace(problem, budget=replace(problem.budget, max_replica_moves=0))
    total, limits = all_load(problem), params.linear_program
    if problem.moves_replicas and not are_programs_quick(problem, limits):
        prices, charges = evenness_prices(problem, total, limits.proofs.evenness)
    else:
        relaxed = _relaxed(problem, params)
        if relaxed is None:
            return None
        prices, charges = relaxed
    prices = prices / _excess_of(prices, total + (0.0 if beside is None else beside))
    return proof_of(problem, prices, charges, params)


def proof_of(problem: Problem, prices: Floats, charges: Budget, params: SolveParams = DEFAULTS) -> EvennessProof:
    """Proof of the prices; charges are per byte, move, change."""
    charged = [charge or 0.0 for charge in _three(charges)]
    copy = problem.move_bytes * charged[0] + charged[1]
    value = proven_by(problem, prices, copy, params.bounds, leader_change=charged[2])
    for charge, limit in zip(charged, _three(problem.budget), strict=True):
        value -= charge * (limit or 0.0)
    return EvennessProof(prices, charged[0], charged[1], charged[2], max(0.0, value))


def all_load(problem: Problem) -> Floats:
    """Upper bound on the total load of any plan."""
    replica_count = (problem.replicas >= 0).sum(axis=1)
    total = (problem.follower_load * np.maximum(replica_count, problem.target_rf)[:, None] + problem.leader_extra).sum(
        axis=0
    )
    disk = problem.column("disk")
    if problem.own_disk is not None and disk is not None:
        beyond = np.where(problem.replicas >= 0, problem.own_disk - problem.move_bytes[:, None], 0.0)
        total[disk] += np.maximum(beyond, 0.0).sum()
    return np.asarray(total)


def _excess_of(prices: Floats, total: Floats) -> Floats:
    """Divisor that brings prices within 1 / (all load)."""
    span = np.maximum(prices, 0.0).max(axis=0) + np.maximum(-prices, 0.0).max(axis=0)
    return np.asarray(np.maximum(1.0, span * total))


def _three(budget: Budget) -> tuple[float | None, float | None, float | None]:
    return budget.max_bytes, budget.max_replica_moves, budget.max_leader_changes


@dataclass(frozen=True, slots=True, eq=False)
class _Outside:
    """Variables from ``first``: load above and below for each of ``brokers`` and ``columns``, then the larger sums."""

    first: int
    brokers: Longs
    columns: Longs

    @property
    def count(self) -> int:
        return (2 * len(self.brokers) + 1) * len(self.columns)

    def side(self, side: int, d: int) -> Longs:
        begin = self.first + (2 * d + side) * len(self.brokers)
        return np.arange(begin, begin + len(self.brokers))

    def greater(self, d: int) -> int:
        return self.first + 2 * len(self.brokers) * len(self.columns) + d


def _relaxed(problem: Problem, params: SolveParams) -> tuple[Floats, Budget] | None:
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
        program.required,
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
    budget_charges = dict(
        zip((name for name, _ in limits), (charges / [unit for _, unit in limits]).tolist(), strict=True)
    )
    return prices, Budget(**budget_charges)


def _add_bands(program: WholeProgram, outside: _Outside, total: Floats) -> None:
    problem, rows = program.problem, program.rows
    both, fixed = carried_by(problem, program.arcs)
    scale = resource_scale(problem)
    broker, count = np.tile(program.arcs.broker, 2), len(outside.brokers)
    # Without a band nothing is above it.
    band_high = np.minimum(problem.band_high, total)
    for d, column in enumerate(outside.columns.tolist()):
        share = scale[column] / total[column]
        mine = np.flatnonzero(np.isin(broker, outside.brokers))
        line = np.searchsorted(outside.brokers, broker[mine])
        fixed_share = fixed[outside.brokers, column] * share
        for side, sign, band in ((0, 1.0, band_high), (1, -1.0, problem.band_low)):
            most = sign * (band[outside.brokers, column] / total[column] - fixed_share)
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


def widened_bounds(
    problem: Problem,
    earlier_bounds: Bounds | None,
    low: Floats,
    high: Floats,
    plan_bytes: float,
    params: SolveParams = DEFAULTS,
) -> Bounds:
    """Prices hold for any bands, so those of ``earlier_bounds`` are tried; small clusters solve again."""
    wider = replace(problem, band_low=low, band_high=high)
    prices = None if earlier_bounds is None or earlier_bounds.certificate is None else earlier_bounds.certificate.prices
    bounds = lower_bounds(wider, prices=prices, params=params.bounds)
    proof = None if earlier_bounds is None else earlier_bounds.proofs.get("bytes")
    if proof is not None:
        bounds = raised_by_covers(wider, bounds, proof.prices, proof.covers, params.bounds)
    if not problem.moves_replicas or plan_bytes <= bounds.bytes.value * (1 + params.gaps.near):
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
