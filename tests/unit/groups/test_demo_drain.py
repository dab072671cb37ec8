from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import GroupReplay, replay_group
from kafka_rebalance.scoring.drain import member_capacity, members_needed
from rebalance_advisor.dumps import read_input
from stack.demo.cluster import write_demo_cluster
from tests.unit.findings.demo_text import group_lines, offsets

WINDOW_S = 3600
Amounts = dict[str, float]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(write_demo_cluster(tmp_path_factory.mktemp("drain") / "demo"))


@pytest.fixture(scope="module")
def replays(demo: Path) -> dict[str, GroupReplay]:
    return {group_input.group.id: replay_group(group_input) for group_input in group_inputs(read_input(demo))}


def by_member(demo: Path, group: str) -> tuple[Amounts, Amounts, Amounts]:
    """Input of each member's partitions, its read rate (messages/s), and its backlog."""
    before = {(row[1], row[2]): int(row[3]) for row in group_lines(demo, "earlier", group)}
    ends = [offsets(demo, moment, "latest") for moment in ("earlier", "later")]
    written, read, backlog = defaultdict(float), defaultdict(float), defaultdict(float)
    for row in group_lines(demo, "later", group):
        name, member = f"{row[1]}-{row[2]}", row[6]
        arriving = (ends[1][name] - ends[0][name]) / WINDOW_S
        written[member] += arriving
        read[member] += (int(row[3]) - before[row[1], row[2]]) / WINDOW_S
        backlog[member] += max(0.0, int(row[5]) - 5 * arriving)
    return written, read, backlog


def test_the_slow_group_never_drains(demo: Path, replays: dict[str, GroupReplay]) -> None:
    """It reads 0.6 of what is written: every member has more to do than the fastest of them was seen to do."""
    written, read, backlog = by_member(demo, "fraud-scoring")
    assert len(written) == 12
    assert min(written.values()) > max(read.values())
    assert min(backlog.values()) > 0
    result = replays["fraud-scoring"]
    assert (result.today.drain_seconds, result.today.members_falling_behind) == (None, 12)
    assert all(row.is_falling_behind for row in result.members if row.is_current)


def test_the_dead_members_lag_would_be_gone_in_a_day_if_it_read_as_others_do(
    demo: Path, replays: dict[str, GroupReplay]
) -> None:
    """The score uses the capability of this group's members, not the rate of the hanging one."""
    written, read, backlog = by_member(demo, "telemetry-archiver")
    (dead,) = (member for member in backlog if backlog[member] > 0)
    assert read[dead] == 0
    seconds = backlog[dead] / (max(read.values()) - written[dead])
    result = replays["telemetry-archiver"]
    assert result.today.drain_seconds == pytest.approx(seconds)
    assert {row.member_id: row.drain_seconds for row in result.members} == {
        member: pytest.approx(seconds) if member == dead else 0.0 for member in written
    }


def test_all_others_are_at_the_end(demo: Path, replays: dict[str, GroupReplay]) -> None:
    """Up to two seconds behind: no backlog. Unknown for empty groups and a share group."""
    drains = {name: replay.today.drain_seconds for name, replay in replays.items()}
    assert {name for name, seconds in drains.items() if seconds != 0} == {
        "fraud-scoring", "telemetry-archiver", "nightly-report", "quarterly-backfill", "courier-dispatch",
    }  # fmt: skip
    assert all(score.drain_seconds is not None for score in replays["cdc-sync"].scores if score.error is None)


def test_how_many_members_would_keep_up_with_what_the_slow_group_gets(demo: Path) -> None:
    """At least what is written over what one reads; its partitions are small enough that they can be shared so."""
    written, read, _ = by_member(demo, "fraud-scoring")
    (asked,) = (
        group_input for group_input in group_inputs(read_input(demo)) if group_input.group.id == "fraud-scoring"
    )
    capacity = member_capacity(asked.reader, asked.rates.read_messages_per_s, 12)
    assert capacity == pytest.approx(max(read.values()))
    needed = members_needed(asked.rates, capacity, within_s=float("inf")).members
    assert needed is not None
    assert 12 < sum(written.values()) / capacity <= needed <= 48
