"""Groups whose members say their racks and read across them, though another strategy would keep more of it inside."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.context import FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.strategies import OWN
from kafka_rebalance.scoring.assignment_scores import GroupScore


def cross_rack_reads(context: FindingContext) -> Iterator[Finding]:
    """Another strategy lets members fetch more of what they read in their own rack, and is as even."""
    for replay in context.chosen_replays:
        today, best = replay.today, _best(replay)
        if best is None or today.same_rack_ratio is None or best.same_rack_ratio is None:
            continue
        more = best.same_rack_ratio - today.same_rack_ratio
        if more < threshold("cross_rack_reads", "same_rack_more_ratio"):
            continue
        yield finding(
            "cross_rack_reads",
            Severity.MEDIUM if more >= threshold("cross_rack_reads", "medium_more_ratio") else Severity.LOW,
            replay.group_id,
            {
                "assignor": today.assignor,
                "advised_assignor": best.assignor,
                "members": today.members,
                "partitions": today.partitions,
                "same_rack_ratio": today.same_rack_ratio,
                "advised_same_rack_ratio": best.same_rack_ratio,
                "leader_in_rack_ratio": today.leader_in_rack_ratio,
                "partitions_moved": best.partitions_moved,
            },
            Remedy(
                fact(
                    FactCode.CROSS_RACK_READS,
                    advised=best.assignor,
                    same_rack_ratio=today.same_rack_ratio,
                    advised_same_rack_ratio=best.same_rack_ratio,
                    leader_in_rack_ratio=today.leader_in_rack_ratio or 0.0,
                ),
                cost=fact(FactCode.ONE_REBALANCE, partitions=best.partitions_moved or 0),
                gain=more / (1 - today.same_rack_ratio),
                changes=best.partitions_moved or 0,
            ),
            confidence=Confidence.ESTIMATED,
        )


def _best(replay: GroupReplay) -> GroupScore | None:
    """The strategy that keeps most inside racks among those as even by count as today, which a team can set."""
    others = [
        score
        for score in replay.scores[1:]
        if score.error is None and score.assignor != OWN and "/" not in score.assignor
        and score.same_rack_ratio is not None and (score.skew_count or 0) <= (replay.today.skew_count or 0) + 1e-9
    ]  # fmt: skip
    return max(others, key=lambda score: (score.same_rack_ratio or 0.0, -(score.partitions_moved or 0)), default=None)
