"""The replay job on Spark answers what the library answers in one process, for every topic and group."""

import json
from dataclasses import replace
from functools import partial

import pytest

from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.groups.replay_options import ReplayOptions
from kafka_rebalance.groups.scenarios.catalogue import SCENARIOS
from kafka_rebalance.placement.topic_replay import placement_brokers, placement_ground, replay_topic, topic_placements
from kafka_rebalance.snapshot.model import GroupType
from rebalance_advisor.own_strategies.limits import MIB, Limits
from rebalance_advisor.own_strategies.targets import Kind, read_target
from rebalance_advisor.spark.rows.replayed import SCORE_COLUMNS, rows_of, sent, sent_topic
from tests.unit.own_strategies import broken_strategies
from tests.unit.own_strategies.broken_strategies import REASONS

pytestmark = pytest.mark.stack


def as_json(documents):
    return json.loads(json.dumps(documents))


def scores(document):
    """Rows of a group by name."""
    return [dict(zip(SCORE_COLUMNS, row, strict=True)) for row in document["scores"]]


@pytest.fixture(scope="module")
def replayed_groups(spark, demo):
    from rebalance_advisor.jobs.replaying import replay_groups

    return replay_groups(spark, demo)


def test_every_group_is_replayed_as_in_one_process(replayed_groups, demo):
    expected = as_json([sent(replay_group(group_input)) for group_input in group_inputs(demo)])
    found = {replay["group_id"]: replay for replay in replayed_groups}
    assert len(replayed_groups) == len(expected) == 49
    for row in expected:
        assert found[row["group_id"]] == row


def test_every_topic_is_replayed_as_in_one_process(spark, demo):
    from rebalance_advisor.jobs.replaying import replay_topics

    ground = placement_ground(placement_brokers(demo))
    expected = as_json([sent_topic(replay_topic(today, ground)) for today in topic_placements(demo)])
    assert sorted(replay_topics(spark, demo), key=lambda row: row["topic"]) == expected


def test_a_group_that_the_gate_holds_is_scored_as_it_is_and_gets_no_advice(spark, demo, replayed_groups):
    from rebalance_advisor.jobs.replaying import replay_groups

    advised = {
        replay["group_id"]: replay for replay in replayed_groups if any(one["is_advised"] for one in scores(replay))
    }
    assert "cdc-sync" in advised
    one = replace(demo, groups=tuple(group for group in demo.groups if group.id == "cdc-sync"))
    (held,) = replay_groups(spark, one, frozenset({"cdc-sync"}))
    assert [(score["is_current"], score["is_advised"]) for score in scores(held)] == [(True, False)]
    assert scores(held)[0]["skew_count"] == scores(advised["cdc-sync"])[0]["skew_count"]


def test_a_giant_is_several_units_and_answers_as_in_one_process(spark, demo):
    from rebalance_advisor.jobs.replaying import replay_groups

    few = replace(demo, groups=tuple(group for group in demo.groups if group.members)[:3])
    replay_options = ReplayOptions(scenarios=SCENARIOS, seed=3)
    documents = replay_groups(spark, few, replay_options=replay_options)
    assert len(documents) > len(few.groups)  # three groups and more tasks than that
    rows, members = rows_of(documents, {group.id: place for place, group in enumerate(few.groups)})
    expected = [sent(replay) for replay in replay_options.replays(few)]
    assert members == as_json([row for one in expected for row in one["members"]])
    assert sorted(map(str, rows)) == sorted(map(str, as_json([row for one in expected for row in one["scores"]])))


def test_what_is_wrong_with_ones_own_is_a_row_of_every_group_and_the_job_goes_on(spark, demo, replayed_groups):
    from rebalance_advisor.jobs.replaying import replay_groups
    from rebalance_advisor.own_strategies.registering import described, own_strategies

    few = replace(demo, groups=tuple(group for group in demo.groups if group.type is GroupType.CLASSIC)[:6])
    assert len(few.groups) == 6
    limits = Limits(answer_s=3.0, memory_bytes=256 * MIB, most_ends=1)
    kinds = {name: kind for name, (kind, _) in REASONS.items() if name not in ("Endless", "NotSubscribed")}
    places = ["Good", *kinds]
    found = described([read_target(f"{broken_strategies.__file__}:{name}", Kind.ASSIGNOR) for name in places], limits)
    called = {one.name: name for one, name in zip(found, places, strict=True)}
    others = {replay["group_id"]: replay for replay in replayed_groups}
    for replay in replay_groups(spark, few, own=partial(own_strategies, found, limits)):
        rows = {score["assignor"]: score for score in scores(replay)}
        built_in = scores(others[replay["group_id"]])
        assert [name for name in rows if name not in called] == [score["assignor"] for score in built_in]
        assert called.keys() <= rows.keys()
        assert rows["good"]["error"] is None
        for name, place in called.items():
            if place != "Good":  # of what ended its process, the next group of the same worker is told so
                refusal = rows[name]["error"]["args"]
                assert kinds[place] in (refusal["error"], *refusal["message"].split(": ")), (name, refusal)
                assert not rows[name]["is_advised"]


def test_a_cluster_without_groups_has_no_replays(spark, demo):
    from rebalance_advisor.jobs.replaying import replay_groups

    assert replay_groups(spark, replace(demo, groups=())) == []
