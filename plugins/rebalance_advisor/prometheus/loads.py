"""Add Prometheus loads to a snapshot: in, out and messages by topic and broker, CPU by broker.

Values cover the window that ends with the snapshot; missing ones stay unchanged. A series belongs to a broker by id, by
advertised host, or by a pod's last number.

A topic's rate on a broker is split over the partitions that it leads: by messages (growth of end offsets), else by size
(retention is per topic, so size follows writes), else evenly. A rate on a broker that leads none now is split over all
partitions if written (the leader moved), and ignored if read (follower fetching). A partition with an unchanged end
offset was not written to. Example: broker 1 leads a-0 and a-1 and counts 90 bytes/s of a; offsets grow by 2/s and 1/s:
60 and 30 bytes/s.

CPU is split over leaders by Cruise Control's coefficients, as in the planner: leaders cost by bytes in and out,
followers by copies. One factor for the cluster makes the sum equal to the measured one; the snapshot records the
brokers' deviations.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from kafka_assignors.arrays import Floats
from kafka_rebalance.cluster_arrays.problem import DEFAULTS, CpuParams
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.render.coverage import describe_split
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, CoverageGap
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from rebalance_advisor.prometheus.http_api import Labels, PrometheusError, Server
from rebalance_advisor.prometheus.metric_names import Metric, MetricNames

TopicRates = Mapping[tuple[str, int], float]  # (topic, broker) → a second


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """``values`` float64[P]: nan without a series on the leader; others are shares of the total."""

    values: Floats
    total: float
    exact: float
    by_messages: float
    by_size: float
    evenly: float
    elsewhere: float  # on brokers without a leader of the topic
    spread: float | None  # difference of splits by messages and by size

    @property
    def shares(self) -> dict[str, float | None]:
        names = ("exact", "by_messages", "by_size", "evenly", "elsewhere", "spread")
        shares = {name: getattr(self, name) for name in names}
        return {name: None if share is None else float(share) for name, share in shares.items()}


def split_over_partitions(
    snapshot: ClusterSnapshot, rates: TopicRates, messages: Floats, *, keeps_elsewhere: bool
) -> Split:
    """O(P + series).

    ``messages`` float64[P] a second, nan if unknown. ``keeps_elsewhere``: split rates of other brokers, too.
    """
    table, names = snapshot.partitions, [topic.name for topic in snapshot.topics]
    size = table.leader_log_bytes
    values = np.full(len(table), np.nan)
    shares = {"exact": 0.0, "by_messages": 0.0, "by_size": 0.0, "evenly": 0.0}
    total, elsewhere, differing, compared = sum(rates.values()), 0.0, 0.0, 0.0
    rows_of_topic = np.split(np.arange(len(table)), np.searchsorted(table.topic, np.arange(1, len(names))))
    by_topic: dict[str, dict[int, float]] = {}
    for (topic, broker), rate in rates.items():
        by_topic.setdefault(topic, {})[broker] = rate
    for rows, name in zip(rows_of_topic, names, strict=True):
        counted = by_topic.pop(name, {})
        for broker in sorted(set(table.leader[rows].tolist()) & counted.keys()):
            led, rate = rows[table.leader[rows] == broker], counted.pop(broker)
            how, weights = _weights(led, messages, size)
            values[led] = rate * weights
            shares[how] += rate
            if how == "by_messages" and _usable(size[led]):
                differing += rate * float(np.abs(weights - size[led] / size[led].sum()).sum()) / 2
                compared += rate
        rest = sum(counted.values())
        elsewhere += rest
        if keeps_elsewhere and rest > 0 and len(rows):
            _, weights = _weights(rows, messages, size)
            values[rows] = np.nan_to_num(values[rows]) + rest * weights
    values[np.isnan(values) & (messages == 0)] = 0.0
    elsewhere += sum(rate for counted in by_topic.values() for rate in counted.values())
    whole = total or 1.0
    parts = {how: rate / whole for how, rate in shares.items()}
    spread = differing / compared if compared > 0 else None
    return Split(values=values, total=total, elsewhere=elsewhere / whole, spread=spread, **parts)


def _weights(rows: np.ndarray, messages: Floats, size: Floats) -> tuple[str, Floats]:
    if len(rows) == 1:
        return "exact", np.ones(1)
    for how, amounts in (("by_messages", messages[rows]), ("by_size", size[rows])):
        if _usable(amounts):
            return how, amounts / amounts.sum()
    return "evenly", np.full(len(rows), 1 / len(rows))


def _usable(amounts: Floats) -> bool:
    return not bool(np.isnan(amounts).any()) and float(amounts.sum()) > 0


_POD = re.compile(r"[a-z0-9.-]*[a-z][a-z0-9.-]*-(\d+)")


def broker_of_value(brokers: Iterable[Broker], given: Mapping[str, int]) -> Callable[[str], int | None]:
    """Label value → broker id; None if unknown or ambiguous.

    Order: the ``given`` names, the id, the host (with or without port), a pod's last number.
    """
    all_brokers = list(brokers)
    ids = {broker.id for broker in all_brokers}
    hosts = Counter(broker.host for broker in all_brokers if broker.host)
    by_host = {broker.host: broker.id for broker in all_brokers if broker.host and hosts[broker.host] == 1}

    def broker(value: str) -> int | None:
        if value in given:
            return given[value]
        if value.isdecimal() and int(value) in ids:
            return int(value)
        host = value.rpartition(":")[0] or value if value.rpartition(":")[2].isdecimal() else value
        if host in by_host:
            return by_host[host]
        pod = _POD.fullmatch(host.partition(".")[0])
        return int(pod[1]) if pod is not None and int(pod[1]) in ids and host not in hosts else None

    return broker


def label_of(labels: Iterable[Mapping[str, str]], names: Sequence[str], broker: Callable[[str], int | None]) -> str:
    """The first label of ``names`` that identifies a broker in some series, else the last."""
    all_series = list(labels)
    for name in names:
        if any(name in series and broker(series[name]) is not None for series in all_series):
            return name
    return names[-1]


def cpu_of_leaders(
    snapshot: ClusterSnapshot,
    by_broker: Mapping[int, float],
    rates: Mapping[LoadKind, Floats],
    params: CpuParams = DEFAULTS.cpu,
) -> tuple[Floats, str] | None:
    """float64[P] percent of each leader, and the brokers' deviation as text; None without costs.

    ``by_broker`` in percent (100: one core); ``rates``: bytes in and out, float64[P] each.
    """
    table = snapshot.partitions
    written = rates[LoadKind.IN_BYTES_PER_S]
    sent = rates[LoadKind.OUT_BYTES_PER_S] + written * (table.replica_counts - 1)
    leader_cost = params.leader_in * written + params.leader_out * sent
    follower_cost = np.minimum(params.follower_in * written, leader_cost)
    row = table.row_of_replica
    costs = np.where(table.replicas == table.leader[row], leader_cost[row], follower_cost[row])
    ids = np.array(sorted(by_broker), dtype=np.int64)
    measured = np.array([by_broker[int(broker)] for broker in ids])
    of_broker = np.array([float(np.nansum(costs[table.replicas == broker])) for broker in ids])
    if of_broker.sum() <= 0 or measured.sum() <= 0:
        return None
    factor = float(measured.sum() / of_broker.sum())
    off = np.abs(factor * of_broker - measured) / np.maximum(measured, np.finfo(np.float64).tiny)
    accuracy = f"{len(ids):,} brokers, shared out by bytes; a broker's sum is {np.median(off):.0%} off in the median"
    return factor * leader_cost, f"{LoadKind.CPU_PERCENT.value}: {accuracy}, {off.max():.0%} at most"


# Smaller shares split without messages, or counted elsewhere, are not reported.
_TOLD_FROM = 0.05
_ALL_SECONDS = 120.0
Series = Sequence[tuple[Labels, float]]


def loads_from_prometheus(
    snapshot: ClusterSnapshot,
    url: str,
    names: MetricNames,
    *,
    say: Callable[[str], None] = lambda _: None,
) -> ClusterSnapshot:
    """Window before ``snapshot`` (before now if it has no time); ``say`` gets each one's accuracy.

    Missing answers are coverage gaps. Raises PrometheusError for a wrong address or unreadable token file.
    """
    server = Server.at(url, names.bearer_token_file, names.ca_file)
    reader = _Reader(snapshot, server, names, snapshot.captured_at or datetime.now(UTC))
    try:
        columns, notes = reader.columns()
    except PrometheusError as error:
        return _with_gaps(snapshot, [fact(FactCode.AS_REPORTED, text=str(error))])
    for line in notes:
        say(line)
    made = {kind: LoadColumn(values, LoadSource.PROMETHEUS, names.window_s) for kind, values in columns.items()}
    loads = PartitionLoads(dict(snapshot.loads.columns) | made)
    return _with_gaps(replace(snapshot, loads=loads), reader.gaps)


def _with_gaps(snapshot: ClusterSnapshot, reasons: Iterable[Fact]) -> ClusterSnapshot:
    what = fact(FactCode.LACKS_METRICS)
    gaps = (CoverageGap("cluster", snapshot.cluster, what, reason) for reason in reasons)
    return replace(snapshot, coverage=(*snapshot.coverage, *gaps))


class _Reader:
    def __init__(self, snapshot: ClusterSnapshot, server: Server, names: MetricNames, at: datetime) -> None:
        self._snapshot, self._server, self._names, self._at = snapshot, server, names, at
        self._broker = broker_of_value(snapshot.brokers, names.brokers)
        self._row_of = snapshot.row_of
        self._ends = time.monotonic() + _ALL_SECONDS
        self.gaps: list[Fact] = []

    def columns(self) -> tuple[dict[LoadKind, Floats], list[str]]:
        growth = self._offset_growth()
        loads: dict[LoadKind, Floats] = {}
        notes: list[str] = []
        for kind, metrics, is_written in (
            (LoadKind.IN_BYTES_PER_S, self._names.in_bytes, True),
            (LoadKind.OUT_BYTES_PER_S, self._names.out_bytes, False),
            (LoadKind.IN_MESSAGES_PER_S, self._names.in_messages, True),
        ):
            rates = self._topic_rates(metrics)
            if rates:
                split = split_over_partitions(self._snapshot, rates, growth, keeps_elsewhere=is_written)
                loads[kind] = split.values if is_written else _or_not_read(split.values, loads)
                notes.append(f"{kind.value}: {describe_split(**split.shares)}")
                self._tell_unsure(kind, split)
            else:
                names = tuple(metric.name for metric in metrics)
                self.gaps.append(fact(FactCode.NO_SERIES, kind=kind.value, metrics=names))
        if LoadKind.IN_MESSAGES_PER_S not in loads and not np.isnan(growth).all():
            loads[LoadKind.IN_MESSAGES_PER_S] = growth
        cpu = self._cpu(loads)
        if cpu is not None:
            loads[LoadKind.CPU_PERCENT], line = cpu
            notes.append(line)
        return loads, notes

    def _tell_unsure(self, kind: LoadKind, split: Split) -> None:
        if split.by_size + split.evenly + split.elsewhere >= _TOLD_FROM:
            self.gaps.append(fact(FactCode.SPLIT_NOT_SURE, kind=kind.value, **split.shares))

    def _series(self, metrics: Sequence[Metric], by: Sequence[str]) -> Series:
        """First metric with series. Broker sums without a topic are dropped later."""
        for metric in metrics:
            matchers = [metric.labels, self._names.selector]
            selector = f"{metric.name}{{{','.join(part for part in matchers if part)}}}[{self._names.window_s:.0f}s]"
            measured = f"rate({selector})" if metric.is_counter else f"avg_over_time({selector})"
            text = f"sum by ({', '.join(by)}) ({measured}) * {metric.factor:g}"
            left = self._ends - time.monotonic()
            if left <= 0:
                raise PrometheusError.at(self._server.address, f"all queries together took over {_ALL_SECONDS:.0f} s")
            series = self._server.query(text, self._at, left)
            if series:
                return series
        return ()

    def _topic_rates(self, metrics: Sequence[Metric]) -> dict[tuple[str, int], float]:
        names = self._names
        series = self._series(metrics, (*names.topic_labels, *names.broker_labels))
        series = [(labels, value) for labels, value in series if _first(labels, names.topic_labels)]
        label = label_of((labels for labels, _ in series), names.broker_labels, self._broker)
        rates: dict[tuple[str, int], float] = {}
        strangers: set[str] = set()
        for labels, value in series:
            named = labels.get(label, "")
            broker = self._broker(named)
            if broker is None:
                strangers.add(f"{label}={named!r}")
                continue
            key = (_first(labels, names.topic_labels), broker)
            rates[key] = rates.get(key, 0.0) + max(value, 0.0)
        self._tell_strangers(strangers)
        return rates

    def _tell_strangers(self, strangers: set[str]) -> None:
        if strangers:
            first = min(strangers)
            reason = fact(FactCode.SOURCES_WITHOUT_BROKER, sources=len(strangers), first=first)
            self.gaps += [reason] if reason not in self.gaps else []

    def _offset_growth(self) -> Floats:
        """float64[P] a second by end offsets, else the snapshot's; nan if unknown."""
        names = self._names
        growth = np.full(len(self._snapshot.partitions), np.nan)
        by = (*names.topic_labels, *names.partition_labels, "instance")
        for labels, value in self._series(names.end_offset, by):
            number = _first(labels, names.partition_labels)
            row = self._row_of.get((_first(labels, names.topic_labels), int(number))) if number.isdecimal() else None
            if row is not None and value >= 0:  # all replicas report; followers have slightly less
                growth[row] = np.fmax(growth[row], value)
        measured = self._snapshot.loads.values(LoadKind.IN_MESSAGES_PER_S, len(growth))
        return np.where(np.isnan(growth), measured, growth)

    def _cpu(self, loads: Mapping[LoadKind, Floats]) -> tuple[Floats, str] | None:
        if not {LoadKind.IN_BYTES_PER_S, LoadKind.OUT_BYTES_PER_S} <= loads.keys():
            return None
        series = self._series(self._names.cpu, self._names.broker_labels)
        label = label_of((labels for labels, _ in series), self._names.broker_labels, self._broker)
        by_broker: dict[int, float] = {}
        for labels, value in series:
            broker = self._broker(labels.get(label, ""))
            if broker is not None:  # other processes
                by_broker[broker] = by_broker.get(broker, 0.0) + value
        return None if not by_broker else cpu_of_leaders(self._snapshot, by_broker, loads)


def _or_not_read(values: Floats, loads: Mapping[LoadKind, Floats]) -> Floats:
    """Reads are 0 where only writes are counted: brokers count reads from the first one."""
    written = loads.get(LoadKind.IN_BYTES_PER_S, np.full(len(values), np.nan))
    return np.where(np.isnan(values) & ~np.isnan(written), 0.0, values)


def _first(labels: Labels, names: Sequence[str]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")
