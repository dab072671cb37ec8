from __future__ import annotations

from math import inf, isnan, nan
from random import Random

import numpy as np

from kafka_assignors.arrays import ABSENT
from kafka_rebalance.scoring.assignment_scores import PartitionRates
from kafka_rebalance.scoring.drain import drain, group_seconds_behind, member_capacity
from tests.sample import for_each


def group(*partitions: tuple[float, float]) -> PartitionRates:
    """``(lag, written a second)`` of each."""
    lag, written = (np.array(column, dtype=np.float64) for column in zip(*partitions, strict=True))
    return PartitionRates(np.ones(len(lag)), written, lag)


def readers(*members: int) -> np.ndarray:
    return np.array(members, dtype=np.int32)


def test_the_worked_example_of_the_module() -> None:
    """A backlog of 6,200 - 5 x 40 at 100 - 40 a second; of 501 - 500 at nothing; 499 is less than 5 s of 100."""
    result = drain(readers(0, 1, 2), 4, group((6200, 40), (501, 100), (499, 100)), 100.0)
    assert result.member_seconds.tolist() == [100, inf, 0, 0]
    assert (result.seconds, result.members_falling_behind) == (None, 1)
    both = drain(readers(0, 1), 2, group((6200, 40), (499, 100)), 100.0)
    assert (both.seconds, both.members_falling_behind) == (100.0, 0)


def test_a_group_is_behind_by_the_seconds_that_its_partitions_with_a_reader_were_written_in() -> None:
    rates = group((600, 10), (300, 20), (9000, 1))
    assert group_seconds_behind(readers(0, 0, ABSENT), rates) == 900 / 30
    assert group_seconds_behind(readers(ABSENT, ABSENT, ABSENT), rates) == 9900 / 31
    assert group_seconds_behind(readers(0), group((0, nan))) == 0.0
    unknown = [(nan, 1.0), (5.0, nan), (5.0, 0.0)]
    assert [group_seconds_behind(readers(0), group(one)) for one in unknown] == [None, None, None]
    assert group_seconds_behind(readers(), PartitionRates(np.zeros(0), np.zeros(0), np.zeros(0))) is None


def test_backlogs_and_what_is_written_add_up_over_a_members_partitions() -> None:
    """(1,000 - 50) + (30 - 50, so 0) at 100 - 20 a second. Apart, the second has nothing to do: 950 at 90."""
    rates = group((1000, 10), (30, 10))
    assert drain(readers(0, 0), 1, rates, 100.0).seconds == 950 / 80
    assert drain(readers(0, 1), 2, rates, 100.0).seconds == 950 / 90


def test_what_nobody_reads_is_never_gone_though_no_member_falls_behind() -> None:
    result = drain(readers(0, ABSENT, ABSENT), 1, group((0, 1), (6, 1), (5, 1)), 100.0)
    assert (result.seconds, result.members_falling_behind, result.partitions_unread) == (None, 0, 1)
    assert drain(readers(0, ABSENT), 1, group((0, 1), (5, 1)), 100.0).seconds == 0.0


def test_one_unknown_makes_the_group_unknown_but_not_the_other_members() -> None:
    result = drain(readers(0, 1, 2), 3, group((nan, 1), (1000, nan), (1050, 10)), 110.0)
    assert np.array_equal(result.member_seconds, [nan, nan, 10.0], equal_nan=True)
    assert (result.seconds, result.members_falling_behind) == (None, None)
    assert drain(readers(ABSENT), 0, group((nan, 1)), 1.0).members_falling_behind is None


def test_without_a_backlog_nobody_needs_to_know_how_fast_members_read() -> None:
    """As after a single snapshot with given rates."""
    assert drain(readers(0), 1, group((50, 10)), nan).seconds == 0.0
    unknown = drain(readers(0), 1, group((51, 10)), nan)
    assert (unknown.seconds, unknown.members_falling_behind) == (None, None)
    nothing = drain(readers(), 2, PartitionRates(np.zeros(0), np.zeros(0), np.zeros(0)), 1.0)
    assert (nothing.seconds, nothing.members_falling_behind) == (None, None)


def test_the_capacity_is_the_most_that_a_member_of_known_rates_reads() -> None:
    """Member 0 reads 3 + 4; of member 1 one rate is unknown, member 2 has no partition."""
    reader, read = readers(0, 1, 0, 1, ABSENT), np.array([3.0, 90, 4, nan, 50])
    assert member_capacity(reader, read, 3) == 7.0
    assert isnan(member_capacity(reader, read[[3, 3, 3, 3, 3]], 3))
    assert isnan(member_capacity(readers(ABSENT), np.ones(1), 1))
    assert isnan(member_capacity(readers(), np.zeros(0), 0))


def plain_drain(reader: list[int], members: int, lag: list[float], written: list[float], capacity: float) -> object:
    """Member by member, as the definition reads."""
    seconds: list[float] = []
    for member in range(members):
        mine = [row for row, number in enumerate(reader) if number == member]
        backlog = sum(max(0.0, lag[row] - 5 * written[row]) if lag[row] == lag[row] else nan for row in mine)
        arriving = sum(written[row] for row in mine)
        if isnan(backlog) or isnan(arriving):
            seconds.append(nan)
        elif backlog == 0:
            seconds.append(0.0)
        elif isnan(capacity):
            seconds.append(nan)
        else:
            seconds.append(inf if arriving >= capacity else backlog / (capacity - arriving))
    left = [lag[row] - 5 * written[row] for row, number in enumerate(reader) if number == ABSENT]
    if any(isnan(value) for value in (*seconds, *left)) or not reader:
        return None, None, seconds
    slowest = max([*seconds, *(inf for value in left if value > 0)], default=0.0)
    return None if slowest == inf else slowest, seconds.count(inf), seconds


@for_each("seed", range(4))
def test_random_groups_as_a_plain_implementation_has_them(seed: int) -> None:
    draw = Random(seed)
    for _ in range(50):
        members, count = draw.randint(1, 6), draw.randint(0, 20)
        reader = [draw.choice([ABSENT, *range(members), *range(members)]) for _ in range(count)]
        odd = draw.choice([0.0, 0.0, 0.1])
        lag = [nan if draw.random() < odd else float(draw.choice([0, 10, draw.randint(0, 5000)])) for _ in reader]
        written = [nan if draw.random() < odd else float(draw.randint(0, 20)) for _ in reader]
        capacity = draw.choice([nan, *(float(draw.randint(1, 120)) for _ in range(9))])
        rates = PartitionRates(np.ones(count), np.array(written), np.array(lag))
        result = drain(readers(*reader), members, rates, capacity)
        assert (result.seconds, result.members_falling_behind) == plain_drain(reader, members, lag, written, capacity)[
            :2
        ]  # type: ignore[index]
        expected = plain_drain(reader, members, lag, written, capacity)[2]  # type: ignore[index]
        assert np.array_equal(result.member_seconds, expected, equal_nan=True)
