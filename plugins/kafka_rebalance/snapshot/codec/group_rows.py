"""Groups, members and committed offsets as JSON objects and back. User data is base64.

What only groups of new Kafka releases have (epochs, tasks, topology, configs, lags) is left out where there is none.
"""

from __future__ import annotations

import base64
from typing import Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.snapshot.codec.fields import Fields, real_up_to, text, whole_up_to
from kafka_rebalance.snapshot.model import CommittedOffset, Group, GroupType, Member, TopicPartitions
from kafka_rebalance.snapshot.ranges import LARGEST_INT16, LARGEST_INT32, LARGEST_INT64, LARGEST_RATE
from kafka_rebalance.snapshot.streams import Subtopology, Tasks
from kafka_rebalance.visible_text import excerpt

_MEMBER_TEXTS = ("instance_id", "client_id", "host", "rack", "subscribed_regex", "decode_error", "process_id")
_LEFT_FOR_NOW = -2  # KIP-848: the epoch of a static member that will come back; -1 is one that left
_number, _offset = whole_up_to(LARGEST_INT32), whole_up_to(LARGEST_INT64)
_rate = real_up_to(LARGEST_RATE)
_MEMBER_LISTS = ("owned", "assigned", "target")
_MEMBER_TASKS = ("tasks", "target_tasks")
_GROUP_CLIENT = ("client", "client_version")
_TASKS = ("active", "standby", "warmup")
_SUBTOPOLOGY_TOPICS = ("source_topics", "repartition_topics", "changelog_topics")


def group_document(group: Group) -> dict[str, Any]:
    """Committed offsets are ``[topic, partition, offset]`` rows, with a lag at the end where the broker told it, and
    after that (null where it did not) the rate at which the group read, where it is known.
    """
    document: dict[str, Any] = {
        "id": group.id,
        "type": group.type.value,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "state": group.state,
        "generation": group.generation,
        "coordinator": group.coordinator,
        "members": [_member_document(member) for member in group.members],
        "committed": [_committed_row(commit) for commit in group.committed],
    }
    document |= {} if group.assignment_epoch is None else {"assignment_epoch": group.assignment_epoch}
    if group.subtopologies:
        document["subtopologies"] = subtopology_documents(group.subtopologies)
    document |= {} if group.member_count is None else {"member_count": group.member_count}
    document |= {name: told for name in _GROUP_CLIENT if (told := getattr(group, name)) is not None}
    return document | ({"configs": dict(group.configs)} if group.configs else {})


def _committed_row(commit: CommittedOffset) -> list[Any]:
    row = [commit.topic, commit.partition, commit.offset]
    if commit.read_messages_per_s is not None:
        return [*row, commit.lag, commit.read_messages_per_s]
    return row if commit.lag is None else [*row, commit.lag]


def subtopology_documents(subtopologies: tuple[Subtopology, ...]) -> list[dict[str, Any]]:
    """Topics only where there are some."""
    return [
        {"id": one.id} | {name: list(topics) for name in _SUBTOPOLOGY_TOPICS if (topics := getattr(one, name))}
        for one in subtopologies
    ]


def tasks_document(tasks: Tasks) -> dict[str, Any]:
    """``{"active": [[subtopology, [partitions]], …], …}``, what is empty left out."""
    return {
        name: [[subtopology, list(numbers)] for subtopology, numbers in runs]
        for name in _TASKS
        if (runs := getattr(tasks, name))
    }


def read_group(item: Any, path: str) -> Group:
    """Raises InvalidInputError naming the field that is wrong."""
    fields = Fields(item, path)
    kind = fields.get("type", str, GroupType.UNKNOWN.value)
    if kind not in set(GroupType):
        raise InvalidInputError.at(f"{path}.type", f"{excerpt(kind)} is unknown", f"known: {', '.join(GroupType)}")
    group = Group(
        id=fields.get("id", str),
        type=GroupType(kind),
        protocol_type=fields.get("protocol_type", str, ""),
        protocol=fields.get("protocol", str, None),
        state=fields.get("state", str, None),
        generation=fields.whole("generation", _LEFT_FOR_NOW, LARGEST_INT32, None),
        coordinator=fields.whole("coordinator", -1, LARGEST_INT32, None),
        members=fields.each("members", _read_member),
        committed=fields.each("committed", _read_committed),
        assignment_epoch=fields.whole("assignment_epoch", -1, LARGEST_INT32, None),
        subtopologies=fields.each("subtopologies", read_subtopology),
        configs=fields.strings("configs"),
        member_count=fields.whole("member_count", 0, LARGEST_INT32, None),
        **{name: fields.get(name, str, None) for name in _GROUP_CLIENT},
    )
    fields.done()
    return group


def _member_document(member: Member) -> dict[str, Any]:
    document: dict[str, Any] = {"id": member.id}
    for name in (*_MEMBER_TEXTS, "is_classic", "generation", "subscription_version", "partition_count"):
        if (value := getattr(member, name)) is not None:
            document[name] = value
    if member.subscription is not None:
        document["subscription"] = list(member.subscription)
    for name in _MEMBER_LISTS:
        if (runs := getattr(member, name)) is not None:
            document[name] = [[topic, list(partitions)] for topic, partitions in runs]
    for name in _MEMBER_TASKS:
        if (tasks := getattr(member, name)) is not None:
            document[name] = tasks_document(tasks)
    if member.user_data is not None:
        document["user_data"] = base64.b64encode(member.user_data).decode()
    return document


def _read_member(item: Any, path: str) -> Member:
    fields = Fields(item, path)
    subscription = fields.raw("subscription", None)
    lists = {name: _read_runs(fields.raw(name, None), f"{path}.{name}") for name in _MEMBER_LISTS}
    member = Member(
        id=fields.get("id", str),
        **{name: fields.get(name, str, None) for name in _MEMBER_TEXTS},
        subscription=None if subscription is None else tuple(fields.each("subscription", text)),
        owned=lists["owned"],
        assigned=lists["assigned"] or (),
        target=lists["target"],
        generation=fields.whole("generation", _LEFT_FOR_NOW, LARGEST_INT32, None),
        user_data=_read_bytes(fields.get("user_data", str, None), f"{path}.user_data"),
        subscription_version=fields.whole("subscription_version", 0, LARGEST_INT16, None),
        partition_count=fields.whole("partition_count", 0, LARGEST_INT32, None),
        is_classic=fields.get("is_classic", bool, None),
        tasks=_read_tasks(fields.raw("tasks", None), f"{path}.tasks"),
        target_tasks=_read_tasks(fields.raw("target_tasks", None), f"{path}.target_tasks"),
    )
    fields.done()
    return member


def read_subtopology(item: Any, path: str) -> Subtopology:
    """The inverse of ``subtopology_documents``, for one of them."""
    fields = Fields(item, path)
    topics = {name: tuple(fields.each(name, text)) for name in _SUBTOPOLOGY_TOPICS}
    subtopology = Subtopology(fields.get("id", str), **topics)
    fields.done()
    return subtopology


def _read_tasks(item: Any, path: str) -> Tasks | None:
    return None if item is None else read_tasks(item, path)


def read_tasks(item: Any, path: str) -> Tasks:
    """The inverse of ``tasks_document``."""
    fields = Fields(item, path)
    tasks = Tasks(**{name: _read_runs(fields.raw(name, []), f"{path}.{name}") or () for name in _TASKS})
    fields.done()
    return tasks


def _read_runs(runs: Any, path: str) -> TopicPartitions | None:
    if runs is None:
        return None
    if not isinstance(runs, list):
        raise InvalidInputError.at(path, "expected rows of [topic, [partitions]]")
    return tuple(_read_run(run, f"{path}[{index}]") for index, run in enumerate(runs))


def _read_run(run: Any, path: str) -> tuple[str, tuple[int, ...]]:
    if not isinstance(run, list) or len(run) != 2 or not isinstance(run[1], list):
        raise InvalidInputError.at(path, f"expected [topic, [partitions]], found {excerpt(run)}")
    return text(run[0], path), tuple(_number(partition, path) for partition in run[1])


def _read_bytes(value: str | None, path: str) -> bytes | None:
    try:
        return None if value is None else base64.b64decode(value, validate=True)
    except ValueError as error:  # binascii.Error is one; so is what is raised for a character outside ASCII
        raise InvalidInputError.at(path, f"is not base64 ({error})") from error


def _read_committed(item: Any, path: str) -> CommittedOffset:
    if not isinstance(item, list) or len(item) not in (3, 4, 5):
        raise InvalidInputError.at(path, f"expected [topic, partition, offset], found {excerpt(item)}")
    has_lag = len(item) == 4 or (len(item) == 5 and item[3] is not None)
    lag = _offset(item[3], path) if has_lag else None
    rate = _rate(item[4], path) if len(item) == 5 else None
    return CommittedOffset(text(item[0], path), _number(item[1], path), _offset(item[2], path), lag, rate)
