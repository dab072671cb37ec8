"""A run reads its snapshot, verifies and serialises its plan once; what it saved is judged and published."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.advisory.advise import Advice
from kafka_rebalance.plans import document as plan_reading
from kafka_rebalance.plans import plan as plan_module
from kafka_rebalance.plans import searches
from kafka_rebalance.snapshot.group import Group, GroupType, Member, Subtopology, Tasks
from rebalance_advisor import store
from rebalance_advisor.airflow.publishing import FolderTarget, publish_run
from rebalance_advisor.gates import rule_results
from rebalance_advisor.publish.advisory_files import advisory_files
from rebalance_advisor.run_advice import advise_run, read_question, save_advice
from rebalance_advisor.store import load_history
from tests.sql.sample_clusters import plain_snapshot

pytestmark = pytest.mark.stack

ASKED = {"balance_within": 0.1, "no_frontier": True, "age_limit": "3650d", "scenarios": "today"}


@pytest.fixture
def snapshot_id(connection) -> str:
    """A stored snapshot with an idle member and an uneven group."""
    snapshot = plain_snapshot(24)
    (group,) = snapshot.groups
    members = (
        replace(group.members[0], assigned=(("orders", tuple(range(24))),)),
        Member("m-2", "pod-2"),
        *group.members[2:],
    )
    snapshot_id = store.save_snapshot(connection, replace(snapshot, groups=(replace(group, members=members),)))
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    return snapshot_id


def advised(connection, snapshot_id: str, run_id: str = "r-1", **asked: object) -> Advice:
    """What the Spark job leaves of a run, made without Spark."""
    store.start_run(
        connection, run_id=run_id, cluster="prod", snapshot_id=snapshot_id, parameters=ASKED | asked, seed=0
    )
    advice = advise_run(read_question(connection, run_id), datetime.now(UTC))
    save_advice(connection, run_id, advice)
    return advice


def publish(dsn: str, folder: Path, run_id: str = "r-1") -> Path:
    return Path(publish_run(dsn, run_id=run_id, cluster="prod", target=FolderTarget(folder, run_id))[1])


def codes(advice: Advice) -> set[str]:
    return {finding.code for finding in advice.findings}


def test_the_files_are_those_of_the_advisory_that_one_process_makes(connection, dsn, snapshot_id, tmp_path) -> None:
    advice = advised(connection, snapshot_id)
    assert len(advice.findings) >= 2
    folder = publish(dsn, tmp_path / "out")
    results = rule_results(store.load_checks(connection, "r-1"))
    for name, content in advisory_files(advice.document(), advice.plan, results).items():
        assert (folder / name).read_bytes() == content, name


def test_a_run_loads_verifies_and_serialises_once(connection, dsn, snapshot_id, tmp_path, monkeypatch) -> None:
    """Publishing needs neither the snapshot nor the verifier; it reads the plan back and compares."""
    counts: Counter[str] = Counter()
    for module, name in (
        (load_history, "load_snapshot"), (searches, "verify_plan"), (plan_module, "to_document"),
        (plan_reading, "_plan"),
    ):  # fmt: skip
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, real=real, name=name: (counts.update([name]), real(*given))[1])
    advised(connection, snapshot_id)
    assert counts == {"load_snapshot": 1, "verify_plan": 1, "to_document": 1}
    counts.clear()
    publish(dsn, tmp_path / "out")
    assert counts == {"_plan": 1, "to_document": 1}


def test_what_a_run_says_of_clients_reaches_its_findings(connection, snapshot_id) -> None:
    """One of the readers has a group.instance.id, the others none: nothing to say, unless kafka-python 3 runs them."""
    clients = [{"pattern": "readers", "client": "kafka-python", "version": "3.0.12"}]
    plain, reported = advised(connection, snapshot_id), advised(connection, snapshot_id, "r-2", clients=clients)
    assert codes(reported) - codes(plain) == {"mixed_static_members"}


def test_owners_and_mutes_of_a_run_are_saved_with_its_findings_and_published(
    connection, dsn, snapshot_id, tmp_path
) -> None:
    owner = {"pattern": "readers|.*", "team": "readers", "channel": "#readers", "tier": 2, "subject_type": "group"}
    mute = {"code": "idle_members", "pattern": ".*", "until": "2999-01-01", "reason": "known"}
    advice = advised(connection, snapshot_id, owners=[owner], mutes=[mute])
    folder = publish(dsn, tmp_path / "out")
    published = json.loads((folder / "findings.json").read_text())
    muted = [finding for finding in published if finding["muted_until"] is not None]
    assert [(finding["code"], finding["mute_reason"], finding["team"]) for finding in muted] == [
        ("idle_members", "known", "readers")
    ]
    assert published[-1] == muted[0]
    rows = connection.execute(
        "SELECT code, team, channel, tier, muted_until, mute_reason"
        " FROM advisor.finding_latest WHERE muted_until > now()"
    ).fetchall()
    assert rows == [("idle_members", "readers", "#readers", 2, datetime(2999, 1, 2, tzinfo=UTC), "known")]
    overview = connection.execute(
        "SELECT team, channel, tier, lag_seconds FROM advisor.group_overview_latest"
    ).fetchall()
    assert overview == [("readers", "#readers", 2, advice.groups[0].lag_seconds)]
    assert "1 muted, the first until 2999-01-02" in (folder / "report.html").read_text()


def test_the_price_of_traffic_across_racks_is_saved_and_published_where_a_run_was_asked_with_one(
    connection, dsn, snapshot_id, tmp_path
) -> None:
    plain, priced = advised(connection, snapshot_id), advised(connection, snapshot_id, "r-2", rack_byte_price=0.02)
    assert codes(priced) - codes(plain) == {"rack_traffic_price"}
    folder = publish(dsn, tmp_path / "out", "r-2")
    published = json.loads((folder / "findings.json").read_text())
    (only_finding,) = [finding for finding in published if finding["code"] == "rack_traffic_price"]
    assert only_finding["recommendation"]["code"] == "rack_traffic_price"
    assert only_finding["recommendation"]["text"].split(".")[0] in (folder / "report.html").read_text()


def test_what_the_input_gate_holds_is_scored_as_it_is_gets_no_advice_and_is_a_gap(connection, snapshot_id) -> None:
    assert len(advised(connection, snapshot_id).groups[0].scores) > 1
    query = "SELECT snapshot_key FROM store.snapshot WHERE snapshot_id = %s"
    (key,) = connection.execute(query, [snapshot_id]).fetchone()
    connection.execute(
        "INSERT INTO store.quarantine (snapshot_key, subject_type, subject, rule)"
        " VALUES (%s, 'group', 'readers', 'group_vanished'), (%s, 'topic', 'orders', 'partition_listed_twice')",
        [key, key],
    )
    advice = advised(connection, snapshot_id, "r-2")
    (group,) = advice.groups
    assert ([score.is_current for score in group.scores], group.advised) == ([True], None)
    assert not any(move.topic == "orders" for move in advice.plan.moves)
    assert {(gap.subject_type, gap.subject) for gap in advice.snapshot.coverage} >= {
        ("group", "readers"),
        ("topic", "orders"),
    }


def test_tasks_of_a_streams_group_are_rows_of_the_views(connection, dsn, tmp_path) -> None:
    """q holds one task more than p; its death moves two and restores them."""
    members = tuple(
        Member(f"m-{i}", process_id=process, rack="a", subscription=("orders",), tasks=tasks, target_tasks=tasks)
        for i, (process, tasks) in enumerate((("p", Tasks((("0", (0,)),))), ("q", Tasks((("0", (1, 2)),)))))
    )  # fmt: skip
    group = Group("flow", GroupType.STREAMS, "streams", state="Stable", members=members,
                  subtopologies=(Subtopology("0", ("orders",), (), ("flow-changelog",)),),
                  configs={"streams.num.standby.replicas": "0"})  # fmt: skip
    snapshot = replace(plain_snapshot(3), groups=(group,), kafka_version="4.3.1")
    snapshot_id = store.save_snapshot(connection, snapshot)
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    advice = advised(connection, snapshot_id, scenarios="all")
    publish(dsn, tmp_path / "out")
    rows = connection.execute(
        "SELECT scenario, changed_instances, instances, active_tasks, active_moved, active_restored, standby_replicas,"
        " unknown_parts FROM advisor.group_streams_scenario_latest WHERE scenario IN ('today', 'instance_dies')"
    ).fetchall()
    assert rows == [
        ("today", [], 2, 3, 0, 0, 0, []), ("instance_dies", ["p"], 1, 3, 1, 1, 0, []),
        ("instance_dies", ["q"], 1, 3, 2, 2, 0, []),
    ]  # fmt: skip
    (replay,) = advice.groups
    stored = "SELECT count(*) FROM advisor.group_streams_scenario WHERE run_id = 'r-1'"
    assert connection.execute(stored).fetchone() == (len(replay.streams.rows),)
    counts = "SELECT process_id, member_id, rack, active_tasks, standby_tasks FROM advisor.streams_member_latest"
    assert connection.execute(counts).fetchall() == [("p", "m-0", "a", 1, 0), ("q", "m-1", "a", 2, 0)]
    (document,) = json.loads((tmp_path / "out" / "groups.json").read_text())
    assert document["streams"]["instances"][1] == {
        "process_id": "q", "racks": ["a"], "members": 1, "active": 2, "standby": 0, "warmup": 0,
    }  # fmt: skip
    assert "if instance q dies (the worst of 2)" in (tmp_path / "out" / "report.html").read_text()


def test_a_plan_that_was_changed_in_the_store_is_not_published(connection, dsn, snapshot_id, tmp_path) -> None:
    """Its hash is its name; a bound that was raised by one byte is another plan."""
    advice = advised(connection, snapshot_id)
    document = json.loads(connection.execute("SELECT document FROM store.plan").fetchone()[0])
    document["cost"]["seconds"] = (document["cost"]["seconds"] or 0.0) + 1.0
    connection.execute("UPDATE store.plan SET document = %s", [json.dumps(document)])
    with pytest.raises(InvalidInputError, match=f"plan {advice.plan.plan_id[:12]}: was changed"):
        publish(dsn, tmp_path / "out")
    assert store.newest_published(connection, "prod") is None
