"""Forms are the options of a run as Airflow's params: checked by Airflow before the run starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airflow.sdk import Param

from kafka_rebalance.options.option import Option
from rebalance_advisor.airflow.clusters.cluster_config import ClusterEntry
from rebalance_advisor.airflow.clusters.known_brokers import known_brokers
from rebalance_advisor.request.run_request import OPTIONS, RunRequest

_MOST_DAYS = 36_500
_OF_KNOWN_BROKERS = ("remove_broker", "demote_broker", "exclude_broker")
Brokers = Sequence[tuple[int, str | None]]


def advise_form(entry: ClusterEntry) -> dict[str, Param]:
    """The fields of ``advise_NAME``; an empty one is an option that is not given. Defaults are the cluster's own."""
    brokers = known_brokers(entry.name)
    return {
        option.name: _field(option, entry.options.get(option.name, option.default), brokers)
        for option in OPTIONS
        if option.name != "cluster"
    }


def with_form(made: Any, fields: Mapping[str, Param]) -> Any:
    """The DAG, which asks for these fields when it is started.

    Not an argument of ``@dag``: each task made within would keep a copy. The stored DAG would be five times as large,
    and Airflow 3.1 would ask for the whole form again with each question of a task.
    """
    made.params = fields
    return made


def prune_form() -> dict[str, Param]:
    """The fields of ``prune_history``."""
    days: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": _MOST_DAYS}
    return {
        "keep_whole_days": Param(7, **days, title="Days to keep every reading; before, the last of each day"),
        "keep_snapshots_days": Param(90, **days, title="Days to keep readings"),
        "keep_runs_days": Param(400, **days, title="Days to keep advisories"),
    }


def _field(option: Option, default: Any, brokers: Brokers) -> Param:
    section: dict[str, Any] = {}
    if option.section != RunRequest.section:
        section = {"section": option.section.capitalize()}
    choices = _choices(brokers) if option.name in _OF_KNOWN_BROKERS else {}
    return Param(default, title=option.title, description=option.form_words, **section, **choices, **option.schema)


def _choices(brokers: Brokers) -> dict[str, Any]:
    """A list to choose from, each broker with its rack; a REST call may name others (one that has joined since)."""
    if not brokers:
        return {}
    racks = {str(broker): f"{broker} ({rack})" for broker, rack in brokers if rack is not None}
    return {"examples": [str(broker) for broker, _ in brokers]} | ({"values_display": racks} if racks else {})
