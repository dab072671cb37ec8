from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar, get_type_hints

from kafka_assignors.errors import AdvisorError
from rebalance_advisor.mended_by_time import is_mended_by_time

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def fail_without_retry(work: Callable[Given, Answer]) -> Callable[Given, Answer]:
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
            from kafka_rebalance.render import describe_error  # not at DAG parsing

            message = describe_error(error) if isinstance(error, AdvisorError) else f"{type(error).__name__}: {error}"
            raise AirflowFailException(message) from error

    # Airflow would resolve it in this module.
    if "return" in work.__annotations__:
        attempt.__annotations__ = work.__annotations__ | {"return": _return_type(work)}
    return attempt


def _return_type(work: Callable[..., object]) -> object:
    def only() -> None: ...

    only.__annotations__ = {"return": work.__annotations__["return"]}
    return get_type_hints(only, work.__globals__)["return"]


EVERY_SECONDS = 20.0


@contextmanager
def still_working(log: logging.Logger, what: str, every_seconds: float = EVERY_SECONDS) -> Iterator[None]:
    began, has_ended = time.monotonic(), threading.Event()

    def report() -> None:
        while not has_ended.wait(every_seconds):
            log.info("%s: still at it after %.0f s", what, time.monotonic() - began)

    log.info("%s", what)
    reporter = threading.Thread(target=report, name="still-working", daemon=True)
    reporter.start()
    try:
        yield
        log.info("%s: %.1f s", what, time.monotonic() - began)
    finally:
        has_ended.set()
        reporter.join()
