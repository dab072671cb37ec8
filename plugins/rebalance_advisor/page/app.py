"""The page as a FastAPI app: every answer, an error too, needs a caller and carries the same headers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import Depends, FastAPI, HTTPException, Request, Response
from sqlalchemy.exc import SQLAlchemyError
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException as StarletteHTTPException

from rebalance_advisor.page.access import Access, identified_by
from rebalance_advisor.page.reader import Reader
from rebalance_advisor.page.rendering import HEADERS, page, style
from rebalance_advisor.page.routes.cluster_pages import clusters_router
from rebalance_advisor.page.routes.fleet_pages import fleet_router
from rebalance_advisor.page.routes.plan_pages import plans_router
from rebalance_advisor.page.routes.subject_pages import subjects_router

_EVERY_METHOD = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_TITLES = {401: "Not logged in", 403: "Not allowed", 404: "Not found", 422: "Not understood", 503: "No database"}


class _Anything(Convertor[str]):
    """Starlette's own ``path`` ends at a line feed, and what no route matches is answered to everybody."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        """As it is."""
        return value

    def to_string(self, value: str) -> str:
        """As it is."""
        return value


def make_app(reader: Reader, access: Access) -> FastAPI:
    """Routes: the fleet, a cluster and what is in it, files. Nothing that changes anything."""
    app = FastAPI(
        title="Kafka Rebalance Advisor",
        dependencies=[Depends(identified_by(access))],
        openapi_url=None,  # its routes would be open to everybody
        redirect_slashes=False,
    )
    app.state.reader, app.state.access = reader, access
    app.add_exception_handler(StarletteHTTPException, _refusal)
    app.add_exception_handler(SQLAlchemyError, _no_database)
    app.middleware("http")(_with_headers)
    for router in (fleet_router(), clusters_router(), plans_router(), subjects_router()):
        app.include_router(router)
    app.get("/page.css")(_style)
    # Last: what is no page is told to those alone who may ask.
    register_url_convertor("anything", _Anything())
    app.api_route("/{path:anything}", methods=_EVERY_METHOD)(_nothing)
    return app


def _style() -> Response:
    return Response(style(), media_type="text/css", headers={"Cache-Control": "private, max-age=300"})


def _nothing(path: str) -> Response:
    raise HTTPException(404, f"There is no page called {path}.")


def _refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, StarletteHTTPException)
    title = _TITLES.get(error.status_code, f"Error {error.status_code}")
    words = str(error.detail) if error.status_code != 401 else "Log in to Airflow, then load this page again."
    return page(request, "refusal.html", status=error.status_code, title=title, words=words)


def _no_database(request: Request, error: Exception) -> Response:
    """The reason may hold addresses: it goes to the log by itself (``SQLAlchemyError`` is raised again nowhere)."""
    _log_failure(request, error)
    words = "The advisor's database did not answer. Its reason is in the log of Airflow's api-server."
    return page(request, "refusal.html", status=503, title=_TITLES[503], words=words)


def _log_failure(request: Request, error: Exception) -> None:
    import logging

    logging.getLogger(__name__).error("%s could not be answered: %s", request.url.path, error)


async def _with_headers(request: Request, go_on: Callable[[Request], Awaitable[Response]]) -> Response:
    answer = await go_on(request)
    for name, value in HEADERS.items():
        answer.headers.setdefault(name, value)
    return answer
