"""Every strategy keeps what ``promises`` declares of it, in groups that nobody thought of."""

from collections.abc import Iterable
from functools import cache
from itertools import groupby, product

import pytest
from hypothesis import given, settings

from kafka_assignors.contract import AssignmentRequest
from kafka_assignors.errors import AssignorError, EndlessReassignmentError
from kafka_assignors.registry import BUILT_IN
from tests.properties.groups_of_members import Kind, groups
from tests.properties.promises import (
    DECLARED,
    PROMISES,
    Promise,
    does_not_look_at_what_members_own,
    is_even,
    keeps_the_most_that_evenness_allows,
)

# Their real classes fail on some groups of members with unequal subscriptions: there they promise nothing.
_CLIENTS = ("librdkafka", "sarama", "kafka-python-2", "kafka-python-3", "aiokafka")
MAY_FAIL = frozenset(
    f"{strategy}@{whose}"
    for strategy in ("sticky", "cooperative-sticky")
    for whose in (*_CLIENTS, "2.3", "2.4", "2.5.1", "2.8.1")
) | {"server-uniform@3.8"}
EXAMPLES = 40  # of the fast tier; ten miss a broken promise of evenness, and some strategies answer fewer than all
EVERY = pytest.mark.parametrize("strategy", DECLARED)


def test_every_strategy_of_the_registry_declares_its_promises() -> None:
    assert set(DECLARED) == {registration.name for registration in BUILT_IN}
    assert all(DECLARED.values())


@cache
def drawn(kind: Kind, examples: int, most_partitions: int) -> tuple[AssignmentRequest, ...]:
    """Return groups of which every strategy is asked, the smallest first: to draw one takes longer than to ask."""
    requests: list[AssignmentRequest] = []

    @settings(max_examples=examples)
    @given(request=groups(kind, most_partitions=most_partitions))
    def keep(request: AssignmentRequest) -> None:
        requests.append(request)

    keep()
    assert len(requests) >= examples
    return tuple(sorted(requests, key=lambda request: len(request.members) + request.topics.partition_total))


def search(promises: Iterable[Promise], examples: int, most_partitions: int) -> None:
    """Ask all promises of one kind of groups of each group that is drawn.

    Raises AssertionError, with the smallest group that was drawn, where one is broken.
    """
    for kind, of_kind in groupby(
        sorted(promises, key=lambda promise: repr(promise.kind)), lambda promise: promise.kind
    ):
        for request, promise in product(drawn(kind, examples, most_partitions), of_kind):
            hold(promise, request)


def hold(promise: Promise, request: AssignmentRequest) -> None:
    """Raise AssertionError where the group breaks the promise."""
    try:
        promise.check(promise.name, request)
    except EndlessReassignmentError:
        return  # Kafka would never answer: nothing to hold it to
    except AssignorError:
        if promise.name not in MAY_FAIL:
            raise
    except AssertionError as error:
        error.add_note(f"broken: {promise}, for {request}")
        raise


@EVERY
def test_a_strategy_keeps_what_it_promises(strategy: str) -> None:
    search((promise for promise in PROMISES if promise.name == strategy), examples=EXAMPLES, most_partitions=9)


@pytest.mark.slow
@EVERY
def test_a_strategy_keeps_what_it_promises_in_many_larger_groups(strategy: str) -> None:
    search((promise for promise in PROMISES if promise.name == strategy), examples=60, most_partitions=24)


def test_a_broken_promise_is_found_in_the_fast_tier() -> None:
    """``range`` is not even over several topics and moves more than it must; ``sticky`` looks at what members own."""
    for strategy, check in (
        ("range", is_even),
        ("range", keeps_the_most_that_evenness_allows),
        ("sticky", does_not_look_at_what_members_own),
    ):
        with pytest.raises(AssertionError):
            search([Promise(strategy, check, Kind(is_equal=True))], examples=EXAMPLES, most_partitions=9)
