"""The report of a large cluster can still be mailed: its largest moves and the total; all of them are in moves.csv."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kafka_rebalance.advisory.advisory import advisory_document
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import GroupReplay, replay_group
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.publish.digest import render_digest
from rebalance_advisor.publish.plan_files import plan_files
from rebalance_advisor.publish.report import MOST_MOVES, render_report
from tests.sql.page.large_cluster import SAMPLE, WHOLE, Size, group_name, large_findings, large_plan, large_snapshot

REPORT_BYTES = 5_000_000
NOW = datetime(2026, 11, 20, 11, tzinfo=UTC)


@pytest.mark.parametrize("size", [SAMPLE, pytest.param(WHOLE, marks=[pytest.mark.matrix, pytest.mark.timeout(300)])])
def test_a_report_has_its_largest_moves_and_their_number_and_the_table_has_all(size: Size) -> None:
    snapshot, plan = large_snapshot(size, NOW), large_plan(size, "s")
    advisory = advisory_document(snapshot, plan, large_findings(size), _replays(snapshot))
    report = render_report(advisory)
    print(f"\n{size.moves:,} moves, {size.groups:,} groups: report of {len(report.encode()):,} bytes")
    assert len(report.encode()) < REPORT_BYTES
    assert report.count("relieves broker") == MOST_MOVES
    assert f"{size.moves - MOST_MOVES} more in <code>moves.csv</code>" in report
    assert len(plan_files(plan)["moves.csv"].splitlines()) == size.moves + 1
    assert len(render_digest(advisory).splitlines()) <= 10


def _replays(snapshot: ClusterSnapshot) -> list[GroupReplay]:
    """All groups are alike: one is replayed, the others are told the same."""
    replayed = replay_group(next(iter(group_inputs(snapshot))), ("range", "roundrobin"))
    return [replace(replayed, group_id=group_name(number)) for number in range(len(snapshot.groups))]
