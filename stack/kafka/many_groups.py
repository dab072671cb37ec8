"""Many small groups on a test cluster, fast: raw requests of members that join, commit, and then stay silent.

A consumer for each would be a thread and three connections. Members stay until their session ends (ten minutes).
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafka.protocol.consumer import JoinGroupRequest, OffsetCommitRequest, SyncGroupRequest
from kafka.protocol.metadata import FindCoordinatorRequest

from rebalance_advisor.kafka.connection.client import ClusterClient
from rebalance_advisor.kafka.connection.settings import ConnectionSettings

_SESSION_MS = 600_000
_MOST_SECONDS = 300.0


def make_groups(bootstrap: str, groups: Mapping[str, Mapping[str, Sequence[int]]]) -> None:
    """Group → topic → partitions: one member that holds them all and has committed offset 0 of each."""
    protocol = JoinGroupRequest.JoinGroupRequestProtocol
    host, _, port = bootstrap.split(",", maxsplit=1)[0].rpartition(":")
    server = (host, int(port))
    with ClusterClient(ConnectionSettings(servers=(server,)), server) as client:
        assert not any(client.connect().values())
        joined = _each(
            client, groups,
            lambda group: JoinGroupRequest(
                group_id=group, session_timeout_ms=_SESSION_MS, rebalance_timeout_ms=_SESSION_MS, member_id="",
                protocol_type="consumer", max_version=3,  # from version 4 on it takes two requests
                protocols=[protocol(name="range", metadata=_subscription(groups[group]))],
            ),
        )  # fmt: skip
        _each(
            client, groups,
            lambda group: SyncGroupRequest(
                group_id=group, generation_id=joined[group].generation_id, member_id=joined[group].member_id,
                assignments=[
                    SyncGroupRequest.SyncGroupRequestAssignment(
                        member_id=joined[group].member_id, assignment=_assignment(groups[group])
                    )
                ],
                max_version=2,
            ),
        )  # fmt: skip
        _each(client, groups, lambda group: _commit(group, joined[group], groups[group]))


def _each(client: ClusterClient, groups: Mapping[str, Any], request: Callable[[str], Any]) -> dict[str, Any]:
    answered: dict[str, Any] = {}
    deadline = time.monotonic() + _MOST_SECONDS
    while len(answered) < len(groups):
        left = [group for group in groups if group not in answered]
        look = FindCoordinatorRequest(key_type=0, coordinator_keys=left, min_version=4)
        any_broker = next(iter(client.addresses))
        found_coordinators = client.send({0: (any_broker, look)}, _MOST_SECONDS)[0]
        where = {row.key: row.node_id for row in found_coordinators.coordinators if not row.error_code}
        answers = client.send({group: (where[group], request(group)) for group in where}, _MOST_SECONDS)
        answered |= {group: answer for group, answer in answers.items() if not _has_failed(answer)}
        if len(answered) < len(groups):
            assert time.monotonic() < deadline, (
                len(groups) - len(answered),
                next(iter(answers.values()), found_coordinators),
            )
            time.sleep(0.3)
    return answered


def _has_failed(answer: Any) -> bool:
    if isinstance(answer, Exception) or getattr(answer, "error_code", 0):
        return True
    return any(row.error_code for topic in getattr(answer, "topics", ()) for row in topic.partitions)


def _commit(group: str, member: Any, parts: Mapping[str, Sequence[int]]) -> Any:
    topic_type = OffsetCommitRequest.OffsetCommitRequestTopic
    row = topic_type.OffsetCommitRequestPartition
    return OffsetCommitRequest(
        group_id=group, generation_id_or_member_epoch=member.generation_id, member_id=member.member_id, max_version=7,
        topics=[
            topic_type(
                name=topic,
                partitions=[row(partition_index=p, committed_offset=0, committed_metadata="") for p in partitions],
            )
            for topic, partitions in parts.items()
        ],
    )  # fmt: skip


def _text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack(">h", len(encoded)) + encoded


def _subscription(parts: Mapping[str, Sequence[int]]) -> bytes:
    return struct.pack(">hi", 0, len(parts)) + b"".join(_text(topic) for topic in parts) + struct.pack(">i", -1)


def _assignment(parts: Mapping[str, Sequence[int]]) -> bytes:
    rows = (_text(topic) + struct.pack(f">i{len(part)}i", len(part), *part) for topic, part in parts.items())
    return struct.pack(">hi", 0, len(parts)) + b"".join(rows) + struct.pack(">i", -1)
