"""What trying again does not mend: wrong input, an unknown name, an option that cannot be met."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kafka_rebalance.errors import InfeasibleError, InvalidInputError, UnknownNameError


@contextmanager
def fail_without_retry() -> Iterator[None]:
    """Such an error fails the task at once, with its words; any other one (a server that is away) is tried again."""
    from airflow.providers.common.compat.sdk import AirflowFailException

    try:
        yield
    except (InvalidInputError, UnknownNameError, InfeasibleError) as error:
        raise AirflowFailException(str(error)) from error
