from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.render import render
from kafka_rebalance.scoring.scores import GroupScore
from kafka_rebalance.snapshot.model import Group
from rebalance_advisor.cli.group import group_table


def test_rates_that_nobody_knows_and_a_strategy_that_refuses() -> None:
    today = GroupScore("g", "range", None, True, 2, 3, idle_members=0, skew_count=4 / 3, least_skew_count=4 / 3)
    refused = GroupScore("g", "sticky", None, False, 2, 3, error=fact(FactCode.NO_MEMBER_LEFT))
    endless = GroupScore(
        "g", "range", None, False, 1, 3, scenario="member_crashes", partitions_moved=1, partitions_unread=2,
        longest_pause_ms=None,
    )  # fmt: skip
    replay = GroupReplay("g", SubscriptionBasis.GIVEN, True, (today, refused), (), None, (endless,))
    lines = group_table(replay, Group("g"), "keep range")
    assert lines[2].split()[:4] == ["range", "1.33", "1.33", "0"]
    assert "2 × ≤ for ever" in lines[2]
    assert "rates are unknown" in lines[3]
    assert lines[4:] == [f"sticky: {render(fact(FactCode.NO_MEMBER_LEFT))}", "keep range"]
