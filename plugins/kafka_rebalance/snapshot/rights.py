"""ACLs that a full snapshot needs, and the command that grants each.

A missing right is a coverage gap of subject type ``right``. Kafka hides topics and groups silently from a login without
``Describe on Cluster``.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.coverage import CoverageGap

RIGHT = "right"


class Right(StrEnum):
    DESCRIBE_CLUSTER = "Describe on Cluster"
    DESCRIBE_TOPICS = "Describe on Topic"
    DESCRIBE_GROUPS = "Describe on Group"
    TOPIC_CONFIGS = "DescribeConfigs on Topic"
    BROKER_CONFIGS = "DescribeConfigs on Cluster"
    GROUP_CONFIGS = "DescribeConfigs on Group"

    @property
    def command(self) -> str:
        """With placeholders for address and name."""
        operation, _, resource = self.value.partition(" on ")
        where = "--cluster" if resource == "Cluster" else f"--{resource.lower()} '*'"
        return (
            "kafka-acls.sh --bootstrap-server HOST:PORT --add --allow-principal User:NAME "
            f"--operation {operation} {where}"
        )


def right_gap(right: Right, *, is_told: bool = True) -> CoverageGap:
    reason = FactCode.RIGHT_NOT_HELD if is_told else FactCode.RIGHT_NOT_TOLD
    return CoverageGap(
        RIGHT, right.value, fact(FactCode.LACKS_RIGHT, right=right.value), fact(reason, right=right.value)
    )


def missing_rights(coverage: Iterable[CoverageGap]) -> tuple[Right, ...]:
    missing = {gap.subject for gap in coverage if gap.subject_type == RIGHT}
    return tuple(right for right in Right if right.value in missing)
