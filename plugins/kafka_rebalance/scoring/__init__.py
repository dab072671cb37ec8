"""Skew and movement of clusters, placements and assignments; ``scores`` defines rows of the store."""

from kafka_rebalance.scoring.scores import (
    BrokerScore,
    ClusterScores,
    GroupScore,
    MemberScore,
    RackScore,
    ResourceScore,
    TopicPlacementScore,
)

__all__ = [
    "BrokerScore", "ClusterScores", "GroupScore", "MemberScore", "RackScore", "ResourceScore", "TopicPlacementScore",
]  # fmt: skip
