import json
import random
from dataclasses import asdict, replace

import numpy as np
import pytest

from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.java.keys import uuid_text
from kafka_rebalance.snapshot.model import CommittedOffset, Group, Member
from rebalance_advisor.dumps import read_input
from stack.demo.cluster import write_demo_cluster
from tests.sample import for_each
from tests.unit.planner.sample_clusters import random_cluster


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return read_input(write_demo_cluster(tmp_path_factory.mktemp("demo")), "demo")


def assert_same_questions(snapshot):
    from rebalance_advisor.spark.rows.arrow import pack_groups
    from rebalance_advisor.spark.rows.unpack import unpack_group

    rows, inputs = pack_groups(snapshot).to_pylist(), list(group_inputs(snapshot))
    assert len(rows) == len(inputs)
    for row, group_input in zip(rows, inputs, strict=True):
        found = unpack_group(row)
        assert found.group == group_input.group
        assert found.topics == group_input.topics
        assert (found.topic_ids, found.kafka_version) == (group_input.topic_ids, group_input.kafka_version)
        np.testing.assert_array_equal(found.partition_counts, group_input.partition_counts)
        for name in ("in_bytes_per_s", "in_messages_per_s", "lag_messages", "read_messages_per_s"):
            np.testing.assert_array_equal(getattr(found.rates, name), getattr(group_input.rates, name))
        assert (found.racks, found.leader_racks) == (group_input.racks, group_input.leader_racks)
        np.testing.assert_array_equal(found.rack_offsets, group_input.rack_offsets)
        assert json.dumps(asdict(replay_group(found))) == json.dumps(asdict(replay_group(group_input)))


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


@for_each("seed", range(40), fast=range(12))
def test_random_groups_ask_alike_and_are_answered_alike(seed):
    """Members with and without racks, ids, subscriptions, owned and read partitions; commits; topics that are gone."""
    draw = random.Random(seed)
    snapshot = random_cluster(seed, broker_count=6, racks=3, topics=6, with_rates=draw.random() < 0.7)
    ids = [uuid_text(seed, place) if draw.random() < 0.9 else None for place in range(len(snapshot.topics))]
    topics = tuple(replace(topic, topic_id=ident) for topic, ident in zip(snapshot.topics, ids, strict=True))
    groups = tuple(_random_group(draw, f"g-{number}", snapshot) for number in range(draw.randint(0, 4)))
    version = draw.choice([None, "2.4", "4.1"])
    assert_same_questions(replace(snapshot, topics=topics, groups=groups, kafka_version=version))


def _random_group(draw, name, snapshot):
    names = [topic.name for topic in snapshot.topics] + ["gone.topic", "söme"]
    pairs = [(row.topic, row.partition) for row in snapshot.each_partition()] + [("gone.topic", 0)]
    draw.shuffle(pairs)
    members = []
    for number in range(draw.randint(0, 5)):
        mine = [pairs.pop() for _ in range(min(draw.randint(0, 6), len(pairs)))]
        by_topic = {topic: tuple(sorted(p for t, p in mine if t == topic)) for topic in sorted({t for t, _ in mine})}
        members.append(
            Member(
                f"m-{number}",
                instance_id=draw.choice([None, f"static-{number}"]),
                rack=draw.choice([None, "rack-0", "rack-1"]),
                subscription=draw.choice([None, tuple(sorted(draw.sample(names, draw.randint(1, 3))))]),
                owned=draw.choice([None, tuple(by_topic.items())]),
                assigned=tuple(by_topic.items()),
            )
        )
    written = draw.sample(pairs, min(len(pairs), 8))
    committed = tuple(CommittedOffset(topic, partition, draw.randint(0, 10**6)) for topic, partition in written)
    protocol = draw.choice([None, "range", "roundrobin", "cooperative-sticky", "uniform"])
    return Group(
        name, protocol=protocol, generation=draw.choice([None, 3]), members=tuple(members), committed=committed
    )
