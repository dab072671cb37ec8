"""The steps of Connect's assignors, by hand: who starts and stops what, and what the leader remembers."""

from collections.abc import Mapping

import pytest

from kafka_assignors.connect import (
    CONNECT_COOPERATIVE,
    CONNECT_EAGER,
    CooperativeAnswer,
    CooperativeRequest,
    LeaderMemory,
    configured_work,
    connect_cooperative,
    work_after,
    work_as_sent,
)
from kafka_assignors.connect_work import ConnectTask, Work
from kafka_assignors.errors import InvalidInputError

NEWEST, EARLIER = CONNECT_COOPERATIVE
MINUTE_MS = 60_000


def work(text: str) -> Work:
    """``"c c-0 c-1"`` is connector c and two of its tasks."""
    names = text.split()
    tasks = (name.rpartition("-") for name in names if "-" in name)
    return Work(
        tuple(name for name in names if "-" not in name),
        tuple(ConnectTask(connector, int(number)) for connector, _, number in tasks),
    )


def played(
    answer: CooperativeAnswer | None, running: Mapping[str, str], counts: Mapping[str, int], now_ms: int = 0,
    max_delay_ms: int = 5 * MINUTE_MS, generation: int = 1,
) -> CooperativeAnswer:  # fmt: skip
    """One round after ``answer``, whose end the leader saw."""
    return NEWEST.assign(
        CooperativeRequest(
            running={worker: work(text) for worker, text in running.items()},
            configured=configured_work(counts),
            memory=LeaderMemory() if answer is None else answer.memory,
            now_ms=now_ms,
            max_delay_ms=max_delay_ms,
            generation=generation + 1,
            completed_generation=-1 if answer is None else generation,
        )
    )


def test_eager_deals_connectors_then_tasks_in_turn() -> None:
    given = CONNECT_EAGER[0].assign(["w2", "w1"], configured_work({"b": 2, "a": 1}))
    assert given == (work("b b-0"), work("a a-0 b-1"))


def test_a_worker_that_joins_gets_what_others_give_up_one_round_later() -> None:
    first = played(None, {"a": ""}, {"c": 4})
    assert first.assigned["a"] == work("c c-0 c-1 c-2 c-3")
    second = played(first, {"a": "c c-0 c-1 c-2 c-3", "b": ""}, {"c": 4}, generation=2)
    assert (second.assigned["b"], second.revoked["a"]) == (Work(), work("c-0 c-1"))
    third = played(second, {"a": "c c-2 c-3", "b": ""}, {"c": 4}, generation=3)
    assert (third.assigned["b"], third.revoked["a"], third.delay_ms) == (work("c-0 c-1"), Work(), 0)


@pytest.fixture
def settled() -> CooperativeAnswer:
    return played(None, {"a": "", "b": ""}, {"c": 4})


def test_the_work_of_a_lost_worker_waits_and_then_goes_to_the_others(settled: CooperativeAnswer) -> None:
    assert settled.assigned["b"] == work("c-1 c-3")
    lost = played(settled, {"a": "c c-0 c-2"}, {"c": 4}, generation=2)
    assert (lost.assigned["a"], lost.delay_ms) == (Work(), 5 * MINUTE_MS)
    early = played(lost, {"a": "c c-0 c-2"}, {"c": 4}, now_ms=2 * MINUTE_MS, generation=3)
    assert (early.assigned["a"], early.delay_ms) == (Work(), 3 * MINUTE_MS)
    late = played(early, {"a": "c c-0 c-2"}, {"c": 4}, now_ms=5 * MINUTE_MS, generation=4)
    assert (late.assigned["a"], late.delay_ms) == (work("c-1 c-3"), 0)


def test_a_worker_that_returns_in_time_gets_all_that_was_lost(settled: CooperativeAnswer) -> None:
    """It is a candidate; what others would have got as new work is dealt to candidates alone."""
    lost = played(settled, {"a": "c c-0 c-2"}, {"c": 4}, generation=2)
    back = played(lost, {"a": "c c-0 c-2", "b2": ""}, {"c": 4}, now_ms=MINUTE_MS, generation=3)
    assert back.memory.candidates == ("b2",)
    late = played(back, {"a": "c c-0 c-2", "b2": ""}, {"c": 4}, now_ms=5 * MINUTE_MS, generation=4)
    assert (late.assigned["a"], late.assigned["b2"]) == (Work(), work("c-1 c-3"))


def test_a_new_leader_deals_what_the_dead_one_ran_at_once() -> None:
    answer = played(None, {"a": "c c-0 c-2"}, {"c": 4})
    assert (answer.assigned["a"], answer.delay_ms) == (work("c-1 c-3"), 0)


def test_what_is_deleted_or_runs_twice_is_stopped() -> None:
    first = played(None, {"a": "", "b": ""}, {"c": 2, "d": 1})
    assert first.assigned == {"a": work("c c-0 d-0"), "b": work("d c-1")}
    second = played(first, {"a": "c c-0 d-0", "b": "d c-1 c-0"}, {"c": 2}, generation=2)
    assert second.revoked == {"a": work("c-0 d-0"), "b": work("d c-0")}
    third = played(second, {"a": "c", "b": "c-1"}, {"c": 2}, generation=3)
    assert third.assigned == {"a": work("c-0"), "b": Work()}


def test_rounds_in_a_row_that_revoke_are_kept_apart_by_a_delay() -> None:
    first = played(None, {"a": ""}, {"c": 6})
    second = played(first, {"a": "c c-0 c-1 c-2 c-3 c-4 c-5", "b": ""}, {"c": 6}, generation=2)
    assert second.revoked["a"] == work("c-0 c-1 c-2")
    third = played(second, {"a": "c c-3 c-4 c-5", "b": "", "d": ""}, {"c": 6}, generation=3)
    assert (third.revoked["a"], third.delay_ms) == (Work(), 40)


def test_without_a_delay_nothing_waits_from_3_5(settled: CooperativeAnswer) -> None:
    request = CooperativeRequest(
        running={"a": work("c c-0 c-2")}, configured=configured_work({"c": 4}), memory=settled.memory,
        now_ms=7, max_delay_ms=0, generation=3, completed_generation=2,
    )  # fmt: skip
    assert NEWEST.assign(request).assigned["a"] == work("c-1 c-3")
    assert EARLIER.assign(request).assigned["a"] == Work()
    assert connect_cooperative("3.4.1") is EARLIER
    assert connect_cooperative() is connect_cooperative("4.4") is NEWEST


def test_work_on_the_wire_is_grouped_by_connector() -> None:
    assert work_as_sent(work("b a c-0 a-1 c-1 b-0")) == work("a b a-1 b-0 c-0 c-1")
    assert work_after(work("a a-0 a-1"), work("b b-0"), work("a-0")) == work("b a b-0 a-1")


@pytest.mark.parametrize(
    ("running", "max_delay_ms", "message"),
    [({}, 0, "workers: there are none"), ({"a": Work()}, -1, "max_delay_ms: -1")],
)
def test_a_round_that_cannot_be_is_refused(running: Mapping[str, Work], max_delay_ms: int, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        CooperativeRequest(running=running, configured=Work(), max_delay_ms=max_delay_ms)
    with pytest.raises(InvalidInputError, match="one is listed twice"):
        CONNECT_EAGER[0].assign(["a", "a"], Work())
