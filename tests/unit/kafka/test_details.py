from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace as Answer
from typing import Any
from uuid import UUID

from kafka.protocol.admin import DescribeClientQuotasRequest, DescribeConfigsRequest, DescribeTopicPartitionsRequest
from kafka.protocol.consumer import ListOffsetsRequest
from kafka.protocol.metadata import ApiVersionsRequest

from kafka_rebalance.snapshot.coverage import Right
from kafka_rebalance.snapshot.model import Group, GroupType, LogDir, Quota
from kafka_rebalance.snapshot.partition_table import FutureReplica
from rebalance_advisor.kafka.cluster_metadata import ClusterMetadata, SeenBroker, SeenPartition, SeenTopic
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.read_cluster import (
    Configs,
    EligibleLeaders,
    Reading,
    Storage,
    assemble_snapshot,
    read_details,
    read_eligible_leaders,
    read_features,
    read_local_starts,
    read_quotas,
    with_eligible_leaders,
    with_group_configs,
)
from tests.unit.kafka.canned_cluster import SILENT, Cluster, error, gap_texts, rights


def answered(read: Any, request: type, answer: Any, *given: Any) -> tuple[Any, list[str], tuple[Right, ...]]:
    """Result of this answer of broker 1, the gaps, and missing rights."""
    coverage = Coverage("c")
    result = read(Cluster({(1, request): answer}).sender(1), *given, coverage)
    return result, gap_texts(coverage), rights(coverage)


def test_features_are_the_finalized_levels() -> None:
    rows = [Answer(name="metadata.version", max_version_level=30, min_version_level=30)]
    assert answered(read_features, ApiVersionsRequest, Answer(finalized_features=rows))[0] == {"metadata.version": 30}
    assert answered(read_features, ApiVersionsRequest, Answer(finalized_features=None))[0] == {}
    (gap,) = answered(read_features, ApiVersionsRequest, TimeoutError("slow"))[1]
    assert gap == f"cluster c: lacks_features: {SILENT}"
    old = Cluster({}, {ApiVersionsRequest: 2})
    assert (read_features(old.sender(1), Coverage("c")), old.asked) == ({}, [])


def test_quotas_are_told_by_entity_and_a_refusal_names_the_right() -> None:
    def entry(values: dict[str, float], **entity: str | None) -> Answer:
        return Answer(
            entity=[Answer(entity_type=kind.replace("_", "-"), entity_name=name) for kind, name in entity.items()],
            values=[Answer(key=key, value=value) for key, value in values.items()],
        )

    entries = [
        entry({"producer_byte_rate": 1e6}, user="b", client_id=None),
        entry({"request_percentage": 50.0, "consumer_byte_rate": float("inf")}, user="a"),
    ]
    result, gaps, _ = answered(read_quotas, DescribeClientQuotasRequest, Answer(error_code=0, entries=entries))
    assert (result, gaps) == (
        (
            Quota((("client-id", None), ("user", "b")), {"producer_byte_rate": 1e6}),
            Quota((("user", "a"),), {"request_percentage": 50.0}),
        ),
        [],
    )
    refused = answered(read_quotas, DescribeClientQuotasRequest, Answer(error_code=31, entries=None))
    assert refused == (
        (),
        [f"cluster c: lacks_quotas: {error('ClusterAuthorizationFailed', 31)}"],
        (Right.BROKER_CONFIGS,),
    )


def test_configs_of_groups_are_those_that_somebody_set_and_classic_groups_are_not_asked() -> None:
    groups = (Group("a", GroupType.CONSUMER), Group("b", GroupType.SHARE), Group("c"))
    rows = [
        Answer(name="consumer.session.timeout.ms", value="45000", config_source=5),
        Answer(name="consumer.heartbeat.interval.ms", value="3000", config_source=8),
    ]
    answer = Answer(
        results=[
            Answer(error_code=0, resource_name="a", configs=rows),
            Answer(error_code=30, resource_name="b", configs=[]),
        ]
    )
    result, gaps, missing = answered(with_group_configs, DescribeConfigsRequest, answer, groups)
    assert [dict(group.configs) for group in result] == [{"consumer.heartbeat.interval.ms": "3000"}, {}, {}]
    assert (gaps, missing) == (
        [f"group b: lacks_configs(kind=None): {error('GroupAuthorizationFailed', 30)}"],
        (Right.GROUP_CONFIGS,),
    )
    old = Answer(results=[Answer(error_code=42, resource_name="a", configs=[])])
    assert answered(with_group_configs, DescribeConfigsRequest, old, groups[:1]) == (groups[:1], [], ())
    classic = Cluster({})
    assert with_group_configs(classic.sender(1), (Group("c"),), Coverage("c")) == (Group("c"),)
    assert classic.asked == []


def short(topic: str, partition: int, *isr: int) -> SeenPartition:
    return SeenPartition(topic, partition, isr[0] if isr else None, (1, 2, 3), isr, ())


TOLD_ID = "AAAAAAAAAAAAAAAAAAAABw"  # UUID 7 as Kafka prints it


def told_topic(name: str, *rows: Answer, error_code: int = 0) -> Answer:
    return Answer(name=name, topic_id=UUID(int=7), partitions=rows, error_code=error_code)


def shown(
    partition: int, isr: list[int], eligible: list[int], replicas: tuple[int, ...] = (1, 2, 3), offline: Any = ()
) -> Answer:
    return Answer(
        partition_index=partition, leader_id=isr[0] if isr else -1, replica_nodes=list(replicas), isr_nodes=isr,
        offline_replicas=list(offline), eligible_leader_replicas=eligible, error_code=0 if isr else 5,
    )  # fmt: skip


def test_eligible_leaders_are_asked_only_where_an_isr_is_short_and_one_page_at_most() -> None:
    rows = [shown(0, [1], [3, 2]), shown(1, [1, 2, 3], [])]
    page = Answer(topics=[told_topic("t", *rows)], next_cursor=Answer(topic_name="u", partition_index=0))
    result, gaps, _ = answered(read_eligible_leaders, DescribeTopicPartitionsRequest, page, [short("t", 0, 1)])
    assert result == [EligibleLeaders("t", TOLD_ID, 0, 1, (1, 2, 3), (1,), (), (3, 2))]
    assert gaps == ["cluster c: lacks_eligible_leaders: more_than_a_page(partitions=2000, topic='u')"]
    healthy = Cluster({})
    assert read_eligible_leaders(healthy.sender(1), [], Coverage("c")) == []
    assert healthy.asked == []


def seen(*rows: SeenPartition, topic_id: str | None = TOLD_ID) -> Reading:
    """Result for topic t, which needs three in-sync replicas."""
    metadata = ClusterMetadata("id", 1, (), (SeenTopic("t", topic_id, is_internal=False),), rows)
    return Reading(metadata, Storage(), Configs({"t": {"min.insync.replicas": "3"}}), {}, {})


def test_the_isr_is_taken_from_the_answer_that_names_the_eligible_ones() -> None:
    """ISR and eligible replicas come from one answer: never a mix of two moments."""
    page = Answer(
        topics=[told_topic("t", shown(0, [], [2], offline=[1]), shown(1, [2, 1], []), shown(2, [4], [2], (4, 2, 3)))],
        next_cursor=None,
    )
    reading = seen(short("t", 0, 1, 2), short("t", 1, 2), short("t", 2, 3))
    coverage = Coverage("c")
    result = with_eligible_leaders(Cluster({(1, DescribeTopicPartitionsRequest): page}).sender(1), reading, coverage)
    lost = replace(short("t", 0), offline=(1,))
    assert result.metadata.partitions == (lost, short("t", 1, 2, 1), short("t", 2, 3))
    assert result.eligible == {("t", 0): (2,)}
    assert gap_texts(coverage) == [
        "topic t: lacks_eligible_leaders: of_partitions(partitions=1, first=[2], why=changed_while_read)"
    ]


def test_a_topic_made_anew_or_gone_before_it_was_asked_has_nobody_eligible_and_that_is_told() -> None:
    anew = Answer(topics=[told_topic("t", shown(0, [1], [2]))], next_cursor=None)
    gone = Answer(topics=[told_topic("t", error_code=3)], next_cursor=None)
    reading = seen(short("t", 0, 1, 2), topic_id="another")
    for page, why in (
        (anew, "of_partitions(partitions=1, first=[0], why=changed_while_read)"),
        (gone, error("UnknownTopicOrPartition", 3)),
    ):
        coverage = Coverage("c")
        result = with_eligible_leaders(
            Cluster({(1, DescribeTopicPartitionsRequest): page}).sender(1), reading, coverage
        )
        assert (result.metadata, result.eligible) == (reading.metadata, {})
        assert gap_texts(coverage) == [f"topic t: lacks_eligible_leaders: {why}"]


def test_where_tiered_topics_begin_on_disk_is_asked_of_their_leaders() -> None:
    def answer(request: Any) -> Any:
        (topic,) = request.topics
        assert [row.timestamp for row in topic.partitions] == [-4, -4, -4]
        rows = [
            Answer(partition_index=row.partition_index, error_code=code, offset=offset)
            for row, (code, offset) in zip(topic.partitions, ((0, 70), (0, -1), (29, -1)), strict=True)
        ]
        return Answer(topics=[Answer(name=topic.name, partitions=rows)])

    leaders = {("cold", number): 1 for number in range(3)}
    result, gaps, missing = answered(read_local_starts, ListOffsetsRequest, answer, leaders)
    assert (result, missing) == ({("cold", 0): 70}, (Right.DESCRIBE_TOPICS,))
    refused = f"of_partitions(partitions=1, first=[2], why={error('TopicAuthorizationFailed', 29)})"
    assert gaps == [f"topic cold: lacks_local_start_offsets: {refused}"]
    (late,) = answered(read_local_starts, ListOffsetsRequest, TimeoutError("slow"), leaders)[1]
    assert late.startswith("broker 1: lacks_parts(parts=[lacks_offsets_of_partitions(partitions=3)]): broker_unheard(")
    old, coverage = Cluster({}, {ListOffsetsRequest: 6}), Coverage("c")
    assert read_local_starts(old.sender(1), leaders, coverage) == {}
    assert gap_texts(coverage) == [
        "topic cold: lacks_local_start_offsets: of_partitions(partitions=3, first=[0, 1, 2], why=brokers_do_not_tell)"
    ]


def test_a_whole_reading_carries_it_into_the_snapshot() -> None:
    """Broker 1 has two dirs, the replica of t-0 moves from the first to the second; t needs two in-sync replicas."""
    metadata = ClusterMetadata(
        "id", 1, tuple(SeenBroker(broker, "h", 9092, None) for broker in (1, 2, 3)),
        (SeenTopic("t", None, is_internal=False), SeenTopic("cold", None, is_internal=False)),
        (short("t", 0, 1), SeenPartition("cold", 0, 2, (2,), (2,), ())),
    )  # fmt: skip
    storage = Storage(
        {1: (LogDir("/a"), LogDir("/b")), 2: (LogDir("/a"),)}, {1: {("t", 0): 50}, 2: {("cold", 0): 9}},
        {1: {("t", 0): 0}, 2: {}}, {1: {("t", 0): (1, 20)}},
    )  # fmt: skip
    configs = Configs({"t": {"min.insync.replicas": "2"}, "cold": {"remote.storage.enable": "true"}})
    partition = shown(0, [1], [2, 9])
    local = Answer(partition_index=0, error_code=0, offset=7)
    cluster = Cluster(
        {
            (1, ApiVersionsRequest): Answer(finalized_features=[Answer(name="group.version", max_version_level=1)]),
            (1, DescribeClientQuotasRequest): Answer(error_code=0, entries=[]),
            (1, DescribeTopicPartitionsRequest): Answer(topics=[told_topic("t", partition)], next_cursor=None),
            (2, ListOffsetsRequest): Answer(topics=[Answer(name="cold", partitions=[local])]),
        }
    )
    coverage = Coverage("c")
    reading = Reading(metadata, storage, configs, {}, {})
    reading = read_details(cluster.sender(1, 2), reading, {("t", 0): 1, ("cold", 0): 2}, coverage)
    reading = with_eligible_leaders(cluster.sender(1, 2), reading, coverage)
    assert (gap_texts(coverage), len(cluster.asked)) == ([], 4)
    snapshot = assemble_snapshot("c", reading)
    assert snapshot.features == {"group.version": 1}
    first, cold = snapshot.each_partition()
    assert (first.eligible, first.log_dirs, first.future) == ((2,), (0, None, None), (FutureReplica(1, 1, 20),))
    assert (cold.local_start_offset, cold.log_dirs, first.local_start_offset) == (7, (None,), None)
