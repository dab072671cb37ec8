"""What the result gate looked at is what is published: findings and scores are read back, not computed again."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_rebalance.advisory.advise import Advice, advise
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings import context
from kafka_rebalance.options.client_rule import ClientRule
from kafka_rebalance.options.ownership import MuteRule, OwnerRule
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.scoring.snapshot_scores import resources_left_out, score_cluster
from kafka_rebalance.snapshot.model import Member
from rebalance_advisor import store
from rebalance_advisor.airflow.publishing.places import FolderPlace
from rebalance_advisor.airflow.publishing.publish_run import publish_run
from rebalance_advisor.jobs import replaying
from rebalance_advisor.publish.advisory_files import advisory_files
from rebalance_advisor.spark.rows.replayed import sent, sent_topic
from rebalance_advisor.store import stored_advice
from tests.sql.sample_clusters import plain_snapshot

pytestmark = pytest.mark.stack


@pytest.fixture
def advice(connection) -> Advice:
    """What ``advise`` says of a stored snapshot with an idle member and an uneven group."""
    snapshot = plain_snapshot(24)
    (group,) = snapshot.groups
    members = (
        replace(group.members[0], assigned=(("orders", tuple(range(24))),)),
        Member("m-2", "pod-2"),
        *group.members[2:],
    )
    snapshot_id = store.save_snapshot(connection, replace(snapshot, groups=(replace(group, members=members),)))
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    return advise(store.load_snapshot(connection, snapshot_id), PlanOptions(within=0.1, with_frontier=False))


@pytest.fixture
def run_id(connection, advice) -> str:
    """A run up to its findings, as its tasks leave it."""
    run_id, snapshot_id = "r-1", advice.plan.snapshot_id
    store.start_run(connection, run_id=run_id, cluster="prod", snapshot_id=snapshot_id, parameters={}, seed=0)
    topics, groups = [sent_topic(topic) for topic in advice.topics], [sent(group) for group in advice.groups]
    topics, groups = json.loads(json.dumps([topics, groups]))
    replaying.save_replay(connection, run_id, advice.snapshot, topics, groups)
    store.save_plan(connection, run_id, advice.plan)
    store.save_findings(connection, run_id, stored_advice.derived_findings(connection, run_id))
    return run_id


def test_a_stored_advisory_is_the_one_that_one_process_makes(connection, advice, run_id) -> None:
    stored = stored_advice.advice_of_run(connection, run_id)
    assert len(advice.findings) >= 2
    assert stored.findings == advice.findings
    assert stored.scores == advice.scores
    assert advisory_files(stored.document(), stored.plan) == advisory_files(advice.document(), advice.plan)


def test_what_a_run_says_of_clients_reaches_its_findings(connection, run_id) -> None:
    """One of the readers has a group.instance.id, the others none: nothing to say, unless kafka-python 3 runs them."""
    rules = (ClientRule("readers", "kafka-python", "3.0.12"),)
    plain = {finding.finding_key for finding in stored_advice.derived_findings(connection, run_id)}
    told = {finding.finding_key for finding in stored_advice.derived_findings(connection, run_id, clients=rules)}
    assert told - plain == {"mixed_static_members:group:readers"}
    go = (ClientRule("readers", "franz-go", "1.22"),)
    assert stored_advice.advice_of_run(connection, run_id, go).replay_options.clients == go


def test_owners_and_mutes_of_a_run_are_saved_with_its_findings_and_published(connection, dsn, run_id, tmp_path) -> None:
    until = datetime(2999, 1, 1, tzinfo=UTC)
    owners = (OwnerRule("readers|.*", "readers", "#readers", 2, subject_type="group"),)
    mutes = (MuteRule(".*", until, "known", code="idle_members"),)
    found = stored_advice.derived_findings(connection, run_id, owners, mutes)
    store.save_findings(connection, run_id, found)
    assert store.load_findings(connection, run_id) == found
    place = Path(publish_run(dsn, run_id=run_id, cluster="prod", place=FolderPlace(tmp_path / "out", run_id))[1])
    published = json.loads((place / "findings.json").read_text())
    muted = [finding for finding in published if finding["muted_until"] is not None]
    assert [(finding["code"], finding["mute_reason"], finding["team"]) for finding in muted] == [
        ("idle_members", "known", "readers")
    ]
    assert published[-1] == muted[0]
    rows = connection.execute(
        "SELECT code, team, channel, tier, muted_until, mute_reason"
        " FROM advisor.finding_latest WHERE muted_until > now()"
    ).fetchall()
    assert rows == [("idle_members", "readers", "#readers", 2, until, "known")]
    assert "1 muted, the first until 2999-01-01" in (place / "report.html").read_text()


def test_the_price_of_traffic_across_racks_is_saved_and_published_where_a_run_was_asked_with_one(
    connection, dsn, run_id, tmp_path
) -> None:
    plain = stored_advice.derived_findings(connection, run_id)
    found = stored_advice.derived_findings(connection, run_id, rack_byte_price=0.02)
    assert {finding.code for finding in found} - {finding.code for finding in plain} == {"rack_traffic_price"}
    store.save_findings(connection, run_id, found)
    assert store.load_findings(connection, run_id) == found
    place = Path(publish_run(dsn, run_id=run_id, cluster="prod", place=FolderPlace(tmp_path / "out", run_id))[1])
    published = json.loads((place / "findings.json").read_text())
    (told,) = [finding for finding in published if finding["code"] == "rack_traffic_price"]
    assert told["recommendation"]["code"] == "rack_traffic_price"
    assert told["recommendation"]["text"].split(".")[0] in (place / "report.html").read_text()


def test_publishing_computes_neither_scores_nor_findings(connection, dsn, run_id, tmp_path, monkeypatch) -> None:
    judged = fact(FactCode.LEARN_STRATEGY, group="as-it-was-judged").document()
    columns = "recommendation_code = %s, recommendation_args = %s, gain = 0.125"
    values = judged["code"], json.dumps(judged["args"])
    connection.execute(f"UPDATE store.finding SET {columns} WHERE position = 1", values)
    connection.execute("UPDATE store.broker_score SET load = load * 2")

    def refuse(*_: object) -> None:
        raise AssertionError("computed a second time")

    monkeypatch.setattr(stored_advice, "evaluate_rules", refuse)
    monkeypatch.setattr(context, "finding", refuse)
    place = Path(publish_run(dsn, run_id=run_id, cluster="prod", place=FolderPlace(tmp_path / "out", run_id))[1])
    findings = json.loads((place / "findings.json").read_text())
    assert findings[0]["gain"] == 0.125
    assert {name: findings[0]["recommendation"][name] for name in judged} == judged
    assert "--group as-it-was-judged" in (place / "report.html").read_text()


def test_findings_rest_on_the_stored_scores(connection, advice, run_id) -> None:
    """Scores that were changed in the store change what is derived from them."""
    connection.execute("UPDATE store.broker_score SET level = level * 3 WHERE resource = 'disk' AND broker = 1")
    changed = stored_advice.advice_of_run(connection, run_id).scores
    assert changed != advice.scores
    levels = [score.level for score in changed.of_resource("disk")]
    assert levels == [score.level * (3 if score.broker == 1 else 1) for score in advice.scores.of_resource("disk")]
    keys = {finding.finding_key for finding in stored_advice.derived_findings(connection, run_id)}
    assert keys - {finding.finding_key for finding in advice.findings} == {"broker_disk_over_share:broker:1"}


def test_what_has_no_score_is_told_without_scoring(advice) -> None:
    assert resources_left_out(advice.snapshot) == dict(score_cluster(advice.snapshot).left_out)
    assert resources_left_out(advice.snapshot)
