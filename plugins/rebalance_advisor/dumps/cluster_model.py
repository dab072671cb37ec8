"""Cluster-model JSON → snapshot: an import format in MiB, KiB/s and percent (see README of the peer's clusters).

    {"brokers":    [{"id", "rack", "host", "state", "capacity": {"cpu", "nw_in", "nw_out", "disk"}}],
     "partitions": [{"topic", "partition", "replicas": [leader first], "load": {"cpu", "nw_in", "nw_out", "disk"}}]}

Units are multiplied by powers of two, so nothing is lost: ``disk`` × 2^20 bytes, ``nw_*`` × 2^10 bytes/s. Sizes stand
in the load column, which keeps fractions of a byte; the sizes per replica stay unknown: "as the leader's".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.snapshot.codec import Fields
from kafka_rebalance.snapshot.load import LoadColumn, LoadKind, LoadSource, PartitionLoads
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    Capacity,
    ClusterSnapshot,
    Topic,
)
from kafka_rebalance.snapshot.ranges import CAPACITY_LIMITS, LARGEST_INT32, SMALLEST_CAPACITY
from rebalance_advisor.dumps.placement_rows import PlacementRows, read_placement_rows

MIB = 2**20
KIB = 2**10

_STATES = {
    "alive": BrokerState.ALIVE,
    "new": BrokerState.NEW,
    "drain": BrokerState.DRAINING,
    "demoted": BrokerState.DEMOTED,
    "dead": BrokerState.DEAD,
}
_LOADS = {
    "disk": (LoadKind.LOG_BYTES, MIB),
    "nw_in": (LoadKind.IN_BYTES_PER_S, KIB),
    "nw_out": (LoadKind.OUT_BYTES_PER_S, KIB),
    "cpu": (LoadKind.CPU_PERCENT, 1),
}
_UNITS = {"disk": "MiB", "nw": "KiB/s", "cpu": "% of broker"}
_ROW_FIELDS = frozenset(("topic", "partition", "replicas", "load"))


def is_cluster_model(document: Any) -> bool:
    """A JSON object with brokers and partitions side by side."""
    return isinstance(document, dict) and "brokers" in document and "partitions" in document


def read_cluster_model(document: dict[str, Any], place: str, cluster: str) -> ClusterSnapshot:
    """The snapshot of a model; ``cluster`` is its name where it gives none.

    Raises InvalidInputError with the JSON path: another unit, an unknown state or field, a broker or partition twice,
    a replica on a broker that is not listed, a load that is negative or no number.
    """
    _require_units(document.get("units"), f"{place}.units")
    fields = Fields(document, place)
    brokers = fields.each("brokers", _read_broker)
    _require_distinct_brokers(brokers, place)
    rows = document["partitions"]
    placement = read_placement_rows(rows, f"{place}.partitions", _ROW_FIELDS)
    _require_known_brokers(placement, brokers, place)
    return ClusterSnapshot(
        cluster=fields.get("name", str, cluster),
        brokers=brokers,
        topics=tuple(Topic(name) for name in placement.topics),
        partitions=placement.table,
        loads=_read_loads(rows, placement, place),
        source="cluster-model",
    )


def _require_units(units: Any, place: str) -> None:
    if units is None:
        return
    if not isinstance(units, dict):
        raise InvalidInputError.at(place, f"expected an object, found {excerpt(units)}")
    for name, unit in units.items():
        if _UNITS.get(name) != unit:
            raise InvalidInputError.at(f"{place}.{name}", f"{excerpt(unit)} is another unit", f"a model is in {_UNITS}")


def _read_broker(item: Any, path: str) -> Broker:
    fields = Fields(item, path)
    state = fields.get("state", str, "alive")
    if state not in _STATES:
        raise InvalidInputError.at(f"{path}.state", f"{excerpt(state)} is unknown", f"known: {', '.join(_STATES)}")
    capacity = Fields(fields.raw("capacity", {}), f"{path}.capacity")
    broker = Broker(
        id=fields.whole("id", 0, LARGEST_INT32),
        rack=fields.get("rack", str, None),
        host=fields.get("host", str, None),
        state=_STATES[state],
        capacity=Capacity(
            disk_bytes=_capacity(capacity, "disk", MIB, "disk_bytes"),
            in_bytes_per_s=_capacity(capacity, "nw_in", KIB, "in_bytes_per_s"),
            out_bytes_per_s=_capacity(capacity, "nw_out", KIB, "out_bytes_per_s"),
            cpu_percent=_capacity(capacity, "cpu", 1, "cpu_percent"),
        ),
    )
    capacity.done()
    fields.done()
    return broker


def _capacity(fields: Fields, name: str, unit: int, column: str) -> float | None:
    value = fields.real(name, SMALLEST_CAPACITY / unit, CAPACITY_LIMITS[column] / unit, None)
    return None if value is None else float(value * unit)


def _require_distinct_brokers(brokers: tuple[Broker, ...], place: str) -> None:
    first: dict[int, int] = {}
    for number, broker in enumerate(brokers):
        if broker.id in first:
            raise InvalidInputError.at(
                f"{place}.brokers[{number}]", f"broker {broker.id} is already listed in brokers[{first[broker.id]}]"
            )
        first[broker.id] = number
    if not brokers:
        raise InvalidInputError.at(f"{place}.brokers", "holds no brokers")


def _require_known_brokers(placement: PlacementRows, brokers: tuple[Broker, ...], place: str) -> None:
    table = placement.table
    known = np.array([broker.id for broker in brokers], dtype=np.int32)
    missing = np.flatnonzero(~np.isin(table.replicas, known))
    if len(missing):
        row = int(placement.order[table.row_of_replica[missing[0]]])
        raise InvalidInputError.at(
            f"{place}.partitions[{row}].replicas",
            f"broker {table.replicas[missing[0]]} is not among the model's brokers",
            "list it, with state 'dead' if it is gone",
        )


def _read_loads(rows: list[dict[str, Any]], placement: PlacementRows, place: str) -> PartitionLoads:
    loads = [{} if row.get("load") is None else row["load"] for row in rows]
    if set(map(type, loads)) - {dict} or any(load.keys() - _LOADS.keys() for load in loads):
        _name_wrong_load(loads, place)
    columns: dict[LoadKind, LoadColumn] = {}
    for name, (kind, unit) in _LOADS.items():
        values = [load.get(name) for load in loads]
        if set(map(type, values)) - {int, float, type(None)}:
            _name_wrong_load(loads, place)
        array = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        if ((array < 0) | (array > kind.largest / unit)).any():
            _name_wrong_load(loads, place)
        if not np.isnan(array).all():
            columns[kind] = LoadColumn(array[placement.order] * unit, LoadSource.GIVEN)
    return PartitionLoads(columns)


def _name_wrong_load(loads: list[Any], place: str) -> None:
    """Raises at the first load that is wrong."""
    for number, load in enumerate(loads):
        here = f"{place}.partitions[{number}].load"
        if not isinstance(load, dict):
            raise InvalidInputError.at(here, f"expected an object, found {excerpt(load)}")
        for name, value in load.items():
            if name not in _LOADS:
                raise InvalidInputError.at(here, f"unknown field {excerpt(name)}", f"known: {', '.join(_LOADS)}")
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            kind, unit = _LOADS[name]
            if value is not None and not (is_number and 0 <= value <= kind.largest / unit):
                limits = f"0 to {kind.largest / unit:.4g}; unknown is null, never zero"
                raise InvalidInputError.at(f"{here}.{name}", f"{excerpt(value)} is no load", limits)
