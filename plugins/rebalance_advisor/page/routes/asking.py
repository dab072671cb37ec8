"""The database access of the pages: the app's reader, one statement or several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import HTTPException, Request
from sqlalchemy import Select

from rebalance_advisor.page.queries.clusters import clusters
from rebalance_advisor.page.reader import Reader, Row


def rows(request: Request, statement: Select[Any]) -> list[Row]:
    """All rows of one statement."""
    reader: Reader = request.app.state.reader
    return reader.rows(statement)


def parts(request: Request, statements: Mapping[str, Select[Any]]) -> dict[str, list[Row]]:
    """All rows of each."""
    return {name: rows(request, statement) for name, statement in statements.items()}


def one(request: Request, statement: Select[Any], missing: str) -> Row:
    """Its first row, or 404 with ``missing`` as words."""
    reader: Reader = request.app.state.reader
    row = reader.first(statement)
    if row is None:
        raise HTTPException(404, missing)
    return row


def newest(request: Request, cluster: str) -> Row:
    """The newest published advisory of a cluster, or 404."""
    return one(request, clusters(cluster), f"Nothing is published yet for cluster {cluster}.")
