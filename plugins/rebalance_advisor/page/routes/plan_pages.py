"""One plan: what it costs and gains, its moves page by page, its document."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, Response

from rebalance_advisor.page.access import require_cluster
from rebalance_advisor.page.plan_charts import resource_charts
from rebalance_advisor.page.queries import plans as ask
from rebalance_advisor.page.rendering import page
from rebalance_advisor.page.routes.asking import newest, one, parts, rows
from rebalance_advisor.page.threads import add_page

_GONE = "No published plan of this cluster has this run; it may be running, have failed, or be pruned."
_Sort = Literal["plan", "topic", "bytes", "wave"]
_Kind = Literal["", "replica", "leader", "order"]


def plans_router() -> APIRouter:
    """``/clusters/NAME/plan`` and its document; ``run`` names an advisory, without it the newest is meant."""
    router = APIRouter(prefix="/clusters/{cluster}", dependencies=[Depends(require_cluster)])
    add_page(router, "/plan", plan_page)
    add_page(router, "/plan.json", plan_file)
    return router


async def move_filter(
    topic: str = "",
    kind: _Kind = "",
    wave: str = Query("", pattern=r"^\d{0,6}$"),
    broker: str = Query("", pattern=r"^\d{0,9}$"),
    sort: _Sort = "plan",
    down: Annotated[bool, Query()] = False,  # noqa: FBT002 (a query parameter)
    number: Annotated[int, Query(ge=1, le=100_000, alias="page")] = 1,
) -> ask.MoveFilter:
    """As the form sends it: an empty field asks for all. A coroutine, for FastAPI runs functions in shared threads."""
    return ask.MoveFilter(
        topic=topic, kind=kind, sort=sort, is_descending=down, page=number,
        wave=int(wave) if wave else None, broker=int(broker) if broker else None,
    )  # fmt: skip


def plan_page(
    request: Request, cluster: str, asked: Annotated[ask.MoveFilter, Depends(move_filter)], run: str = ""
) -> HTMLResponse:
    """The whole plan; of its moves one page."""
    run = run or str(newest(request, cluster)["run_id"])
    plan = one(request, ask.plan(cluster, run), _GONE)
    read = parts(request, ask.plan_parts(cluster, run))
    totals = one(request, ask.move_totals(cluster, run, asked), _GONE)
    return page(
        request, "plan.html", cluster=cluster, run=run, plan=plan, asked=asked, totals=totals,
        moves=rows(request, ask.moves(cluster, run, asked)),
        last_page=max(1, -(-totals["moves"] // ask.PAGE_ROWS)),
        charts=resource_charts(read["resources"], read["brokers"]), sorts=ask.SORTS, kinds=ask.KINDS,
        resources=read["resources"], bounds=read["bounds"],
        waves=[wave for wave in read["waves"] if wave["direction"] == "forward"],
    )  # fmt: skip


def plan_file(request: Request, cluster: str, run: str = "") -> Response:
    """plan.json byte for byte, its sha256 beside it."""
    run = run or str(newest(request, cluster)["run_id"])
    body = str(one(request, ask.plan_document(cluster, run), _GONE)["document"]).encode()
    digest = hashlib.sha256(body).hexdigest()
    headers = {"Content-Disposition": 'attachment; filename="plan.json"', "X-Content-SHA256": digest}
    return Response(body, media_type="application/json", headers=headers)
