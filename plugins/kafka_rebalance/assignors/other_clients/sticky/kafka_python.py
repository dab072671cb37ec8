"""Sticky of kafka-python and aiokafka, cooperative-sticky of kafka-python 3.

Java's one way as of 2.4 (``before_3_0``), with Python's dicts for Java's maps: claims stand in the order of members and
of what each says, subscriptions are equal only as lists, a member's *last* partition is taken up first, what nobody has
comes sorted by name. Generation 0 counts as none: of two that claim a partition in it the later one has it.

kafka-python 3 undoes both moves where one that is to be turned back belongs to a third member. Its cooperative strategy
withholds what another member claims, the last one in JoinGroup order.

Example: t of 4 partitions; A owns 0 to 3, B joins: A gives up 3 and 2, its last ones.
Complexity: as ``one_way``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import NOBODY, Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment, Withheld
from kafka_rebalance.assignors.other_clients.sticky.shared_input import failing_as, input_in_join_order, topic_lists
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.sticky.before_3_0.claims import Claims, claims_of
from kafka_rebalance.assignors.sticky.before_3_0.one_way import filled_and_evened, moved_first, unfilled_state
from kafka_rebalance.assignors.sticky.general import rows_of
from kafka_rebalance.assignors.sticky.legacy import in_turn
from kafka_rebalance.assignors.sticky.state import DIALECT, JAVA, KAFKA_PYTHON_3, State, flattened
from kafka_rebalance.assignors.sticky.sticky_input import StickyInput
from kafka_rebalance.errors import AssignorError


@dataclass(frozen=True, slots=True)
class PythonSticky:
    """``dialect``: how movements are turned back."""

    dialect: int
    is_cooperative: bool = False
    name: str = "sticky"
    versions: str = ""

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises EndlessReassignmentError where the client never returns."""
        members = request.members
        if len(members) == 0:
            raise AssignorError("IndexError", "the group has no members")
        inputs = input_in_join_order(request)
        generations = members.generations if self.is_cooperative else members.data_generations
        overwrites = generations == 0
        overwrites.setflags(write=False)
        claims = claims_of(request, inputs, inputs.subscription_order, (generations, overwrites), in_order)
        state = unfilled_state(request, inputs)
        state.marks[DIALECT] = self.dialect
        order = _taken_up(request, inputs, claims, state)
        with failing_as("KeyError", "the leader asks for a member that is left out of balancing"):
            state = filled_and_evened(state, inputs, claims, order, walks_given_first=True)
        offsets, rows = flattened(state)
        if not self.is_cooperative:
            return Assignment.of(offsets, inputs.row_topic[rows], inputs.row_partition[rows])
        return without_claimed(inputs, offsets, rows, last_claimants(request, inputs))


def of_kafka_python_2() -> PythonSticky:
    """kafka-python 2 and aiokafka."""
    return PythonSticky(JAVA)


def of_kafka_python_3() -> PythonSticky:
    """kafka-python 3."""
    return PythonSticky(KAFKA_PYTHON_3)


def cooperative_of_kafka_python_3() -> PythonSticky:
    """kafka-python 3: what members own comes in the Subscription, with its generation."""
    return PythonSticky(KAFKA_PYTHON_3, is_cooperative=True)


def in_order(hashes: Ints) -> Longs:
    """A dict gives keys back as they were put in."""
    return np.arange(len(hashes))


def last_claimants(request: AssignmentRequest, inputs: StickyInput) -> Ints:
    """int32[R]: the last member in JoinGroup order that says it owns a row, NOBODY if none does."""
    owner = np.full(len(inputs.row_topic), NOBODY, dtype=np.int32)
    sizes = np.diff(request.members.owned_offsets)
    for member, rows in enumerate(np.split(inputs.rows, np.cumsum(sizes)[:-1])):
        owner[rows[rows >= 0]] = member
    return owner


def without_claimed(inputs: StickyInput, offsets: Longs, rows: Ints, claimant: Ints) -> Assignment:
    """What another member claims is withheld."""
    receivers = np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))
    waits = (claimant[rows] != NOBODY) & (claimant[rows] != receivers)
    held, kept = rows[waits], rows[~waits]
    left = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(~waits, dtype=np.int64)))[offsets]
    withheld = Withheld(inputs.row_topic[held], inputs.row_partition[held], receivers[waits])
    return Assignment(left, inputs.row_topic[kept], inputs.row_partition[kept], withheld)


def _taken_up(request: AssignmentRequest, inputs: StickyInput, claims: Claims, state: State) -> Ints:
    by_readers = inputs.topics[np.argsort(state.topics["readers"][inputs.topics], kind="stable")]
    sorted_rows: Ints = rows_of(by_readers, request.topics.first_row)
    if claims.is_empty or not _read_alike(request, inputs):
        return sorted_rows
    lists = np.split(claims.rows, claims.offsets[1:-1])
    last_first = np.concatenate([rows[::-1] for rows in lists])
    rows = moved_first(claims.offsets, last_first, claims.moved_rows, state.rows["owner"].copy())
    turned: Ints = in_turn(inputs.by_id, claims.offsets, rows, sorted_rows, request.topics.partition_total)
    return turned


def _read_alike(request: AssignmentRequest, inputs: StickyInput) -> bool:
    """All lists are equal, in order too, and name every topic equally often."""
    lists = topic_lists(request, inputs)
    times = Counter(lists[0])
    filled = np.flatnonzero(inputs.counts > 0).tolist()
    return all(topics == lists[0] for topics in lists) and len({times[topic] for topic in filled}) <= 1
