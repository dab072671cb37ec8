"""Skew and movement of clusters, placements and assignments: one definition each (DESIGN §9), used everywhere.

``assignment_scores.py`` and ``placement_scores.py`` name the rows that the store keeps. Of a group's assignment, too:
``drain.py``, when its lag is gone; ``members_needed.py``, how many members that takes; ``rack_reads.py``.
"""

from kafka_rebalance.scoring.assignment_scores import GroupScore, MemberScore
from kafka_rebalance.scoring.placement_scores import (
    BrokerScore,
    ClusterScores,
    RackScore,
    ResourceScore,
    TopicPlacementScore,
)

__all__ = [
    "BrokerScore", "ClusterScores", "GroupScore", "MemberScore", "RackScore", "ResourceScore", "TopicPlacementScore",
]  # fmt: skip
