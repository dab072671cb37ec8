"""The Python examples of docs/extend.md run."""

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kafka_assignors import registry as assignors
from kafka_assignors.partitioners import registry as partitioners
from kafka_assignors.partitioners.contract import RecordSample, TopicTarget
from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Broker, Group, Member
from rebalance_advisor.cli.main import main
from tests.unit.planner.sample_clusters import cluster, row

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extend.md").read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


# Partition p has 2**p bytes/s: what the fullest member reads tells which they are.
RATES = [2.0**p for p in range(8)]
WHOLE = {
    "a": {"host": "h1", "rack": "r1"},
    "b": {"host": "h1", "rack": "r1", "user_data": b'{"weight": 3}'},
    "c": {"host": "h2", "rack": "r2"},
    "d": {"host": "h3", "rack": "r2", "user_data": b'{"drain": true}'},
    "e": {"host": "h3", "rack": "r1"},
}
# Partitions 0 to 3 lie on rack r1, 4 to 7 on r2; a reads all of them. The host of d and e is drained. So a and b share
# 0 to 3: first b (1/3 < 1), again b (2/3 < 1), then a (1 = 3/3, and it stands first), then b (3/3 < 2); c has 4 to 7.
# What would come of it if a field did not arrive: how many a keeps, how many are idle, the most that one member reads.
LOST = {
    "nothing": (1, 2, 16 + 32 + 64 + 128),
    "user_data": (2, 0, 32 + 128),  # a, b, e, a in turn, and c, d, c, d
    "host": (1, 1, 32 + 128),  # all are drained, so none: b, b, a, b, and c, d, c, d
    "rack": (2, 2, 4 + 128),  # whoever of a, b, c has least for its weight: b, b, a, b, c, b, b, a
}


def group_without(field: str) -> Group:
    """All five in a group of this name, none of whom tells ``field``."""
    reported = {name: {key: said for key, said in fields.items() if key != field} for name, fields in WHOLE.items()}
    members = (
        Member(name, subscription=("t",), assigned=(("t", tuple(range(8))),) if name == "a" else (), **fields)
        for name, fields in reported.items()
    )
    return Group(field, protocol="range", state="Stable", members=tuple(members))


def test_ones_own_strategy_reads_weight_host_rack_and_user_data_in_advise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nearest.py").write_text(SNIPPETS[0])
    rows = [row("t", p, [p // 4], leader=p // 4) for p in range(8)]
    two_racks = [Broker(0, rack="r1"), Broker(1, rack="r2")]
    snapshot = cluster(rows, two_racks, rates={LoadKind.IN_BYTES_PER_S: RATES})
    snapshot = replace(snapshot, groups=tuple(group_without(field) for field in LOST))
    (tmp_path / "cluster.json").write_text(json.dumps(snapshot_to_document(snapshot)))
    arguments = [str(tmp_path / "cluster.json"), "--out", str(tmp_path / "out"), "--no-frontier"]
    assert main(["advise", *arguments, "--own-strategy", f"{tmp_path / 'nearest.py'}:NearestByWeight"]) == 0
    assert "own strategy nearest-by-weight: 4 of 4 groups answered\n" in capsys.readouterr().err
    groups = json.loads((tmp_path / "out" / "groups.json").read_text())
    for group in groups:
        (score,) = (score for score in group["strategies"] if score["assignor"] == "nearest-by-weight")
        kept, idle, most = LOST[group["group"]]
        result = (score["error"], 8 - score["partitions_moved"], score["idle_members"])
        assert result == (None, kept, idle), group["group"]
        assert score["skew_rate"] == pytest.approx(most / (sum(RATES) / 5)), group["group"]


def test_ones_own_partitioner_answers_in_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "first.py").write_text(SNIPPETS[1])
    cases = [
        {"id": key, "strategy": "own-partitioner:by-first-byte", "input": {"keyHex": key, "numPartitions": 4}}
        for key in ("00", "01", "04", None)
    ]
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(json.dumps(case) + "\n" for case in cases)))
    assert main(["replay", "--own-partitioner", f"{tmp_path / 'first.py'}:ByFirstByte"]) == 0
    answers = [json.loads(line)["output"]["partition"] for line in capsys.readouterr().out.splitlines()]
    assert answers == [0, 1, 0, 0]


def test_both_are_taken_by_a_program_of_ones_own() -> None:
    code: dict[str, Any] = {}
    exec(compile("\n".join(SNIPPETS), "extend.md", "exec"), code)
    with assignors.registered(code["NearestByWeight"]()), partitioners.registered(code["ByFirstByte"]()):
        assert "nearest-by-weight" in assignors.own_names()
        sample = RecordSample.of_keys(KeyColumn.of([b"\x00", b"\x01", b"\x04", None]))
        partitions = partitioners.by_name("by-first-byte").partition(sample, TopicTarget(4))
    assert partitions.tolist() == [0, 1, 0, 0]
    assert "nearest-by-weight" not in assignors.own_names()
