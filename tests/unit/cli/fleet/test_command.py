from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.snapshot.codec import snapshot_to_document
from rebalance_advisor.cli.fleet import (
    JSON_FILE,
    TEXT_FILE,
    FleetRow,
    fleet_lines,
    fleet_names,
    plan_into_folder,
    worst_exit_code,
)
from rebalance_advisor.cli.fleet_child import planned
from rebalance_advisor.cli.main import main
from rebalance_advisor.request.run_request import RunRequest
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row


def lopsided(folder: Path, name: str) -> str:
    """Six partitions on broker 0, nothing on broker 1."""
    snapshot = cluster([row("t", number, (0,), GB) for number in range(6)], brokers(2))
    file = folder / f"{name}.json"
    file.write_text(json.dumps(snapshot_to_document(snapshot)))
    return str(file)


def test_a_folder_for_each_and_one_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "none.json").write_text("{}")
    inputs = [lopsided(tmp_path, "east"), str(tmp_path / "none.json")]
    out = tmp_path / "out"
    assert main(["plan", *inputs, "--out", str(out), "--balance-within", "40%", "--no-frontier", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document.pop("folder") == str(out)
    assert document == json.loads((out / JSON_FILE).read_text())
    east, none = document["clusters"]
    plan = json.loads((out / "east" / "plan.json").read_text())
    assert (east["plan_id"], east["verdict"], east["exit_code"]) == (plan["plan_id"], "rebalance", 0)
    assert (plan["parameters"]["balance_within"], east["replica_moves"]) == (0.4, plan["cost"]["replica_moves"])
    assert (none["verdict"], none["exit_code"]) == (None, 1)
    assert "none.json" in none["words"]
    lines = (out / TEXT_FILE).read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["cluster", "east", "none"]
    assert not (out / "none").exists()


def ask(folder: Path, source: str, **request: Any) -> dict[str, Any]:
    return {
        "name": "c", "input": source, "out": str(folder / "out"), "capacity": None, "max_input_bytes": 10**9,
        "request": RunRequest.from_mapping({"no_frontier": True, **request}).document(),
    }  # fmt: skip


def test_a_child_answers_with_a_row_whatever_becomes_of_the_cluster(tmp_path: Path) -> None:
    source = lopsided(tmp_path, "c")
    emptied = planned(ask(tmp_path, source, remove_broker=[0, 1]))
    assert (emptied.verdict, emptied.exit_code, emptied.replica_moves) == ("infeasible", 3, 0)
    unknown = planned(ask(tmp_path, source, remove_broker=[7]))
    assert (unknown.verdict, unknown.exit_code) == (None, 2)
    assert "broker 7 is not in the cluster" in unknown.words
    with pytest.raises(UsageError, match="broker 7 is not in the cluster"):
        plan_into_folder(
            Namespace(
                input=Path(source),
                out=tmp_path / "out",
                previous=None,
                history=None,
                capacity=None,
                max_input_bytes=10**9,
            ),
            RunRequest.from_mapping({"remove_broker": [7]}),
            [].append,
        )
    missing = planned(ask(tmp_path, str(tmp_path / "nowhere.json")))
    assert (missing.verdict, missing.exit_code) == (None, 1)
    assert "nowhere.json" in missing.words


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--previous", "plan.json"], "--previous: is about one cluster"),
        (["--history", "h", "--load", "p95"], "--history: is about one cluster"),
        (["--mutes", "m.toml"], "m.toml"),
    ],
)
def test_what_is_one_clusters_alone_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], extra: list[str], message: str
) -> None:
    assert main(["plan", "a.json", "b.json", "--out", str(tmp_path / "out"), *extra]) in (1, 2)
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_neither_two_of_one_name_nor_a_folder_of_one_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fleet_names([Path("a/x.json.gz"), Path("b/y")]) == {"x": Path("a/x.json.gz"), "y": Path("b/y")}
    assert main(["plan", "a/x.json", "b/x.json.gz", "--out", str(tmp_path / "out")]) == 2
    assert "has the same name as a/x.json: both plans would go to 'x'" in capsys.readouterr().err
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".rebalance-advisor").write_text("{}")
    assert main(["plan", "a/x.json", "b/y.json", "--out", str(tmp_path / "out")]) == 2
    assert "holds the plan of one cluster" in capsys.readouterr().err
    (tmp_path / "fleet" / "y").mkdir(parents=True)
    (tmp_path / "fleet" / "y" / "letters").write_text("dear")
    assert main(["plan", "a/x.json", "b/y.json", "--out", str(tmp_path / "fleet")]) == 2
    assert "was not written by this advisor" in capsys.readouterr().err


def test_the_gravest_exit_code_counts_and_no_plan_is_gravest() -> None:
    def code(*codes: int) -> int:
        return worst_exit_code([FleetRow("c", "c.json", exit_code, "") for exit_code in codes])

    assert [code(0, 0), code(0, 3), code(4, 3), code(4, 2, 0), code(2, 1, 4), code(0, -9), code()] == [
        0, 3, 4, 2, 1, 1, 0,
    ]  # fmt: skip


def test_the_table_names_what_stands_furthest_out() -> None:
    # 1.5 on disks is further from even than 1.2 leaders.
    made = FleetRow("a", "a.json", 0, "because", "out/a", "id", "rebalance", 5 * 2**30, 3, 1, 2, 60.0,
        {"leaders": [1.2, 1.0], "disk": [1.5, 1.1]})  # fmt: skip
    head, first, second = fleet_lines([made, FleetRow.failed("b\n", "b", 1, "no such file")])
    assert head.startswith("cluster  verdict")
    assert "disk 1.500 → 1.100  because" in first
    assert "5.0 GiB" in first
    assert second.startswith("b\\n")
    assert "no plan" in second
    assert FleetRow.from_document(made.document()) == made
