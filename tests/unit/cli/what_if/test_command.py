from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.snapshot.codec import snapshot_to_document
from rebalance_advisor.cli.main import main
from rebalance_advisor.cli.what_if import require_what_if
from rebalance_advisor.publish.what_if_files import JSON_FILE, TEXT_FILE
from rebalance_advisor.request.run_request import RunRequest
from tests.unit.advisory.test_what_if import snapshot
from tests.unit.planner.sample_clusters import GB


def arguments_of(folder: Path, command: str, **scenarios: Any) -> list[str]:
    """The command line, with a file for each scenario."""
    (folder / "cluster.json").write_text(json.dumps(snapshot_to_document(snapshot())))
    given = [command, str(folder / "cluster.json"), "--out", str(folder / "out")]
    for name, changes in scenarios.items():
        document = {"format": "kafka-rebalance-scenario", "format_version": 1, "name": name, "changes": changes}
        (folder / f"{name}.json").write_text(json.dumps(document))
        given += ["--scenario", str(folder / f"{name}.json")]
    return given


LOST = [{"change": "rack_lost", "rack": "rack-0"}]
MORE = [{"change": "brokers_added", "count": 1}, {"change": "members", "groups": "g", "join": 1}]


def test_plan_compares_and_writes_nothing_to_execute(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments_of(tmp_path, "plan", lost=LOST, more=MORE)) == 0
    shown = capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "out").iterdir() if path.suffix) == [JSON_FILE, TEXT_FILE]
    assert shown.startswith((tmp_path / "out" / TEXT_FILE).read_text())
    head = shown.splitlines()
    assert head[0].startswith("what if: nothing here is a plan to execute")
    assert head[1].split() == ["today", "lost", "more"]
    assert sum(line.count("what if: ") for line in head[2:]) == 3
    assert main(["verify", str(tmp_path / "out" / JSON_FILE), str(tmp_path / "cluster.json")]) == 1
    assert "is no plan" in capsys.readouterr().err


def test_advise_leads_groups_and_plans_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments_of(tmp_path, "advise", more=MORE), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document.pop("folder") == str(tmp_path / "out")
    assert document == json.loads((tmp_path / "out" / JSON_FILE).read_text())
    today, more = document["outcomes"]
    assert (today["plan"], today["groups"], more["plan"], more["brokers_in_service"]) == (None, [], None, 4)
    assert {row["members"] for row in more["groups"]} == {3}


def test_it_is_refused_before_anything_is_read() -> None:
    """Neither INPUT nor DIR is looked at."""
    require_what_if(Namespace(previous=None), RunRequest(), command="plan")
    with pytest.raises(UsageError, match="--previous: a what-if continues no plan"):
        require_what_if(Namespace(previous=Path("plan.json")), RunRequest(), command="advise")


REFUSED: dict[str, tuple[list[str], str]] = {
    "previous": (["--previous", "cluster.json"], "--previous: a what-if continues no plan"),
    "strategy": (["--own-strategy", "a:B"], "--own-strategy: is not led through"),
    "mutes": (["--mutes", "rules.toml"], "--mutes: a what-if has no findings"),
    "owners": (["--owners", "rules.toml"], "--owners: a what-if has no findings"),
    "twice": (["--scenario", "lost.json"], "lost.json has the name of another column"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("command", ["plan", "advise"])
def test_what_makes_no_sense_beside_it_is_refused(
    case: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = arguments_of(tmp_path, command, lost=LOST)
    (tmp_path / "rules.toml").write_text(
        '[[owners]]\npattern = "t"\nteam = "t"\n[[mutes]]\npattern = "t"\nuntil = 2999-12-31\nreason = "r"\n'
    )
    more, message = REFUSED[case]
    more = [str(tmp_path / word) if "." in word else word for word in more]
    assert main([*given, *more]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_clients_are_of_groups_which_advise_alone_replays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "clients.toml").write_text('[[clients]]\npattern = "g"\nclient = "kafkajs"\n')
    options = ["--clients", str(tmp_path / "clients.toml"), "--json"]
    assert main([*arguments_of(tmp_path, "plan", more=MORE), *options]) == 2
    assert "--clients: a plan alone replays no groups; use advise" in capsys.readouterr().err
    strategies = []
    for more in ([], options[:2]):
        assert main([*arguments_of(tmp_path, "advise", more=MORE), "--json", *more]) == 0
        document = json.loads(capsys.readouterr().out)
        strategies.append({row["assignor"] for row in document["outcomes"][1]["groups"]})
    assert "RoundRobinAssigner" in strategies[1] - strategies[0]  # kafkajs's own name


def test_a_scenario_that_is_wrong_or_does_not_fit_names_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments_of(tmp_path, "plan", wrong=[{"change": "rack_lost"}])) == 1
    assert "wrong.json.changes[0]: 'rack' is missing" in capsys.readouterr().err
    assert main(arguments_of(tmp_path, "plan", away=[{"change": "rack_lost", "rack": "x"}])) == 1
    assert "scenario away, changes[0]: rack 'x'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def asked(folder: Path, *more: str) -> list[str]:
    """Return the command line of ``what-if``."""
    (folder / "cluster.json").write_text(json.dumps(snapshot_to_document(snapshot())))
    return ["what-if", str(folder / "cluster.json"), *more]


def test_losses_and_growth_happen_together_in_one_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """1 GB on each of brokers 1 and 2 without rack-0; half as much again is 1.5 GB, and both lead all of it."""
    assert main(asked(tmp_path, "--lose-rack", "rack-0", "--growth", "t=50%", "--json")) == 0
    today, after = json.loads(capsys.readouterr().out)["outcomes"]
    assert (today["name"], after["name"]) == ("today", "growth 50% of t, without rack rack-0")
    disks = [
        next(resource for resource in column["resources"] if resource["resource"] == "disk")
        for column in (today, after)
    ]
    assert [disk["highest"] for disk in disks] == [2 * GB, 1.5 * GB]
    assert [column["brokers_in_service"] for column in (today, after)] == [3, 2]
    assert [column["plan"] for column in (today, after)] == [None, None]
    assert [change["change"] for change in after["scenario"]["changes"]] == ["growth", "rack_lost"]
    assert [path.name for path in tmp_path.iterdir()] == ["cluster.json"]


def test_a_broker_that_is_named_twice_is_lost_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(asked(tmp_path, *["--lose-broker", "1"] * 2, "--lose-broker", "2", "--json")) == 0
    after = json.loads(capsys.readouterr().out)["outcomes"][1]
    assert (after["name"], after["brokers_in_service"]) == ("without broker 1 and broker 2", 1)


def test_a_plan_and_groups_are_added_where_asked_and_files_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "more.json").write_text(
        json.dumps({"format": "kafka-rebalance-scenario", "format_version": 1, "name": "more", "changes": MORE})
    )
    out = tmp_path / "out"
    line = asked(tmp_path, "--growth", "20%", "--scenario", str(tmp_path / "more.json"), "--out", str(out))
    assert main([*line, "--plan", "--groups"]) == 0
    shown = capsys.readouterr().out
    assert shown == (out / TEXT_FILE).read_text() + f"written to {out}\n"
    document = json.loads((out / JSON_FILE).read_text())
    assert [outcome["name"] for outcome in document["outcomes"]] == ["today", "growth 20%", "more"]
    assert all(outcome["plan"]["verdict"] for outcome in document["outcomes"])
    assert document["outcomes"][2]["groups"]


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--lose-rack", "z"], 2, "rack 'z': no rack of the cluster has it; known: rack-0, rack-1, rack-2"),
        (["--growth", "20%", "--lose-broker", "9"], 2, "broker 9: no broker of the cluster has it; known: 0, 1, 2"),
        (["--growth", "nosuch=20%"], 2, "topic 'nosuch': no topic of the cluster has such a name"),
        (["--growth", "20%", "--scenario", "growth 20%"], 2, "'growth 20%' is the name of another column"),
        (["--growth", "20%", "--out", "."], 2, "."),
    ],
)
def test_what_the_cluster_does_not_have_is_refused(
    more: list[str], code: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    changes = [{"change": "growth", "rates": 2}]
    scenario = {"format": "kafka-rebalance-scenario", "format_version": 1, "name": "growth 20%", "changes": changes}
    (tmp_path / "growth 20%").write_text(json.dumps(scenario))
    assert main(asked(tmp_path, *more)) == code
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == ""
