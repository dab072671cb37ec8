"""A week of readings in the store: kept apart, 35 days, and the same plan from them as from the files in a shell."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.snapshot.codec import snapshot_from_document, snapshot_to_document
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.history import hourly_loads, readings_of
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from rebalance_advisor import store
from rebalance_advisor.airflow.publishing import FolderTarget, publish_run
from rebalance_advisor.airflow.requested_runs import requested_run, start_requested_run
from rebalance_advisor.cli.main import main
from rebalance_advisor.run_advice import advise_run, read_question, save_advice
from rebalance_advisor.store.load_history import KEPT_DAYS, snapshot_over_window
from stack.airflow.cluster_entries import write_entry
from tests.unit.planner.sample_clusters import random_cluster

pytestmark = pytest.mark.stack

NOW = datetime(2026, 11, 20, 6, 0, 7, 123456, tzinfo=UTC)
HOURS = 30
KINDS = (LoadKind.IN_BYTES_PER_S, LoadKind.OUT_BYTES_PER_S)


@pytest.fixture(scope="module")
def series():
    """Hourly readings of a small cluster, whose rates are drawn anew each hour; every seventh reading is missing, and
    one partition is unknown now and then.
    """
    draw, base = np.random.default_rng(3), random_cluster(5, broker_count=6, topics=12)
    results = []
    for ago in range(HOURS - 1, -1, -1):
        columns = {}
        for kind in KINDS:
            values = base.load(kind) * draw.lognormal(0, 0.5, len(base.partitions))
            values[draw.integers(len(values))] = np.nan
            columns[kind] = LoadColumn(values, LoadSource.LOG_DIR_GROWTH, 3600.0)
        document = snapshot_to_document(base) | {
            "captured_at": (NOW - timedelta(hours=ago)).isoformat(),
            "cluster": "c",
        }
        snapshot = snapshot_from_document(document)
        if ago % 7 != 6:
            results.append(_with_loads(snapshot, columns))
    return results


def _with_loads(snapshot, columns):
    return replace(snapshot, loads=PartitionLoads(dict(snapshot.loads.columns) | columns))


def keep(connection, series):
    ids = [store.save_snapshot(connection, snapshot) for snapshot in series]
    for snapshot_id in ids:
        store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    return ids


def test_what_is_kept_gives_the_same_hours_bit_for_bit(connection, series):
    keep(connection, series)
    of_files = hourly_loads(series[-1], readings_of(series), 24)
    of_store = hourly_loads(series[-1], store.load_readings(connection, "c", NOW, 24), 24)
    assert of_store.values.keys() == of_files.values.keys() > set(KINDS)
    for kind in of_files.values:
        assert np.array_equal(of_store.values[kind], of_files.values[kind], equal_nan=True)
    assert int(of_store.measured.sum()) == 21  # of the hours that end 0 to 23 ago, those 6, 13 and 20 ago are missing


def test_a_reading_that_the_gate_refused_is_no_history(connection, series):
    *_, blocked, _ = keep(connection, series)
    store.mark_snapshot(connection, blocked, is_blocked=True)
    assert len(list(store.load_readings(connection, "c", NOW, 5))) == 4


def test_hours_outlive_their_readings_and_go_after_35_days(connection, series):
    keep(connection, series)
    old = NOW - timedelta(days=20)
    store.save_snapshot(
        connection, snapshot_from_document(snapshot_to_document(series[0]) | {"captured_at": old.isoformat()})
    )
    store.prune(connection, keep_snapshots_days=7, keep_runs_days=7, now=NOW)
    assert len(list(store.load_readings(connection, "c", old, 1))) == 1
    assert connection.execute("SELECT count(*) FROM store.snapshot").fetchone()[0] == len(series)
    assert KEPT_DAYS == 35  # 20 and 29 days are more, a day and 29 are less: weeks go whole
    later = store.prune(connection, keep_snapshots_days=400, keep_runs_days=400, now=NOW + timedelta(days=29))
    assert later.weeks > 0
    assert list(store.load_readings(connection, "c", old, 1)) == []
    assert connection.execute(
        "SELECT count(*) FROM store.load_history WHERE captured_at < %s", (NOW - timedelta(days=10),)
    ).fetchone() == (0,)
    assert len(list(store.load_readings(connection, "c", NOW, HOURS))) == len(series)


def test_a_stored_snapshot_without_a_load_asked_for_is_as_it_is(connection, series):
    *_, newest = keep(connection, series)
    assert snapshot_over_window(connection, newest, None, None).hourly is None
    result = snapshot_over_window(connection, newest, "mean", "3h")
    assert result.hourly is not None
    assert result.snapshot.loads.columns[KINDS[0]].source is LoadSource.HOURLY_MEAN


def test_the_view_shows_arrays_by_partition(connection, series):
    keep(connection, series[-1:])
    topic = series[-1].topics[0].name
    rows = connection.execute(
        "SELECT in_bytes_per_s, window_s FROM advisor.load_history WHERE cluster = 'c' AND topic = %s", (topic,)
    ).fetchall()
    expected = series[-1].load(LoadKind.IN_BYTES_PER_S)[series[-1].partitions.topic == 0].astype(np.float32)
    assert rows[0][1] == 3600.0
    assert rows[0][0] == [None if np.isnan(value) else pytest.approx(float(value)) for value in expected]


@pytest.mark.parametrize(
    "load", ["p95", pytest.param("mean", marks=pytest.mark.slow), pytest.param("peak", marks=pytest.mark.slow)]
)
def test_shell_with_files_shell_with_the_store_and_form_give_the_same_bytes(
    load, dsn, connection, series, tmp_path, monkeypatch
):
    ids = keep(connection, series)
    folder = tmp_path / "history"
    folder.mkdir()
    for number, snapshot in enumerate(series):
        (folder / f"{99 - number}.json").write_text(json.dumps(snapshot_to_document(snapshot), sort_keys=True))
    newest = str(folder / f"{99 - len(series) + 1}.json")
    arguments = ["plan", newest, "--load", load, "--window", "24h", "--balance-within", "10%", "--no-frontier"]
    assert main([*arguments, "--history", str(folder), "--out", str(tmp_path / "files")]) == 0
    expected = (tmp_path / "files" / "plan.json").read_bytes()
    monkeypatch.setenv("ADVISOR_POSTGRES_DSN", dsn)
    assert main([*arguments, "--out", str(tmp_path / "store")]) == 0
    assert (tmp_path / "store" / "plan.json").read_bytes() == expected
    asked = {"load": load, "window": "24h", "balance_within": "10%", "no_frontier": True, "cluster": "c"}
    result, advisory = published(dsn, connection, asked, tmp_path, monkeypatch, newest)
    assert result == expected
    assert store.load_run(connection, "form").snapshot_id == ids[-1]
    hours = advisory["hours_outside"]
    assert (hours["hours"], hours["hours_judged"]) == (24, 21)
    assert hours["hours_outside_after"] <= hours["hours_outside_before"]
    (only_finding,) = [finding for finding in advisory["findings"] if finding["code"] == "hours_outside_band"]
    assert only_finding["evidence"]["hours_outside_after"] == hours["hours_outside_after"]


def published(dsn, connection, params, tmp_path, monkeypatch, file):
    """``plan.json`` and the advisory of a run, by what the tasks and the Spark jobs call."""
    write_entry(tmp_path / "clusters.toml", "c", {"file": file})
    monkeypatch.setenv("ADVISOR_CLUSTERS_FILE", str(tmp_path / "clusters.toml"))
    document = requested_run(connection, "c", params | {"age_limit": "3650d"})
    start_requested_run(connection, json.loads(json.dumps(document)), "form")
    save_advice(connection, "form", advise_run(read_question(connection, "form"), datetime.now(UTC)))
    folder = Path(publish_run(dsn, run_id="form", cluster="c", target=FolderTarget(tmp_path / "form", "form"))[1])
    advisory = json.loads((folder / "advisory.json").read_text())
    advisory["findings"] = json.loads((folder / "findings.json").read_text())
    return (folder / "plan.json").read_bytes(), advisory


def test_a_window_of_which_nothing_is_kept_is_refused_before_a_run_starts(connection, series, tmp_path, monkeypatch):
    write_entry(tmp_path / "clusters.toml", "c", {"file": "none.json"})
    monkeypatch.setenv("ADVISOR_CLUSTERS_FILE", str(tmp_path / "clusters.toml"))
    keep(connection, [replace(series[-1], loads=PartitionLoads())])
    document = requested_run(connection, "c", {"load": "p95"})
    with pytest.raises(InvalidInputError, match="none of the last 168 hours of cluster c was measured"):
        start_requested_run(connection, document, "form")
    assert connection.execute("SELECT count(*) FROM store.run").fetchone() == (0,)
