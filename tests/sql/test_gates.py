"""Each gate rule was seen to reject a bad row at its level, and to let good ones pass."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import Finding, Severity, SubjectType
from kafka_rebalance.scoring import BrokerScore, GroupScore, MemberScore, RackScore, ResourceScore
from rebalance_advisor import gates, store
from rebalance_advisor.gates.rules import Gate, Level, rules_of
from tests.sql.sample_clusters import finding, plain_snapshot, rich_snapshot, small_plan

pytestmark = pytest.mark.stack
Connection = Any
RULES = [rule for gate in Gate for rule in rules_of(gate)]

# rule -> statements that break it, what the sample then says, and the other rules that the same rows break.
BAD_INPUT: dict[str, tuple[list[str], dict[str, Any], set[str]]] = {
    "partition_listed_twice": (
        ["INSERT INTO store.partition SELECT * FROM store.partition WHERE partition = 2"],
        {"topic": "orders", "partition": 2, "times": 2},
        {"rows_are_missing"},
    ),
    "broker_twice_in_replicas": (
        ["UPDATE store.partition SET replicas = '{1,1}', leader = 1, isr = '{1}' WHERE partition = 0"],
        {"topic": "orders", "partition": 0, "replicas": "{1,1}"},
        set(),
    ),
    "replica_on_unknown_broker": (
        ["UPDATE store.partition SET replicas = '{1,77}', isr = '{1}' WHERE partition = 0"],
        {"topic": "orders", "partition": 0, "broker": 77},
        set(),
    ),
    "replica_lists_disagree": (
        ["UPDATE store.partition SET leader = 3 WHERE partition = 0"],
        {
            "topic": "orders", "partition": 0, "replicas": "{1,2}", "leader": 3, "isr": "{1,2}",
            "log_bytes": "{100,100}",
        },
        set(),
    ),
    "rows_are_missing": (
        ["DELETE FROM store.consumer_group"],
        {"what": "groups", "reported": 1, "found": 0},
        set(),
    ),
    "load_impossible": (
        ["UPDATE store.load SET in_bytes_per_s = -1 WHERE partition = 4"],
        {
            "topic": "orders", "partition": 4, "log_bytes": 100.0, "in_bytes_per_s": -1.0, "out_bytes_per_s": None,
            "cpu_percent": None, "in_messages_per_s": None,
        },
        set(),
    ),
    "group_vanished": (
        ["UPDATE store.consumer_group SET state = 'Dead'"],
        {"subject": "readers", "state": "Dead"},
        set(),
    ),
    "member_reads_unsubscribed": (
        ["UPDATE store.member SET subscription = '{other}' WHERE member_id = 'm-2'"],
        {"subject": "readers", "member_id": "m-2", "topic": "orders"},
        set(),
    ),
    "partition_read_twice": (
        ["""UPDATE store.member SET assigned = '[["orders",[5]]]' WHERE member_id = 'm-3'"""],
        {"subject": "readers", "topic": "orders", "partition": 5, "readers": 2},
        set(),
    ),
    "offsets_backwards": (
        ["UPDATE store.partition SET start_offset = 60, end_offset = 50 WHERE partition = 3"],
        {"subject": "orders", "partition": 3, "start_offset": 60, "end_offset": 50},
        set(),
    ),
    "committed_beyond_end": (
        ["UPDATE store.partition SET end_offset = 44 WHERE partition = 1"],
        {"group_id": "readers", "topic": "orders", "partition": 1, "committed": 45, "end_offset": 44},
        set(),
    ),
    "clock_ahead": (
        ["UPDATE store.snapshot SET stored_at = captured_at - interval '6 minutes'"],
        {"cluster": "prod"},
        set(),
    ),
}  # fmt: skip

BAD_RESULTS: dict[str, tuple[list[str], dict[str, Any], set[str]]] = {
    "move_disagrees_with_snapshot": (
        ["UPDATE store.move SET from_replicas = '{2,1}' WHERE position = 0"],
        {
            "topic": "orders", "partition": 0, "from_replicas": "{2,1}", "replicas": "{1,2}", "leader_from": 1,
            "leader": 1,
        },
        set(),
    ),
    "move_to_unfit_broker": (
        ["UPDATE store.broker SET state = 'dead' WHERE broker = 3"],
        {"topic": "orders", "partition": 0, "to_replicas": "{3,2}", "leader_to": 3},
        set(),
    ),
    "plan_does_not_add_up": (
        ["UPDATE store.plan SET bytes = 99"],
        {"what": "bytes", "reported": "99", "found": "100"},
        set(),
    ),
    "scores_do_not_add_up": (
        ["UPDATE store.resource_score SET skew = 1.3"],
        {"resource": "disk", "what": "skew", "reported": 1.3, "found": 1.25},
        set(),
    ),
    "group_scores_are_incomplete": (
        ["UPDATE store.group_score SET is_current = false WHERE is_current"],
        {"group_id": "readers", "scored_today": 0, "is_recommended": True},
        set(),
    ),
    "member_scores_do_not_add_up": (
        ["UPDATE store.member_score SET partitions = 7 WHERE is_current"],
        {"group_id": "readers", "assignor": "range", "reported": 6, "found": 7, "strangers": 0},
        set(),
    ),
    "finding_of_unknown_subject": (
        ["UPDATE store.finding SET subject = '99'"],
        {"finding_key": "broker_disk_over_share:broker:1"},
        set(),
    ),
}  # fmt: skip


@pytest.fixture
def snapshot_id(connection) -> str:
    return store.save_snapshot(connection, plain_snapshot(captured_at="2026-01-05T11:00:00Z"))


@pytest.fixture
def run_id(connection, snapshot_id) -> str:
    """A run whose results are right."""
    store.start_run(connection, run_id="r-1", cluster="prod", snapshot_id=snapshot_id)
    loads = {1: 500.0, 2: 400.0, 3: 300.0}
    store.save_scores(
        connection,
        "r-1",
        "broker_score",
        [
            BrokerScore(broker, "a", "disk", "bytes", load, None, load, load / 400, 1.0, "log_dirs", True)
            for broker, load in loads.items()
        ],
    )
    store.save_scores(connection, "r-1", "rack_score", [RackScore("a", "disk", "bytes", 3, 1200.0, None, 400.0, 1.0)])
    store.save_scores(
        connection, "r-1", "resource_score", [ResourceScore("disk", "bytes", "log_dirs", 1.0, 1200.0, 400.0, 1.25, 1)]
    )
    store.save_scores(
        connection,
        "r-1",
        "group_score",
        [
            GroupScore("readers", "range", None, True, 3, 6, 1, 1.5),
            GroupScore("readers", "roundrobin", None, False, 3, 6, 0, 1.0, is_advised=True),
        ],
    )
    store.save_scores(
        connection,
        "r-1",
        "member_score",
        [MemberScore("readers", "range", True, False, "m-1", None, "a", 6, None, None, None)],
    )
    findings = [
        finding(),
        Finding("idle_members", Severity.LOW, SubjectType.GROUP, "readers", {}, fact(FactCode.MEMBERS_TOO_SLOW)),
    ]
    store.save_findings(connection, "r-1", findings)
    store.save_plan(connection, "r-1", small_plan(snapshot_id))
    return "r-1"


def broken(result: gates.GateResult) -> set[str]:
    return {check.rule for check in result.checks if not check.is_passed}


def the_check(result: gates.GateResult, rule: str) -> store.Check:
    (only_check,) = [check for check in result.checks if check.rule == rule]
    return only_check


def test_every_rule_has_a_bad_row_here() -> None:
    assert {rule.name for rule in rules_of(Gate.INPUT)} == set(BAD_INPUT)
    assert {rule.name for rule in rules_of(Gate.RESULTS)} == set(BAD_RESULTS)


def test_a_right_snapshot_passes_every_rule_and_is_marked(dsn, connection, snapshot_id) -> None:
    result = gates.check_input(dsn, snapshot_id)
    assert (broken(result), result.is_blocked, result.quarantined) == (set(), False, ())
    assert len(result.checks) == len(BAD_INPUT)
    assert connection.execute("SELECT status FROM store.snapshot").fetchone() == ("passed",)
    assert connection.execute("SELECT count(*) FROM advisor.snapshot_latest").fetchone() == (1,)
    assert str(result) == f"all {len(BAD_INPUT)} rules passed"


def test_real_trouble_is_no_fault_of_the_reading(dsn, connection) -> None:
    """Dead and fenced brokers, an offline partition, unknown sizes: findings, not gate matters."""
    result = gates.check_input(dsn, store.save_snapshot(connection, rich_snapshot("2026-01-05T11:00:00Z")))
    assert not result.is_blocked


@pytest.mark.parametrize("rule", BAD_INPUT)
def test_an_input_rule_rejects_a_bad_row_at_its_level(dsn, connection, snapshot_id, rule) -> None:
    statements, sample, others = BAD_INPUT[rule]
    for statement in statements:
        connection.execute(statement)
    result = gates.check_input(dsn, snapshot_id)
    assert broken(result) == {rule} | others
    check = the_check(result, rule)
    assert {name: check.sample[0][name] for name in sample} == sample
    require_level(result, check, connection)


def require_level(result: gates.GateResult, check: store.Check, connection: Connection) -> None:
    """What follows of the level: in the result, in the store, and for who asks for the newest snapshot."""
    (level,) = [rule.level for rule in RULES if rule.name == check.rule]
    assert check.level == level
    is_blocked = level is Level.BLOCK
    assert result.is_blocked == is_blocked
    status = "blocked" if is_blocked else "passed"
    assert connection.execute("SELECT status FROM store.snapshot").fetchone() == (status,)
    assert (store.latest_snapshot_id(connection, "prod") is None) == is_blocked
    held = {(subject.subject_type, subject.subject, subject.rule) for subject in result.quarantined}
    expected = {"group": "readers", "topic": "orders"}
    kind = next(rule.subject_type for rule in RULES if rule.name == check.rule)
    assert held == ({(kind, expected[kind], check.rule)} if kind else set())
    assert store.load_quarantine(connection, result.subject) == result.quarantined


@pytest.mark.parametrize("rule", BAD_RESULTS)
def test_a_result_rule_rejects_a_bad_row_at_its_level(dsn, connection, run_id, rule) -> None:
    statements, sample, others = BAD_RESULTS[rule]
    for statement in statements:
        connection.execute(statement)
    result = gates.check_results(dsn, run_id)
    assert broken(result) == {rule} | others
    check = the_check(result, rule)
    assert {name: check.sample[0][name] for name in sample} == sample
    (level,) = [known.level for known in RULES if known.name == rule]
    assert check.level == level
    assert result.is_blocked == (level is Level.BLOCK)
    if result.is_blocked:
        with pytest.raises(store.StoreError, match=f"rule {rule} blocks it"):
            store.publish_run(connection, run_id)
        assert store.newest_published(connection, "prod") is None
    else:
        store.publish_run(connection, run_id)


def test_right_results_pass_every_rule_and_are_published(dsn, connection, run_id) -> None:
    result = gates.check_results(dsn, run_id)
    assert (broken(result), result.is_blocked) == (set(), False)
    store.publish_run(connection, run_id)
    with pytest.raises(store.RunPublishedError):
        gates.check_results(dsn, run_id)


MORE_BAD_RESULTS: dict[str, tuple[str, str]] = {
    "a partition moves twice": (
        "move_disagrees_with_snapshot",
        (
            "INSERT INTO store.move SELECT run_key, started_at, 2, topic, partition, from_replicas, to_replicas, "
            "leader_from, leader_to, kind, 0, wave, reason_code, reason_args, "
            "consequence_if_skipped_code, consequence_if_skipped_args "
            "FROM store.move WHERE position = 1"
        ),
    ),
    "a move of a partition that does not exist": (
        "move_disagrees_with_snapshot", "UPDATE store.move SET partition = 99 WHERE position = 1",
    ),
    "a target with one broker twice": (
        "move_to_unfit_broker", "UPDATE store.move SET to_replicas = '{3,3}' WHERE position = 0",
    ),
    "a leader outside": ("move_to_unfit_broker", "UPDATE store.move SET leader_to = 1 WHERE position = 0"),
    "a target that nobody knows": (
        "move_to_unfit_broker", "UPDATE store.move SET to_replicas = '{3,8}' WHERE position = 0",
    ),
    "a move without a wave": ("plan_does_not_add_up", "UPDATE store.move SET wave = 9 WHERE position = 0"),
    "moves of a plan that does nothing": ("plan_does_not_add_up", "UPDATE store.plan SET verdict = 'nothing_to_do'"),
    "a total that is another": ("scores_do_not_add_up", "UPDATE store.resource_score SET total = 1201"),
    "a plan that starts from other loads": (
        "scores_do_not_add_up", "UPDATE store.plan_broker SET load_before = 499 WHERE broker = 1",
    ),
    "a group that was not read": (
        "group_scores_are_incomplete", "UPDATE store.group_score SET group_id = 'ghost' WHERE NOT is_current",
    ),
    "advice for a group in quarantine": (
        "group_scores_are_incomplete",
        "INSERT INTO store.quarantine SELECT snapshot_key, 'group', 'readers', 'x' FROM store.snapshot",
    ),
    "a member that was not read": (
        "member_scores_do_not_add_up", "UPDATE store.member_score SET member_id = 'ghost'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MORE_BAD_RESULTS)
def test_other_ways_to_be_wrong_are_blocked_too(dsn, connection, run_id, case) -> None:
    rule, statement = MORE_BAD_RESULTS[case]
    connection.execute(statement)
    result = gates.check_results(dsn, run_id)
    assert rule in broken(result)
    assert result.is_blocked


def test_a_broker_that_the_plan_adds_is_a_fit_target(dsn, connection, run_id) -> None:
    connection.execute("UPDATE store.move SET to_replicas = '{4,2}', leader_to = 4 WHERE position = 0")
    connection.execute(
        "INSERT INTO store.plan_broker SELECT run_key, started_at, 4, 'disk', 0, 100 "
        "FROM store.plan_broker WHERE broker = 1"
    )
    assert broken(gates.check_results(dsn, run_id)) == set()


def test_a_block_names_its_rows_and_leaves_the_evidence(dsn, connection, snapshot_id) -> None:
    connection.execute("UPDATE store.partition SET leader = 3 WHERE partition = 0")
    result = gates.check_input(dsn, snapshot_id)
    assert "replica_lists_disagree (block): " in str(result)
    assert "topic orders, partition 0, replicas {1,2}, leader 3" in str(result)
    with connection.transaction():
        connection.execute("SET LOCAL ROLE advisor_reader")
        seen = connection.execute(
            "SELECT snapshot_id, level, failed_rows, sample -> 0 ->> 'leader' FROM advisor.check_result "
            "WHERE failed_rows > 0"
        ).fetchall()
        assert connection.execute("SELECT count(*) FROM advisor.snapshot").fetchone() == (0,)
    assert seen == [(snapshot_id, "block", 1, "3")]


def test_a_gate_that_runs_again_replaces_its_answer(dsn, connection, snapshot_id) -> None:
    connection.execute("UPDATE store.consumer_group SET state = 'Dead'")
    assert len(gates.check_input(dsn, snapshot_id).quarantined) == 1
    connection.execute("UPDATE store.consumer_group SET state = 'Stable'")
    assert gates.check_input(dsn, snapshot_id).quarantined == ()
    assert store.load_quarantine(connection, snapshot_id) == ()
    assert connection.execute("SELECT count(*) FROM store.check_result").fetchone() == (len(BAD_INPUT),)


def test_every_subject_is_held_however_many_there_are(dsn, connection, snapshot_id) -> None:
    connection.execute(
        "INSERT INTO store.consumer_group "
        "(snapshot_key, captured_at, position, group_id, type, protocol_type, state, member_count) "
        "SELECT snapshot_key, captured_at, n, 'g-' || n, 'classic', '', 'Dead', 0 "
        "FROM store.consumer_group, generate_series(1, 450) AS n"
    )
    result = gates.check_input(dsn, snapshot_id)
    assert len([subject for subject in result.quarantined if subject.rule == "group_vanished"]) == 450
    assert len(the_check(result, "group_vanished").sample) == 20
    assert the_check(result, "group_vanished").failed_rows == 450


def test_a_rule_that_cannot_be_evaluated_lets_nothing_pass(dsn, connection, snapshot_id) -> None:
    connection.execute("ALTER VIEW store.gate_rows_are_missing RENAME COLUMN reported TO announced")
    with pytest.raises(gates.GateError, match="rule rows_are_missing could not be evaluated"):
        gates.check_input(dsn, snapshot_id)
    assert connection.execute("SELECT status FROM store.snapshot").fetchone() == ("staged",)
    assert connection.execute("SELECT count(*) FROM store.check_result").fetchone() == (0,)


def test_unknown_subjects_are_refused(dsn) -> None:
    with pytest.raises(store.StoreError, match="no snapshot nothing is stored"):
        gates.check_input(dsn, "nothing")
    with pytest.raises(store.StoreError, match="no run nothing was started"):
        gates.check_results(dsn, "nothing")


def test_each_rule_of_a_run_is_passed_failed_or_not_evaluated(dsn, connection, run_id, snapshot_id) -> None:
    def states() -> dict[str, str]:
        return {result.rule.name: result.state for result in gates.rule_results(store.load_checks(connection, run_id))}

    assert set(states().values()) == {"not evaluated"}
    connection.execute("UPDATE store.consumer_group SET state = 'Dead'")
    gates.check_input(dsn, snapshot_id)
    assert states() == dict.fromkeys(BAD_INPUT, "passed") | {"group_vanished": "failed"} | dict.fromkeys(
        BAD_RESULTS, "not evaluated"
    )
    gates.check_results(dsn, run_id)
    (vanished,) = [
        result
        for result in gates.rule_results(store.load_checks(connection, run_id))
        if result.rule.code is FactCode.GROUP_VANISHED
    ]
    assert (vanished.failed_rows, vanished.sample) == (1, ({"subject": "readers", "state": "Dead"},))
    assert "not evaluated" not in states().values()
