"""Groups whose committed offsets lie outside their partitions: their lag means nothing, and reading may jump."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_rebalance.findings.context import FindingContext, Remedy, finding
from kafka_rebalance.findings.finding import Finding, Severity
from kafka_rebalance.findings.words import counted
from kafka_rebalance.snapshot.model import Group, GroupType
from kafka_rebalance.snapshot.partition_table import UNKNOWN_OFFSET


def commit_out_of_range(context: FindingContext) -> Iterator[Finding]:
    """Told of what one reading saw: dumps are of several moments, so their offsets may disagree for that alone."""
    if context.snapshot.source == "dumps":
        return
    row_of = context.snapshot.row_of
    for group in context.snapshot.groups:
        if group.type is GroupType.SHARE:
            continue  # it commits nothing; its start moves with the log's, when somebody reads again
        beyond, below, lost = _out_of_range(context, group, row_of)
        if not beyond and not below:
            continue
        example = (beyond or below)[0]
        causes = []
        if beyond:
            causes.append(f"{counted(len(beyond), 'offset')} beyond the end: the topic was made anew or lost records")
        if below:
            causes.append(f"{counted(len(below), 'offset')} below the start: {lost:,} messages were deleted unread")
        yield finding(
            "commit_out_of_range",
            Severity.HIGH if beyond else Severity.MEDIUM,
            group.id,
            {"commits_beyond_end": len(beyond), "commits_below_start": len(below), "messages_deleted_unread": lost,
             "example": example},
            Remedy(
                f"Group {group.id} has committed {' and '.join(causes)}, such as {example}. Its members go where "
                "auto.offset.reset sends them; kafka-consumer-groups --reset-offsets says where instead.",
                gain=1.0,
            ),
        )  # fmt: skip


def _out_of_range(
    context: FindingContext, group: Group, row_of: dict[tuple[str, int], int]
) -> tuple[list[str], list[str], int]:
    """Partitions whose commit is beyond the end and below the start, and messages between commits and starts."""
    table = context.snapshot.partitions
    beyond, below, lost = [], [], 0
    for commit in group.committed:
        row = row_of.get((commit.topic, commit.partition))
        if row is None:
            continue
        start, end = int(table.start_offset[row]), int(table.end_offset[row])
        if end != UNKNOWN_OFFSET and commit.offset > end:
            beyond.append(f"{commit.topic}-{commit.partition}")
        elif start != UNKNOWN_OFFSET and commit.offset < start:
            below.append(f"{commit.topic}-{commit.partition}")
            lost += start - commit.offset
    return beyond, below, lost
