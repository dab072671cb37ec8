from __future__ import annotations

import numpy as np
import pytest

from kafka_assignors.arrays import ABSENT
from kafka_assignors.coordinator.timeline import Trigger
from kafka_rebalance.groups.scenarios import Event
from tests.unit.groups.scenarios.small_groups import reading, state

ANY = state([], {})


def carried(
    readers: list[int], member_before: list[int], row_before: list[int] | None = None
) -> tuple[list[int], list[int]]:
    rows = None if row_before is None else np.array(row_before, np.int64)
    event = Event(Trigger.MEMBER_LEAVES, ANY, np.array(member_before, np.int32), rows)
    stays, before = event.carry(np.array(readers, np.int32))
    return stays.tolist(), before.tolist()


@pytest.mark.parametrize(
    ("readers", "member_before", "row_before", "expected"),
    [
        # 1 goes: 2 is number 1 now; who is gone is number 2, behind both that stay.
        ([0, 1, 2, -1], [0, 2], None, ([0, -1, 1, -1], [0, 2, 1, -1])),
        # Two go at once, the highest among them: both are one.
        ([0, 1, 2], [1], None, ([-1, 0, -1], [1, 0, 1])),
        # All leave.
        ([0, 1, -1], [], None, ([-1, -1, -1], [0, 0, -1])),
        # One joins, and owns nothing; then the first is last.
        ([0, 1, -1], [0, 1, ABSENT], None, ([0, 1, -1], [0, 1, -1])),
        ([0, 1, 2], [1, 2, 0], None, ([2, 0, 1], [2, 0, 1])),
        # All are new.
        ([0, 0], [ABSENT, ABSENT], None, ([-1, -1], [2, 2])),
        # A row is new, the last becomes the first.
        ([0, 1, 0], [0, 1], [2, -1, 0, 1], ([0, -1, 0, 1], [0, -1, 0, 1])),
        # Idle members and no partitions.
        ([], [0, 1], None, ([], [])),
        ([-1, -1], [0], [0, 1], ([-1, -1], [-1, -1])),
    ],
)
def test_numbers_go_over_to_the_next_state(
    readers: list[int], member_before: list[int], row_before: list[int] | None,
    expected: tuple[list[int], list[int]],
) -> None:  # fmt: skip
    assert carried(readers, member_before, row_before) == expected


def test_what_a_strategy_is_told_is_made_once() -> None:
    today = state([reading("a", "t", "gone")], {"gone": -1, "t": 2})
    assert today.frame(is_server=True) is today.of_server
    assert today.frame(is_server=False) is today.frame(is_server=False) is today.of_client
    # A coordinator hears of topics alone that are there.
    assert today.of_client.empty.members.subscription_topics.tolist() == [1, 0]
    assert today.of_server.empty.members.subscription_topics.tolist() == [1]


def test_least_skews_are_of_what_is_subscribed() -> None:
    """Two members, t with 1 and 2 bytes/s and u with 3, without subscribers: 2 of 3 at one of two members."""
    members = [reading("a", "t"), reading("b", "t")]
    assert state(members, {"t": 2, "u": 1}).least_skews == pytest.approx((1.0, 2 * 2 / 3))
    # A third member reads nothing: one of two partitions, times three members.
    assert state([*members, reading("c")], {"t": 2}).least_skews[0] == 1.5
    assert state([], {"t": 2}).least_skews == (0.0, 0.0)
