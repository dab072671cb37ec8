"""How far groups of every type have read; of share groups the start of what is in flight, and the lag as the broker
tells it (KIP-932, KIP-1226): they commit nothing, OffsetFetch would answer with no rows and no error.
"""

from __future__ import annotations

from typing import Any

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.group import CommittedOffset, GroupType
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.groups.groups import LOADING, ListedGroups
from rebalance_advisor.kafka.messages import DescribeShareGroupOffsetsRequest
from rebalance_advisor.kafka.offsets import read_committed
from rebalance_advisor.kafka.request_sender import RequestSender


def read_group_offsets(
    sender: RequestSender, listed: ListedGroups, coverage: Coverage
) -> dict[str, tuple[CommittedOffset, ...]]:
    """By group, of all types; a group that did not tell is absent."""
    return read_committed(sender, listed, coverage) | read_share_offsets(sender, listed, coverage)


def read_share_offsets(
    sender: RequestSender, listed: ListedGroups, coverage: Coverage
) -> dict[str, tuple[CommittedOffset, ...]]:
    """By share group; one request for each coordinator."""
    names = [name for name, group in listed.groups.items() if group.type is GroupType.SHARE]
    if names and sender.client.version_of(DescribeShareGroupOffsetsRequest) < 0:
        for name in names:
            coverage.add("group", name, FactCode.LACKS_COMMITS, FactCode.BROKERS_DO_NOT_TELL)
        return {}
    requests = {(broker, tuple(bundle)): (broker, _request(bundle)) for broker, bundle in listed.by_coordinator(names)}
    found: dict[str, tuple[CommittedOffset, ...]] = {}
    for (broker, bundle), answer in sender.send(requests, is_passing=_is_loading).items():
        if isinstance(answer, Exception):
            coverage.add_unanswered(broker, FactCode.LACKS_COMMITS_OF_GROUPS, answer, bundle)
            continue
        for row in answer.groups:
            if row.error_code:
                coverage.add_error("group", row.group_id, FactCode.LACKS_COMMITS, row.error_code)
            else:
                found[row.group_id] = _offsets(row.group_id, row.topics, coverage)
    return found


def _request(names: list[str]) -> Any:
    group = DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestGroup
    return DescribeShareGroupOffsetsRequest(groups=[group(group_id=name, topics=None) for name in names])


def _is_loading(answer: Any) -> bool:
    return any(row.error_code == LOADING for row in answer.groups)


def _offsets(group: str, topics: Any, coverage: Coverage) -> tuple[CommittedOffset, ...]:
    """A partition that nobody has read yet has no start."""
    found = []
    for topic in topics:
        for partition in topic.partitions:
            if partition.error_code:
                what = fact(FactCode.LACKS_COMMIT, topic=topic.topic_name, partition=partition.partition_index)
                coverage.add_error("group", group, what, partition.error_code)
            elif partition.start_offset >= 0:
                told = getattr(partition, "lag", None)  # version 1
                lag = None if told is None or told < 0 else int(told)
                found.append(CommittedOffset(topic.topic_name, partition.partition_index, partition.start_offset, lag))
    return tuple(sorted(found, key=lambda offset: (offset.topic, offset.partition)))
