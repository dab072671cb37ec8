"""Every strategy keeps what ``promises`` declares of it, in groups that nobody thought of."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafka_rebalance.assignors.registry import BUILT_IN
from tests.properties.groups_of_members import groups
from tests.properties.promises import DECLARED, PROMISES, Promise

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
    promise.check(promise.name, data.draw(groups(promise.kind, most_partitions=24)))
