"""Readers see only published runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from rebalance_advisor.store.schema.connection import Connection, StoreError, named

# Tables that a retry empties.
RESULT_TABLES = (
    "broker_score", "rack_score", "resource_score", "topic_score", "group_score", "member_score",
    "group_streams_scenario", "finding", "plan",
    "advisory", "plan_resource", "plan_broker", "plan_bound", "move", "wave", "plan_step",
    "frontier_point", "check_result",
)  # fmt: skip


class RunPublishedError(StoreError):
    """A published run never changes."""


@dataclass(frozen=True, slots=True)
class OpenRun:
    key: int
    started_at: str


def start_run(
    connection: Connection,
    *,
    run_id: str,
    cluster: str,
    snapshot_id: str,
    parameters: Mapping[str, Any] | None = None,
    seed: int = 0,
    advisor_version: str = "",
) -> None:
    """Start, or restart without earlier rows. Raises RunPublishedError or StoreError."""
    connection.execute(named("ensure_this_week"))
    with connection.transaction():
        row = {
            "run_id": run_id, "cluster": cluster, "snapshot_id": snapshot_id, "seed": seed,
            "parameters": Jsonb(dict(parameters or {})), "advisor_version": advisor_version,
        }  # fmt: skip
        if connection.execute(named("start_run"), row).fetchone() is None:
            raise _why_not_started(connection, run_id, snapshot_id, cluster)
        run = lock_run(connection, run_id)
        for table in RESULT_TABLES:
            empty(connection, run, table)


def lock_run(connection: Connection, run_id: str) -> OpenRun:
    """Until the transaction ends. Raises RunPublishedError or StoreError."""
    row = connection.execute(named("lock_run"), {"run_id": run_id}).fetchone()
    if row is None:
        raise StoreError(f"no run {run_id} was started; call start_run first")
    key, started_at, status = row
    if status == "published":
        raise RunPublishedError(f"run {run_id} is published and stays as it is; start a new run")
    return OpenRun(int(key), str(started_at))


@dataclass(frozen=True, slots=True)
class Run:
    """``status``: running, blocked or published; ``partition_count``: the snapshot's."""

    key: int
    run_id: str
    cluster: str
    snapshot_id: str
    parameters: Mapping[str, Any]
    seed: int
    status: str
    partition_count: int


def load_run(connection: Connection, run_id: str) -> Run:
    row = connection.execute(named("load_run"), {"run_id": run_id}).fetchone()
    if row is None:
        raise StoreError(f"no run {run_id} was started")
    return Run(*row)


def empty(connection: Connection, run: OpenRun, table: str) -> None:
    target = sql.Identifier("store", table)
    connection.execute(sql.SQL("DELETE FROM {} WHERE run_key = %s").format(target), (run.key,))


def publish_run(connection: Connection, run_id: str) -> None:
    """Idempotent."""
    with connection.transaction():
        try:
            run = lock_run(connection, run_id)
        except RunPublishedError:
            return
        row = connection.execute(named("publish_obstacles"), {"run_key": run.key}).fetchone()
        assert row is not None
        has_plan, broken_rule = row
        if not has_plan:
            raise StoreError(f"run {run_id} holds no plan; call save_plan before publish_run")
        if broken_rule is not None:
            raise StoreError(f"run {run_id} is not published: rule {broken_rule} blocks it (view advisor.check_result)")
        connection.execute(named("publish_run"), {"run_key": run.key})


def block_run(connection: Connection, run_id: str) -> None:
    """Kept as evidence until a retry."""
    with connection.transaction():
        connection.execute(named("block_run"), {"run_key": lock_run(connection, run_id).key})


def newest_published(connection: Connection, cluster: str) -> str | None:
    row = connection.execute(named("newest_published"), {"cluster": cluster}).fetchone()
    return None if row is None else str(row[0])


@contextmanager
def publishing(connection: Connection, cluster: str) -> Iterator[None]:
    """Lock publishing and removal of a cluster's advisories, until the session ends."""
    row = {"cluster": cluster}
    connection.execute(named("lock_publishing"), row)
    try:
        yield
    finally:
        with suppress(psycopg.OperationalError):  # a lost connection holds no lock
            connection.execute(named("unlock_publishing"), row)


def _why_not_started(connection: Connection, run_id: str, snapshot_id: str, cluster: str) -> StoreError:
    row = connection.execute(named("find_run"), {"run_id": run_id}).fetchone()
    if row is not None and row[0] == "published":
        return RunPublishedError(f"run {run_id} is published and stays as it is; start a new run")
    if row is not None and row[1] != cluster:
        return StoreError(
            f"run {run_id} is one of cluster {row[1]}, not of {cluster}; give each cluster its own run_id"
        )
    return StoreError(f"snapshot {snapshot_id} of cluster {cluster} is not stored, was pruned, or the gate blocked it")
