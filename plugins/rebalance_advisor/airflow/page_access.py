"""Airflow's login and permissions for the page.

``get_user`` and the auth manager are what Airflow's own routes use, yet no documented interface: all that the page
takes of them is in this file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import DagDetails
from airflow.api_fastapi.core_api.security import get_user

from rebalance_advisor.page.access import Access


def airflow_access() -> Access:
    """The caller is Airflow's user, by cookie or token; a cluster is seen by whoever may read ``advise_NAME``."""
    return Access(user=get_user, readable=readable_clusters)


def readable_clusters(user: Any, clusters: Iterable[str]) -> frozenset[str]:
    """Those whose DAG ``user`` may read; Airflow's auth manager decides."""
    return frozenset(cluster for cluster in clusters if _may_read(user, f"advise_{cluster}"))


def _may_read(user: Any, dag_id: str) -> bool:
    from airflow.models.dag import DagModel

    details = DagDetails(id=dag_id, team_name=DagModel.get_team_name(dag_id))
    return get_auth_manager().is_authorized_dag(method="GET", details=details, user=user)
