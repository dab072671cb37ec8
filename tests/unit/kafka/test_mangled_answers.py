"""Snapshots with one broker's answers to one kind of request mangled at random, with fixed seeds.

Each ends with a snapshot or a clean error. Only values of the mangled answer differ, and the coverage names the
broker.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import pytest
from kafka.protocol.admin import (
    DescribeClientQuotasRequest,
    DescribeClusterRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    DescribeLogDirsRequest,
    DescribeQuorumRequest,
    DescribeTopicPartitionsRequest,
    ListGroupsRequest,
    ListPartitionReassignmentsRequest,
)
from kafka.protocol.consumer import FetchRequest, FetchResponse, ListOffsetsRequest, OffsetFetchRequest
from kafka.protocol.metadata import ApiVersionsRequest, FindCoordinatorRequest, MetadataRequest

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.kafka.cluster_metadata import ClusterUnreadableError
from rebalance_advisor.kafka.messages import (
    ConsumerGroupDescribeRequest,
    DescribeShareGroupOffsetsRequest,
    ShareGroupDescribeRequest,
    StreamsGroupDescribeRequest,
)
from rebalance_advisor.kafka.read_cluster import read_with_sender
from rebalance_advisor.kafka.request_sender import MangledAnswerError, RequestSender, checked
from tests.unit.kafka.wire_cluster import APIS, BROKERS, GROUPS, MOVED, TOPICS, Mangling, WireClient, built

CASES, FAST_CASES = 1_200, 240
HOWS = ("byte", "null", "byte", "cut", "byte", "repeat", "twice", "gone", "minus")
# Lists that may be null, and are then as good as empty.
NULLABLE = {DescribeClientQuotasRequest, DescribeTopicPartitionsRequest, StreamsGroupDescribeRequest}
Path = tuple[Any, ...]


def read(client: WireClient) -> tuple[ClusterSnapshot, RequestSender]:
    sender = RequestSender(client, BROKERS, 1e9, 5.0, clock=lambda: 0.0, sleep=lambda _: None)
    return read_with_sender(sender, cluster_name="c"), sender


def facts(snapshot: ClusterSnapshot) -> dict[Path, Any]:
    """All of a snapshot but its coverage, each under a path that names its source."""
    results: dict[Path, Any] = {
        ("quotas",): snapshot.quotas, ("features",): snapshot.features, ("id",): snapshot.cluster_id,
    }  # fmt: skip
    for broker in snapshot.brokers:
        for name in ("rack", "host", "port", "state", "is_controller", "log_dirs", "configs"):
            results["broker", broker.id, name] = getattr(broker, name)
    for topic in snapshot.topics:
        results["topic", topic.name, "id"], results["topic", topic.name, "configs"] = topic.topic_id, topic.configs
    for row in snapshot.each_partition():
        key = (row.topic, row.partition)
        for name in ("replicas", "leader", "isr", "adding", "removing", "offline", "eligible"):
            results["row", *key, name] = getattr(row, name)
        for name in ("start_offset", "end_offset", "local_start_offset"):
            results["offset", *key, name] = getattr(row, name)
        for at, broker in enumerate(row.replicas):
            results["held", broker, *key] = (row.log_bytes[at], row.log_dirs[at] if row.log_dirs else None)
        for future in row.future:
            results["held", future.broker, *key, "future"] = future
    for group in snapshot.groups:
        for name in ("type", "state", "protocol", "generation", "coordinator", "members", "committed", "configs"):
            results["group", group.id, name] = getattr(group, name)
    return results


def _leads(path: Path, broker: int) -> bool:
    return path[0] == "offset" and TOPICS[path[1]][path[2]][0] == broker


def _coordinates(path: Path, broker: int) -> bool:
    """Groups that it lists or coordinates, and names that no group has."""
    if path[0] != "group":
        return False
    name = path[1]
    return name not in GROUPS or broker in (GROUPS[name][1], MOVED.get(name))


def _is_of_row(path: Path, *names: str) -> bool:
    return path[0] == "row" and path[-1] in names


_MOMENT = ("leader", "isr", "offline", "eligible")
# Request → whether a path comes from this broker's answer to it.
TOLD: dict[Any, Callable[[Path, int], bool]] = {
    ApiVersionsRequest: lambda path, _: path == ("features",),
    ConsumerGroupDescribeRequest: _coordinates,
    DescribeClientQuotasRequest: lambda path, _: path == ("quotas",),
    DescribeClusterRequest: lambda path, _: path[0] == "broker",
    DescribeConfigsRequest: lambda path, _: (
        path[-1] in ("configs", "local_start_offset")
        or _is_of_row(path, *_MOMENT)  # min.insync.replicas, tiered topics
    ),
    DescribeGroupsRequest: _coordinates,
    DescribeLogDirsRequest: lambda path, broker: path[:2] == ("held", broker) or path == ("broker", broker, "log_dirs"),
    DescribeQuorumRequest: lambda path, _: path[-1] == "is_controller",
    DescribeShareGroupOffsetsRequest: _coordinates,
    DescribeTopicPartitionsRequest: lambda path, _: _is_of_row(path, *_MOMENT),
    FindCoordinatorRequest: lambda path, _: path[0] == "group" and path[1] in MOVED,
    ListGroupsRequest: _coordinates,
    ListOffsetsRequest: _leads,
    ListPartitionReassignmentsRequest: lambda path, _: _is_of_row(path, "adding", "removing"),
    MetadataRequest: lambda _path, _broker: True,
    OffsetFetchRequest: _coordinates,
    ShareGroupDescribeRequest: _coordinates,
    StreamsGroupDescribeRequest: _coordinates,
}


@pytest.fixture(scope="module")
def whole() -> tuple[ClusterSnapshot, list[tuple[int, Any]]]:
    """Snapshot without a fault, and its requests."""
    client = WireClient()
    snapshot, sender = read(client)
    assert sender.mangled == {}
    return snapshot, sorted(set(client.asked), key=lambda asked: (asked[0], asked[1].__name__))


def test_the_whole_reading_asks_everything_and_lacks_nothing(whole: Any) -> None:
    snapshot, asked = whole
    assert {request for _, request in asked} == set(APIS) == set(TOLD)
    assert snapshot.coverage == ()
    assert len(facts(snapshot)) > 150


def run(numbers: range, whole: tuple[ClusterSnapshot, list[tuple[int, Any]]]) -> dict[str, int]:
    """Number of cases by outcome."""
    reference, asked = whole
    before = facts(reference)
    ends = {"same": 0, "told": 0, "another value": 0, "refused": 0}
    for number in numbers:
        broker, request = asked[number % len(asked)]
        how = HOWS[number // len(asked) % len(HOWS)]
        mangling = Mangling(broker, request, how, number, is_for_ever=random.Random(number).random() < 0.8)
        case = f"case {number}: {how} in {request.__name__} of broker {broker}"
        try:
            snapshot, _ = read(WireClient(mangling))
        except AdvisorError:
            ends["refused"] += 1
            assert request is MetadataRequest, case
            continue
        except Exception as failure:
            raise AssertionError(f"{case}: {failure!r}") from failure
        assert mangling.count, case
        after = facts(snapshot)
        changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        strange = [path for path in changed if not TOLD[request](path, broker)]
        assert strange == [], case
        new = set(snapshot.coverage) - set(reference.coverage)
        is_named = any(gap.subject == str(broker) or "MangledAnswer" in str(gap.reason) for gap in new)
        if how == "cut" or (how in ("null", "twice") and request not in NULLABLE):
            # Such an answer is never taken for a right one.
            assert not changed or is_named, (case, changed)
        ends["told" if is_named else "another value" if changed or new else "same"] += 1
    return ends


def test_mangled_answers_of_one_broker_change_nothing_else(whole: Any) -> None:
    ends = run(range(FAST_CASES), whole)
    assert min(ends["same"], ends["told"], ends["another value"]) > 20, ends


@pytest.mark.slow
def test_many_more_mangled_answers(whole: Any) -> None:
    ends = run(range(FAST_CASES, CASES), whole)
    assert min(ends["same"], ends["told"], ends["another value"]) > 80, ends


def answered(request: Any, change: Callable[[Any], Any], broker: int = 3) -> Any:
    """Result of ``checked`` for the answer to ``request``, after ``change`` of its fields."""
    newest, kind, answer = APIS[type(request)]
    fields = copy.deepcopy(answer(broker, request))
    change(fields)
    return checked(request, built(kind, fields, newest))


def ends_of(*partitions: int) -> Any:
    topic = ListOffsetsRequest.ListOffsetsTopic
    rows = [topic.ListOffsetsPartition(partition_index=i, timestamp=-1) for i in partitions]
    return ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=[topic(name="orders", partitions=rows)])


def everything() -> Any:
    return MetadataRequest(topics=None)


def first(*names: str | int) -> Callable[[Any], Any]:
    """The part of an answer's fields under these names."""

    def part(fields: Any) -> Any:
        for name in names:
            fields = fields[name]
        return fields

    return part


PARTITION = first("topics", 0, "partitions", 0)
RULES: list[tuple[Any, Callable[[Any], Any], str]] = [
    (everything(), lambda fields: fields.update(brokers=None), "brokers is null"),
    (everything(), lambda fields: fields["brokers"][0].update(host=None), "host is null"),
    (everything(), lambda fields: fields["brokers"][0].update(port=70_000), "port is 70,000"),
    (everything(), lambda fields: fields["brokers"][0].update(node_id=2), "two of its brokers are the same"),
    (everything(), lambda fields: fields["topics"][0].update(name="a b"), "it names topic 'a b': a topic's name is"),
    (everything(), lambda fields: fields["topics"][0].update(name="orders"), "two of its topics are the same"),
    (everything(), lambda fields: PARTITION(fields).update(partition_index=-1), "partition_index is -1"),
    (everything(), lambda fields: PARTITION(fields).update(partition_index=1), "two of its partitions are the same"),
    (everything(), lambda fields: PARTITION(fields).update(replica_nodes=[1, 1]), "replica_nodes are [1, 1]"),
    (everything(), lambda fields: PARTITION(fields).update(replica_nodes=[]), "partition 0 has no replicas"),
    (everything(), lambda fields: PARTITION(fields).update(offline_replicas=[9]), "or others are offline"),
    (everything(), lambda fields: PARTITION(fields).update(leader_id=9), "partition 0 is led by 9, no replica of it"),
    (everything(), lambda fields: PARTITION(fields).update(leader_id=-5), "leader_id is -5"),
    (ends_of(0), lambda fields: PARTITION(fields).update(offset=-2), "offset is -2"),
    (ends_of(0), lambda fields: PARTITION(fields).update(partition_index=1), "it tells of ('orders', 1), which it was"),
    (ends_of(0, 1), lambda fields: first("topics", 0, "partitions")(fields).pop(), "it does not tell of ('orders', 1)"),
    (
        DescribeLogDirsRequest(topics=None),
        lambda fields: first("results", 0, "topics", 0, "partitions", 0)(fields).update(partition_size=-7),
        "partition_size is -7",
    ),
    (
        ConsumerGroupDescribeRequest(group_ids=["search"]),
        lambda fields: first("groups", 0, "members", 0)(fields).update(subscribed_topic_names=["a", "a"]),
        "two of its subscribed_topic_names are the same",
    ),
]


@pytest.mark.parametrize(("request_", "change", "message"), RULES, ids=[text for _, _, text in RULES])
def test_each_rule_has_an_answer_that_breaks_it(request_: Any, change: Callable[[Any], Any], message: str) -> None:
    assert not isinstance(answered(request_, lambda _: None), Exception)
    mangled = answered(request_, change)
    assert isinstance(mangled, MangledAnswerError)
    assert message in str(mangled)


def test_tagged_fields_may_be_left_out() -> None:
    """Brokers send the leader of a fetched partition only where it moved."""
    topic = FetchRequest.FetchTopic
    rows = [topic.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)]
    request = FetchRequest(topics=[topic(topic="orders", partitions=rows)])
    fields = {"responses": [{"topic": "orders", "partitions": [{"partition_index": 0, "aborted_transactions": []}]}]}
    answer = FetchResponse.decode(bytes(built(FetchResponse, fields, 12).encode(version=12)), version=12)
    assert answer.responses[0].partitions[0].current_leader is None
    assert checked(request, answer) is answer


def test_a_row_with_an_error_may_tell_nothing_else() -> None:
    """Kafka fills its other fields with -1."""
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=["no-such-group"])
    assert answered(request, lambda _: None).coordinators[0].node_id == -1
    refused = answered(DescribeQuorumRequest(topics=[]), lambda fields: fields.update(error_code=31, topics=[]))
    assert refused.error_code == 31


def test_what_any_broker_can_tell_is_told_by_the_next_one_and_the_mangled_one_is_named() -> None:
    """A passing fault costs one more request; a lasting one goes to another broker."""
    for is_for_ever in (True, False):
        client = WireClient(Mangling(1, MetadataRequest, "cut", 3, is_for_ever=is_for_ever))
        sender = RequestSender(client, BROKERS, 1e9, 5.0, clock=lambda: 0.0, sleep=lambda _: None)
        answer = sender.send_to_any(everything())
        assert [topic.name for topic in answer.topics] == list(TOPICS)
        assert [broker for broker, _ in client.asked] == ([1, 1, 2] if is_for_ever else [1, 1])
        assert list(sender.mangled) == ([1] if is_for_ever else [])
        assert sender.unresponsive == {}


def test_where_every_broker_mangles_the_metadata_the_reading_ends_with_a_clean_error() -> None:
    class Mangled(Mangling):
        def concerns(self, broker: int, request: Any) -> bool:
            return isinstance(request, MetadataRequest)

    with pytest.raises(ClusterUnreadableError, match="no broker told the cluster's metadata"):
        read(WireClient(Mangled(1, MetadataRequest, "cut", 3, is_for_ever=True)))
