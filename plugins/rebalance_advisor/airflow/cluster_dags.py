from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from airflow.sdk import Asset, Param, get_parsing_context

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.options.option import Option
from rebalance_advisor.airflow.clusters import ClusterEntry, clusters_file, known_brokers, read_clusters
from rebalance_advisor.airflow.policy import task_defaults
from rebalance_advisor.request.goals import FORM_OPTIONS, GOAL, GOALS, MORE, RECOMMENDED
from rebalance_advisor.request.run_request import OPTIONS
from rebalance_advisor.request.what_if import WHAT_IF_OPTIONS

PURPOSES = {
    "collect": "Read a snapshot of the cluster, hourly",
    "advise": "Find what is uneven, and the plan that mends it, daily or by its form",
    "apply": "Approve a plan, carry it out by hand, verify the outcome",
    "what_if": "Compare the cluster today and after a lost rack or broker, or after growth",
}
_RECORDED = ("collect", "advise", "apply")  # a refused what-if is no failure of the cluster's advice


def clusters_for(purpose: str) -> Iterator[ClusterEntry]:
    """Clusters of DAGs ``PURPOSE_NAME``; only one for a running task.

    Skips faulty tables. Raises InvalidInputError for an unreadable file: Airflow then keeps its DAGs and shows the
    error.
    """
    parsed_dag_id = get_parsing_context().dag_id
    for entry in read_clusters(clusters_file()).entries.values():
        if not parsed_dag_id or parsed_dag_id == dag_id(purpose, entry.name):
            yield entry


def require_every_table() -> None:
    refused = read_clusters(clusters_file()).refused.values()
    if refused:
        raise InvalidInputError("; ".join(str(error) for error in refused) + " (the other clusters have their DAGs)")


def dag_id(purpose: str, cluster: str) -> str:
    return f"{purpose}_{cluster}"


def recorded_cluster(dag_id: str) -> str | None:
    """Return the cluster whose failures are stored and reported."""
    purpose, _, cluster = dag_id.partition("_")
    if purpose not in _RECORDED:
        return None
    clusters = read_clusters(clusters_file())
    return cluster if cluster in clusters.entries or cluster in clusters.refused else None


def dag_arguments(purpose: str, entry: ClusterEntry, doc_md: str | None) -> dict[str, Any]:
    settings = entry.settings
    permissions = settings.permissions
    heading, _, text = (doc_md or "").partition("\n")
    return {
        "dag_id": dag_id(purpose, entry.name),
        "description": PURPOSES[purpose],
        "catchup": False,
        "max_active_runs": 1,  # two runs of one cluster never overlap
        "default_args": task_defaults(owner=settings.owner, retries=settings.retries),
        "tags": ["tier/2", "kafka", entry.name, *settings.tags],
        "doc_md": f"{heading}\n\n**Cluster.** `{entry.name}`, read from {entry.source}.\n{text}",
    } | ({} if permissions is None else {"access_control": {role: set(acts) for role, acts in permissions.items()}})


def cluster_snapshot(cluster: str) -> Asset:
    """Asset updated after the input gate."""
    return _asset("cluster_snapshot", cluster)


def advisory(cluster: str) -> Asset:
    """Asset updated after publishing."""
    return _asset("advisory", cluster)


def _asset(purpose: str, cluster: str) -> Asset:
    """Percent-encode the cluster: Airflow does not normalise such a URI."""
    name = f"{purpose}/{quote(cluster, safe='')}"
    return Asset(name=name, uri=f"advisor://store/{name}", group="advisor")


_MOST_DAYS = 36_500
Brokers = Sequence[tuple[int, str | None]]


def advise_form(entry: ClusterEntry) -> dict[str, Param]:
    """Fields of ``advise_NAME``; an empty one is an option not given."""
    brokers = known_brokers(entry.name)
    by_name, table = {option.name: option for option in OPTIONS}, entry.options
    goal = Param(
        RECOMMENDED, title="Goal", description="what the plan is for; a goal may need one of the fields below",
        enum=list(GOALS), values_display={name: goal.title for name, goal in GOALS.items()},
    )  # fmt: skip
    others = {name: option.schema for name, option in by_name.items() if name not in ("cluster", *FORM_OPTIONS)}
    more = Param(
        None, title="More options", type=["null", "object"], properties=others, additionalProperties=False,
        description='any other option by its name, as {"max_moves": 50}; docs/options.md lists them',
    )  # fmt: skip
    options = [by_name[name] for name in FORM_OPTIONS]
    fields = {option.name: _field(option, table.get(option.name, option.default), brokers) for option in options}
    return {GOAL: goal, **fields, MORE: more}


def what_if_form(entry: ClusterEntry) -> dict[str, Param]:
    """Fields of ``what_if_NAME``."""
    brokers = known_brokers(entry.name)
    return {option.name: _field(option, option.default, brokers) for option in WHAT_IF_OPTIONS}


def with_form(made: Any, fields: Mapping[str, Param]) -> Any:
    """``@dag`` would copy the form to each task, and Airflow 3.1 would show it again."""
    made.params = fields
    return made


def prune_form() -> dict[str, Param]:
    days: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": _MOST_DAYS}
    return {
        "keep_whole_days": Param(7, **days, title="Days to keep every snapshot; before, the last of each day"),
        "keep_snapshots_days": Param(90, **days, title="Days to keep snapshots"),
        "keep_runs_days": Param(400, **days, title="Days to keep advisories"),
    }


def _field(option: Option, default: Any, brokers: Brokers) -> Param:
    return Param(
        default, title=option.title, description=option.form_help, **_choices(option, brokers), **option.schema
    )


def _choices(option: Option, brokers: Brokers) -> dict[str, Any]:
    """Examples only: a REST call may name new brokers."""
    racks = {str(broker): rack for broker, rack in brokers if rack is not None}
    if option.name == "lose_rack":
        return {"examples": sorted(set(racks.values()))} if racks else {}
    if option.name not in ("remove_broker", "lose_broker") or not brokers:
        return {}
    labels = {broker: f"{broker} ({rack})" for broker, rack in racks.items()}
    return {"examples": [str(broker) for broker, _ in brokers]} | ({"values_display": labels} if labels else {})
