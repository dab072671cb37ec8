import json
import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from botocore.utils import ContainerMetadataFetcher

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.kafka.connection.logins import (
    LoginNotPossibleError,
    check_packages,
    client_options,
    messages_of,
)
from rebalance_advisor.kafka.connection.probe import Stage
from rebalance_advisor.kafka.connection.properties import connection_settings
from rebalance_advisor.kafka.connection.settings import ConnectionSettings
from rebalance_advisor.kafka.connection.tokens import unsecured_token
from tests.unit.kafka.connection.test_probe import apis, empty, failure, kafka, probe, server
from tests.unit.test_outgoing_http import SECRET, web_server

TOKENS = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
OAUTH = {
    "security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "OAUTHBEARER",
    "sasl_jaas_config": f"{TOKENS} unsecuredLoginStringClaim_sub='me' extension_logicalCluster='lkc-1';",
}  # fmt: skip


def settings(**properties: str) -> ConnectionSettings:
    named = {key.replace("_", "."): value for key, value in properties.items()}
    return connection_settings({"bootstrap.servers": "b:1", "security.protocol": "SASL_SSL", **named})


def handshake(_: bytes) -> bytes:
    return struct.pack(">hih", 0, 1, 11) + b"OAUTHBEARER"


def test_a_token_is_sent_with_its_extensions_and_the_broker_lets_us_in() -> None:
    seen: list[bytes] = []

    def accepts(body: bytes) -> bytes:
        seen.append(body[4:])
        return struct.pack(">hhi", 0, -1, 0)

    with server(kafka({18: apis, 17: handshake, 36: accepts, 3: empty})) as where:
        probe(where, **OAUTH)
    head, claims, _ = unsecured_token({"sub": "me"}, 0.0).split(".")
    assert seen[0].startswith(f"n,,\x01auth=Bearer {head}.{claims[:12]}".encode())
    assert seen[0].endswith(b".\x01logicalCluster=lkc-1\x01\x01")


def test_a_token_that_the_broker_refuses_is_ended_as_rfc_7628_wants_and_named() -> None:
    seen: list[bytes] = []

    def refuses(body: bytes) -> bytes:
        seen.append(body[4:])
        if len(seen) == 1:
            status = b'{"status":"invalid_token"}'
            return struct.pack(">hhi", 0, -1, len(status)) + status
        return struct.pack(">hh", 58, 13) + b"invalid_token" + struct.pack(">i", 0)

    with server(kafka({18: apis, 17: handshake, 36: refuses})) as where:
        error = failure(where, **OAUTH)
    assert seen[1] == b"\x01"
    assert error.stage is Stage.LOGIN
    assert "refused user 'me' (OAUTHBEARER): invalid_token" in str(error)


def test_aws_credentials_sign_the_name_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("ACCESS_KEY_ID", "AKID"),
        ("SECRET_ACCESS_KEY", "aws-secret"),
        ("DEFAULT_REGION", "eu-north-1"),
    ):
        monkeypatch.setenv(f"AWS_{name}", value)
    login = messages_of(settings(sasl_mechanism="AWS_MSK_IAM"), "b-1.example.org")
    message = json.loads(next(login))
    assert (message["host"], message["action"]) == ("b-1.example.org", "kafka-cluster:Connect")
    assert message["x-amz-credential"].startswith("AKID/")
    assert message["x-amz-credential"].endswith("/eu-north-1/kafka-cluster/aws4_request")
    assert len(message["x-amz-signature"]) == 64
    assert "aws-secret" not in json.dumps(message)
    with pytest.raises(StopIteration):
        login.send(b'{"version":"2020_10_22"}')


def test_without_aws_credentials_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "DEFAULT_REGION", "PROFILE"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/none")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/none")
    with pytest.raises(LoginNotPossibleError, match="AWS_MSK_IAM cannot go on"):
        next(messages_of(settings(sasl_mechanism="AWS_MSK_IAM"), "h"))


def container(url: str, folder: Path) -> dict[str, str]:
    (folder / "token").write_text(SECRET)
    return {
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{url}/role",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(folder / "token"),
    }


def web_identity(url: str, folder: Path) -> dict[str, str]:
    (folder / "token").write_text(SECRET)
    role = {"AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/advisor", "AWS_MAX_ATTEMPTS": "1"}
    return role | {"AWS_ENDPOINT_URL_STS": url, "AWS_WEB_IDENTITY_TOKEN_FILE": str(folder / "token")}


@pytest.mark.parametrize("source", [container, web_identity])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_what_credentials_are_asked_for_with_follows_no_redirect(
    source: Callable[[str, Path], dict[str, str]], status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By botocore, which makes these requests."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "/none")
    monkeypatch.setattr(ContainerMetadataFetcher, "SLEEP_TIME", 0)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    with web_server() as first, web_server() as other:
        first.status, first.headers, first.body = status, {"Location": f"{other.url}/role"}, b""
        for name, value in source(first.url, tmp_path).items():
            monkeypatch.setenv(name, value)
        with pytest.raises(LoginNotPossibleError, match="AWS_MSK_IAM cannot ") as failure:
            next(messages_of(settings(sasl_mechanism="AWS_MSK_IAM"), "h"))
    assert SECRET in first.seen[0]
    assert other.seen == []
    assert SECRET not in str(failure.value)


def test_the_profile_and_the_key_table_reach_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "KRB5_CLIENT_KTNAME"):
        monkeypatch.setenv(name, "before")
    iam = "software.amazon.msk.auth.iam.IAMLoginModule required awsProfileName='audit';"
    client_options(settings(sasl_mechanism="AWS_MSK_IAM", sasl_jaas_config=iam))
    krb5 = "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true keyTab='/k' principal='me@X';"
    login = settings(sasl_mechanism="GSSAPI", sasl_jaas_config=krb5, sasl_kerberos_service_name="kafka")
    assert client_options(login)["sasl_kerberos_service_name"] == "kafka"
    assert login.principal == "me@X"
    assert (os.environ["AWS_PROFILE"], os.environ["KRB5_CLIENT_KTNAME"]) == ("audit", "/k")


def test_a_package_that_is_missing_is_named_with_how_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    for mechanism, package in (("AWS_MSK_IAM", "botocore"), ("GSSAPI", "gssapi")):
        with pytest.raises(InvalidInputError, match=f"pip install {package}$"):
            check_packages(settings(sasl_mechanism=mechanism, sasl_kerberos_service_name="kafka"))
    check_packages(settings(sasl_mechanism="PLAIN", sasl_username="u", sasl_password="p"))
