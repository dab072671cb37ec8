from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.cli.main import main
from tests.unit.plans.check.test_check_plan import applied
from tests.unit.verify.sample_plans import plain_plan


def written(snapshot: ClusterSnapshot, file: Path) -> str:
    file.write_text(json.dumps(snapshot_to_document(snapshot)))
    return str(file)


@pytest.fixture
def plan(tmp_path: Path) -> str:
    (tmp_path / "plan.json").write_text(plain_plan().text)
    return str(tmp_path / "plan.json")


@pytest.fixture
def after(tmp_path: Path) -> str:
    sample = plain_plan()
    return written(applied(sample.snapshot, sample.document["moves"]), tmp_path / "after.json")


def test_verify_says_one_thing_of_another_snapshot(plan: str, after: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", plan, after]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("identity: plan.snapshot_id: this plan was made from snapshot ")
    assert line.endswith("whether it still holds, or is done, tells `rebalance-advisor check PLAN INPUT`")


def test_check_says_first_that_a_plan_is_done(
    plan: str, after: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rebalance_advisor.cli import check

    class Then(check.datetime):
        @classmethod
        def now(cls, tz=None):  # the plan's time is not over yet
            return plain_plan().snapshot.captured_at

    monkeypatch.setattr(check, "datetime", Then)
    moves = len(plain_plan().document["moves"])
    assert main(["check", plan, after]) == 11
    (line,) = capsys.readouterr().out.splitlines()
    assert f" is done: all {moves} moves are there" in line
    assert main(["check", plan, after, "--json"]) == 11
    document = json.loads(capsys.readouterr().out)
    assert (document["status"], document["reasons"][0]["code"]) == ("not worth it", "all_done")
