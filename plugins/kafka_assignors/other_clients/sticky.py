"""Other clients' sticky strategies: librdkafka, kafka-python and aiokafka, Sarama.

All copied Java's algorithm before 3.0 (``sticky.before_3_0``, ``assign_one_way``), for all subscriptions, with the
differences below. Complexity: as ``assign_one_way``, for Sarama ``DRAWS`` times.

librdkafka, cooperative only
- Maps return the newest key first; racks are as in Java's unequal way from 3.5 on.
- Two claims in one generation lose the partition; else the highest generation has it. The holder is the *last* member
  in JoinGroup order that claims it.
- With equal subscriptions, partitions are taken in turn from the fullest member downwards, the lowest of each list
  first, then unowned ones, topics and partitions backwards; by name where no member owns anything.
- A second step withholds what another member claims (the last one), and returns vanished partitions to their owner.
- A reversed move takes the next recorded one instead, or reads freed memory and may crash (AssignorError).
- Source: ``rdkafka_sticky_assignor.c``, ``rdkafka_assignor.c``, 2.15.

kafka-python 2 and aiokafka (sticky), kafka-python 3 (sticky and cooperative)
- Python's dicts replace Java's maps: claims come in member order; subscriptions are equal only as lists; a member's
  *last* partition is taken first; unowned ones come sorted by name. Generation 0 counts as none: the later claim
  wins.
- kafka-python 3 undoes both moves where one to be reversed belongs to a third member. Its cooperative strategy
  withholds what another member claims, the last one in JoinGroup order.
- Example: t of 4 partitions; A owns 0 to 3, B joins: A loses 3 and 2.

Sarama, sticky and cooperative
- Go's maps have no order. ``DRAWS`` orders are drawn from a fixed seed. If all agree, that is the answer; else an
  answer with the most frequent sizes, which ``varies``.
- A group with a member that owns nothing never returns to its state before balancing. Where Java restores it, Sarama
  keeps the new state but drops members that were left out.
- Source: ``balance_strategy.go``, 1.61.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Ints, Longs
from kafka_assignors.contract import Assignment, AssignmentRequest, Withheld
from kafka_assignors.errors import AssignorError
from kafka_assignors.other_clients.member_orders import by_code_points, refuse_unknown_topics
from kafka_assignors.sticky.before_3_0 import (
    Claims,
    Generations,
    claims_of,
    fill_and_even_out,
    put_moved_first,
    unfilled_state,
)
from kafka_assignors.sticky.general import (
    choose_who_takes_part,
    even_out,
    give_out,
    give_out_in_racks,
    keep_readable,
    rows_of,
    shared_rows,
    waits_for_owners,
)
from kafka_assignors.sticky.legacy import hold, in_turn
from kafka_assignors.sticky.state import DIALECT, JAVA, KAFKA_PYTHON_3, LIBRDKAFKA, State, flatten
from kafka_assignors.sticky.sticky_input import StickyInput, no_racks, sticky_input_of

_NULL = "java.lang.NullPointerException"


def input_in_join_order(request: AssignmentRequest) -> StickyInput:
    """Members in JoinGroup order, ids and topics sorted by code points; no racks."""
    members, topics = request.members, request.topics
    inputs = sticky_input_of(request, members.data_generations)
    order = np.arange(len(members))
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
    """Where Java meets a null because balancing left out a member."""
    try:
        yield
    except AssignorError as refusal:
        if refusal.java_class != _NULL:
            raise
        raise AssignorError(name, message) from None


def topic_lists(request: AssignmentRequest, inputs: StickyInput) -> list[list[int]]:
    offsets, topics = request.members.subscription_offsets.tolist(), request.members.subscription_topics
    filled = inputs.counts[topics] > 0
    return [topics[start:end][filled[start:end]].tolist() for start, end in pairwise(offsets)]


@dataclass(frozen=True, slots=True)
class PythonSticky:
    dialect: int
    is_cooperative: bool = False
    name: str = "sticky"
    versions: str = ""

    def assign(self, request: AssignmentRequest) -> Assignment:
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
        order = _kafka_python_order(request, inputs, claims, state)
        with failing_as("KeyError", "the leader asks for a member that is left out of balancing"):
            state = fill_and_even_out(state, inputs, claims, order, walks_given_first=True)
        offsets, rows = flatten(state)
        if not self.is_cooperative:
            return Assignment.of(offsets, inputs.row_topic[rows], inputs.row_partition[rows])
        return without_claimed(inputs, offsets, rows, last_claimants(request, inputs))


def of_kafka_python_2() -> PythonSticky:
    return PythonSticky(JAVA)


def of_kafka_python_3() -> PythonSticky:
    return PythonSticky(KAFKA_PYTHON_3)


def cooperative_of_kafka_python_3() -> PythonSticky:
    return PythonSticky(KAFKA_PYTHON_3, is_cooperative=True)


def in_order(hashes: Ints) -> Longs:
    return np.arange(len(hashes))


def last_claimants(request: AssignmentRequest, inputs: StickyInput) -> Ints:
    """int32[R]: the last member in JoinGroup order that claims a row, or ABSENT."""
    owner = np.full(len(inputs.row_topic), ABSENT, dtype=np.int32)
    sizes = np.diff(request.members.owned_offsets)
    for member, rows in enumerate(np.split(inputs.rows, np.cumsum(sizes)[:-1])):
        owner[rows[rows >= 0]] = member
    return owner


def without_claimed(inputs: StickyInput, offsets: Longs, rows: Ints, claimant: Ints) -> Assignment:
    receivers = np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))
    waits = (claimant[rows] != ABSENT) & (claimant[rows] != receivers)
    held, kept = rows[waits], rows[~waits]
    left = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(~waits, dtype=np.int64)))[offsets]
    withheld = Withheld(inputs.row_topic[held], inputs.row_partition[held], receivers[waits])
    return Assignment(left, inputs.row_topic[kept], inputs.row_partition[kept], withheld)


def _kafka_python_order(request: AssignmentRequest, inputs: StickyInput, claims: Claims, state: State) -> Ints:
    by_readers = inputs.topics[np.argsort(state.topics["readers"][inputs.topics], kind="stable")]
    sorted_rows: Ints = rows_of(by_readers, request.topics.first_row)
    if claims.is_empty or not _read_alike(request, inputs):
        return sorted_rows
    lists = np.split(claims.rows, claims.offsets[1:-1])
    last_first = np.concatenate([rows[::-1] for rows in lists])
    rows = put_moved_first(claims.offsets, last_first, claims.moved_rows, state.rows["owner"].copy())
    turned: Ints = in_turn(inputs.by_id, claims.offsets, rows, sorted_rows, request.topics.partition_total)
    return turned


def _read_alike(request: AssignmentRequest, inputs: StickyInput) -> bool:
    lists = topic_lists(request, inputs)
    times = Counter(lists[0])
    filled = np.flatnonzero(inputs.counts > 0).tolist()
    return all(topics == lists[0] for topics in lists) and len({times[topic] for topic in filled}) <= 1


@dataclass(frozen=True, slots=True)
class LibrdkafkaCooperative:
    """``assign`` gives this round's answer, ``target`` the final one."""

    name: str = "cooperative-sticky"
    versions: str = ""

    def assign(self, request: AssignmentRequest) -> Assignment:
        members = request.members
        generations = np.where(members.generations >= 0, members.generations, members.data_generations)
        inputs = _input(request)
        claims = _settle(inputs, np.diff(members.owned_offsets), generations)
        state = unfilled_state(request, inputs)
        state.marks[DIALECT] = LIBRDKAFKA
        order = _librdkafka_order(request, inputs, claims)
        is_taken, must_revoke = keep_readable(
            state, inputs.owned_order, members.owned_offsets, inputs.rows, claims.is_kept
        )
        is_believed_wrongly = _believe(state, claims)
        is_initial = not state.members["row_count"].any()
        free = order[~is_taken[order]]
        give_out(state, give_out_in_racks(state, free) if inputs.racks.is_active else free)
        state.rows["previous"] = claims.had_before
        choose_who_takes_part(state)
        walks = [] if must_revoke or len(free) == 0 else [shared_rows(state, free)]
        walks.append(shared_rows(state, order))
        with failing_as("null pointer", "the leader asks for a member that is left out of balancing, and crashes"):
            state = even_out(state, walks, is_initial=is_initial, is_literal=is_believed_wrongly)
        return _second_step(request, inputs, state)


@dataclass(frozen=True, slots=True, eq=False)
class _Settled:
    """``is_kept`` bool[W]; earlier holder and last claimant int32[R]."""

    is_kept: Flags
    had_before: Ints
    last: Ints


def _input(request: AssignmentRequest) -> StickyInput:
    """Without owned partitions of unread topics; the map of members walks backwards."""
    inputs = input_in_join_order(request)
    is_read = np.zeros(len(request.topics), dtype=np.bool_)
    is_read[request.members.subscription_topics] = True
    counts = np.where(is_read, inputs.counts, np.int32(-1))
    gone = (inputs.rows >= 0) & ~(
        (counts[request.members.owned_topics] > request.members.owned_partitions)
        & (request.members.owned_partitions >= 0)
    )
    return replace(
        inputs,
        owned_order=np.arange(len(request.members))[::-1].copy(),
        topics=inputs.topics[is_read[inputs.topics]],
        counts=counts,
        rows=np.where(gone, np.int32(ABSENT), inputs.rows),
        racks=sticky_input_of(request, request.members.data_generations).racks,
    )


def _settle(inputs: StickyInput, sizes: Ints, generations: Ints) -> _Settled:
    is_kept = np.zeros(len(inputs.rows), dtype=np.bool_)
    had_before = np.full(len(inputs.row_topic), ABSENT, dtype=np.int32)
    last = had_before.copy()
    claims: dict[int, list[tuple[int, int, int]]] = {}
    owners = np.repeat(np.arange(len(sizes)), sizes).tolist()
    for at, (row, member) in enumerate(zip(inputs.rows.tolist(), owners, strict=True)):
        if row >= 0:
            claims.setdefault(row, []).append((int(generations[member]), member, at))
    for row, listed in claims.items():
        if len({generation for generation, _, _ in listed}) < len(listed):
            continue
        last[row] = listed[-1][1]
        listed.sort()
        is_kept[listed[-1][2]] = True
        if len(listed) > 1:
            had_before[row] = listed[-2][1]
    return _Settled(is_kept, had_before, last)


def _believe(state: State, claims: _Settled) -> bool:
    """Return whether any holder changed."""
    is_claimed = claims.last != ABSENT
    holder = state.rows["owner"].copy()
    state.rows["owner"][is_claimed] = claims.last[is_claimed]
    return bool(((holder != ABSENT) & is_claimed & (holder != claims.last)).any())


def _librdkafka_order(request: AssignmentRequest, inputs: StickyInput, claims: _Settled) -> Ints:
    topics, members = request.topics, request.members
    lists = topic_lists(request, inputs)
    if any(sorted(listed) != sorted(lists[0]) for listed in lists):
        readers = np.bincount(members.subscription_topics, minlength=len(topics))[inputs.topics]
        sorted_rows: Ints = rows_of(inputs.topics[np.argsort(readers, kind="stable")], topics.first_row)
        return sorted_rows
    sizes = np.diff(members.owned_offsets)
    owners = np.repeat(np.arange(len(members)), sizes)
    held = np.flatnonzero(claims.is_kept)
    if len(held) == 0:
        by_name: Ints = rows_of(inputs.topics, topics.first_row)
        return by_name
    name_rank = np.zeros(len(topics), dtype=np.int64)
    name_rank[inputs.topics] = np.arange(len(inputs.topics))
    rows = inputs.rows[held]
    keys = (inputs.row_partition[rows], name_rank[inputs.row_topic[rows]], claims.had_before[rows] == ABSENT)
    order = np.lexsort((*keys, owners[held]))
    offsets = np.zeros(len(members) + 1, dtype=np.int64)
    np.cumsum(np.bincount(owners[held], minlength=len(members)), out=offsets[1:])
    backwards = rows_of(np.sort(inputs.topics), topics.first_row)[::-1].copy()
    turned: Ints = in_turn(inputs.by_id, offsets, rows[order], backwards, topics.partition_total)
    return turned


def _second_step(request: AssignmentRequest, inputs: StickyInput, state: State) -> Assignment:
    offsets, rows = flatten(state)
    target = Assignment.of(offsets, inputs.row_topic[rows], inputs.row_partition[rows])
    assignment = without_claimed(inputs, offsets, rows, last_claimants(request, inputs))
    return replace(_hand_back(request, inputs, assignment), target=target)


def _hand_back(request: AssignmentRequest, inputs: StickyInput, assignment: Assignment) -> Assignment:
    members = request.members
    owners = np.repeat(np.arange(len(members), dtype=np.int32), np.diff(members.owned_offsets))
    gone = np.flatnonzero(inputs.rows < 0)
    if len(gone) == 0:
        return assignment
    back = {
        (topic, partition): owner
        for topic, partition, owner in zip(
            members.owned_topics[gone].tolist(),
            members.owned_partitions[gone].tolist(),
            owners[gone].tolist(),
            strict=True,
        )
    }
    receivers = np.concatenate((np.repeat(np.arange(len(members)), assignment.counts), list(back.values())))
    by_member = np.argsort(receivers, kind="stable")
    offsets = np.zeros(len(members) + 1, dtype=np.int64)
    np.cumsum(np.bincount(receivers, minlength=len(members)), out=offsets[1:])
    topics = np.concatenate((assignment.topics, [topic for topic, _ in back])).astype(np.int32)
    partitions = np.concatenate((assignment.partitions, [partition for _, partition in back])).astype(np.int32)
    return replace(assignment, offsets=offsets, topics=topics[by_member], partitions=partitions[by_member])


DRAWS = 12
_SPREADS = 2**31


@dataclass(frozen=True, slots=True)
class SaramaSticky:
    is_cooperative: bool = False
    name: str = "sticky"
    versions: str = ""

    def assign(self, request: AssignmentRequest) -> Assignment:
        refuse_unknown_topics(request)
        members = request.members
        inputs = input_in_join_order(request)
        generations = members.data_generations
        overwrites = ~members.has_data_generation
        if self.is_cooperative:
            generations = np.where(members.generations >= 0, members.generations, generations)
            overwrites = np.zeros(len(members), dtype=np.bool_)
            generations.setflags(write=False)
        overwrites.setflags(write=False)
        answers = []
        for draw in range(DRAWS):
            run = _Run(request, inputs, np.random.default_rng((request.seed, draw)))
            answers.append(_in_lists(run.answer((generations, overwrites)), request, inputs, self))
        return _choose(answers)


def cooperative() -> SaramaSticky:
    return SaramaSticky(is_cooperative=True)


@dataclass(frozen=True, slots=True)
class _Run:
    request: AssignmentRequest
    inputs: StickyInput
    luck: np.random.Generator

    def answer(self, generations: Generations) -> tuple[Longs, Ints]:
        claims = claims_of(self.request, self.inputs, self._members(), generations, self._any_order)
        state = unfilled_state(self.request, self.inputs)
        state.rows["spread"] = self.luck.integers(0, _SPREADS, len(state.rows))
        order = self._taken_up(claims, state)
        held, _ = hold(state, self.inputs.owned_order, claims.offsets, claims.rows)
        state.rows["previous"][: len(claims.had_before)] = claims.had_before
        is_initial = len(state.members) == 0 or bool(state.members["row_count"].min() == 0)
        give_out(state, self._free(claims, held))
        choose_who_takes_part(state)
        with failing_as("lost partition", "one goes to a member that is left out of balancing: nobody will read it"):
            final = even_out(state, [shared_rows(state, order)], is_initial=is_initial, is_literal=False)
        offsets, rows = flatten(state)
        return (offsets, rows) if final is state else _without_left_out(state, offsets, rows)

    def _members(self) -> Longs:
        return self.luck.permutation(len(self.request.members))

    def _any_order(self, hashes: Ints) -> Longs:
        return self.luck.permutation(len(hashes))

    def _free(self, claims: Claims, held: Ints) -> Ints:
        """What a member owns but does not read, then unowned rows; both in any order."""
        existing = rows_of(self.inputs.topics, self.request.topics.first_row)
        is_claimed = np.zeros(len(held), dtype=np.bool_)
        is_claimed[claims.rows] = True
        unread = claims.rows[held[claims.rows] == 0]
        return np.concatenate((unread, self.luck.permutation(existing[~is_claimed[existing]])))

    def _taken_up(self, claims: Claims, state: State) -> Ints:
        topics, inputs = self.request.topics, self.inputs
        if not claims.is_empty and self._reads_alike():
            rows = put_moved_first(claims.offsets, claims.rows, claims.moved_rows, state.rows["owner"].copy())
            tail = self.luck.permutation(rows_of(inputs.topics, topics.first_row))
            turned: Ints = in_turn(inputs.by_id, claims.offsets, rows, tail, topics.partition_total)
            return turned
        by_readers = inputs.topics[np.argsort(state.topics["readers"][inputs.topics], kind="stable")]
        sorted_rows: Ints = rows_of(by_readers, topics.first_row)
        return sorted_rows

    def _reads_alike(self) -> bool:
        """Go does not compare members without topics that come before all others."""
        lists = [sorted(topics) for topics in topic_lists(self.request, self.inputs)]
        expected: list[int] = []
        for member in self._members().tolist():
            expected = expected or lists[member]
            if lists[member] != expected:
                return False
        return True


def _without_left_out(state: State, offsets: Longs, rows: Ints) -> tuple[Longs, Ints]:
    sizes = np.where(state.members["takes_part"] != 0, np.diff(offsets), 0)
    stays = np.repeat(state.members["takes_part"] != 0, np.diff(offsets))
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64))), rows[stays]


def _in_lists(
    answer: tuple[Longs, Ints], request: AssignmentRequest, inputs: StickyInput, strategy: SaramaSticky
) -> Assignment:
    """Return lists in ascending order, without withheld rows."""
    offsets, rows = answer
    receivers = np.repeat(np.arange(len(request.members), dtype=np.int32), np.diff(offsets))
    rows = rows[np.lexsort((rows, receivers))]
    if not strategy.is_cooperative:
        return Assignment.of(offsets, inputs.row_topic[rows], inputs.row_partition[rows])
    waits = waits_for_owners(offsets, rows, request.members.owned_offsets, inputs.rows, len(inputs.row_topic))
    held, kept = rows[waits], rows[~waits]
    left = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(~waits, dtype=np.int64)))[offsets]
    withheld = Withheld(inputs.row_topic[held], inputs.row_partition[held], receivers[waits])
    return Assignment(left, inputs.row_topic[kept], inputs.row_partition[kept], withheld)


def _choose(answers: list[Assignment]) -> Assignment:
    sizes = [tuple(sorted(answer.counts.tolist())) for answer in answers]
    lists = [(answer.offsets.tobytes(), answer.topics.tobytes(), answer.partitions.tobytes()) for answer in answers]
    if len(set(lists)) == 1:
        return answers[0]
    usual = Counter(sizes).most_common(1)[0][0]
    of_usual_sizes = Counter(key for key, counts in zip(lists, sizes, strict=True) if counts == usual)
    return replace(answers[lists.index(of_usual_sizes.most_common(1)[0][0])], varies=True)
