"""Groups whose committed offsets lie outside their partitions: their lag means nothing, and reading may jump."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.context import FindingContext, Remedy, finding
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.snapshot.model import Group, GroupType
from kafka_rebalance.snapshot.partition_table import UNKNOWN_OFFSET


def commit_out_of_range(context: FindingContext) -> Iterator[Finding]:
    """Of dumps it is an estimate: they are of several moments, so that their offsets may disagree for that alone."""
    is_of_dumps = context.snapshot.source == "dumps"
    gaps = context.snapshot.coverage
    older_ends = {gap.subject for gap in gaps if gap.reason.code is FactCode.END_OFFSETS_OLDER}
    for group in context.snapshot.groups:
        if group.type is GroupType.SHARE:
            continue  # it commits nothing; its start moves with the log's once a member reads again
        beyond, below, lost = _out_of_range(context, group)
        beyond = [] if group.id in older_ends else beyond
        if not beyond and not below:
            continue
        example = (beyond or below)[0]
        yield finding(
            "commit_out_of_range",
            Severity.HIGH if beyond else Severity.MEDIUM,
            group.id,
            {"commits_beyond_end": len(beyond), "commits_below_start": len(below), "messages_deleted_unread": lost,
             "example": example},
            Remedy(
                fact(
                    FactCode.COMMIT_OUT_OF_RANGE,
                    group=group.id,
                    beyond_end=len(beyond),
                    below_start=len(below),
                    messages_deleted=lost,
                    example=example,
                ),
                gain=1.0,
            ),
            confidence=Confidence.ESTIMATED if is_of_dumps else Confidence.STRUCTURAL,
        )  # fmt: skip


def _out_of_range(context: FindingContext, group: Group) -> tuple[list[str], list[str], int]:
    """Partitions whose commit is beyond the end and below the start, and messages between commits and starts."""
    table = context.snapshot.partitions
    beyond, below, lost = [], [], 0
    for commit in group.committed:
        row = context.row_of.get((commit.topic, commit.partition))
        if row is None:
            continue
        start, end = int(table.start_offset[row]), int(table.end_offset[row])
        if end != UNKNOWN_OFFSET and commit.offset > end:
            beyond.append(f"{commit.topic}-{commit.partition}")
        elif start != UNKNOWN_OFFSET and commit.offset < start:
            below.append(f"{commit.topic}-{commit.partition}")
            lost += start - commit.offset
    return beyond, below, lost
