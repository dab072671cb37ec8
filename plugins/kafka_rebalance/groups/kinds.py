"""The kind of a group, by its protocol, and by group and client names of Kafka's own programs."""

from __future__ import annotations

import re
from enum import StrEnum

from kafka_rebalance.snapshot.group import Group, GroupType


class GroupKind(StrEnum):
    CONSUMERS = "consumers"
    EMPTY = "empty"
    SHARE = "share"
    STREAMS = "streams"
    CONNECT_WORKERS = "connect_workers"
    CONNECT_SINK = "connect_sink"
    SCHEMA_REGISTRY = "schema_registry"
    CONSOLE = "console"
    CONFLUENT = "confluent"
    OTHER_PROTOCOL = "other_protocol"

    @property
    def has_choice(self) -> bool:
        return self in (GroupKind.CONSUMERS, GroupKind.CONNECT_SINK)

    @property
    def reads_partitions(self) -> bool:
        """Whether its members read partitions: Connect workers and Schema Registry do not."""
        return self not in (GroupKind.CONNECT_WORKERS, GroupKind.SCHEMA_REGISTRY, GroupKind.OTHER_PROTOCOL)


_PROTOCOLS = {"connect": GroupKind.CONNECT_WORKERS, "sr": GroupKind.SCHEMA_REGISTRY}
# Kafka's tools print the protocol's name, not its type: Connect's ConnectProtocolCompatibility, and
# SchemaRegistryProtocol's only subprotocol.
_BY_NAME = dict.fromkeys(("default", "compatible", "sessioned"), GroupKind.CONNECT_WORKERS) | {
    "v0": GroupKind.SCHEMA_REGISTRY
}
_STREAM_THREAD = re.compile(r".+-StreamThread-\d+-(?:restore-)?consumer")
_CONNECTOR_CLIENT = re.compile(r"connector-consumer-.+-\d+")
_CONSOLE = re.compile(r"console-(?:share-)?consumer(?:-\d+)?")


def kind_of(group: Group) -> GroupKind:
    if group.protocol_type not in ("", "consumer", "share", "streams"):
        return _PROTOCOLS.get(group.protocol_type, GroupKind.OTHER_PROTOCOL)
    is_ksql = group.id.startswith("_confluent-ksql-") and bool(group.members)
    is_named = group.type is GroupType.STREAMS or group.protocol == "stream"
    if is_named or is_ksql or _all_called(group, _STREAM_THREAD):
        return GroupKind.STREAMS
    if group.protocol in _BY_NAME and not any(member.assigned for member in group.members):
        return _BY_NAME[group.protocol]
    if group.id.startswith("_confluent-"):
        return GroupKind.CONFLUENT
    if _all_called(group, _CONNECTOR_CLIENT):
        return GroupKind.CONNECT_SINK
    if _CONSOLE.fullmatch(group.id) or _all_called(group, _CONSOLE):
        return GroupKind.CONSOLE
    if group.type is GroupType.SHARE:
        return GroupKind.SHARE
    return GroupKind.CONSUMERS if group.members or group.member_count else GroupKind.EMPTY


def _all_called(group: Group, pattern: re.Pattern[str]) -> bool:
    return bool(group.members) and all(pattern.fullmatch(member.client_id or "") for member in group.members)
