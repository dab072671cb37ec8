from __future__ import annotations

import logging
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from rebalance_advisor.kafka.connection.client_log import silence_client


@pytest.fixture(autouse=True)
def client_logger():
    """kafka-python's logger as it comes."""
    log = logging.getLogger("kafka")
    before = log.level
    log.setLevel(logging.NOTSET)
    yield log
    log.setLevel(before)


def test_its_warnings_are_not_told(client_logger: logging.Logger, caplog: pytest.LogCaptureFixture) -> None:
    silence_client()
    logging.getLogger("kafka.net.selector").warning("Task ran for 0.124s, blocking the event loop")
    assert caplog.records == []


def test_a_task_that_reads_a_live_cluster_silences_it(
    client_logger: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rebalance_advisor.airflow import collecting, connections
    from rebalance_advisor.airflow.clusters import ClusterEntry
    from rebalance_advisor.kafka import read_cluster

    read = SimpleNamespace(captured_at=datetime(2026, 11, 20, tzinfo=UTC))
    monkeypatch.setattr(connections, "kafka_properties", lambda _: {})
    monkeypatch.setattr(read_cluster, "read_cluster", lambda *_, **__: read)
    assert collecting.read_entry(ClusterEntry("prod", connection="kafka_prod")) is read
    assert client_logger.level == logging.CRITICAL
