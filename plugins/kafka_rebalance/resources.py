"""The table of a broker's resources, in the order in which they are named, reported and searched.

A new resource needs a row, and its own formula in ``verify/loads.py``, which shares only names and units.

Example: ``out`` is ``OUT_BYTES_PER_S``, which consumers fetch, plus a copy of the writes for each follower.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from kafka_rebalance.snapshot.figures import LoadKind


class Carrier(StrEnum):
    REPLICAS = "every replica, the leader among them, alike"
    LEADER = "the leader alone"
    BOTH = "the leader, and every follower a share of what the leader carries"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One row.

    name          in options, plan.json and the store
    unit          bytes, bytes/s, percent or count
    load_name     as a field or a key of evidence
    phrase        a sentence's start before a number of shares: "disk holds" 1.30 × its share
    load          its metric; None: counted
    copies_sent   adds what followers fetch from the leader: ``in`` × (RF - 1)
    rests_on      every metric in it, ``load`` first
    capacity      its field of ``Capacity``
    is_balanced   by default; else only a target, a cap, a headroom or ``--also-balance`` brings it into a plan, and its
                  capacity counts only for a headroom
    """

    name: str
    unit: str
    load_name: str
    phrase: str
    carrier: Carrier
    load: LoadKind | None = None
    copies_sent: bool = False
    rests_on: tuple[LoadKind, ...] = ()
    capacity: str | None = None
    is_balanced: bool = True

    @property
    def is_counted(self) -> bool:
        return self.load is None


TABLE = (
    Resource(
        name="disk",
        unit="bytes",
        load_name="disk_bytes",
        phrase="disk holds",
        carrier=Carrier.REPLICAS,
        load=LoadKind.LOG_BYTES,
        rests_on=(LoadKind.LOG_BYTES,),
        capacity="disk_bytes",
    ),
    Resource(
        name="in",
        unit="bytes/s",
        load_name="in_bytes_per_s",
        phrase="incoming rate is",
        carrier=Carrier.REPLICAS,
        load=LoadKind.IN_BYTES_PER_S,
        rests_on=(LoadKind.IN_BYTES_PER_S,),
        capacity="in_bytes_per_s",
    ),
    Resource(
        name="out",
        unit="bytes/s",
        load_name="out_bytes_per_s",
        phrase="outgoing rate is",
        carrier=Carrier.LEADER,
        load=LoadKind.OUT_BYTES_PER_S,
        copies_sent=True,
        rests_on=(LoadKind.OUT_BYTES_PER_S, LoadKind.IN_BYTES_PER_S),
        capacity="out_bytes_per_s",
    ),
    Resource(
        name="cpu",
        unit="percent",
        load_name="cpu_percent",
        phrase="CPU is",
        carrier=Carrier.BOTH,
        load=LoadKind.CPU_PERCENT,
        rests_on=(LoadKind.CPU_PERCENT, LoadKind.OUT_BYTES_PER_S, LoadKind.IN_BYTES_PER_S),
        capacity="cpu_percent",
    ),
    Resource(
        name="replicas", unit="count", load_name="replicas", phrase="replica count is", carrier=Carrier.REPLICAS
    ),
    Resource(name="leaders", unit="count", load_name="leaders", phrase="leader count is", carrier=Carrier.LEADER),
    Resource(
        name="leader_in",
        unit="bytes/s",
        load_name="leader_in_bytes_per_s",
        phrase="leaders' incoming rate is",
        carrier=Carrier.LEADER,
        load=LoadKind.IN_BYTES_PER_S,
        rests_on=(LoadKind.IN_BYTES_PER_S,),
        is_balanced=False,
    ),
    # Sent by a broker that leads all its replicas, as after failures.
    Resource(
        name="potential_out",
        unit="bytes/s",
        load_name="potential_out_bytes_per_s",
        phrase="potential outgoing rate is",
        carrier=Carrier.REPLICAS,
        load=LoadKind.OUT_BYTES_PER_S,
        copies_sent=True,
        rests_on=(LoadKind.OUT_BYTES_PER_S, LoadKind.IN_BYTES_PER_S),
        capacity="out_bytes_per_s",
        is_balanced=False,
    ),
)  # fmt: skip
ROWS: Mapping[str, Resource] = {row.name: row for row in TABLE}
RESOURCES = tuple(ROWS)
UNITS: Mapping[str, str] = {row.name: row.unit for row in TABLE}
BOUNDED = tuple(row.name for row in TABLE if row.capacity is not None)
BALANCED = frozenset(row.name for row in TABLE if row.is_balanced)
ON_REQUEST = tuple(row.name for row in TABLE if not row.is_balanced)
COUNTED = tuple(row.name for row in TABLE if row.is_counted)
# Balanced by default; a plan's copies add to the throttled ones.
RATES = tuple(row.name for row in TABLE if row.is_balanced and row.unit in ("bytes/s", "percent"))
THROTTLED = tuple(name for name in RATES if UNITS[name] == "bytes/s")
# The search places replicas by the first, chooses leaders by the second.
REPLICA_CARRIED = tuple(row.name for row in TABLE if row.carrier is Carrier.REPLICAS)
LEADER_CARRIED = tuple(row.name for row in TABLE if row.carrier is not Carrier.REPLICAS)
ONLY_LEADERS = tuple(row.name for row in TABLE if row.carrier is Carrier.LEADER)


def in_a_sentence(names: Iterable[str], last: str = "or") -> str:
    """``disk, in or out``"""
    *others, end = names
    return f"{', '.join(others)} {last} {end}" if others else end
