"""What a classic group would get under the consumer protocol (KIP-848): which server assignor, and what changes."""

from __future__ import annotations

from kafka_rebalance.amounts import changing, counted, ratio_in_words, seconds_in_words
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.strategies import MIGRATED
from kafka_rebalance.scoring.assignment_scores import GroupScore


def migration_words(replay: GroupReplay) -> str:
    """One line; empty for groups of another type, and where no server assignor was asked.

    Of both the one whose fullest member is smaller (by rate where that is known) counts, then the one that moves less.
    """
    asked = [score for score in replay.scores[1:] if score.assignor in MIGRATED and score.error is None]
    if not asked:
        return ""
    best = min(asked, key=lambda score: (_level(score), score.partitions_moved or 0))
    name = best.assignor.removeprefix("consumer/")
    words = (
        f"KIP-848 with {name}: the fullest member has {ratio_in_words(_level(best))} the mean "
        f"(today {ratio_in_words(_level(replay.today))}), {changing(best.partitions_moved or 0)} reader once"
    )
    dies, today = _crash(replay, best.assignor), _crash(replay, replay.today.assignor)
    if dies is None or today is None:
        return words
    return f"{words}; when a member dies {_unread(dies)} (today {_unread(today)})"


def _level(score: GroupScore) -> float:
    return float((score.skew_count if score.skew_rate is None else score.skew_rate) or 0.0)


def _crash(replay: GroupReplay, assignor: str) -> GroupScore | None:
    rows = (row for row in replay.scenarios if (row.scenario, row.assignor) == ("member_crashes", assignor))
    return next((row for row in rows if row.error is None), None)


def _unread(row: GroupScore) -> str:
    unread = row.partitions_unread or 0
    waiting = f"{counted(unread, 'partition')} {'waits' if unread == 1 else 'wait'}"
    if row.longest_pause_ms is None:
        return f"{waiting}, some for ever"
    return f"{waiting} up to {seconds_in_words(row.longest_pause_ms / 1000)}"
