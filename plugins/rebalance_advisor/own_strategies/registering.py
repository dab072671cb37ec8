"""From targets to registered strategies and partitioners: described once, asked inside, their processes ended after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from kafka_rebalance.assignors import registry as assignors
from kafka_rebalance.errors import AssignorError
from kafka_rebalance.partitioners import registry as partitioners
from kafka_rebalance.visible_text import visible
from rebalance_advisor.own_strategies.child_process import ChildProcess
from rebalance_advisor.own_strategies.isolated import Described, IsolatedAssignor, IsolatedPartitioner
from rebalance_advisor.own_strategies.limits import DEFAULTS, Limits
from rebalance_advisor.own_strategies.targets import Kind, Target

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
