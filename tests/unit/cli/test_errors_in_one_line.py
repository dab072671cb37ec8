from __future__ import annotations

import gzip
import json
import re
import socket
from pathlib import Path

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.snapshot.codec import snapshot_to_document
from rebalance_advisor.cli.main import main
from rebalance_advisor.publish.plan_files import plan_json
from tests.unit.planner.sample_clusters import brokers, cluster, row

_PROGRESS = re.compile(r" *\d+ s  | {7}kernels ")


CLUSTER = cluster([row("t", p, [p % 3, (p + 1) % 3]) for p in range(6)], brokers(3, racks=3))


@pytest.fixture(scope="module")
def plan() -> bytes:
    return plan_json(make_plan(CLUSTER, PlanOptions()))


@pytest.fixture
def folder(tmp_path: Path, plan: bytes) -> Path:
    """A folder with a snapshot and its plan, and files that are none."""
    snapshot = snapshot_to_document(CLUSTER)
    files = {
        "cluster.json": json.dumps(snapshot).encode(),
        "broken.json": b'{"format": "kafka-',
        "list.json": b"[1, 2]",
        "deep.json": b"[" * 100_000,
        "text.json": b'"words"',
        "latin.json": b'{"a": "\xe9"}',
        "zero.json": b"",
        "binary.json": bytes(range(256)),
        "cut.json.gz": gzip.compress(json.dumps(snapshot).encode())[:-20],
        "not.json.gz": b"no gzip",
        "types.json": json.dumps(snapshot | {"brokers": "three"}).encode(),
        "negative.json": json.dumps(snapshot | {"partitions": -1}).encode(),
        "rules.toml": b"[[owners",
        "other.toml": b"a = 1",
        "capacity.csv": b"a;b;c\n1;2;3\n",
        "plan.json": plan,
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "empty").mkdir()
    return tmp_path


BAD_INPUTS = (
    "missing.json", "empty", "broken.json", "list.json", "deep.json", "text.json", "latin.json", "zero.json",
    "binary.json", "cut.json.gz", "not.json.gz", "types.json", "negative.json", "rules.toml", "/dev/null",
)  # fmt: skip
READERS = {
    "plan": "plan FILE --out OUT",
    "advise": "advise FILE --out OUT",
    "what-if": "what-if FILE --growth 20%",
    "group": "group FILE g",
    "check plan": "check FILE cluster.json",
    "check snapshot": "check plan.json FILE",
    "verify": "verify FILE cluster.json",
    "capacity": "plan cluster.json --out OUT --capacity FILE",
    "previous": "plan cluster.json --out OUT --previous FILE",
    "owners": "advise cluster.json --out OUT --owners FILE",
    "scenario": "what-if cluster.json --scenario FILE",
    "heavy keys": "advise cluster.json --out OUT --heavy-keys FILE",
    "command config": "snapshot --bootstrap localhost:1 --command-config FILE --out OUT",
    "earlier snapshot": "snapshot --bootstrap localhost:1 --previous FILE --out OUT",
}
WRONG_USAGE = {
    "plan": "--out",
    "plan cluster.json": "--out",
    "plan cluster.json --out OUT --throttle": "--throttle: expected one argument",
    "plan cluster.json --out OUT --json=yes": "--json: ignored explicit argument 'yes'",
    "plan cluster.json --out OUT --prefer cheap": "--prefer: 'cheap'",
    "plan cluster.json --out OUT --remove-brokers 1": "did you mean --remove-broker?",
    "plan cluster.json --out OUT --remove-broker 9,10": "--remove-broker: '9,10'",
    "plan cluster.json --out OUT --throttle quick": "--throttle: 'quick'",
    "plan cluster.json --out OUT --add-broker 12": "--add-broker 12",
    "plan cluster.json --out OUT --exclude-topic nosuch": "nosuch",
    "plan cluster.json --out OUT --new-topic a": "--new-topic",
    "plan cluster.json --out OUT --remove-log-dir 3": "--remove-log-dir",
    "plan cluster.json cluster.json --out OUT": "same name",
    "plan cluster.json list.json --exit-code --out OUT": "--exit-code",
    "plan cluster.json --exit-code --new-topic a:1:1 --out OUT": "--exit-code",
    "plan cluster.json --exit-code --balance-log-dirs 10% --out OUT": "--exit-code",
    "advise cluster.json --out OUT --load soon": "--load",
    "check": "PLAN, SNAPSHOT",
    "group cluster.json": "GROUP",
    "keys": "--topic",
    "what-if cluster.json": "--lose-rack",
    "what-if cluster.json --growth 20": "'20' is no growth; give 20%",
    "what-if cluster.json --growth (=20%": "no regular expression",
    "what-if cluster.json --growth=-101%": "'-101%' is no growth",
    "what-if cluster.json --lose-broker 1,2": "--lose-broker: '1,2' is no broker id",
    "what-if cluster.json --lose-broker -1": "--lose-broker",
    "what-if cluster.json --seed x --growth 1%": "--seed",
    "snapshot --bootstrap localhost:1": "--out",
    "plann": "'plann' is no command; did you mean plan?",
    "--hepl": "'--hepl' is no command",
}


def ended(folder: Path, line: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """Return the exit code and the lines on stderr, but for progress; nothing is printed on stdout."""
    names = {path.name for path in folder.iterdir()} | {"missing.json", "OUT"}
    arguments = [str(folder / word) if word in names else word for word in line.split()]
    try:
        code = main(arguments)
    except SystemExit as end:
        code = int(end.code or 0)
    said = capsys.readouterr()
    assert said.out == ""
    assert not (folder / "OUT").exists()
    return code, [line for line in said.err.splitlines() if not _PROGRESS.match(line)]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("file", BAD_INPUTS)
def test_a_file_that_cannot_be_read_is_one_line_that_names_it(
    file: str, reader: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = ended(folder, READERS[reader].replace("FILE", file), capsys)
    assert code == 1
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    is_empty = reader == "command config" and file == "zero.json"  # no property is wrong there
    assert ("localhost:1" if is_empty else file) in lines[0]


@pytest.mark.parametrize("line", WRONG_USAGE)
def test_wrong_usage_is_one_line_and_where_help_is(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = ended(folder, line, capsys)
    command = line.split(maxsplit=1)[0]
    program = "rebalance-advisor" if "is no command" in WRONG_USAGE[line] else f"rebalance-advisor {command}"
    assert code == 2
    assert lines[1:] == [f"see: {program} --help"]
    assert lines[0].startswith("error: ")
    assert WRONG_USAGE[line] in lines[0]


def test_a_broker_that_cannot_be_reached_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    code, lines = ended(folder, f"snapshot --bootstrap 127.0.0.1:{port} --out OUT", capsys)
    assert code == 1
    assert lines == [f"error: 127.0.0.1:{port}: the port is closed (Connection refused); is a broker listening there?"]


def test_no_command_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "what-if" in said.err
