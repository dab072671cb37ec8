import json
from dataclasses import asdict

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.replay_options import ReplayOptions
from kafka_rebalance.placement.topic_replay import placement_brokers, placement_ground, replay_topic, topic_placements
from rebalance_advisor import store
from rebalance_advisor.dumps import read_input
from rebalance_advisor.spark.rows.replayed import MEMBER_COLUMNS, SCORE_COLUMNS, rows_of, sent
from rebalance_advisor.store.stored_advice import (
    group_replays,
    topic_replays,
    with_quarantine_told,
)
from stack.demo.cluster import write_demo_cluster


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return read_input(write_demo_cluster(tmp_path_factory.mktemp("demo")), "demo")


def documents(replays):
    return json.loads(json.dumps([asdict(replay) for replay in replays]))


def test_replays_of_groups_come_back_from_their_rows(demo):
    replay_options = ReplayOptions(scenarios=("member_leaves", "strategy_changes"))
    replays = tuple(replay_options.replay(group_input) for group_input in group_inputs(demo))
    places = {replay.group_id: place for place, replay in enumerate(replays)}
    rows, readers = rows_of([sent(replay) for replay in reversed(replays)], places)
    scores = [dict(zip(SCORE_COLUMNS, row, strict=True)) for row in rows]
    members = [dict(zip(MEMBER_COLUMNS, row, strict=True)) for row in readers]
    assert any(replay.advised for replay in replays)
    assert any(replay.scenarios for replay in replays)
    assert documents(group_replays(scores, members)) == documents(replays)


def test_replays_of_topics_come_back_from_their_rows(demo):
    ground = placement_ground(placement_brokers(demo))
    replays = tuple(replay_topic(today, ground) for today in topic_placements(demo))
    rows = [score for document in documents(replays) for score in document["scores"]]
    assert topic_replays(rows) == replays


def test_what_the_gate_holds_is_told_like_what_could_not_be_read(demo):
    held = store.Quarantined("group", "cdc-sync", "partition_read_twice")
    told = with_quarantine_told(demo, [held])
    (gap,) = told.coverage[len(demo.coverage) :]
    assert (gap.subject_type, gap.subject, gap.what) == ("group", "cdc-sync", fact(FactCode.LACKS_ADVICE))
    assert gap.reason == fact(FactCode.LEFT_OUT_BY_CHECKS, rule="partition_read_twice")
    assert with_quarantine_told(demo, []) is demo
