"""The input of the other clients' sticky strategies: Java's, in their orders of members and names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise

import numpy as np

from kafka_rebalance.arrays import Longs
from kafka_rebalance.assignors.other_clients.member_orders import by_code_points
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.sticky.sticky_input import StickyInput, no_racks, sticky_input_of
from kafka_rebalance.errors import AssignorError

_NULL = "java.lang.NullPointerException"


def input_in_join_order(request: AssignmentRequest, walk: Longs | None = None) -> StickyInput:
    """Members met as JoinGroup lists them (or as in ``walk``), ids and topics sorted by code points; no racks."""
    members, topics = request.members, request.topics
    inputs = sticky_input_of(request, members.data_generations)
    order = np.arange(len(members)) if walk is None else walk
    by_name = by_code_points(topics.names)
    return replace(
        inputs,
        subscription_order=order,
        owned_order=order,
        by_id=by_code_points(members.ids),
        topics=by_name[inputs.counts[by_name] >= 0],
        racks=no_racks(len(members)),
    )


@contextmanager
def failing_as(name: str, message: str) -> Iterator[None]:
    """Where Java meets a null because of a member that is left out of balancing, this client fails otherwise."""
    try:
        yield
    except AssignorError as refusal:
        if refusal.java_class != _NULL:
            raise
        raise AssignorError(name, message) from None


def topic_lists(request: AssignmentRequest, inputs: StickyInput) -> list[list[int]]:
    """What each member subscribes to and has partitions, in its own order."""
    offsets, topics = request.members.subscription_offsets.tolist(), request.members.subscription_topics
    filled = inputs.counts[topics] > 0
    return [topics[start:end][filled[start:end]].tolist() for start, end in pairwise(offsets)]
