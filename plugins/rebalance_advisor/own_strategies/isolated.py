"""A strategy or partitioner in a process of its own, as the library's contracts have it: refusals are answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from kafka_rebalance.arrays import Ints
from kafka_rebalance.assignors.assignment import Assignment
from kafka_rebalance.assignors.custom.answers import plain_answer
from kafka_rebalance.assignors.custom.custom_assignor import assignment_of, member_views, topic_views
from kafka_rebalance.assignors.custom.views import MemberView, TopicView, members_document
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.errors import AssignorError
from kafka_rebalance.partitioners.contract import RecordSample, TopicTarget
from kafka_rebalance.partitioners.custom_partitioner import different_keys, partitions_of
from rebalance_advisor.own_strategies.child_process import ChildProcess
from rebalance_advisor.own_strategies.targets import Target

_PAIR_BYTES = 24  # brackets, commas, a partition's digits
_SLACK = 4  # of an honest answer's length: what is given twice is to be told as that
_LEAST_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Described:
    """A class that was found: its name and versions as it tells them; ``problem``: why it is never asked."""

    target: Target
    name: str
    versions: str = ""
    problem: str | None = None

    def require_fit(self) -> None:
        """Raises what is wrong with it."""
        if self.problem is not None:
            raise AssignorError("NameTaken", self.problem)


@dataclass(frozen=True, slots=True, eq=False)
class IsolatedAssignor:
    """An ``Assignor`` whose answer comes from another process, and is checked here."""

    described: Described
    process: ChildProcess
    name: str = field(init=False)
    versions: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.described.name)
        object.__setattr__(self, "versions", self.described.versions)

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError with whatever it did instead of answering right."""
        self.described.require_fit()
        members, topics = member_views(request), topic_views(request)
        document = members_document(members) | {"topics": [view.document() for view in topics]}
        return assignment_of(plain_answer(self.process.ask(document, _most_bytes(members, topics))), request)


@dataclass(frozen=True, slots=True, eq=False)
class IsolatedPartitioner:
    """A ``Partitioner`` whose answers come from another process, one request a sample."""

    described: Described
    process: ChildProcess
    name: str = field(init=False)
    versions: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.described.name)
        object.__setattr__(self, "versions", self.described.versions)

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:  # noqa: ARG002
        """Raises AssignorError with whatever it did instead of answering right."""
        self.described.require_fit()
        keys = different_keys(sample)
        document = {"keys": [None if key is None else key.hex() for key in keys], "partitions": target.partitions}
        answers = self.process.ask(document, _LEAST_BYTES + _PAIR_BYTES * len(keys))
        if not isinstance(answers, list) or len(answers) != len(keys):
            raise AssignorError("NoAnswer", f"answers not once for each of {len(keys)} keys")
        return partitions_of(sample, target, dict(zip(keys, answers, strict=True)))


def _most_bytes(members: Sequence[MemberView], topics: Sequence[TopicView]) -> int:
    """An answer that gives each partition once is a fraction of it."""
    pairs = sum(topic.partitions * (len(json.dumps(topic.name)) + _PAIR_BYTES) for topic in topics)
    return _LEAST_BYTES + _SLACK * (pairs + sum(len(json.dumps(member.id)) + _PAIR_BYTES for member in members))
