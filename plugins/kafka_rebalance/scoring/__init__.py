"""Skew and movement of clusters, placements and assignments: one definition each, used everywhere.

``assignment_scores`` and ``placement_scores`` define the rows that the store keeps. ``drain`` returns when a group's
lag is gone and how many members that takes, ``rack_traffic`` the bytes between racks, ``snapshot_scores`` the scores of
a cluster.
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
