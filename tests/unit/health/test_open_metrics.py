from __future__ import annotations

from datetime import UTC, datetime

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_open_metrics
from prometheus_client.parser import text_string_to_metric_families as read_text_format

from rebalance_advisor.health import METRICS, STATE, STATES, WRITTEN, open_metrics
from rebalance_advisor.store.health import ClusterHealth

NOW = datetime(2026, 11, 23, 6, 0, tzinfo=UTC)
HOSTILE = 'quote" back\\slash\nline {brace} ünï'
WELL = ClusterHealth("orders", NOW, "failed", NOW, 93.5, 6, 1, 0, 2)
NEW = ClusterHealth(HOSTILE, None, None, None, None, 0, 0, 0, 1)


def samples(read, text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in read(text)
        for sample in family.samples
    }


@pytest.mark.parametrize("read", [read_open_metrics, read_text_format])
def test_both_of_prometheus_formats_read_the_same_values(read) -> None:
    result = samples(read, open_metrics([WELL, NEW], NOW))
    orders = (("cluster", "orders"),)
    assert result["advisor_last_reading_timestamp_seconds", orders] == NOW.timestamp()
    assert result["advisor_last_published_timestamp_seconds", orders] == NOW.timestamp()
    assert result["advisor_published_duration_seconds", orders] == 93.5
    counts = [result[f"advisor_{name}", orders] for name in ("published_runs", "unpublished_runs", "task_failures")]
    assert counts == [6, 1, 2]
    assert result[WRITTEN, ()] == NOW.timestamp()
    states = {state: result[STATE, (*orders, ("state", state))] for state in STATES}
    assert states == {state: float(state == "failed") for state in STATES}


def test_a_cluster_without_advisory_has_no_line_of_it_and_a_hostile_name_is_a_name() -> None:
    result = samples(read_open_metrics, open_metrics([NEW], NOW))
    labels = (("cluster", HOSTILE),)
    assert {name for name, known in result if known == labels} == {
        "advisor_published_runs", "advisor_unpublished_runs", "advisor_refused_readings", "advisor_task_failures",
    }  # fmt: skip
    assert result["advisor_task_failures", labels] == 1


def test_every_family_is_told_once_also_without_a_cluster() -> None:
    names = [family.name for family in read_open_metrics(open_metrics([], NOW))]
    assert sorted(names) == sorted([*(metric.name for metric in METRICS), STATE, WRITTEN])
