"""The page as a FastAPI app. Every answer, errors too, needs a caller and has the same headers."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping

from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException as StarletteHTTPException

from kafka_assignors.visible_text import excerpt, visible
from rebalance_advisor.page.access import Access, identified_by
from rebalance_advisor.page.reader import Reader
from rebalance_advisor.page.rendering import HEADERS, page, style
from rebalance_advisor.page.routes import clusters_router, fleet_router, plans_router, subjects_router
from rebalance_advisor.page.threads import PageThreads, add_page

_EVERY_METHOD = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_TITLES = {
    400: "Not understood", 401: "Not logged in", 403: "Not allowed", 404: "Not found", 422: "Not understood",
    503: "Not now",
}  # fmt: skip
_LOGGED_PATH_CHARS = 200
_log = logging.getLogger(__name__)


class _Anything(Convertor[str]):
    """Any path. Starlette's ``path`` ends at a line feed, and an unmatched path needs no caller."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


def make_app(reader: Reader, access: Access, threads: PageThreads | None = None) -> FastAPI:
    app = FastAPI(
        title="Kafka Rebalance Advisor",
        dependencies=[Depends(identified_by(access))],
        openapi_url=None,  # its routes would need no caller
        redirect_slashes=False,
    )
    app.state.reader, app.state.access, app.state.threads = reader, access, threads or PageThreads()
    app.add_exception_handler(StarletteHTTPException, _refusal)
    app.add_exception_handler(RequestValidationError, _not_understood)
    app.add_exception_handler(SQLAlchemyError, _no_database)
    app.middleware("http")(_with_headers)
    for router in (fleet_router(), clusters_router(), plans_router(), subjects_router()):
        app.include_router(router)
    add_page(app.router, "/page.css", _style)
    # Last: a path without a page needs a caller, too.
    register_url_convertor("anything", _Anything())
    app.api_route("/{path:anything}", methods=_EVERY_METHOD)(_nothing)
    return app


def _style(request: Request) -> Response:  # noqa: ARG001 (``add_page`` hands it to each)
    return Response(style(), media_type="text/css", headers={"Cache-Control": "private, max-age=300"})


async def _nothing(path: str) -> Response:
    raise HTTPException(404, f"There is no page called {path}.")


# Coroutines: Starlette runs plain functions in the threads of all apps.
async def _refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, StarletteHTTPException)
    title = _TITLES.get(error.status_code, f"Error {error.status_code}")
    words = str(error.detail) if error.status_code != 401 else "Log in to Airflow, then load this page again."
    return _refused(request, error.status_code, title, words, error.headers)


async def _not_understood(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = "; ".join(
        f"{'.'.join(map(str, problem['loc'][1:]))} is {excerpt(problem['input'])}: {problem['msg']}"
        for problem in error.errors()
    )
    return _refused(request, 422, _TITLES[422], f"The address asks for what cannot be. {problems}.")


async def _no_database(request: Request, error: Exception) -> Response:
    """Only the log has the reason, which may hold addresses."""
    _log_failure(request, str(error))
    words = "The advisor's database or Airflow's own did not answer. The reason is in the log of Airflow's api-server."
    return _refused(request, 503, "No database", words, {"Retry-After": "5"})


def _refused(
    request: Request, status: int, title: str, words: str, headers: Mapping[str, str] | None = None
) -> Response:
    answer = page(request, "refusal.html", status=status, title=title, words=words)
    answer.headers.update(headers or {})
    return answer


def _log_failure(request: Request, reason: str) -> None:
    """Escape addresses and errors: they hold text of the caller."""
    path = visible(request.scope["path"][:_LOGGED_PATH_CHARS])
    _log.error("%s could not be answered: %s", path, "\n".join(map(visible, reason.split("\n"))))


async def _with_headers(request: Request, go_on: Callable[[Request], Awaitable[Response]]) -> Response:
    """Add the headers, also after an error of ours."""
    try:
        answer = await go_on(request)
    except Exception as error:  # noqa: BLE001 (the log has it, the caller gets a page)
        _log_failure(request, "".join(traceback.format_exception(error)))
        words = "The page has a fault. Its reason is in the log of Airflow's api-server."
        answer = _refused(request, 500, "Error 500", words)
    for name, value in HEADERS.items():
        answer.headers.setdefault(name, value)
    return answer
