"""A client properties file that Kafka's own tools accept works; a wrong one is named in seconds; no secret is told."""

import json
import logging
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.snapshot.codec import snapshot_to_document
from rebalance_advisor.kafka.connection.java_properties import read_properties
from rebalance_advisor.kafka.connection.properties import connection_settings
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.security import ADVISOR, client_listener_properties
from stack.kafka.tools import NEWEST
from tests.live.client_files import SECRETS, SECURITY, bad_files, good_files, make_key_files
from tests.live.identity_provider import AUDIENCE, ISSUER, identity_provider
from tests.live.kafka_classes import Oracle, classpath, compile_java
from tests.live.test_live_connections import OUT_OF_TIME

pytestmark = pytest.mark.live
LISTENER = "listener.name.client."


@dataclass(frozen=True)
class Listening:
    """A secured broker, and the files by name."""

    cluster: KafkaCluster
    good: dict[str, Path]
    bad: dict[str, tuple[Path, str]]

    def bootstrap(self, name: str) -> str:
        return self.cluster.mutual_tls_bootstrap if "certificate" in name else self.cluster.bootstrap


@pytest.fixture(scope="module")
def listening(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    folder = tmp_path_factory.mktemp("files")
    mechanisms = client_listener_properties()[f"{LISTENER}sasl.enabled.mechanisms"]
    with identity_provider(folder, ADVISOR) as provider, pytest.MonkeyPatch.context() as patch:
        urls = ",".join([provider.keys.as_uri(), provider.url, *(
            (folder / name).as_uri() for name in ("token.jwt", "stale.jwt"))])  # fmt: skip
        patch.setenv("JAVA_TOOL_OPTIONS", f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={urls}")
        tokens = {
            f"{LISTENER}sasl.enabled.mechanisms": f"{mechanisms},OAUTHBEARER",
            f"{LISTENER}oauthbearer.sasl.jaas.config": f"{SECURITY}.oauthbearer.OAuthBearerLoginModule required;",
            f"{LISTENER}oauthbearer.sasl.server.callback.handler.class":
                f"{SECURITY}.oauthbearer.OAuthBearerValidatorCallbackHandler",
            f"{LISTENER}oauthbearer.sasl.oauthbearer.jwks.endpoint.url": provider.keys.as_uri(),
            f"{LISTENER}oauthbearer.sasl.oauthbearer.expected.audience": AUDIENCE,
            f"{LISTENER}oauthbearer.sasl.oauthbearer.expected.issuer": ISSUER,
        }  # fmt: skip
        spec = ClusterSpec(racks={1: "a"}, is_secured=True, broker_properties=tokens)
        with start_cluster(spec, folder / "cluster") as cluster:
            cluster.tools.create_topic("open")
            for where in (("--cluster",), ("--topic", "*"), ("--group", "*")):
                rights = ("--operation", "Describe", "--operation", "DescribeConfigs")
                cluster.tools.acls("--add", "--allow-principal", f"User:{ADVISOR}", *rights, *where)
            keys = make_key_files(cluster, folder)
            yield Listening(
                cluster,
                {name: written(folder, name, text) for name, text in good_files(keys, provider, folder).items()},
                {
                    name: (written(folder, f"wrong {name}", text), message)
                    for name, (text, message) in bad_files(keys, provider, folder).items()
                },
            )


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / (re.sub(r"\W+", "-", name) + ".properties")
    path.write_text(text + "\n")
    return path


def topics_read(file: Path, bootstrap: str) -> list[str]:
    given = read_properties(file)
    snapshot = read_cluster(
        given.values, cluster_name="files", now=datetime.now(UTC), bootstrap=bootstrap, locations=given.locations
    )
    assert not told_secrets(json.dumps(snapshot_to_document(snapshot)))
    return [topic.name for topic in snapshot.topics]


def answer(file: Path, bootstrap: str) -> str:
    try:
        return f"read {topics_read(file, bootstrap)}"
    except AdvisorError as refused:
        return str(refused)


def told_secrets(text: str) -> list[str]:
    return [secret for secret in SECRETS if secret in text or secret.replace("\\", "\\\\") in text]


def test_what_kafkas_own_client_connects_with_connects_here(
    listening: Listening, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    names = list(listening.good)
    assert len(names) >= 30
    path = compile_java(["Connects.java"], classpath(NEWEST, ("kafka-clients",)) + os.pathsep + broker_jars(listening))
    cases = [{"file": str(listening.good[name]), "bootstrap": listening.bootstrap(name)} for name in names]
    java = [answer["failure"] for answer in Oracle("Connects", path).answers(cases)]
    assert dict(zip(names, java, strict=True)) == dict.fromkeys(names, "")
    with caplog.at_level(logging.INFO):
        ours = {name: topics_read(listening.good[name], listening.bootstrap(name)) for name in names}
    assert [name for name in names if ours[name] != ["open"]] == []
    for name in names:
        given = read_properties(listening.good[name])
        assert not told_secrets(repr(connection_settings(given.values, bootstrap="b:1")))
    captured = capsys.readouterr()
    assert not told_secrets(caplog.text + captured.out + captured.err)


def broker_jars(listening: Listening) -> str:
    """Tokens need jose4j, which the clients' own coordinates do not bring."""
    from stack.jvm.maven import class_path
    from stack.kafka.tools import kafka_jars

    return class_path(kafka_jars(listening.cluster.spec.version))


def test_what_cannot_work_is_named_and_tells_no_secret(listening: Listening, caplog: pytest.LogCaptureFixture) -> None:
    assert len(listening.bad) >= 20
    wrong = {}
    with caplog.at_level(logging.INFO):
        for name, (file, text) in listening.bad.items():
            said = answer(file, listening.bootstrap(name))
            if OUT_OF_TIME.search(said) and not re.search(text, said):  # a busy machine
                said = answer(file, listening.bootstrap(name))
            if not re.search(text, said) or told_secrets(said) or "\n" in said:
                wrong[name] = said
    assert wrong == {}
    assert not told_secrets(caplog.text)
