"""A broker ("why is it hot"), a topic, a group ("which strategy, and why"); and the lists of them.

Names are query parameters: a topic's or group's name may hold slashes and dots, which paths would take for their own.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import HTMLResponse
from sqlalchemy import Select

from rebalance_advisor.page.access import require_cluster
from rebalance_advisor.page.queries import subjects as ask
from rebalance_advisor.page.queries.clusters import findings_of
from rebalance_advisor.page.queries.plans import MoveFilter, move_totals
from rebalance_advisor.page.rendering import page
from rebalance_advisor.page.routes.asking import newest, one, parts, rows
from rebalance_advisor.page.threads import add_page

_Page = Annotated[int, Query(ge=1, le=100_000, alias="page")]
_BrokerId = Annotated[int, Query(ge=-1, le=2**31 - 1, alias="id")]


def subjects_router() -> APIRouter:
    """Lists and single pages of brokers, topics and groups."""
    router = APIRouter(prefix="/clusters/{cluster}", dependencies=[Depends(require_cluster)])
    add_page(router, "/brokers", broker_list)
    add_page(router, "/topics", topic_list)
    add_page(router, "/groups", group_list)
    add_page(router, "/broker", broker_page)
    add_page(router, "/topic", topic_page)
    add_page(router, "/group", group_page)
    return router


def broker_list(request: Request, cluster: str, number: _Page = 1) -> HTMLResponse:
    """Brokers by id."""
    return _list(request, "brokers", cluster, ask.brokers(cluster, number), number)


def topic_list(request: Request, cluster: str, search: str = "", number: _Page = 1) -> HTMLResponse:
    """Topics whose names contain ``search``."""
    return _list(request, "topics", cluster, ask.topics(cluster, search, number), number, search)


def group_list(request: Request, cluster: str, search: str = "", number: _Page = 1) -> HTMLResponse:
    """Groups whose names contain ``search``."""
    return _list(request, "groups", cluster, ask.groups(cluster, search, number), number, search)


def broker_page(request: Request, cluster: str, broker: _BrokerId) -> HTMLResponse:
    """Levels, what carries them, disks, findings, and what the plan does about it."""
    state = newest(request, cluster)
    read = parts(request, ask.broker_parts(cluster, broker))
    if not read["broker"] and not read["levels"]:
        raise HTTPException(404, f"Cluster {cluster} has no broker {broker}.")
    is_disk = bool(read["levels"]) and read["levels"][0]["resource"] == "disk"
    carried = rows(request, ask.carried_by(cluster, broker, limit=15, by_size=is_disk))
    return page(
        request, "broker.html", cluster=cluster, broker=broker, state=state, is_disk=is_disk,
        about=read["broker"][0] if read["broker"] else None,
        disk=read["disks"][0] if read["disks"] else None,
        levels=read["levels"], carried=carried, grown=read["grown"],
        findings=rows(request, findings_of(cluster, state["run_id"], "broker", str(broker))),
        moves=one(request, move_totals(cluster, state["run_id"], MoveFilter(broker=broker)), "No plan."),
    )  # fmt: skip


def topic_page(request: Request, cluster: str, name: str, number: _Page = 1) -> HTMLResponse:
    """Placement beside Kafka's own placers, partitions, and who reads it."""
    state = newest(request, cluster)
    read = parts(request, ask.topic_parts(cluster, name, number))
    if not read["topic"]:
        raise HTTPException(404, f"Cluster {cluster} has no topic called {name}.")
    return page(
        request, "topic.html", cluster=cluster, name=name, page=number, about=read["topic"][0],
        placers=read["placers"], readers=read["readers"],
        partitions=read["partitions"][: ask.LIST_ROWS], has_more=len(read["partitions"]) > ask.LIST_ROWS,
        findings=rows(request, findings_of(cluster, state["run_id"], "topic", name)),
    )  # fmt: skip


def group_page(request: Request, cluster: str, name: str) -> HTMLResponse:
    """Which strategy, what each would do, what happens when members come and go, who is behind."""
    state = newest(request, cluster)
    read = parts(request, ask.group_parts(cluster, name))
    if not read["group"]:
        raise HTTPException(404, f"Cluster {cluster} has no group called {name}.")
    return page(
        request, "group.html", cluster=cluster, name=name, about=read["group"][0],
        drain=read["drain"][0] if read["drain"] else None,
        strategies=read["strategies"], scenarios=read["scenarios"], lag=read["lag"], members=read["members"],
        findings=rows(request, findings_of(cluster, state["run_id"], "group", name)),
    )  # fmt: skip


def _list(
    request: Request, kind: str, cluster: str, statement: Select[Any], number: int, search: str | None = None
) -> HTMLResponse:
    """``search``: ``None`` where there is nothing to search by."""
    listed = rows(request, statement)
    return page(
        request, "list.html", kind=kind, cluster=cluster, rows=listed[: ask.LIST_ROWS],
        has_more=len(listed) > ask.LIST_ROWS, search=search, page=number,
    )  # fmt: skip
