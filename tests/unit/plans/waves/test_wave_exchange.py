from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from kafka_rebalance.plans.params import DEFAULTS
from kafka_rebalance.plans.wave_filling import (
    UNLIMITED,
    Caps,
    LeaderShifts,
    Transfers,
    WaveLimits,
    bytes_in_turn,
    copies_of,
    empty_wave_loads,
    fill_evenly,
    least_in_turn,
    packing_of,
    shorten,
    traffic_of,
    waves_of,
)
from tests.sample import for_each
from tests.unit.plans.waves.test_waves import transfers

HASTY = replace(DEFAULTS.waves, most_exchange_tries=0)


def random_transfers(seed: int) -> tuple[Transfers, int, WaveLimits]:
    """Up to two copies each, some of them between leaders that change."""
    draw = np.random.default_rng(seed)
    brokers, count = int(draw.integers(4, 12)), int(draw.integers(1, 90))
    order = np.argsort(draw.random((count, brokers)), axis=1).astype(np.int32)
    copies = draw.integers(1, 3, count)
    begin = np.concatenate(([0], np.cumsum(copies)))
    changes = draw.random(count) < 0.5
    moves = Transfers(
        source=order[:, 0].copy(),
        size=draw.integers(1, 1 + int(10 ** draw.uniform(1, 6)), count).astype(float),
        rate=np.where(draw.random(count) < 0.3, draw.integers(0, 40, count), 0).astype(float),
        target=order[:, 1:3][np.arange(2) < copies[:, None]],
        begin=begin,
        dropped=np.zeros(0, dtype=np.int32),
        dropped_size=np.zeros(0),
        dropped_begin=np.zeros(count + 1, dtype=np.int64),
        leaders=LeaderShifts(np.where(changes, order[:, 0], -1), np.where(changes, order[:, 1], -1)),
    )
    slots, rows, leaders = (int(draw.integers(low, high)) for low, high in ((1, 8), (3, 60), (1, 9)))
    return moves, brokers, WaveLimits(100, slots, rows, leaders)


def require_limits(moves: Transfers, wave: np.ndarray, urgent: np.ndarray, limits: WaveLimits) -> None:
    """Wave by wave and move by move, with dictionaries."""
    assert sorted(set(wave.tolist())) == list(range(wave.max() + 1))
    for w in range(wave.max() + 1):
        members = np.flatnonzero(wave == w).tolist()
        counts: dict[tuple[str, int], int] = {}
        rates: dict[tuple[str, int], list[float]] = {}
        for e in members:
            targets = moves.target[moves.begin[e] : moves.begin[e + 1]].tolist()
            ends = [("out", int(moves.source[e]), len(targets)), *(("in", target, 1) for target in targets)]
            for way, broker, copies in ends:
                counts[way, broker] = counts.get((way, broker), 0) + 1
                rates.setdefault((way, broker), []).append(copies * moves.rate[e])
            for way, side in zip(("from", "to"), moves.leaders, strict=True):
                counts[way, int(side[e])] = counts.get((way, int(side[e])), 0) + 1
        assert len(members) <= limits.rows
        for (way, broker), count in counts.items():
            assert count <= (limits.slots if way in ("in", "out") else limits.leaders) or broker < 0
        for written in rates.values():
            assert sum(written) <= limits.throttle_bytes_per_s / 2 or len([rate for rate in written if rate]) == 1
    if urgent.any():
        assert all(urgent[wave == w].any() for w in range(wave[urgent].max() + 1))


@cache
def exchange_ratio(seed: int) -> float:
    """Check the waves of one random plan. Return their bytes in turn over those of waves without any exchange."""
    moves, brokers, limits = random_transfers(seed)
    urgent = np.random.default_rng(seed).random(len(moves)) < (0.2 if seed % 3 == 0 else 0.0)
    wave = waves_of(moves, urgent, brokers, None, limits)
    require_limits(moves, wave, urgent, limits)
    throttle = 10**9
    by_wave = [traffic_of(moves.chosen(np.flatnonzero(wave == w)), brokers, throttle) for w in range(wave.max() + 1)]
    in_turn, least = bytes_in_turn(moves, wave, brokers), least_in_turn(moves, brokers)
    assert in_turn == pytest.approx(throttle * sum(traffic.seconds for traffic in by_wave))
    before = bytes_in_turn(moves, waves_of(moves, urgent, brokers, None, limits, HASTY), brokers)
    assert least <= in_turn * (1 + 1e-12) <= before * (1 + 1e-9)
    return in_turn / before


@for_each("seed", range(240))
def test_random_waves_keep_every_limit_and_lose_nothing_by_exchange(seed: int) -> None:
    assert exchange_ratio(seed) > 0


def test_the_exchange_saves_two_percent_in_the_mean_of_any_sixty() -> None:
    means = np.reshape([exchange_ratio(seed) for seed in range(240)], (4, 60)).mean(axis=1)
    assert means.max() < 0.98


def test_two_waves_exchange_what_makes_them_shorter() -> None:
    """The module's example: {6, 2} and {3, 7} last 6 + 7, {6, 7} and {3, 2} last 7 + 3."""
    moves = transfers([(1, 2), (3, 4), (1, 5), (3, 6)], [6, 2, 3, 7])
    copies, wave_loads, caps = copies_of(moves), empty_wave_loads(2, 7), Caps(1, 10, 1.0, UNLIMITED, math.inf)
    wave = fill_evenly(np.arange(4), 0, 1, copies, wave_loads, caps)
    assert wave.tolist() == [0, 0, 1, 1]
    assert bytes_in_turn(moves, wave, 7) == 13
    assert shorten(packing_of(wave, 0, copies, wave_loads, caps), 1000, 0.0) > 0
    assert bytes_in_turn(moves, wave, 7) == 10
    assert wave[0] == wave[3] != wave[1] == wave[2]
    assert sorted(wave_loads.length.tolist()) == [3, 7]
