from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.cli.main import main
from tests.unit.log_dir_plans.dir_clusters import disks, one_broker, snapshot_of

START = one_broker([(40, 0), (20, 0), (10, 1), (40, 2)], disks(60, 10, 40, total=100))


def written(snapshot: ClusterSnapshot, file: Path) -> str:
    file.write_text(json.dumps(snapshot_to_document(snapshot)))
    return str(file)


@pytest.fixture
def source(tmp_path: Path) -> str:
    return written(START, tmp_path / "c.json")


def test_a_dir_is_emptied_verified_and_watched(tmp_path: Path, source: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    assert main(["plan", source, "--remove-log-dir", "1:/d0", "--out", out, "--throttle", "10MiB"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("rebalance: ")
    assert "broker 1 /d1: 9.9% used → 49.5%" in said
    wave = json.loads((tmp_path / "out" / "waves" / "01.json").read_text())
    assert wave["partitions"][0] == {"topic": "t", "partition": 0, "replicas": [1], "log_dirs": ["/d1"]}
    back = json.loads((tmp_path / "out" / "rollback" / "01.json").read_text())
    assert back["partitions"][0]["log_dirs"] == ["/d0"]
    commands = (tmp_path / "out" / "commands.md").read_text()
    assert "waves/01.json --execute --replica-alter-log-dirs-throttle 10485760\n" in commands
    assert main(["verify", out, source]) == 0
    assert "is right: 2 moves between log dirs" in capsys.readouterr().out
    (tmp_path / "out" / "waves" / "01.json").write_text("{}")
    assert main(["verify", out, source, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["faults"][0]["code"] == "file"
    assert main(["check", out, source]) == 0
    assert "is valid: 2 open\n  to be emptied: broker 1 /d0: 2 replicas" in capsys.readouterr().out
    rows = [replace(row, log_dirs=(1 + row.partition % 2,)) for row in START.each_partition() if row.partition < 2]
    done = written(snapshot_of(rows, START.brokers), tmp_path / "later.json")
    assert main(["check", out + "/log_dirs.json", done, "--json"]) == 11
    assert json.loads(capsys.readouterr().out)["replicas"]["done"] == 2
    assert main(["check", out, done]) == 11
    assert "is done: 2 done" in capsys.readouterr().out
    away = written(snapshot_of([replace(row, log_dirs=(2,)) for row in rows], START.brokers), tmp_path / "away.json")
    assert main(["check", out, away]) == 10


def test_disks_are_balanced_and_the_outcome_is_json(
    tmp_path: Path, source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    assert main(["plan", source, "--balance-log-dirs", "10%", "--out", out, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["dir_bytes"] >= shown["lower_bound_bytes"] > 0
    assert main(["plan", source, "--balance-log-dirs", "90%", "--out", out]) == 0
    assert "nothing_to_do" in capsys.readouterr().out
    assert main(["verify", out, source]) == 0


@pytest.mark.parametrize(
    "beside",
    [["--remove-broker", "1"], ["--max-moves", "3"], ["--new-topic", "x:1:1"], ["--previous", "p"], ["--load", "mean"]],
)
def test_what_moves_something_between_brokers_is_refused_beside_it(
    tmp_path: Path, source: str, beside: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", source, "--remove-log-dir", "1:/d0", *beside, "--out", str(tmp_path / "o")]) == 2
    assert not (tmp_path / "o").exists()


def test_wrong_dirs_several_clusters_and_a_policy(
    tmp_path: Path, source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "o")
    with pytest.raises(SystemExit):
        main(["plan", source, "--remove-log-dir", "1", "--out", out])
    assert main(["plan", source, "--remove-log-dir", "1:/x", "--out", out]) == 2
    assert main(["plan", source, source, "--remove-log-dir", "1:/d0", "--out", out]) == 2
    full = written(one_broker([(95, 0)], disks(95, 0, total=99)), tmp_path / "full.json")
    assert main(["plan", full, "--remove-log-dir", "1:/d0", "--out", out]) == 3
    assert "infeasible: " in capsys.readouterr().err
    assert main(["plan", source, "--remove-log-dir", "1:/d0", "--out", out]) == 0
    assert main(["check", out, source, "--policy", "p.toml"]) == 2
