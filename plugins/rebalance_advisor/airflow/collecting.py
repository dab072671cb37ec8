from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.snapshot.history import LONGEST_WINDOW_S, SHORTEST_WINDOW_S, has_rates
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.rates import measure_rates, window_between
from rebalance_advisor.airflow.clusters import ClusterEntry, clusters_file, read_clusters, remember_brokers
from rebalance_advisor.airflow.running import still_working
from rebalance_advisor.airflow.task_log import task_log

_log = task_log(__name__)


def collect(connection: Any, cluster: str) -> str:
    from kafka_rebalance.render.uncovered import describe_gap
    from rebalance_advisor import store

    entry = read_clusters(clusters_file()).entry(cluster)
    with still_working(_log, f"{cluster}: reading {entry.path or 'the live cluster'}"):
        newest = replace(read_entry(entry), cluster=cluster)
    before = store.latest_snapshot_id(connection, cluster, newest.captured_at)
    if before is not None and not has_rates(newest):
        newest = with_rates_since(store.load_snapshot(connection, before), newest)
    newest = with_measured_loads(newest, entry)
    for gap in newest.coverage:
        _log.warning("%s: could not read %s", cluster, describe_gap(gap))
    with still_working(_log, f"{cluster}: saving the snapshot"):
        snapshot_id = store.save_snapshot(connection, newest)
    _remember(newest)
    _log.info("%s: %d partitions, %d groups: %s", cluster, len(newest.partitions), len(newest.groups), snapshot_id)
    return str(snapshot_id)


def _remember(snapshot: ClusterSnapshot) -> None:
    """Brokers for the form; a write error is not fatal."""
    try:
        remember_brokers(snapshot.cluster, ((broker.id, broker.rack) for broker in snapshot.brokers))
    except OSError as error:
        _log.warning("%s: the form will not know its brokers: %s", snapshot.cluster, error)


def read_entry(entry: ClusterEntry) -> ClusterSnapshot:
    snapshot = _read_live(entry) if entry.path is None else _read_path(entry)
    if entry.capacity is None:
        return snapshot
    from rebalance_advisor.dumps.capacity_file import read_capacity, with_capacity

    return with_capacity(snapshot, read_capacity(entry.capacity))


def with_rates_since(before: ClusterSnapshot, newest: ClusterSnapshot) -> ClusterSnapshot:
    try:
        window_s = window_between(before, newest)
    except InvalidInputError as error:
        _log.info("%s: no rates: %s", newest.cluster, error)
        return newest
    if not SHORTEST_WINDOW_S <= window_s <= LONGEST_WINDOW_S:
        _log.info("%s: no rates: the snapshot before is %.0f s older", newest.cluster, window_s)
        return newest
    return measure_rates(before, newest)


def with_measured_loads(newest: ClusterSnapshot, entry: ClusterEntry) -> ClusterSnapshot:
    """An unreachable server is a gap. Raises InvalidInputError."""
    if entry.prometheus is None:
        return newest
    from rebalance_advisor.prometheus import MetricNames, loads_from_prometheus, read_metric_names

    names = MetricNames() if entry.metric_names is None else read_metric_names(entry.metric_names)
    return loads_from_prometheus(newest, entry.prometheus, names, say=_log.info)


def _read_live(entry: ClusterEntry) -> ClusterSnapshot:
    from rebalance_advisor.airflow.connections import kafka_properties
    from rebalance_advisor.kafka.connection.client_log import silence_client
    from rebalance_advisor.kafka.read_cluster import read_cluster

    silence_client()
    properties = kafka_properties(str(entry.connection))
    return read_cluster(properties, cluster_name=entry.name, now=datetime.now(UTC), say=_log.info)


def _read_path(entry: ClusterEntry) -> ClusterSnapshot:
    from rebalance_advisor.dumps import read_input

    return read_input(str(entry.path), entry.name)
