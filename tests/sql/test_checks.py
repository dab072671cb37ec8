"""What gates found is kept as evidence, replaced by the next try, and decides who is left out of advice."""

import pytest

from rebalance_advisor import store
from rebalance_advisor.store.checks import (
    Check,
    Quarantined,
    load_quarantine,
    record_input_checks,
    record_result_checks,
)
from tests.sql.sample_clusters import plain_snapshot, small_plan

pytestmark = pytest.mark.stack

PASSED, ODD = Check("a", "block", 0), Check("b", "warn", 2, ({"broker": 1}, {"broker": 2}))
BLOCKED = Check("c", "block", 1, ({"topic": "t", "at": None},))
HELD = (Quarantined("topic", "t", "b"), Quarantined("group", "g", "b"))


@pytest.fixture
def snapshot_id(connection) -> str:
    return store.save_snapshot(connection, plain_snapshot())


def status(connection) -> str:
    return connection.execute("SELECT status FROM store.snapshot").fetchone()[0]


def kept(connection) -> list[tuple[object, ...]]:
    return connection.execute(
        "SELECT rule, level, failed_rows, sample FROM advisor.check_result WHERE failed_rows > 0 ORDER BY rule"
    ).fetchall()


def test_a_warning_lets_a_snapshot_pass_and_a_block_does_not(connection, snapshot_id) -> None:
    record_input_checks(connection, snapshot_id, [PASSED, ODD], HELD)
    assert status(connection) == "passed"
    assert kept(connection) == [("b", "warn", 2, [{"broker": 1}, {"broker": 2}])]
    record_input_checks(connection, snapshot_id, [PASSED, BLOCKED], [])
    assert status(connection) == "blocked"
    assert kept(connection) == [("c", "block", 1, [{"topic": "t", "at": None}])]


def test_a_quarantine_is_told_by_type_and_name_and_goes_with_the_next_try(connection, snapshot_id) -> None:
    record_input_checks(connection, snapshot_id, [ODD], HELD)
    assert load_quarantine(connection, snapshot_id) == (HELD[1], HELD[0])
    record_input_checks(connection, snapshot_id, [PASSED], [])
    assert load_quarantine(connection, snapshot_id) == ()


def test_a_result_that_is_blocked_blocks_its_run_until_it_is_started_again(connection, snapshot_id) -> None:
    record_input_checks(connection, snapshot_id, [PASSED], [])
    store.start_run(connection, run_id="r", cluster="prod", snapshot_id=snapshot_id)
    store.save_plan(connection, "r", small_plan(snapshot_id))
    record_result_checks(connection, "r", [PASSED, BLOCKED])
    assert store.load_run(connection, "r").status == "blocked"
    with pytest.raises(store.StoreError, match="rule c blocks it"):
        store.publish_run(connection, "r")
    store.start_run(connection, run_id="r", cluster="prod", snapshot_id=snapshot_id)
    assert kept(connection) == []
    record_result_checks(connection, "r", [PASSED, ODD])
    assert store.load_run(connection, "r").status == "running"
