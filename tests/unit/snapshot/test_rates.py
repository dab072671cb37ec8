import math
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import (
    Broker,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    Partition,
    Topic,
    partition_table,
)
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from kafka_rebalance.snapshot.rates import measure_rates, window_between
from kafka_rebalance.snapshot.times import parse_time
from tests.coverage_gaps import gap_of
from tests.sample import for_each

IN, OUT, MESSAGES = LoadKind.IN_BYTES_PER_S, LoadKind.OUT_BYTES_PER_S, LoadKind.IN_MESSAGES_PER_S


def snapshot(
    at: str | None, size: int | None, start: int | None, end: int | None, committed: int | None = None, **changes
):
    """One topic of one partition on brokers 1 (leader) and 2."""
    topic = changes.pop("topic", Topic("t", topic_id="id-1"))
    row = Partition(
        topic.name, 0, (1, 2), changes.pop("leader", 1), log_bytes=changes.pop("sizes", (size, size)),
        start_offset=start, end_offset=end, adding=changes.pop("adding", ()),
    )  # fmt: skip
    commits = () if committed is None else (CommittedOffset(topic.name, 0, committed),)
    return ClusterSnapshot(
        cluster="c", brokers=(Broker(1), Broker(2)), topics=(topic,),
        partitions=partition_table([row], {topic.name: 0}),
        groups=changes.pop("groups", (Group("g", committed=commits),)), captured_at=at, **changes,
    )  # fmt: skip


T0, T100 = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 1, 40, tzinfo=UTC)


def rate(measured: ClusterSnapshot, kind: LoadKind) -> float:
    return float(measured.load(kind)[0])


def test_the_worked_example_of_the_module():
    measured = measure_rates(snapshot(T0, 1_000, 0, 10, 10), snapshot(T100, 6_000, 0, 60, 50))
    assert (rate(measured, IN), rate(measured, MESSAGES), rate(measured, OUT)) == (50.0, 0.5, 40.0)
    assert measured.loads.columns[IN].source is LoadSource.LOG_DIR_GROWTH
    assert {column.window_s for column in measured.loads.columns.values()} == {100.0}


def test_where_retention_ran_messages_times_message_size_counts():
    """60 bytes a message: 600 bytes hold 10 messages; 50 messages came in 100 s while the log shrank."""
    measured = measure_rates(snapshot(T0, 1_000, 0, 10), snapshot(T100, 600, 50, 60))
    assert rate(measured, IN) == pytest.approx(50 * 60 / 100)
    assert measured.loads.columns[IN].source is LoadSource.OFFSETS_TIMES_MESSAGE_SIZE


def test_growth_is_the_lower_bound_where_it_is_greater_than_the_estimate():
    compacted = Topic("t", configs={"cleanup.policy": "compact"})
    measured = measure_rates(
        snapshot(T0, 1_000, 0, 1_000, topic=compacted), snapshot(T100, 3_000, 0, 2_000, topic=compacted)
    )
    assert rate(measured, IN) == 20.0  # growth 2,000; the estimate would be 1,000 messages x 1.5 bytes = 1,500


def test_bytes_a_message_of_a_tiered_topic_are_those_on_disk():
    """1,000 messages are kept, the last 100 of them here in 5,000 bytes: 50 bytes each, not 5. 200 came in 100 s."""
    tiered = Topic("t", configs={"remote.storage.enable": "true"})
    before, now = (snapshot(at, 5_000, 0, end, topic=tiered) for at, end in ((T0, 800), (T100, 1_000)))
    now = replace(now, partitions=replace(now.partitions, local_start_offset={0: 900}))
    assert rate(measure_rates(before, now), IN) == pytest.approx(200 * 50 / 100)


def test_a_shrunken_log_never_gives_a_negative_rate():
    measured = measure_rates(snapshot(T0, 1_000, None, 10), snapshot(T100, 600, None, 10))
    assert rate(measured, IN) == 0.0  # nothing was written: the end offset is constant
    unknown = measure_rates(snapshot(T0, 1_000, None, None), snapshot(T100, 600, None, None))
    assert math.isnan(rate(unknown, IN))


def test_a_topic_created_again_has_no_rate():
    again = Topic("t", topic_id="id-2")
    measured = measure_rates(snapshot(T0, 10, 0, 10, 5), snapshot(T100, 900, 0, 90, 50, topic=again))
    assert math.isnan(rate(measured, IN))
    assert math.isnan(rate(measured, MESSAGES))
    assert math.isnan(rate(measured, OUT))


def test_an_end_offset_that_went_backwards_means_created_again_even_without_ids():
    plain = Topic("t")
    measured = measure_rates(snapshot(T0, 10, 0, 100, topic=plain), snapshot(T100, 900, 0, 90, topic=plain))
    assert math.isnan(rate(measured, IN))
    assert math.isnan(rate(measured, MESSAGES))


def test_a_new_topic_has_no_rate_yet():
    measured = measure_rates(snapshot(T0, 10, 0, 10, topic=Topic("other")), snapshot(T100, 900, 0, 90))
    assert measured.loads.columns == {}


def test_the_growth_is_that_of_the_replica_that_leads_now():
    measured = measure_rates(
        snapshot(T0, None, 0, 10, sizes=(1_000, 1_000)), snapshot(T100, None, 0, 20, sizes=(9_999, 3_000), leader=2)
    )
    assert rate(measured, IN) == 20.0


def test_a_replica_that_was_being_filled_is_no_measure():
    """It had 100 of 1,000 bytes: what it received since is mostly replication. 50 messages x 10 bytes were written."""
    measured = measure_rates(
        snapshot(T0, None, 0, 100, sizes=(1_000, 100), adding=(2,)),
        snapshot(T100, None, 0, 150, sizes=(1_500, 1_500), leader=2),
    )
    assert rate(measured, IN) == 5.0


def test_a_commit_that_went_backwards_counts_as_nothing_read():
    measured = measure_rates(snapshot(T0, 1_000, 0, 10, 10), snapshot(T100, 2_000, 0, 20, 3))
    assert rate(measured, OUT) == 0.0


def test_a_first_commit_counts_only_what_was_written_since():
    """It may have started at the end: of its 60 messages only those after offset 10 surely were read in the window."""
    measured = measure_rates(snapshot(T0, 1_000, 0, 10), snapshot(T100, 6_000, 0, 60, 60))
    assert rate(measured, OUT) == 50.0


def test_two_groups_read_twice():
    def groups(first: int, second: int) -> tuple[Group, ...]:
        return tuple(
            Group(name, committed=(CommittedOffset("t", 0, at),)) for name, at in (("a", first), ("b", second))
        )

    measured = measure_rates(
        snapshot(T0, 1_000, 0, 10, groups=groups(0, 0)), snapshot(T100, 2_000, 0, 20, groups=groups(10, 20))
    )
    assert rate(measured, OUT) == 30.0


def test_groups_that_could_not_be_listed_leave_reading_unknown():
    gap = (gap_of("cluster", "c", FactCode.LACKS_GROUPS, "broker 1 did not answer"),)
    measured = measure_rates(snapshot(T0, 1_000, 0, 10, 10), snapshot(T100, 2_000, 0, 20, 20, coverage=gap))
    assert OUT not in measured.loads.columns
    assert rate(measured, IN) == 10.0


def test_what_somebody_measured_better_is_kept():
    given = PartitionLoads({IN: LoadColumn(np.array([7.0]), LoadSource.PROMETHEUS, 60.0)})
    measured = measure_rates(snapshot(T0, 1_000, 0, 10), replace(snapshot(T100, 2_000, 0, 20), loads=given))
    assert rate(measured, IN) == 7.0
    assert rate(measured, MESSAGES) == 0.1


@pytest.mark.parametrize(
    ("before", "now", "seconds"),
    [
        ("2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z", 3600),
        ("2026-01-01T00:00:00+02:00", "2026-01-01T00:00:00Z", 7200),
        ("2026-01-01 00:00", "2026-01-01T00:00:01.5+00:00", 1.5),
        ("2026-02-28T23:59:59-05:00", "2026-03-01T05:00:00Z", 1),
    ],
)
def test_the_window_respects_zones(before: str, now: str, seconds: float):
    older, newer = (snapshot(parse_time(text, "captured_at"), 1, 0, 1) for text in (before, now))
    assert window_between(older, newer) == pytest.approx(seconds, abs=1e-6)


@pytest.mark.parametrize(
    ("before", "now", "message"),
    [
        (T100, T0, "is not after"),
        (T0, None, "has no time"),
        (T0, T0, "not after"),
    ],
)
def test_times_that_cannot_be_are_refused(before: datetime, now: datetime | None, message: str):
    with pytest.raises(InvalidInputError, match=message):
        measure_rates(snapshot(before, 1, 0, 1), snapshot(now, 1, 0, 1))


def test_a_log_that_kept_its_size_is_no_silent_log_where_its_start_is_unknown():
    """100 messages came in and as many left: without start offsets that looks like nothing."""
    for start_before, start in ((None, None), (0, None)):
        measured = measure_rates(snapshot(T0, 1_000, start_before, 10, 5), snapshot(T100, 1_000, start, 110, 50))
        assert math.isnan(rate(measured, IN))
        assert math.isnan(rate(measured, OUT))
        assert rate(measured, MESSAGES) == 1.0
        (gap,) = measured.coverage
        assert (gap.subject_type, gap.what) == ("cluster", fact(FactCode.LACKS_RATES))
        counts = {"unseen": 1, "partitions": 1, "without_rate": 1, "with_lower_bound": 0}
        assert gap.reason == fact(FactCode.RETENTION_NOT_SEEN, **counts)


def test_a_start_offset_of_one_reading_gives_bytes_a_message():
    measured = measure_rates(snapshot(T0, 1_000, None, 10), snapshot(T100, 1_000, 60, 110))
    assert rate(measured, IN) == 100 * (1_000 / 50) / 100


def test_growth_without_start_offsets_is_a_lower_bound_and_said():
    measured = measure_rates(snapshot(T0, 1_000, None, 10, 5), snapshot(T100, 3_000, None, 110, 55))
    assert (rate(measured, IN), rate(measured, OUT)) == (20.0, 10.0)
    args = measured.coverage[0].reason.args
    assert (args["without_rate"], args["with_lower_bound"]) == (0, 1)


@pytest.mark.parametrize(
    ("start", "configs"), [(0, {}), (None, {"retention.ms": "-1", "retention.bytes": "-1"})], ids=["at 0", "keeps all"]
)
def test_where_nothing_can_have_been_deleted_the_growth_is_exact(start: int | None, configs: dict[str, str]):
    topic = Topic("t", configs=configs)
    measured = measure_rates(
        snapshot(T0, 1_000, None, None, topic=topic), snapshot(T100, 1_000, start, None, topic=topic)
    )
    assert rate(measured, IN) == 0.0
    assert measured.coverage == ()


def test_a_size_that_stands_still_while_messages_come_in_is_not_believed():
    """The dump of sizes was taken at another time: 50 messages of 100 bytes were written."""
    measured = measure_rates(snapshot(T0, 6_000, 0, 10), snapshot(T100, 6_000, 0, 60))
    assert rate(measured, IN) == 50.0


def test_a_group_whose_commits_were_not_read_reads_an_unknown_amount():
    member = Member("m", assigned=(("t", (0,)),))
    silent = (Group("g", members=(member,)),)
    gap = (gap_of("group", "g", FactCode.LACKS_COMMITS, "no offsets dump of it"),)
    before, now = snapshot(T0, 1_000, 0, 10, groups=silent), snapshot(T100, 2_000, 0, 20, groups=silent, coverage=gap)
    assert OUT not in measure_rates(before, now).loads.columns
    assert rate(measure_rates(before, replace(now, coverage=())), OUT) == 0.0


def test_a_first_commit_says_nothing_where_the_end_before_is_unknown():
    measured = measure_rates(snapshot(T0, 1_000, 0, None), snapshot(T100, 6_000, 0, 60, 60))
    assert OUT not in measured.loads.columns


@for_each("seed", range(200), fast=range(40))
def test_whatever_is_left_out_a_rate_is_unknown_or_at_most_the_truth_and_never_zero_for_some(seed: int):
    """Messages of one size, deleted from the start; any offset or size may be missing in a snapshot."""
    random = Random(seed)
    message_bytes, first = random.randint(1, 1_000), random.choice([0, random.randint(0, 10_000)])
    held, written = random.randint(0, 5_000), random.choice([0, random.randint(1, 5_000)])
    deleted = random.choice([0, written, random.randint(0, held + written)])
    deleted = min(deleted, held + written)
    read = random.randint(0, written)

    def reading(at: str, start: int, end: int, committed: int) -> ClusterSnapshot:
        seen = [None if random.random() < 0.3 else value for value in ((end - start) * message_bytes, start, end)]
        return snapshot(at, seen[0], seen[1], seen[2], committed if random.random() < 0.8 else None)

    before = reading(T0, first, first + held, first + held)
    now = reading(T100, first + deleted, first + held + written, first + held + read)
    measured = measure_rates(before, now)
    for kind, amount in ((IN, written * message_bytes), (OUT, read * message_bytes), (MESSAGES, written)):
        value = rate(measured, kind)
        assert math.isnan(value) or value <= amount / 100 * (1 + 1e-9), kind
        if kind is not OUT:  # a group that does not commit is not seen
            assert math.isnan(value) or (value > 0) == (amount > 0), kind


def test_two_clusters_are_refused():
    with pytest.raises(InvalidInputError, match="two clusters, A and B"):
        measure_rates(snapshot(T0, 1, 0, 1, cluster_id="A"), snapshot(T100, 1, 0, 1, cluster_id="B"))


def test_topics_in_another_order_are_matched_by_name():
    """The older snapshot names its topics the other way round."""

    def big(at: str, end: int, size: int, names: list[str]) -> ClusterSnapshot:
        count = len(names) * 100
        rows = [
            Partition(
                name,
                p,
                (p % 9, (p + 1) % 9),
                p % 9,
                log_bytes=(size * int(name[1:]),) * 2,
                start_offset=0,
                end_offset=end,
            )
            for name in names
            for p in range(100)
        ]
        assert len(rows) == count
        topics = tuple(Topic(name) for name in names)
        table = partition_table(rows, {name: i for i, name in enumerate(names)})
        return ClusterSnapshot("c", tuple(Broker(i) for i in range(9)), topics, table, captured_at=at)

    names = [f"t{i}" for i in range(50)]
    older, newer = big(T0, 100, 1_000, names[::-1]), big(T100, 200, 3_000, names)
    measured = measure_rates(older, newer)
    wanted = [20.0 * int(name[1:]) for name in names for _ in range(100)]
    assert measured.load(IN).tolist() == wanted


def test_a_replica_that_was_out_of_sync_is_no_measure():
    """As one that was being added: a broker that came back empty copies 900 bytes, while 50 x 10 were written."""
    before = snapshot(T0, None, 0, 100, sizes=(1_000, 100))
    in_sync = np.array([True, False])
    lagging = replace(before, partitions=replace(before.partitions, in_sync=in_sync))
    now = snapshot(T100, None, 0, 150, sizes=(1_500, 1_500), leader=2)
    assert rate(measure_rates(lagging, now), IN) == 5.0
    whole = replace(before, partitions=replace(before.partitions, in_sync=~in_sync | in_sync))
    assert rate(measure_rates(whole, now), IN) == 14.0  # in sync its size is right


def test_a_start_offset_that_is_0_again_means_created_again_even_without_ids():
    plain = Topic("t")
    measured = measure_rates(snapshot(T0, 100, 40, 50, topic=plain), snapshot(T100, 900, 0, 90, topic=plain))
    assert math.isnan(rate(measured, IN))


def test_nobody_reads_what_was_deleted_before_nor_what_is_not_written_yet():
    """Commit 10 → 500: of the messages before 60 none was there any more, the last of them is 99: 40 of 20 bytes."""
    measured = measure_rates(snapshot(T0, 800, 60, 100, 10), snapshot(T100, 800, 60, 100, 500))
    assert rate(measured, OUT) == 40 * 20 / 100


@for_each("seed", range(40))
def test_whatever_happens_to_a_log_its_rates_are_never_negative_and_never_more_than_was_written_and_read(seed):
    """Retention, recreation, new leaders, empty replicas, arbitrary commits: 12 snapshots."""
    draw = Random(seed)
    start, end, committed, copied, has_id, leader = 0, 0, 0, True, draw.random() < 0.5, 1
    number, before, measured_hours = 1, None, 0
    for hour in range(12):
        written = draw.choice([0, draw.randint(1, 10_000)])
        event = draw.choice(["", "", "retention", "again", "leader", "empty", "reset"])
        if event == "again":
            start, end, committed, number = 0, 0, 0, number + 1
        was_committed, end = committed, end + written
        if event == "retention":
            start = draw.randint(start, end)
        if event == "leader":
            leader = 3 - leader
        committed = draw.randint(start, end) if event != "reset" else draw.randint(0, end + 1_000)
        bytes_now, was_copied = (end - start) * 100, copied
        copied = event != "empty"
        follower = bytes_now if copied else bytes_now // 20
        sizes = (bytes_now, follower) if leader == 1 else (follower, bytes_now)
        now = snapshot(
            datetime(2026, 1, 1, hour, tzinfo=UTC), None, start, end, committed, sizes=sizes, leader=leader,
            topic=Topic("t", f"id-{number}" if has_id else None),
        )  # fmt: skip
        now = replace(
            now, partitions=replace(now.partitions, in_sync=np.array([leader == 1 or copied, leader == 2 or copied]))
        )
        if before is not None:
            measured = measure_rates(before, now)
            rates = {kind: rate(measured, kind) * 3600 for kind in (IN, MESSAGES, OUT)}
            assert all(math.isnan(value) or value >= 0 for value in rates.values()), event
            measured_hours += not math.isnan(rates[MESSAGES])
            assert not rates[MESSAGES] > written + 1e-6, event
            assert not rates[IN] > written * 100 * (1 + 1e-9) + 1e-6, (event, was_copied)
            assert not rates[OUT] > (end - max(start, 0)) * 100 + max(0, end - was_committed) * 100, event
        before = now
    assert measured_hours >= 3, "rates that are always unknown keep every promise"
