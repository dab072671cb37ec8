"""Brokers that were not heard and log dirs that are offline are told by name."""

from dataclasses import replace

import pytest

from kafka_rebalance.findings.finding import Severity
from kafka_rebalance.findings.health_rules import broker_not_heard, log_dir_offline
from kafka_rebalance.snapshot.model import BrokerState, LogDir
from tests.unit.findings.sample_clusters import brokers, cluster, striped, told

EVEN = striped("t", 12)  # twelve partitions of three replicas over six brokers: six replicas and two leaders each


@pytest.mark.parametrize("state", ["refused", "silent", "disconnected"])
def test_a_broker_that_was_not_heard_is_told_with_what_hangs_on_it(state: str) -> None:
    (found,) = told(cluster(EVEN, of=brokers(state={2: BrokerState(state)})), broker_not_heard.__name__)
    assert (found.subject, found.severity) == ("2", Severity.HIGH)
    assert found.evidence == {"replicas": 6, "leaders": 2, "state": state}
    assert "--remove-broker 2" in found.recommendation


def test_a_dead_log_dir_is_told_by_its_path_with_its_replicas() -> None:
    """Two of broker 1's six replicas stand on the dead disk; its other dir works."""
    dirs = (LogDir("/good", 100, 50), LogDir("/bad", error="KafkaStorage (56)"))
    mine = [row for row in EVEN if 1 in row.replicas][:2]
    rows = [replace(row, offline=(1,)) if row in mine else row for row in EVEN]
    (found,) = told(cluster(rows, of=brokers(log_dirs={1: dirs})), log_dir_offline.__name__)
    assert found.subject == "1"
    assert found.evidence == {"log_dirs": 1, "paths": "/bad", "error": "KafkaStorage (56)", "replicas": 2}
    assert "Log dir /bad of broker 1 is offline: 2 replicas on it" in found.recommendation
    early = [replace(row, log_bytes=(None,) * 3) if row in mine else row for row in EVEN]  # the metadata lags behind
    (found,) = told(cluster(early, of=brokers(log_dirs={1: dirs})), log_dir_offline.__name__)
    assert found.evidence["replicas"] == 2


def test_offline_replicas_tell_of_a_disk_only_where_their_broker_serves() -> None:
    rows = [replace(row, offline=(1,)) if 1 in row.replicas else row for row in EVEN]
    (found,) = told(cluster(rows), log_dir_offline.__name__)
    assert found.recommendation.startswith("A disk of broker 1 is offline: 6 replicas")
    for state in (BrokerState.DEAD, BrokerState.FENCED, BrokerState.REFUSED):
        assert told(cluster(rows, of=brokers(state={1: state})), log_dir_offline.__name__) == []
