"""Inner steps of the general sticky way: lists of rows, the heap of readers, movements, walks until all is even."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from kafka_assignors.contract import MapOrder
from kafka_assignors.sticky import general
from kafka_assignors.sticky import state as least_reader
from kafka_assignors.sticky.general import choose_who_takes_part, most_possible
from kafka_assignors.sticky.state import HEAP, LEAST, LITERAL, MOST, NONE, State, flatten, give, new_state, take
from kafka_assignors.sticky.sticky_input import sticky_input_of
from tests.unit.assignors.groups import group


def nobody_has_anything(counts: dict[str, int], subscriptions: dict[str, list[str]], slack: int = 1) -> State:
    """Rows: t's first, then u's; members in the order of ``subscriptions``."""
    request = group(counts, subscriptions, order=MapOrder.GIVEN)
    members, inputs = request.members, sticky_input_of(request, request.members.data_generations)
    possible = most_possible(
        members.subscription_offsets, members.subscription_topics, inputs.counts, len(inputs.topics), inputs.total
    )
    return new_state(request, inputs, possible, slack=slack)


def holding(state: State, *lists: list[int]) -> State:
    """Each member's rows, given in order; who takes part is settled."""
    for member, rows in enumerate(lists):
        for row in rows:
            give(state, row, member)
    choose_who_takes_part(state)
    return state


def lists(state: State) -> list[list[int]]:
    offsets, rows = flatten(state)
    return [rows[start:end].tolist() for start, end in pairwise(offsets)]


@pytest.fixture
def two_of_one_topic() -> State:
    return nobody_has_anything({"t": 6}, {"a": ["t"], "b": ["t"]})


def test_a_row_is_given_taken_and_given_to_another(two_of_one_topic: State) -> None:
    state = two_of_one_topic
    for row in (0, 1, 2):
        give(state, row, 0)
    take(state, 1, 0)
    assert lists(state) == [[0, 2], []]
    give(state, 1, 1)
    give(state, 3, 0)  # takes the place that became free
    assert lists(state) == [[0, 2, 3], [1]]
    assert state.rows["owner"][:4].tolist() == [0, 1, 0, 0]
    assert state.members["row_count"].tolist() == [3, 1]


def test_a_row_that_two_hold_stands_in_both_lists_and_taking_it_from_a_third_does_nothing(
    two_of_one_topic: State,
) -> None:
    state = two_of_one_topic
    give(state, 0, 0)
    give(state, 0, 1)
    assert (lists(state), int(state.rows["owner"][0])) == ([[0], [0]], 1)
    take(state, 0, 0)
    take(state, 0, 0)  # it does not stand there any more
    assert lists(state) == [[], [0]]
    assert int(state.holdings["member"][state.rows["first"][0]]) == 1


def test_the_reader_with_the_least_is_on_top_ties_by_id_and_finds_its_place_when_it_changes() -> None:
    state = holding(nobody_has_anything({"t": 9}, {"c": ["t"], "b": ["t"], "a": ["t"]}), [0, 1], [2], [3])
    least_reader.fill(state, 0, only_who_takes_part=True)
    assert (int(state.heap[0]), int(state.marks[HEAP])) == (2, 3)  # a and b hold one each: a sorts first
    give(state, 4, 2)
    give(state, 5, 2)
    least_reader.sift(state, 2)
    assert int(state.heap[0]) == 1
    assert sorted(state.heap[:3].tolist()) == [0, 1, 2]


def test_who_takes_part_and_the_smallest_and_largest_of_them() -> None:
    """c reads u alone and holds all of it: nobody can give it anything, nor take."""
    state = holding(nobody_has_anything({"t": 4, "u": 2}, {"a": ["t"], "b": ["t"], "c": ["u"]}), [0, 1, 2], [3], [4, 5])
    assert state.members["takes_part"].tolist() == [1, 1, 0]
    assert (int(state.marks[LEAST]), int(state.marks[MOST])) == (1, 3)


def test_a_walk_moves_rows_to_the_least_until_counts_differ_by_one(two_of_one_topic: State) -> None:
    """5 and 0: row 0 makes it 4 and 1, row 1 makes it 3 and 2, which is balanced."""
    state = holding(two_of_one_topic, [0, 1, 2, 3, 4], [])
    assert general.rebalance(np.arange(5, dtype=np.int32), state) == general.CHANGED
    assert lists(state) == [[2, 3, 4], [0, 1]]
    assert (int(state.marks[LEAST]), int(state.marks[MOST])) == (2, 3)
    assert general.rebalance(np.arange(5, dtype=np.int32), state) == general.UNCHANGED


def test_a_row_goes_back_to_who_had_it_in_an_older_generation_although_another_has_less() -> None:
    """a holds 4, b 1, c none; row 0 was b's: 4 > 1 + 1, so b has it back; row 1 goes to c, then all is even."""
    state = nobody_has_anything({"t": 6}, {"a": ["t"], "b": ["t"], "c": ["t"]})
    holding(state, [0, 1, 2, 3], [4], [])
    state.rows["previous"][0] = 1
    assert general.rebalance(np.arange(5, dtype=np.int32), state) == general.CHANGED
    assert lists(state) == [[2, 3], [4, 0], [1]]


def test_all_is_balanced_where_who_has_less_could_not_take_more() -> None:
    """a has 3 of t, which b does not read; b holds all it could have: u's one partition."""
    state = holding(nobody_has_anything({"t": 3, "u": 1}, {"a": ["t", "u"], "b": ["u"]}), [0, 1, 2], [3])
    assert general.rebalance(np.arange(4, dtype=np.int32), state) == general.UNCHANGED
    assert lists(state) == [[0, 1, 2], [3]]


def test_nobody_takes_part_where_nobody_could_have_anything_of_anyone() -> None:
    state = holding(nobody_has_anything({"t": 1, "u": 1}, {"a": ["t"], "b": ["u"]}), [0], [1])
    assert state.members["takes_part"].tolist() == [0, 0]
    assert general.rebalance(np.arange(1, dtype=np.int32), state) == general.NO_MEMBER


def test_a_move_against_an_earlier_one_turns_that_one_back(two_of_one_topic: State) -> None:
    """Row 0 came from a to b. Row 1 is to go from b to a: row 0 goes back in its place, and nothing is moved at all."""
    state = holding(two_of_one_topic, [], [0, 1])
    general.record(state, 0, 0, 1)
    assert general.really_moved(state, 1, 1, 0) == 0
    assert general.really_moved(state, 1, 0, 1) == 1  # the same way as row 0: nothing to turn back
    general.record(state, 0, 1, 0)
    assert state.rows["source"].tolist() == [NONE] * 6
    assert general.really_moved(state, 1, 1, 0) == 1


def test_a_row_that_moves_twice_counts_as_one_movement_from_where_it_was_first() -> None:
    state = nobody_has_anything({"t": 3}, {"a": ["t"], "b": ["t"], "c": ["t"]})
    general.record(state, 2, 0, 1)
    general.record(state, 2, 1, 2)
    assert (int(state.rows["source"][2]), int(state.rows["target"][2])) == (0, 2)
    assert (int(state.topics["moved_first"][0]), int(state.topics["moved_last"][0])) == (2, 2)


def test_of_several_that_came_the_other_way_the_first_of_the_hash_set_goes_back() -> None:
    """Rows 0 to 4 came from a to b: which stands first is the lowest bin of the spread hash in a table of 16."""
    state = holding(nobody_has_anything({"t": 6}, {"a": ["t"], "b": ["t"]}), [], list(range(6)))
    for row in range(5):
        general.record(state, row, 0, 1)
    bins = (state.rows["spread"][:5] & 15).tolist()
    assert general.really_moved(state, 5, 1, 0) == bins.index(min(bins))


def test_the_set_of_a_movement_doubles_with_its_thirteenth_row() -> None:
    """HashMap of 16 bins: threshold 12."""
    state = nobody_has_anything({"t": 14}, {"a": ["t"], "b": ["t"]})
    tables = []
    for row in range(14):
        general.record(state, row, 0, 1)
        tables.append(int(state.rows["table"][0]))
    assert tables == [16] * 12 + [32] * 2


def test_kafkas_questions_word_for_word_agree_where_no_stale_partition_is_held(two_of_one_topic: State) -> None:
    state = holding(two_of_one_topic, [0, 1, 2], [])
    assert general.is_balanced_literally(state) == general.NO
    assert general.somebody_has_less(state, 0, 0) == general.YES
    take(state, 0, 0)
    give(state, 0, 1)
    for row in range(3, 6):
        give(state, row, 1)  # 2 and 4, but for a slack of 1 two are too many
    assert general.is_balanced_literally(state) == general.NO
    give(state, 3, 0)
    assert general.somebody_has_less(state, 0, 1) == general.NO


def test_where_java_would_ask_for_a_member_that_is_left_out_it_fails(two_of_one_topic: State) -> None:
    """b holds nothing it shares and is left out, yet reads row 0's topic: a null."""
    state = holding(two_of_one_topic, [0, 1, 2], [])
    state.members["takes_part"][1] = 0
    state.marks[LITERAL] = 1
    assert general.somebody_has_less(state, 0, 0) == general.FAILED
