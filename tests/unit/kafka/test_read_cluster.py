from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.protocol.admin import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
)
from kafka.protocol.consumer import ListOffsetsRequest, ListOffsetsResponse
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest, MetadataResponse

from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot
from rebalance_advisor.kafka.cluster_metadata import ClusterUnreadableError
from rebalance_advisor.kafka.connection import client
from rebalance_advisor.kafka.connection.properties import connection_settings
from rebalance_advisor.kafka.read_cluster import read_cluster, read_with_settings, round_seconds
from rebalance_advisor.kafka.request_sender import RequestCounts
from tests.unit.kafka.canned_broker import CannedBroker, closed_port, listening, topic_row

NOW = datetime(2026, 11, 20, 6, tzinfo=UTC)
# orders-0: on brokers 1 and 2. orders-1: led by 2, which does not answer. orders-2: no leader, and broker 3 is gone.
ORDERS = topic_row("orders", (1, [1, 2], [1]), (2, [2, 1], [2, 1]), (-1, [3], []))


def log_dirs(_: Any) -> Any:
    """One dir of 1,000 bytes: 300 free, 700 of orders-0."""
    result = DescribeLogDirsResponse.DescribeLogDirsResult
    topic = result.DescribeLogDirsTopic
    partition = topic.DescribeLogDirsPartition(partition_index=0, partition_size=700, offset_lag=0, is_future_key=False)
    log_dir_result = result(
        error_code=0, log_dir="/d", topics=[topic(name="orders", partitions=[partition])], total_bytes=1000,
        usable_bytes=300,
    )  # fmt: skip
    return DescribeLogDirsResponse(results=[log_dir_result], throttle_time_ms=0, error_code=0)


def configs(request: Any) -> Any:
    """Every resource has one set config and one of Kafka's defaults."""
    result = DescribeConfigsResponse.DescribeConfigsResult
    config = result.DescribeConfigsResourceResult
    values = [
        config(name=name, value=value, read_only=False, config_source=source, is_sensitive=False, synonyms=[])
        for name, value, source in (("retention.ms", "60000", 1), ("cleanup.policy", "delete", 5))
    ]
    return DescribeConfigsResponse(
        throttle_time_ms=0,
        results=[
            result(
                error_code=0, error_message=None, resource_type=asked.resource_type,
                resource_name=asked.resource_name, configs=values,
            )
            for asked in request.resources
        ],
    )  # fmt: skip


def offsets(request: Any) -> Any:
    """Each log begins at 10 and ends at 25."""
    topic_type = ListOffsetsResponse.ListOffsetsTopicResponse
    return ListOffsetsResponse(
        throttle_time_ms=0,
        topics=[
            topic_type(
                name=topic.name,
                partitions=[
                    topic_type.ListOffsetsPartitionResponse(
                        partition_index=row.partition_index, error_code=0, timestamp=-1,
                        offset=10 if row.timestamp == -2 else 25, leader_epoch=0,
                    )
                    for row in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )  # fmt: skip


def no_groups(_: Any) -> Any:
    return ListGroupsResponse(error_code=0, groups=[], throttle_time_ms=0)


ANSWERS = {
    DescribeLogDirsRequest: (4, log_dirs),
    DescribeConfigsRequest: (4, configs),
    ListGroupsRequest: (4, no_groups),
    ListOffsetsRequest: (6, offsets),
}


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Snapshot of a cluster whose broker 2 does not answer, and the reported steps."""
    monkeypatch.setattr(time, "sleep", lambda _: None)
    steps: list[str] = []
    broker = CannedBroker(dict(ANSWERS), [ORDERS], {2: ("127.0.0.1", closed_port())})
    with listening(broker) as where:
        snapshot = read_cluster(
            {"bootstrap.servers": where}, cluster_name=None, now=NOW, deadline_s=20, say=steps.append
        )
    return SimpleNamespace(snapshot=snapshot, steps=steps, asked=broker.asked)


def gaps(snapshot: ClusterSnapshot) -> dict[tuple[str, str, str], str]:
    return {(gap.subject_type, gap.subject, str(gap.what)): str(gap.reason) for gap in snapshot.coverage}


def test_answers_become_a_snapshot_and_brokers_that_only_replicas_name_are_dead(reading: SimpleNamespace) -> None:
    snapshot = reading.snapshot
    assert (snapshot.cluster, snapshot.cluster_id, snapshot.captured_at) == ("canned", "canned", NOW)
    assert snapshot.source == "live"
    assert [(broker.id, broker.state, broker.rack) for broker in snapshot.brokers] == [
        (1, BrokerState.ALIVE, "rack-1"), (2, BrokerState.REFUSED, "rack-2"), (3, BrokerState.DEAD, None),
    ]  # fmt: skip
    first = snapshot.brokers[0]
    assert first.is_controller
    assert [(log_dir.path, log_dir.total_bytes, log_dir.usable_bytes) for log_dir in first.log_dirs] == [
        ("/d", 1000, 300)
    ]
    rows = list(snapshot.each_partition())
    assert [(row.replicas, row.leader, row.isr) for row in rows] == [
        ((1, 2), 1, (1,)), ((2, 1), 2, (2, 1)), ((3,), None, ()),
    ]  # fmt: skip
    assert [row.log_bytes for row in rows] == [(700, None), (None, None), (None,)]
    assert [(row.start_offset, row.end_offset) for row in rows] == [(10, 25), (None, None), (None, None)]
    assert dict(snapshot.topics[0].configs) == {"retention.ms": "60000"}


def test_what_could_not_be_read_is_said_and_why(reading: SimpleNamespace) -> None:
    reported_gaps = gaps(reading.snapshot)
    no_leader = "of_partitions(partitions=1, first=[2], why=no_leader)"
    assert reported_gaps["topic", "orders", "lacks_offsets"] == no_leader
    silent = {what: why for (kind, subject, what), why in reported_gaps.items() if (kind, subject) == ("broker", "2")}
    (line,) = silent.items()
    parts = (
        "lacks_log_dirs, lacks_configs(kind=None), lacks_groups_of_broker, lacks_offsets_of_partitions(partitions=1)"
    )
    assert line[0] == f"lacks_parts(parts=[{parts}])"
    refused = r"state='refused', why=as_reported\(text='Connection refused'\), address='127\.0\.0\.1:\d+'"
    assert re.fullmatch(rf"broker_unheard\({refused}\)", line[1])
    assert reported_gaps["broker", "3", "lacks_everything"] == "broker_not_registered"
    for what in ("lacks_reassignments", "lacks_fenced_brokers"):
        assert reported_gaps["cluster", "canned", what].startswith("request_failed(kind='IncompatibleBrokerVersion', ")


def test_commits_would_be_read_before_ends_and_each_step_is_told(reading: SimpleNamespace) -> None:
    assert reading.steps == [
        "connecting",
        "reading brokers, topics and partitions",
        "reading log dirs and configs of 3 partitions on 2 brokers",
        "reading groups",
        "reading offsets",
        "looking for what changed meanwhile",
    ]
    order = [name for name in reading.asked if name in {"ListGroupsRequest", "ListOffsetsRequest"}]
    assert order == ["ListGroupsRequest", "ListOffsetsRequest", "ListOffsetsRequest"]


def test_an_isr_that_shrinks_while_we_read_is_shown_with_those_who_may_lead() -> None:
    """Both are in sync at first; when configs are read, broker 2 has left, and orders needs two."""

    def shrinking(request: Any) -> Any:
        broker.rows = [topic_row("orders", (1, [1, 2], [1]))]
        answer = configs(request)
        for row in answer.results:
            row.configs[0].name, row.configs[0].value = "min.insync.replicas", "2"
        return answer

    def eligible(_: Any) -> Any:
        topic = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic
        row = topic.DescribeTopicPartitionsResponsePartition(
            error_code=0, partition_index=0, leader_id=1, leader_epoch=0, replica_nodes=[1, 2], isr_nodes=[1],
            eligible_leader_replicas=[2], last_known_elr=None, offline_replicas=[],
        )  # fmt: skip
        topic_answer = topic(
            error_code=0, name="orders", is_internal=False, partitions=[row], topic_authorized_operations=0
        )
        return DescribeTopicPartitionsResponse(throttle_time_ms=0, topics=[topic_answer], next_cursor=None)

    answers = ANSWERS | {
        DescribeConfigsRequest: (4, shrinking),
        DescribeTopicPartitionsRequest: (0, eligible),
    }
    broker = CannedBroker(answers, [topic_row("orders", (1, [1, 2], [1, 2]))])
    with listening(broker) as where:
        snapshot = read_cluster({}, bootstrap=where, cluster_name="c", now=NOW, deadline_s=20)
    (row,) = snapshot.each_partition()
    assert (row.isr, row.eligible) == ((1,), (2,))
    assert broker.asked.index("DescribeTopicPartitionsRequest") > broker.asked.index("MetadataRequest", 3)


def test_a_name_of_ones_own_is_the_clusters_name() -> None:
    with listening(CannedBroker(dict(ANSWERS), [topic_row("t", (1, [1], [1]))])) as where:
        snapshot = read_cluster({}, bootstrap=where, cluster_name="prod", now=NOW, deadline_s=20)
    assert (snapshot.cluster, snapshot.cluster_id) == ("prod", "canned")
    # The log dirs hold a topic that metadata does not name.
    on_disk = "topic_on_disk(why=None, is_refused=False)"
    assert gaps(snapshot)["topic", "orders", "lacks_all_but_size"] == on_disk
    assert {gap.subject for gap in snapshot.coverage if gap.subject_type == "cluster"} == {"prod"}


def test_the_number_of_requests_does_not_grow_with_topics_and_partitions() -> None:
    """One broker with 1 topic of 1 partition, and with 200 topics of 5: the same requests, counted by kind."""
    results = []
    for topics, partitions in ((1, 1), (200, 5)):
        counts = RequestCounts()
        rows = [topic_row(f"t{i}", *[(1, [1], [1])] * partitions) for i in range(topics)]
        with listening(CannedBroker(dict(ANSWERS), rows)) as where:
            settings = connection_settings({"bootstrap.servers": where})
            snapshot = read_with_settings(settings, cluster_name="c", now=NOW, counts=counts)
        assert len(snapshot.partitions) == topics * partitions
        assert {row.end_offset for row in snapshot.each_partition()} == {25}
        results.append(counts)
    assert results[0] == results[1]
    assert results[0].lines() == (
        # At first, at the end, and of the one topic that only log dirs name.
        "4 requests for the cluster: ApiVersions 1, Metadata 3",
        "5 requests to broker 1: DescribeConfigs 1, DescribeLogDirs 1, ListGroups 1, ListOffsets 2",
    )
    assert (results[0].total, results[0].most_to_a_broker) == (9, 5)


def test_where_no_broker_answers_under_its_own_address_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bootstrap server accepts us and advertises an address without listener."""
    monkeypatch.setattr(time, "sleep", lambda _: None)
    broker = CannedBroker(dict(ANSWERS), [ORDERS], {1: ("127.0.0.1", closed_port())})
    with (
        listening(broker) as where,
        pytest.raises(
            ClusterUnreadableError, match=r"1 at 127\.0\.0\.1:\d+: Connection refused.*advertised\.listeners"
        ),
    ):
        read_cluster({"bootstrap.servers": where}, cluster_name=None, now=NOW, deadline_s=20)


@pytest.mark.parametrize(
    ("request_timeout_ms", "deadline_s", "seconds"),
    [(None, 120, 5), (None, 20, 5), (None, 240, 10), (30_000, 120, 5), (3_000, 120, 3), (8_000, 240, 8)],
)
def test_the_users_limit_of_a_request_shortens_a_round_and_a_longer_deadline_lengthens_it(
    request_timeout_ms: int | None, deadline_s: float, seconds: float
) -> None:
    assert round_seconds(request_timeout_ms, deadline_s) == seconds


def goes_after_the_probe(is_asked: Callable[[], object] = lambda: None) -> CannedBroker:
    """It sends its metadata once, and then disconnects."""
    left = [1]

    def metadata(_: Any) -> Any:
        is_asked()
        return MetadataResponse(brokers=[], cluster_id="x", controller_id=1, topics=[]) if left and left.pop() else None

    return CannedBroker({MetadataRequest: (7, metadata)})


def test_a_server_that_goes_between_the_probe_and_the_reading_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of two servers lets us in after the first, which is taken; alone it would be an error in words."""
    monkeypatch.setattr(client, "CONNECT_SECONDS", 3.0)
    slow = CannedBroker(dict(ANSWERS), [topic_row("t", (1, [1], [1]))])
    versions = slow.answers[ApiVersionsRequest][1]
    slow.answers[ApiVersionsRequest] = (4, lambda request: (is_taken.wait(300), versions(request))[1])
    is_taken = threading.Event()
    with listening(goes_after_the_probe(is_taken.set)) as first, listening(slow) as second:
        snapshot = read_cluster({}, bootstrap=f"{first},{second}", cluster_name="c", now=NOW)
    assert [topic.name for topic in snapshot.topics] == ["t"]
    with (
        listening(goes_after_the_probe()) as first,
        pytest.raises(ClusterUnreadableError, match=r"127\.0\.0\.1:\d+: it let us in and then told nothing \(.*\)"),
    ):
        read_cluster({}, bootstrap=first, cluster_name="c", now=NOW)


def test_a_time_without_a_zone_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        read_cluster({}, bootstrap="b:1", cluster_name="c", now=datetime(2026, 11, 20))  # noqa: DTZ001
