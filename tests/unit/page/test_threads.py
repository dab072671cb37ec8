from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import ContextVar

import pytest
from fastapi import HTTPException

from rebalance_advisor.page.threads import PageThreads

GENEROUS = 60.0


async def until(is_so: Callable[[], bool], text: str) -> None:
    for _ in range(int(GENEROUS / 0.01)):
        if is_so():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"waited {GENEROUS} s for: {text}")


def test_work_beyond_threads_and_queue_is_refused_at_once_and_the_rest_is_done():
    started: list[int] = []
    may_end = threading.Event()

    def work(number: int) -> int:
        started.append(number)
        assert may_end.wait(GENEROUS)
        return number

    async def ask() -> None:
        threads = PageThreads(at_once=2, waiting=3, seconds=GENEROUS)
        asked = [asyncio.create_task(threads.run(lambda number=number: work(number))) for number in range(9)]
        await until(lambda: sum(task.done() for task in asked) == 4 and len(started) == 2, "four refusals, two threads")
        for task in asked[5:]:
            refusal = task.exception()
            assert isinstance(refusal, HTTPException)
            assert (refusal.status_code, list(refusal.headers)) == (503, ["Retry-After"])
        may_end.set()
        assert await asyncio.gather(*asked[:5]) == [0, 1, 2, 3, 4]
        assert await threads.run(lambda: "there is room again") == "there is room again"

    asyncio.run(ask())


def test_work_that_is_given_up_keeps_its_thread_and_what_waited_for_it_is_never_begun():
    may_end = threading.Event()
    begun: list[str] = []

    def hang() -> None:
        begun.append("hang")
        assert may_end.wait(GENEROUS)

    async def ask() -> None:
        threads = PageThreads(at_once=1, waiting=1, seconds=0.2)
        answers = await asyncio.gather(
            threads.run(hang), threads.run(lambda: begun.append("waited")), return_exceptions=True
        )
        assert [answer.status_code for answer in answers] == [503, 503]
        with pytest.raises(HTTPException, match="as many requests as it can"):
            await threads.run(lambda: begun.append("surplus"))
        may_end.set()
        await until(lambda: threads._slots._value == 2, "both places are free")
        assert begun == ["hang"]
        assert await threads.run(lambda: 7) == 7

    asyncio.run(ask())


def test_errors_and_context_pass_through_and_leave_no_place_taken():
    known: ContextVar[str] = ContextVar("known")

    def fail() -> None:
        raise TimeoutError(known.get())  # not to be taken for the page's own limit

    async def ask() -> None:
        known.set("of the caller")
        threads = PageThreads(at_once=1, waiting=0, seconds=GENEROUS)
        for _ in range(20):
            with pytest.raises(TimeoutError, match="of the caller"):
                await threads.run(fail)
            await until(lambda: threads._slots._value == 1, "the place is free")

    asyncio.run(ask())
