"""``rebalance-advisor keys``: what it prints and writes for a file, and what it refuses before it reads any."""

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_assignors.partitioners.contract import RecordSample, TopicTarget
from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_assignors.partitioners.registry import by_name
from rebalance_advisor.cli import keys as keys_command
from rebalance_advisor.cli.main import main
from rebalance_advisor.key_samples import report, request

JSON_LINES = "".join(f'{{"key": "{key}"}}\n' for key in ["hot"] * 6 + ["a", "b", "c", ""]) + '{"key": null}\n'


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    file = tmp_path / "orders.jsonl"
    file.write_text(JSON_LINES)
    return file


def partition_of(key: bytes, partitions: int, partitioner: str = "default") -> int:
    sample = RecordSample.of_keys(KeyColumn.of([key]))
    return int(by_name(partitioner).partition(sample, TopicTarget(partitions))[0])


def written(arguments: list[str], out: Path) -> dict[str, Any]:
    assert main(["keys", *arguments, "--out", str(out)]) == 0
    document: dict[str, Any] = json.loads(out.read_text())
    return document


def test_a_hot_key_moved_keys_and_clients_that_disagree(
    sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(sample), "--topic", "orders", "--partitions", "4", "--to-partitions", "6"]
    arguments += ["--partitioner", "default", "--partitioner", "librdkafka-consistent"]
    document = written(arguments, tmp_path / "keys.json")
    assert (document["version"], document["topic"], document["records"]) == (report.VERSION, "orders", 11)
    assert (document["null_key_records"], document["empty_key_records"]) == (1, 1)
    assert document["different_keys"] == {"count": 5, "is_exact": True, "standard_error_ratio": 0.0}
    own, librdkafka, grown = document["placements"]
    assert own["records"][partition_of(b"hot", 4)] >= 6
    assert (own["by_lot_records"], librdkafka["by_lot_records"]) == (1, 0)
    assert sum(librdkafka["records"]) == 11  # its null keys go where the empty one goes
    assert len(grown["records"]) == 6
    clients, moved = document["pairs"]
    differs = partition_of(b"hot", 4) != partition_of(b"hot", 4, "librdkafka-consistent")
    assert (clients["keyed_records"], clients["records_apart"] >= 6) == (10, differs)
    assert (moved["records_apart"] >= 6) == (partition_of(b"hot", 4) != partition_of(b"hot", 6))
    hot = document["heavy_keys"][0]
    assert (hot["records_at_least"], hot["records_at_most"], hot["partitions"][0]) == (6, 6, partition_of(b"hot", 4))
    assert not hot.keys() & {"key_hex", "key_text"}
    output = capsys.readouterr().out
    assert "orders: 11 records, 1 without key, 1 with an empty one, 5 different keys\n" in output
    assert f"partition {partition_of(b'hot', 4)}  {hot['identity']}\n" in output
    assert "hot" not in output.replace("orders", "")
    shown = written([*arguments, "--show-keys"], tmp_path / "keys.json")
    assert (shown["heavy_keys"][0]["key_text"], shown["heavy_keys"][0]["key_hex"]) == ("hot", "686f74")
    assert "b'hot'" in capsys.readouterr().out


def test_two_topics_that_are_read_together(sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "payments.csv"
    other.write_text("key\nhot\na\nelse\n")
    arguments = [str(sample), "--topic", "orders", "--partitions", "4", "--with", str(other), "--with-partitions", "5"]
    document = written(arguments, tmp_path / "keys.json")
    met = document["read_with"]
    apart = [partition_of(key, 4) != partition_of(key, 5) for key in (b"hot", b"a")]
    assert (met["topic"], met["shared_keys"], met["is_exact"]) == ("payments", 2, True)
    assert met["shared_key_ratio_apart"] == sum(apart) / 2
    assert f"2 keys are in both topics; {sum(apart) / 2:.1%} of them lie in other partitions of payments" in (
        capsys.readouterr().out
    )
    alike = written(
        [*arguments[:-2], "--with-topic", "pay", "--with-partitioner", "librdkafka-murmur2"], tmp_path / "k"
    )
    assert (alike["read_with"]["topic"], alike["read_with"]["shared_key_ratio_apart"]) == ("pay", 0.0)


REFUSED = {
    "no partitions": (["FILE"], 2, "--partitions: is missing"),
    "no sample": (["--partitions", "3"], 2, "keys: no sample is named; give FILE, or --bootstrap"),
    "no partitions at all": (["FILE", "--partitions", "0"], 1, "partitions: 0; 1 … 1,000,000"),
    "not by key": (["FILE", "--partitions", "3", "--partitioner", "roundrobin"], 1, "does not place records by a hash"),
    "unknown": (["FILE", "--partitions", "3", "--partitioner", "javva"], 1, "unknown partitioner 'javva'; known: "),
    "both columns": (["FILE", "--partitions", "3", "--key-column", "k", "--hash-column", "h"], 2, "--hash-column: "),
    "hashes shown": (
        ["FILE", "--partitions", "3", "--hash-column", "h", "--show-keys"],
        2,
        "--show-keys: there are only",
    ),
    "other alone": (["FILE", "--partitions", "3", "--with-topic", "x"], 2, "--with-topic: there is no other topic"),
    "no format": (["FILE.txt", "--partitions", "3"], 2, "its name does not say what it is"),
    "no file": (["FILE.json", "--partitions", "3"], 1, "FILE.json: does not exist"),
    "file and topic": (["FILE", "--bootstrap", "localhost:1"], 2, "a file and a topic"),
    "sample of a file": (["FILE", "--partitions", "3", "--sample", "10"], 2, "--sample: a file is read whole"),
    "column of a topic": (
        ["--bootstrap", "localhost:1", "--key-column", "k"],
        2,
        "--key-column: a topic has no columns",
    ),
    "written in a topic": (
        ["--bootstrap", "localhost:1", "--key-encoding", "hex"],
        2,
        "--key-encoding: a topic has the",
    ),
    "no records": (["--bootstrap", "localhost:1", "--sample", "0"], 2, "--sample: 0; a number above 0"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_done_is_refused_and_nothing_is_written(
    kind: str, sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, code, message = REFUSED[kind]
    arguments = [str(sample) if word == "FILE" else word for word in arguments]
    out = tmp_path / "keys.json"
    assert main(["keys", "--topic", "orders", *arguments, "--out", str(out)]) == code
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_formats_are_told_by_names_also_of_packed_files(sample: Path) -> None:
    names = {"a.parquet": "parquet", "a.jsonl.gz": "json", "a.ndjson": "json", "a.csv": "csv"}
    assert {name: request.format_of(name, None) for name in names} == names
    assert request.format_of("a.csv", "json") == "json"
    assert keys_command.__doc__ is not None
    assert "personal data" in keys_command.__doc__
