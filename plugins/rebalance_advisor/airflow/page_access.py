"""The only user of ``get_user`` and the auth manager, which are undocumented."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import DagDetails
from airflow.api_fastapi.core_api.security import get_user

from rebalance_advisor.page.access import Access

ANSWERING_TASK = "compare"  # of what_if_NAME


def airflow_access() -> Access:
    """By cookie or token; a cluster needs read permission on ``advise_NAME``."""
    return Access(user=get_user, readable=readable_clusters, what_if=what_if_answer)


def readable_clusters(user: Any, clusters: Iterable[str]) -> frozenset[str]:
    return frozenset(cluster for cluster in clusters if _may_read(user, f"advise_{cluster}"))


def _may_read(user: Any, dag_id: str) -> bool:
    from airflow.models.dag import DagModel

    details = DagDetails(id=dag_id, team_name=DagModel.get_team_name(dag_id))
    return get_auth_manager().is_authorized_dag(method="GET", details=details, user=user)


def what_if_answer(dag_id: str, run_id: str) -> dict[str, Any] | None:
    """None also where another XCom backend keeps the task's answer elsewhere."""
    from airflow.models.xcom import XCOM_RETURN_KEY, XComModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    held = (XComModel.dag_id, XComModel.run_id, XComModel.task_id, XComModel.key)
    conditions = zip(held, (dag_id, run_id, ANSWERING_TASK, XCOM_RETURN_KEY), strict=True)
    with create_session() as session:
        answer = session.scalar(select(XComModel.value).where(*(column == value for column, value in conditions)))
    return answer if isinstance(answer, dict) else None
