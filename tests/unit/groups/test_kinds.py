from __future__ import annotations

import pytest

from kafka_rebalance.groups.kinds import GroupKind, kind_of
from kafka_rebalance.snapshot.model import Group, GroupType, Member


def called(name, *clients, **fields):
    members = tuple(Member(f"m{number}", client_id=client) for number, client in enumerate(clients))
    return Group(name, members=members, **fields)


THREAD = "totals-1f-StreamThread-1-consumer"


@pytest.mark.parametrize(
    ("group", "kind"),
    [
        (called("billing", "billing-1"), GroupKind.CONSUMERS),
        (called("billing"), GroupKind.EMPTY),
        (called("connect-cluster", "worker", protocol_type="connect"), GroupKind.CONNECT_WORKERS),
        (called("connect-cluster", "connect-1", protocol="sessioned"), GroupKind.CONNECT_WORKERS),
        (called("schema-registry", "sr-1", protocol="v0"), GroupKind.SCHEMA_REGISTRY),
        (called("schema-registry", "sr-1", protocol_type="sr"), GroupKind.SCHEMA_REGISTRY),
        (called("schema-registry", protocol_type="sr"), GroupKind.SCHEMA_REGISTRY),  # though it is empty
        (called("x", "y", protocol_type="ksql-heartbeat"), GroupKind.OTHER_PROTOCOL),
        (called("connect-sink", "connector-consumer-sink-0", "connector-consumer-sink-1"), GroupKind.CONNECT_SINK),
        (called("connect-flights", "flights-1"), GroupKind.CONSUMERS),  # a name alone is no proof
        (called("sinks", "connector-consumer-sink-0", "mine"), GroupKind.CONSUMERS),  # with another reader
        (called("totals", THREAD, THREAD.replace("1-c", "2-c")), GroupKind.STREAMS),
        (called("totals", THREAD, "mine"), GroupKind.CONSUMERS),
        (called("totals", None, protocol="stream"), GroupKind.STREAMS),
        (called("totals", "a", type=GroupType.STREAMS, protocol_type="streams"), GroupKind.STREAMS),
        (called("console-consumer-31415", "anything"), GroupKind.CONSOLE),
        (called("mine", "console-consumer"), GroupKind.CONSOLE),
        (called("console-consumers", "a"), GroupKind.CONSUMERS),
        (called("_confluent-controlcenter-7", "a"), GroupKind.CONFLUENT),
        (called("_confluent-ksql-default_query_CTAS_T_3", "mine"), GroupKind.STREAMS),
        (called("jobs", "a", type=GroupType.SHARE, protocol_type="share"), GroupKind.SHARE),
        (called("jobs", "a", type=GroupType.CONSUMER), GroupKind.CONSUMERS),
        (called("jobs", "a", protocol_type=""), GroupKind.CONSUMERS),
    ],
)
def test_what_a_group_is(group, kind):
    assert kind_of(group) is kind
    assert kind.has_choice is (kind in (GroupKind.CONSUMERS, GroupKind.CONNECT_SINK))
