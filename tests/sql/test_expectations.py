"""A user of Great Expectations runs the gates' project by its own API, and gets the results of the DAG's gates."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rebalance_advisor import gates, store
from rebalance_advisor.gates.rules import PROJECT, Gate, Level, rules_of
from rebalance_advisor.gates.run import Unexpected, sqlalchemy_address, unexpected_rows
from rebalance_advisor.store.schema import sql_files
from tests.sql.sample_clusters import plain_snapshot, small_plan

pytestmark = pytest.mark.stack

DAMAGES = (
    "INSERT INTO store.partition SELECT * FROM store.partition WHERE partition = 2",
    "UPDATE store.partition SET replicas = '{1,77}', isr = '{1}' WHERE partition = 0",
    "UPDATE store.load SET in_bytes_per_s = 'Infinity' WHERE partition = 4",
    "UPDATE store.consumer_group SET state = 'Dead'",
    "UPDATE store.snapshot SET stored_at = captured_at - interval '6 minutes'",
)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "internals" / "gates.md"
# What the page's script is followed by, to hand its ``result`` over.
_TELL = """
import json
(validation,) = result.run_results.values()
print("RESULT " + json.dumps(validation.to_json_dict()["results"]))
"""


def script_of_the_page() -> str:
    """The page's block of Python."""
    return PAGE.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]


def run_as_a_user(dsn: str, gate: str, batch: dict[str, str], tmp_path: Path) -> dict[str, dict[str, Any]]:
    """Results by rule, of the page's script in a Python of its own."""
    script = script_of_the_page()
    assert '"input"' in script
    assert '{"snapshot_id": snapshot_id}' in script
    text = script.replace('"input"', repr(gate)).replace('{"snapshot_id": snapshot_id}', repr(batch))
    file = tmp_path / "as_a_user.py"
    file.write_text(text + _TELL, encoding="utf-8")
    completed = subprocess.run(
        [sys.executable, str(file), *batch.values()], check=True, capture_output=True, text=True, cwd=tmp_path,
        env={"GX_STORE_CONNECTION": sqlalchemy_address(dsn), "HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
    ).stdout  # fmt: skip
    (line,) = [line for line in completed.splitlines() if line.startswith("RESULT ")]
    return {result["expectation_config"]["meta"]["code"]: result for result in json.loads(line.partition(" ")[2])}


def rows_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    actual = result["result"]
    return actual["details"]["unexpected_rows"] if "details" in actual else actual["unexpected_index_list"] or []


def files_of_the_project() -> dict[str, str]:
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in PROJECT.rglob("*") if file.is_file()}


def require_same(by_user: dict[str, dict[str, Any]], ours: gates.GateResult) -> None:
    assert list(by_user) == [check.rule for check in ours.checks]
    for check in ours.checks:
        result = by_user[check.rule]
        assert result["success"] == check.is_passed, check.rule
        assert len(rows_of(result)) == check.failed_rows, check.rule
        for row, stored in zip(rows_of(result), check.sample, strict=True):
            known = {name: str(value) if value == float("inf") else value for name, value in row.items()}
            assert known == stored, check.rule


def test_a_user_gets_the_results_of_the_input_gate_and_nothing_is_written(dsn, connection, tmp_path) -> None:
    snapshot_id = store.save_snapshot(connection, plain_snapshot(captured_at="2026-01-05T11:00:00Z"))
    store.save_snapshot(connection, plain_snapshot(captured_at="2026-01-05T12:00:00Z"))
    for damage in DAMAGES:
        connection.execute(damage)
    before = files_of_the_project()
    by_user = run_as_a_user(dsn, "input", {"snapshot_id": snapshot_id}, tmp_path)
    ours = gates.check_input(dsn, snapshot_id)
    require_same(by_user, ours)
    assert {check.rule for check in ours.checks if not check.is_passed} == {
        "partition_listed_twice", "replica_on_unknown_broker", "rows_are_missing", "load_impossible", "group_vanished",
        "clock_ahead",
    }  # fmt: skip
    assert files_of_the_project() == before


def test_a_user_gets_the_results_of_the_result_gate(dsn, connection, tmp_path) -> None:
    snapshot_id = store.save_snapshot(connection, plain_snapshot(captured_at="2026-01-05T11:00:00Z"))
    store.start_run(connection, run_id="r-1", cluster="prod", snapshot_id=snapshot_id)
    store.save_plan(connection, "r-1", small_plan(snapshot_id))
    connection.execute("UPDATE store.plan SET bytes = 99")
    connection.execute("UPDATE store.move SET from_replicas = '{2,1}' WHERE position = 0")
    by_user = run_as_a_user(dsn, "results", {"run_id": "r-1"}, tmp_path)
    ours = gates.check_results(dsn, "r-1")
    require_same(by_user, ours)
    broken = {check.rule for check in ours.checks if not check.is_passed}
    assert broken == {"plan_does_not_add_up", "move_disagrees_with_snapshot", "group_scores_are_incomplete"}


def test_a_gate_sees_its_own_batch_only(dsn, connection) -> None:
    good = store.save_snapshot(connection, plain_snapshot(captured_at="2026-01-05T11:00:00Z"))
    bad = store.save_snapshot(connection, plain_snapshot(captured_at="2026-01-05T12:00:00Z"))
    connection.execute(
        "UPDATE store.consumer_group SET state = 'Dead' FROM store.snapshot "
        "WHERE snapshot.snapshot_key = consumer_group.snapshot_key AND snapshot_id = %s", [bad],
    )  # fmt: skip
    assert unexpected_rows(dsn, Gate.INPUT, good)["group_vanished"] == Unexpected(0, ())
    assert unexpected_rows(dsn, Gate.INPUT, bad)["group_vanished"] == Unexpected(
        1, ({"subject": "readers", "state": "Dead"},)
    )


def test_a_rule_that_cannot_be_evaluated_has_not_passed(dsn, connection) -> None:
    snapshot_id = store.save_snapshot(connection, plain_snapshot())
    connection.execute("DROP VIEW store.gate_group_vanished")
    with pytest.raises(RuntimeError, match=r"rule group_vanished could not be evaluated: .*gate_group_vanished"):
        unexpected_rows(dsn, Gate.INPUT, snapshot_id)


def test_a_suite_says_each_rule_in_english_with_level_and_subject() -> None:
    severities = {Level.BLOCK: "critical", Level.QUARANTINE: "warning", Level.WARN: "info"}
    views = set()
    for gate in Gate:
        suite = json.loads((PROJECT / "expectations" / f"{gate}.json").read_text(encoding="utf-8"))
        for rule, expectation in zip(rules_of(gate), suite["expectations"], strict=True):
            assert expectation["description"].endswith(".")
            assert expectation["severity"] == severities[rule.level]
            query = expectation["kwargs"].get("unexpected_rows_query", "")
            assert (f"store.gate_{rule.name} " in query) == bool(query)
            views |= {f"_gate_{rule.name}"} if query else set()
            assert rule.level is not Level.QUARANTINE or "SELECT broken.subject, " in query
    assert views == {file.stem for file in (sql_files.folder() / "views").glob("_gate_*.sql")}
