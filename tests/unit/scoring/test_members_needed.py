"""Members needed to clear the lag in time: by hand, by every sharing of small groups, and by trials."""

from __future__ import annotations

from itertools import product
from math import ceil, nan
from random import Random

import numpy as np

from kafka_rebalance.scoring.assignment_scores import PartitionRates
from kafka_rebalance.scoring.drain import MembersNeeded, members_needed


def group(written: list[float], backlog: list[float] | None = None) -> PartitionRates:
    """Input a second, and the lag beyond the 5 s of a commit interval."""
    rates = np.array(written, dtype=np.float64)
    lag = 5 * rates + (0.0 if backlog is None else np.array(backlog, dtype=np.float64))
    return PartitionRates(np.ones(len(rates)), rates, lag)


def test_as_many_as_carry_what_is_written() -> None:
    """180 at 100 each. With 60, 60, 60 no member has room for two: one each."""
    assert members_needed(group([60, 50, 40, 30]), 100.0) == MembersNeeded(2)
    assert members_needed(group([60, 60, 60]), 100.0) == MembersNeeded(3)
    assert members_needed(group([25] * 8), 100.0) == MembersNeeded(2)
    assert members_needed(group([0, 0, 0]), 100.0) == MembersNeeded(1)
    assert members_needed(group([]), 100.0) == MembersNeeded(0)


def test_a_backlog_takes_more_of_them_the_sooner_it_must_be_gone() -> None:
    """Two partitions of 30 with 72,000 behind: 20 a second more in an hour, 40 in half of it; 50 + 50, then 70 each."""
    behind = group([30, 30], [72_000, 72_000])
    assert members_needed(behind, 100.0) == MembersNeeded(1)
    assert members_needed(behind, 100.0, within_s=1800) == MembersNeeded(2)


def test_a_partition_that_is_too_much_for_one_member_is_named() -> None:
    """120 a second is above one member's rate. 360,000 behind at 100 - 50 take two hours with any number."""
    assert members_needed(group([10, 120, 90]), 100.0) == MembersNeeded(None, 1)
    assert members_needed(group([10, 50], [0, 360_000]), 100.0) == MembersNeeded(None, 1)
    assert members_needed(group([10, 50], [0, 360_000]), 100.0, within_s=7200) == MembersNeeded(2)
    assert members_needed(group([100, 100], [0, 1]), 100.0) == MembersNeeded(None, 1)  # it keeps up, never more
    assert members_needed(group([100, 100]), 100.0) == MembersNeeded(2)


def test_what_is_unknown_gives_no_number() -> None:
    unknown = MembersNeeded(None)
    assert members_needed(group([10, nan]), 100.0) == unknown
    assert members_needed(group([10, 20]), nan) == unknown
    assert members_needed(group([10, 20], [nan, 0]), 100.0) == unknown


def largest_first_fits(demands: list[float], members: int, capacity: float) -> bool:
    levels = [0.0] * members
    for demand in sorted(demands, reverse=True):
        levels[levels.index(min(levels))] += demand
    return max(levels) <= capacity


def fits(demands: list[float], members: int, capacity: float) -> bool:
    """Whatever the sharing: every one is tried."""

    def loads(sharing: tuple[int, ...]) -> np.ndarray:
        return np.bincount(sharing, weights=demands, minlength=members)

    return any(loads(sharing).max() <= capacity for sharing in product(range(members), repeat=len(demands)))


def test_random_groups_beside_trials_with_one_fewer_and_with_every_sharing() -> None:
    draw = Random(16)
    for _ in range(200):
        demands = [float(draw.randint(1, 100)) for _ in range(draw.randint(1, 60))]
        needed = members_needed(group(demands), 100.0).members
        assert needed is not None
        assert largest_first_fits(demands, needed, 100)
        assert needed == 1 or not largest_first_fits(demands, needed - 1, 100)
        assert needed >= ceil(sum(demands) / 100)
    for _ in range(40):
        demands = [float(draw.randint(1, 100)) for _ in range(draw.randint(1, 6))]
        needed = members_needed(group(demands), 100.0).members
        assert needed is not None
        assert fits(demands, needed, 100)
        assert needed <= 2 or not fits(demands, needed - 2, 100)
