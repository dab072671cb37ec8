"""A snapshot with the loads that Prometheus tells: in, out and messages by topic and broker, CPU by broker.

Figures are of the window that ends with the snapshot. What Prometheus does not know stays as the snapshot has it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.render.coverage import split_words
from kafka_rebalance.snapshot.load import LoadColumn, LoadKind, LoadSource, PartitionLoads
from kafka_rebalance.snapshot.model import ClusterSnapshot, CoverageGap
from rebalance_advisor.prometheus.broker_names import broker_of_value, label_of
from rebalance_advisor.prometheus.cpu import cpu_of_leaders
from rebalance_advisor.prometheus.http_api import Labels, PrometheusError, Server
from rebalance_advisor.prometheus.metric_names import Metric, MetricNames
from rebalance_advisor.prometheus.split import Split, split_over_partitions

# Less than this of what was counted is split by less than messages, or is counted where no leader is: no word of it.
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
    """``snapshot`` with what the server knows of the window before it (before now, where it has no time); figures that
    it does not know stay as they are. ``say`` gets how sure each of them is.

    What the server cannot tell, be it that it cannot be asked, is a gap of the snapshot. Raises PrometheusError for
    what is no address, or a token file that cannot be read.
    """
    server = Server.at(url, names.bearer_token_file, names.ca_file)
    reader = _Reader(snapshot, server, names, snapshot.captured_at or datetime.now(UTC))
    try:
        columns, words = reader.columns()
    except PrometheusError as error:
        return _with_gaps(snapshot, [fact(FactCode.AS_REPORTED, text=str(error))])
    for line in words:
        say(line)
    made = {kind: LoadColumn(values, LoadSource.PROMETHEUS, names.window_s) for kind, values in columns.items()}
    loads = PartitionLoads(dict(snapshot.loads.columns) | made)
    return _with_gaps(replace(snapshot, loads=loads), reader.gaps)


def _with_gaps(snapshot: ClusterSnapshot, reasons: Iterable[Fact]) -> ClusterSnapshot:
    what = fact(FactCode.LACKS_METRICS)
    gaps = (CoverageGap("cluster", snapshot.cluster, what, reason) for reason in reasons)
    return replace(snapshot, coverage=(*snapshot.coverage, *gaps))


class _Reader:
    """Asks one server about one snapshot; ``gaps`` grow while it does."""

    def __init__(self, snapshot: ClusterSnapshot, server: Server, names: MetricNames, at: datetime) -> None:
        self._snapshot, self._server, self._names, self._at = snapshot, server, names, at
        self._broker = broker_of_value(snapshot.brokers, names.brokers)
        self._row_of = snapshot.row_of
        self._ends = time.monotonic() + _ALL_SECONDS
        self.gaps: list[Fact] = []

    def columns(self) -> tuple[dict[LoadKind, Floats], list[str]]:
        """float64[P] of each kind that the server knows, and how sure each is."""
        growth = self._offset_growth()
        found: dict[LoadKind, Floats] = {}
        words: list[str] = []
        for kind, metrics, is_written in (
            (LoadKind.IN_BYTES_PER_S, self._names.in_bytes, True),
            (LoadKind.OUT_BYTES_PER_S, self._names.out_bytes, False),
            (LoadKind.IN_MESSAGES_PER_S, self._names.in_messages, True),
        ):
            rates = self._topic_rates(metrics)
            if rates:
                split = split_over_partitions(self._snapshot, rates, growth, keeps_elsewhere=is_written)
                found[kind] = split.values if is_written else _or_not_read(split.values, found)
                words.append(f"{kind.value}: {split_words(**split.shares)}")
                self._tell_unsure(kind, split)
            else:
                names = tuple(metric.name for metric in metrics)
                self.gaps.append(fact(FactCode.NO_SERIES, kind=kind.value, metrics=names))
        if LoadKind.IN_MESSAGES_PER_S not in found and not np.isnan(growth).all():
            found[LoadKind.IN_MESSAGES_PER_S] = growth
        cpu = self._cpu(found)
        if cpu is not None:
            found[LoadKind.CPU_PERCENT], line = cpu
            words.append(line)
        return found, words

    def _tell_unsure(self, kind: LoadKind, split: Split) -> None:
        if split.by_size + split.evenly + split.elsewhere >= _TOLD_FROM:
            self.gaps.append(fact(FactCode.SPLIT_NOT_SURE, kind=kind.value, **split.shares))

    def _series(self, metrics: Sequence[Metric], by: Sequence[str]) -> Series:
        """The series of the first metric that has some. Those without a topic, a broker's sums, are left out later."""
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
        """(topic, broker) → a second, of topics that the snapshot has."""
        names = self._names
        series = self._series(metrics, (*names.topic_labels, *names.broker_labels))
        series = [(labels, value) for labels, value in series if _first(labels, names.topic_labels)]
        label = label_of((labels for labels, _ in series), names.broker_labels, self._broker)
        rates: dict[tuple[str, int], float] = {}
        strangers: set[str] = set()
        for labels, value in series:
            told = labels.get(label, "")
            broker = self._broker(told)
            if broker is None:
                strangers.add(f"{label}={told!r}")
                continue
            key = (_first(labels, names.topic_labels), broker)
            rates[key] = rates.get(key, 0.0) + max(value, 0.0)
        self._tell_strangers(strangers)
        return rates

    def _tell_strangers(self, strangers: set[str]) -> None:
        """Series whose broker nobody knows: what they count is missing."""
        if strangers:
            first = min(strangers)
            reason = fact(FactCode.SOURCES_WITHOUT_BROKER, sources=len(strangers), first=first)
            self.gaps += [reason] if reason not in self.gaps else []

    def _offset_growth(self) -> Floats:
        """float64[P]: messages a second by end offsets, else as the snapshot measured them; nan where unknown."""
        names = self._names
        growth = np.full(len(self._snapshot.partitions), np.nan)
        by = (*names.topic_labels, *names.partition_labels, "instance")
        for labels, value in self._series(names.end_offset, by):
            number = _first(labels, names.partition_labels)
            row = self._row_of.get((_first(labels, names.topic_labels), int(number))) if number.isdecimal() else None
            if row is not None and value >= 0:  # every replica tells it, followers a little less
                growth[row] = np.fmax(growth[row], value)
        measured = self._snapshot.loads.values(LoadKind.IN_MESSAGES_PER_S, len(growth))
        return np.where(np.isnan(growth), measured, growth)

    def _cpu(self, found: Mapping[LoadKind, Floats]) -> tuple[Floats, str] | None:
        """float64[P] of leaders, and how far brokers are from it; None where CPU or the bytes are not known."""
        if not {LoadKind.IN_BYTES_PER_S, LoadKind.OUT_BYTES_PER_S} <= found.keys():
            return None
        series = self._series(self._names.cpu, self._names.broker_labels)
        label = label_of((labels for labels, _ in series), self._names.broker_labels, self._broker)
        by_broker: dict[int, float] = {}
        for labels, value in series:
            broker = self._broker(labels.get(label, ""))
            if broker is not None:  # other processes are scraped, too
                by_broker[broker] = by_broker.get(broker, 0.0) + value
        return None if not by_broker else cpu_of_leaders(self._snapshot, by_broker, found)


def _or_not_read(values: Floats, found: Mapping[LoadKind, Floats]) -> Floats:
    """Brokers count what is read of a topic once somebody reads: where they count what is written, nobody did."""
    written = found.get(LoadKind.IN_BYTES_PER_S, np.full(len(values), np.nan))
    return np.where(np.isnan(values) & ~np.isnan(written), 0.0, values)


def _first(labels: Labels, wanted: Sequence[str]) -> str:
    """The value of the first of these labels that is there; empty where none is."""
    return next((labels[name] for name in wanted if labels.get(name)), "")
