from __future__ import annotations

import ast
import io
import json
from pathlib import Path

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import is_hidden, visible
from kafka_rebalance.errors import InvalidSnapshotError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.figures import topic_name_fault
from kafka_rebalance.snapshot.model import CoverageGap, Topic
from rebalance_advisor.cli import main as cli
from rebalance_advisor.cli import snapshot as snapshot_command
from rebalance_advisor.cli.replay import answer_lines
from rebalance_advisor.dumps import read_capacity, read_input
from rebalance_advisor.kafka.connection.java_properties import read_properties
from rebalance_advisor.kafka.connection.probe import ConnectionFailedError, Stage
from rebalance_advisor.kafka.connection.properties import connection_settings
from tests.coverage_gaps import gap_of
from tests.sample import for_each
from tests.unit.cli.hostile.cluster import cluster_document
from tests.unit.cli.hostile.names import HARMLESS, HOSTILE
from tests.unit.cli.hostile.readers import screen_lines

PLUGINS = Path(__file__).parents[4] / "plugins" / "rebalance_advisor"
NAMES = for_each("name", HOSTILE.values())
SECRET = "hunter2"
STRANGERS = {
    "passwd": f"root:{SECRET}:0:0:root:/root:/bin/bash\n{SECRET}:x:1:1::/:/bin/sh\n",
    "key": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{SECRET}b3BlbnNzaC1rZXktdjE=\n-----END OPENSSH PRIVATE KEY-----\n",
    "environment": f"PASSWORD={SECRET}\nTOKEN: {SECRET}\n",
    "JSON": json.dumps({SECRET: SECRET, "auths": {"example.org": {"auth": SECRET}}}),
    "JSON list": json.dumps([SECRET, {SECRET: 1}]),
    "JSON text": f'{{"{SECRET}": "{SECRET}',
    "JSON twice": f'{{"{SECRET}": 1, "{SECRET}": 2}}',
    "JSON number": '{"pin": 1e999' + "7" * 400 + f', "{SECRET}": 1}}',
    "table": f"user,{SECRET}\nbob,{SECRET}\n",
    "card": "4111-1111-1111-1111\n",
    "log": f"2026-11-20 login of bob with {SECRET}\n" * 3,
    "TAB": f"\t{SECRET}\t{SECRET}\n",
}


def _said(error: Exception) -> str:
    message = str(error)
    assert SECRET not in message
    assert "4111" not in message
    assert not [character for character in message if is_hidden(character)]
    return message


@for_each("content", STRANGERS.values())
def test_a_file_that_is_no_input_is_not_quoted(content: str, tmp_path: Path) -> None:
    stranger = tmp_path / "stranger"
    stranger.write_text(content)
    for read in (read_input, read_capacity):
        with pytest.raises(InvalidInputError) as refused:
            read(stranger)
        assert _said(refused.value).startswith(str(stranger))
    with pytest.raises(InvalidInputError) as refused:
        read_input(tmp_path)
    assert _said(refused.value).startswith(str(tmp_path))
    with pytest.raises(InvalidInputError) as refused:
        _settings(stranger)
    assert _said(refused.value).startswith(str(stranger))


def _settings(file: Path) -> None:
    properties = read_properties(file)
    connection_settings(properties.values, locations=properties.locations)


@for_each("content", STRANGERS.values())
def test_a_plan_that_is_none_is_not_quoted(content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stranger, source = tmp_path / "stranger", tmp_path / "cluster.json"
    stranger.write_text(content)
    source.write_text(json.dumps(cluster_document(HARMLESS)))
    for text in (
        ["verify", str(stranger), str(source)],
        ["check", str(stranger), str(source)],
        ["plan", str(source), "--out", str(tmp_path / "out"), "--previous", str(stranger)],
    ):
        assert cli.main(text) in (1, 2)
        output = capsys.readouterr()
        assert SECRET not in output.out + output.err


@NAMES
def test_a_topic_that_kafka_would_not_name_so_is_refused_where_it_stands(name: str, tmp_path: Path) -> None:
    assert topic_name_fault(name) or name == "---"
    if not topic_name_fault(name):
        return
    with pytest.raises(InvalidSnapshotError):
        Topic(name)
    document = cluster_document(HARMLESS)
    document["topics"][1]["name"] = name
    model = {"brokers": [{"id": 1}], "partitions": [{"topic": name, "partition": 0, "replicas": [1]}]}
    moves = {"version": 1, "partitions": [{"topic": name, "partition": 0, "replicas": [1]}]}
    for kind, content, location in (
        ("snapshot", document, ".topics[1].name"),
        ("model", model, ".partitions[0].topic"),
        ("reassignment", moves, ".partitions[0].topic"),
    ):
        file = tmp_path / f"{kind}.json"
        file.write_text(json.dumps(content))
        with pytest.raises(InvalidInputError) as refused:
            read_input(file)
        assert str(refused.value).startswith(f"{file}{location}: ")
        _said(refused.value)


@pytest.mark.parametrize("name", ["größe", "a/b", "a:b", "a" * 250, ".", ".."])
def test_a_dump_with_such_a_topic_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    rows = f"Topic: {name}\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
    rows += f"\tTopic: {name}\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
    (tmp_path / "topics.txt").write_text(rows)
    with pytest.raises(InvalidInputError, match=r"topics\.txt:1: topic "):
        read_input(tmp_path)


@pytest.mark.parametrize("name", ["orders", "A.b_c-9", "-", "_", "...", "a" * 249, "__consumer_offsets"])
def test_a_topic_of_kafkas_alphabet_is_read(name: str) -> None:
    assert Topic(name).name == name


@NAMES
def test_an_error_of_a_command_is_one_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = cluster_document(HARMLESS)
    document["topics"][0]["name"] = f"\n{name}"
    document["brokers"][0]["state"] = name
    file = tmp_path / f"{name.replace('/', '_')[:60]}.json"
    file.write_text(json.dumps(document))
    commands = (
        ["plan", str(file), "--out", str(tmp_path / "out")],
        ["plan", str(tmp_path / name), "--out", str(tmp_path / "out")],
        ["snapshot", "--command-config", str(file), "--out", str(tmp_path / "out")],
    )
    for command in commands:
        assert cli.main(command) == 1
        error = [line for line in capsys.readouterr().err.splitlines(keepends=True) if " s  " not in line]
        assert len(screen_lines("".join(error))) == 2
        assert error[0].startswith("error: ")


@NAMES
def test_a_wrong_word_of_the_command_line_shows(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([name]) == 2
    screen_lines(capsys.readouterr().err)
    assert cli.main(["plan", "a", "--out", "b", f"--target={name}"]) == 2
    screen_lines(capsys.readouterr().err)
    with pytest.raises(SystemExit):
        cli.main(["verify", "a", "b", name, name])
    screen_lines(capsys.readouterr().err)


@NAMES
def test_gaps_of_a_live_reading_are_one_line_each(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    class Reading:
        """The compared part of a snapshot."""

        coverage = (
            CoverageGap("broker", name, fact(FactCode.LACKS_LOG_DIR, path=name), fact(FactCode.AS_REPORTED, text=name)),
            gap_of("group", name, FactCode.LACKS_COMMITS, name),
        )

    snapshot_command._warn_of_gaps(Reading())  # type: ignore[arg-type]
    output = capsys.readouterr().err
    assert len(screen_lines(output)) == 4
    assert output.count(visible(name)) >= 5


@NAMES
def test_a_server_that_cannot_be_reached_is_told_in_one_line(name: str) -> None:
    message = str(ConnectionFailedError(Stage.NAME, name, f"the host name {name} does not resolve", name))
    assert message == f"{visible(name)}: the host name {visible(name)} does not resolve; {visible(name)}"


@NAMES
def test_an_answer_of_replay_is_exact_and_shows(name: str) -> None:
    said = io.StringIO()
    lines = json.dumps({"id": name, "strategy": name, "input": {}}) + "\n" + json.dumps([name]) + "\n"
    assert answer_lines(io.StringIO(lines), said) == 1
    answers = [json.loads(line) for line in said.getvalue().split("\n")[:-1]]
    assert [answer["id"] for answer in answers] == [name, None]
    assert len(screen_lines(said.getvalue())) == 3


def test_nothing_but_the_one_border_writes_to_a_terminal_or_a_log() -> None:
    results = []
    for path in sorted(PLUGINS.rglob("*.py")):
        if path.name in ("terminal.py", "task_log.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "print", "sys.stdout.write", "sys.stderr.write", "sys.stdout.writelines", "sys.stderr.writelines",
            ):  # fmt: skip
                results.append(f"{path.name}:{node.lineno}")
            is_log = isinstance(node, ast.Call) and ast.unparse(node.func) == "logging.getLogger"
            if is_log and "airflow" in path.parts:
                results.append(f"{path.name}:{node.lineno}")
    assert not results, "write by terminal.write_lines, log by task_log"
