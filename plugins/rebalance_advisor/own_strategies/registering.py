"""Register custom assignors and partitioners, each in a process of its own, and end the processes afterwards.

A target is described once by its process; calls then go to it, and a refusal is an answer as in the library's
contracts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from kafka_assignors import registry as assignors
from kafka_assignors.arrays import Ints
from kafka_assignors.contract import Assignment, AssignmentRequest
from kafka_assignors.custom import assignment_of, member_views, topic_views
from kafka_assignors.custom_views import MemberView, TopicView, members_document, plain_answer
from kafka_assignors.errors import AssignorError
from kafka_assignors.partitioners import registry as partitioners
from kafka_assignors.partitioners.contract import RecordSample, TopicTarget, different_keys, partitions_of
from kafka_assignors.visible_text import visible
from rebalance_advisor.own_strategies.child_process import ChildProcess
from rebalance_advisor.own_strategies.limits import DEFAULTS, Limits
from rebalance_advisor.own_strategies.targets import Kind, Target

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


_BUILT_IN = {
    Kind.ASSIGNOR: frozenset(
        name
        for registration in assignors.BUILT_IN
        for name in (registration.name, registration.strategy, registration.protocol, "uniform")
    ),
    Kind.PARTITIONER: frozenset(registration.name for registration in partitioners.BUILT_IN),
}


def described(targets: Iterable[Target], limits: Limits = DEFAULTS) -> tuple[Described, ...]:
    """Each class with the name that it tells, each place once.

    One that cannot be made here keeps its label, and whoever asks it is told why: it may be there where it is asked.
    A class whose name is taken is never asked.
    """
    found: list[Described] = []
    names: set[str] = set()
    for target in {target.place: target for target in targets}.values():
        one = _described(target, limits)
        if one.name in names or one.name in _BUILT_IN[target.kind]:
            problem = f"{target.place} calls itself {one.name}, as another one does"
            label = target.place if one.name == visible(target.label) else target.label
            one = Described(target, visible(label), one.versions, problem)
        names.add(one.name)
        found.append(one)
    return tuple(found)


@contextmanager
def own_strategies(found: Sequence[Described], limits: Limits = DEFAULTS) -> Iterator[None]:
    """Inside, they are registered with the library, each in a process of its own."""
    with ExitStack() as stack:
        for one in found:
            process = stack.enter_context(ChildProcess(one.target, limits))
            if one.target.kind is Kind.ASSIGNOR:
                stack.enter_context(assignors.registered(IsolatedAssignor(one, process)))
            else:
                stack.enter_context(partitioners.registered(IsolatedPartitioner(one, process)))
        yield


def _described(target: Target, limits: Limits) -> Described:
    with ChildProcess(target, limits) as process:
        try:
            hello = process.hello()
        except AssignorError:
            return Described(target, visible(target.label))
    # Names go into tables, files and terminals, where a zero byte or a turned line would end or garble all of them.
    return Described(target, visible(hello["name"]), visible(str(hello.get("versions") or "")))
