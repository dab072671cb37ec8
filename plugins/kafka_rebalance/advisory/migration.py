"""What a classic group would get under the consumer protocol (KIP-848): which server assignor, and what changes."""

from __future__ import annotations

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.strategies import MIGRATED
from kafka_rebalance.scoring.assignment_scores import GroupScore


def consumer_protocol(replay: GroupReplay) -> Fact | None:
    """Return what the best server assignor does; None for other groups, and where none was replayed.

    Of both the one whose fullest member is smaller (by rate where that is known) counts, then the one that moves less.
    """
    asked = [score for score in replay.scores[1:] if score.assignor in MIGRATED and score.error is None]
    if not asked:
        return None
    best = min(asked, key=lambda score: (_level(score), score.partitions_moved or 0))
    dies, dies_today = _crash(replay, best.assignor), _crash(replay, replay.today.assignor)
    is_compared = dies is not None and dies_today is not None
    return fact(
        FactCode.CONSUMER_PROTOCOL,
        assignor=best.assignor.removeprefix("consumer/"),
        skew=_level(best),
        skew_today=_level(replay.today),
        partitions_moved=best.partitions_moved or 0,
        member_dies=dies if is_compared else None,
        member_dies_today=dies_today if is_compared else None,
    )


def _level(score: GroupScore) -> float:
    return float((score.skew_count if score.skew_rate is None else score.skew_rate) or 0.0)


def _crash(replay: GroupReplay, assignor: str) -> Fact | None:
    """Return what waits when a member dies, where that was replayed."""
    rows = (row for row in replay.scenarios if (row.scenario, row.assignor) == ("member_crashes", assignor))
    row = next((row for row in rows if row.error is None), None)
    if row is None:
        return None
    pause = row.longest_pause_ms
    return fact(FactCode.PARTITIONS_WAIT, partitions=row.partitions_unread or 0, longest_pause_ms=pause)
