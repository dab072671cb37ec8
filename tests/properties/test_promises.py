"""Every strategy keeps what ``promises`` declares of it, in groups that nobody thought of."""

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kafka_rebalance.assignors.registry import BUILT_IN
from kafka_rebalance.errors import AssignorError
from tests.properties.groups_of_members import groups
from tests.properties.promises import DECLARED, PROMISES, Promise

# Their real classes fail on some groups of members with unequal subscriptions: there they promise nothing.
_CLIENTS = ("librdkafka", "sarama", "kafka-python-2", "kafka-python-3", "aiokafka")
MAY_FAIL = frozenset(
    f"{strategy}@{whose}"
    for strategy in ("sticky", "cooperative-sticky")
    for whose in (*_CLIENTS, "2.3", "2.4", "2.5.1", "2.8.1")
) | {"server-uniform@3.8"}
EVERY = pytest.mark.parametrize("promise", PROMISES, ids=str)


def test_every_strategy_of_the_registry_declares_its_promises() -> None:
    assert set(DECLARED) == {registration.name for registration in BUILT_IN}


@EVERY
@settings(max_examples=3, deadline=None, derandomize=True)
@given(data=st.data())
def test_what_a_strategy_promises_holds(promise: Promise, data: st.DataObject) -> None:
    promise.check(promise.name, data.draw(groups(promise.kind)))


@pytest.mark.slow
@EVERY
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_a_strategy_promises_holds_in_many_larger_groups(promise: Promise, data: st.DataObject) -> None:
    request = data.draw(groups(promise.kind, most_partitions=24))
    try:
        promise.check(promise.name, request)
    except AssignorError:
        assume(promise.name not in MAY_FAIL)
        raise
