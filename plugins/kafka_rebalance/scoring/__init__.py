"""Skew and movement of clusters, placements and assignments: one definition each (DESIGN §9), used everywhere.

``levels.py`` has the definitions; ``cluster_scores.py``, ``assignment_scores.py`` and ``placement_scores.py`` apply
them and name the rows that the store keeps; ``movement.py`` compares two of them. Of a group's assignment, too:
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
