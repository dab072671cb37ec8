"""Read any input file or folder; its content decides the format.

Cluster-model JSON (MiB, KiB/s, percent)::

    {"brokers":    [{"id", "rack", "host", "state", "capacity": {"cpu", "nw_in", "nw_out", "disk"}}],
     "partitions": [{"topic", "partition", "replicas": [leader first], "load": {"cpu", "nw_in", "nw_out", "disk"}}]}

Sizes go to the load column, which keeps fractions of a byte. Kafka's reassignment JSON has no loads; of ``--generate``
and ``--execute``, "Current partition replica assignment" counts.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.codec import FORMAT, Fields, snapshot_from_document
from kafka_rebalance.snapshot.load import LoadColumn, LoadKind, LoadSource, PartitionLoads
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    Capacity,
    ClusterSnapshot,
    CoverageGap,
    Topic,
)
from kafka_rebalance.snapshot.ranges import CAPACITY_LIMITS, LARGEST_INT32, SMALLEST_CAPACITY
from rebalance_advisor.dumps.dump_folder import read_folder, read_group_table
from rebalance_advisor.dumps.groups_dump import looks_like_groups
from rebalance_advisor.dumps.input_file import parse_json
from rebalance_advisor.dumps.placement_rows import PlacementRows, read_placement_rows
from rebalance_advisor.dumps.text_lines import as_printed, without_commands
from rebalance_advisor.garbage_collection import without_collector
from rebalance_advisor.input_bytes import MAX_INPUT_BYTES, ByteBudget, is_folder, read_text

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
_MODEL_ROW_FIELDS = frozenset(("topic", "partition", "replicas", "load"))


def is_cluster_model(document: Any) -> bool:
    return isinstance(document, dict) and "brokers" in document and "partitions" in document


def read_cluster_model(document: dict[str, Any], place: str, cluster: str) -> ClusterSnapshot:
    """Raises InvalidInputError with the JSON path."""
    _require_units(document.get("units"), f"{place}.units")
    fields = Fields(document, place)
    brokers = fields.each("brokers", _read_broker)
    _require_distinct_brokers(brokers, place)
    rows = document["partitions"]
    placement = read_placement_rows(rows, f"{place}.partitions", _MODEL_ROW_FIELDS)
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


CURRENT_TITLE = "Current partition replica assignment"
_NEXT_TITLES = ("Proposed partition reassignment configuration", "Save this to use as the")
_NARROWEST_TERMINAL = 40
# ``log_dirs`` is ignored: Kafka lists fewer of them than replicas.
_REASSIGNMENT_ROW_FIELDS = frozenset(("topic", "partition", "replicas", "log_dirs"))
_NOT_IN_THE_FILE = (
    FactCode.LACKS_SIZES, FactCode.LACKS_RATES, FactCode.LACKS_RACKS, FactCode.LACKS_GROUPS,
)  # fmt: skip


def is_reassignment(document: Any) -> bool:
    return isinstance(document, dict) and "partitions" in document and "brokers" not in document


def read_reassignment(document: dict[str, Any], place: str, cluster: str) -> ClusterSnapshot:
    """The first replicas lead. Raises InvalidInputError with the JSON path."""
    version = document.get("version", 1)
    if type(version) is not int or version != 1:
        raise InvalidInputError.at(
            f"{place}.version", f"{excerpt(version)} is unknown", "Kafka's reassignment format is 1"
        )
    unknown = sorted(document.keys() - {"version", "partitions"})
    if unknown:
        raise InvalidInputError.at(place, f"unknown field {excerpt(unknown[0])}", "known: partitions, version")
    placement = read_placement_rows(document["partitions"], f"{place}.partitions", _REASSIGNMENT_ROW_FIELDS)
    return ClusterSnapshot(
        cluster=cluster,
        brokers=tuple(Broker(int(broker)) for broker in np.unique(placement.table.replicas)),
        topics=tuple(Topic(name) for name in placement.topics),
        partitions=placement.table,
        source="reassignment",
        coverage=tuple(
            CoverageGap(
                "cluster",
                cluster,
                fact(what),
                fact(FactCode.NOT_IN_REASSIGNMENT, is_of_ids=what is FactCode.LACKS_RACKS),
            )
            for what in _NOT_IN_THE_FILE
        ),
    )


def current_assignment(text: str, place: str) -> Any:
    """Joins lines that a terminal wrapped."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    title = next((number for number, line in enumerate(lines) if line.strip() == CURRENT_TITLE), None)
    if title is None:
        raise InvalidInputError.at(f"{place}:1", f"no line says {CURRENT_TITLE!r} and nothing else")
    end = next(
        (number for number in range(title + 1, len(lines)) if lines[number].strip().startswith(_NEXT_TITLES)),
        len(lines),
    )
    begin = next((number for number in range(title + 1, end) if lines[number].lstrip().startswith("{")), None)
    if begin is None:
        raise InvalidInputError.at(f"{place}:{title + 1}", f"no JSON stands under {CURRENT_TITLE!r}")
    block = lines[begin:end]
    while not block[-1].strip():
        block.pop()
    widths = [len(line) for line in block]
    is_even = all(a == b for a, b in pairwise(widths[:-1])) and widths[-1] <= widths[0]
    is_wrapped = len(block) > 1 and is_even and widths[0] >= _NARROWEST_TERMINAL
    return parse_json(("" if is_wrapped else "\n").join(block), place, begin + 1)


_JSON = re.compile(r"\s*[{\[]")
_DOCUMENT = re.compile(r"\s*(?:\{|\[\s*[\[{\"\]])")  # log lines begin with a bracket, too
_KNOWN = (
    "a snapshot JSON, a cluster-model JSON, a reassignment JSON (each plain or .gz), "
    "a kafka-consumer-groups --describe table, or a folder of dumps"
)


def read_input(
    path: str | Path, cluster: str | None = None, *, max_bytes: int = MAX_INPUT_BYTES, is_strict: bool = False
) -> ClusterSnapshot:
    """``cluster``: default name; ``max_bytes``: limit of all files unpacked.

    Unless ``is_strict``, an unreadable file of a folder becomes a gap if the rest suffices. Raises InvalidInputError.
    """
    path, budget = Path(path), ByteBudget(max_bytes)
    try:
        with without_collector():
            if is_folder(path):
                return read_folder(path, cluster or _plain_name(path), budget, is_strict=is_strict)
            return _read_file(path, cluster or _plain_name(path), budget)
    except InvalidInputError as error:
        if error.place.startswith(str(path)):
            raise
        raise InvalidInputError.at(str(path), str(error)) from error  # the model's checks know no file


def _read_file(path: Path, cluster: str, budget: ByteBudget) -> ClusterSnapshot:
    place = str(path)
    table = text = as_printed(read_text(path, budget))
    if not _DOCUMENT.match(text):
        text = without_commands(text)
    if not text or text.isspace():
        raise InvalidInputError.at(place, "is empty", f"give {_KNOWN}")
    if not _JSON.match(text):
        if looks_like_groups(text):
            return read_group_table(table, place, cluster)
        if CURRENT_TITLE not in text:
            raise InvalidInputError.at(f"{place}:1", "is none of the known inputs", f"give {_KNOWN}")
        return read_reassignment(current_assignment(text, place), place, cluster)
    document = parse_json(text, place)
    if isinstance(document, dict) and document.get("format") == FORMAT:
        return snapshot_from_document(document, place)
    if is_cluster_model(document):
        return read_cluster_model(document, place, cluster)
    if is_reassignment(document):
        return read_reassignment(document, place, cluster)
    raise InvalidInputError.at(
        f"{place}:1", f"is JSON of an unknown kind ({type(document).__name__})", f"give {_KNOWN}"
    )


def _plain_name(path: Path) -> str:
    name = path.resolve().name
    for ending in (".gz", ".json"):
        name = name.removesuffix(ending)
    return name
