"""Dual prices, by ascent, for evenness within a budget and for the copy time of the busiest broker. Every result proves
a bound (``bounds.proven_by``).

Example: broker 0 holds four replicas of 10 GB, its limit is 20 GB, one move is allowed. A price of 1 / 40 GB and a
charge of 0.25 a move prove that 0.25 of all load stays outside.

O(P · B · D) a step. Source: Kingma and Ba 2015 (Adam).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kafka_assignors.arrays import Flags, Floats
from kafka_rebalance.cluster_arrays.problem import Budget, Problem
from kafka_rebalance.planner.bounds import Chosen, cheapest_placements, choices_of, open_bands
from kafka_rebalance.planner.params import AscentParams
from kafka_rebalance.planner.scales import mean_bytes, resource_scale


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
    found = _climbed(allowed(start), proved, allowed, _steps(problem, params), params)
    result = np.empty((problem.broker_count, len(total)))
    result[order] = found[:prices].reshape(shape).T / scale
    charges = [
        float(charge) if there else None
        for charge, there in zip(found[prices : prices + 3] / unit, limited, strict=True)
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
    found = _climbed(allowed(start), proved, allowed, _steps(problem, params), params)
    weight = _weights(found[count:]) / (2 * brokers)
    result, receiving, sending = np.empty_like(prices), np.empty(brokers), np.empty(brokers)
    result[order] = found[:count].reshape(shape).T * unit / scale / (2 * brokers)
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
    at, best, found = start, -np.inf, start
    mean, square = np.zeros_like(start), np.zeros_like(start)
    for step in range(steps):
        value, slope = proved(at)
        if value > best:
            best, found = value, at
        mean = params.memory * mean + (1 - params.memory) * slope
        square = params.long_memory * square + (1 - params.long_memory) * slope * slope
        first, second = 1 - params.memory ** (step + 1), 1 - params.long_memory ** (step + 1)
        length = params.first_step * (params.last_step / params.first_step) ** (step / steps)
        moved = at + length * (mean / first) / (np.sqrt(square / second) + params.least_slope)
        crosses: Flags = at * moved < 0
        at = allowed(np.where(crosses, 0.0, moved))
    return found
