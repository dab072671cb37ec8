"""Who may see what. The page asks; whoever mounts it answers (in Airflow: its auth manager)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from fastapi import Depends, HTTPException, Request

Identify = Callable[[Request, Any], None]


@dataclass(frozen=True, slots=True)
class Access:
    """``user``: a FastAPI dependency: returns the caller or raises 401; ``readable``: (caller, clusters) → theirs."""

    user: Callable[..., Any]
    readable: Callable[[Any, Iterable[str]], frozenset[str]]


def identified_by(access: Access) -> Identify:
    """The dependency of the whole app: without a caller nothing is answered, not even that a page does not exist."""

    def identify(request: Request, user: Any = Depends(access.user)) -> None:  # noqa: B008 (FastAPI's way)
        request.state.advisor_user = user

    return identify


def readable_clusters(request: Request, clusters: Iterable[str]) -> frozenset[str]:
    """Those of ``clusters`` that the caller may see."""
    access: Access = request.app.state.access
    return access.readable(request.state.advisor_user, clusters)


def require_cluster(request: Request, cluster: str) -> None:
    """403 where the caller may not see ``cluster``, whether it exists or not."""
    if cluster not in readable_clusters(request, [cluster]):
        raise HTTPException(403, "You may not read this cluster's DAG, so you may not see the cluster.")
