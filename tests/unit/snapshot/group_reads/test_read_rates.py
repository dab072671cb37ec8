"""Read rates of groups between two snapshots 100 s apart, and unknown ones."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np

from kafka_rebalance.snapshot.model import (
    Broker,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    GroupType,
    Member,
    Partition,
    Topic,
    partition_table,
)
from kafka_rebalance.snapshot.rates import commit_columns, measure_rates, with_read_rates
from tests.sample import for_each

T0, T100 = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 1, 40, tzinfo=UTC)
READER = (Member("m"),)
Key = tuple[str, int]


def reading(
    at: datetime, logs: dict[Key, tuple[int, int]], commits: dict[str, dict[Key, int]], topic_id: str = "id-1"
) -> ClusterSnapshot:
    """``logs``: first and last offset by topic and partition. Each group has one member."""
    names = sorted({topic for topic, _ in logs})
    rows = [Partition(topic, number, (1,), 1, None, (9,), start, end) for (topic, number), (start, end) in logs.items()]
    return ClusterSnapshot(
        cluster="c", brokers=(Broker(1),), captured_at=at,
        topics=tuple(Topic(name, topic_id=topic_id) for name in names),
        partitions=partition_table(rows, {name: index for index, name in enumerate(names)}),
        groups=tuple(
            Group(name, members=READER, committed=tuple(CommittedOffset(*key, offset) for key, offset in own.items()))
            for name, own in commits.items()
        ),
    )  # fmt: skip


def read_rates(before: ClusterSnapshot, now: ClusterSnapshot) -> dict[tuple[str, str, int], float | None]:
    return {
        (group.id, commit.topic, commit.partition): commit.read_messages_per_s
        for group in measure_rates(before, now).groups
        for commit in group.committed
    }


def rate_of(
    before: int | None, now: int, *, ends: tuple[int, int] = (900, 1000), starts: tuple[int, int] = (0, 0)
) -> object:
    """The rate of one group on one partition that was committed to ``before``, then ``now``."""
    log = ("t", 0)
    older = reading(T0, {log: (starts[0], ends[0])}, {"g": {} if before is None else {log: before}})
    return read_rates(older, reading(T100, {log: (starts[1], ends[1])}, {"g": {log: now}}))["g", "t", 0]


def test_a_rate_is_how_far_the_commits_came() -> None:
    """Each group by itself: 40 and 300 messages of one partition, nothing of another."""
    logs = {("t", 0): (0, 900), ("t", 1): (0, 70)}
    older = reading(T0, logs, {"a": {("t", 0): 10, ("t", 1): 70}, "b": {("t", 0): 500}})
    newer = reading(T100, logs, {"b": {("t", 0): 800}, "a": {("t", 0): 50, ("t", 1): 70}})
    assert read_rates(older, newer) == {("b", "t", 0): 3.0, ("a", "t", 0): 0.4, ("a", "t", 1): 0.0}
    assert (rate_of(10, 50), rate_of(900, 900)) == (0.4, 0.0)


def test_what_the_commits_do_not_tell_is_unknown() -> None:
    assert rate_of(None, 50) is None  # committed for the first time
    assert rate_of(50, 10) is None  # backwards: a reset
    assert rate_of(10, 50, starts=(0, 30)) is None  # retention passed 10: it may have jumped to 30, or read 40
    assert rate_of(30, 50, starts=(0, 30)) == 0.2
    assert rate_of(2000, 2000) is None  # beyond the end
    assert rate_of(10, 2000) == 9.9  # not more than there is
    assert rate_of(10, 50, ends=(-1, -1)) == 0.4


def test_a_topic_made_anew_a_new_group_and_one_with_members_at_one_time_only_are_unknown() -> None:
    log: dict[Key, tuple[int, int]] = {("t", 0): (0, 900)}
    older, newer = reading(T0, log, {"g": {("t", 0): 10}}), reading(T100, log, {"g": {("t", 0): 50}})
    key = ("g", "t", 0)
    assert read_rates(older, newer)[key] == 0.4
    assert read_rates(older, reading(T100, log, {"g": {("t", 0): 50}}, topic_id="id-2"))[key] is None
    assert read_rates(reading(T0, {("u", 0): (0, 900)}, {"g": {("u", 0): 10}}), newer)[key] is None
    assert read_rates(reading(T0, log, {"other": {("t", 0): 10}}), newer)[key] is None
    empty = (replace(older.groups[0], members=()),), (replace(newer.groups[0], members=()),)
    assert read_rates(replace(older, groups=empty[0]), newer)[key] is None
    assert read_rates(older, replace(newer, groups=empty[1]))[key] is None
    assert read_rates(replace(older, groups=empty[0]), replace(newer, groups=empty[1]))[key] == 0.4


def test_readings_a_few_commits_apart_say_too_little() -> None:
    """A reader that commits every 5 s may show no commit in 4, and two in 6."""
    log: dict[Key, tuple[int, int]] = {("t", 0): (0, 900)}
    older, newer = reading(T0, log, {"g": {("t", 0): 10}}), reading(T100, log, {"g": {("t", 0): 40}})
    for seconds, rate in ((29.9, None), (30.0, 1.0)):
        assert read_rates(older, replace(newer, captured_at=T0 + timedelta(seconds=seconds)))["g", "t", 0] == rate


def test_a_share_group_commits_nothing_and_keeps_the_lag_that_its_broker_told() -> None:
    log: dict[Key, tuple[int, int]] = {("t", 0): (0, 900)}
    older, newer = reading(T0, log, {"g": {("t", 0): 10}}), reading(T100, log, {"g": {("t", 0): 50}})
    reported = replace(newer.groups[0], committed=(CommittedOffset("t", 0, 50, 7),))
    (group,) = measure_rates(older, replace(newer, groups=(reported,))).groups
    assert group.committed == (CommittedOffset("t", 0, 50, 7, 0.4),)
    (share,) = measure_rates(older, replace(newer, groups=(replace(reported, type=GroupType.SHARE),))).groups
    assert share.committed == (CommittedOffset("t", 0, 50, 7),)


def test_a_rate_of_an_earlier_measurement_stays_where_this_one_knows_none() -> None:
    log: dict[Key, tuple[int, int]] = {("t", 0): (0, 900), ("t", 1): (0, 900)}
    older = reading(T0, log, {"g": {("t", 1): 10}})
    known = (CommittedOffset("t", 0, 50, None, 8.0), CommittedOffset("t", 1, 50, None, 8.0))
    newer = reading(T100, log, {"g": {}})
    (group,) = measure_rates(older, replace(newer, groups=(replace(newer.groups[0], committed=known),))).groups
    assert [commit.read_messages_per_s for commit in group.committed] == [8.0, 0.4]


@for_each("seed", range(3))
def test_random_readings_commit_by_commit(seed: int) -> None:
    """Commits of partitions that the cluster does not have are among them; both ways through the module agree."""
    draw = Random(seed)
    keys = [(topic, number) for topic in ("a", "b", "c") for number in range(4)]
    for _ in range(15):
        there = sorted(draw.sample(keys, 8))
        logs = [{key: (draw.choice([0, 0, 40]), draw.randint(60, 90)) for key in there} for _ in range(2)]
        logs[1] = {key: (max(start, logs[0][key][0]), logs[0][key][1] + 5) for key, (start, _) in logs[1].items()}
        commits = [
            {name: {key: draw.randint(0, 100) for key in draw.sample(keys, draw.randint(0, 9))} for name in "gh"}
            for _ in range(2)
        ]
        older, newer = reading(T0, logs[0], commits[0]), reading(T100, logs[1], commits[1])
        expected: dict[tuple[str, str, int], float | None] = {}
        for name, own in commits[1].items():
            for key, offset in own.items():
                before = commits[0][name].get(key)
                expected[name, *key] = None
                if before is not None and key in there and logs[1][key][0] <= before <= offset:
                    reached = min(offset, logs[1][key][1])
                    expected[name, *key] = (reached - before) / 100 if reached >= before else None
        assert read_rates(older, newer) == expected
        same_rows = np.arange(len(newer.partitions))
        groups = with_read_rates(older, newer, commit_columns(older, newer), same_rows, 100.0)
        assert groups == measure_rates(older, newer).groups
