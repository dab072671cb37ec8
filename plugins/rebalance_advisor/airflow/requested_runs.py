from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC
from typing import Any

from kafka_assignors.errors import AdvisorError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.plan_options import OF_TOPICS
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor import store
from rebalance_advisor.airflow.clusters import ClusterEntry, age_limit_s, clusters_file, read_clusters
from rebalance_advisor.airflow.collecting import collect, read_entry
from rebalance_advisor.request.goals import options_of_form
from rebalance_advisor.request.names_in_cluster import patterns_of, require_names_known, require_quick_request
from rebalance_advisor.request.run_request import FRESH, RunRequest
from rebalance_advisor.request.what_if import WhatIfRequest
from rebalance_advisor.version import advisor_version


def requested_run(connection: store.Connection, cluster: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Raises UsageError or UnknownNameError."""
    entry = read_clusters(clusters_file()).entry(cluster)
    options = options_of_form(of_cluster(cluster, params), entry.options)
    request = RunRequest.from_mapping(options)
    if request.age_limit_s is None:
        request = replace(request, age_limit_s=age_limit_s(entry.settings))
    _require_configured(entry, request)
    _require_distinct(options)
    _require_fit(connection, entry, request)
    return request.document()


def _require_names_known(request: RunRequest, snapshot: ClusterSnapshot, entry: ClusterEntry) -> None:
    """The table's names may match nothing: a removed topic must not stop a schedule."""
    table = {option.name: entry.options[option.name] for option in OF_TOPICS if option.name in entry.options}
    require_names_known(request, snapshot, frozenset(RunRequest.from_mapping(table).options.topic_patterns()))


def _require_configured(entry: ClusterEntry, request: RunRequest) -> None:
    """Custom classes come only from the cluster's table: any user may start a run."""
    if request.own_scenarios:
        raise UsageError.at("scenario", "a run has no what-if", "ask plan or advise with --scenario in a shell")
    configured = entry.options.get("own_strategy", ())
    for target in request.own_strategies:
        if target not in configured:
            raise UsageError.at(
                "own_strategy", f"{excerpt(target)} is not in the table of {entry.name}",
                "let own_strategy in clusters.toml name it, or install it with an entry point",
            )  # fmt: skip


def _require_distinct(params: Mapping[str, Any]) -> None:
    for name, values in params.items():
        names: set[str] = set()
        for value in values if isinstance(values, list) else ():
            written = json.dumps(value, sort_keys=True)
            if written in names:
                raise UsageError.at(name, f"{excerpt(value)} is given twice", "give it once")
            names.add(written)


def of_cluster(cluster: str, params: Mapping[str, Any]) -> dict[str, Any]:
    named = params.get("cluster")
    if named not in (None, cluster):
        raise UsageError.at("cluster", f"{excerpt(named)} is not {cluster}, which this DAG is for", "start its own DAG")
    return {**params, "cluster": cluster}


def start_requested_run(connection: store.Connection, document: Mapping[str, Any], run_id: str) -> str:
    """Return the snapshot's id."""
    request = RunRequest.from_mapping(document)
    cluster = str(request.cluster)
    stored = None if request.snapshot == FRESH else store.latest_snapshot_id(connection, cluster)
    snapshot_id = stored or collect(connection, cluster)
    if stored is None and (any(patterns_of(request)) or request.options.depends_on_cluster):
        snapshot = store.load_snapshot(connection, snapshot_id)
        _require_fit_of(request, snapshot, read_clusters(clusters_file()).entry(cluster))
    if request.load is not None:  # fails here without snapshots in the window
        window = request.document()["window"]
        store.snapshot_over_window(connection, snapshot_id, request.load, window)
    store.start_run(
        connection, run_id=run_id, cluster=cluster, snapshot_id=snapshot_id, parameters=request.document(),
        seed=request.seed, advisor_version=advisor_version(),
    )  # fmt: skip
    return snapshot_id


def read_what_if(cluster: str, params: Mapping[str, Any]) -> WhatIfRequest:
    """Raises UsageError."""
    options = {name: value for name, value in of_cluster(cluster, params).items() if name != "cluster"}
    _require_distinct(options)
    request = WhatIfRequest.from_mapping(options)
    if request.scenario is None:
        raise UsageError("what-if: nothing happens; give lose_rack, lose_broker or growth")
    return request


def answer_what_if(request: WhatIfRequest, snapshot: ClusterSnapshot) -> tuple[dict[str, Any], list[str]]:
    """Return JSON of what the shell's ``what-if`` computes, and its lines. Raises UsageError."""
    from kafka_rebalance.advisory.what_if import outcomes
    from rebalance_advisor.publish.what_if_files import NOTHING_CHANGED, what_if_answer, what_if_lines, what_if_rows

    scenarios = () if request.scenario is None else (request.scenario,)
    require_quick_request(RunRequest(own_scenarios=scenarios), snapshot)
    request.require_fit(snapshot)
    compared = outcomes(snapshot, scenarios)
    captured_at = None if snapshot.captured_at is None else snapshot.captured_at.astimezone(UTC).isoformat()
    answer = {
        "note": NOTHING_CHANGED, "request": request.document(), "captured_at": captured_at,
        "table": what_if_rows(compared), "answer": what_if_answer(compared, seed=0),
    }  # fmt: skip
    # As plain JSON: Airflow stores NumPy's numbers as objects.
    return json.loads(json.dumps(answer)), [NOTHING_CHANGED, *what_if_lines(compared)]


def _require_fit(connection: store.Connection, entry: ClusterEntry, request: RunRequest) -> None:
    """A broker may have joined after the stored snapshot."""
    depends = request.options.depends_on_cluster
    if not depends and not any(patterns_of(request)):
        return
    stored = store.latest_snapshot_id(connection, entry.name)
    if stored is None and not depends:
        return
    if stored is not None:
        try:
            _require_fit_of(request, store.load_snapshot(connection, stored), entry)
        except AdvisorError:
            if request.snapshot != FRESH:
                raise
        else:
            return
    _require_fit_of(request, replace(read_entry(entry), cluster=entry.name), entry)


def _require_fit_of(request: RunRequest, snapshot: ClusterSnapshot, entry: ClusterEntry) -> None:
    require_quick_request(request, snapshot)
    _require_names_known(request, snapshot, entry)
    if request.options.depends_on_cluster:
        from kafka_rebalance.plans.pipeline import require_options_fit  # heavy, rarely needed

        require_options_fit(snapshot, request.options)
