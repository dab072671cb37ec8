"""Which errors a retry could mend, and which it could not."""

import pytest

from kafka_rebalance.errors import InfeasibleError, InvalidInputError, UnknownNameError
from rebalance_advisor.store import StoreError

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]

FINAL = [
    InvalidInputError.at("clusters.toml", "is no TOML"),
    UnknownNameError.among("cluster", "prud", ["prod"]),
    InfeasibleError("no broker is left"),
]


@pytest.mark.parametrize("error", FINAL, ids=lambda error: type(error).__name__)
def test_what_somebody_has_to_change_fails_at_once_with_its_words(error):
    from airflow.sdk.exceptions import AirflowFailException

    from rebalance_advisor.airflow.fail_without_retry import fail_without_retry

    with pytest.raises(AirflowFailException) as caught, fail_without_retry():
        raise error
    assert str(caught.value) == str(error)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [StoreError("the database is away"), TimeoutError("slow")], ids=["store", "timeout"])
def test_anything_else_is_left_to_the_retries(error):
    from rebalance_advisor.airflow.fail_without_retry import fail_without_retry

    with pytest.raises(type(error)) as caught, fail_without_retry():
        raise error
    assert caught.value is error
