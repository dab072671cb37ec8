"""All clusters that the caller may see; and from one of Airflow's DAG runs to the advisory that it made."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from rebalance_advisor.page.access import check_cluster, readable_clusters
from rebalance_advisor.page.queries.clusters import applications, clusters
from rebalance_advisor.page.rendering import address, page
from rebalance_advisor.page.routes.asking import rows
from rebalance_advisor.page.threads import add_page

_ADVISE = "advise_"
_KINDS = (_ADVISE, "collect_", "apply_")


def fleet_router() -> APIRouter:
    """``/`` and ``/run``."""
    router = APIRouter()
    add_page(router, "/", fleet)
    add_page(router, "/run", of_dag_run)
    return router


def fleet(request: Request) -> HTMLResponse:
    """One row a cluster, those in trouble first."""
    read = rows(request, clusters())
    seen = readable_clusters(request, [row["cluster"] for row in read])
    states = {row["cluster"]: row["state"] for row in rows(request, applications())}
    return page(request, "fleet.html", clusters=[row for row in read if row["cluster"] in seen], states=states)


def of_dag_run(request: Request, dag_id: str, run_id: str = "") -> Response:
    """The tab of a DAG run: the plan that the run published, or the cluster it belongs to."""
    kind = next((kind for kind in _KINDS if dag_id.startswith(kind)), None)
    if kind is None:
        raise HTTPException(404, "This DAG is none of the Kafka Rebalance Advisor's.")
    cluster = dag_id.removeprefix(kind)
    check_cluster(request, cluster)
    if kind == _ADVISE and run_id:
        return RedirectResponse(address(request, "clusters", cluster, "plan", run=f"{run_id}.{cluster}"), 303)
    return RedirectResponse(address(request, "clusters", cluster), 303)
