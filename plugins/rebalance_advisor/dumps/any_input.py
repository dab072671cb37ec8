"""Read any input file or folder; its content decides the format.

Cluster-model JSON (MiB, KiB/s, percent)::

    {"brokers":    [{"id", "rack", "host", "state", "capacity": {"cpu", "nw_in", "nw_out", "disk"}}],
     "partitions": [{"topic", "partition", "replicas": [leader first], "load": {"cpu", "nw_in", "nw_out", "disk"}}]}

Sizes go to the load column, which keeps fractions of a byte. Kafka's reassignment JSON has no loads; of ``--generate``
and ``--execute``, "Current partition replica assignment" counts.

Rows ``{"topic", "partition", "replicas": [leader first]}`` (up to 300,000) become columns, and are checked one by one
only when a column is wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.codec import FORMAT, Fields, snapshot_from_document
from kafka_rebalance.snapshot.figures import (
    CAPACITY_LIMITS,
    LARGEST_INT32,
    SMALLEST_CAPACITY,
    LoadKind,
    LoadSource,
    topic_name_fault,
)
from kafka_rebalance.snapshot.model import Broker, BrokerState, Capacity, ClusterSnapshot, CoverageGap, Topic
from kafka_rebalance.snapshot.partition_table import (
    UNKNOWN_BYTES,
    UNKNOWN_OFFSET,
    LoadColumn,
    PartitionLoads,
    PartitionTable,
)
from rebalance_advisor.dumps.dump_folder import read_folder, read_group_table
from rebalance_advisor.dumps.groups_dump import looks_like_groups
from rebalance_advisor.dumps.input_file import parse_json
from rebalance_advisor.dumps.text_lines import as_printed, without_commands
from rebalance_advisor.garbage_collection import without_collector
from rebalance_advisor.input_bytes import MAX_INPUT_BYTES, ByteBudget, is_folder, read_text

_LARGEST_ID = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False)
class PlacementRows:
    """``topics`` sorted; ``order`` int64[P] = input row of each table row."""

    topics: tuple[str, ...]
    table: PartitionTable
    order: npt.NDArray[np.int64]


def read_placement_rows(rows: Any, path: str, allowed_fields: frozenset[str]) -> PlacementRows:
    """Raises InvalidInputError for the first wrong row."""
    if not isinstance(rows, list):
        raise InvalidInputError.at(path, f"expected a list of partitions, found {type(rows).__name__}")
    if not rows:
        raise InvalidInputError.at(path, "holds no partitions")
    try:
        return _columns(rows, allowed_fields)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
        _name_wrong_row(rows, path, allowed_fields)
        raise InvalidInputError.at(path, f"a row is wrong ({error})") from error


def _columns(rows: list[Any], allowed_fields: frozenset[str]) -> PlacementRows:
    if any(row.keys() - allowed_fields for row in rows):
        raise ValueError("unknown field")
    names = [row["topic"] for row in rows]
    replicas = [row["replicas"] for row in rows]
    _require_all(str, names)
    _require_all(list, replicas)
    topics = tuple(sorted(set(names)))
    if any(map(topic_name_fault, topics)):
        raise ValueError("no name of a topic")
    index = {name: number for number, name in enumerate(topics)}
    topic = np.fromiter((index[name] for name in names), dtype=np.int32, count=len(rows))
    partition = _whole([row["partition"] for row in rows])
    counts = np.fromiter(map(len, replicas), dtype=np.int64, count=len(rows))
    if counts.min() < 1:
        raise ValueError("empty replica list")
    brokers = _whole(list(chain.from_iterable(replicas)))
    order = np.lexsort((partition, topic))
    key = (topic.astype(np.int64) << 32 | partition)[order]
    if (np.diff(key) == 0).any():
        raise ValueError("partition twice")
    offsets, brokers = _reorder(counts, brokers, order)
    _require_distinct(offsets, brokers)
    unknown = np.full(len(rows), UNKNOWN_OFFSET, dtype=np.int64)
    table = PartitionTable(
        topic=topic[order],
        partition=partition[order],
        offsets=offsets,
        replicas=brokers,
        leader=brokers[offsets[:-1]],
        replica_log_bytes=np.full(len(brokers), UNKNOWN_BYTES, dtype=np.int64),
        start_offset=unknown,
        end_offset=unknown.copy(),
    )
    return PlacementRows(topics, table, order)


def _require_all(kind: type, values: list[Any]) -> None:
    if set(map(type, values)) - {kind}:
        raise TypeError(f"expected {kind.__name__}")


def _whole(values: list[Any]) -> npt.NDArray[np.int32]:
    _require_all(int, values)
    if min(values) < 0 or max(values) > _LARGEST_ID:
        raise ValueError("number out of range")
    return np.fromiter(values, dtype=np.int32, count=len(values))


def _reorder(
    counts: npt.NDArray[np.int64], brokers: npt.NDArray[np.int32], order: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    begins = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))[:-1]
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts[order])))
    cell = np.arange(len(brokers), dtype=np.int64)
    source = np.repeat(begins[order] - offsets[:-1], counts[order]) + cell
    return offsets, brokers[source]


def _require_distinct(offsets: npt.NDArray[np.int64], brokers: npt.NDArray[np.int32]) -> None:
    row = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    pairs = np.sort(row << 32 | brokers)
    if (np.diff(pairs) == 0).any():
        raise ValueError("broker twice")


def _name_wrong_row(rows: list[Any], path: str, allowed_fields: frozenset[str]) -> None:
    row_of_key: dict[tuple[str, int], int] = {}
    for number, row in enumerate(rows):
        here = f"{path}[{number}]"
        _check_row(row, here, allowed_fields)
        key = (row["topic"], row["partition"])
        if key in row_of_key:
            raise InvalidInputError.at(here, f"{key[0]}-{key[1]} is already listed in {path}[{row_of_key[key]}]")
        row_of_key[key] = number


def _check_row(row: Any, here: str, allowed_fields: frozenset[str]) -> None:
    if not isinstance(row, dict):
        raise InvalidInputError.at(here, f"expected an object, found {excerpt(row)}")
    unknown = sorted(row.keys() - allowed_fields)
    if unknown:
        raise InvalidInputError.at(
            here, f"unknown field {excerpt(unknown[0])}", f"known: {', '.join(sorted(allowed_fields))}"
        )
    for name in ("topic", "partition", "replicas"):
        if name not in row:
            raise InvalidInputError.at(here, f"{name!r} is missing")
    fault = topic_name_fault(row["topic"]) if isinstance(row["topic"], str) else "a topic's name is a text"
    if fault:
        raise InvalidInputError.at(f"{here}.topic", f"expected a topic's name, found {excerpt(row['topic'])}", fault)
    _check_id(row["partition"], f"{here}.partition", "a partition number")
    replicas = row["replicas"]
    if not isinstance(replicas, list) or not replicas:
        raise InvalidInputError.at(f"{here}.replicas", f"expected a list of broker ids, found {excerpt(replicas)}")
    for number, broker in enumerate(replicas):
        _check_id(broker, f"{here}.replicas[{number}]", "a broker id")
    if len(set(replicas)) != len(replicas):
        twice = next(replica for replica in replicas if replicas.count(replica) > 1)
        raise InvalidInputError.at(f"{here}.replicas", f"broker {twice} stands twice in {replicas}")


def _check_id(value: Any, here: str, what: str) -> None:
    if type(value) is not int or not 0 <= value <= _LARGEST_ID:
        raise InvalidInputError.at(here, f"expected {what}, found {excerpt(value)}")


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


def read_cluster_model(document: dict[str, Any], location: str, cluster: str) -> ClusterSnapshot:
    """Raises InvalidInputError with the JSON path."""
    _require_units(document.get("units"), f"{location}.units")
    fields = Fields(document, location)
    brokers = fields.each("brokers", _read_broker)
    _require_distinct_brokers(brokers, location)
    rows = document["partitions"]
    placement = read_placement_rows(rows, f"{location}.partitions", _MODEL_ROW_FIELDS)
    _require_known_brokers(placement, brokers, location)
    return ClusterSnapshot(
        cluster=fields.get("name", str, cluster),
        brokers=brokers,
        topics=tuple(Topic(name) for name in placement.topics),
        partitions=placement.table,
        loads=_read_loads(rows, placement, location),
        source="cluster-model",
    )


def _require_units(units: Any, location: str) -> None:
    if units is None:
        return
    if not isinstance(units, dict):
        raise InvalidInputError.at(location, f"expected an object, found {excerpt(units)}")
    for name, unit in units.items():
        if _UNITS.get(name) != unit:
            raise InvalidInputError.at(
                f"{location}.{name}", f"{excerpt(unit)} is another unit", f"a model is in {_UNITS}"
            )


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


def _require_distinct_brokers(brokers: tuple[Broker, ...], location: str) -> None:
    first: dict[int, int] = {}
    for number, broker in enumerate(brokers):
        if broker.id in first:
            raise InvalidInputError.at(
                f"{location}.brokers[{number}]", f"broker {broker.id} is already listed in brokers[{first[broker.id]}]"
            )
        first[broker.id] = number
    if not brokers:
        raise InvalidInputError.at(f"{location}.brokers", "holds no brokers")


def _require_known_brokers(placement: PlacementRows, brokers: tuple[Broker, ...], location: str) -> None:
    table = placement.table
    ids = np.array([broker.id for broker in brokers], dtype=np.int32)
    missing = np.flatnonzero(~np.isin(table.replicas, ids))
    if len(missing):
        row = int(placement.order[table.row_of_replica[missing[0]]])
        raise InvalidInputError.at(
            f"{location}.partitions[{row}].replicas",
            f"broker {table.replicas[missing[0]]} is not among the model's brokers",
            "list it, with state 'dead' if it is gone",
        )


def _read_loads(rows: list[dict[str, Any]], placement: PlacementRows, location: str) -> PartitionLoads:
    loads = [{} if row.get("load") is None else row["load"] for row in rows]
    if set(map(type, loads)) - {dict} or any(load.keys() - _LOADS.keys() for load in loads):
        _name_wrong_load(loads, location)
    columns: dict[LoadKind, LoadColumn] = {}
    for name, (kind, unit) in _LOADS.items():
        values = [load.get(name) for load in loads]
        if set(map(type, values)) - {int, float, type(None)}:
            _name_wrong_load(loads, location)
        array = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        if ((array < 0) | (array > kind.largest / unit)).any():
            _name_wrong_load(loads, location)
        if not np.isnan(array).all():
            columns[kind] = LoadColumn(array[placement.order] * unit, LoadSource.GIVEN)
    return PartitionLoads(columns)


def _name_wrong_load(loads: list[Any], location: str) -> None:
    for number, load in enumerate(loads):
        here = f"{location}.partitions[{number}].load"
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


def read_reassignment(document: dict[str, Any], location: str, cluster: str) -> ClusterSnapshot:
    """The first replicas lead. Raises InvalidInputError with the JSON path."""
    version = document.get("version", 1)
    if type(version) is not int or version != 1:
        raise InvalidInputError.at(
            f"{location}.version", f"{excerpt(version)} is unknown", "Kafka's reassignment format is 1"
        )
    unknown = sorted(document.keys() - {"version", "partitions"})
    if unknown:
        raise InvalidInputError.at(location, f"unknown field {excerpt(unknown[0])}", "known: partitions, version")
    placement = read_placement_rows(document["partitions"], f"{location}.partitions", _REASSIGNMENT_ROW_FIELDS)
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


def current_assignment(text: str, location: str) -> Any:
    """Joins lines that a terminal wrapped."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    title = next((number for number, line in enumerate(lines) if line.strip() == CURRENT_TITLE), None)
    if title is None:
        raise InvalidInputError.at(f"{location}:1", f"no line says {CURRENT_TITLE!r} and nothing else")
    end = next(
        (number for number in range(title + 1, len(lines)) if lines[number].strip().startswith(_NEXT_TITLES)),
        len(lines),
    )
    begin = next((number for number in range(title + 1, end) if lines[number].lstrip().startswith("{")), None)
    if begin is None:
        raise InvalidInputError.at(f"{location}:{title + 1}", f"no JSON stands under {CURRENT_TITLE!r}")
    block = lines[begin:end]
    while not block[-1].strip():
        block.pop()
    widths = [len(line) for line in block]
    is_even = all(a == b for a, b in pairwise(widths[:-1])) and widths[-1] <= widths[0]
    is_wrapped = len(block) > 1 and is_even and widths[0] >= _NARROWEST_TERMINAL
    return parse_json(("" if is_wrapped else "\n").join(block), location, begin + 1)


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
        if error.location.startswith(str(path)):
            raise
        raise InvalidInputError.at(str(path), str(error)) from error  # the model's checks know no file


def _read_file(path: Path, cluster: str, budget: ByteBudget) -> ClusterSnapshot:
    location = str(path)
    table = text = as_printed(read_text(path, budget))
    if not _DOCUMENT.match(text):
        text = without_commands(text)
    if not text or text.isspace():
        raise InvalidInputError.at(location, "is empty", f"give {_KNOWN}")
    if not _JSON.match(text):
        if looks_like_groups(text):
            return read_group_table(table, location, cluster)
        if CURRENT_TITLE not in text:
            raise InvalidInputError.at(f"{location}:1", "is none of the known inputs", f"give {_KNOWN}")
        return read_reassignment(current_assignment(text, location), location, cluster)
    document = parse_json(text, location)
    if isinstance(document, dict) and document.get("format") == FORMAT:
        return snapshot_from_document(document, location)
    if is_cluster_model(document):
        return read_cluster_model(document, location, cluster)
    if is_reassignment(document):
        return read_reassignment(document, location, cluster)
    raise InvalidInputError.at(
        f"{location}:1", f"is JSON of an unknown kind ({type(document).__name__})", f"give {_KNOWN}"
    )


def _plain_name(path: Path) -> str:
    name = path.resolve().name
    for ending in (".gz", ".json"):
        name = name.removesuffix(ending)
    return name
