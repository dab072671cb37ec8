"""Skew and movement of clusters, placements and assignments.

``assignment_scores`` and ``placement_scores`` define rows of the store.
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
