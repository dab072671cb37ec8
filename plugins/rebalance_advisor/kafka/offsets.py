"""Read commits before end offsets, so that lags are not negative.

OffsetFetch gives no rows and no error for share groups; the broker gives their start and lag (KIP-932, KIP-1226).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from kafka.protocol.consumer import ListOffsetsRequest, OffsetFetchRequest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.model import CommittedOffset, GroupType
from rebalance_advisor.kafka.cluster_metadata import SeenPartition, refreshed_leaders
from rebalance_advisor.kafka.connection.client import kafka_error
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.groups import LOADING, ListedGroups, find_moved, may_have_moved
from rebalance_advisor.kafka.messages import DescribeShareGroupOffsetsRequest
from rebalance_advisor.kafka.request_sender import RequestSender
from rebalance_advisor.kafka.unresponsive import UnresponsiveBrokerError

TopicPartition = tuple[str, int]
EARLIEST, LATEST = -2, -1
_WHAT = {EARLIEST: FactCode.LACKS_START_OFFSETS, LATEST: FactCode.LACKS_END_OFFSETS}
_PARTITIONS_A_QUESTION = 50_000  # 2 MB
_LEADER_MOVED = (5, 6, 74, 75, 76)  # leader not available, not leader, fenced or unknown epoch, offset not available
_BATCHED = 8  # OffsetFetch takes many groups


def read_committed(
    sender: RequestSender, listed: ListedGroups, coverage: Coverage
) -> dict[str, tuple[CommittedOffset, ...]]:
    names = {name for name, group in listed.groups.items() if group.type is not GroupType.SHARE}
    committed: dict[str, tuple[CommittedOffset, ...]] = {}
    failed = _fetch_committed(sender, listed, names, committed, coverage)
    fresh = find_moved(sender, listed, {name for name, why in failed.items() if may_have_moved(why)})
    moved = {name for name in failed if fresh.groups[name].coordinator != listed.groups[name].coordinator}
    failed |= _fetch_committed(sender, fresh, moved, committed, coverage)
    for name in sorted(failed.keys() - committed.keys()):
        why = failed[name]
        if isinstance(why, int):
            coverage.add_error("group", name, FactCode.LACKS_COMMITS, why)
        else:
            coverage.add_unanswered(fresh.groups[name].coordinator or 0, FactCode.LACKS_COMMITS_OF_GROUPS, why, [name])
    return committed


def _fetch_committed(
    sender: RequestSender,
    listed: ListedGroups,
    names: set[str],
    committed: dict[str, tuple[CommittedOffset, ...]],
    coverage: Coverage,
) -> dict[str, int | Exception]:
    """The groups that are not added to ``committed``."""
    is_batched = sender.client.version_of(OffsetFetchRequest) >= _BATCHED
    requests: dict[tuple[str, ...], tuple[int, Any]] = {}
    for broker, bundle in listed.by_coordinator(names):
        for part in [bundle] if is_batched else [[name] for name in bundle]:
            requests[tuple(part)] = (broker, _fetch(part, is_batched=is_batched))
    failed: dict[str, int | Exception] = {}
    for bundle_names, answer in sender.send(requests, is_passing=_is_partition_loading).items():
        if isinstance(answer, Exception):
            failed |= dict.fromkeys(bundle_names, answer)
            continue
        rows = answer.groups if is_batched else [answer]
        for name, row in zip(bundle_names, rows, strict=False):
            group = row.group_id if is_batched else name
            if row.error_code:
                failed[group] = int(row.error_code)
            else:
                committed[group] = _committed(group, row.topics, coverage)
    return failed


def leaders_of(partitions: Iterable[SeenPartition], coverage: Coverage) -> dict[TopicPartition, int]:
    leaders = {}
    for partition in partitions:
        if partition.leader is None:
            coverage.add_partition(partition.topic, partition.partition, FactCode.LACKS_OFFSETS, FactCode.NO_LEADER)
        else:
            leaders[partition.topic, partition.partition] = partition.leader
    return leaders


def read_ends(
    sender: RequestSender, leaders: Mapping[TopicPartition, int], coverage: Coverage
) -> tuple[dict[TopicPartition, int], dict[TopicPartition, int]]:
    """(start, end). Moved or lost leaders: Metadata is requested again."""
    leader_of_request = {(when, key): broker for key, broker in leaders.items() for when in (LATEST, EARLIEST)}
    offsets, failed = _list_offsets(sender, leader_of_request)
    moved = {key for key, why in failed.items() if why in _LEADER_MOVED or isinstance(why, UnresponsiveBrokerError)}
    if moved:
        fresh = refreshed_leaders(sender, {topic for _, (topic, _) in moved})
        again = {
            key: fresh[key[1]] for key in moved
            if fresh.get(key[1]) in sender.brokers
            and (failed[key] in _LEADER_MOVED or fresh[key[1]] != leader_of_request[key])
        }  # fmt: skip
        leader_of_request |= again
        found_again, failed_again = _list_offsets(sender, again)
        offsets |= found_again
        failed = {key: why for key, why in failed.items() if key not in offsets} | failed_again
    for (when, (topic, partition)), why in failed.items():
        if isinstance(why, int):
            coverage.note_refusal(_WHAT[when], why)
            coverage.add_partition(topic, partition, _WHAT[when], kafka_error(why))
        else:
            part, broker = FactCode.LACKS_OFFSETS_OF_PARTITIONS, leader_of_request[when, (topic, partition)]
            coverage.add_unanswered(broker, part, why, [(topic, partition)])
    starts = {key: offset for (when, key), offset in offsets.items() if when == EARLIEST}
    ends = {key: offset for (when, key), offset in offsets.items() if when == LATEST}
    return starts, ends


Wanted = tuple[int, TopicPartition]


def _list_offsets(
    sender: RequestSender, leader_of_request: Mapping[Wanted, int]
) -> tuple[dict[Wanted, int], dict[Wanted, int | Exception]]:
    portions: dict[tuple[int, int, int], list[TopicPartition]] = defaultdict(list)
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for (when, partition), broker in sorted(leader_of_request.items()):
        portions[broker, when, counts[broker, when] // _PARTITIONS_A_QUESTION].append(partition)
        counts[broker, when] += 1
    requests = {key: (key[0], _ends(partitions, key[1])) for key, partitions in portions.items()}
    offsets: dict[Wanted, int] = {}
    failed: dict[Wanted, int | Exception] = {}
    for (broker, when, portion), answer in sender.send(requests).items():
        if isinstance(answer, Exception):
            failed |= {(when, partition): answer for partition in portions[broker, when, portion]}
            continue
        for topic in answer.topics:
            for partition in topic.partitions:
                key = (when, (topic.name, partition.partition_index))
                if partition.error_code:
                    failed[key] = int(partition.error_code)
                else:
                    offsets[key] = partition.offset
    return offsets, failed


def _ends(partitions: list[TopicPartition], when: int) -> Any:
    topic_type = ListOffsetsRequest.ListOffsetsTopic
    by_topic: dict[str, list[Any]] = defaultdict(list)
    for topic, partition in partitions:
        by_topic[topic].append(topic_type.ListOffsetsPartition(partition_index=partition, timestamp=when))
    return ListOffsetsRequest(
        replica_id=-1,
        isolation_level=0,  # high watermark, as kafka-get-offsets
        topics=[topic_type(name=name, partitions=rows) for name, rows in by_topic.items()],
    )


def _fetch(groups: list[str], *, is_batched: bool) -> Any:
    if is_batched:
        rows = [OffsetFetchRequest.OffsetFetchRequestGroup(group_id=name, topics=None) for name in groups]
        # Version 10 has topic ids, not names.
        return OffsetFetchRequest(groups=rows, require_stable=False, min_version=_BATCHED, max_version=_BATCHED)
    return OffsetFetchRequest(group_id=groups[0], topics=None, min_version=2, max_version=_BATCHED - 1)


def _is_partition_loading(answer: Any) -> bool:
    rows = getattr(answer, "groups", None) or [answer]
    return any(row.error_code == LOADING for row in rows)


def _committed(group: str, topics: Any, coverage: Coverage) -> tuple[CommittedOffset, ...]:
    offsets = []
    for topic in topics:
        for partition in topic.partitions:
            if partition.error_code:
                what = fact(FactCode.LACKS_COMMIT, topic=topic.name, partition=partition.partition_index)
                coverage.add_error("group", group, what, partition.error_code)
            elif partition.committed_offset >= 0:
                offsets.append(CommittedOffset(topic.name, partition.partition_index, partition.committed_offset))
    return tuple(sorted(offsets, key=lambda offset: (offset.topic, offset.partition)))


def read_group_offsets(
    sender: RequestSender, listed: ListedGroups, coverage: Coverage
) -> dict[str, tuple[CommittedOffset, ...]]:
    return read_committed(sender, listed, coverage) | read_share_offsets(sender, listed, coverage)


def read_share_offsets(
    sender: RequestSender, listed: ListedGroups, coverage: Coverage
) -> dict[str, tuple[CommittedOffset, ...]]:
    names = [name for name, group in listed.groups.items() if group.type is GroupType.SHARE]
    if names and sender.client.version_of(DescribeShareGroupOffsetsRequest) < 0:
        for name in names:
            coverage.add("group", name, FactCode.LACKS_COMMITS, FactCode.BROKERS_DO_NOT_TELL)
        return {}
    requests = {(broker, tuple(bundle)): (broker, _request(bundle)) for broker, bundle in listed.by_coordinator(names)}
    committed: dict[str, tuple[CommittedOffset, ...]] = {}
    for (broker, bundle), answer in sender.send(requests, is_passing=_is_group_loading).items():
        if isinstance(answer, Exception):
            coverage.add_unanswered(broker, FactCode.LACKS_COMMITS_OF_GROUPS, answer, bundle)
            continue
        for row in answer.groups:
            if row.error_code:
                coverage.add_error("group", row.group_id, FactCode.LACKS_COMMITS, row.error_code)
            else:
                committed[row.group_id] = _offsets(row.group_id, row.topics, coverage)
    return committed


def _request(names: list[str]) -> Any:
    group = DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestGroup
    return DescribeShareGroupOffsetsRequest(groups=[group(group_id=name, topics=None) for name in names])


def _is_group_loading(answer: Any) -> bool:
    return any(row.error_code == LOADING for row in answer.groups)


def _offsets(group: str, topics: Any, coverage: Coverage) -> tuple[CommittedOffset, ...]:
    """A share partition that was never read has no start."""
    offsets = []
    for topic in topics:
        for partition in topic.partitions:
            if partition.error_code:
                what = fact(FactCode.LACKS_COMMIT, topic=topic.topic_name, partition=partition.partition_index)
                coverage.add_error("group", group, what, partition.error_code)
            elif partition.start_offset >= 0:
                reported = getattr(partition, "lag", None)  # from version 1
                lag = None if reported is None or reported < 0 else int(reported)
                offsets.append(
                    CommittedOffset(topic.topic_name, partition.partition_index, partition.start_offset, lag)
                )
    return tuple(sorted(offsets, key=lambda offset: (offset.topic, offset.partition)))
