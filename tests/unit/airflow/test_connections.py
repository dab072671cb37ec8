"""Airflow's connections as addresses and properties, read the way a task's process reads them: from the environment."""

import json

import pytest

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]


def test_client_properties_are_the_extra_of_a_kafka_connection(monkeypatch):
    from rebalance_advisor.airflow.connections import kafka_properties

    properties = {"bootstrap.servers": "h:1", "security.protocol": "PLAINTEXT"}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_ORDERS", json.dumps({"conn_type": "kafka", "extra": properties}))
    assert kafka_properties("kafka_orders") == properties
