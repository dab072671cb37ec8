from dataclasses import replace

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.plans.applied import THROTTLES, AppliedPlan, BrokerBytes, MoveState, compare, move_state
from kafka_rebalance.plans.applied import ApplyState as State
from kafka_rebalance.plans.apply_state import ApplyState
from kafka_rebalance.plans.plan import Cost, Move, MoveKind, Plan, Verdict
from kafka_rebalance.render.checks import APPLY_STATES
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, Partition, Topic, partition_table

WHY, WORSE = fact(FactCode.SEPARATES_RACKS), fact(FactCode.SHARES_RACK)
MOVES = (
    Move("t", 0, (1, 2), (3, 2), 1, 3, MoveKind.REPLICA, 100, 1, WHY, WORSE),
    Move("t", 1, (1, 2), (3, 4), 1, 3, MoveKind.REPLICA, 40, 1, WHY, WORSE),  # 20 to each of two brokers
    Move("t", 2, (2, 1), (2, 1), 1, 2, MoveKind.LEADER, 0, 2, WHY, WORSE),
    Move("t", 3, (1, 2), (4, 2), 1, 4, MoveKind.REPLICA, None, 2, WHY, WORSE),
)
PLAN = Plan("c", Verdict.REBALANCE, (), "snapshot", Cost(4, None, 3), topic_ids={"t": "id"}, moves=MOVES)


def row(
    number: int, replicas: tuple[int, ...], leader: int | None, size: int | None = 100, **more: object
) -> Partition:
    return Partition("t", number, replicas, leader, **({"isr": replicas, "log_bytes": (size,) * len(replicas)} | more))


START = (row(0, (1, 2), 1), row(1, (1, 2), 1, 20), row(2, (2, 1), 1), row(3, (1, 2), 1))
DONE = (row(0, (3, 2), 3), row(1, (3, 4), 3, 21), row(2, (2, 1), 2), row(3, (4, 2), 4))


def reading(*rows: Partition, topic: Topic = Topic("t", "id"), **broker: object) -> ClusterSnapshot:  # noqa: B008
    brokers = tuple(replace(Broker(number), **(broker if number == 3 else {})) for number in range(1, 6))
    return ClusterSnapshot("c", brokers=brokers, topics=(topic,), partitions=partition_table(rows, {"t": 0}))


def applied(*rows: Partition, **more: object) -> AppliedPlan:
    return compare(PLAN, reading(*rows, **more))


def test_what_was_carried_out_whole_is_verified_and_its_bytes_are_compared_where_sizes_are_known() -> None:
    result = applied(*DONE)
    assert (result.state, set(result.states), result.is_settling) == (State.VERIFIED, {MoveState.APPLIED}, False)
    # t-0: 100 to broker 3; t-1: 20 to brokers 3 and 4, 21 each by now; the size of t-3 was not known.
    assert result.brokers == (BrokerBytes(3, 120, 121), BrokerBytes(4, 20, 21))
    assert (result.predicted_bytes, result.realised_bytes, result.unsized_moves) == (140, 142, 1)


def test_nothing_of_it_is_not_applied_and_some_of_it_is_partly() -> None:
    assert applied(*START).state is State.NOT_APPLIED
    assert applied(*DONE[:2], *START[2:]).state is State.PARTLY_APPLIED
    election_left = applied(*DONE[:2], START[2], DONE[3])
    assert (election_left.state, election_left.states[2]) == (State.PARTLY_APPLIED, MoveState.OPEN)


@pytest.mark.parametrize(
    ("now", "state"),
    [
        (None, MoveState.GONE),
        (row(0, (3, 2), 2), MoveState.PLACED),
        (row(0, (3, 2), None), MoveState.PLACED),
        (row(0, (3, 2, 1), 1, adding=(3,), removing=(1,)), MoveState.MOVING),
        (row(0, (4, 2, 1), 1, adding=(4,), removing=(1,)), MoveState.ELSEWHERE),
        (row(0, (2, 1), 2), MoveState.ELSEWHERE),
        (row(0, (3,), 3), MoveState.ELSEWHERE),
        (row(0, (1, 2), 2), MoveState.OPEN),
    ],
)
def test_what_else_may_have_become_of_a_move(now: Partition | None, state: MoveState) -> None:
    assert move_state(MOVES[0], now) is state
    rows = [row for row in (now, *DONE[1:]) if row is not None]
    whole = State.MOVED_BY_OTHERS if state.is_by_others else State.PARTLY_APPLIED
    assert (applied(*rows).states[0], applied(*rows).state) == (state, whole)


def test_all_moves_done_is_not_enough() -> None:
    late = applied(replace(DONE[0], isr=(2,)), *DONE[1:])
    assert (late.state, late.short_isr, late.is_settling) == (State.PARTLY_APPLIED, ("t-0",), True)
    slow = applied(*DONE, configs={THROTTLES[0]: "1000"})
    assert (slow.state, slow.throttles) == (State.PARTLY_APPLIED, (("broker 3", THROTTLES[0]),))
    left = applied(*DONE, topic=Topic("t", "id", configs={THROTTLES[3]: "0:1"}))
    assert left.throttles == (("topic t", THROTTLES[3]),)
    off = applied(*DONE, topic=Topic("t", "id", configs={THROTTLES[3]: ""}))
    assert off.state is State.VERIFIED


def test_a_topic_made_anew_in_the_same_places_is_gone() -> None:
    anew = applied(*DONE, topic=Topic("t", "another"))
    assert (set(anew.states), anew.state) == ({MoveState.GONE}, State.MOVED_BY_OTHERS)
    assert applied(*DONE, topic=Topic("t", None)).state is State.VERIFIED, "an id that nobody tells is no other one"


def test_sizes_that_nobody_tells_by_now_are_left_out_of_both() -> None:
    unsized = applied(replace(DONE[0], log_bytes=(None, 100)), *DONE[1:])
    assert (unsized.predicted_bytes, unsized.realised_bytes, unsized.unsized_moves) == (40, 42, 2)


def test_every_state_says_what_to_do_and_whether_it_is_an_end() -> None:
    assert all(APPLY_STATES[state] for state in ApplyState)
    assert {state for state in ApplyState if not state.is_end} == {State.ASKED, State.APPROVED}
    assert {state for state in ApplyState if state.is_as_decided} == {State.VERIFIED, State.REJECTED}
