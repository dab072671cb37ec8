"""A broker with TLS and SCRAM is read from the base install; each wrong setting is named."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_rebalance.facts import FactCode
from kafka_rebalance.snapshot.coverage import Right, missing_rights
from rebalance_advisor.kafka.connection.java_properties import read_properties
from rebalance_advisor.kafka.connection.probe import ConnectionFailedError, Stage
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.security import ADVISOR, ADVISOR_PASSWORD, write_client_properties
from stack.kafka.tools import NEWEST, OLDER
from stack.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.live
OUT_OF_TIME = re.compile("time ran out|in time|answers nothing")
CHECKOUT = Path(__file__).resolve().parents[2]
READ_ONLY = (
    ("--operation", "Describe", "--operation", "DescribeConfigs", "--cluster"),
    ("--operation", "Describe", "--operation", "DescribeConfigs", "--topic", "*"),
    ("--operation", "Describe", "--operation", "DescribeConfigs", "--group", "*"),
)


@pytest.fixture(scope="module", params=[NEWEST, OLDER])
def secured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    """One broker with TLS, SCRAM, PLAIN and mutual TLS; user ``advisor`` may look at all but the topic ``secret``."""
    folder = tmp_path_factory.mktemp("secured") / "cluster"
    with start_cluster(ClusterSpec(version=request.param, racks={1: "a"}, is_secured=True), folder) as cluster:
        for topic in ("open", "secret"):
            cluster.tools.create_topic(topic, partitions=2)
        for rights in READ_ONLY:
            cluster.tools.acls("--add", "--allow-principal", f"User:{ADVISOR}", *rights)
        cluster.tools.acls(
            "--add", "--deny-principal", f"User:{ADVISOR}", "--operation", "Describe", "--topic", "secret"
        )
        yield cluster


def properties(cluster: KafkaCluster, **changes: str) -> dict[str, object]:
    """librdkafka's names, as Airflow's connection holds them."""
    keys = cluster.certificates
    assert keys is not None
    given = {
        "bootstrap.servers": cluster.bootstrap, "security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": ADVISOR, "sasl.password": ADVISOR_PASSWORD, "ssl.ca.location": str(keys.authority),
    }  # fmt: skip
    return {**given, **{key.replace("_", "."): value for key, value in changes.items()}}


def read(given: dict[str, object]):
    return read_cluster(given, cluster_name="secured", now=datetime.now(UTC))


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"])
def test_each_login_reads_the_cluster_and_tells_the_topic_that_it_may_not_see(secured: KafkaCluster, mechanism: str):
    snapshot = read(properties(secured, sasl_mechanism=mechanism))
    assert [topic.name for topic in snapshot.topics] == ["open"]
    assert [(gap.subject, gap.what.code) for gap in snapshot.coverage if gap.subject_type == "topic"] == [
        ("secret", FactCode.LACKS_ALL_BUT_SIZE)
    ]
    assert missing_rights(snapshot.coverage) == (Right.DESCRIBE_TOPICS,)


def test_a_client_certificate_reads_the_cluster(secured: KafkaCluster):
    """PEM key and certificate of user ``advisor``; KRaft's brokers take the name out of the certificate."""
    keys = secured.certificates
    given = {
        "bootstrap.servers": secured.mutual_tls_bootstrap, "security.protocol": "SSL",
        "ssl.ca.location": str(keys.authority), "ssl.certificate.location": str(keys.client),
        "ssl.key.location": str(keys.client),
    }  # fmt: skip
    # The metadata names the addresses of the listener that was asked.
    assert [topic.name for topic in read(given).topics] == ["open"]


def test_a_java_properties_file_reads_the_cluster(secured: KafkaCluster, tmp_path: Path):
    """The file that Kafka's own tools take, with a password that needs every kind of escape."""
    file = write_client_properties(
        tmp_path / "client.properties", secured.certificates, user=ADVISOR, password=ADVISOR_PASSWORD
    )
    given = read_properties(file)
    snapshot = read_cluster(
        given.values, cluster_name=None, now=datetime.now(UTC), bootstrap=secured.bootstrap, locations=given.locations
    )
    assert snapshot.cluster == snapshot.cluster_id
    assert [topic.name for topic in snapshot.topics] == ["open"]


def wrong_settings(cluster: KafkaCluster) -> dict[str, tuple[dict[str, object], Stage, str]]:
    keys = cluster.certificates
    return {
        "password": (properties(cluster, sasl_password="wrong"), Stage.LOGIN, "refused user 'advisor'"),
        "password, PLAIN": (
            properties(cluster, sasl_password="wrong", sasl_mechanism="PLAIN"), Stage.LOGIN, "refused user 'advisor'",
        ),
        "user": (properties(cluster, sasl_username="nobody"), Stage.LOGIN, "refused user 'nobody'"),
        "CA": (properties(cluster, ssl_ca_location=str(keys.other_authority)), Stage.TLS, "not signed by the given CA"),
        "host": (
            properties(cluster, bootstrap_servers=cluster.bootstrap.replace("127.0.0.1", "localhost")), Stage.TLS,
            "is for another host",
        ),
        "name": (properties(cluster, bootstrap_servers="no-such-host.invalid:9092"), Stage.NAME, "does not resolve"),
        "port": (properties(cluster, bootstrap_servers="127.0.0.1:1"), Stage.PORT, "the port is closed"),
        "protocol, no TLS": ({"bootstrap.servers": cluster.bootstrap}, Stage.KAFKA, "TLS"),
        "protocol, no login": (
            {"bootstrap.servers": cluster.bootstrap, "security.protocol": "SSL",
             "ssl.ca.location": str(keys.authority)},
            Stage.LOGIN, "try SASL_SSL",
        ),
        "certificate": (
            {"bootstrap.servers": cluster.mutual_tls_bootstrap, "security.protocol": "SSL",
             "ssl.ca.location": str(keys.authority)},
            Stage.TLS, "client certificate",
        ),
    }  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    ["password", "password, PLAIN", "user", "CA", "host", "name", "port", "protocol, no TLS", "protocol, no login",
     "certificate"],
)  # fmt: skip
def test_what_is_wrong_is_named(secured: KafkaCluster, wrong: str):
    given, stage, text = wrong_settings(secured)[wrong]

    def refusal() -> ConnectionFailedError:
        with pytest.raises(ConnectionFailedError) as failed:
            read(given)
        return failed.value

    # A probe of a busy machine may run out of its seconds, and says so: it is tried again.
    failed = wait_for("the cause", refusal, until=lambda error: not OUT_OF_TIME.search(str(error)), gist=str)
    assert failed.stage is stage
    assert re.search(text, str(failed))
    assert "wrong" not in str(failed).replace("wrong host", "")  # the password is never repeated


def snapshot_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """``rebalance-advisor snapshot`` in a process where whatever the base install lacks cannot be imported."""
    blocked = (
        "airflow",
        "pyspark",
        "psycopg",
        "great_expectations",
        "sqlalchemy",
        "pandas",
        "pyarrow",
        "confluent_kafka",
    )
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({blocked!r})); "
        "from rebalance_advisor.cli.main import main; sys.exit(main())"
    )
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / "plugins")}
    return subprocess.run(
        [sys.executable, "-c", program, "snapshot", *arguments], capture_output=True, text=True, check=False,
        env=environment, timeout=PATIENCE_S,
    )  # fmt: skip


def test_the_shell_command_of_the_base_install_reads_it(secured: KafkaCluster, tmp_path: Path):
    file = write_client_properties(
        tmp_path / "client.properties", secured.certificates, user=ADVISOR, password=ADVISOR_PASSWORD
    )
    out = tmp_path / "snapshot.json"
    done = snapshot_command("--bootstrap", secured.bootstrap, "--command-config", str(file), "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "coverage is partial, 2 things could not be read" in done.stderr
    assert json.loads(out.read_text())["cluster_id"]


def test_the_shell_command_names_a_wrong_password_in_one_line(secured: KafkaCluster, tmp_path: Path):
    file = write_client_properties(tmp_path / "client.properties", secured.certificates, user=ADVISOR, password="guess")
    done = wait_for(
        "the cause",
        lambda: snapshot_command(
            "--bootstrap", secured.bootstrap, "--command-config", str(file), "--out", str(tmp_path / "none.json")
        ),
        until=lambda done: not OUT_OF_TIME.search(done.stderr),
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {secured.bootstrap}: the broker refused user 'advisor' (SCRAM-SHA-512)")
    assert done.stderr.count("\n") == 1
    assert "guess" not in done.stderr
    assert not (tmp_path / "none.json").exists()
