"""Kafka's first sticky assignor, as of 0.11 to 2.3 (the generation that 2.3 added to the user data aside).

Promises, in this order: completeness · as balanced as single moves reach, unless that would improve nothing ·
partitions stay where they are. There is one way for all subscriptions, nothing is checked: of a partition that several
claim the last in Java's map is believed the owner, and the others keep it too.

Example (seed article 001): t1, t2, t3 of 2 partitions; C1 had t1-1 t3-1, C2 t1-0 t2-1, C3 the rest and is gone: C1 gets
t3-0, C2 t2-0 (later versions deal t2-0 to C1).

If all read the same and somebody owns something, partitions are taken up from the fullest member downwards, one each
in turn, then those that nobody owns as Java's map of all partitions gives them; else topics with fewer readers first.
``isBalanced`` asks for a difference of one (``slack`` 0), so more walks are made than later.
Source: ``StickyAssignor`` of kafka-clients 2.0.0. A subscribed topic without metadata is a NullPointerException.
Complexity: as ``sticky_general``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import Ints
from kafka_rebalance.assignors.assignment import Assignment
from kafka_rebalance.assignors.orders import topic_walk
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.sticky.even import evened, rows_of
from kafka_rebalance.assignors.sticky.legacy_order import drop_once, hashed_rows, hold, in_turn
from kafka_rebalance.assignors.sticky.member_lists import flattened
from kafka_rebalance.assignors.sticky.start import (
    choose_who_takes_part,
    give_out,
    most_possible,
    shared_rows,
)
from kafka_rebalance.assignors.sticky.state import new_state
from kafka_rebalance.assignors.sticky.sticky_input import StickyFrame, frame_of, no_racks
from kafka_rebalance.assignors.subscribers import same_readers, subscribers_by_topic
from kafka_rebalance.errors import AssignorError
from kafka_rebalance.java.hash_order import DEFAULT_CAPACITY, put_order
from kafka_rebalance.java.strings import hash_codes

_SLACK = 0
_NO_MAP_SIZE = -1  # this version always counts, whatever the number of topics


@dataclass(frozen=True, slots=True)
class LegacyStickyAssignor:
    """``sticky`` as of Kafka 0.11 to 2.3."""

    name: str = "sticky@2.0"
    versions: str = "Kafka 0.11 – 2.3"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError where Java fails, EndlessReassignmentError where it never returns."""
        members = request.members
        frame = _legacy_frame(request)
        possible = most_possible(
            members.subscription_offsets, members.subscription_topics, frame.counts, _NO_MAP_SIZE, frame.total
        )
        state = new_state(request, frame, possible, slack=_SLACK)
        order = _sorted_rows(request, frame, state.topics["readers"])
        held, is_claimed_twice = hold(state, frame.walked, members.owned_offsets, frame.rows)
        is_initial = not state.members["size"].any()
        give_out(state, drop_once(order, held))
        choose_who_takes_part(state)
        state = evened(state, [shared_rows(state, order)], is_initial=is_initial, is_literal=is_claimed_twice)
        offsets, rows = flattened(state)
        return Assignment.of(offsets, frame.row_topic[rows], frame.row_partition[rows])


def _legacy_frame(request: AssignmentRequest) -> StickyFrame:
    """The common frame, with this version's map of members, in which those that own something were put first."""
    members, ids = request.members, request.members.ids
    frame = frame_of(request, members.data_generations)
    if (frame.counts[members.subscription_topics] < 0).any():
        raise AssignorError("java.lang.NullPointerException", "a subscribed topic is not in the metadata")
    if len(members) == 0:
        raise AssignorError("java.util.NoSuchElementException", "the group has no members")
    owns = members.has_owned[frame.met]
    put = np.concatenate((frame.met[owns], frame.met[~owns]))
    # A partition that no longer exists is dropped, as if its topic were gone.
    rows = np.where(frame.rows < request.topics.partition_total, frame.rows, np.int32(-1))
    walked = put[put_order(hash_codes(ids.data, ids.offsets)[put], DEFAULT_CAPACITY)]
    return replace(frame, walked=walked, rows=rows, racks=no_racks(len(members)))


def _sorted_rows(request: AssignmentRequest, frame: StickyFrame, readers: Ints) -> Ints:
    """``sortPartitions``: the order in which partitions are taken up; what two members claim stands there twice."""
    members, topics = request.members, request.topics
    if members.has_owned.any():
        if frame.total == 0:
            raise AssignorError("java.util.NoSuchElementException", "there are no partitions to compare")
        if _all_read_the_same(request, frame):
            names = topics.names
            hashed = hashed_rows(
                topic_walk(request, frame.met), topics.first_row, hash_codes(names.data, names.offsets)
            )
            turned: Ints = in_turn(frame.by_id, members.owned_offsets, frame.rows, hashed, topics.partition_total)
            return turned
    order = frame.topics[np.argsort(readers[frame.topics], kind="stable")]
    rows: Ints = rows_of(order, topics.first_row)
    return rows


def _all_read_the_same(request: AssignmentRequest, frame: StickyFrame) -> bool:
    """All partitions have the same readers, and all members read the same: everybody reads all, or nobody anything."""
    members, topics = request.members, request.topics
    columns = (members.subscription_offsets, members.subscription_topics)
    starts, readers = subscribers_by_topic(frame.met, *columns, len(topics), True)
    filled = frame.topics[frame.counts[frame.topics] > 0]
    counts = np.diff(starts)[filled]
    return bool(
        ((counts == len(members)) | (counts == 0)).all() and len(np.unique(same_readers(starts, readers)[filled])) == 1
    )
