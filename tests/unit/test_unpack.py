from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.java.keys import uuid_text
from kafka_rebalance.snapshot.model import CommittedOffset
from rebalance_advisor.dumps import read_input
from stack.demo.cluster import write_demo_cluster


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return read_input(write_demo_cluster(tmp_path_factory.mktemp("demo")), "demo")


def assert_same_questions(snapshot):
    from rebalance_advisor.store.spark_rows.arrow import pack_groups
    from rebalance_advisor.store.spark_rows.unpack import unpack_group

    rack_of = {broker.id: broker.rack for broker in snapshot.brokers}
    rows, inputs = pack_groups(snapshot).to_pylist(), list(group_inputs(snapshot))
    assert len(rows) == len(inputs)
    for row, group_input in zip(rows, inputs, strict=True):
        found = unpack_group(row, rack_of, snapshot.kafka_version)
        assert found.group == replace(group_input.group, committed=())
        assert found.topics == group_input.topics
        assert (found.topic_ids, found.kafka_version) == (group_input.topic_ids, group_input.kafka_version)
        np.testing.assert_array_equal(found.partition_counts, group_input.partition_counts)
        for name in ("in_bytes_per_s", "in_messages_per_s", "lag_messages"):
            np.testing.assert_array_equal(getattr(found.rates, name), getattr(group_input.rates, name))
        assert found.racks == group_input.racks
        if group_input.rack_offsets is not None:
            np.testing.assert_array_equal(found.rack_offsets, group_input.rack_offsets)


def test_a_packed_group_asks_what_the_snapshot_asks(demo):
    assert_same_questions(demo)


def test_topic_ids_and_the_brokers_version_travel(demo):
    topics = tuple(replace(topic, topic_id=uuid_text(1, place)) for place, topic in enumerate(demo.topics))
    assert_same_questions(replace(demo, topics=topics, kafka_version="4.3"))


def test_racks_of_replicas_travel_where_a_member_has_a_rack(demo):
    with_racks = [
        replace(group, members=tuple(replace(member, rack="rack-a") for member in group.members))
        for group in demo.groups
    ]
    assert_same_questions(replace(demo, groups=tuple(with_racks)))


def test_topics_with_old_commits_alone_are_left_out_and_unknown_topics_kept(demo):
    group = next(known_group for known_group in demo.groups if known_group.id == "cdc-sync")
    others = [topic.name for topic in demo.topics if topic.name not in {commit.topic for commit in group.committed}]
    reader = replace(group.members[0], subscription=("gone.topic", others[5]))
    changed = replace(
        group,
        committed=(*group.committed, CommittedOffset(others[0], 0, 3), CommittedOffset("gone.too", 0, 3)),
        members=(reader, *group.members[1:]),
    )
    assert_same_questions(replace(demo, groups=(changed,)))
