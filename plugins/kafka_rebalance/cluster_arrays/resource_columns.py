"""From measured loads to the planner's columns: what every replica carries, and what the leader carries on top.

DESIGN §9 has the definitions; a follower's CPU is Cruise Control's estimate, as in ``clusters/score.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.params import DEFAULTS, CpuParams
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.resources import BALANCED, TABLE, Carrier, Resource
from kafka_rebalance.snapshot.load import LoadKind

_FIELD_OF = {
    LoadKind.LOG_BYTES: "disk_bytes",
    LoadKind.IN_BYTES_PER_S: "in_bytes_per_s",
    LoadKind.OUT_BYTES_PER_S: "out_bytes_per_s",
    LoadKind.CPU_PERCENT: "cpu_percent",
}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MeasuredLoads:
    """float64[P] each, None where nobody measured it. All of the leader; out is what consumers fetch from it."""

    disk_bytes: Floats | None = None
    in_bytes_per_s: Floats | None = None
    out_bytes_per_s: Floats | None = None
    cpu_percent: Floats | None = None

    @classmethod
    def by_kind(cls, figures: Mapping[LoadKind, Floats]) -> MeasuredLoads:
        """From what is known of each kind."""
        return cls(**{_FIELD_OF[kind]: values for kind, values in figures.items()})

    def of(self, kind: LoadKind) -> Floats | None:
        """float64[P] of one kind, None where nobody measured it."""
        values: Floats | None = getattr(self, _FIELD_OF[kind])
        return values

    def taken(self, rows: Longs) -> MeasuredLoads:
        """Those of the partitions ``rows``."""
        known = {kind: values for kind in _FIELD_OF if (values := self.of(kind)) is not None}
        return MeasuredLoads.by_kind({kind: values[rows] for kind, values in known.items()})


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """``follower_load`` and ``leader_extra``, float64[P, D], for the ``resources`` that were measured."""

    resources: tuple[str, ...]
    follower_load: Floats
    leader_extra: Floats


def columns_of(
    loads: MeasuredLoads, rf: Ints, resources: Collection[str] = BALANCED, cpu: CpuParams = DEFAULTS.cpu
) -> Columns:
    """Columns at replication factors ``rf`` int32[P]: out grows with it, and the follower's share of CPU shrinks.

    Of ``resources`` those whose figures are all known, in the table's order.
    """
    known = [row for row in TABLE if row.name in resources and all(loads.of(kind) is not None for kind in row.rests_on)]
    carried = [_carried(row, loads, rf, cpu) for row in known]
    follower = np.stack([per_replica for per_replica, _ in carried], axis=1) if carried else np.zeros((len(rf), 0))
    extra = np.stack([per_leader for _, per_leader in carried], axis=1) if carried else np.zeros((len(rf), 0))
    names = tuple(row.name for row in known)
    return Columns(names, np.ascontiguousarray(follower), np.ascontiguousarray(extra))


def _carried(row: Resource, loads: MeasuredLoads, rf: Ints, cpu: CpuParams) -> tuple[Floats, Floats]:
    """float64[P] each: what every replica carries of one resource, and what the leader carries on top."""
    nothing, amount = np.zeros(len(rf)), _amount(row, loads, rf)
    if row.carrier is Carrier.REPLICAS:
        return amount, nothing
    if row.carrier is Carrier.LEADER:
        return nothing, amount
    return _shared(amount, loads, rf, cpu)


def _amount(row: Resource, loads: MeasuredLoads, rf: Ints) -> Floats:
    """float64[P]: what the leader carries of one resource, whose figures are known."""
    if row.load is None:
        return np.ones(len(rf))
    measured = _known(loads, row.load)
    return measured + _known(loads, LoadKind.IN_BYTES_PER_S) * (rf - 1) if row.copies_sent else measured


def _shared(amount: Floats, loads: MeasuredLoads, rf: Ints, cpu: CpuParams) -> tuple[Floats, Floats]:
    """A follower's part of the leader's CPU, and what the leader has beyond it."""
    in_rate = _known(loads, LoadKind.IN_BYTES_PER_S)
    leader_out = _known(loads, LoadKind.OUT_BYTES_PER_S) + in_rate * (rf - 1)
    cost = cpu.leader_in * in_rate + cpu.leader_out * leader_out
    share = np.divide(cpu.follower_in * in_rate, cost, out=np.zeros_like(cost), where=cost > 0)
    follower = amount * np.minimum(share, 1.0)
    return follower, amount - follower


def _known(loads: MeasuredLoads, kind: LoadKind) -> Floats:
    values = loads.of(kind)
    if values is None:
        raise InvalidInputError.at(f"loads.{kind.value}", "is not known", "ask for its resource only where it is")
    return values
