"""The table of rights that a login may lack, and how a secured test cluster is given exactly one of its rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka import KafkaAdminClient
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)
from kafka.protocol.admin import DescribeAclsRequest

from kafka_rebalance.snapshot.coverage import Right
from rebalance_advisor.kafka.connection.client import ClusterClient
from rebalance_advisor.kafka.connection.probe import find_server
from rebalance_advisor.kafka.connection.properties import connection_settings
from stack.kafka.cluster import KafkaCluster
from stack.kafka.security import ADMIN, ADMIN_PASSWORD, ADVISOR
from stack.waiting import PATIENCE_S, wait_for

HIDDEN_TOPIC, HIDDEN_GROUP = "payments", "billing"
_RESOURCES = {"Cluster": ResourceType.CLUSTER, "Topic": ResourceType.TOPIC, "Group": ResourceType.GROUP}
_OPERATIONS = {"Describe": ACLOperation.DESCRIBE, "DescribeConfigs": ACLOperation.DESCRIBE_CONFIGS}


@dataclass(frozen=True, slots=True)
class RightsCase:
    """``lacks`` of all six rights; one topic or one group may be denied on top. ``verdict`` of a cluster of which a
    whole reading says "nothing to do".
    """

    name: str
    lacks: tuple[Right, ...] = ()
    denies_topic: bool = False
    denies_group: bool = False
    verdict: str = "cannot_tell"


CLUSTER, TOPICS, GROUPS = Right.DESCRIBE_CLUSTER, Right.DESCRIBE_TOPICS, Right.DESCRIBE_GROUPS
TOPIC_CONFIGS, BROKER_CONFIGS, GROUP_CONFIGS = Right.TOPIC_CONFIGS, Right.BROKER_CONFIGS, Right.GROUP_CONFIGS
WHOLE = RightsCase("all rights", verdict="nothing_to_do")
CASES = (
    RightsCase("one topic denied", denies_topic=True),
    RightsCase("no topic", (TOPICS, TOPIC_CONFIGS)),
    RightsCase("one group denied", denies_group=True, verdict="nothing_to_do"),
    RightsCase("no group", (GROUPS, GROUP_CONFIGS), verdict="nothing_to_do"),
    RightsCase("no topic configs", (TOPIC_CONFIGS,), verdict="nothing_to_do"),
    RightsCase("no broker configs", (BROKER_CONFIGS,), verdict="nothing_to_do"),
    RightsCase("no group configs", (GROUP_CONFIGS,), verdict="nothing_to_do"),
    RightsCase("no configs", (TOPIC_CONFIGS, BROKER_CONFIGS, GROUP_CONFIGS), verdict="nothing_to_do"),
    RightsCase("no log dirs", (CLUSTER,)),
    RightsCase("no cluster", (CLUSTER, BROKER_CONFIGS)),
    RightsCase("one topic and one group denied", denies_topic=True, denies_group=True),
    RightsCase("no log dirs, no group, one topic denied", (CLUSTER, GROUPS, GROUP_CONFIGS), denies_topic=True),
    RightsCase("topics alone", (CLUSTER, GROUPS, GROUP_CONFIGS, TOPIC_CONFIGS, BROKER_CONFIGS)),
    RightsCase("nothing", tuple(Right)),
)


@contextmanager
def administrator(cluster: KafkaCluster) -> Iterator[Any]:
    """kafka-python's admin client of the super user."""
    client = KafkaAdminClient(**login(cluster), bootstrap_timeout_ms=120_000)
    try:
        yield client
    finally:
        client.close()


def login(cluster: KafkaCluster) -> dict[str, object]:
    """The super user's way in, under kafka-python's names."""
    assert cluster.certificates is not None
    return {
        "bootstrap_servers": cluster.bootstrap.split(","), "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512", "sasl_plain_username": ADMIN, "sasl_plain_password": ADMIN_PASSWORD,
        "ssl_cafile": str(cluster.certificates.authority),
    }  # fmt: skip


def java_login(properties: Path) -> list[str]:
    """The same as ``key=value`` for a Java client, out of its properties file."""
    lines = properties.read_text(encoding="utf-8").splitlines()
    return [line.replace("\\\\", "\\") for line in lines if not line.startswith("#")]


def grant(cluster: KafkaCluster, admin: Any, case: RightsCase) -> None:
    """Take every rule of the advisor away, and give it what this row has; returns when each broker knows it."""
    everything = ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY)
    whoever = {"principal": f"User:{ADVISOR}", "host": None}
    admin.delete_acls(
        [ACLFilter(operation=ACLOperation.ANY, permission_type=ACLPermissionType.ANY, resource_pattern=everything,
                   **whoever)]
    )  # fmt: skip
    rules = [_rule(right) for right in Right if right not in case.lacks]
    rules += [_rule(Right.DESCRIBE_TOPICS, HIDDEN_TOPIC)] if case.denies_topic else []
    rules += [_rule(Right.DESCRIBE_GROUPS, HIDDEN_GROUP)] if case.denies_group else []
    if rules:
        assert not admin.create_acls(rules)["failed"]
    wanted = frozenset(
        (rule.resource_pattern.resource_type, rule.resource_pattern.resource_name, rule.operation, rule.permission_type)
        for rule in rules
    )
    wait_for(
        f"each broker to know the rules of {case.name!r}", lambda: _known_rules(cluster),
        until=lambda known: set(known.values()) == {wanted},
    )  # fmt: skip


def _known_rules(cluster: KafkaCluster) -> dict[int, frozenset[tuple[int, str, int, int]]]:
    """The rules for the advisor that each broker's own authorizer has."""
    assert cluster.certificates is not None
    settings = connection_settings(
        {
            "bootstrap.servers": cluster.bootstrap, "security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": ADMIN, "sasl.password": ADMIN_PASSWORD,
            "ssl.ca.location": str(cluster.certificates.authority),
        }
    )  # fmt: skip
    request = DescribeAclsRequest(
        resource_type_filter=ResourceType.ANY, resource_name_filter=None, permission_type=ACLPermissionType.ANY,
        pattern_type_filter=ACLResourcePatternType.ANY, principal_filter=f"User:{ADVISOR}", host_filter=None,
        operation=ACLOperation.ANY,
    )  # fmt: skip
    with ClusterClient(settings, find_server(settings)) as client:
        client.connect()
        answers = client.send({broker: (broker, request) for broker in client.addresses}, PATIENCE_S)
    return {
        broker: frozenset(
            (row.resource_type, row.resource_name, rule.operation, rule.permission_type)
            for row in getattr(answer, "resources", ())  # none in an exception: it is asked again
            for rule in row.acls
        )
        for broker, answer in answers.items()
    }


def _rule(right: Right, denied: str | None = None) -> ACL:
    operation, _, resource = right.value.partition(" on ")
    name = denied or ("kafka-cluster" if resource == "Cluster" else "*")
    return ACL(
        principal=f"User:{ADVISOR}", host="*", operation=_OPERATIONS[operation],
        permission_type=ACLPermissionType.DENY if denied else ACLPermissionType.ALLOW,
        resource_pattern=ResourcePattern(_RESOURCES[resource], name),
    )  # fmt: skip
