"""The page as a FastAPI app. Every answer, errors too, needs a caller and has the same headers."""

from __future__ import annotations

import hashlib
import json
import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy import Select
from sqlalchemy.exc import SQLAlchemyError
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException as StarletteHTTPException

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt, visible
from kafka_rebalance.advisory.disk_outlook import DiskForecast, disk_outlook
from kafka_rebalance.plans.document import plan_from_document
from kafka_rebalance.render.findings import ACTORS
from kafka_rebalance.render.steps import StepFigures, describe_progress
from kafka_rebalance.snapshot.codec import read_worker
from rebalance_advisor.gates import rule_results
from rebalance_advisor.page import pictures
from rebalance_advisor.page import queries as ask
from rebalance_advisor.page.access import Access, check_cluster, identified_by, readable_clusters, require_cluster
from rebalance_advisor.page.queries import (
    LIST_ROWS,
    MoveFilter,
    applications,
    clusters,
    findings_of,
    move_totals,
    plan,
    plan_parts,
)
from rebalance_advisor.page.reader import Reader, Row
from rebalance_advisor.page.rendering import HEADERS, address, age_badges, ask_for, page, style
from rebalance_advisor.page.threads import PageThreads, add_page
from rebalance_advisor.publish.plan_files import render_commands
from rebalance_advisor.publish.plan_text import compared_resources, frontier_rows
from rebalance_advisor.publish.report import OF_CLUSTER, describe_start, step_row
from rebalance_advisor.publish.report import if_nothing_is_done as lines_of_advisory


def rows(request: Request, statement: Select[Any]) -> list[Row]:
    reader: Reader = request.app.state.reader
    return reader.rows(statement)


def parts(request: Request, statements: Mapping[str, Select[Any]]) -> dict[str, list[Row]]:
    return {name: rows(request, statement) for name, statement in statements.items()}


def row_or_404(request: Request, statement: Select[Any], missing: str) -> Row:
    """First row, or 404 with ``missing``."""
    reader: Reader = request.app.state.reader
    row = reader.first(statement)
    if row is None:
        raise HTTPException(404, missing)
    return row


def newest(request: Request, cluster: str) -> Row:
    """Newest published advisory, or 404."""
    return row_or_404(request, clusters(cluster), f"Nothing is published yet for cluster {cluster}.")


def newest_or_none(request: Request, cluster: str) -> Row | None:
    reader: Reader = request.app.state.reader
    return reader.first(clusters(cluster))


def seen_at(state: Row) -> datetime:
    """Time of the newest snapshot."""
    moment: datetime = state["newest_snapshot_captured_at"] or state["snapshot_captured_at"]
    return moment


HISTORY = timedelta(days=30)
_ADVISE = "advise_"
_WHAT_IF = "what_if_"
_KINDS = (_ADVISE, "collect_", "apply_", _WHAT_IF)
_Page = Annotated[int, Query(ge=1, le=100_000, alias="page")]


def fleet_router() -> APIRouter:
    router = APIRouter()
    add_page(router, "/", fleet)
    add_page(router, "/run", of_dag_run)
    add_page(router, "/search", search_page)
    return router


def fleet(request: Request) -> HTMLResponse:
    read = rows(request, clusters())
    readable = readable_clusters(request, [row["cluster"] for row in read])
    states = {row["cluster"]: row["state"] for row in rows(request, applications())}
    worst = {row["cluster"]: row for row in rows(request, ask.worst_findings())}
    fullest = {row["cluster"]: row for row in rows(request, ask.fullest_brokers())}
    skews = pictures.sparklines(rows(request, ask.worst_skews(datetime.now(UTC) - HISTORY)))
    behind = {row["cluster"]: row for row in rows(request, ask.groups_behind())}
    readable_rows = [row for row in read if row["cluster"] in readable]
    return page(request, "fleet.html", clusters=readable_rows, states=states, worst=worst, fullest=fullest,
        skews=skews, behind=behind, now=datetime.now(UTC))  # fmt: skip


def search_page(request: Request, text: Annotated[str, Query(max_length=255)] = "", number: _Page = 1) -> HTMLResponse:
    """Clusters, brokers, topics and groups of that name, in all clusters that the caller may see."""
    text = text.strip(" \t\r\n")
    every = [row["cluster"] for row in rows(request, clusters())] if text else []
    readable = sorted(readable_clusters(request, every))
    matches = rows(request, ask.matches(text, readable, number)) if readable else []
    return page(
        request, "search.html", text=text, page=number, rows=matches[:LIST_ROWS], has_more=len(matches) > LIST_ROWS,
        clusters=[name for name in readable if text.casefold() in name.casefold()] if number == 1 else [],
    )  # fmt: skip


def of_dag_run(request: Request, dag_id: str, run_id: str = "") -> Response:
    """The plan or the what-if of a DAG run, else its cluster."""
    kind = next((kind for kind in _KINDS if dag_id.startswith(kind)), None)
    if kind is None:
        raise HTTPException(404, "This DAG is none of the Kafka Rebalance Advisor's.")
    cluster = dag_id.removeprefix(kind)
    check_cluster(request, cluster)
    if kind == _ADVISE and run_id:
        return RedirectResponse(address(request, "clusters", cluster, "plan", run=f"{run_id}.{cluster}"), 303)
    if kind == _WHAT_IF and run_id:
        access: Access = request.app.state.access
        return page(request, "what_if.html", cluster=cluster, run=run_id, what_if=access.what_if(dag_id, run_id))
    return RedirectResponse(address(request, "clusters", cluster), 303)


def if_nothing_is_done(plan: Row, resources: Sequence[Row], disks: Sequence[Row], captured_at: datetime) -> list[str]:
    """The report's lines, except for lost brokers.

    Rows of ``plan``, ``plan_resource``, ``broker_disk_forecast``: the document may have megabytes.
    """
    forecasts = [
        DiskForecast(
            broker=disk["broker"],
            used_ratio=disk["used_ratio"] or 0.0,
            days_of_history=disk["days_of_history"] or 0,
            full_at=disk["reaches_85_percent_at"],
            full_at_with_plan=disk["reaches_85_percent_at_with_plan"],
            growth_bytes_per_day=disk["growth_bytes_per_day"],
        )
        for disk in disks
    ]
    outlook = [line.document() for line in disk_outlook(forecasts, captured_at)]
    balanced = [dict(resource) for resource in resources if resource["skew_before"] is not None]
    document: dict[str, Any] = {"moves": plan["replica_moves"] or plan["leader_changes"], "resources": balanced}
    return lines_of_advisory({"plan": document} | ({"outlook": outlook} if outlook else {}))


MOST_FINDINGS = 100
MOST_GAPS = 20
MOST_RESOLVED = 10
MOST_DAYS = 60
MOST_LANES = 30
LONG_HISTORY = timedelta(days=90)
MOST_GROUPS = 8
MOST_HEATED = 50


def clusters_router() -> APIRouter:
    router = APIRouter(prefix="/clusters/{cluster}", dependencies=[Depends(require_cluster)])
    add_page(router, "", cluster_page)
    add_page(router, "/history", history)
    return router


def linker(request: Request, cluster: str) -> pictures.Link:
    def link(*parts: str, **query: object) -> str:
        return address(request, "clusters", cluster, *parts, **query)

    return link


def cluster_page(request: Request, cluster: str) -> HTMLResponse:
    state = newest(request, cluster)
    advised_parts = plan_parts(cluster, state["run_id"])
    read = parts(
        request,
        {
            "findings": ask.findings(cluster, state["run_id"], MOST_FINDINGS),
            "levels": ask.heat(cluster, state["run_id"], pictures.RESOURCES, pictures.FULL_SHARE, MOST_HEATED),
            "resolved": ask.resolved(cluster, MOST_RESOLVED),
            "slowest": ask.slowest_groups(cluster, MOST_GROUPS),
            "gaps": ask.gaps(cluster, MOST_GAPS),
            "gap_counts": ask.gap_counts(cluster, state["run_id"]),
            "disks": ask.disks(cluster),
            "resources": advised_parts["resources"],
            "steps": advised_parts["steps"],
            "applied": ask.applied_by_wave(cluster),
        },
    )
    advised = row_or_404(request, plan(cluster, state["run_id"]), "This advisory has no plan.")
    first_seen = rows(request, ask.first_seen(cluster, [row["finding_key"] for row in read["findings"]]))
    return page(
        request, "cluster.html", cluster=cluster, state=state, plan=advised,
        if_nothing=if_nothing_is_done(advised, read["resources"], read["disks"], state["snapshot_captured_at"]),
        steps=step_rows(read["steps"], by_wave(read["applied"])), start=start_line(request, cluster, state["run_id"]),
        findings=read["findings"], actors=ACTORS, resolved=read["resolved"], slowest=read["slowest"], gaps=read["gaps"],
        gap_count=read["gap_counts"][0]["gaps"] if read["gap_counts"] else 0,
        heat_map=pictures.heat_map(read["levels"], pictures.bands(read["resources"]), linker(request, cluster)),
        most_heated=MOST_HEATED, badges=age_badges(first_seen, state["started_at"]),
    )  # fmt: skip


def start_line(request: Request, cluster: str, run_id: str) -> str:
    read = parts(request, ask.start_parts(cluster, run_id, OF_CLUSTER))
    return describe_start(
        read["findings"], [{"code": gap["missing_code"], "args": gap["missing_args"]} for gap in read["gaps"]]
    )


def by_wave(applied: Sequence[Row]) -> dict[int, int]:
    return {row["wave"]: row["applied"] for row in applied}


def step_rows(steps: Sequence[Row], applied: Mapping[int, int] | None) -> list[dict[str, Any]]:
    """With their state if ``applied`` (by wave) is known."""
    names = [field.name for field in fields(StepFigures)]
    figures = [StepFigures(**{name: step[name] for name in names}) for step in steps]
    return [step_row(step) | ({} if applied is None else {"state": _state(step, applied)}) for step in figures]


def _state(step: StepFigures, applied: Mapping[int, int]) -> str:
    done = sum(applied.get(wave, 0) for wave in range(step.first_wave, step.last_wave + 1))
    return describe_progress(done, step.partitions)


def history(
    request: Request, cluster: str, number: Annotated[int, Query(ge=1, le=10_000, alias="page")] = 1
) -> HTMLResponse:
    now = datetime.now(UTC)
    since = now - LONG_HISTORY
    days, link = rows(request, ask.skew_by_day(cluster, since)), linker(request, cluster)
    newest_run = newest_or_none(request, cluster)
    resources = rows(request, plan_parts(cluster, newest_run["run_id"])["resources"]) if newest_run else []
    findings = rows(request, ask.finding_lanes(cluster, since, MOST_LANES))
    applied = rows(request, ask.applied_plans(cluster, since))
    since = min((row["period_start"] for row in days), default=since)
    since = min([since, *(row["first_seen"] for row in findings)])
    attempts = rows(request, ask.attempts(cluster, limit=LIST_ROWS + 1, offset=(number - 1) * LIST_ROWS))
    return page(
        request, "history.html", cluster=cluster, page=number,
        attempts=attempts[:LIST_ROWS], has_more=len(attempts) > LIST_ROWS,
        promises=pictures.promises(rows(request, ask.outcomes(cluster, LIST_ROWS))),
        skews=pictures.skew_charts(days, pictures.bands(resources), applied, link, since, now),
        lanes=pictures.lanes(findings, since, now, newest_run["started_at"] if newest_run else now),
        applied_count=len(applied), finding_count=findings[0]["finding_count"] if findings else 0,
        days=days[:MOST_DAYS],
    )  # fmt: skip


MOST_BARS = 16
_GONE = "No published plan of this cluster has this run; it may be running, have failed, or be pruned."
_OTHER_RELEASE = "Another release made this plan: read commands.md in the folder that it published."
_Sort = Literal["plan", "topic", "bytes", "wave"]
_Kind = Literal["", "replica", "leader", "order"]


def plans_router() -> APIRouter:
    """``run``: an advisory; empty for the newest."""
    router = APIRouter(prefix="/clusters/{cluster}", dependencies=[Depends(require_cluster)])
    add_page(router, "/plan", plan_page)
    add_page(router, "/plan.json", plan_file)
    add_page(router, "/commands.md", commands_file)
    add_page(router, "/gates", gates_page)
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
    """An empty field selects all. A coroutine, because FastAPI runs functions in shared threads."""
    return ask.MoveFilter(
        topic=topic, kind=kind, sort=sort, is_descending=down, page=number,
        wave=int(wave) if wave else None, broker=int(broker) if broker else None,
    )  # fmt: skip


def plan_page(
    request: Request, cluster: str, filters: Annotated[ask.MoveFilter, Depends(move_filter)], run: str = ""
) -> Response:
    """The plan with one page of moves. An unpublished advisory has only its gates."""
    newest_run = str(newest(request, cluster)["run_id"])
    run = run or newest_run
    plans = rows(request, ask.plan(cluster, run))
    if not plans and rows(request, ask.attempt(cluster, run)):
        return RedirectResponse(address(request, "clusters", cluster, "gates", run=run), 303)
    if not plans:
        raise HTTPException(404, _GONE)
    is_newest = run == newest_run
    applied = by_wave(rows(request, ask.applied_by_wave(cluster))) if is_newest else None
    read = parts(request, ask.plan_parts(cluster, run))
    totals = row_or_404(request, ask.move_totals(cluster, run, filters), _GONE)
    balanced = list(pictures.bands(read["resources"]))
    compared, not_balanced = compared_resources(read["frontier"], balanced)
    link, last_wave = linker(request, cluster), max((wave["wave"] for wave in read["waves"]), default=0)
    return page(
        request, "plan.html", cluster=cluster, run=run, plan=plans[0], filters=filters, totals=totals,
        moves=rows(request, ask.moves(cluster, run, filters)),
        document_sha256=row_or_404(request, ask.document_sha256(cluster, run), _GONE)["sha256"],
        last_page=max(1, -(-totals["moves"] // ask.PAGE_ROWS)),
        bars=pictures.before_and_after(read["resources"], read["brokers"], MOST_BARS),
        frontier=pictures.frontier(read["frontier"], compared), points=point_rows(read["frontier"], balanced),
        compared=compared, not_balanced=not_balanced,
        copies=pictures.copies(rows(request, ask.copies(cluster, run, MOST_BARS)), last_wave, link, run),
        sorts=ask.SORTS, kinds=ask.KINDS,
        resources=read["resources"], bounds=read["bounds"], steps=step_rows(read["steps"], applied),
        start=start_line(request, cluster, run) if is_newest else "",
        affected=rows(request, ask.affected(cluster, run)) if is_newest else [],
        overlap=rows(request, ask.overlap(cluster)) if is_newest else [],
        waves=[_wave_row(wave, applied) for wave in read["waves"] if wave["direction"] == "forward"],
        gates=rule_results(rows(request, ask.checks(cluster, run))),
    )  # fmt: skip


def point_rows(points: Sequence[Row], balanced: Sequence[str]) -> list[dict[str, Any]]:
    return [
        row
        | {
            "position": point["position"],
            "seconds": point["seconds"],
            "option": ask_for(point),
        }
        for point, row in zip(points, frontier_rows(points, balanced), strict=True)
    ]


def _wave_row(wave: Row, applied: Mapping[int, int] | None) -> dict[str, Any]:
    if applied is None:
        return dict(wave)
    return dict(wave, state=describe_progress(applied.get(wave["wave"], 0), wave["move_count"]))


def gates_page(request: Request, cluster: str, run: str) -> HTMLResponse:
    attempt = row_or_404(request, ask.attempt(cluster, run), _GONE)
    results = rule_results(rows(request, ask.checks(cluster, run)))
    return page(request, "gates.html", cluster=cluster, run=run, attempt=attempt, gates=results)


def plan_file(request: Request, cluster: str, run: str = "") -> Response:
    run = run or str(newest(request, cluster)["run_id"])
    body = str(row_or_404(request, ask.plan_document(cluster, run), _GONE)["document"]).encode()
    digest = hashlib.sha256(body).hexdigest()
    headers = {"Content-Disposition": 'attachment; filename="plan.json"', "X-Content-SHA256": digest}
    return Response(body, media_type="application/json", headers=headers)


def commands_file(request: Request, cluster: str, run: str = "") -> Response:
    """As text, which Airflow's frame shows. Only the release that made a plan renders it."""
    run = run or str(newest(request, cluster)["run_id"])
    document = str(row_or_404(request, ask.plan_document(cluster, run), _GONE)["document"])
    try:
        commands = render_commands(plan_from_document(json.loads(document)))
    except InvalidInputError:
        raise HTTPException(404, _OTHER_RELEASE) from None
    return Response(commands, media_type="text/plain; charset=utf-8")


MOST_CARRIED = 5000
_PART_OF = {"disk": "log_bytes", "leaders": "leaders", "replicas": "replicas"}
_BrokerId = Annotated[int, Query(ge=-1, le=2**31 - 1, alias="id")]


def subjects_router() -> APIRouter:
    router = APIRouter(prefix="/clusters/{cluster}", dependencies=[Depends(require_cluster)])
    add_page(router, "/brokers", broker_list)
    add_page(router, "/topics", topic_list)
    add_page(router, "/groups", group_list)
    add_page(router, "/broker", broker_page)
    add_page(router, "/topic", topic_page)
    add_page(router, "/group", group_page)
    return router


BrokerSort = Literal[
    "findings", "name", "used_ratio", "in_bytes_per_s", "out_bytes_per_s", "leader_count", "replica_count"
]
TopicSort = Literal[
    "findings", "name", "log_bytes", "in_bytes_per_s", "hottest_to_mean_ratio", "partition_count", "lag_messages"
]
GroupSort = Literal["findings", "name", "lag_messages", "lag_seconds", "member_count", "skew_count"]


def broker_list(request: Request, cluster: str, sort: BrokerSort = "findings", number: _Page = 1) -> HTMLResponse:
    read = rows(request, ask.listed("brokers", cluster, "", sort, number))
    state = newest_or_none(request, cluster)
    run, brokers = "" if state is None else str(state["run_id"]), [row["broker"] for row in read]
    levels = rows(request, ask.levels_in(cluster, run, pictures.RESOURCES, brokers))
    loads = pictures.listed_loads(read, levels, rows(request, ask.highest_loads(cluster, run)))
    return _list(request, "brokers", cluster, sort, number, rows=read, loads=loads)


def topic_list(
    request: Request, cluster: str, search: str = "", sort: TopicSort = "findings", number: _Page = 1
) -> HTMLResponse:
    read = rows(request, ask.listed("topics", cluster, search, sort, number))
    return _list(request, "topics", cluster, sort, number, search, rows=read)


def group_list(
    request: Request, cluster: str, search: str = "", sort: GroupSort = "findings", number: _Page = 1
) -> HTMLResponse:
    read = rows(request, ask.listed("groups", cluster, search, sort, number))
    state = newest_or_none(request, cluster)
    since = (datetime.now(UTC) if state is None else seen_at(state)) - HISTORY
    lags = pictures.lag_sparklines(rows(request, ask.lag_days(cluster, [row["group_id"] for row in read], since)))
    return _list(request, "groups", cluster, sort, number, search, rows=read, lags=lags)


def broker_page(request: Request, cluster: str, broker: _BrokerId, number: _Page = 1) -> HTMLResponse:
    state = newest(request, cluster)
    read = parts(request, ask.broker_parts(cluster, state["run_id"], broker))
    is_known = bool(read["broker"] or read["levels"])
    findings = rows(request, findings_of(cluster, state["run_id"], "broker", str(broker)))
    is_added = not is_known and bool(rows(request, ask.planned_loads(cluster, state["run_id"], broker)))
    if not (is_known or is_added or findings or rows(request, ask.mentions_of(cluster, broker))):
        raise HTTPException(404, f"Cluster {cluster} has no broker {broker}.")
    worst = read["levels"][0]["resource"] if read["levels"] else "disk"
    largest = rows(request, ask.carried_by(cluster, broker, MOST_CARRIED))
    part = _PART_OF.get(worst, "in_bytes_per_s")
    carried = sorted(largest, key=lambda row: -(row[part] or 0.0))
    link, disk = linker(request, cluster), read["disks"][0] if read["disks"] else None
    held = next((row for row in read["levels"] if row["resource"] == "disk"), {"load": None, "capacity": None})
    now = seen_at(state)
    replicas = rows(request, ask.partitions_on(cluster, broker, number))
    growth = None
    if disk is not None:
        history = rows(request, ask.disk_history(cluster, broker, disk["basis"], now - HISTORY))
        growth = pictures.disk_growth(disk, history, now)
    return page(
        request, "broker.html", cluster=cluster, broker=broker, state=state, is_known=is_known, is_added=is_added,
        about=read["broker"][0] if read["broker"] else None,
        disk=disk, growth=growth, filling=pictures.filling(largest, held["load"], held["capacity"], link),
        levels=read["levels"], held=_held_now(read["held"], read["levels"]),
        bars=pictures.level_bars(read["levels"]), carried=carried[:15],
        partitions=replicas[: ask.LIST_ROWS], page=number, has_more=len(replicas) > ask.LIST_ROWS,
        grown=read["grown"], findings=findings,
        moves=row_or_404(request, move_totals(cluster, state["run_id"], MoveFilter(broker=broker)), "No plan."),
    )  # fmt: skip


def _held_now(held: list[Row], levels: list[Row]) -> Row | None:
    """Return its replicas and leaders where running reassignments change them: levels count these as done."""
    done = {row["resource"]: row["load"] for row in levels}
    if not held or not {"replicas", "leaders"} <= done.keys():
        return None
    now = held[0]
    return None if (now["replica_count"], now["leader_count"]) == (done["replicas"], done["leaders"]) else now


def topic_page(request: Request, cluster: str, name: str, number: _Page = 1) -> HTMLResponse:
    state = newest(request, cluster)
    read = parts(request, ask.topic_parts(cluster, name, number))
    if not read["topic"]:
        raise HTTPException(404, f"Cluster {cluster} has no topic called {name}.")
    partitions = read["partitions"][: ask.LIST_ROWS]
    moves = rows(request, ask.moves_of_topic(cluster, state["run_id"], name))
    held = {broker for row in partitions for broker in row["replicas"]} | {
        broker for row in moves for broker in row["to_replicas"]
    }
    racks = {row["broker"]: row["rack"] or "" for row in rows(request, ask.racks_of(cluster, held))}
    return page(
        request, "topic.html", cluster=cluster, name=name, page=number, about=read["topic"][0],
        placers=read["placers"], readers=read["readers"], partitions=partitions,
        bars=pictures.partition_bars(partitions, read["loads"], racks),
        rack_looks=pictures.rack_looks([row["leader"] for row in partitions], racks),
        placement=pictures.placement(partitions, moves, racks, linker(request, cluster)),
        move_count=len(moves), has_more=len(read["partitions"]) > ask.LIST_ROWS,
        findings=rows(request, findings_of(cluster, state["run_id"], "topic", name)),
    )  # fmt: skip


def group_page(request: Request, cluster: str, name: str) -> HTMLResponse:
    state = newest(request, cluster)
    now = seen_at(state)
    read = parts(request, ask.group_parts(cluster, name, now - HISTORY))
    if not read["group"]:
        raise HTTPException(404, f"Cluster {cluster} has no group called {name}.")
    return page(
        request, "group.html", cluster=cluster, name=name, about=read["group"][0], overview=read["overview"][0],
        drain=read["drain"][0] if read["drain"] else None,
        strategies=read["strategies"], scenarios=read["scenarios"], lag=read["lag"],
        instances=read["instances"], tasks=read["tasks"], workers=[_worker_row(row) for row in read["workers"]],
        members=pictures.member_bars(read["members"], read["advised_members"]),
        lag_chart=pictures.lag_chart(read["lag_days"]),
        findings=rows(request, findings_of(cluster, state["run_id"], "group", name)),
    )  # fmt: skip


def _worker_row(member: Row) -> dict[str, Any]:
    """Return a worker of Kafka Connect with what it runs; None where that is unknown. ``member``: of the view."""
    from kafka_rebalance.groups.connect_workers import running_work  # with numba, which no other page needs

    worker = read_worker(member["worker"], "worker")
    running = running_work(worker)
    return {
        "name": worker.url or member["member_id"],
        "is_leader": worker.leader == member["member_id"],
        "connectors": None if running is None else len(running.connectors),
        "tasks": None if running is None else len(running.tasks),
    }


def _list(
    request: Request, kind: str, cluster: str, sort: str, number: int, search: str | None = None, **values: Any
) -> HTMLResponse:
    total = row_or_404(request, ask.list_total(kind, cluster, search or ""), "Nothing to list.")["rows"]
    return page(
        request, "list.html", kind=kind, cluster=cluster, search=search, sort=sort, page=number, total=total,
        last_page=max(1, -(-total // ask.LIST_ROWS)), **values,
    )  # fmt: skip


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
    message = str(error.detail) if error.status_code != 401 else "Log in to Airflow, then load this page again."
    return _refused(request, error.status_code, title, message, error.headers)


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
    message = (
        "The advisor's database or Airflow's own did not answer. The reason is in the log of Airflow's api-server."
    )
    return _refused(request, 503, "No database", message, {"Retry-After": "5"})


def _refused(
    request: Request, status: int, title: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    answer = page(request, "refusal.html", status=status, title=title, message=message)
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
        message = "The page has a fault. Its reason is in the log of Airflow's api-server."
        answer = _refused(request, 500, "Error 500", message)
    for name, value in HEADERS.items():
        answer.headers.setdefault(name, value)
    return answer
