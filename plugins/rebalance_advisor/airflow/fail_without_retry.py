"""A task is tried again only after an error that time can mend; after any other it fails at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar, get_type_hints

from kafka_rebalance.errors import AdvisorError
from rebalance_advisor.mended_by_time import is_mended_by_time

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def fail_without_retry(work: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Decorate the work of a task. The failure has the error's own words, and the error as its cause."""

    @wraps(work)
    def attempt(*given: Given.args, **named: Given.kwargs) -> Answer:
        from airflow.providers.common.compat.sdk import AirflowFailException, AirflowSkipException

        try:
            return work(*given, **named)
        except (AirflowFailException, AirflowSkipException):
            raise
        except Exception as error:
            if is_mended_by_time(error):
                raise
            from kafka_rebalance.render import error_words  # not while Airflow reads the DAG's file

            words = error_words(error) if isinstance(error, AdvisorError) else f"{type(error).__name__}: {error}"
            raise AirflowFailException(words) from error

    # Airflow reads what a task returns from its annotation, whose names it looks up in this module: they are put in.
    if "return" in work.__annotations__:
        attempt.__annotations__ = work.__annotations__ | {"return": _return_type(work)}
    return attempt


def _return_type(work: Callable[..., object]) -> object:
    """Return the evaluated annotation of what ``work`` returns."""

    def only() -> None: ...

    only.__annotations__ = {"return": work.__annotations__["return"]}
    return get_type_hints(only, work.__globals__)["return"]
