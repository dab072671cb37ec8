"""What the plugin hands to Airflow: an app that is made at the first request, and the places it is shown in.

Making it late costs scheduler and tasks nothing (they load plugins, too), and whatever is wrong with it (a part that is
not installed, no connection) is told to whoever opens the page; Airflow is untouched.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from rebalance_advisor.airflow.task_log import task_log

_log = task_log(__name__)
PREFIX = "/advisor"
NAME = "Advisor"  # the navigation cuts longer names

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

_NOT_THERE = (
    b"The Kafka Rebalance Advisor's page could not be made; the log of Airflow's api-server says why. It needs the "
    b"extras 'web' and 'postgres' and a connection 'advisor_reader'."
)


class LateApp:
    """An ASGI app that ``make`` makes once somebody asks; what fails is told with 503 and tried again next time."""

    def __init__(self, make: Callable[[], AsgiApp]) -> None:
        self._make = make
        self._made: AsgiApp | None = None
        self._lock = Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        from starlette.concurrency import run_in_threadpool

        try:
            made = await run_in_threadpool(self._make_once) if self._made is None else self._made
        except Exception:  # noqa: BLE001 (whatever it is, Airflow goes on; it is logged as it came)
            _log.exception("the advisor's page could not be made")
            await _answer_not_there(send)
            return
        await made(scope, receive, send)

    def _make_once(self) -> AsgiApp:
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made


async def _answer_not_there(send: Send) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": _NOT_THERE})


def fastapi_apps() -> list[dict[str, Any]]:
    """For ``AirflowPlugin.fastapi_apps``."""
    return [{"app": LateApp(_make), "url_prefix": PREFIX, "name": NAME}]


def external_views(base_url: str) -> list[dict[str, Any]]:
    """For ``AirflowPlugin.external_views``: the navigation and a tab of each DAG run. ``base_url``: Airflow's own."""
    root = urlsplit(base_url).path.rstrip("/") + PREFIX
    return [
        {"name": NAME, "href": f"{root}/", "destination": "nav", "url_route": "advisor", "nav_top_level": True},
        {
            "name": NAME, "href": f"{root}/run?dag_id={{DAG_ID}}&run_id={{RUN_ID}}", "destination": "dag_run",
            "url_route": "advisory",
        },
    ]  # fmt: skip


def _make() -> AsgiApp:
    from rebalance_advisor.airflow.connections import reader_dsn
    from rebalance_advisor.airflow.page.airflow_access import airflow_access
    from rebalance_advisor.page.app import make_app
    from rebalance_advisor.page.reader import Reader

    return make_app(Reader(reader_dsn()), airflow_access())
