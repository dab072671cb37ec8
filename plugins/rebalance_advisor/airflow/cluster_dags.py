"""One DAG a cluster and purpose: the loop over ``clusters.toml`` that each file of ``dags/`` runs, what they share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from airflow.sdk import get_parsing_context

from kafka_rebalance.errors import InvalidInputError
from rebalance_advisor.airflow.clusters.cluster_config import ClusterEntry, clusters_file, read_clusters
from rebalance_advisor.airflow.policy import task_defaults

PURPOSES = ("collect", "advise", "apply")


def clusters_for(purpose: str) -> Iterator[ClusterEntry]:
    """The clusters of which a DAG ``PURPOSE_NAME`` is to be made; one alone where a task of it is about to run.

    A table that is wrong is left out here and told by ``require_every_table``. Raises InvalidInputError where the whole
    list cannot be read: Airflow keeps the DAGs that it knows, and shows why.
    """
    wanted = get_parsing_context().dag_id
    for entry in read_clusters(clusters_file()).entries.values():
        if not wanted or wanted == dag_id(purpose, entry.name):
            yield entry


def require_every_table() -> None:
    """Raises InvalidInputError with all that is wrong in ``clusters.toml``: an import error of the file that asks."""
    refused = read_clusters(clusters_file()).refused.values()
    if refused:
        raise InvalidInputError("; ".join(str(error) for error in refused) + " (the other clusters have their DAGs)")


def dag_id(purpose: str, cluster: str) -> str:
    """``advise_orders``."""
    return f"{purpose}_{cluster}"


def cluster_of(dag_id: str) -> str | None:
    """Return the cluster that a DAG belongs to; None for any other DAG.

    Raises InvalidInputError where the list of clusters cannot be read.
    """
    purpose, _, cluster = dag_id.partition("_")
    if purpose not in PURPOSES:
        return None
    known = read_clusters(clusters_file())
    return cluster if cluster in known.entries or cluster in known.refused else None


def dag_arguments(purpose: str, entry: ClusterEntry, doc_md: str | None) -> dict[str, Any]:
    """What the DAGs of all clusters and purposes have in common, with this cluster's settings in it."""
    settings = entry.settings
    permissions = settings.permissions
    heading, _, text = (doc_md or "").partition("\n")
    return {
        "dag_id": dag_id(purpose, entry.name),
        "catchup": False,
        "max_active_runs": 1,  # two runs of one cluster are never under way at once
        "default_args": task_defaults(owner=settings.owner, retries=settings.retries),
        "tags": ["tier/2", "kafka", entry.name, *settings.tags],
        "doc_md": f"{heading}\n\n**Cluster.** `{entry.name}`, read from {entry.source}.\n{text}",
    } | ({} if permissions is None else {"access_control": {role: set(acts) for role, acts in permissions.items()}})
