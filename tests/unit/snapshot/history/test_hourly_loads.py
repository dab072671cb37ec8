from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource, LoadStatistic
from kafka_rebalance.snapshot.history import (
    HOUR_S,
    LEAST_SEEN_S,
    HourlyLoads,
    hourly_loads,
    measured_reading,
    readings_of,
    statistic_of,
    with_window_loads,
)
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, Partition, Topic, partition_table
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from tests.sample import for_each

IN, CPU, MESSAGES = LoadKind.IN_BYTES_PER_S, LoadKind.CPU_PERCENT, LoadKind.IN_MESSAGES_PER_S
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MEAN, P95, PEAK = LoadStatistic


def reading(rates, hours_ago=0.0, window_s=HOUR_S, *, topic_id="id-1", kind=IN, source=LoadSource.PROMETHEUS):
    """A snapshot of topic t with as many partitions as rates, None where one is unknown."""
    rows = [Partition("t", number, (1, 2), 1, log_bytes=(100, 100)) for number in range(len(rates))]
    values = np.array([np.nan if rate is None else rate for rate in rates])
    return ClusterSnapshot(
        cluster="c", brokers=(Broker(1), Broker(2)), topics=(Topic("t", topic_id),),
        partitions=partition_table(rows, {"t": 0}), captured_at=NOON - timedelta(hours=hours_ago),
        loads=PartitionLoads({kind: LoadColumn(values, source, window_s)}),
    )  # fmt: skip


def hours_of(snapshots, hours, kind=IN) -> HourlyLoads:
    """The window that ends with the last of the snapshots."""
    return hourly_loads(snapshots[-1], readings_of(snapshots), hours)


def test_the_worked_example_of_the_module():
    newest = replace(reading([1.0]), loads=PartitionLoads())
    readings = [reading([40.0], 2, 1800), reading([10.0], 1)]
    found = hourly_loads(newest, readings_of(readings), 3)
    assert np.isnan(found.values[IN][0, 0])
    assert found.values[IN][1:, 0].tolist() == [10.0, 40.0]
    assert found.measured.tolist() == [False, True, True]


def test_an_hour_is_the_mean_of_what_was_seen_of_it_by_time():
    """40 minutes at 30 and 20 at 60 are 40 a second; the snapshot of 90 minutes reaches half into the hour before."""
    readings = [reading([6.0], 1, 5400), reading([30.0], 1 / 3, 2400), reading([60.0], 0, 1200)]
    found = hours_of(readings, 3)
    assert found.values[IN][:, 0].tolist() == pytest.approx([40.0, 6.0, 6.0])


def test_less_than_half_an_hour_is_no_hour():
    assert np.isnan(hours_of([reading([6.0], 0, LEAST_SEEN_S - 1)], 1).values[IN]).all()


def test_hours_of_one_partition_can_be_known_where_another_ones_are_not():
    found = hours_of([reading([1.0, None], 1), reading([None, 4.0])], 2)
    assert np.isnan(found.values[IN]).tolist() == [[True, False], [False, True]]
    assert statistic_of(found.values[IN], MEAN).tolist() == [1.0, 4.0]


def test_a_topic_created_again_begins_with_no_hours_and_a_grown_one_with_fewer():
    again = [reading([900.0], 1, topic_id="id-0"), reading([4.0])]
    assert np.isnan(hours_of(again, 2).values[IN][:, 0]).tolist() == [False, True]
    grown = [reading([5.0], 1), reading([4.0, 1.0])]
    assert np.isnan(hours_of(grown, 2).values[IN]).tolist() == [[False, False], [False, True]]


def test_what_is_later_than_the_newest_reading_or_told_twice_counts_for_nothing():
    series = [reading([2.0], 1), reading([8.0], 1), reading([3.0]), reading([99.0], -1)]
    assert hourly_loads(series[2], readings_of(series), 2).values[IN][:, 0].tolist() == [3.0, 2.0]


def test_readings_out_of_order_and_a_snapshot_without_time_are_refused():
    series = [reading([2.0]), reading([2.0], 1)]
    with pytest.raises(InvalidInputError, match="2026-03-01T11:00:00Z comes after 2026-03-01T12:00:00Z"):
        hourly_loads(series[0], readings_of(series), 2)
    with pytest.raises(InvalidInputError, match="no time"):
        hourly_loads(replace(series[0], captured_at=None), [], 2)


def test_estimates_and_figures_of_other_windows_are_no_readings():
    assert measured_reading(reading([1.0], source=LoadSource.ESTIMATED)) is None
    assert measured_reading(reading([1.0], source=LoadSource.HOURLY_P95, window_s=7 * 24 * HOUR_S)) is None
    assert measured_reading(reading([1.0], window_s=27 * HOUR_S)) is None
    given = measured_reading(reading([1.0], window_s=None, source=LoadSource.GIVEN))
    assert given is not None
    assert given.columns[IN].window_s == HOUR_S


def test_a_series_without_rates_is_measured_from_one_to_the_next():
    """Sizes 0, 3,600 and 7,200 an hour apart: a byte a second; unknown two days later."""

    def at(hours_ago, size):
        row = Partition("t", 0, (1,), 1, log_bytes=(size,), start_offset=0, end_offset=size)
        return ClusterSnapshot(
            cluster="c", brokers=(Broker(1),), topics=(Topic("t"),), partitions=partition_table([row], {"t": 0}),
            captured_at=NOON - timedelta(hours=hours_ago),
        )  # fmt: skip

    series = [at(60, 0), at(2, 0), at(1, 3600), at(0, 7200)]
    found = hourly_loads(series[-1], readings_of(series), 3)
    assert found.values[IN][:2, 0].tolist() == [1.0, 1.0]
    assert found.measured.tolist() == [True, True, False]


def test_mean_and_p95_of_known_hours():
    """Of 1 … 21 p95 is the twentieth; of two hours, 0.95 of the way from the lower to the higher."""
    values = np.full((21, 3), np.nan, dtype=np.float32)
    values[:, 0] = np.random.default_rng(1).permutation(np.arange(1, 22))
    values[:2, 1] = (10, 20)
    assert statistic_of(values, MEAN)[:2].tolist() == [11.0, 15.0]
    assert statistic_of(values, P95)[:2].tolist() == pytest.approx([20.0, 19.5])
    assert all(np.isnan(statistic_of(values, statistic)[2]) for statistic in LoadStatistic)


def test_peak_is_what_the_clusters_busiest_hours_had_of_each_partition():
    """Of 40 hours two count: those of 100 + 1 and of 1 + 90, though partition 2 was busier in a third."""
    values = np.ones((40, 4), dtype=np.float32)
    values[7, 0], values[30, 1], values[20, 2] = 100, 90, 60
    values[:, 3] = np.nan
    assert statistic_of(values, PEAK)[:3].tolist() == [50.5, 45.5, 1.0]
    assert np.isnan(statistic_of(values, PEAK)[3])


def test_an_hour_is_not_called_quiet_for_its_holes_and_who_is_not_known_in_it_counts_as_usual():
    """Hour 1 lacks partition 0, which usually has 50: 50 + 30 are more than 50 + 20. Partition 0 keeps its 50."""
    values = np.array([[50.0, 20.0], [np.nan, 30.0]], dtype=np.float32)
    assert statistic_of(values, PEAK).tolist() == [50.0, 30.0]


def test_a_window_takes_the_place_of_the_last_reading_and_says_so():
    series = [reading([1.0, None], 2), reading([5.0, None], 1), reading([3.0, 7.0], 0, 60)]
    found = with_window_loads(series[-1], hours_of(series, 24), PEAK)
    column = found.loads.columns[IN]
    assert column.values.tolist() == [5.0, 7.0]  # no known hour of the second partition
    assert (column.source, column.window_s) == (LoadSource.BUSIEST_HOURS, 24 * HOUR_S)
    (gap,) = found.coverage
    assert gap.what == fact(FactCode.LACKS_HOURS)
    assert gap.reason == fact(FactCode.HOURS_NOT_MEASURED, seen=2, hours=24, flattened=0, unseen_partitions=1)
    assert found.partitions is series[-1].partitions


def test_readings_a_day_apart_are_said_to_flatten():
    series = [reading([1.0], 24, 24 * HOUR_S), reading([2.0], 0, 24 * HOUR_S)]
    found = with_window_loads(series[-1], hours_of(series, 48), MEAN)
    assert found.load(IN).tolist() == [1.5]
    assert found.coverage[0].reason.args["flattened"] == 48


def test_kinds_that_no_reading_has_stay_what_they_are():
    newest = reading([3.0], kind=CPU)
    found = with_window_loads(newest, hours_of([reading([1.0], 1), reading([2.0])], 2), MEAN)
    assert found.load(CPU).tolist() == [3.0]
    assert found.loads.columns[CPU].source is LoadSource.PROMETHEUS


def test_a_window_of_which_nothing_was_seen_is_refused():
    with pytest.raises(InvalidInputError, match="none of the last 24 hours of cluster c was measured"):
        with_window_loads(reading([1.0]), hourly_loads(reading([1.0]), [], 24), MEAN)


@for_each("seed", range(20))
def test_random_series_against_a_plain_reckoning(seed):
    """An hour is the mean of its minutes covered by a snapshot, if at least thirty."""
    draw = Random(seed)
    hours, partitions = 6, 3
    minutes = [[[] for _ in range(partitions)] for _ in range(hours * 60)]
    series, ago = [], 0
    while ago < (hours + 2) * 60:
        length = draw.randint(1, 150)
        rates = [None if draw.random() < 0.2 else draw.uniform(0, 1e9) for _ in range(partitions)]
        if draw.random() < 0.8:  # else a missing snapshot
            series.insert(0, reading(rates, ago / 60, length * 60))
            for minute in range(ago, min(ago + length, hours * 60)):
                for number, rate in enumerate(rates):
                    minutes[minute][number] += [] if rate is None else [rate]
        ago += length
    newest = replace(reading([0.0] * partitions), loads=PartitionLoads())
    found = hourly_loads(newest, readings_of(series), hours).values.get(IN, np.full((hours, partitions), np.nan))
    for hour in range(hours):
        for number in range(partitions):
            known = [rate for minute in minutes[hour * 60 : hour * 60 + 60] for rate in minute[number]]
            expected = sum(known) / len(known) if len(known) >= 30 else np.nan
            assert found[hour, number] == pytest.approx(expected, rel=1e-5, nan_ok=True)
