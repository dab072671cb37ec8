"""What a placement costs beside today's: bytes, replicas moved, the busiest broker's bytes, leader changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.problem import Problem


@dataclass(frozen=True, slots=True)
class CostTotals:
    """``busiest``: bytes that the busiest broker receives or sends; over the throttle it is the least time."""

    bytes: float = 0.0
    moves: float = 0.0
    busiest: float = 0.0
    leaders: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Placing:
    """``replicas`` int32[P, W], ``leader`` int32[P]; NOBODY where there is none."""

    replicas: Ints
    leader: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Flows:
    """float64[B] bytes; copies are read from today's leader."""

    received: Floats
    sent: Floats


def is_copy(problem: Problem, replicas: Ints) -> Flags:
    """bool[P, W]: replicas that are not there today."""
    copied: Flags = replicas >= 0
    for j in range(problem.replicas.shape[1]):
        copied = copied & (replicas != problem.replicas[:, j : j + 1])
    return copied


def flows_of(problem: Problem, placing: Placing) -> Flows:
    """What each broker receives and sends until ``placing`` stands."""
    row, j = np.nonzero(is_copy(problem, placing.replicas))
    size, leader, brokers = problem.move_bytes[row], problem.leader[row], problem.broker_count
    led = leader >= 0
    return Flows(
        received=np.bincount(placing.replicas[row, j], weights=size, minlength=brokers).astype(np.float64),
        sent=np.bincount(leader[led], weights=size[led], minlength=brokers).astype(np.float64),
    )


def costs_of(problem: Problem, placing: Placing) -> CostTotals:
    """All four of a whole placement."""
    copies = is_copy(problem, placing.replicas).sum(axis=1)
    flows = flows_of(problem, placing)
    return CostTotals(
        bytes=float((copies * problem.move_bytes).sum()),
        moves=float(copies.sum()),
        busiest=max(float(flows.received.max(initial=0.0)), float(flows.sent.max(initial=0.0))),
        leaders=float(((placing.leader != problem.leader) & (placing.leader != NOBODY)).sum()),
    )
