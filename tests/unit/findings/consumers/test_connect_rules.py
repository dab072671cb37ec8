"""Workers of Connect: idle ones, uneven ones, the group's row, its document and its advice."""

import json

from kafka_assignors.connect_work import NO_WORK, ConnectTask, Work
from kafka_rebalance.advisory.advisory import group_document
from kafka_rebalance.facts import FactCode
from kafka_rebalance.findings.group_rules import connect_idle_workers, connect_uneven_workers, group_advice
from kafka_rebalance.findings.rules import RULES
from kafka_rebalance.groups.connect_workers import replay_connect_group
from kafka_rebalance.groups.group_replay import TODAY_ALONE
from kafka_rebalance.render import render
from kafka_rebalance.snapshot.group import ConnectWorker, Group, Member
from rebalance_advisor.cli.group import worker_table
from tests.unit.findings.sample_clusters import cluster, findings_of, striped


def connect(*tasks: int, delay_ms: int = 0) -> Group:
    """Workers w0, w1, … with so many tasks of connector c each; w0 leads and runs c itself."""
    first = 0
    members = []
    for index, count in enumerate(tasks):
        runs = Work(("c",) * (index == 0), tuple(ConnectTask("c", number) for number in range(first, first + count)))
        worker = ConnectWorker(version=2, leader="w0", assigned=runs, joined_with=NO_WORK, delay_ms=delay_ms)
        members.append(Member(f"w{index}", worker=worker))
        first += count
    return Group("connect", protocol_type="connect", protocol="sessioned", state="Stable", members=tuple(members))


def evidence_of(code: str, *tasks: int) -> list[dict[str, object]]:
    return [dict(finding.evidence) for finding in findings_of(cluster(striped("t", 2), groups=[connect(*tasks)]), code)]


def test_workers_beyond_the_tasks_are_idle() -> None:
    assert connect_idle_workers in RULES
    assert connect_uneven_workers in RULES
    (evidence,) = evidence_of("connect_idle_workers", 1, 1, 0)
    assert (evidence["idle_workers"], evidence["workers"], evidence["tasks"]) == (1, 3, 2)
    assert evidence["example"] == "w2"
    assert not evidence_of("connect_uneven_workers", 1, 1, 0)


def test_workers_that_a_rebalance_would_even_out() -> None:
    (evidence,) = evidence_of("connect_uneven_workers", 4, 1, 1)
    assert (evidence["most_tasks"], evidence["most_tasks_after"], evidence["moved"]) == (4, 2, 2)
    (evidence,) = evidence_of("connect_uneven_workers", 4, 0)
    assert (evidence["idle_workers"], evidence["idle_workers_after"]) == (1, 0)
    assert not evidence_of("connect_idle_workers", 4, 0)


def test_even_workers_and_groups_that_wait_for_a_worker_have_no_finding() -> None:
    for code in ("connect_idle_workers", "connect_uneven_workers"):
        assert not evidence_of(code, 2, 2)
        assert not findings_of(cluster(striped("t", 2), groups=[connect(4, 0, delay_ms=9)]), code)


def test_the_row_the_document_and_the_advice_of_a_group() -> None:
    group = connect(2, 2, 0)
    snapshot = cluster(striped("t", 2), groups=[group])
    (replay,) = TODAY_ALONE.replays(snapshot)
    (today,) = replay.scores
    assert (today.members, today.idle_members, today.partitions, today.skew_count) == (3, 1, 0, None)
    document = group_document(replay, group)
    json.dumps(document)
    assert document["connect"]["tasks"] == 4
    advice = group_advice(replay, group)
    assert advice.code is FactCode.CONNECT_WORKERS
    other, leader = advice.args["deaths"]
    assert (other.args["worker"], other.args["stopped"], other.args["stopped_ms"]) == ("w1", 2, 300_000)
    assert (leader.args["worker"], leader.args["stopped"], leader.args["stopped_ms"]) == ("w0", 3, 0)
    assert "stop for 5 min" in render(advice)
    workers = replay_connect_group(group)
    assert workers is not None
    lines = worker_table(workers, group, render(advice))
    assert lines[2].split() == ["w0", "1", "2", "leader"]
    assert lines[-1] == render(advice)


def test_where_a_part_is_missing_the_advice_names_it() -> None:
    group = connect(4, 0, delay_ms=9)
    (replay,) = TODAY_ALONE.replays(cluster(striped("t", 2), groups=[group]))
    advice = group_advice(replay, group)
    assert (advice.code, advice.args["missing"]) == (FactCode.CONNECT_WORKERS_UNKNOWN, ("settled_state",))
    assert "not at rest" in render(advice)


def test_another_group_has_no_entry_of_workers() -> None:
    group = Group("connect", protocol_type="connect", state="Stable", members=(Member("w0"),))
    (replay,) = TODAY_ALONE.replays(cluster(striped("t", 2), groups=[group]))
    assert "connect" not in group_document(replay, group)
    assert group_advice(replay, group).code is FactCode.NO_CHOICE
