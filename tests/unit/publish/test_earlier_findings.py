from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.model import Group, Member
from rebalance_advisor.cli.main import main
from rebalance_advisor.publish.advisory_files import read_earlier_findings
from tests.unit.planner.sample_clusters import brokers, cluster, row

ROWS = [row("t", partition, [partition % 2, 1 - partition % 2]) for partition in range(2)]


def advised(folder: Path, name: str, groups: tuple[Group, ...], *arguments: str) -> Path:
    """The advisory on two partitions that these groups read."""
    snapshot = replace(cluster(ROWS, brokers(2)), groups=groups)
    (folder / f"{name}.json").write_text(json.dumps(snapshot_to_document(snapshot)))
    assert main(["advise", str(folder / f"{name}.json"), "--out", str(folder / name), *arguments]) == 0
    return folder / name


def idle(name: str) -> Group:
    members = tuple(Member(f"m{n}", assigned=(("t", (n,)),) if n < 2 else ()) for n in range(3))
    return Group(name, protocol="range", state="Stable", members=members)


def changes(folder: Path) -> dict[str, str]:
    document = json.loads((folder / "findings.json").read_text())
    return {finding["subject"]: finding["change"] for finding in document if finding["code"] == "idle_members"}


def test_new_persisting_resolved_and_reopened_over_three_advisories(tmp_path: Path, capsys) -> None:
    first = advised(tmp_path, "first", (idle("a"), idle("b")))
    capsys.readouterr()
    second = advised(tmp_path, "second", (idle("b"), idle("c")), "--previous", str(first / "plan.json"))
    assert changes(second) == {"b": "persisting", "c": "new"}
    assert "medium, new: group c: " in capsys.readouterr().out
    document = json.loads((second / "advisory.json").read_text())
    assert [finding["finding_key"] for finding in document["resolved"]] == ["idle_members:group:a"]
    assert "1 new, " in (second / "digest.md").read_text()
    assert "resolved: group a: " in (second / "report.html").read_text()
    third = advised(tmp_path, "third", (idle("a"), idle("b")), "--previous", str(second), "--json")
    assert changes(third) == {"a": "reopened", "b": "persisting"}
    printed = json.loads(capsys.readouterr().out)
    assert [finding["finding_key"] for finding in printed["resolved"]] == ["idle_members:group:c"]


def test_a_plan_alone_has_no_findings_and_what_is_none_of_ours_is_refused(tmp_path: Path) -> None:
    assert read_earlier_findings(None) is None
    assert read_earlier_findings(tmp_path / "plan.json") is None
    (tmp_path / "findings.json").write_text(
        json.dumps([{"finding_key": "a", "recommendation": {"code": "members_too_slow", "args": {}}}])
    )
    earlier_findings = read_earlier_findings(tmp_path)
    assert earlier_findings is not None
    assert ([finding["finding_key"] for finding in earlier_findings.findings], earlier_findings.closed) == (["a"], [])
    (tmp_path / "advisory.json").write_text('{"closed_findings": [1]}')
    with pytest.raises(InvalidInputError, match="closed_findings"):
        read_earlier_findings(tmp_path)
    for text in ("{}", "[1]", '[{"code": "a"}]', '[{"finding_key": "a", "recommendation": {"code": "?", "args": {}}}]'):
        (tmp_path / "findings.json").write_text(text)
        with pytest.raises(InvalidInputError, match=r"findings\.json.*no list of findings"):
            read_earlier_findings(tmp_path)
