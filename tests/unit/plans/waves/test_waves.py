import numpy as np
import pytest

from kafka_rebalance.plans.wave_filling import (
    Disk,
    LeaderShifts,
    Transfers,
    WaveLimits,
    slot_filling_seconds,
    traffic_of,
    waves_of,
)

MIB = 2**20


def transfers(pairs, sizes, rates=None, dropped=None, leaders=None) -> Transfers:
    """One copy each: (source, target)."""
    source, target = (np.array(brokers, dtype=np.int32) for brokers in zip(*pairs, strict=True))
    count = len(pairs)
    gone = source if dropped is None else np.array(dropped, dtype=np.int32)
    return Transfers(
        source=source,
        size=np.array(sizes, dtype=np.float64),
        rate=np.zeros(count) if rates is None else np.array(rates, dtype=np.float64),
        target=target,
        begin=np.arange(count + 1),
        dropped=gone,
        dropped_size=np.array(sizes, dtype=np.float64),
        dropped_begin=np.arange(count + 1),
        leaders=LeaderShifts(*np.full((2, count), -1, dtype=np.int32)) if leaders is None else leaders,
    )


def no_hurry(moves: Transfers) -> np.ndarray:
    return np.zeros(len(moves), dtype=np.bool_)


def total_seconds(moves: Transfers, wave: np.ndarray, brokers: int, throttle: int) -> float:
    return sum(
        traffic_of(moves.chosen(np.flatnonzero(wave == w)), brokers, throttle).seconds for w in range(wave.max() + 1)
    )


def test_the_worked_example_takes_as_long_as_its_busiest_broker() -> None:
    moves = transfers([(1, 3), (1, 4), (2, 5)], [100, 40, 50])
    wave = waves_of(moves, no_hurry(moves), 6, None, WaveLimits(10, 1, 5000))
    assert wave.tolist() == [0, 1, 0]
    assert total_seconds(moves, wave, 6, 10) == pytest.approx(14.0)


@pytest.mark.parametrize("slots", [1, 3, 10])
def test_no_broker_sends_or_receives_more_than_its_slots(slots: int) -> None:
    draw = np.random.default_rng(slots)
    pairs = [
        (a, b if b < a else b + 1) for a, b in zip(draw.integers(0, 20, 400), draw.integers(0, 19, 400), strict=True)
    ]
    moves = transfers(pairs, draw.lognormal(0, 1, 400))
    wave = waves_of(moves, no_hurry(moves), 20, None, WaveLimits(MIB, slots, 5000))
    assert (wave >= 0).all()
    for w in range(wave.max() + 1):
        members = moves.chosen(np.flatnonzero(wave == w))
        assert np.bincount(members.source).max() <= slots
        assert np.bincount(members.target).max() <= slots


def test_waves_are_as_few_as_the_busiest_broker_allows() -> None:
    draw = np.random.default_rng(7)
    pairs = [
        (a, b if b < a else b + 1) for a, b in zip(draw.integers(0, 30, 900), draw.integers(0, 29, 900), strict=True)
    ]
    moves = transfers(pairs, draw.lognormal(0, 1, 900))
    degree = max(np.bincount(moves.source).max(), np.bincount(moves.target).max())
    wave = waves_of(moves, no_hurry(moves), 30, None, WaveLimits(MIB, 5, 5000))
    assert wave.max() + 1 <= -(-degree // 5) + 2


def test_waves_lose_little_time_at_their_barriers() -> None:
    """Waves of equal length: the sum is near the busiest broker's bytes, the lower bound."""
    draw = np.random.default_rng(3)
    pairs = [
        (a, b if b < a else b + 1) for a, b in zip(draw.integers(0, 50, 5000), draw.integers(0, 49, 5000), strict=True)
    ]
    moves = transfers(pairs, draw.lognormal(0, 1.2, 5000))
    wave = waves_of(moves, no_hurry(moves), 50, None, WaveLimits(1, 10, 5000))
    least = max(np.bincount(moves.source, moves.size).max(), np.bincount(moves.target, moves.size).max())
    assert total_seconds(moves, wave, 50, 1) <= 1.25 * least


def test_partitions_that_lack_replicas_go_first() -> None:
    draw = np.random.default_rng(1)
    moves = transfers([(0, 1 + i % 5) for i in range(50)], draw.lognormal(0, 1, 50))
    urgent = np.zeros(50, dtype=np.bool_)
    urgent[[3, 17, 44]] = True
    wave = waves_of(moves, urgent, 6, None, WaveLimits(MIB, 4, 5000))
    assert wave[urgent].max() == 0
    assert wave.max() == 12


def test_a_full_disk_waits_until_something_has_left_it() -> None:
    """Broker 1 is full: it gives to 2 first, and only then takes from 0."""
    moves = transfers([(0, 1), (1, 2)], [40, 50])
    disk = Disk(np.array([80.0, 100.0, 10.0]), np.array([100.0, 100.0, 100.0]))
    wave = waves_of(moves, no_hurry(moves), 3, disk, WaveLimits(MIB, 10, 5000))
    assert wave.tolist() == [1, 0]


def test_brokers_that_wait_for_each_other_are_told_and_not_forced() -> None:
    """Two full disks cannot swap: neither has room for a second copy."""
    moves = transfers([(0, 1), (1, 0)], [40, 50])
    disk = Disk(np.array([100.0, 100.0]), np.array([100.0, 100.0]))
    assert waves_of(moves, no_hurry(moves), 2, disk, WaveLimits(MIB, 10, 5000)).tolist() == [-1, -1]


def test_a_file_holds_no_more_rows_than_one_request_of_kafka_takes() -> None:
    moves = transfers([(i % 100, 100 + i % 100) for i in range(1000)], [1.0] * 1000)
    wave = waves_of(moves, no_hurry(moves), 200, None, WaveLimits(MIB, 1000, 300))
    assert np.bincount(wave).max() <= 300


def test_the_throttle_stays_above_what_is_written_meanwhile() -> None:
    """Three partitions of 4 MiB/s to one broker under 10 MiB/s: two would use more than half of it."""
    moves = transfers([(0, 3), (1, 3), (2, 3)], [100, 100, 100], [4 * MIB] * 3)
    wave = waves_of(moves, no_hurry(moves), 4, None, WaveLimits(10 * MIB, 10, 5000))
    assert sorted(wave.tolist()) == [0, 1, 2]
    for w in range(3):
        assert traffic_of(moves.chosen(np.flatnonzero(wave == w)), 4, 10 * MIB).throttle_bytes_per_s == 10 * MIB


def test_a_partition_written_faster_than_the_throttle_raises_it() -> None:
    moves = transfers([(0, 1)], [100], [20 * MIB])
    traffic = traffic_of(moves, 2, 10 * MIB)
    assert traffic.throttle_bytes_per_s > 20 * MIB
    assert traffic.seconds == pytest.approx(100 / traffic.throttle_bytes_per_s)


def test_what_a_wave_reads_comes_from_the_leader_not_from_the_replica_that_goes() -> None:
    moves = transfers([(0, 1)], [100], dropped=[2])
    traffic = traffic_of(moves, 3, 10)
    assert traffic.sent.tolist() == [100, 0, 0]
    assert traffic.arriving.tolist() == [0, 100, 0]


def test_full_slots_are_not_slower_than_the_busiest_broker_needs_and_never_faster() -> None:
    draw = np.random.default_rng(5)
    pairs = [
        (a, b if b < a else b + 1) for a, b in zip(draw.integers(0, 40, 4000), draw.integers(0, 39, 4000), strict=True)
    ]
    moves = transfers(pairs, draw.lognormal(0, 1.2, 4000))
    least = max(np.bincount(moves.source, moves.size).max(), np.bincount(moves.target, moves.size).max())
    seconds = slot_filling_seconds(moves, 40, 2, 1.0)
    assert least * (1 - 1e-12) <= seconds <= 1.02 * least


def test_one_slot_runs_two_copies_of_a_broker_after_each_other() -> None:
    moves = transfers([(0, 1), (0, 2)], [30, 20])
    assert slot_filling_seconds(moves, 3, 1, 10.0) == pytest.approx(5.0)
