from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.bounds import cover_row, lower_bounds, pinned_load, proven_by, raised_by_covers, surcharges
from kafka_rebalance.planner.linear_program.programs import broken_covers, promised, with_covers
from kafka_rebalance.planner.linear_program.relaxation import arcs_of, relax
from kafka_rebalance.planner.params import CoverParams
from kafka_rebalance.planner.scales import mean_bytes
from kafka_rebalance.planner.solution import Cover
from kafka_rebalance.planner.state import working_bands
from tests.unit.planner.hand_problems import hand_problem

NONE = np.zeros(0, dtype=np.int64)
# Broker 0 holds 6, 5 and 5, brokers 1 and 2 another 5: a mean of 7. Within 0.75 the maximum is 12.25.
ROWS = [((0,), 6.0), ((0,), 5.0), ((0,), 5.0), ((1,), 2.5), ((2,), 2.5)]


def three(**more: object) -> Problem:
    return hand_problem(ROWS, 3, within=0.75, **more)  # type: ignore[arg-type]


def rows(*some: int) -> np.ndarray:
    return np.array(some, dtype=np.int64)


def test_a_set_that_is_too_large_counts_each_of_it_up_to_the_surplus() -> None:
    problem = three()
    result = cover_row(problem, Cover(0, 0, NONE, NONE), pinned_load(problem))
    assert result is not None
    assert result.row.tolist() == [0, 1, 2]
    assert result.surplus == pytest.approx(3.75)  # 16 of 12.25
    assert result.weight.tolist() == pytest.approx([3.75] * 3)
    assert result.most == pytest.approx(7.5)  # at most two of the three stay


def test_who_is_gone_is_not_in_the_set_and_who_comes_is() -> None:
    problem, pinned = three(), pinned_load(three())
    assert cover_row(problem, Cover(0, 0, rows(0), NONE), pinned) is None  # 10 fit into 12.25
    result = cover_row(problem, Cover(0, 0, rows(0), rows(3, 4)), pinned)
    assert result is not None
    assert result.row.tolist() == [1, 2, 3, 4]
    assert result.surplus == pytest.approx(2.75)
    assert result.weight.tolist() == pytest.approx([2.75, 2.75, 2.5, 2.5])
    assert cover_row(problem, Cover(1, 0, NONE, NONE), pinned) is None


def test_what_may_not_move_takes_room_and_is_in_no_set() -> None:
    problem = three()
    fixed = replace(problem, pinned=np.array([True, False, False, False, True]))
    result = cover_row(fixed, Cover(0, 0, NONE, rows(4)), pinned_load(fixed))
    assert result is not None
    assert result.row.tolist() == [1, 2]
    assert result.surplus == pytest.approx(3.75)


def test_what_must_leave_or_has_no_limit_is_in_no_set() -> None:
    problem = three()
    leaving = replace(problem, must_leave=np.array([[True], [False], [False], [False], [False]]))
    assert cover_row(leaving, Cover(0, 0, NONE, NONE), pinned_load(leaving)) is None
    endless = replace(problem, band_high=np.full((3, 1), np.inf))
    assert cover_row(endless, Cover(0, 0, NONE, NONE), pinned_load(endless)) is None


def test_sizes_of_their_own_count_where_replicas_are() -> None:
    problem = three()
    own = np.where(problem.replicas >= 0, problem.move_bytes[:, None] + 1.0, 0.0)
    result = cover_row(replace(problem, own_disk=own), Cover(0, 0, NONE, rows(3)), pinned_load(problem))
    assert result is not None
    assert result.surplus == pytest.approx(7.0 + 6 + 6 + 2.5 - 12.25)


def test_a_set_within_rounding_of_its_band_fits() -> None:
    """Otherwise a surplus of nothing proves that a whole replica leaves."""
    problem = replace(three(), band_high=np.full((3, 1), 16.0 * (1 - 1e-9)))
    assert cover_row(problem, Cover(0, 0, NONE, NONE), pinned_load(problem)) is None


def test_surcharges_of_several_covers_add_up() -> None:
    problem = three()
    both = (Cover(0, 0, NONE, NONE, 2.0), Cover(0, 0, rows(0), rows(3, 4), 1.0), Cover(0, 0, rows(0), NONE, 9.0))
    result = surcharges(problem, both)
    assert list(zip(result.row.tolist(), result.broker.tolist(), strict=True)) == [(p, 0) for p in range(5)]
    assert result.amount.tolist() == pytest.approx([7.5, 10.25, 10.25, 2.5, 2.5])
    assert result.constant == pytest.approx(-2 * 7.5 - 7.75)
    location, broker, amount = result.of_slice(rows(1, 3))
    assert (location.tolist(), broker.tolist()) == ([0, 1], [0, 0])
    assert amount.tolist() == pytest.approx([10.25, 2.5])
    assert surcharges(problem, ()).of_slice(rows(0, 1))[0].tolist() == []


def test_one_whole_replica_is_proved_where_shares_prove_a_part() -> None:
    """Shares prove 3.75. One whole replica leaves, of 5 at least: at 5 for a surplus of 3.75."""
    problem = three()
    shares = proven_by(problem, np.array([[1.0], [0.0], [0.0]]), problem.move_bytes)
    assert shares == pytest.approx(3.75)
    price = 5 / 3.75
    whole = proven_by(problem, np.zeros((3, 1)), problem.move_bytes, covers=(Cover(0, 0, NONE, NONE, price),))
    assert whole == pytest.approx(5.0)


def test_a_copy_that_a_cover_makes_dear_is_had_elsewhere() -> None:
    """Row 0 must leave broker 2; copies on broker 0 are dear, on broker 1 of the same rack they are not."""
    problem = hand_problem([((2,), 4.0), ((0,), 9.0), ((1,), 5.0)], 3, within=None, leaving=[2], racks=[0, 0, 1])
    tight = replace(problem, band_high=np.array([[10.0], [np.inf], [0.0]]))
    dear = Cover(0, 0, NONE, rows(0), 1.0)
    assert proven_by(tight, np.zeros((3, 1)), tight.move_bytes, covers=(dear,)) == pytest.approx(4.0)
    alone = replace(tight, takes_replicas=np.array([True, False, False]))
    # 13 of 10: row 0 comes in any case, so 3 of row 1 are dear.
    assert proven_by(alone, np.zeros((3, 1)), alone.move_bytes, covers=(dear,)) == pytest.approx(4.0 + 3.0)


def test_a_bound_is_raised_by_what_proves_more_alone() -> None:
    problem = three()
    bounds = lower_bounds(problem)
    assert bounds.bytes.value == pytest.approx(3.75)
    cover = Cover(0, 0, NONE, NONE, 5 / 3.75)
    better = raised_by_covers(problem, bounds, np.zeros((3, 1)), (cover,))
    assert better.bytes.value == better.proofs["bytes"].value == pytest.approx(5.0)
    assert better.certificate is bounds.certificate
    for weak in ((), (replace(cover, price=0.1),)):
        assert raised_by_covers(problem, bounds, np.zeros((3, 1)), weak) is bounds


def test_shares_break_the_cover_of_what_they_leave_in_part() -> None:
    problem = three()
    arcs, bands = arcs_of(problem), working_bands(problem, problem.band_low, problem.band_high)
    relaxed = relax(problem, arcs, bands.low, bands.high)
    assert relaxed is not None
    assert float(arcs.cost @ relaxed.share) * mean_bytes(problem) == pytest.approx(3.75, rel=1e-3)
    broken = broken_covers(problem, arcs, relaxed.share)
    assert [cover.broker for cover, _ in broken] == [0]
    lack = broken[0][1]
    assert 0 < lack < 3.75
    assert promised(relaxed, broken) == pytest.approx(lack, rel=1e-3)
    covered = with_covers(problem, arcs, relaxed, bands)
    assert proven_by(problem, covered.prices, problem.move_bytes, covers=covered.covers) == pytest.approx(5.0, rel=1e-3)
    assert with_covers(problem, arcs, relaxed, bands, CoverParams(least_promise=10.0)) is relaxed
    assert with_covers(problem, arcs, relaxed, bands, CoverParams(most_arcs=len(arcs.row) - 1)) is relaxed
    assert with_covers(problem, arcs, relaxed, bands, CoverParams(rounds=0)) is relaxed


def test_what_nobody_would_read_is_not_named() -> None:
    problem = three()
    arcs = arcs_of(problem)
    half = np.where(arcs.broker == 1, 0.75, 0.0)
    assert [len(cover.come) for cover, _ in broken_covers(problem, arcs, half, CoverParams(least_shares=(0.5,)))] == [4]
    assert broken_covers(problem, arcs, half, CoverParams(least_shares=(0.5,), most_named=3)) == []


def test_whatever_fits_keeps_every_cover() -> None:
    """All placements of six partitions on one of two brokers within the band, and random sets."""
    draw, kept = np.random.default_rng(0), 0
    every = np.array(list(product((0.0, 1.0), repeat=6)))
    for _ in range(100):
        sizes = draw.lognormal(0, 1, 6)
        held = [((int(b),), float(size)) for b, size in zip(draw.integers(0, 2, 6), sizes, strict=True)]
        high = float(draw.uniform(0.3, 0.9) * sizes.sum())
        problem = replace(hand_problem(held, 2, within=None), band_high=np.full((2, 1), high))
        here, named = problem.replicas[:, 0] == 0, draw.random(6) < 0.4
        cover = Cover(0, 0, np.flatnonzero(here & named), np.flatnonzero(~here & named))
        result = cover_row(problem, cover, pinned_load(problem))
        if result is not None:
            fits = every[every @ problem.move_bytes <= high]
            assert (fits[:, result.row] @ result.weight <= result.most + 1e-9).all()
            kept += len(fits)
    assert kept > 500
