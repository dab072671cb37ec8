import json
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from kafka_rebalance.render import render_document
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from rebalance_advisor.cli.history import require_history
from rebalance_advisor.cli.main import main
from rebalance_advisor.request.run_request import RunRequest
from rebalance_advisor.store.schema.connection import _SETTINGS
from tests.unit.planner.sample_clusters import brokers, cluster, row

SIZES = [row("t", p, [p // 4, 1 - p // 4]) for p in range(8)]
IN = LoadKind.IN_BYTES_PER_S


@pytest.fixture(autouse=True)
def no_store(monkeypatch):
    for name in _SETTINGS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def folder(tmp_path):
    """Three hours of one topic of eight partitions; now it rests, but two hours ago partition 0 was busy."""
    newest = cluster(SIZES, brokers(2))
    for ago, busy in ((2, 900.0), (1, 10.0), (0, 10.0)):
        loads = {IN: LoadColumn(np.array([busy] + [10.0] * 7), LoadSource.PROMETHEUS, 3600.0)}
        snapshot = replace(newest, captured_at=newest.captured_at - timedelta(hours=ago), loads=PartitionLoads(loads))
        (tmp_path / f"{ago}.json").write_text(json.dumps(snapshot_to_document(snapshot), sort_keys=True))
    return tmp_path


REFUSED = {
    "--load p95": ("--load p95: needs the hours before INPUT", "--history DIR", "ADVISOR_POSTGRES_DSN"),
    "--window 7d": ("--window", "no load is asked of it"),
    "--load p95 --window 40d": ("40d", "at most 35d"),
    "--load max": ("'max' is none of mean, p95, peak",),
    "--history {folder}": ("--history: is given, and no load is asked of it",),
}


@pytest.mark.parametrize("arguments", REFUSED)
def test_a_load_without_hours_and_hours_without_a_load_are_wrong_usage(arguments, folder, capsys, tmp_path):
    given = arguments.format(folder=folder).split()
    try:
        code = main(["plan", str(folder / "0.json"), "--out", str(tmp_path / "out"), *given])
    except SystemExit as ended:
        code = ended.code
    said = capsys.readouterr().err
    assert code == 2
    assert all(part in said for part in REFUSED[arguments]), said
    assert not (tmp_path / "out").exists()


def test_the_store_is_found_by_the_environment_alone(monkeypatch):
    monkeypatch.setenv("ADVISOR_POSTGRES_DSN", "postgresql://somebody@127.0.0.1:1/none")
    require_history(RunRequest(load="p95"), None)  # named is enough here: it is resolved after INPUT


@pytest.mark.parametrize("command", ["verify", "check"])
def test_a_plan_of_a_window_is_judged_with_its_window(command, folder, tmp_path, capsys):
    newest, out = str(folder / "0.json"), tmp_path / "out"
    window = ["--load", "peak", "--window", "3h", "--history", str(folder)]
    assert main(["plan", newest, "--out", str(out), "--balance-within", "10%", "--no-frontier", *window]) == 0
    assert "3 hours" in capsys.readouterr().out
    document = json.loads((out / "plan.json").read_text())
    assert {resource["source"] for resource in document["resources"] if resource["resource"] == "in"} == {
        "busiest_hours"
    }
    assert main([command, str(out), newest, *window]) in ((0,) if command == "verify" else (0, 10))  # expired by now
    assert main(["verify", str(out), newest]) == 1  # the last snapshot differs


def test_hours_are_told_in_the_documents(folder, tmp_path, capsys):
    window = ["--load", "mean", "--window", "3h", "--history", str(folder)]
    given = [str(folder / "0.json"), "--no-frontier", "--json", *window]
    assert main(["plan", *given, "--out", str(tmp_path / "plan")]) == 0
    hours = json.loads(capsys.readouterr().out)["hours_outside"]
    assert (hours["hours"], hours["hours_judged"], len(hours["by_hour"])) == (3, 3, 3)
    assert main(["advise", *given, "--out", str(tmp_path / "advice")]) == 0
    findings = json.loads((tmp_path / "advice" / "findings.json").read_text())
    assert "hours_outside_band" in {finding["code"] for finding in findings}
    for name in ("plan", "advice"):
        page = (tmp_path / name / "report.html").read_text()
        assert render_document(hours["fact"]).split("→")[0] in page
        assert "hourly mean over 3 h 0 min" in page
