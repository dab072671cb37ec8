from collections.abc import Mapping

import pytest

from kafka_assignors.contract import MapOrder
from kafka_assignors.errors import AssignorError, InvalidInputError
from kafka_assignors.streams import (
    STREAMS_STICKY,
    MemberTasks,
    StreamsMember,
    StreamsRequest,
    StreamsStickyAssignor,
    StreamsSubtopology,
    Task,
    member_order,
    streams_sticky,
)

NEWEST, EARLIER = STREAMS_STICKY
EACH_RELEASE = pytest.mark.parametrize("assignor", STREAMS_STICKY, ids=lambda assignor: assignor.versions)


def tasks(text: str) -> tuple[Task, ...]:
    """``"0_0 0_1"``."""
    named = (name.rpartition("_") for name in text.split())
    return tuple(Task(subtopology, int(partition)) for subtopology, _, partition in named)


def member(name: str, active: str = "", standby: str = "", offsets: Mapping[str, int] | None = None) -> StreamsMember:
    """``"a@p"`` is member a of process p."""
    sums = {tasks(task)[0]: total for task, total in (offsets or {}).items()}
    member_id, _, process = name.partition("@")
    return StreamsMember(
        id=member_id, process_id=process, active=tasks(active), standby=tasks(standby), offset_sums=sums
    )


def request(sizes: Mapping[str, int], *members: StreamsMember, standbys: int = 0) -> StreamsRequest:
    """Subtopologies, all stateful, and their numbers of tasks."""
    return StreamsRequest(
        subtopologies=tuple(StreamsSubtopology(name, size, is_stateful=True) for name, size in sizes.items()),
        members=members,
        standby_replicas=standbys,
        order=MapOrder.GIVEN,
    )


def written(listed: tuple[Task, ...]) -> str:
    return " ".join(f"{subtopology}_{partition}" for subtopology, partition in listed)


def active(assignor: StreamsStickyAssignor, asked: StreamsRequest) -> list[str]:
    return [written(given.active) for given in assignor.assign(asked)]


def standby(assignor: StreamsStickyAssignor, asked: StreamsRequest) -> list[str]:
    return [written(given.standby) for given in assignor.assign(asked)]


@EACH_RELEASE
def test_an_owner_keeps_the_lowest_partitions_up_to_the_quota(assignor: StreamsStickyAssignor) -> None:
    """The quota is 2: a keeps partition 0 of both subtopologies."""
    asked = request({"0": 2, "1": 2}, member("a@p", "0_0 0_1 1_0 1_1"), member("b@q"))
    assert active(assignor, asked) == ["0_0 1_0", "0_1 1_1"]


@EACH_RELEASE
def test_the_quota_is_computed_again_when_a_member_reaches_it(assignor: StreamsStickyAssignor) -> None:
    """Five tasks, two members: 3 for a, which has them; then 2 for b, which releases one to the queue."""
    asked = request({"0": 5}, member("a@p", "0_0 0_1 0_2"), member("b@q", "0_3 0_4"), member("c@r"))
    assert active(assignor, asked) == ["0_0 0_1", "0_3 0_4", "0_2"]
    two = request({"0": 5}, member("a@p", "0_0 0_1 0_2"), member("b@q", "0_3 0_4"))
    assert active(assignor, two) == ["0_0 0_1 0_2", "0_3 0_4"]


@EACH_RELEASE
def test_of_two_owners_the_last_one_counts(assignor: StreamsStickyAssignor) -> None:
    assert active(assignor, request({"0": 1}, member("a@p", "0_0"), member("b@q", "0_0"))) == ["", "0_0"]


@EACH_RELEASE
def test_the_standby_of_a_lost_owner_becomes_active(assignor: StreamsStickyAssignor) -> None:
    """Without it 0_0 would go to a, the first of the queue."""
    asked = request({"0": 2}, member("a@p"), member("b@q", standby="0_0"))
    assert active(assignor, asked) == ["0_1", "0_0"]


@EACH_RELEASE
def test_of_two_standbys_a_later_one_needs_less_load_and_fewer_tasks(assignor: StreamsStickyAssignor) -> None:
    """a has a task, so b takes over; from the queue c would get 0_1. Of two empty ones the first standby gets it."""
    busy = member("a@p", active="0_0", standby="0_1")
    asked = request({"0": 3}, busy, member("b@r", standby="0_1"), member("c@q"))
    assert active(assignor, asked) == ["0_0", "0_1", "0_2"]
    equal = request({"0": 2}, member("a@p", standby="0_1"), member("b@q", standby="0_1"))
    assert active(assignor, equal) == ["0_1", "0_0"]


@EACH_RELEASE
def test_tasks_that_the_topology_does_not_have_are_ignored(assignor: StreamsStickyAssignor) -> None:
    asked = request({"0": 1}, member("a@p", "gone_0 0_7", "gone_1", {"gone_2": 9}), member("b@q"), standbys=1)
    assert assignor.assign(asked) == (MemberTasks(tasks("0_0")), MemberTasks((), tasks("0_0")))


def test_what_members_restored_counts_in_4_4() -> None:
    """The owner of 0_0 is gone: c restored more of it than b; a standby comes before both."""
    restored = (member("a@p"), member("b@q", offsets={"0_0": 5}), member("c@r", offsets={"0_0": 7}))
    assert active(NEWEST, request({"0": 1}, *restored)) == ["", "", "0_0"]
    assert active(EARLIER, request({"0": 1}, *restored)) == ["0_0", "", ""]
    with_standby = (member("a@p", standby="0_0"), *restored[1:])
    assert active(NEWEST, request({"0": 1}, *with_standby)) == ["0_0", "", ""]
    standbys = [member(f"{name}@{name}", standby="0_0", offsets={"0_0": total}) for name, total in (("a", 1), ("b", 2))]
    assert active(NEWEST, request({"0": 1}, *standbys)) == ["", "0_0"]


@EACH_RELEASE
def test_no_process_has_a_task_twice(assignor: StreamsStickyAssignor) -> None:
    assert standby(assignor, request({"0": 1}, member("a@p"), member("b@p"), standbys=1)) == ["", ""]
    assert standby(assignor, request({"0": 1}, member("a@p"), member("b@p"), member("c@q"), standbys=1))[2] == "0_0"


@EACH_RELEASE
def test_tasks_without_state_have_no_standby(assignor: StreamsStickyAssignor) -> None:
    asked = StreamsRequest(
        subtopologies=(StreamsSubtopology("0", 2),), members=(member("a@p"), member("b@q")), standby_replicas=1
    )
    assert standby(assignor, asked) == ["", ""]


@EACH_RELEASE
def test_an_owner_that_lost_its_task_becomes_its_standby(assignor: StreamsStickyAssignor) -> None:
    """0_1 moves from a to b; c is as empty as a, but a was the owner."""
    asked = request({"0": 2}, member("a@p", "0_0 0_1"), member("b@q"), member("c@r"), standbys=1)
    assert active(assignor, asked) == ["0_0", "0_1", ""]
    assert "0_1" in standby(assignor, asked)[0]


def test_up_to_4_3_a_standby_may_move_though_nothing_changed() -> None:
    """b, the first standby, has its task again; the search for d's ends there, and the queue gives it to c."""
    members = ("a@p", "b@q", "c@r", "d@s")
    fresh = request({"0": 1}, *map(member, members), standbys=2)
    assert standby(EARLIER, fresh) == standby(NEWEST, fresh) == ["", "0_0", "", "0_0"]
    settled = request(
        {"0": 1}, member("a@p", "0_0"), member("b@q", "", "0_0"), member("c@r"), member("d@s", "", "0_0"), standbys=2
    )
    assert standby(EARLIER, settled) == ["", "0_0", "0_0", ""]
    assert standby(NEWEST, settled) == ["", "0_0", "", "0_0"]


@EACH_RELEASE
def test_a_new_thread_of_a_running_process_may_get_nothing(assignor: StreamsStickyAssignor) -> None:
    """Tasks 0 to 2 stay. p and q both have load 1, so 0_3 goes to p, the first one, though c on q has nothing."""
    asked = request({"0": 4}, member("a@p", "0_1 0_3"), member("b@q", "0_0 0_2"), member("c@q"))
    assert active(assignor, asked) == ["0_1 0_3", "0_0 0_2", ""]


def test_subtopologies_compare_as_java_compares_strings() -> None:
    """A surrogate pair comes before U+FF01, so its task is the first that a gets."""
    asked = request({"\uff01": 1, "\U0001f600": 1}, member("a@p"), member("b@q"))
    assert active(NEWEST, asked) == ["\U0001f600_0", "\uff01_0"]


@EACH_RELEASE
def test_without_members_the_class_of_that_release_refuses(assignor: StreamsStickyAssignor) -> None:
    with pytest.raises(AssignorError, match="active task 0_0") as refused:
        assignor.assign(request({"0": 1}))
    package = "group.api.streams" if assignor is NEWEST else "group.streams"
    assert refused.value.java_class == f"org.apache.kafka.coordinator.{package}.assignor.TaskAssignorException"
    assert assignor.assign(request({"0": 0})) == ()


def test_members_are_walked_in_the_order_of_javas_map() -> None:
    listed = (member("b@p"), member("a@p"))
    assert member_order(request({"0": 1}, *listed)) == [0, 1]
    assert member_order(StreamsRequest(subtopologies=(), members=listed)) == [1, 0]


def test_a_release_names_its_class() -> None:
    assert streams_sticky() is streams_sticky("4.4.0") is NEWEST
    assert streams_sticky("4.2") is streams_sticky("4.3.1") is EARLIER
    assert streams_sticky("4.5") is NEWEST  # assumed
    with pytest.raises(InvalidInputError, match=r"release 4.1 is known; known: Kafka 4.4, Kafka 4.2 – 4.3"):
        streams_sticky("4.1")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"members": (member("a@p"), member("a@q"))}, "members: one is listed twice"),
        ({"subtopologies": (StreamsSubtopology("0", 1), StreamsSubtopology("0", 2))}, "subtopologies: one is listed"),
        ({"subtopologies": (StreamsSubtopology("0", -1),)}, "fewer than 0 tasks"),
        ({"standby_replicas": -1}, "standby_replicas: -1"),
        ({"order": MapOrder.LEADER}, "leader assigns nothing"),
    ],
)
def test_a_request_that_cannot_be_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        StreamsRequest(**{"subtopologies": (), "members": (), **wrong})  # type: ignore[arg-type]
