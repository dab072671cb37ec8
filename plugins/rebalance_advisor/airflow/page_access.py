"""The only user of ``get_user`` and the auth manager, which are undocumented."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import DagDetails
from airflow.api_fastapi.core_api.security import get_user

from rebalance_advisor.page.access import Access


def airflow_access() -> Access:
    """By cookie or token; a cluster needs read permission on ``advise_NAME``."""
    return Access(user=get_user, readable=readable_clusters)


def readable_clusters(user: Any, clusters: Iterable[str]) -> frozenset[str]:
    return frozenset(cluster for cluster in clusters if _may_read(user, f"advise_{cluster}"))


def _may_read(user: Any, dag_id: str) -> bool:
    from airflow.models.dag import DagModel

    details = DagDetails(id=dag_id, team_name=DagModel.get_team_name(dag_id))
    return get_auth_manager().is_authorized_dag(method="GET", details=details, user=user)
