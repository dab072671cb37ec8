"""The linear program of all moves with what each broker receives and sends: who is busy, and for how long.

    minimise Σ cost · x + weight · T
    over x as in ``relaxation``, each broker's bytes in and bytes out <= T <= most

Copies are read from today's leader. Example: what is above the band of one broker is led half by it and half by
another; with T low the shares take of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.linear_program.arcs import Arcs
from kafka_rebalance.planner.linear_program.relaxation import (
    Rows,
    capacity_rows,
    load_rows,
    prices_of,
    rack_rows,
)
from kafka_rebalance.planner.scales import mean_bytes


@dataclass(frozen=True, slots=True, eq=False)
class Flowing:
    """``share``, ``regret`` float64[A]; ``prices`` float64[B, all D]; ``receiving``, ``sending`` float64[B]: the duals
    of what brokers receive and send, per unit of T; ``busiest``: T in bytes.
    """

    share: Floats
    regret: Floats
    prices: Floats
    receiving: Floats
    sending: Floats
    busiest: float


def relax_flows(
    problem: Problem, arcs: Arcs, cost: Floats, *, weight: float = 0.0, most: float = np.inf
) -> Flowing | None:
    """None where no shares meet the bands with T at ``most`` bytes. ``cost`` float64[A]; one thread, no clock."""
    count, brokers, unit = len(arcs.row), problem.broker_count, max(mean_bytes(problem), 1e-300)
    free = np.flatnonzero(~problem.pinned)
    rows = Rows(count)
    top, bottom = load_rows(problem, arcs, problem.band_low, problem.band_high, rows)
    capacity_rows(problem, arcs, rows)
    rack_rows(problem, arcs, rows)
    limits = np.concatenate(rows.most)
    new = np.flatnonzero(~arcs.is_kept)
    size = problem.move_bytes[arcs.row[new]] / unit
    leader = problem.leader[arcs.row[new]]
    led = leader >= 0
    into = sp.csr_matrix((size, (arcs.broker[new], new)), (brokers, count))
    out = sp.csr_matrix((size[led], (leader[led], new[led])), (brokers, count))
    busy: Any = sp.hstack([sp.vstack([into, out]), sp.csr_matrix(-np.ones((2 * brokers, 1)))])
    others: Any = sp.hstack([sp.vstack(rows.blocks), sp.csr_matrix((len(limits), 1))])
    line = np.searchsorted(free, arcs.row)
    every: Any = sp.csr_matrix((np.ones(count), (line, np.arange(count))), (len(free), count + 1))
    matrix: Any = sp.vstack([others, busy]).tocsr()
    answer = linprog(
        np.append(cost, weight),
        matrix,
        np.append(limits, np.zeros(2 * brokers)),
        every,
        problem.target_rf[free].astype(np.float64),
        bounds=[(0, 1)] * count + [(0, most / unit)],
        method="highs",
    )
    if not answer.success or answer.x is None:
        return None
    duals = np.maximum(-answer.ineqlin.marginals, 0.0)
    receiving, sending = np.split(duals[len(limits) :], 2)
    return Flowing(
        share=answer.x[:count],
        regret=np.abs(answer.lower.marginals[:count]) + np.abs(answer.upper.marginals[:count]),
        prices=prices_of(problem, arcs, top, bottom, duals),
        receiving=receiving,
        sending=sending,
        busiest=float(answer.x[-1]) * unit,
    )
