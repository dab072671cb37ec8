"""From measured loads to the planner's columns: what every replica carries, and what the leader carries on top.

DESIGN §9 has the definitions; a follower's CPU is Cruise Control's estimate, as in ``clusters/score.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Floats, Ints
from kafka_rebalance.resources import RESOURCES

# Cruise Control's ModelUtils: CPU that a byte written, sent or replicated costs, relative to each other.
CPU_OF_LEADER_IN = 0.7
CPU_OF_LEADER_OUT = 0.15
CPU_OF_FOLLOWER_IN = 0.15


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MeasuredLoads:
    """float64[P] each, None where nobody measured it. All of the leader; out is what consumers fetch from it."""

    disk_bytes: Floats | None = None
    in_bytes_per_s: Floats | None = None
    out_bytes_per_s: Floats | None = None
    cpu_percent: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """``follower_load`` and ``leader_extra``, float64[P, D], for the ``resources`` that were measured."""

    resources: tuple[str, ...]
    follower_load: Floats
    leader_extra: Floats


def columns_of(loads: MeasuredLoads, rf: Ints) -> Columns:
    """Columns at replication factors ``rf`` int32[P]: out grows with it, and the follower's share of CPU shrinks.

    Out needs in as well (replication is out traffic); CPU without rates has no follower share, so it needs them too.
    """
    count = len(rf)
    nothing, one = np.zeros(count), np.ones(count)
    columns: dict[str, tuple[Floats, Floats]] = {"replicas": (one, nothing), "leaders": (nothing, one)}
    if loads.disk_bytes is not None:
        columns["disk"] = (loads.disk_bytes, nothing)
    if loads.in_bytes_per_s is not None:
        columns["in"] = (loads.in_bytes_per_s, nothing)
        if loads.out_bytes_per_s is not None:
            leader_out = loads.out_bytes_per_s + loads.in_bytes_per_s * (rf - 1)
            columns["out"] = (nothing, leader_out)
            if loads.cpu_percent is not None:
                columns["cpu"] = _cpu(loads.cpu_percent, loads.in_bytes_per_s, leader_out)
    resources = tuple(each for each in RESOURCES if each in columns)
    follower = np.stack([columns[each][0] for each in resources], axis=1)
    extra = np.stack([columns[each][1] for each in resources], axis=1)
    return Columns(resources, np.ascontiguousarray(follower), np.ascontiguousarray(extra))


def _cpu(cpu: Floats, in_rate: Floats, leader_out: Floats) -> tuple[Floats, Floats]:
    cost = CPU_OF_LEADER_IN * in_rate + CPU_OF_LEADER_OUT * leader_out
    share = np.divide(CPU_OF_FOLLOWER_IN * in_rate, cost, out=np.zeros_like(cost), where=cost > 0)
    follower = cpu * np.minimum(share, 1.0)
    return follower, cpu - follower
