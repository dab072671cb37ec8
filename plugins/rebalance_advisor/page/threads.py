"""Threads of the page, so that a slow database or access check holds none of Airflow's.

FastAPI runs plain functions in threads shared by all apps of a process. Airflow's api-server answers its API there,
which running tasks need.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial, wraps
from threading import BoundedSemaphore, Semaphore, Thread
from typing import Any, TypeVar

from fastapi import APIRouter, HTTPException, Request

AT_ONCE = 4
_WAITING = 8
_SECONDS = 30.0
_RETRY_SECONDS = 5

T = TypeVar("T")


class PageThreads:
    """At most ``at_once`` threads run work, and ``waiting`` callers wait, ``seconds`` at most.

    Abandoned work keeps its place until it ends, so it cannot pile up. Daemon threads: it does not keep the process
    from ending.
    """

    def __init__(self, at_once: int = AT_ONCE, waiting: int = _WAITING, seconds: float = _SECONDS) -> None:
        self._slots = BoundedSemaphore(at_once + waiting)
        self._at_once = Semaphore(at_once)
        self._seconds = seconds

    async def run(self, work: Callable[[], T]) -> T:
        """Raises 503 without a place, or after the time limit."""
        if not self._slots.acquire(blocking=False):
            raise _try_again("The page answers as many requests as it can.")
        future: Future[T] = Future()
        try:
            Thread(target=self._work, args=(future, partial(copy_context().run, work)), daemon=True).start()
        except RuntimeError:  # the process may start no more threads
            self._slots.release()
            raise _try_again("Airflow's api-server cannot start another thread.") from None
        try:
            async with asyncio.timeout(self._seconds) as limit:
                return await asyncio.wrap_future(future)
        except TimeoutError:
            if not limit.expired():
                raise
            raise _try_again(f"The page was not made within {self._seconds:g} s.") from None

    def _work(self, future: Future[T], work: Callable[[], T]) -> None:
        try:
            with self._at_once:
                if not future.set_running_or_notify_cancel():
                    return  # the caller gave up
                try:
                    result = work()
                except BaseException as error:  # noqa: BLE001 (the caller gets it)
                    future.set_exception(error)
                else:
                    future.set_result(result)
        finally:
            self._slots.release()


def _try_again(reason: str) -> HTTPException:
    message = f"{reason} Load it again in {_RETRY_SECONDS} s."
    return HTTPException(503, message, headers={"Retry-After": str(_RETRY_SECONDS)})


def in_page_thread(function: Callable[..., T]) -> Callable[..., Coroutine[Any, Any, T]]:
    """The app of the first parameter, ``request``, has the threads."""

    @wraps(function)
    async def waited_for(request: Request, **arguments: Any) -> T:
        threads: PageThreads = request.app.state.threads
        return await threads.run(partial(function, request, **arguments))

    return waited_for


def add_page(router: APIRouter, path: str, function: Callable[..., Any]) -> None:
    """Answer GET and HEAD; a server sends no body after HEAD."""
    router.api_route(path, methods=["GET", "HEAD"])(in_page_thread(function))
