"""Tasks of classic Streams, worked out by hand; the recorded cases compare the rest with Kafka's own classes."""

from dataclasses import replace
from typing import Any

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.high_availability import (
    HIGH_AVAILABILITY,
    LATEST_OFFSET,
    HighAvailabilityAnswer,
    HighAvailabilityMember,
    HighAvailabilityRequest,
    HighAvailabilitySettings,
)
from kafka_assignors.recorded_cases.cases import answer
from kafka_assignors.streams import Task

P, Q, R = (f"00000000-0000-0000-0000-00000000000{number}" for number in (1, 2, 3))
FAR = 50_000


def thread(name: str, process: str, runs: tuple[int, ...] = (), **restored: int) -> HighAvailabilityMember:
    sums = dict.fromkeys((Task("0", number) for number in runs), LATEST_OFFSET)
    sums |= {Task("0", int(name[1:])): total for name, total in restored.items()}
    return HighAvailabilityMember(id=name, process_id=process, offset_sums=sums)


def asked(*members: HighAvailabilityMember, tasks: int = 4, **settings: Any) -> HighAvailabilityRequest:
    ends = {Task("0", number): FAR for number in range(tasks)}
    return HighAvailabilityRequest(
        end_offset_sums=ends, stateless=(), members=members, settings=HighAvailabilitySettings(**settings)
    )


def given(request: HighAvailabilityRequest) -> tuple[HighAvailabilityAnswer, dict[str, tuple[list[int], list[int]]]]:
    answered = HIGH_AVAILABILITY[0].assign(request)
    lists = {
        process: ([task.partition for task in tasks.active], [task.partition for task in tasks.standby])
        for process, tasks in answered.processes.items()
    }
    return answered, lists


def test_an_instance_that_joins_warms_up_as_many_tasks_as_allowed_and_runs_none() -> None:
    request = asked(thread("a", P, (0, 1, 2, 3)), thread("b", Q))
    answered, lists = given(request)
    assert (lists, answered.is_probing) == ({P: ([0, 1, 2, 3], []), Q: ([], [1, 3])}, True)
    changed_request = replace(request, settings=HighAvailabilitySettings(max_warmup_replicas=1))
    assert given(changed_request)[1] == {P: ([0, 1, 2, 3], []), Q: ([], [1])}


def test_a_task_that_is_restored_moves_to_where_it_belongs() -> None:
    """Lag 10,000 is caught up, lag 10,001 is not."""
    lists = given(asked(thread("a", P, (0, 1, 2, 3)), thread("b", Q, t1=FAR - 10_000, t3=FAR - 10_001)))[1]
    assert lists == {P: ([0, 2, 3], []), Q: ([1], [3])}
    assert given(asked(thread("a", P, (0, 1, 2, 3)), thread("b", Q), acceptable_recovery_lag=FAR))[1] == {
        P: ([0, 2], []), Q: ([1, 3], []),
    }  # fmt: skip


def test_a_death_moves_tasks_of_the_survivors_too() -> None:
    """Six tasks dealt in a circle over three instances, then over two: 2 and 1 change places, without any need."""
    three, two = (
        given(asked(*(thread(process, process) for process in processes), tasks=6, acceptable_recovery_lag=FAR))[1]
        for processes in ((P, Q, R), (Q, R))
    )
    assert three == {P: ([0, 3], []), Q: ([1, 4], []), R: ([2, 5], [])}
    assert two == {Q: ([0, 2, 4], []), R: ([1, 3, 5], [])}


def test_standbys_prefer_other_tag_values_and_instances_without_are_a_last_resort() -> None:
    def tagged(zones: str) -> HighAvailabilityRequest:
        members = (thread(name, process) for name, process in zip("abc", (P, Q, R), strict=True))
        tags = [{"zone": zone} for zone in zones]
        return asked(
            *(replace(member, tags=tag) for member, tag in zip(members, tags, strict=True)),
            tasks=1, standby_replicas=1, rack_aware_tags=("zone",),
        )  # fmt: skip

    assert given(tagged("xxy"))[1] == {P: ([0], []), Q: ([], []), R: ([], [0])}
    assert given(tagged("xxx"))[1] == {P: ([0], []), Q: ([], [0]), R: ([], [])}


def test_process_ids_are_compared_with_their_sign_and_threads_weigh() -> None:
    first = "80000000-0000-0000-0000-000000000000"
    request = asked(thread("a", P), thread("b", P), thread("c", first), tasks=3, acceptable_recovery_lag=FAR)
    assert given(request)[1] == {first: ([2], []), P: ([0, 1], [])}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"members": []}, "none is listed"),
        ({"rackAwareStrategy": "min_traffic"}, "only none is replayed"),
        ({"stateless": [["0", [0]]]}, "stateful, too"),
        ({"stateful": [["x", [[0, 0]]]]}, "NAME__NUMBER"),
        ({"stateful": [["a__0", [[0, 0]]], ["1", [[0, 0]]]]}, "named topology"),
        ({"maxWarmupReplicas": 0}, "max_warmup_replicas: 0"),
        ({"order": "leader"}, "given or hash"),
        ({"members": [{"id": "a", "processId": "p"}]}, "of the wrong kind"),
    ],
)
def test_a_case_that_cannot_be_read_is_refused(changed: dict[str, Any], message: str) -> None:
    case = {"stateful": [["0", [[0, 5]]]], "stateless": [], "members": [{"id": "a", "processId": P}], **changed}
    with pytest.raises(InvalidInputError, match=message):
        answer({"strategy": "streams_high_availability", "input": case})
