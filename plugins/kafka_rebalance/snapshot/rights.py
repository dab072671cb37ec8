"""The rights (ACLs) that a whole reading needs, what the lack of each one hides, and the command that grants it.

A right that is missing is a gap of the snapshot like any other: its subject type is ``right``, its subject the right.
Without ``Describe on Cluster`` nobody can tell whether all topics and groups were shown: Kafka leaves out, without a
word, what a login may not see.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from kafka_rebalance.snapshot.model import CoverageGap

RIGHT = "right"  # the subject type of these gaps


class Right(StrEnum):
    """One operation on one kind of resource."""

    DESCRIBE_CLUSTER = "Describe on Cluster"
    DESCRIBE_TOPICS = "Describe on Topic"
    DESCRIBE_GROUPS = "Describe on Group"
    TOPIC_CONFIGS = "DescribeConfigs on Topic"
    BROKER_CONFIGS = "DescribeConfigs on Cluster"
    GROUP_CONFIGS = "DescribeConfigs on Group"

    @property
    def hides(self) -> str:
        """What is not seen, or not surely seen, without it."""
        return {
            Right.DESCRIBE_CLUSTER: "log dirs and sizes, running reassignments, and which topics and groups there are",
            Right.DESCRIBE_TOPICS: "partitions, leaders and offsets of topics, and groups that read them",
            Right.DESCRIBE_GROUPS: "members, assignments and commits of groups",
            Right.TOPIC_CONFIGS: "configs of topics",
            Right.BROKER_CONFIGS: "configs of brokers, throttles among them, and client quotas",
            Right.GROUP_CONFIGS: "configs of groups of the newer types",
        }[self]

    @property
    def command(self) -> str:
        """Kafka's own command that grants it; the reader of the plan puts in address and name."""
        operation, _, resource = self.value.partition(" on ")
        where = "--cluster" if resource == "Cluster" else f"--{resource.lower()} '*'"
        return (
            "kafka-acls.sh --bootstrap-server HOST:PORT --add --allow-principal User:NAME "
            f"--operation {operation} {where}"
        )


def right_gap(right: Right, reason: str = "this login does not have it") -> CoverageGap:
    """The gap that a missing right is."""
    return CoverageGap(RIGHT, right.value, right.hides, f"{reason}; to grant it: {right.command}")


def missing_rights(coverage: Iterable[CoverageGap]) -> tuple[Right, ...]:
    """In the order of ``Right``: the weightiest first."""
    told = {gap.subject for gap in coverage if gap.subject_type == RIGHT}
    return tuple(right for right in Right if right.value in told)
