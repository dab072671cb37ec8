"""The page over a database of the test's own, with callers who are only names."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
import uvicorn
from fastapi import HTTPException, Request
from fastapi.testclient import TestClient

from rebalance_advisor.page.access import Access
from rebalance_advisor.page.reader import Reader
from rebalance_advisor.page.routes import make_app


async def caller(request: Request) -> str:
    """The name in a header: what Airflow's ``get_user`` does with a token, a coroutine as it is."""
    name = request.headers.get("x-caller")
    if name is None:
        raise HTTPException(401, "Not authenticated")
    return name


def readable(user: str, clusters) -> frozenset[str]:
    """``all`` reads everything, everybody else the cluster of that name."""
    return frozenset(name for name in clusters if user in ("all", name))


@pytest.fixture
def reader(dsn: str) -> Iterator[Reader]:
    """As ``advisor_reader``."""
    made = Reader(f"{dsn}{'&' if '?' in dsn else '?'}options=-c%20role%3Dadvisor_reader")
    yield made
    made.close()


@pytest.fixture
def open_page(reader: Reader) -> Iterator[Callable[..., TestClient]]:
    """A client for a caller; ``None`` is nobody."""

    def opened(user: str | None = "all") -> TestClient:
        headers = {} if user is None else {"x-caller": user}
        app = make_app(reader, Access(user=caller, readable=readable))
        return TestClient(app, headers=headers, raise_server_exceptions=True)

    return opened


@contextmanager
def served(app: Any) -> Iterator[int]:
    """The port at which a real uvicorn answers for ``app`` on the loopback address."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        server = uvicorn.Server(uvicorn.Config(app, lifespan="off", ws="none", log_config=None))
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(60)
            assert not thread.is_alive(), "uvicorn did not end within 60 s"
