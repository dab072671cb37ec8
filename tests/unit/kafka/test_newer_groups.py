"""Streams and share groups, and migrating groups, from the bytes of a broker of 4.3.

Answers are encoded and decoded by their message schema, so a wrong schema shows.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import UUID

from kafka.protocol.admin import ListGroupsRequest

from kafka_rebalance.snapshot.coverage import Right
from kafka_rebalance.snapshot.group import CommittedOffset, Group, GroupType, Subtopology, Tasks, partitions_of_tasks
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.groups import ListedGroups, describe_groups, list_groups, subtopologies_of
from rebalance_advisor.kafka.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)
from rebalance_advisor.kafka.offsets import read_share_offsets
from tests.unit.kafka.canned_cluster import Cluster, error, gap_texts, listing, rights

STREAMS = StreamsGroupDescribeResponse.DescribedGroup
CONSUMER = ConsumerGroupDescribeResponse.DescribedGroup
SHARE = DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseGroup


def through_the_wire(answer: Any, version: int) -> Any:
    """The client's result for the bytes of this answer."""
    return type(answer).decode(bytes(answer.encode(version=version)), version=version)


def tasks(**active: list[int]) -> Any:
    kind = STREAMS.Member.Assignment
    rows = [kind.TaskIds(subtopology_id=name.strip("_"), partitions=numbers) for name, numbers in active.items()]
    standby = [kind.TaskIds(subtopology_id="0", partitions=[2])]
    return kind(active_tasks=rows, standby_tasks=standby, warmup_tasks=[])


def streams_member(name: str, current: Any, target: Any) -> Any:
    return STREAMS.Member(
        member_id=name, member_epoch=4, instance_id=None, rack_id="a", client_id="client", client_host="/10.0.0.1",
        topology_epoch=1, process_id=f"process-{name}", user_endpoint=None, client_tags=[], task_offsets=[],
        task_end_offsets=[], assignment=current, target_assignment=target, is_classic=False,
    )  # fmt: skip


def topology() -> Any:
    kind = STREAMS.Topology
    part = kind.Subtopology

    def info(name: str) -> Any:
        return part.TopicInfo(name=name, partitions=0, replication_factor=0, topic_configs=[])

    changelog = info("flow-changelog")
    return kind(
        epoch=1,
        subtopologies=[
            part(subtopology_id="1", source_topics=[], repartition_sink_topics=[], state_changelog_topics=[],
                 repartition_source_topics=[info("flow-by-key-repartition")]),
            part(subtopology_id="0", source_topics=["orders", "clicks"], state_changelog_topics=[changelog],
                 repartition_sink_topics=["flow-by-key-repartition"], repartition_source_topics=[]),
        ],
    )  # fmt: skip


def test_a_streams_group_is_read_with_its_topology_tasks_and_epochs() -> None:
    """orders has 4 partitions, clicks 2: task 0_3 reads orders-3 alone."""
    members = [streams_member("b", tasks(_0=[3, 1]), tasks(_0=[1], _1=[0])), streams_member("a", tasks(), tasks())]
    group = STREAMS(
        error_code=0, error_message=None, group_id="flow", group_state="Reconciling", group_epoch=5, assignment_epoch=4,
        topology=topology(), members=members, authorized_operations=0,
    )  # fmt: skip
    answer = through_the_wire(StreamsGroupDescribeResponse(throttle_time_ms=0, groups=[group]), 0)
    cluster = Cluster(
        {(1, ListGroupsRequest): listing(("flow", "Streams", "Stable")), (1, StreamsGroupDescribeRequest): answer}
    )
    sender, coverage = cluster.sender(1), Coverage("c")
    counts = {"orders": 4, "clicks": 2, "flow-by-key-repartition": 1}
    described = describe_groups(sender, list_groups(sender, coverage), coverage, counts).groups["flow"]
    assert (described.type, described.state, described.generation, described.assignment_epoch) == (
        "streams",
        "Reconciling",
        5,
        4,
    )
    assert described.subtopologies == (
        Subtopology("0", ("clicks", "orders"), (), ("flow-changelog",)),
        Subtopology("1", (), ("flow-by-key-repartition",), ()),
    )
    idle, busy = described.members
    assert (busy.id, busy.rack, busy.process_id, busy.host) == ("b", "a", "process-b", "/10.0.0.1")
    assert busy.subscription == ("clicks", "flow-by-key-repartition", "orders")
    assert busy.tasks == Tasks((("0", (1, 3)),), (("0", (2,)),))
    assert busy.assigned == (("clicks", (1,)), ("orders", (1, 3)))
    assert busy.target == (("clicks", (1,)), ("flow-by-key-repartition", (0,)), ("orders", (1,)))
    assert (idle.assigned, idle.is_classic, gap_texts(coverage)) == ((), False, [])


def test_version_1_names_the_assignor_and_task_offsets_are_known_from_then_on() -> None:
    """Brokers of 4.3 keep no task offsets: an empty list of theirs is not "none reported"."""

    def answered(version: int) -> Group:
        offset = STREAMS.Member.TaskOffset
        member = streams_member("a", tasks(_0=[0]), tasks(_0=[0]))
        member.task_offsets = [offset(subtopology_id="0", partition=2, offset=70)] + [
            offset(subtopology_id=name, partition=0, offset=2**40) for name in "10"
        ]
        member.task_end_offsets = [offset(subtopology_id="0", partition=0, offset=-1)]
        group = STREAMS(
            error_code=0, error_message=None, group_id="flow", group_state="Stable", group_epoch=5, assignment_epoch=5,
            topology=topology(), members=[member], authorized_operations=0, topology_description=None,
            topology_description_status=0, assignor_name="sticky",
        )  # fmt: skip
        answer = through_the_wire(StreamsGroupDescribeResponse(throttle_time_ms=0, groups=[group]), version)
        listed = ListedGroups({"flow": Group("flow", GroupType.STREAMS, coordinator=1)})
        return describe_groups(
            Cluster({(1, StreamsGroupDescribeRequest): answer}).sender(1), listed, Coverage("c")
        ).groups["flow"]

    newer, older = answered(1), answered(0)
    assert (newer.protocol, older.protocol) == ("sticky", None)
    assert newer.members[0].task_offsets == (("0", ((0, 2**40), (2, 70))), ("1", ((0, 2**40),)))
    assert (newer.members[0].task_end_offsets, older.members[0].task_offsets) == ((), None)
    assert StreamsGroupDescribeRequest(group_ids=["flow"], include_authorized_operations=False).encode(version=1)


def test_the_topology_is_told_in_order_and_is_empty_where_the_group_has_none() -> None:
    described = SimpleNamespace(topology=topology())
    assert [part.id for part in subtopologies_of(described)] == ["0", "1"]
    assert subtopologies_of(SimpleNamespace(topology=None)) == ()
    # Topics are missing: the broker sends the topology's epoch alone.
    assert subtopologies_of(SimpleNamespace(topology=SimpleNamespace(subtopologies=None))) == ()


def test_a_streams_group_whose_topology_is_not_there_yet_subscribes_to_nothing_known() -> None:
    group = STREAMS(
        error_code=0, error_message=None, group_id="flow", group_state="NotReady", group_epoch=1, assignment_epoch=0,
        topology=None, members=[streams_member("a", tasks(), tasks())], authorized_operations=0,
    )  # fmt: skip
    answer = through_the_wire(StreamsGroupDescribeResponse(throttle_time_ms=0, groups=[group]), 0)
    listed = ListedGroups({"flow": Group("flow", GroupType.STREAMS, coordinator=1)})
    groups = describe_groups(Cluster({(1, StreamsGroupDescribeRequest): answer}).sender(1), listed, Coverage("c"))
    assert (groups.groups["flow"].subtopologies, groups.groups["flow"].members[0].subscription) == ((), None)


def test_tasks_of_an_unknown_subtopology_read_nothing_known() -> None:
    assert partitions_of_tasks((("9", (0,)),), (), {}) == ()


def test_members_that_still_speak_the_classic_protocol_are_told_apart() -> None:
    """0: classic, 1: consumer; version 0 of the answer (Kafka 3.9) does not say."""
    nothing = CONSUMER.Member.Assignment(topic_partitions=[])

    def member(name: str, kind: int) -> Any:
        return CONSUMER.Member(
            member_id=name, instance_id=None, rack_id="r", member_epoch=3, client_id="c", client_host="/h",
            subscribed_topic_names=["t"], subscribed_topic_regex=None, assignment=nothing, target_assignment=nothing,
            member_type=kind,
        )  # fmt: skip

    def answered(version: int) -> list[tuple[str, bool | None, str | None]]:
        group = CONSUMER(
            error_code=0, error_message=None, group_id="g", group_state="Stable", group_epoch=3, assignment_epoch=2,
            assignor_name="uniform", members=[member("old", 0), member("new", 1)], authorized_operations=0,
        )  # fmt: skip
        answer = through_the_wire(ConsumerGroupDescribeResponse(throttle_time_ms=0, groups=[group]), version)
        listed = ListedGroups({"g": Group("g", GroupType.CONSUMER, coordinator=1)})
        groups = describe_groups(Cluster({(1, ConsumerGroupDescribeRequest): answer}).sender(1), listed, Coverage("c"))
        assert groups.groups["g"].assignment_epoch == 2
        return [(row.id, row.is_classic, row.rack) for row in groups.groups["g"].members]

    assert answered(1) == [("new", False, "r"), ("old", True, "r")]
    assert answered(0) == [("new", None, "r"), ("old", None, "r")]


def share_answer(version: int, group_error: int = 0) -> Any:
    topic = SHARE.DescribeShareGroupOffsetsResponseTopic
    row = topic.DescribeShareGroupOffsetsResponsePartition

    def partition(index: int, start: int, lag: int, error: int = 0) -> Any:
        return row(
            partition_index=index, start_offset=start, leader_epoch=0, lag=lag, error_code=error, error_message=None
        )

    rows = [partition(1, 7, 5), partition(0, 4, -1), partition(2, -1, -1), partition(3, -1, -1, 29)]
    topics = [topic(topic_name="t", topic_id=UUID(int=5), partitions=rows)]
    group = SHARE(group_id="s", topics=topics, error_code=group_error, error_message=None)
    return through_the_wire(DescribeShareGroupOffsetsResponse(throttle_time_ms=0, groups=[group]), version)


def test_share_groups_tell_where_they_begin_and_their_lag() -> None:
    """-1: the partition is unread; a lag of -1, and version 0, mean unknown."""
    listed = ListedGroups({"s": Group("s", GroupType.SHARE, coordinator=1), "g": Group("g", coordinator=1)})

    def answered(answer: Any) -> tuple[dict[str, Any], list[str], tuple[Right, ...]]:
        coverage = Coverage("c")
        cluster = Cluster({(1, DescribeShareGroupOffsetsRequest): answer})
        return read_share_offsets(cluster.sender(1), listed, coverage), gap_texts(coverage), rights(coverage)

    offsets, gaps, missing = answered(share_answer(1))
    assert offsets == {"s": (CommittedOffset("t", 0, 4), CommittedOffset("t", 1, 7, 5))}
    assert gaps == [f"group s: lacks_commit(topic='t', partition=3): {error('TopicAuthorizationFailed', 29)}"]
    assert missing == (Right.DESCRIBE_TOPICS,)
    assert answered(share_answer(0))[0] == {"s": (CommittedOffset("t", 0, 4), CommittedOffset("t", 1, 7))}
    assert answered(share_answer(1, 30))[1:] == (
        [f"group s: lacks_commits: {error('GroupAuthorizationFailed', 30)}"], (Right.DESCRIBE_GROUPS,),
    )  # fmt: skip
    (silent,) = answered(TimeoutError("slow"))[1]
    assert silent.startswith("broker 1: lacks_parts(parts=[lacks_commits_of_groups(groups=1)]): broker_unheard(")


def test_brokers_that_know_no_offsets_of_share_groups_are_not_asked() -> None:
    cluster, coverage = Cluster({}, {DescribeShareGroupOffsetsRequest: -1}), Coverage("c")
    listed = ListedGroups({"s": Group("s", GroupType.SHARE, coordinator=1)})
    assert read_share_offsets(cluster.sender(1), listed, coverage) == {}
    assert cluster.asked == []
    assert gap_texts(coverage) == ["group s: lacks_commits: brokers_do_not_tell"]
