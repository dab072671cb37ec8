from __future__ import annotations

import pytest

from kafka_assignors.coordinator.classic_protocol import replay_classic
from kafka_assignors.coordinator.consumer_protocol import replay_consumer
from kafka_assignors.coordinator.timeline import Trigger
from tests.unit.coordinator.test_timelines import CHANGES, TIMES


@pytest.mark.parametrize(("is_cooperative", "rebalances"), [(False, 1), (True, 2)])
def test_a_cooperative_group_needs_a_second_round_to_hand_over(is_cooperative: bool, rebalances: int) -> None:
    timeline = replay_classic([CHANGES[Trigger.MEMBER_JOINS]], TIMES, is_cooperative=is_cooperative)
    assert timeline.rebalances == rebalances


def test_a_consumer_group_needs_one_epoch() -> None:
    assert replay_consumer([CHANGES[Trigger.MEMBER_JOINS]], TIMES).rebalances == 1


def test_a_static_member_that_restarts_starts_no_rebalance() -> None:
    assert replay_classic([CHANGES[Trigger.STATIC_RESTART]], TIMES, is_cooperative=True).rebalances == 0
