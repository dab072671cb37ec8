"""The readers against canned answers: errors are values, a gap is told, nothing shrinks in silence."""

from kafka.errors import IncompatibleBrokerVersion, KafkaConnectionError
from kafka.protocol.admin import DescribeGroupsRequest, DescribeLogDirsRequest, DescribeQuorumRequest, ListGroupsRequest
from kafka.protocol.consumer import ListOffsetsRequest, OffsetFetchRequest
from kafka.protocol.metadata import FindCoordinatorRequest, MetadataRequest

from kafka_rebalance.snapshot.model import CommittedOffset, GroupType
from kafka_rebalance.snapshot.rights import Right
from rebalance_advisor.kafka.cluster_metadata import read_cluster_metadata
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.groups.groups import describe_groups, list_groups
from rebalance_advisor.kafka.messages import ConsumerGroupDescribeRequest
from rebalance_advisor.kafka.offsets import read_committed, read_ends
from rebalance_advisor.kafka.storage import read_configs, read_storage
from tests.unit.kafka.canned_cluster import (
    Answer,
    Cluster,
    described,
    listing,
    member,
    metadata,
    partition,
    rights,
    words,
)

# ---- asking


def test_what_failed_is_asked_once_more_and_then_told():
    cluster = Cluster({(1, ListGroupsRequest): [TimeoutError("slow"), Answer(error_code=0, groups=[])]})
    coverage = Coverage("c")
    assert list_groups(cluster.sender(1, 2), coverage).groups == {}
    assert words(coverage) == ["cluster c: groups: broker 2 did not list those that it coordinates: Timeout: no answer"]
    assert cluster.pauses == [1.0]


def test_after_the_deadline_nothing_is_asked():
    cluster = Cluster({})
    coverage = Coverage("c")
    list_groups(cluster.sender(1, deadline=0.0), coverage)
    assert cluster.asked == []
    assert "time was over before it was asked" in words(coverage)[0]


def test_what_any_broker_can_tell_is_asked_of_the_next_one_if_the_first_fails():
    cluster = Cluster({(2, ListGroupsRequest): Answer(error_code=0)})
    assert cluster.sender(1, 2, 3).send_to_any(ListGroupsRequest()).error_code == 0
    assert [broker for broker, _ in cluster.asked] == [1, 2]


def test_who_was_heard_last_and_how_the_others_failed():
    """1 answers, 2 times out, 3 breaks off after an answer in the same round, 4 does not know the request."""
    answers = {
        (1, ListGroupsRequest): Answer(error_code=0),
        (2, ListGroupsRequest): [TimeoutError("slow"), Answer(error_code=0)],
        (3, ListGroupsRequest): [Answer(error_code=0), KafkaConnectionError("closed")],
        (4, ListGroupsRequest): IncompatibleBrokerVersion("old"),
    }
    sender = Cluster(answers).sender(1, 2, 3, 4)
    sender.send({(broker, i): (broker, ListGroupsRequest()) for broker in sender.brokers for i in range(2)})
    assert {broker: why.state.value for broker, why in sender.unheard.items()} == {3: "disconnected"}
    silent = Cluster({(3, ListGroupsRequest): Answer(error_code=0)}).sender(2, 3)
    silent.send({broker: (broker, ListGroupsRequest()) for broker in silent.brokers})
    assert {broker: why.state.value for broker, why in silent.unheard.items()} == {2: "silent"}
    late = Cluster({}).sender(2, deadline=0.0)
    late.send({0: (2, ListGroupsRequest())})
    assert late.unheard == {}  # nobody asked it


# ---- shape


def test_a_leaderless_offsets_partition_is_a_gap_of_groups():
    """Kafka leaves the groups of that partition out of every list, without any error."""
    offsets = ("__consumer_offsets", [partition(0, -1, [1, 2], []), partition(1, 1, [1, 2])])
    cluster = Cluster({(1, MetadataRequest): metadata(offsets)}, {DescribeQuorumRequest: -1})
    coverage = Coverage("c")
    shape = read_cluster_metadata(cluster.sender(1), coverage)
    assert "cluster c: groups: 1 of 2 partitions of __consumer_offsets have no leader" in words(coverage)
    assert [partition.leader for partition in shape.partitions] == [None, 1]
    assert shape.controller == 1  # ZooKeeper: as Metadata says


def test_a_topic_with_an_error_is_a_gap_not_an_absence():
    cluster = Cluster({(1, MetadataRequest): metadata(errors=(("secret", 29),))})
    coverage = Coverage("c")
    shape = read_cluster_metadata(cluster.sender(1), coverage)
    assert shape.topics == ()
    assert "topic secret: partitions: TopicAuthorizationFailed (29)" in words(coverage)
    told = {line.split(": ")[1] for line in words(coverage)}
    assert {"controller", "fenced brokers and own rights", "running reassignments"} <= told


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
    found = read_storage(cluster.sender(1), coverage)
    assert words(coverage) == ["broker 1: log dir /c: KafkaStorage (56)"]
    assert found.sizes == {1: {("t", 0): 50}}
    first, second, third = found.log_dirs[1]
    assert (first.path, first.total_bytes, second.usable_bytes, second.is_cordoned) == ("/a", None, 40, True)
    assert third.error == "KafkaStorage (56)"


def test_a_broker_that_refuses_its_log_dirs_is_a_gap():
    cluster = Cluster({(1, DescribeLogDirsRequest): Answer(error_code=31, results=[])})
    coverage = Coverage("c")
    assert read_storage(cluster.sender(1), coverage).sizes == {}
    assert words(coverage) == ["broker 1: log dirs: ClusterAuthorizationFailed (31)"]
    assert rights(coverage) == (Right.DESCRIBE_CLUSTER,)


def test_configs_that_nobody_set_and_secrets_are_left_out_and_refusals_told():
    from kafka.protocol.admin import DescribeConfigsRequest

    def config(name: str, value: str, source: int, is_sensitive: bool = False) -> Answer:
        return Answer(name=name, value=value, config_source=source, is_sensitive=is_sensitive)

    def answer(request: object) -> Answer:
        kind, name = request.resources[0][:2]
        if kind == 2:
            rows = [
                config("retention.ms", "5", 1),
                config("segment.ms", "9", 5),
                config("min.insync.replicas", "x", 1, True),
            ]
            refused = Answer(error_code=29, resource_name="secret", configs=[])
            return Answer(results=[Answer(error_code=0, resource_name="t", configs=rows), refused])
        own = (
            [config("num.replica.fetchers", "4", 4)] if name else [config("leader.replication.throttled.rate", "1", 3)]
        )
        return Answer(results=[Answer(error_code=0, resource_name=name, configs=own)])

    coverage = Coverage("c")
    found = read_configs(Cluster({(1, DescribeConfigsRequest): answer}).sender(1), ["t", "secret"], coverage)
    assert found.topics == {"t": {"retention.ms": "5"}}
    assert found.brokers == {1: {"leader.replication.throttled.rate": "1", "num.replica.fetchers": "4"}}
    assert words(coverage) == ["topic secret: configs: TopicAuthorizationFailed (29)"]
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
    assert group.members[0].decode_error == "2 bytes are wanted at byte 0 of 1"
    assert words(coverage)[0].startswith("member g/m1: subscription and assignment")


def test_each_type_is_asked_by_its_own_api():
    """Asked by the wrong one a group looks dead and empty, on 3.9 without any error."""
    cluster = Cluster(
        {
            (1, ListGroupsRequest): listing(("new", "Consumer", "Stable"), ("flow", "Streams", "Stable")),
            (1, ConsumerGroupDescribeRequest): Answer(
                groups=[
                    Answer(group_id="new", error_code=0, group_state="Reconciling", group_epoch=4,
                           assignor_name="uniform", members=[])
                ]
            ),
        }
    )  # fmt: skip
    coverage = Coverage("c")
    sender = cluster.sender(1)
    groups = describe_groups(sender, list_groups(sender, coverage), coverage).groups
    assert (groups["new"].type, groups["new"].state, groups["new"].generation) == (GroupType.CONSUMER, "Reconciling", 4)
    assert cluster.count(DescribeGroupsRequest) == 0
    assert words(coverage) == ["group flow: members: members of streams groups are not read yet"]


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
    assert words(coverage) == []


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
    assert words(coverage) == ["group g: members: the group is rebalancing (PreparingRebalance)"]


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
    assert words(coverage) == ["group g: members: the group vanished while it was read"]


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
    found = read_committed(sender, list_groups(sender, coverage), coverage)
    assert found == {"g": (CommittedOffset("t", 0, 5), CommittedOffset("t", 1, 8))}
    assert words(coverage) == [
        "group g: committed offset of t-3: TopicAuthorizationFailed (29)",
        "group h: committed offsets: GroupAuthorizationFailed (30)",
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
    assert words(coverage) == []


def test_offsets_that_stay_unknown_are_told_topic_by_topic():
    cluster = Cluster({(1, ListOffsetsRequest): ends({0: 29, 1: 29})})
    coverage = Coverage("c")
    starts, last = read_ends(cluster.sender(1), {("t", p): 1 for p in range(3)}, coverage)
    assert (set(starts), set(last)) == ({("t", 2)}, {("t", 2)})
    assert words(coverage) == [
        "topic t: end offset: partition 0, 1: TopicAuthorizationFailed (29)",
        "topic t: start offset: partition 0, 1: TopicAuthorizationFailed (29)",
    ]
