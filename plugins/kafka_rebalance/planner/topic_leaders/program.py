"""Which choices to make, decided in whole numbers: first as few leaders lacking as can be, then the cheapest such way.

    first   minimise the leaders that are lacking
    then    minimise what is outside bands, then copies, then leader changes, with none lacking
    over x (a choice is made) in 0 or 1, at most one a partition; hard limits and the budget hold

What brokers carry and lead is a sum over partitions, so choices of different partitions add up exactly. Where the
choices are all there are, and some leader is lacking, that is a proof: the numbers are whole.

Example: t-0 and t-1 are both led by 0, one each is asked of 0 and 1. Choices: 1 leads t-0, 1 leads t-1; the one is made
that leaves less outside bands.

Branch and bound by HiGHS: exponential at worst, hence only so many nodes. Deterministic: one thread, no clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from kafka_rebalance.arrays import Floats, Longs
from kafka_rebalance.planner.params import TopicLeaderParams
from kafka_rebalance.planner.tolerances import PROGRAM_MARGIN, PROGRAM_WHOLE
from kafka_rebalance.planner.topic_leaders.choices import Choices
from kafka_rebalance.planner.topic_leaders.demand import LeaderDemand
from kafka_rebalance.planner.topic_leaders.placement import LedPlacement


@dataclass(frozen=True, slots=True)
class Decided:
    """Choices to make, int64[N]; ``least_lacking``: no way among them lacks fewer leaders."""

    made: Longs
    least_lacking: int


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """``matrix`` [N, K] times the choices lies from ``low`` to ``high`` float64[N]."""

    matrix: sp.csr_array
    low: Floats
    high: Floats

    def with_slack(self, sign: float, before: int, after: int) -> LinearConstraint:
        """A slack of its own for each row, ``before`` and ``after`` so many others."""
        count = len(self.low)
        parts = [
            self.matrix, sp.csr_array((count, before)), sign * sp.eye_array(count), sp.csr_array((count, after)),
        ]  # fmt: skip
        return LinearConstraint(sp.csr_array(sp.hstack(parts)), self.low, self.high)

    def plain(self, slacks: int) -> LinearConstraint:
        """Beside so many slacks of other rows."""
        matrix = sp.hstack([self.matrix, sp.csr_array((len(self.low), slacks))])
        return LinearConstraint(sp.csr_array(matrix), self.low, self.high)


def decide(
    placement: LedPlacement, demand: LeaderDemand, choices: Choices, params: TopicLeaderParams
) -> Decided | None:
    """None where no way was found within the nodes."""
    count = len(choices)
    if not count:
        return Decided(np.zeros(0, np.int64), int(demand.lacking(placement.leader).sum()))
    hard, demanded = _hard(placement, choices), _demanded(placement, demand, choices)
    lacking = len(demanded.low)
    price = np.concatenate([np.zeros(count), np.ones(lacking)])
    first = _solved(price, count, [hard.plain(lacking), demanded.with_slack(1.0, 0, 0)], params)
    if first.x is None:
        return None
    made = np.flatnonzero(first.x[:count] > PROGRAM_WHOLE)
    if round(float(first.fun)) > 0:
        bound = 0.0 if first.mip_dual_bound is None else float(first.mip_dual_bound)
        return Decided(made, max(int(np.ceil(bound - PROGRAM_WHOLE)), 0))
    high, low = _banded(placement, choices)
    above, below = len(high.low), len(low.low)
    costs = placement.costs(choices)
    worth = costs.worth + costs.leader_changes * params.leader_worth + params.change_worth
    rows = [
        hard.plain(above + below), demanded.plain(above + below),
        high.with_slack(-1.0, 0, below), low.with_slack(1.0, above, 0),
    ]  # fmt: skip
    second = _solved(np.concatenate([worth, np.full(above + below, params.band_worth)]), count, rows, params)
    return Decided(made if second.x is None else np.flatnonzero(second.x[:count] > PROGRAM_WHOLE), 0)


def _solved(price: Floats, count: int, rows: list[LinearConstraint], params: TopicLeaderParams) -> Any:
    is_choice = np.arange(len(price)) < count
    return milp(
        price,
        integrality=is_choice.astype(np.int64),
        bounds=Bounds(0.0, np.where(is_choice, 1.0, np.inf)),
        constraints=[row for row in rows if len(row.lb)],
        options={"mip_rel_gap": params.program_gap, "node_limit": params.program_nodes},
    )


def _hard(placement: LedPlacement, choices: Choices) -> _Rows:
    """At most one choice a partition, no broker above its limit, and the budget."""
    count = len(choices)
    _, of_row = np.unique(choices.rows, return_inverse=True)
    one_each = sp.csr_array((np.ones(count), (of_row, np.arange(count))))
    loads = sp.csr_array(placement.loads(choices))
    spare = (placement.most - placement.load).reshape(-1)
    needed = np.flatnonzero(np.asarray(loads.maximum(0).sum(axis=1)).reshape(-1) > spare)
    costs, left = placement.costs(choices), np.array(placement.left())
    spent = np.stack([costs.copies, costs.copied_bytes, costs.leader_changes]).astype(np.float64)
    unit = np.array([1.0, max(float(placement.problem.move_bytes.max(initial=1.0)), 1.0), 1.0])
    is_limited = np.flatnonzero(np.isfinite(left))
    matrix = sp.csr_array(
        sp.vstack([one_each, loads[needed], sp.csr_array(spent[is_limited] / unit[is_limited, None])])
    )
    high = np.concatenate(
        [np.ones(one_each.shape[0]), np.maximum(spare[needed] - PROGRAM_MARGIN, 0.0), (left / unit)[is_limited]]
    )
    return _Rows(matrix, np.full(len(high), -np.inf), high)


def _demanded(placement: LedPlacement, demand: LeaderDemand, choices: Choices) -> _Rows:
    """What each broker leads of each topic, at least what it needs."""
    brokers = placement.problem.broker_count
    topic = demand.of_partition[choices.rows].astype(np.int64)
    of = np.flatnonzero(topic >= 0)
    new = topic[of] * brokers + choices.leaders[of]
    led = placement.leader[choices.rows[of]]
    had = np.flatnonzero(led >= 0)
    old = topic[of][had] * brokers + led[had]
    cells = demand.need.size
    matrix = sp.csr_array(
        (
            np.concatenate([np.ones(len(of)), -np.ones(len(had))]),
            (np.concatenate([new, old]), np.concatenate([of, of[had]])),
        ),
        shape=(cells, len(choices)),
    )
    needed = np.flatnonzero(demand.need.reshape(-1) > 0)
    least = (demand.need - demand.led(placement.leader)).reshape(-1)[needed].astype(np.float64)
    return _Rows(sp.csr_array(matrix[needed]), least, np.full(len(needed), np.inf))


def _banded(placement: LedPlacement, choices: Choices) -> tuple[_Rows, _Rows]:
    """Loads at most the bands' upper edges, and at least their lower ones; only of brokers that something changes."""
    loads = sp.csr_array(placement.loads(choices))
    low, high = placement.bands
    load = placement.load.reshape(-1)
    changed = np.diff(loads.indptr) > 0
    above, below = np.flatnonzero(changed & np.isfinite(high)), np.flatnonzero(changed & (low > 0))
    upper = (high - load)[above] - PROGRAM_MARGIN
    lower = (low - load)[below] + PROGRAM_MARGIN
    return (
        _Rows(sp.csr_array(loads[above]), np.full(len(above), -np.inf), upper),
        _Rows(sp.csr_array(loads[below]), lower, np.full(len(below), np.inf)),
    )
