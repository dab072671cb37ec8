"""Unknown reads of groups are nan in arrays, null in documents, with a reason; never 0."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Verdict
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.coverage import Right, right_gap
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import (
    Broker,
    ClusterSnapshot,
    CommittedOffset,
    CoverageGap,
    Group,
    GroupType,
    Member,
    Partition,
    Topic,
    partition_table,
)
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from kafka_rebalance.snapshot.rates import may_hide_groups, measure_rates, unread_groups
from kafka_rebalance.verify import verify_plan
from tests.coverage_gaps import gap_of

OUT = LoadKind.OUT_BYTES_PER_S
NAMES = ("a", "b", "flow-changelog")
SILENT = fact(FactCode.NO_ANSWER_IN_TIME, seconds=5, text=None)
T0, T100 = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 1, 40, tzinfo=UTC)
UNKNOWN = None


def reading(at: datetime, end: int, groups: tuple[Group, ...], *coverage: CoverageGap) -> ClusterSnapshot:
    """Three topics of one partition with ``end`` messages of 100 bytes each."""
    rows = [
        Partition(name, 0, (1, 2), 1, (1, 2), (end * 100, end * 100), start_offset=0, end_offset=end) for name in NAMES
    ]
    return ClusterSnapshot(
        "c", (Broker(1), Broker(2)), tuple(Topic(name) for name in NAMES),
        partition_table(rows, {name: i for i, name in enumerate(NAMES)}), groups=groups, captured_at=at,
        coverage=coverage,
    )  # fmt: skip


def seen(offset: int) -> Group:
    """Reads all three topics and commits."""
    return Group("seen", state="Stable", committed=tuple(CommittedOffset(name, 0, offset) for name in NAMES))


def measured(unread: Group, *coverage: CoverageGap) -> ClusterSnapshot:
    """100 s in which ``seen`` read 50 messages of 100 bytes of each topic: 50 bytes/s, were it alone."""
    before = reading(T0, 10, (seen(10), unread), *coverage)
    return measure_rates(before, reading(T100, 60, (seen(60), unread), *coverage))


def out(snapshot: ClusterSnapshot) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in snapshot.load(OUT)]


def member(*topics: str) -> tuple[Member, ...]:
    return (Member("m", subscription=topics, assigned=tuple((topic, (0,)) for topic in topics)),)


def test_what_a_silent_broker_would_have_told_of_groups_is_unknown() -> None:
    """Broker 2 sent the commits of one of its two groups; broker 3's list of groups is missing, so more may exist."""
    parts = (fact(FactCode.LACKS_LOG_DIRS), fact(FactCode.LACKS_COMMITS_OF_GROUPS, groups=1))
    gap = CoverageGap("broker", "2", fact(FactCode.LACKS_PARTS, parts=parts), SILENT)
    lost = Group("lost", state="Stable", coordinator=2, members=member("b"))
    changed_lost = replace(lost, id="told", committed=(CommittedOffset("a", 0, 1),))
    other = replace(lost, id="other", coordinator=1)
    snapshot = reading(T0, 10, (lost, changed_lost, other), gap)
    assert [(unread.group, unread.topics) for unread in unread_groups(snapshot)] == [("lost", frozenset({"b"}))]
    assert not may_hide_groups(snapshot)
    parts = (fact(FactCode.LACKS_LOG_DIRS), fact(FactCode.LACKS_GROUPS_OF_BROKER))
    unlisted = CoverageGap("broker", "3", fact(FactCode.LACKS_PARTS, parts=parts), SILENT)
    assert may_hide_groups(reading(T0, 10, (), unlisted))


NO_COMMITS = gap_of("group", "g", FactCode.LACKS_COMMITS, "GroupAuthorizationFailed (30)")
CASES = {
    "all commits seen": (Group("g", state="Stable", members=member("a")), (), [50.0, 50.0, 50.0]),
    "denied, members seen": (Group("g", state="Stable", members=member("a")), (NO_COMMITS,), [UNKNOWN, 50.0, 50.0]),
    "denied, members unseen": (Group("g", state="Stable"), (NO_COMMITS,), [UNKNOWN] * 3),
    "denied and empty": (Group("g", state="Empty"), (NO_COMMITS,), [50.0, 50.0, 50.0]),
    "one offset denied": (
        Group("g", state="Stable", members=member("a", "b")),
        (CoverageGap("group", "g", fact(FactCode.LACKS_COMMIT, topic="b", partition=0), SILENT),),
        [50.0, UNKNOWN, 50.0],
    ),
    "share": (Group("g", GroupType.SHARE, state="Stable", members=member("b")), (), [50.0, UNKNOWN, 50.0]),
    "share, members unseen": (Group("g", GroupType.SHARE, state="Stable"), (), [UNKNOWN] * 3),
    "streams": (  # its commits and internal topics
        Group("flow", GroupType.STREAMS, state="Stable", committed=(CommittedOffset("a", 0, 10),)),
        (),
        [UNKNOWN, 50.0, UNKNOWN],
    ),
    "streams, nothing seen": (Group("flow", GroupType.STREAMS, state="Stable"), (), [UNKNOWN] * 3),
    "groups may be hidden": (Group("g", state="Stable"), (right_gap(Right.DESCRIBE_CLUSTER),), [UNKNOWN] * 3),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_read_unseen_is_unknown_with_its_reason(name: str) -> None:
    group, coverage, wanted = CASES[name]
    snapshot = measured(group, *coverage)
    assert out(snapshot) == wanted
    lacking = fact(FactCode.LACKS_LOAD, kind=OUT.value)
    reported = [gap.reason for gap in snapshot.coverage if gap.what == lacking]
    count = wanted.count(UNKNOWN)
    assert len(reported) == (count > 0)
    for reason in reported:
        if reason.code is not FactCode.GROUPS_MAY_BE_HIDDEN:
            assert (reason.args["unknown_partitions"], reason.args["partitions"]) == (count, 3)
    if 0 < count < 3:
        values = snapshot_to_document(snapshot)["loads"][OUT.value]["values"]
        assert [value is None for value in values] == [value is UNKNOWN for value in wanted]


def test_a_group_of_the_older_reading_alone_counts_and_one_that_is_gone_does_not() -> None:
    share = Group("g", GroupType.SHARE, state="Stable", members=member("b"))
    before = reading(T0, 10, (seen(10), share))
    gone = measure_rates(before, reading(T100, 60, (seen(60),)))
    assert out(gone) == [50.0, 50.0, 50.0]
    emptied = measure_rates(before, reading(T100, 60, (seen(60), replace(share, state="Empty", members=()))))
    assert out(emptied) == [50.0, UNKNOWN, 50.0]
    assert [unread.topics for unread in unread_groups(before)] == [frozenset({"b"})]


def test_better_figures_stay_and_need_no_excuse() -> None:
    before = reading(T0, 10, (seen(10), Group("g", GroupType.SHARE, state="Stable")))
    given = PartitionLoads({OUT: LoadColumn(np.array([7.0, 7.0, 7.0]), LoadSource.PROMETHEUS)})
    now = replace(reading(T100, 60, before.groups), loads=given)
    snapshot = measure_rates(before, now)
    assert out(snapshot) == [7.0, 7.0, 7.0]
    assert snapshot.coverage == ()


def test_nothing_to_do_is_not_said_where_all_that_is_read_is_unknown() -> None:
    """Both brokers are alike; with the group's reads known, the verdict is "nothing to do"."""
    lists = {"a": (1, 2), "b": (2, 1)}
    rows = [Partition(name, 0, held, held[0], (1, 2), (100, 100), 0, 60) for name, held in lists.items()]
    table = partition_table(rows, {"a": 0, "b": 1})

    def planned(*groups: Group) -> Verdict:
        now = ClusterSnapshot(
            "c", (Broker(1), Broker(2)), (Topic("a"), Topic("b")), table, groups=groups, captured_at=T100
        )
        older = replace(
            now, captured_at=T0, partitions=partition_table([replace(row, end_offset=10) for row in rows],
                                                            {"a": 0, "b": 1}),
        )  # fmt: skip
        snapshot = measure_rates(older, now)
        plan = make_plan(snapshot, PlanOptions(with_frontier=False))
        assert verify_plan(plan.document, snapshot).wrong == ()
        return plan.verdict

    reader = Group("seen", state="Stable", committed=(CommittedOffset("a", 0, 60), CommittedOffset("b", 0, 60)))
    assert planned(reader) is Verdict.NOTHING_TO_DO
    assert planned(reader, Group("g", GroupType.SHARE, state="Stable")) is Verdict.CANNOT_TELL
