import argparse
import json
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.model import Group, Member
from rebalance_advisor.cli.arguments import add_planning_arguments, read_plan_input, requested
from rebalance_advisor.cli.main import main
from tests.unit.planner.sample_clusters import brokers, cluster, row

CAPACITIES = "broker,disk_bytes\n0,1000\n1,2000\n"


def arguments(folder: Path, *options: str) -> argparse.Namespace:
    (folder / "cluster.json").write_text(json.dumps(snapshot_to_document(cluster([row("t", 0, [0, 1])], brokers(2)))))
    parser = argparse.ArgumentParser()
    add_planning_arguments(parser, made="it goes: absent,", printed="it")
    return parser.parse_args([str(folder / "cluster.json"), "--out", str(folder / "out"), *options])


def test_input_options_and_seed_are_read_in_this_order(tmp_path: Path) -> None:
    said: list[str] = []
    given = arguments(tmp_path, "--seed", "7", "--remove-broker", "1")
    read = read_plan_input(given, requested(given), said.append)
    assert (read.request.seed, read.request.options.remove_brokers) == (7, frozenset({1}))
    assert ([broker.id for broker in read.snapshot.brokers], read.previous, said) == ([0, 1], None, ["reading"])


def test_a_folder_that_is_not_ours_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letters").write_text("dear")
    with pytest.raises(InvalidInputError, match="out"):
        requested(arguments(tmp_path))


def test_capacities_of_a_file_reach_the_options(tmp_path: Path) -> None:
    (tmp_path / "capacity.csv").write_text(CAPACITIES)
    given = arguments(tmp_path, "--capacity", str(tmp_path / "capacity.csv"))
    capacities = read_plan_input(given, requested(given), lambda _: None).request.options.capacities
    assert {broker: capacity.disk_bytes for broker, capacity in capacities.items()} == {0: 1000, 1: 2000}


RULES = """
[[owners]]
pattern = "t"
team = "storage"

[[mutes]]
code = "load_unknown"
until = 2999-12-31
reason = "no agent there"
"""


def test_owners_and_mutes_of_a_file_reach_what_advise_publishes_and_plan_refuses_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row("t", 0, [0, 1], isr=[0])]
    held = cluster(rows, brokers(2), captured_at="2026-11-22T00:00:00Z")
    (tmp_path / "cluster.json").write_text(json.dumps(snapshot_to_document(held)))
    (tmp_path / "rules.toml").write_text(RULES)
    rules = [word for name in ("--owners", "--mutes") for word in (name, str(tmp_path / "rules.toml"))]
    command_line = [str(tmp_path / "cluster.json"), "--out", str(tmp_path / "out"), *rules]
    assert main(["advise", *command_line]) == 0
    by_code = {finding["code"]: finding for finding in json.loads((tmp_path / "out" / "findings.json").read_text())}
    assert (by_code["under_replicated"]["team"], by_code["under_replicated"]["muted_until"]) == ("storage", None)
    assert by_code["load_unknown"]["mute_reason"] == "no agent there"
    shown = capsys.readouterr().out
    assert "(storage)" in shown
    assert "1 muted, the first until 3000-01-01" in shown
    assert main(["plan", *command_line]) == 2
    assert "--owners: a plan alone has no findings; use advise" in capsys.readouterr().err


def test_clients_of_a_file_reach_a_groups_rows_and_its_findings_and_plan_refuses_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No client is detected. As kafka-python 3, the group has a static member beside a dynamic one."""
    members = (Member("a", instance_id="i", assigned=(("t", (0,)),)), Member("b"))
    group = Group("pay-1", protocol="range", state="Stable", members=members)
    held = replace(cluster([row("t", 0, [0, 1])], brokers(2)), groups=(group,))
    (tmp_path / "cluster.json").write_text(json.dumps(snapshot_to_document(held)))
    rules = tmp_path / "clients.toml"
    rules.write_text('[[clients]]\npattern = "pay-.*"\nclient = "kafka-python"\nversion = "3.0.12"\n')
    command_line = [str(tmp_path / "cluster.json"), "--out", str(tmp_path / "out")]
    with_clients = [*command_line, "--clients", str(rules)]
    codes = {}
    for asked in (command_line, with_clients):
        assert main(["advise", *asked]) == 0
        codes[len(asked)] = {
            finding["code"] for finding in json.loads((tmp_path / "out" / "findings.json").read_text())
        }
    assert codes[len(with_clients)] - codes[len(command_line)] == {"mixed_static_members"}
    (shown,) = json.loads((tmp_path / "out" / "groups.json").read_text())
    bases = [row["version"]["args"].get("basis") for row in shown["strategies"] if row["version"] is not None]
    assert any(basis and basis["args"].get("client") == "kafka-python" for basis in bases)
    capsys.readouterr()
    assert main(["plan", *with_clients]) == 2
    assert "--clients: a plan alone replays no groups; use advise" in capsys.readouterr().err
