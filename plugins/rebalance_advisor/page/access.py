from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Depends, HTTPException, Request

from rebalance_advisor.page.threads import in_page_thread

Identify = Callable[[Request, Any], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class Access:
    """``user``: FastAPI dependency (a coroutine) that returns the caller or raises 401.

    ``readable``: (caller, clusters) → visible clusters; it may block.
    ``what_if``: (DAG id, run id) → what the run's task returned, None without an answer; it may block.
    """

    user: Callable[..., Any]
    readable: Callable[[Any, Iterable[str]], frozenset[str]]
    what_if: Callable[[str, str], Mapping[str, Any] | None] = lambda dag_id, run_id: None  # noqa: ARG005


def identified_by(access: Access) -> Identify:
    """Dependency of the whole app: without a caller even a missing page answers 401."""

    async def identify(request: Request, user: Any = Depends(access.user)) -> None:  # noqa: B008 (FastAPI's way)
        request.state.advisor_user = user
        parameters = request.query_params.multi_items()
        if "\0" in request.scope["path"] or any("\0" in name + value for name, value in parameters):
            # Databases refuse such a text, Airflow's too.
            raise HTTPException(400, "The address holds a NUL character (%00), which is in no name. Remove it.")

    return identify


def readable_clusters(request: Request, clusters: Iterable[str]) -> frozenset[str]:
    access: Access = request.app.state.access
    return access.readable(request.state.advisor_user, clusters)


def check_cluster(request: Request, cluster: str) -> None:
    """Raise 403 for a hidden cluster, also if it does not exist."""
    if cluster not in readable_clusters(request, [cluster]):
        raise HTTPException(403, "You may not read this cluster's DAG, so you may not see the cluster.")


require_cluster = in_page_thread(check_cluster)
"""The same as a FastAPI dependency."""
