import hypothesis.strategies as st
import pytest
from hypothesis import given
from kafka.errors import IncompatibleBrokerVersion, KafkaConnectionError
from kafka.protocol.admin import (
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    DescribeLogDirsRequest,
    DescribeQuorumRequest,
    ListGroupsRequest,
    ListPartitionReassignmentsRequest,
)
from kafka.protocol.consumer import ListOffsetsRequest, OffsetFetchRequest
from kafka.protocol.metadata import ApiVersionsRequest, FindCoordinatorRequest, MetadataRequest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.coverage import Right
from kafka_rebalance.snapshot.model import BrokerState, CommittedOffset, Group, GroupType
from rebalance_advisor.kafka.cluster_metadata import read_cluster_metadata
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.groups import ListedGroups, describe_groups, list_groups
from rebalance_advisor.kafka.messages import ConsumerGroupDescribeRequest
from rebalance_advisor.kafka.offsets import read_committed, read_ends
from rebalance_advisor.kafka.read_cluster import read_configs, read_storage
from rebalance_advisor.kafka.unresponsive import DeadlinePassedError, UnresponsiveBroker
from tests.unit.kafka.canned_cluster import (
    SILENT,
    Answer,
    Cluster,
    described,
    error,
    gap_texts,
    listing,
    member,
    metadata,
    partition,
    rights,
)

# ---- asking


def groups(*, error: int = 0) -> Answer:
    return Answer(error_code=error, groups=[])


def test_a_slow_broker_is_asked_once_more_and_a_silent_one_never_again():
    """1 is slow once; 2 gives no sign of life: it gets two requests, and one line is reported."""
    cluster = Cluster({(1, ListGroupsRequest): [TimeoutError("slow"), groups()]})
    coverage = Coverage("c")
    sender = cluster.sender(1, 2)
    assert list_groups(sender, coverage).groups == {}
    read_storage(sender, coverage)
    assert [type(request) for broker, request in cluster.asked if broker == 2] == [
        ListGroupsRequest, ApiVersionsRequest,
    ]  # fmt: skip
    assert cluster.count(ListGroupsRequest) == 3
    assert gap_texts(coverage) == [
        (
            "broker 1: lacks_parts(parts=[lacks_log_dirs]): "
            "request_failed(kind='IncompatibleBrokerVersion', text='unknown')"
        ),
        f"broker 2: lacks_parts(parts=[lacks_log_dirs, lacks_groups_of_broker]): {SILENT}",
    ]
    assert sender.brokers == (1,)


def test_a_broker_that_is_slow_twice_is_given_up():
    cluster = Cluster({(1, ListGroupsRequest): TimeoutError("slow"), (1, DescribeLogDirsRequest): Answer()})
    sender, coverage = cluster.sender(1), Coverage("c")
    list_groups(sender, coverage)
    read_storage(sender, coverage)
    assert (cluster.count(ListGroupsRequest), cluster.count(DescribeLogDirsRequest)) == (2, 0)
    reason = fact(FactCode.NO_ANSWER_IN_TIME, seconds=5.0, text=None)
    assert sender.unresponsive == {1: UnresponsiveBroker(BrokerState.SILENT, reason)}


def test_after_the_deadline_nothing_is_asked():
    cluster = Cluster({})
    coverage = Coverage("c")
    list_groups(cluster.sender(1, deadline=0.0), coverage)
    assert cluster.asked == []
    assert gap_texts(coverage) == ["broker 1: lacks_parts(parts=[lacks_groups_of_broker]): deadline_passed"]


def test_what_any_broker_can_tell_is_asked_of_the_next_one_if_the_first_fails():
    """The silent one gets no further requests. Opening a connection is no request."""
    cluster = Cluster({(2, ListGroupsRequest): groups()})
    sender = cluster.sender(1, 2, 3)
    for _ in range(2):
        assert sender.send_to_any(ListGroupsRequest()).error_code == 0
    assert [broker for broker, request in cluster.asked if isinstance(request, ListGroupsRequest)] == [1, 2, 2]
    assert sender.counts.lines() == (
        "3 requests for the cluster: ListGroups 3",
        "1 request to broker 1: ApiVersions 1",
    )
    assert isinstance(cluster.sender().send_to_any(ListGroupsRequest()), DeadlinePassedError)


def test_with_zookeeper_the_controller_is_asked_what_is_moving():
    """Broker 2 is it; the others answer NotController (41), in any order."""
    metadata_answer = metadata(("t", [partition(0, 1, [1, 2])]))
    metadata_answer.controller_id = 2
    moving = Answer(name="t", partitions=[Answer(partition_index=0, adding_replicas=[2], removing_replicas=[1])])
    cluster = Cluster(
        {
            (1, MetadataRequest): metadata_answer,
            (1, ListPartitionReassignmentsRequest): Answer(error_code=41, topics=[]),
            (2, ListPartitionReassignmentsRequest): Answer(error_code=0, topics=[moving]),
        },
        {DescribeQuorumRequest: -1},
    )
    coverage = Coverage("c")
    seen = read_cluster_metadata(cluster.sender(1, 2), coverage)
    assert (seen.controller, seen.reassignments) == (2, {("t", 0): ((2,), (1,))})
    assert not any(gap.lacks(FactCode.LACKS_REASSIGNMENTS) for gap in coverage.gaps)


def test_how_brokers_failed_and_who_is_asked_no_more():
    """1 answers, 2 is silent, 3 breaks off twice, 4 does not know the request, 5 recovers, 6 is loading for a while."""
    answers = {
        (1, ListGroupsRequest): groups(),
        (3, ListGroupsRequest): [groups(), KafkaConnectionError("socket disconnected")],
        (4, ListGroupsRequest): IncompatibleBrokerVersion("old"),
        (5, ListGroupsRequest): [KafkaConnectionError("closed"), groups()],
        (6, ListGroupsRequest): [groups(error=14), groups()],
    }
    cluster = Cluster(answers)
    sender = cluster.sender(1, 2, 3, 4, 5, 6)
    replies = sender.send(
        {(broker, i): (broker, ListGroupsRequest()) for broker in sender.brokers for i in range(2)},
        is_passing=lambda answer: answer.error_code == 14,
    )
    assert {broker: str(why) for broker, why in sender.unresponsive.items()} == {
        2: "silent (no answer within 5 s)",
        3: "disconnected (socket disconnected)",
    }
    assert sender.brokers == (1, 4, 5, 6)
    assert cluster.pauses == [1.0]
    assert not isinstance(replies[3, 0], Exception)  # its earlier answer stays
    assert [type(replies[broker, 0]).__name__ for broker in (2, 4)] == [
        "UnresponsiveBrokerError",
        "IncompatibleBrokerVersion",
    ]
    assert str(replies[3, 1]) == "disconnected (socket disconnected)"
    assert replies[6, 0].error_code == replies[5, 0].error_code == 0
    late = Cluster({}).sender(2, deadline=0.0)
    late.send({0: (2, ListGroupsRequest())})
    assert late.unresponsive == {}  # it got no request


@given(
    st.dictionaries(st.integers(1, 6), st.sampled_from(["well", "silent", "slow", "ended", "dying"]), min_size=1),
    st.integers(0, 30),
    st.integers(1, 4),
)
def test_whatever_fails_each_name_is_asked_somewhere_and_a_silent_broker_once(states, count, steps):
    """All configs of ``count`` topics are read while one broker answers; a failing one gets few requests in all."""
    names = [f"t{i}" for i in range(count)]

    def all_configs(request: object) -> Answer:
        return Answer(
            results=[Answer(error_code=0, resource_type=kind, resource_name=name, configs=[])
                     for kind, name, _ in request.resources]
        )  # fmt: skip

    failures = {
        "slow": TimeoutError("slow"),
        "ended": KafkaConnectionError("x"),
        "dying": [all_configs, OSError("gone")],
    }
    answers = {
        (broker, DescribeConfigsRequest): failures.get(state, all_configs)
        for broker, state in states.items()
        if state != "silent"
    }
    cluster = Cluster(answers)
    sender, coverage = cluster.sender(*sorted(states), deadline=1e6), Coverage("c")
    for _ in range(steps):
        configs = read_configs(sender, names, coverage)
        if "well" in states.values():
            assert sorted(configs.topics) == sorted(names)
    for broker, state in states.items():
        asked = sum(asked == broker for asked, _ in cluster.asked)
        assert asked <= {"silent": 2, "slow": 3, "ended": 2, "dying": 3}.get(state, 5 * (steps + len(states)))
    lines = [gap.subject for gap in coverage.gaps if gap.subject_type == "broker"]
    assert len(lines) == len(set(lines))


# ---- shape


def test_a_leaderless_offsets_partition_is_a_gap_of_groups():
    """Kafka leaves the groups of that partition out of every list, without any error."""
    offsets = ("__consumer_offsets", [partition(0, -1, [1, 2], []), partition(1, 1, [1, 2])])
    cluster = Cluster({(1, MetadataRequest): metadata(offsets)}, {DescribeQuorumRequest: -1})
    coverage = Coverage("c")
    shape = read_cluster_metadata(cluster.sender(1), coverage)
    reason = "offsets_topic_leaderless(topic='__consumer_offsets', leaderless=1, partitions=2)"
    assert f"cluster c: lacks_groups: {reason}" in gap_texts(coverage)
    assert [partition.leader for partition in shape.partitions] == [None, 1]
    assert shape.controller == 1  # ZooKeeper: as in Metadata


def test_a_topic_with_an_error_is_a_gap_not_an_absence():
    cluster = Cluster({(1, MetadataRequest): metadata(errors=(("secret", 29),))})
    coverage = Coverage("c")
    shape = read_cluster_metadata(cluster.sender(1), coverage)
    assert shape.topics == ()
    assert f"topic secret: lacks_partitions: {error('TopicAuthorizationFailed', 29)}" in gap_texts(coverage)
    reported = {line.split(": ")[1] for line in gap_texts(coverage)}
    assert {"lacks_controller", "lacks_fenced_brokers", "lacks_reassignments"} <= reported


def test_topic_ids_are_written_as_kafka_writes_them():
    cluster = Cluster({(1, MetadataRequest): metadata(("t", [partition(0, 1, [1])]))})
    assert read_cluster_metadata(cluster.sender(1), Coverage("c")).topics[0].id == "AAAAAAAAAAAAAAAAAAAABQ"


# ---- storage


def test_a_future_replica_is_not_the_size_of_the_replica_that_serves():
    def size(index: int, value: int, is_future: bool) -> Answer:
        return Answer(partition_index=index, partition_size=value, offset_lag=0, is_future_key=is_future)

    dirs = [
        Answer(error_code=0, log_dir="/b", total_bytes=100, usable_bytes=40, is_cordoned=True,
               topics=[Answer(name="t", partitions=[size(0, 7, True)])]),
        Answer(error_code=0, log_dir="/a", total_bytes=-1, usable_bytes=-1, is_cordoned=False,
               topics=[Answer(name="t", partitions=[size(0, 50, False)])]),
        Answer(error_code=56, log_dir="/c", total_bytes=-1, usable_bytes=-1, is_cordoned=False, topics=[]),
    ]  # fmt: skip
    cluster = Cluster({(1, DescribeLogDirsRequest): Answer(error_code=0, results=dirs)})
    coverage = Coverage("c")
    storage = read_storage(cluster.sender(1), coverage)
    assert gap_texts(coverage) == [f"broker 1: lacks_log_dir(path='/c'): {error('KafkaStorage', 56)}"]
    assert storage.sizes == {1: {("t", 0): 50}}
    assert (storage.dir_indexes, storage.future) == (
        {1: {("t", 0): 0}},
        {1: {("t", 0): (1, 7)}},
    )  # dirs by path: /a, /b, /c
    first, second, third = storage.log_dirs[1]
    assert (first.path, first.total_bytes, second.usable_bytes, second.is_cordoned) == ("/a", None, 40, True)
    assert third.error == "KafkaStorage (56)"


def test_a_broker_that_refuses_its_log_dirs_is_a_gap():
    cluster = Cluster({(1, DescribeLogDirsRequest): Answer(error_code=31, results=[])})
    coverage = Coverage("c")
    assert read_storage(cluster.sender(1), coverage).sizes == {}
    assert gap_texts(coverage) == [f"broker 1: lacks_log_dirs: {error('ClusterAuthorizationFailed', 31)}"]
    assert rights(coverage) == (Right.DESCRIBE_CLUSTER,)


def test_configs_that_nobody_set_and_secrets_are_left_out_and_refusals_told():
    def config(name: str, value: str, source: int, is_sensitive: bool = False) -> Answer:
        return Answer(name=name, value=value, config_source=source, is_sensitive=is_sensitive)

    values = {
        (2, "t"): [
            config("retention.ms", "5", 1),
            config("segment.ms", "9", 5),
            config("min.insync.replicas", "x", 1, True),
        ],
        (4, "1"): [config("num.replica.fetchers", "4", 4)],
        (4, ""): [config("leader.replication.throttled.rate", "1", 3)],
    }

    def answer(request: object) -> Answer:
        return Answer(
            results=[
                Answer(
                    error_code=0 if (kind, name) in values else 29, resource_type=kind, resource_name=name,
                    configs=values.get((kind, name), []),
                )
                for kind, name, _ in request.resources
            ]
        )  # fmt: skip

    coverage = Coverage("c")
    configs = read_configs(Cluster({(1, DescribeConfigsRequest): answer}).sender(1), ["t", "secret"], coverage)
    assert configs.topics == {"t": {"retention.ms": "5"}}
    assert configs.brokers == {1: {"leader.replication.throttled.rate": "1", "num.replica.fetchers": "4"}}
    assert gap_texts(coverage) == [f"topic secret: lacks_configs(kind=None): {error('TopicAuthorizationFailed', 29)}"]
    assert rights(coverage) == (Right.TOPIC_CONFIGS,)


# ---- groups


GOOD = b"\x00\x00\x00\x00\x00\x01\x00\x01t\xff\xff\xff\xff"  # version 0, topic t, no user data


def test_one_odd_member_spoils_nothing_but_itself():
    cluster = Cluster(
        {
            (1, ListGroupsRequest): listing(("g", "Classic", "Stable")),
            (1, DescribeGroupsRequest): Answer(groups=[described("g", [member("m2", GOOD), member("m1", b"\xff")])]),
        }
    )
    coverage = Coverage("c")
    sender = cluster.sender(1)
    group = describe_groups(sender, list_groups(sender, coverage), coverage).groups["g"]
    assert [(member.id, member.subscription) for member in group.members] == [("m1", None), ("m2", ("t",))]
    assert group.members[0].decode_error == "subscription: 2 bytes are wanted at byte 0 of 1"
    assert gap_texts(coverage)[0].startswith("member g/m1: lacks_subscription: as_reported(text=")


READS_T0 = b"\x00\x01\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x01\x00\x00\x00\x00\xff\xff\xff\xff"


@pytest.mark.parametrize(
    ("said", "assigned", "subscription", "reads", "odd"),
    [
        (b"\xff", READS_T0, None, (("t", (0,)),), "subscription: "),
        (GOOD, b"\xff", ("t",), (), "assignment: "),
        (b"\xff", b"\xff", None, (), "subscription: 2 bytes are wanted at byte 0 of 1; assignment: "),
    ],
)
def test_subscription_and_assignment_of_a_member_are_read_apart(said, assigned, subscription, reads, odd):
    """kafka-go's subscription of version 1 has no owned partitions: Java drops the assignment with it."""
    answer = Answer(groups=[described("g", [Answer(**vars(member("m", said)) | {"member_assignment": assigned})])])
    cluster = Cluster({(1, ListGroupsRequest): listing(("g", "Classic", "Stable")), (1, DescribeGroupsRequest): answer})
    sender, coverage = cluster.sender(1), Coverage("c")
    (members,) = describe_groups(sender, list_groups(sender, coverage), coverage).groups["g"].members
    assert (members.subscription, members.assigned) == (subscription, reads)
    assert (members.decode_error or "").startswith(odd)


def test_the_rack_of_a_member_under_rack_affinity_is_its_user_data():
    said = b"\x00\x01\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x03az1"
    results = {}
    for protocol in ("rack-affinity", "range"):
        group = described("g", [Answer(**vars(member("m", said)) | {"member_assignment": READS_T0})])
        group.protocol_data = protocol
        cluster = Cluster(
            {
                (1, ListGroupsRequest): listing(("g", "Classic", "Stable")),
                (1, DescribeGroupsRequest): Answer(groups=[group]),
            }
        )
        sender, coverage = cluster.sender(1), Coverage("c")
        (first,) = describe_groups(sender, list_groups(sender, coverage), coverage).groups["g"].members
        results[protocol] = (first.rack, first.user_data)
    assert results == {"rack-affinity": ("az1", b"az1"), "range": (None, b"az1")}


def test_each_type_is_asked_by_its_own_api():
    """The wrong API makes a group look dead and empty, on 3.9 without any error."""
    cluster = Cluster(
        {
            (1, ListGroupsRequest): listing(("new", "Consumer", "Stable"), ("odd", "Quorum", "Stable")),
            (1, ConsumerGroupDescribeRequest): Answer(
                groups=[
                    Answer(group_id="new", error_code=0, group_state="Reconciling", group_epoch=4,
                           assignment_epoch=4, assignor_name="uniform", members=[])
                ]
            ),
        }
    )  # fmt: skip
    coverage = Coverage("c")
    sender = cluster.sender(1)
    groups = describe_groups(sender, list_groups(sender, coverage), coverage).groups
    assert (groups["new"].type, groups["new"].state, groups["new"].generation) == (GroupType.CONSUMER, "Reconciling", 4)
    assert cluster.count(DescribeGroupsRequest) == 0
    assert gap_texts(coverage) == ["group odd: lacks_members: group_type_not_read(group_type='unknown')"]


def test_a_coordinator_that_moved_is_found_and_asked():
    cluster = Cluster(
        {
            (1, ListGroupsRequest): listing(("g", "Classic", "Stable")),
            (2, ListGroupsRequest): listing(),
            (1, DescribeGroupsRequest): Answer(groups=[described("g", [], error=16)]),
            (2, DescribeGroupsRequest): Answer(groups=[described("g", [member("m", GOOD)])]),
            (1, FindCoordinatorRequest): Answer(coordinators=[Answer(key="g", node_id=2, error_code=0)]),
        }
    )
    coverage = Coverage("c")
    sender = cluster.sender(1, 2)
    group = describe_groups(sender, list_groups(sender, coverage), coverage).groups["g"]
    assert (group.coordinator, len(group.members)) == (2, 1)
    assert gap_texts(coverage) == []


def test_coordinators_are_never_looked_for_where_no_group_is_listed():
    """The lookup itself would create __consumer_offsets."""
    cluster = Cluster({(1, ListGroupsRequest): listing()})
    sender = cluster.sender(1)
    listed = describe_groups(sender, list_groups(sender, Coverage("c")), Coverage("c"))
    read_committed(sender, listed, Coverage("c"))
    assert cluster.count(FindCoordinatorRequest) == 0


def test_a_rebalancing_group_is_asked_twice_and_then_said_to_be_unknown():
    cluster = Cluster(
        {
            (1, ListGroupsRequest): listing(("g", "Classic", "PreparingRebalance")),
            (1, DescribeGroupsRequest): Answer(groups=[described("g", [member("m")], "PreparingRebalance")]),
        }
    )
    coverage = Coverage("c")
    sender = cluster.sender(1)
    group = describe_groups(sender, list_groups(sender, coverage), coverage).groups["g"]
    assert cluster.count(DescribeGroupsRequest) == 2
    assert group.members[0].subscription is None
    assert gap_texts(coverage) == ["group g: lacks_members: group_rebalancing(state='PreparingRebalance')"]


def test_a_group_that_vanished_stays_with_a_gap():
    cluster = Cluster(
        {
            (1, ListGroupsRequest): listing(("g", "Classic", "Stable")),
            (1, DescribeGroupsRequest): Answer(groups=[described("g", [], "Dead")]),
        }
    )
    coverage = Coverage("c")
    sender = cluster.sender(1)
    assert describe_groups(sender, list_groups(sender, coverage), coverage).groups["g"].state == "Dead"
    assert gap_texts(coverage) == ["group g: lacks_members: group_gone"]


# ---- offsets


def committed(index: int, offset: int, error: int = 0) -> Answer:
    return Answer(partition_index=index, committed_offset=offset, error_code=error)


def test_committed_offsets_and_what_hides_among_them():
    rows = [Answer(name="t", partitions=[committed(1, 8), committed(0, 5), committed(2, -1), committed(3, -1, 29)])]
    cluster = Cluster(
        {
            (1, ListGroupsRequest): listing(("g", "Classic", "Stable"), ("h", "Classic", "Empty")),
            (1, OffsetFetchRequest): Answer(
                groups=[Answer(group_id="g", error_code=0, topics=rows), Answer(group_id="h", error_code=30, topics=[])]
            ),
        }
    )
    coverage = Coverage("c")
    sender = cluster.sender(1)
    offsets = read_committed(sender, list_groups(sender, coverage), coverage)
    assert offsets == {"g": (CommittedOffset("t", 0, 5), CommittedOffset("t", 1, 8))}
    assert gap_texts(coverage) == [
        f"group g: lacks_commit(topic='t', partition=3): {error('TopicAuthorizationFailed', 29)}",
        f"group h: lacks_commits: {error('GroupAuthorizationFailed', 30)}",
    ]
    assert rights(coverage) == (Right.DESCRIBE_TOPICS, Right.DESCRIBE_GROUPS)


def test_older_brokers_are_asked_for_one_group_at_a_time():
    rows = [Answer(name="t", partitions=[committed(0, 5)])]
    cluster = Cluster(
        {
            (1, ListGroupsRequest): listing(("g", "", "Stable"), ("h", "", "Stable")),
            (1, OffsetFetchRequest): Answer(error_code=0, topics=rows, groups=None),
        },
        {OffsetFetchRequest: 7},
    )
    sender = cluster.sender(1)
    assert set(read_committed(sender, list_groups(sender, Coverage("c")), Coverage("c"))) == {"g", "h"}
    assert cluster.count(OffsetFetchRequest) == 2


def ends(codes: dict[int, int]):
    def answer(request: object) -> Answer:
        topics = [
            Answer(
                name=topic.name,
                partitions=[
                    Answer(partition_index=row.partition_index, error_code=codes.get(row.partition_index, 0),
                           offset=10 if row.timestamp == -1 else 3)
                    for row in topic.partitions
                ],
            )
            for topic in request.topics
        ]  # fmt: skip
        return Answer(topics=topics)

    return answer


def test_a_leader_that_moved_while_reading_is_asked_again():
    cluster = Cluster(
        {
            (1, ListOffsetsRequest): ends({1: 6}),
            (2, ListOffsetsRequest): ends({}),
            (1, MetadataRequest): metadata(("t", [partition(1, 2, [1, 2])])),
        }
    )
    coverage = Coverage("c")
    starts, last = read_ends(cluster.sender(1, 2), {("t", 0): 1, ("t", 1): 1}, coverage)
    assert starts == {("t", 0): 3, ("t", 1): 3}
    assert last == {("t", 0): 10, ("t", 1): 10}
    assert gap_texts(coverage) == []


def test_the_new_leaders_of_a_broker_that_fell_silent_are_asked():
    """Broker 2 led three partitions: one moved to 1, one is still its own, one was never there. 1 answers for its."""
    cluster = Cluster(
        {
            (1, ListOffsetsRequest): ends({}),
            (1, MetadataRequest): metadata(("t", [partition(0, 1, [1, 2]), partition(1, 2, [2])])),
        }
    )
    coverage = Coverage("c")
    _, last = read_ends(cluster.sender(1, 2), {("t", 0): 2, ("t", 1): 2, ("t", 2): 2, ("t", 3): 1}, coverage)
    assert last == {("t", 0): 10, ("t", 3): 10}
    assert gap_texts(coverage) == [
        f"broker 2: lacks_parts(parts=[lacks_offsets_of_partitions(partitions=2)]): {SILENT}"
    ]
    assert sum(broker == 2 for broker, _ in cluster.asked) == 3  # starts, ends and the sign of life


def test_groups_of_a_broker_that_fell_silent_are_asked_of_their_new_coordinator():
    """``g`` and ``h`` were listed by 2, which then falls silent; 1 answers as coordinator of ``g``."""
    cluster = Cluster(
        {
            (1, DescribeGroupsRequest): Answer(groups=[described("g", [member("m", GOOD)])]),
            (1, OffsetFetchRequest): Answer(
                groups=[Answer(group_id="g", error_code=0, topics=[Answer(name="t", partitions=[committed(0, 5)])])]
            ),
            (1, FindCoordinatorRequest): Answer(
                coordinators=[Answer(key=name, node_id=node, error_code=0) for name, node in (("g", 1), ("h", 2))]
            ),
        }
    )
    coverage = Coverage("c")
    sender = cluster.sender(1, 2)
    listed = ListedGroups({name: Group(name, GroupType.CLASSIC, state="Stable", coordinator=2) for name in ("g", "h")})
    groups = describe_groups(sender, listed, coverage)
    assert read_committed(sender, groups, coverage) == {"g": (CommittedOffset("t", 0, 5),)}
    assert [(group.coordinator, len(group.members)) for group in groups.groups.values()] == [(1, 1), (2, 0)]
    parts = "lacks_members_of_groups(groups=1), lacks_commits_of_groups(groups=1)"
    assert gap_texts(coverage) == [f"broker 2: lacks_parts(parts=[{parts}]): {SILENT}"]


def test_offsets_that_stay_unknown_are_told_topic_by_topic():
    cluster = Cluster({(1, ListOffsetsRequest): ends({0: 29, 1: 29})})
    coverage = Coverage("c")
    starts, last = read_ends(cluster.sender(1), {("t", p): 1 for p in range(3)}, coverage)
    assert (set(starts), set(last)) == ({("t", 2)}, {("t", 2)})
    refused = f"of_partitions(partitions=2, first=[0, 1], why={error('TopicAuthorizationFailed', 29)})"
    assert gap_texts(coverage) == [
        f"topic t: lacks_end_offsets: {refused}",
        f"topic t: lacks_start_offsets: {refused}",
    ]
