"""Sarama's sticky and cooperative-sticky: Java's as of 2.3, in orders that are drawn anew in every run.

Where Java has maps, Go has maps without an order: members and claims are met, what nobody has is dealt out, and a move
to be turned back is chosen at random. So the same group may get other answers from run to run. Here ``DRAWS`` orders
are drawn from a fixed seed: where all lead to one answer, that is the answer; else it is the one with the most frequent
numbers of partitions (of those the most frequent one), and it ``varies``. Stable are, nearly always, the sizes and how
many partitions stay.

Two things it does otherwise than Java: a group in which somebody has nothing yet is never put back to what it was
before evening out; and where Java would put it back, Sarama keeps the new state but forgets members that were left out.

Cooperatively owned partitions and generation come in the Subscription, and what another one must give up is withheld.

Example: t of 2 partitions, A and B, both new: each gets one, but which is luck.
Source: ``balance_strategy.go``, 1.61.1. Complexity: ``DRAWS`` times ``one_way``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment, Withheld
from kafka_rebalance.assignors.other_clients.refusals import refuse_unknown_topics
from kafka_rebalance.assignors.other_clients.sticky.shared_input import failing_as, input_in_join_order, topic_lists
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.sticky.before_3_0.claims import Claims, Said, claims_of
from kafka_rebalance.assignors.sticky.before_3_0.one_way import moved_first, unfilled_state
from kafka_rebalance.assignors.sticky.general import (
    choose_who_takes_part,
    evened,
    give_out,
    rows_of,
    shared_rows,
    waits_for_owners,
)
from kafka_rebalance.assignors.sticky.legacy import hold, in_turn
from kafka_rebalance.assignors.sticky.state import State, flattened
from kafka_rebalance.assignors.sticky.sticky_input import StickyInput

DRAWS = 12
_SPREADS = 2**31


@dataclass(frozen=True, slots=True)
class SaramaSticky:
    """``is_cooperative``: its second strategy."""

    is_cooperative: bool = False
    name: str = "sticky"
    versions: str = ""

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError for a topic without metadata, EndlessReassignmentError where a run never returns."""
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
        return _chosen(answers)


def cooperative() -> SaramaSticky:
    """The strategy that withholds."""
    return SaramaSticky(is_cooperative=True)


@dataclass(frozen=True, slots=True)
class _Run:
    """One run with its own luck."""

    request: AssignmentRequest
    inputs: StickyInput
    luck: np.random.Generator

    def answer(self, said: Said) -> tuple[Longs, Ints]:
        """Offsets and rows of each member's list, before anything is withheld."""
        claims = claims_of(self.request, self.inputs, self._members(), said, self._any_order)
        state = unfilled_state(self.request, self.inputs)
        state.rows["spread"] = self.luck.integers(0, _SPREADS, len(state.rows))
        order = self._taken_up(claims, state)
        held, _ = hold(state, self.inputs.owned_order, claims.offsets, claims.rows)
        state.rows["previous"][: len(claims.had_before)] = claims.had_before
        is_initial = len(state.members) == 0 or bool(state.members["row_count"].min() == 0)
        give_out(state, self._free(claims, held))
        choose_who_takes_part(state)
        with failing_as("lost partition", "one goes to a member that is left out of balancing: nobody will read it"):
            final = evened(state, [shared_rows(state, order)], is_initial=is_initial, is_literal=False)
        offsets, rows = flattened(state)
        return (offsets, rows) if final is state else _without_left_out(state, offsets, rows)

    def _members(self) -> Longs:
        return self.luck.permutation(len(self.request.members))

    def _any_order(self, hashes: Ints) -> Longs:
        return self.luck.permutation(len(hashes))

    def _free(self, claims: Claims, held: Ints) -> Ints:
        """First what a member owns but does not read, then what nobody owns; both in any order."""
        existing = rows_of(self.inputs.topics, self.request.topics.first_row)
        is_claimed = np.zeros(len(held), dtype=np.bool_)
        is_claimed[claims.rows] = True
        unread = claims.rows[held[claims.rows] == 0]
        return np.concatenate((unread, self.luck.permutation(existing[~is_claimed[existing]])))

    def _taken_up(self, claims: Claims, state: State) -> Ints:
        topics, inputs = self.request.topics, self.inputs
        if not claims.is_empty and self._reads_alike():
            rows = moved_first(claims.offsets, claims.rows, claims.moved_rows, state.rows["owner"].copy())
            tail = self.luck.permutation(rows_of(inputs.topics, topics.first_row))
            turned: Ints = in_turn(inputs.by_id, claims.offsets, rows, tail, topics.partition_total)
            return turned
        by_readers = inputs.topics[np.argsort(state.topics["readers"][inputs.topics], kind="stable")]
        sorted_rows: Ints = rows_of(by_readers, topics.first_row)
        return sorted_rows

    def _reads_alike(self) -> bool:
        """As Go's comparison has it: members without topics are not compared if they come before all others."""
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
    """Each member's rows in ascending order, so that equal answers are equal arrays; what waits is withheld."""
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


def _chosen(answers: list[Assignment]) -> Assignment:
    """The one answer; or the most frequent one of those with the most frequent sizes, which ``varies``."""
    sizes = [tuple(sorted(answer.counts.tolist())) for answer in answers]
    lists = [(answer.offsets.tobytes(), answer.topics.tobytes(), answer.partitions.tobytes()) for answer in answers]
    if len(set(lists)) == 1:
        return answers[0]
    usual = Counter(sizes).most_common(1)[0][0]
    of_usual_sizes = Counter(key for key, counts in zip(lists, sizes, strict=True) if counts == usual)
    return replace(answers[lists.index(of_usual_sizes.most_common(1)[0][0])], varies=True)
