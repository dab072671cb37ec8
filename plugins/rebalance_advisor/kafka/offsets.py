"""Committed offsets of every group, then first and last offsets of every partition: in this order.

The end is read after the commits, so that a lag is never negative.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from kafka.protocol.consumer import ListOffsetsRequest, OffsetFetchRequest

from kafka_rebalance.snapshot.model import CommittedOffset, GroupType
from rebalance_advisor.kafka.cluster_metadata import SeenPartition, refreshed_leaders
from rebalance_advisor.kafka.connection.client import error_name, reason_of
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.groups.groups import LOADING, ListedGroups
from rebalance_advisor.kafka.request_sender import RequestSender

TopicPartition = tuple[str, int]
EARLIEST, LATEST = -2, -1
_WHAT = {EARLIEST: "start offset", LATEST: "end offset"}
_PARTITIONS_A_QUESTION = 5_000
_LEADER_MOVED = (5, 6, 74, 75, 76)  # leader not available, not leader, fenced or unknown epoch, offset not available
_BATCHED = 8  # OffsetFetch from this version on takes many groups


def read_committed(
    sender: RequestSender, listed: ListedGroups, coverage: Coverage
) -> dict[str, tuple[CommittedOffset, ...]]:
    """Committed offsets by group; share groups commit none."""
    names = [name for name, group in listed.groups.items() if group.type is not GroupType.SHARE]
    is_batched = sender.client.version_of(OffsetFetchRequest) >= _BATCHED
    requests: dict[tuple[str, ...], tuple[int, Any]] = {}
    for broker, bundle in listed.by_coordinator(names):
        for part in [bundle] if is_batched else [[name] for name in bundle]:
            requests[tuple(part)] = (broker, _fetch(part, is_batched=is_batched))
    found: dict[str, tuple[CommittedOffset, ...]] = {}
    for bundle_names, answer in sender.send(requests, is_passing=_is_loading).items():
        if isinstance(answer, Exception):
            for name in bundle_names:
                coverage.add("group", name, "committed offsets", reason_of(answer))
            continue
        rows = answer.groups if is_batched else [answer]
        for name, row in zip(bundle_names, rows, strict=False):
            group = row.group_id if is_batched else name
            if row.error_code:
                coverage.add_error("group", group, "committed offsets", row.error_code)
            else:
                found[group] = _committed(group, row.topics, coverage)
    return found


def leaders_of(
    partitions: Iterable[SeenPartition], brokers: tuple[int, ...], coverage: Coverage
) -> dict[TopicPartition, int]:
    """The leader of each partition that one can ask."""
    found = {}
    silent: dict[int, int] = {}
    for partition in partitions:
        if partition.leader is None:
            coverage.add_partition(partition.topic, partition.partition, "offsets", "no leader")
        elif partition.leader not in brokers:
            silent[partition.leader] = silent.get(partition.leader, 0) + 1
        else:
            found[partition.topic, partition.partition] = partition.leader
    for broker, count in silent.items():
        coverage.add("broker", broker, f"offsets of the {count} partitions it leads", "does not answer")
    return found


def read_ends(
    sender: RequestSender, leaders: Mapping[TopicPartition, int], coverage: Coverage
) -> tuple[dict[TopicPartition, int], dict[TopicPartition, int]]:
    """(start offsets, end offsets) of the partitions that have a leader; a leader that moved is asked for once more."""
    wanted = {(when, key): broker for key, broker in leaders.items() for when in (LATEST, EARLIEST)}
    found, failed = _list_offsets(sender, wanted)
    moved = {key for key, (code, _) in failed.items() if code in _LEADER_MOVED}
    if moved:
        fresh = refreshed_leaders(sender, {topic for _, (topic, _) in moved})
        again = {key: fresh[key[1]] for key in moved if fresh.get(key[1]) in sender.brokers}
        found_again, failed_again = _list_offsets(sender, again)
        found |= found_again
        failed = {key: why for key, why in failed.items() if key not in found} | failed_again
    for (when, (topic, partition)), (code, reason) in failed.items():
        coverage.note_refusal(_WHAT[when], code)
        coverage.add_partition(topic, partition, _WHAT[when], reason)
    starts = {key: offset for (when, key), offset in found.items() if when == EARLIEST}
    ends = {key: offset for (when, key), offset in found.items() if when == LATEST}
    return starts, ends


Wanted = tuple[int, TopicPartition]


def _list_offsets(
    sender: RequestSender, wanted: Mapping[Wanted, int]
) -> tuple[dict[Wanted, int], dict[Wanted, tuple[int, str]]]:
    """Offsets, and (error code or 0, reason) of those that could not be read."""
    portions: dict[tuple[int, int, int], list[TopicPartition]] = defaultdict(list)
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for (when, partition), broker in sorted(wanted.items()):
        portions[broker, when, counts[broker, when] // _PARTITIONS_A_QUESTION].append(partition)
        counts[broker, when] += 1
    requests = {key: (key[0], _ends(partitions, key[1])) for key, partitions in portions.items()}
    found: dict[Wanted, int] = {}
    failed: dict[Wanted, tuple[int, str]] = {}
    for (broker, when, portion), answer in sender.send(requests).items():
        if isinstance(answer, Exception):
            why = (0, f"leader {broker} did not tell: {reason_of(answer)}")
            failed |= {(when, partition): why for partition in portions[broker, when, portion]}
            continue
        for topic in answer.topics:
            for partition in topic.partitions:
                key = (when, (topic.name, partition.partition_index))
                if partition.error_code:
                    failed[key] = (partition.error_code, error_name(partition.error_code))
                else:
                    found[key] = partition.offset
    return found, failed


def _ends(partitions: list[TopicPartition], when: int) -> Any:
    topic_type = ListOffsetsRequest.ListOffsetsTopic
    by_topic: dict[str, list[Any]] = defaultdict(list)
    for topic, partition in partitions:
        by_topic[topic].append(topic_type.ListOffsetsPartition(partition_index=partition, timestamp=when))
    return ListOffsetsRequest(
        replica_id=-1,
        isolation_level=0,  # the high watermark: what kafka-get-offsets prints
        topics=[topic_type(name=name, partitions=rows) for name, rows in by_topic.items()],
    )


def _fetch(groups: list[str], *, is_batched: bool) -> Any:
    if is_batched:
        rows = [OffsetFetchRequest.OffsetFetchRequestGroup(group_id=name, topics=None) for name in groups]
        # From version 10 on topics have ids in place of names.
        return OffsetFetchRequest(groups=rows, require_stable=False, min_version=_BATCHED, max_version=_BATCHED)
    return OffsetFetchRequest(group_id=groups[0], topics=None, min_version=2, max_version=_BATCHED - 1)


def _is_loading(answer: Any) -> bool:
    rows = getattr(answer, "groups", None) or [answer]
    return any(row.error_code == LOADING for row in rows)


def _committed(group: str, topics: Any, coverage: Coverage) -> tuple[CommittedOffset, ...]:
    offsets = []
    for topic in topics:
        for partition in topic.partitions:
            if partition.error_code:
                what = f"committed offset of {topic.name}-{partition.partition_index}"
                coverage.add_error("group", group, what, partition.error_code)
            elif partition.committed_offset >= 0:
                offsets.append(CommittedOffset(topic.name, partition.partition_index, partition.committed_offset))
    return tuple(sorted(offsets, key=lambda offset: (offset.topic, offset.partition)))
