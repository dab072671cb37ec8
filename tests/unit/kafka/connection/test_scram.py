from __future__ import annotations

import base64
import hashlib
import hmac

import pytest
from kafka.errors import KafkaError
from kafka.protocol.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)

from rebalance_advisor.kafka.connection import client as client_module
from rebalance_advisor.kafka.connection.client import ClusterClient
from rebalance_advisor.kafka.connection.probe import ConnectionFailedError, Stage, find_server
from rebalance_advisor.kafka.connection.properties import connection_settings
from rebalance_advisor.kafka.connection.scram import ServerNotTrustedError, _scram, login_messages
from rebalance_advisor.kafka.connection.settings import ConnectionSettings
from tests.unit.kafka.canned_broker import CannedBroker, listening, topic_row

NONCE = "rOprNGfwEbeRWgbNEkqO"
CHALLENGE = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"


def test_the_example_of_rfc_7677():
    messages = _scram("sha256", "user", "pencil", NONCE)
    assert next(messages) == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    assert messages.send(CHALLENGE) == (
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    with pytest.raises(StopIteration):
        messages.send(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


def test_a_server_that_does_not_know_the_password_is_not_trusted():
    messages = _scram("sha256", "user", "pencil", NONCE)
    next(messages)
    messages.send(CHALLENGE)
    with pytest.raises(ServerNotTrustedError, match="did not prove"):
        messages.send(b"v=" + base64.b64encode(b"x" * 32))


@pytest.mark.parametrize(
    "challenge",
    [b"", b"e=other-error", b"r=short,s=W22ZaA==,i=4096", b"r=" + NONCE.encode() + b"x,s=W22ZaA==,i=0",
     b"r=" + NONCE.encode() + b"x,s=W22ZaA==,i=1", b"r=" + NONCE.encode() + b"x,s=W22ZaA==,i=4095",
     b"r=" + NONCE.encode() + b"x,s=W22ZaA==,i=1000001", b"r=" + NONCE.encode() + b"x,s=W22ZaA==,i=99999999999",
     b"r=" + NONCE.encode() + b"x,s=W22ZaA==,i=4_096", b"r=" + NONCE.encode() + b"x,s=%,i=x",
     b"r=" + NONCE.encode() + b"x,s=%,i=4096", b"r=" + NONCE.encode() + b"x,s=,i=4096",
     b"r=" + NONCE.encode() + b",s=W22ZaA==,i=4096", b"m=x,r=" + NONCE.encode() + b"x,s=W22ZaA==,i=4096"],
)  # fmt: skip
def test_a_challenge_that_is_none_is_refused(challenge: bytes):
    messages = _scram("sha512", "user", "pencil", NONCE)
    next(messages)
    with pytest.raises(ServerNotTrustedError):
        messages.send(challenge)


@pytest.mark.parametrize("verdict", [b"", b"v=", b"v=%", "v=\u00e9".encode(), b"e=invalid-proof"])
def test_a_verdict_that_is_none_is_refused(verdict: bytes):
    messages = _scram("sha256", "user", "pencil", NONCE)
    next(messages)
    messages.send(CHALLENGE)
    with pytest.raises(ServerNotTrustedError, match="did not prove"):
        messages.send(verdict)


def test_comma_and_equals_sign_in_a_user_name_are_escaped():
    assert next(_scram("sha256", "a,b=c", "p", "n")) == b"n,,n=a=2Cb=3Dc,r=n"


def test_plain_is_one_message():
    messages = login_messages("PLAIN", "user", "pässword")
    assert next(messages) == b"\0user\0" + "pässword".encode()
    with pytest.raises(StopIteration):
        messages.send(b"")


def test_every_login_has_a_fresh_nonce():
    assert next(login_messages("SCRAM-SHA-256", "u", "p")) != next(login_messages("SCRAM-SHA-256", "u", "p"))


USER, PASSWORD, SALT = "a,b=c", "pencil", b"0123456789abcdef"


class ScramListener:
    """Broker with ``iterations``; ``knows``: the password that it proves."""

    def __init__(self, mechanism: str, iterations: int, knows: str = PASSWORD) -> None:
        self.mechanism, self.iterations, self.knows = mechanism, iterations, knows
        self.digest = mechanism.removeprefix("SCRAM-").replace("-", "").lower()
        self.seen: list[bytes] = []
        self.signed = b""
        answers = {
            SaslHandshakeRequest: (1, lambda _: SaslHandshakeResponse(error_code=0, mechanisms=[mechanism])),
            SaslAuthenticateRequest: (1, self._answer),
        }
        self.broker = CannedBroker(answers, [topic_row("t", (1, [1], [1]))])

    @property
    def proofs(self) -> list[bytes]:
        return [message for message in self.seen if b"p=" in message]

    def settings(self, where: str, mechanism: str | None = None) -> ConnectionSettings:
        return connection_settings({
            "bootstrap.servers": where, "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": mechanism or self.mechanism, "sasl.username": USER, "sasl.password": PASSWORD,
        })  # fmt: skip

    def _answer(self, request: SaslAuthenticateRequest) -> SaslAuthenticateResponse:
        message = bytes(request.auth_bytes)
        self.seen.append(message)
        reply = self._verdict(message) if message.startswith(b"c=") else self._challenge(message)
        return SaslAuthenticateResponse(error_code=0, error_message=None, auth_bytes=reply, session_lifetime_ms=0)

    def _challenge(self, first: bytes) -> bytes:
        nonce = first.rpartition(b"r=")[2] + b"server"
        challenge = b"r=%s,s=%s,i=%d" % (nonce, base64.b64encode(SALT), self.iterations)
        self.signed = first.removeprefix(b"n,,") + b"," + challenge + b",c=biws,r=" + nonce
        return challenge

    def _verdict(self, _proof: bytes) -> bytes:
        salted = hashlib.pbkdf2_hmac(self.digest, self.knows.encode(), SALT, self.iterations)
        signature = hmac.digest(hmac.digest(salted, b"Server Key", self.digest), self.signed, self.digest)
        return b"v=" + base64.b64encode(signature)


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("iterations", [1, 4_095, 20_000_000])
def test_a_listener_that_asks_for_too_few_or_too_many_iterations_gets_no_proof(
    mechanism: str, iterations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by the probe nor by kafka-python's connections, which go to every address that a broker advertises."""
    monkeypatch.setattr(client_module, "CONNECT_SECONDS", 0.3)
    listener = ScramListener(mechanism, iterations)
    with listening(listener.broker) as where:
        settings = listener.settings(where)
        with pytest.raises(
            ConnectionFailedError, match=rf"asks for {iterations:,} SCRAM iterations, and 4,096"
        ) as raised:
            find_server(settings)
        assert raised.value.stage is Stage.LOGIN
        asked = len(listener.seen)
        with pytest.raises(KafkaError):
            ClusterClient(settings, settings.servers[0])
        assert len(listener.seen) > asked
    assert listener.proofs == []


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_both_log_in_where_the_listener_knows_the_password_and_neither_where_it_does_not(
    mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = ScramListener(mechanism, 4_096)
    with listening(listener.broker) as where:
        settings = listener.settings(where)
        with ClusterClient(settings, find_server(settings)) as client:
            assert client.connect() == {1: None}
        assert listener.seen[0].startswith(b"n,,n=a=2Cb=3Dc,r=")
    monkeypatch.setattr(client_module, "CONNECT_SECONDS", 0.3)
    impostor = ScramListener(mechanism, 4_096, knows="another")
    with listening(impostor.broker) as where:
        settings = impostor.settings(where)
        with pytest.raises(ConnectionFailedError, match="did not prove that it knows the password"):
            find_server(settings)
        with pytest.raises(KafkaError):
            ClusterClient(settings, settings.servers[0])


def test_a_listener_that_offers_a_weaker_mechanism_is_sent_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "CONNECT_SECONDS", 0.3)
    for offered in ("SCRAM-SHA-256", "PLAIN"):
        listener = ScramListener("SCRAM-SHA-256", 4_096)
        listener.broker.answers[SaslHandshakeRequest] = (
            1, lambda _, offered=offered: SaslHandshakeResponse(error_code=33, mechanisms=[offered]),
        )  # fmt: skip
        with listening(listener.broker) as where:
            settings = listener.settings(where, "SCRAM-SHA-512")
            with pytest.raises(ConnectionFailedError, match=f"does not offer SCRAM-SHA-512; it offers: {offered}"):
                find_server(settings)
            with pytest.raises(KafkaError):
                ClusterClient(settings, settings.servers[0])
        assert listener.seen == []
