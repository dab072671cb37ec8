import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rebalance_advisor.airflow.connections import SENSITIVE_NAMES
from stack.airflow.server import Airflow

ROOT = Path(__file__).parents[3]

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]


def test_client_properties_are_the_extra_of_a_kafka_connection(monkeypatch):
    from rebalance_advisor.airflow.connections import kafka_properties

    properties = {"bootstrap.servers": "h:1", "security.protocol": "PLAINTEXT"}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_ORDERS", json.dumps({"conn_type": "kafka", "extra": properties}))
    assert kafka_properties("kafka_orders") == properties


SECRETS = {
    "sasl.jaas.config": """org.example.PlainLoginModule required username="ann" password="SECRET-inner";""",
    "sasl.password": "SECRET-1", "ssl.key.pem": "-----BEGIN PRIVATE KEY-----\n" + "SECRETkey" * 8 + "\n-----END",
    "ssl.key.password": "SECRET-2", "ssl.keystore.key": "SECRET-3", "ssl.keystore.password": "SECRET-4",
    "ssl.truststore.password": "SECRET-5", "sasl.oauthbearer.client.secret": "SECRET-6",
    "sasl.oauthbearer.client.credentials.client.secret": "SECRET-7", "sasl.oauthbearer.config": "SECRET-8",
    "sasl.oauthbearer.assertion.private.key.pem": "SECRET-9", "schema.registry.basic.auth.user.info": "ann:SECRET-10",
    "bearer.auth.token": "SECRET-11", "sslpassword": "SECRET-12", "oauth_client_secret": "SECRET-13",
    "conf": {
        "spark.authenticate.secret": "SECRET-14", "spark.hadoop.fs.s3a.access.key": "SECRET-15",
        "spark.hadoop.fs.azure.account.key.x.example": "SECRET-16",
    },
}  # fmt: skip
OPEN = {
    "bootstrap.servers": "h:1", "sasl.username": "ann", "ssl.key.location": "/key.file", "ssl.ca.pem": "certificate",
    "ssl.keystore.location": "/store.jks", "sasl.mechanism": "PLAIN",
}  # fmt: skip
SHOW = """
import json, sys
import airflow.settings
airflow.settings.initialize()
from airflow.api_fastapi.core_api.datamodels.connections import ConnectionResponse
from airflow.models.connection import Connection
known = Connection(conn_id="c", conn_type="kafka", extra=sys.stdin.read())
print("ANSWER" + ConnectionResponse.model_validate(known, from_attributes=True).model_dump_json())
"""


def test_airflows_api_shows_no_secret_of_an_extra_with_the_settings_that_we_ship(airflow_home, tmp_path):
    """By the REST API's response class, in a process started with the settings."""
    shipped = Airflow(folder=tmp_path, database_url=os.environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"]).environment()
    setting = "AIRFLOW__CORE__SENSITIVE_VAR_CONN_NAMES"
    for file in ("docker-compose.yml", "docs/install.md"):
        match = re.search(rf"{setting}(?:: |=)(\S+)", (ROOT / file).read_text())
        assert match, file
        assert match[1] == shipped[setting] == SENSITIVE_NAMES, file
    environment, extra = shipped | {"AIRFLOW_HOME": str(airflow_home)}, json.dumps(SECRETS | OPEN)
    run = subprocess.run(
        [sys.executable, "-c", SHOW], input=extra, env=environment, capture_output=True, text=True, check=True
    )
    shown = json.loads(json.loads(run.stdout.rpartition("ANSWER")[2])["extra"])
    assert {name: shown[name] for name in OPEN} == OPEN
    assert shown.keys() == SECRETS.keys() | OPEN.keys()
    assert "SECRET" not in json.dumps(shown)


def test_a_task_masks_what_an_extra_holds_and_each_part_of_it(monkeypatch):
    from airflow.providers.common.compat.sdk import redact

    from rebalance_advisor.airflow.connections import kafka_properties

    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_ORDERS", json.dumps({"conn_type": "kafka", "extra": SECRETS | OPEN}))
    properties = kafka_properties("kafka_orders")
    for name, value in properties.items():
        for said in value.values() if isinstance(value, dict) else [value, *value.split("\n")]:
            hidden = redact(f"told: {said}.")
            assert hidden == f"told: {said}." if name in OPEN else "SECRET" not in hidden, (name, hidden)
    assert redact("refused SECRET-inner!") == "refused ***!"
