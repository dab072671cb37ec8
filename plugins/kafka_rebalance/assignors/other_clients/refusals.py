"""What other clients' leaders refuse before they ask a strategy, or inside it; named as their languages name it."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.errors import AssignorError


def refuse_unknown_topics(request: AssignmentRequest) -> None:
    """Sarama asks for the partitions of each subscribed topic, and gives the whole rebalance up for one it lacks."""
    subscribed = np.unique(request.members.subscription_topics)
    unknown = subscribed[~request.topics.has_metadata[subscribed]]
    if len(unknown):
        raise AssignorError("ErrUnknownTopicOrPartition", request.topics.names[int(unknown[0])])
