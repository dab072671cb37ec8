"""Built-in names of JMX exporter, Strimzi, MSK, kminion and kafka_exporter; a TOML file (docs/connect.md) adds others,
tried in its order.

``NAME`` is a counter, ``gauge:NAME`` a rate. For CPU a counter has seconds, ``gauge:`` percent, ``share:`` 1 for a
whole machine.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from rebalance_advisor.input_bytes import MAX_SETTINGS_BYTES, ByteBudget, read_text

_METRIC = re.compile(r"(?:(?:gauge|share):)?[a-zA-Z_:][a-zA-Z0-9_:]*(?:\{[^{}]*\})?")
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
LONGEST_WINDOW_S = 26 * 3600
_METRICS = ("in_bytes", "out_bytes", "in_messages", "cpu", "end_offset")
_LABELS = ("broker_label", "topic_label", "partition_label")
_FILES = ("bearer_token_file", "ca_file")


@dataclass(frozen=True, slots=True)
class Metric:
    """``factor`` converts to our unit."""

    name: str
    labels: str = ""
    is_counter: bool = True
    factor: float = 1.0

    @classmethod
    def parse(cls, text: str) -> Metric:
        """``NAME``, ``gauge:NAME`` or ``share:NAME``, optionally with ``{LABEL="VALUE"}``."""
        kind, _, rest = text.rpartition(":") if text.startswith(("gauge:", "share:")) else ("", "", text)
        name, _, labels = rest.partition("{")
        return cls(name, labels.removesuffix("}"), not kind, 100.0 if kind == "share" else 1.0)

    @property
    def in_percent(self) -> Metric:
        """Counters hold seconds; 1 s/s is 100 percent."""
        return replace(self, factor=100.0) if self.is_counter else self


def _metrics(*texts: str) -> tuple[Metric, ...]:
    return tuple(Metric.parse(text) for text in texts)


def _topic_metrics(name: str) -> tuple[Metric, ...]:
    plain = f"kafka_server_brokertopicmetrics_{name.lower()}"
    return _metrics(
        f"{plain}_total", f"{plain}persec_count", f"gauge:{plain}persec_oneminuterate",
        f'kafka_server_BrokerTopicMetrics_Count{{name="{name}PerSec"}}',
        f'gauge:kafka_server_BrokerTopicMetrics_OneMinuteRate{{name="{name}PerSec"}}',
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricNames:
    """The first name with series is used. ``brokers``: label value → id."""

    in_bytes: tuple[Metric, ...] = _topic_metrics("BytesIn")
    out_bytes: tuple[Metric, ...] = _topic_metrics("BytesOut")
    in_messages: tuple[Metric, ...] = _topic_metrics("MessagesIn")
    cpu: tuple[Metric, ...] = tuple(metric.in_percent for metric in _metrics(
        "process_cpu_seconds_total", "share:java_lang_operatingsystem_processcpuload",
        "share:java_lang_OperatingSystem_ProcessCpuLoad",
    ))  # fmt: skip
    end_offset: tuple[Metric, ...] = _metrics(
        "kminion_kafka_topic_partition_high_water_mark", "kafka_topic_partition_current_offset",
        "kafka_log_log_logendoffset", "kafka_log_Log_LogEndOffset",
    )  # fmt: skip
    topic_labels: tuple[str, ...] = ("topic", "topic_name")
    partition_labels: tuple[str, ...] = ("partition", "partition_id")
    broker_labels: tuple[str, ...] = (
        "broker_id", "kafka_broker_id", "node_id", "broker", "strimzi_io_pod_name", "kubernetes_pod_name", "pod",
        "instance",
    )  # fmt: skip
    selector: str = ""
    window_s: float = 3600.0
    brokers: Mapping[str, int] = field(default_factory=dict)
    bearer_token_file: Path | None = None
    ca_file: Path | None = None


def read_metric_names(file: Path) -> MetricNames:
    try:
        document = tomllib.loads(read_text(file, ByteBudget(MAX_SETTINGS_BYTES)))
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, and numbers of thousands of digits
        raise InvalidInputError.at(str(file), f"is no TOML: {error}") from error
    allowed = (*_METRICS, *_LABELS, "selector", "window_s", "brokers", *_FILES)
    unknown = sorted(set(document) - set(allowed))
    if unknown:
        raise InvalidInputError.at(f"{file}: {unknown[0]}", "is not known", f"known: {', '.join(allowed)}")
    given: dict[str, Any] = {name: _metric_list(file, name, document[name]) for name in _METRICS if name in document}
    for name in _LABELS:
        if name in document:
            given[f"{name}s"] = (_text(file, name, document[name], _LABEL),)
    if "selector" in document:
        given["selector"] = _text(file, "selector", document["selector"], re.compile(r"[^{}]*"))
    if "window_s" in document:
        given["window_s"] = _window(file, document["window_s"])
    if "brokers" in document:
        given["brokers"] = _brokers(file, document["brokers"])
    for name in _FILES:
        if name in document:
            given[name] = file.parent / _text(file, name, document[name], re.compile(r".+"))
    return MetricNames(**given)


def _metric_list(file: Path, name: str, value: Any) -> tuple[Metric, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts:
        raise InvalidInputError.at(f"{file}: {name}", f"{excerpt(value)} is no metric and no list of some")
    metrics = [Metric.parse(_text(file, name, text, _METRIC)) for text in texts]
    return tuple(metric.in_percent if name == "cpu" else metric for metric in metrics)


def _text(file: Path, name: str, value: Any, pattern: re.Pattern[str]) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise InvalidInputError.at(f"{file}: {name}", f"{excerpt(value)} is no name of that kind")
    return value


def _window(file: Path, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= LONGEST_WINDOW_S:
        raise InvalidInputError.at(f"{file}: window_s", f"{excerpt(value)} is no number from 1 to {LONGEST_WINDOW_S}")
    return float(value)


def _brokers(file: Path, value: Any) -> dict[str, int]:
    if not isinstance(value, dict):
        raise InvalidInputError.at(f"{file}: brokers", "is no table of label values and broker ids")
    for label, broker in value.items():
        if isinstance(broker, bool) or not isinstance(broker, int) or broker < 0:
            raise InvalidInputError.at(f"{file}: brokers.{label}", f"{excerpt(broker)} is no broker id")
    return dict(value)
