"""OpenMetrics gauges for Prometheus and node_exporter's textfile collector.

Timestamps, not ages, which a stale file would freeze. A cluster without an advisory has no line;
``docker/prometheus/advisor-alerts.yml`` depends on it. Example:
``advisor_last_published_timestamp_seconds{cluster="orders"} 1.7950464e+09``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from rebalance_advisor.store.health import ClusterHealth

STATES = ("published", "running", "refused", "failed", "given_up")
_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


@dataclass(frozen=True, slots=True)
class Metric:
    name: str
    help_text: str
    value: Callable[[ClusterHealth], float | None]


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


METRICS = (
    Metric("advisor_last_reading_timestamp_seconds", "Time of the newest reading that passed the input gate.",
        lambda health: _seconds(health.last_snapshot_at)),
    Metric("advisor_last_published_timestamp_seconds", "When readers got the newest advisory.",
        lambda health: _seconds(health.last_published_at)),
    Metric("advisor_published_duration_seconds", "How long the newest published advisory took.",
        lambda health: health.published_duration_seconds),
    Metric("advisor_published_runs", "Advisories of the last seven days that were published.",
        lambda health: health.published_7d),
    Metric("advisor_unpublished_runs", "Advisories of the last seven days that were refused, failed or never ended.",
        lambda health: health.unpublished_7d),
    Metric("advisor_refused_readings", "Readings of the last seven days that the input gate refused.",
        lambda health: health.refused_snapshots_7d),
    Metric("advisor_task_failures", "Tasks of the last seven days that were given up.",
        lambda health: health.failures_7d),
)  # fmt: skip
STATE = "advisor_last_run_state"
WRITTEN = "advisor_health_written_timestamp_seconds"


def open_metrics(clusters: Sequence[ClusterHealth], written_at: datetime) -> str:
    lines: list[str] = []
    for metric in METRICS:
        values = ((_labels(cluster=health.cluster), metric.value(health)) for health in clusters)
        lines += _family(metric.name, metric.help_text, values)
    states = (
        (_labels(cluster=health.cluster, state=state), float(health.last_run_state == state))
        for health in clusters
        if health.last_run_state is not None
        for state in STATES
    )
    lines += _family(STATE, "1 for the state of the newest advisory that was started.", states)
    lines += _family(WRITTEN, "When this was written.", [("", written_at.timestamp())])
    return "\n".join([*lines, "# EOF"]) + "\n"


def _family(name: str, help_text: str, samples: Iterable[tuple[str, float | None]]) -> list[str]:
    unit = [f"# UNIT {name} seconds"] if name.endswith("_seconds") else []
    values = [f"{name}{labels} {float(value)!r}" for labels, value in samples if value is not None]
    return [f"# TYPE {name} gauge", *unit, f"# HELP {name} {help_text}", *values]


def _labels(**labels: str) -> str:
    return "{" + ",".join(f'{name}="{text.translate(_ESCAPES)}"' for name, text in labels.items()) + "}"
