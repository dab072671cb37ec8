from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest

from rebalance_advisor.cli.main import main

STRATEGIES = """
class ByWeight:
    name = "by-weight"

    def assign_members(self, members, topics):
        if members[0].host == "bad":
            return None
        if members[0].host == "odd":
            raise ValueError("\\ud800\\x00\\u202e")
        heaviest = max(members, key=lambda member: member.weight)
        return {heaviest.id: [(t.name, p) for t in topics for p in range(t.partitions)]}


class ByFirstByte:
    name = "by-first-byte"

    def partition_of(self, key, partitions):
        return key[0] % partitions if key else 0
"""


def case(number: int, strategy: str, given: dict[str, Any]) -> dict[str, Any]:
    return {"id": number, "strategy": strategy, "input": given}


def two(host: str) -> dict[str, Any]:
    heavy = base64.b64encode(b'{"weight": 2}').decode()
    members = [{"id": "a", "topics": ["t"], "host": host}, {"id": "b", "topics": ["t"], "userData": heavy}]
    return {"topics": [{"topic": "t", "n": 2}], "members": members}


def test_a_case_of_ones_own_is_answered_refused_or_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "strategies.py"
    file.write_text(STRATEGIES)
    cases = [
        case(1, "own:by-weight", two("good")),
        case(2, "own:by-weight", two("bad")),
        case(3, "own-partitioner:by-first-byte", {"keyHex": "0c", "numPartitions": 10}),
        case(4, "own-partitioner:by-first-byte", {"keyHex": None, "numPartitions": 10}),
        case(5, "own:by-weight", two("odd")),
        case(6, "client_range", two("good")),
    ]
    arguments = ["replay", "--own-strategy", f"{file}:ByWeight", "--own-partitioner", f"{file}:ByFirstByte"]
    lines = "".join(json.dumps(item) + "\n" for item in cases)
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    assert main([*arguments, "--own-strategy-seconds", "30"]) == 0
    answers = [json.loads(line)["output"] for line in capsys.readouterr().out.splitlines()]
    assert answers == [
        {"assignment": {"a": [], "b": [["t", [0, 1]]]}},
        {"error": "NoAnswer", "message": "answers None, which is no mapping of members to partitions"},
        {"partition": 2},  # 12 mod 10
        {"partition": 0},
        {"error": "Raised", "message": r"ValueError: \ud800\x00\u202e (strategies.py:9)"},
        {"assignment": {"a": [["t", [0]]], "b": [["t", [1]]]}},
    ]
    unknown = [case(1, "own:by-wait", two("good")), case(2, "own-thing:x", {}), case(3, "own-partitioner:x", {})]
    unknown[2]["input"] = {"keyHex": "00", "numPartitions": 1}
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(json.dumps(item) + "\n" for item in unknown)))
    assert main([*arguments]) == 1
    errors = [json.loads(line)["error"] for line in capsys.readouterr().out.splitlines()]
    assert "unknown custom strategy 'by-wait'; known: by-weight" in errors[0]
    assert "own:NAME" in errors[1]
    assert "unknown custom partitioner 'x'; known: by-first-byte" in errors[2]


def test_a_file_that_is_not_there_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "--own-strategy", "nowhere.py:Nearest"]) == 2
    assert "there is no file 'nowhere.py'" in capsys.readouterr().err
