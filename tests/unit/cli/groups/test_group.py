import json
from pathlib import Path

import pytest

from rebalance_advisor.cli import group
from rebalance_advisor.cli.main import COMMANDS, main
from stack.demo.cluster import write_demo_cluster

PAGE = Path(__file__).resolve().parents[4] / "docs" / "groups.md"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return write_demo_cluster(tmp_path_factory.mktemp("group") / "demo")


def test_a_group_whose_one_member_reads_all(demo, capsys):
    # cdc-sync: range on 24 topics of one partition. The first member by id has all 24; when it dies they all move.
    assert main(["group", str(demo), "cdc-sync"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "cdc-sync: 6 members, 24 partitions, classic group, range"
    rows = {line.split()[0]: line.split() for line in lines[2:9]}
    assert lines[2].endswith("← today")
    assert rows["range"][1:6] == ["6.00", "1.00", "5", "24", "move"]
    # Evenly shared each of six has four: that many move when one dies, and 20 of the first one's 24 to get there.
    assert rows["cooperative-sticky"][1:6] == ["1.00", "1.00", "0", "4", "move"]
    assert rows["cooperative-sticky"][-2:] == ["20", "move"]
    assert lines.index(next(line for line in lines if line.startswith("1. "))) <= 11


def test_the_page_shows_what_the_command_prints(demo, capsys):
    assert main(["group", str(demo), "cdc-sync"]) == 0
    table, steps, _ = capsys.readouterr().out.partition("1. ")
    assert f"```\n{table}```" in PAGE.read_text(encoding="utf-8")
    assert steps


def test_the_way_to_what_is_advised_is_told_step_by_step(demo, capsys):
    assert main(["group", str(demo), "cdc-sync"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (index,) = [number for number, line in enumerate(lines) if line.startswith("1. ")]
    assert "CooperativeStickyAssignor,org.apache.kafka.clients.consumer.RangeAssignor" in lines[index]
    assert lines[index + 1].startswith("2. Restart one member after the other (at most 12 rebalances)")  # 6 in, 6 out
    assert lines[-1].startswith("records read twice: ")


def test_the_way_to_another_strategy_of_the_table_is_told_too(demo, capsys):
    assert main(["group", str(demo), "cdc-sync", "--to", "consumer/uniform"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("group.protocol = consumer" in line for line in lines)
    assert main(["group", str(demo), "cdc-sync", "--to", "nearest"]) == 1
    assert "unknown strategy 'nearest'" in capsys.readouterr().err


def test_json_has_every_row_of_every_scenario(demo, capsys):
    assert main(["group", str(demo), "cdc-sync", "--json", "--seed", "3"]) == 0
    document = json.loads(capsys.readouterr().out)
    rows = {(row["scenario"], row["assignor"]): row for row in document["scenarios"]}
    assert len(rows) == len(document["scenarios"])
    crash = rows["member_crashes", "range"]
    # The session's 45 s after its last beat, which was a whole interval ago, and the wait for all to join again.
    assert (crash["partitions_unread"], crash["variants"]) == (24, 6)
    assert 45_000 <= crash["longest_pause_ms"] <= 45_000 + 3_000
    assert rows["static_restart", "range"]["partitions_moved"] == 0


def test_the_command_is_this_module():
    assert COMMANDS["group"][0] == group.__name__


def test_a_group_that_is_not_there_is_named_with_those_that_are(demo, capsys):
    assert main(["group", str(demo), "cdc-synk"]) == 1
    assert "cdc-sync" in capsys.readouterr().err
