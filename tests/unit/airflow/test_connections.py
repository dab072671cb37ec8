"""Airflow's connections as addresses and properties, read the way a task's process reads them: from the environment."""

import json

import pytest

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]

STORES = {
    "everything": (
        {"login": "a b", "password": "p@s/1", "host": "db", "port": 5433, "schema": "adv",
         "extra": {"sslmode": "require"}},
        "postgresql://a%20b:p%40s%2F1@db:5433/adv?sslmode=require",
    ),
    "defaults": ({"host": "db"}, "postgresql://db:5432/advisor"),
    "no password": ({"login": "etl", "host": "db"}, "postgresql://etl@db:5432/advisor"),
    "what libpq does not know is left out": (
        {"host": "db", "extra": {"iam": True, "connect_timeout": 5}}, "postgresql://db:5432/advisor?connect_timeout=5",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STORES)
def test_the_stores_address(name, monkeypatch):
    from rebalance_advisor.airflow.connections import store_dsn

    fields, address = STORES[name]
    monkeypatch.setenv("AIRFLOW_CONN_ADVISOR_POSTGRES", json.dumps({"conn_type": "postgres"} | fields))
    assert store_dsn() == address


def test_client_properties_are_the_extra_of_a_kafka_connection(monkeypatch):
    from rebalance_advisor.airflow.connections import kafka_properties

    properties = {"bootstrap.servers": "h:1", "security.protocol": "PLAINTEXT"}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_ORDERS", json.dumps({"conn_type": "kafka", "extra": properties}))
    assert kafka_properties("kafka_orders") == properties
