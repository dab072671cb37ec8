from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka_assignors.contract import MapOrder
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.streams import (
    STREAMS_STICKY,
    StreamsMember,
    StreamsRequest,
    StreamsSubtopology,
    Task,
    member_order,
)
from kafka_assignors.visible_text import excerpt

Input = Mapping[str, Any]
Output = dict[str, Any]
Runs = Sequence[tuple[str, Sequence[Any]]]


def answer_sticky(name: str, case: Input) -> Output:
    assignor = next(assignor for assignor in STREAMS_STICKY if assignor.name == name)
    request = streams_request(case)
    given = assignor.assign(request)
    ids = [member.id for member in request.members]
    output: Output = {"memberOrder": [ids[i] for i in member_order(request)]} if request.order is MapOrder.HASH else {}
    output["assignment"] = {
        member: {"active": _by_subtopology(tasks.active), "standby": _by_subtopology(tasks.standby)}
        for member, tasks in zip(ids, given, strict=True)
    }
    return output


def streams_request(case: Input) -> StreamsRequest:
    return StreamsRequest(
        subtopologies=tuple(
            StreamsSubtopology(part["id"], int(part["n"]), bool(part["stateful"])) for part in case["subtopologies"]
        ),
        members=tuple(
            StreamsMember(
                id=member["id"],
                process_id=member["processId"],
                active=tuple(_tasks(member.get("active"))),
                standby=tuple(_tasks(member.get("standby"))),
                offset_sums={
                    _task(subtopology, partition): int(offset_sum)
                    for subtopology, sums in member.get("taskOffsets") or ()
                    for partition, offset_sum in sums
                },
            )
            for member in case["members"]
        ),
        standby_replicas=int(case.get("numStandbyReplicas", 0)),
        order=MapOrder(case.get("order", "given")),
    )


def _tasks(runs: Runs | None) -> Iterable[Task]:
    """Java has sets: a task listed twice counts once."""
    return dict.fromkeys(_task(subtopology, partition) for subtopology, numbers in runs or () for partition in numbers)


def _task(subtopology: object, partition: Any) -> Task:
    if not isinstance(subtopology, str):
        raise InvalidInputError.at("members", f"a task's subtopology is {excerpt(subtopology)}", "ids are strings")
    return Task(subtopology, int(partition))


def _by_subtopology(tasks: Iterable[Task]) -> dict[str, list[int]]:
    lists: dict[str, list[int]] = {}
    for subtopology, partition in tasks:
        lists.setdefault(subtopology, []).append(partition)
    return lists
