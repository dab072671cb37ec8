"""The plugin's web app, made at the first request, so that its cost and errors concern only the page."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import quote, urlsplit

from kafka_assignors.visible_text import visible
from rebalance_advisor.airflow.task_log import task_log

_log = task_log(__name__)
PREFIX = "/advisor"
NAME = "Advisor"  # the navigation cuts longer names
_MAKING_SECONDS = 30.0

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

_NOT_THERE = (
    b"The Kafka Rebalance Advisor's page could not be made; the log of Airflow's api-server says why. It needs the "
    b"extras 'web' and 'postgres' and a connection 'advisor_reader'."
)


class LateApp:
    def __init__(self, make: Callable[[], AsgiApp], seconds: float = _MAKING_SECONDS) -> None:
        self._make = make
        self._seconds = seconds
        self._made: AsgiApp | None = None
        self._making: asyncio.Task[AsgiApp] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            made = self._made or await self._make_once()
        except Exception:  # noqa: BLE001 (logged; Airflow goes on)
            _log.exception("the advisor's page could not be made")
            await _answer_not_there(send)
            return
        await made(scope, receive, send)

    async def _make_once(self) -> AsgiApp:
        if self._making is None:
            self._making = asyncio.create_task(self._make_in_thread())
        return await asyncio.wait_for(asyncio.shield(self._making), self._seconds)

    async def _make_in_thread(self) -> AsgiApp:
        from anyio import CapacityLimiter, to_thread

        try:
            # The default limiter counts threads of Airflow's API.
            self._made = await to_thread.run_sync(self._make, limiter=CapacityLimiter(1))
        finally:
            self._making = None
        return self._made


async def _answer_not_there(send: Send) -> None:
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"x-content-type-options", b"nosniff"),
        (b"cache-control", b"no-store"),
        (b"retry-after", b"5"),
    ]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": _NOT_THERE})


class VisiblePaths:
    """Make hidden characters of paths visible.

    Starlette does not route a path with a line feed to the app, so Airflow would answer without a login; access logs
    print raw paths.
    """

    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if not path.isprintable() and path.removeprefix(scope.get("root_path", "")).startswith(f"{PREFIX}/"):
            scope["path"] = visible(path)
        await self._app(scope, receive, send)


def fastapi_apps() -> list[dict[str, Any]]:
    return [{"app": LateApp(_make), "url_prefix": PREFIX, "name": NAME}]


def root_middlewares() -> list[dict[str, Any]]:
    return [{"middleware": VisiblePaths, "name": NAME}]


def external_views(base_url: str) -> list[dict[str, Any]]:
    root = urlsplit(base_url).path.rstrip("/") + PREFIX
    return [
        {"name": NAME, "href": f"{root}/", "destination": "nav", "url_route": "advisor", "nav_top_level": True},
        {
            "name": NAME, "href": f"{root}/run?dag_id={{DAG_ID}}&run_id={{RUN_ID}}", "destination": "dag_run",
            "url_route": "advisory",
        },
    ]  # fmt: skip


def page_link(cluster: str) -> str | None:
    """None if ``[api] base_url`` names no host."""
    from airflow.providers.common.compat.sdk import conf

    base_url = conf.get("api", "base_url", fallback="")
    if not urlsplit(base_url).netloc:
        return None
    return f"{base_url.rstrip('/')}{PREFIX}/clusters/{quote(cluster, safe='')}"


def _make() -> AsgiApp:
    from rebalance_advisor.airflow.connections import reader_dsn
    from rebalance_advisor.airflow.page_access import airflow_access
    from rebalance_advisor.page.reader import Reader
    from rebalance_advisor.page.routes import make_app

    return make_app(Reader(reader_dsn()), airflow_access())
