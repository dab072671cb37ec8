"""What a classic group would get under KIP-848, in one line."""

from dataclasses import replace

from kafka_rebalance.advisory.migration_words import migration_words
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.scoring.assignment_scores import GroupScore

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
    assert migration_words(replay) == (
        "KIP-848 with uniform: the fullest member has 1.00 × the mean (today 6.00 ×), 20 partitions change reader once"
    )
    told = replace(replay, scenarios=(crash("consumer/uniform", 4, 49_000), crash("range", 24, None)))
    assert migration_words(told).endswith(
        "; when a member dies 4 partitions wait up to 49 s (today 24 partitions wait, some for ever)"
    )
    assert migration_words(replace(replay, scores=(TODAY,))) == ""
    refused = replace(UNIFORM, error="uniform before Kafka 3.8")
    assert "KIP-848 with range" in migration_words(replace(replay, scores=(TODAY, refused, RANGE)))
