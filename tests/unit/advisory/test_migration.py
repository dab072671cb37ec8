from dataclasses import replace

from kafka_rebalance.advisory.advisory import consumer_protocol
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.scoring.scores import GroupScore

TODAY = GroupScore("g", "range", None, True, 6, 24, skew_count=6.0)
UNIFORM = GroupScore("g", "consumer/uniform", None, False, 6, 24, skew_count=1.0, partitions_moved=20)
RANGE = GroupScore("g", "consumer/range", None, False, 6, 24, skew_count=6.0, partitions_moved=0)


def crash(assignor: str, unread: int, pause_ms: int | None) -> GroupScore:
    return GroupScore(
        "g", assignor, None, False, 5, 24, scenario="member_crashes", partitions_unread=unread,
        longest_pause_ms=pause_ms,
    )  # fmt: skip


def test_the_better_of_both_server_assignors_is_told_with_what_a_death_costs() -> None:
    replay = GroupReplay("g", SubscriptionBasis.GIVEN, True, (TODAY, RANGE, UNIFORM), (), None)
    figures = {"assignor": "uniform", "skew": 1.0, "skew_today": 6.0, "partitions_moved": 20}
    reported = consumer_protocol(replay)
    assert reported == fact(FactCode.CONSUMER_PROTOCOL, **figures, member_dies=None, member_dies_today=None)
    reported = consumer_protocol(
        replace(replay, scenarios=(crash("consumer/uniform", 4, 49_000), crash("range", 24, None)))
    )
    assert reported is not None
    assert reported.args["member_dies"] == fact(FactCode.PARTITIONS_WAIT, partitions=4, longest_pause_ms=49_000)
    assert reported.args["member_dies_today"] == fact(FactCode.PARTITIONS_WAIT, partitions=24, longest_pause_ms=None)
    assert consumer_protocol(replace(replay, scores=(TODAY,))) is None
    refused = replace(UNIFORM, error=fact(FactCode.NO_MEMBER_LEFT))
    reported = consumer_protocol(replace(replay, scores=(TODAY, refused, RANGE)))
    assert reported is not None
    assert reported.args["assignor"] == "range"
