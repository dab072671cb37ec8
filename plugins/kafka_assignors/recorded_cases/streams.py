from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka_assignors.contract import MapOrder
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.high_availability import (
    HIGH_AVAILABILITY,
    HighAvailabilityMember,
    HighAvailabilityRequest,
    HighAvailabilitySettings,
    walk_of,
)
from kafka_assignors.streams import (
    STREAMS_STICKY,
    MemberTasks,
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
    assignment = assignor.assign(request)
    ids = [member.id for member in request.members]
    output: Output = {"memberOrder": [ids[i] for i in member_order(request)]} if request.order is MapOrder.HASH else {}
    output["assignment"] = {member: _kinds(tasks) for member, tasks in zip(ids, assignment, strict=True)}
    return output


def _kinds(tasks: MemberTasks) -> Output:
    return {"active": _by_subtopology(tasks.active), "standby": _by_subtopology(tasks.standby)}


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
                offset_sums=_sums(member.get("taskOffsets")),
            )
            for member in case["members"]
        ),
        standby_replicas=int(case.get("numStandbyReplicas", 0)),
        order=MapOrder(case.get("order", "given")),
    )


def _tasks(runs: Runs | None) -> Iterable[Task]:
    """Java has sets: a task listed twice counts once."""
    return dict.fromkeys(_task(subtopology, partition) for subtopology, numbers in runs or () for partition in numbers)


def _sums(runs: Sequence[tuple[str, Sequence[tuple[Any, Any]]]] | None) -> dict[Task, int]:
    return {_task(subtopology, partition): int(total) for subtopology, sums in runs or () for partition, total in sums}


def _task(subtopology: object, partition: Any) -> Task:
    if not isinstance(subtopology, str):
        raise InvalidInputError.at("members", f"a task's subtopology is {excerpt(subtopology)}", "ids are strings")
    return Task(subtopology, int(partition))


def _by_subtopology(tasks: Iterable[Task]) -> dict[str, list[int]]:
    lists: dict[str, list[int]] = {}
    for subtopology, partition in tasks:
        lists.setdefault(subtopology, []).append(partition)
    return lists


def answer_high_availability(name: str, case: Input) -> Output:
    assignor = next(assignor for assignor in HIGH_AVAILABILITY if assignor.name == name)
    request = high_availability_request(case)
    answered = assignor.assign(request)
    ids = [member.id for member in request.members]
    output: Output = {"memberOrder": [ids[i] for i in walk_of(request)]} if request.order is MapOrder.HASH else {}
    output["probing"] = answered.is_probing
    output["processes"] = {process: _kinds(tasks) for process, tasks in answered.processes.items()}
    output["assignment"] = {member: _kinds(tasks) for member, tasks in zip(ids, answered.members, strict=True)}
    return output


def high_availability_request(case: Input) -> HighAvailabilityRequest:
    if case.get("rackAwareStrategy", "none") != "none":
        raise InvalidInputError.at("rackAwareStrategy", excerpt(case["rackAwareStrategy"]), "only none is replayed")
    default = HighAvailabilitySettings()
    return HighAvailabilityRequest(
        end_offset_sums=_sums(case["stateful"]),
        stateless=tuple(_tasks(case["stateless"])),
        members=tuple(
            HighAvailabilityMember(
                id=member["id"],
                process_id=member["processId"],
                offset_sums=_sums(member.get("offsetSums")),
                tags=member.get("tags") or {},
            )
            for member in case["members"]
        ),
        settings=HighAvailabilitySettings(
            standby_replicas=int(case.get("numStandbyReplicas", default.standby_replicas)),
            max_warmup_replicas=int(case.get("maxWarmupReplicas", default.max_warmup_replicas)),
            acceptable_recovery_lag=int(case.get("acceptableRecoveryLag", default.acceptable_recovery_lag)),
            rack_aware_tags=tuple(case.get("rackAwareTags", ())),
        ),
        order=MapOrder(case.get("order", "given")),
    )
