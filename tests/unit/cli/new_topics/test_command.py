from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.placement.new_topics import NewTopic
from kafka_rebalance.render import render
from kafka_rebalance.snapshot.codec import snapshot_to_document
from rebalance_advisor.cli.main import main
from rebalance_advisor.cli.new_topics import COMMANDS_FILE, JSON_FILE, new_topic
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row


def test_texts_of_new_topics() -> None:
    assert new_topic("orders:12:3") == NewTopic("orders", 12, 3)
    assert new_topic("a:1:1:20MB:2GiB") == NewTopic("a", 1, 1, 20_000_000, 2**31)
    for wrong in ("a", "a:1", "a:1:1:1:1:1", "a:x:1", "a:1:1:fast", "a:0:1", "a b:1:1"):
        with pytest.raises(UsageError, match="--new-topic"):
            new_topic(wrong)


def test_a_folder_with_commands_that_kafka_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    snapshot = cluster([row("t", number, (number % 2,), GB) for number in range(20)], brokers(3))
    source, out = tmp_path / "c.json", tmp_path / "out"
    source.write_text(json.dumps(snapshot_to_document(snapshot)))
    assert main(["plan", str(source), "--new-topic", "x:3:1", "--out", str(out)]) == 0
    assert "x: leaders 1 on 0, 2 on 2" in capsys.readouterr().out
    document = json.loads((out / JSON_FILE).read_text())
    places = ",".join(":".join(map(str, replicas)) for replicas in document["topics"][0]["assignment"])
    assert f"--topic x --replica-assignment {places}\n" in (out / COMMANDS_FILE).read_text()
    assert (
        main(["plan", str(source), "--new-topic", "x:3:1", "--out", str(out), "--json", "--exclude-broker", "2"]) == 0
    )
    shown = json.loads(capsys.readouterr().out)
    assert {replicas[0] for replicas in shown["topics"][0]["assignment"]} == {0, 1}
    for beside, code in ((["--remove-broker", "1"], 2), (["--previous", "p"], 2), ([str(source)], 2)):
        assert main(["plan", str(source), *beside, "--new-topic", "x:3:1", "--out", str(tmp_path / "other")]) == code
    assert main(["plan", str(source), "--new-topic", "x:3:5", "--out", str(out)]) == 3
    assert "infeasible: " in capsys.readouterr().err


def test_brokers_without_a_rack_beside_others_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    some = [replace(broker, rack=None) if broker.id == 2 else broker for broker in brokers(3, 3)]
    source = tmp_path / "c.json"
    source.write_text(json.dumps(snapshot_to_document(cluster([row("t", 0, (0, 1), GB)], some))))
    assert main(["plan", str(source), "--new-topic", "x:3:2", "--out", str(tmp_path / "out")]) == 0
    assert render(fact(FactCode.BROKERS_WITHOUT_RACK, brokers=(2,))) in capsys.readouterr().out
