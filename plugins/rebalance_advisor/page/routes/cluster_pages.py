"""One cluster: whether to act, and why; and what became of earlier advisories."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse

from rebalance_advisor.page.access import require_cluster
from rebalance_advisor.page.outlook import if_nothing_is_done
from rebalance_advisor.page.queries import clusters as ask
from rebalance_advisor.page.queries.plans import plan, plan_parts
from rebalance_advisor.page.queries.subjects import LIST_ROWS
from rebalance_advisor.page.rendering import page
from rebalance_advisor.page.routes.asking import newest, one, parts, rows
from rebalance_advisor.page.threads import add_page

MOST_FINDINGS = 100
MOST_GAPS = 20
MOST_DAYS = 60
_HOTTEST = 8


def clusters_router() -> APIRouter:
    """``/clusters/NAME`` and its history."""
    router = APIRouter(prefix="/clusters/{cluster}", dependencies=[Depends(require_cluster)])
    add_page(router, "", cluster_page)
    add_page(router, "/history", history)
    return router


def cluster_page(request: Request, cluster: str) -> HTMLResponse:
    """Verdict, age, cost, findings, the hottest brokers, groups in trouble, what was not seen."""
    state = newest(request, cluster)
    read = parts(
        request,
        {
            "findings": ask.findings(cluster, state["run_id"], MOST_FINDINGS),
            "hottest": ask.hottest_brokers(cluster, _HOTTEST),
            "slowest": ask.slowest_groups(cluster, _HOTTEST),
            "gaps": ask.gaps(cluster, MOST_GAPS),
            "disks": ask.disks(cluster),
            "resources": plan_parts(cluster, state["run_id"])["resources"],
        },
    )
    advised = one(request, plan(cluster, state["run_id"]), "This advisory has no plan.")
    return page(
        request, "cluster.html", cluster=cluster, state=state, plan=advised,
        if_nothing=if_nothing_is_done(advised, read["resources"], read["disks"], state["snapshot_captured_at"]),
        findings=read["findings"], hottest=read["hottest"], slowest=read["slowest"], gaps=read["gaps"],
    )  # fmt: skip


def history(
    request: Request, cluster: str, number: Annotated[int, Query(ge=1, le=10_000, alias="page")] = 1
) -> HTMLResponse:
    """Advisories that were started, what plans promised and what came of it, skew by the day."""
    attempts = rows(request, ask.attempts(cluster, limit=LIST_ROWS + 1, offset=(number - 1) * LIST_ROWS))
    return page(
        request, "history.html", cluster=cluster, page=number,
        attempts=attempts[:LIST_ROWS], has_more=len(attempts) > LIST_ROWS,
        outcomes=rows(request, ask.outcomes(cluster, LIST_ROWS)),
        days=rows(request, ask.skew_by_day(cluster, MOST_DAYS)),
    )  # fmt: skip
