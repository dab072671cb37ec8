"""One plan and its moves: sorted, filtered and paged by the database, whatever their number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, any_, func, literal, or_, select

from rebalance_advisor.page.queries.views import BOUND, MOVE, PLAN, PLAN_BROKER, PLAN_RESOURCE, WAVE

PAGE_ROWS = 50
SORTS = ("plan", "topic", "bytes", "wave")
KINDS = ("replica", "leader", "order")


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveFilter:
    """Which moves of a plan are asked for; ``None`` and the empty text ask for all."""

    topic: str = ""
    kind: str = ""
    wave: int | None = None
    broker: int | None = None
    sort: str = "plan"
    is_descending: bool = False
    page: int = 1


def plan(cluster: str, run_id: str) -> Select[Any]:
    """The plan without its document, which may have megabytes; with the document's sha256."""
    columns = [column for column in PLAN.c if column.name != "document"]
    digest = func.encode(func.sha256(func.convert_to(PLAN.c.document, "UTF8")), "hex").label("document_sha256")
    return select(*columns, digest).where(PLAN.c.cluster == cluster, PLAN.c.run_id == run_id)


def plan_document(cluster: str, run_id: str) -> Select[Any]:
    """plan.json, as it was published."""
    return select(PLAN.c.document, PLAN.c.plan_id).where(PLAN.c.cluster == cluster, PLAN.c.run_id == run_id)


def plan_parts(cluster: str, run_id: str) -> dict[str, Select[Any]]:
    """Statements for resources, brokers, bounds and waves of a plan."""
    orders = {
        "resources": (PLAN_RESOURCE, (PLAN_RESOURCE.c.resource,)),
        "brokers": (PLAN_BROKER, (PLAN_BROKER.c.resource, PLAN_BROKER.c.broker)),
        "bounds": (BOUND, (BOUND.c.cost,)),
        "waves": (WAVE, (WAVE.c.direction, WAVE.c.wave)),
    }
    return {
        name: select(*read.c).where(read.c.cluster == cluster, read.c.run_id == run_id).order_by(*order)
        for name, (read, order) in orders.items()
    }


def moves(cluster: str, run_id: str, asked: MoveFilter) -> Select[Any]:
    """One page of moves. What has no bytes stands last either way; ties are in the plan's order."""
    key = {"plan": MOVE.c.position, "topic": MOVE.c.topic, "bytes": MOVE.c.bytes, "wave": MOVE.c.wave}[asked.sort]
    ordered = (key.desc() if asked.is_descending else key.asc()).nulls_last()
    return (
        select(*MOVE.c)
        .where(*_conditions(cluster, run_id, asked))
        .order_by(ordered, MOVE.c.position)
        .limit(PAGE_ROWS)
        .offset((asked.page - 1) * PAGE_ROWS)
    )


def move_totals(cluster: str, run_id: str, asked: MoveFilter) -> Select[Any]:
    """How many moves the filter leaves, and their bytes; the page does not count."""
    counted: list[ColumnElement[Any]] = [func.count().label("moves"), func.sum(MOVE.c.bytes).label("bytes")]
    return select(*counted).where(*_conditions(cluster, run_id, asked))


def _conditions(cluster: str, run_id: str, asked: MoveFilter) -> list[ColumnElement[bool]]:
    conditions = [MOVE.c.cluster == cluster, MOVE.c.run_id == run_id]
    if asked.topic:
        conditions.append(MOVE.c.topic.icontains(asked.topic, autoescape=True))
    if asked.kind:
        conditions.append(MOVE.c.kind == asked.kind)
    if asked.wave is not None:
        conditions.append(MOVE.c.wave == asked.wave)
    if asked.broker is not None:
        broker = literal(asked.broker)
        conditions.append(or_(broker == any_(MOVE.c.from_replicas), broker == any_(MOVE.c.to_replicas)))
    return conditions
