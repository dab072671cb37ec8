import re
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.kafka.connection import probe as probe_module
from rebalance_advisor.kafka.connection.probe import ConnectionFailedError, Stage, find_server
from rebalance_advisor.kafka.connection.properties import connection_settings
from stack.kafka.security import Certificates, make_certificates
from tests.unit.kafka.canned_broker import closed_port

BROKER_APIS = struct.pack(">hi", 0, 3) + b"".join(struct.pack(">hhh", key, 0, 9) for key in (3, 17, 36))
CONTROLLER_APIS = struct.pack(">hi", 0, 1) + struct.pack(">hhh", 55, 0, 2)
Behaviour = Callable[[socket.socket], None]


@contextmanager
def server(behave: Behaviour) -> Iterator[str]:
    """``host:port`` of a server that treats each connection with ``behave``."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        stop = threading.Event()

        def accept() -> None:
            while not stop.is_set():
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection, suppress(OSError, struct.error, EOFError):
                    connection.settimeout(120)
                    behave(connection)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{listening.getsockname()[1]}"
        finally:
            stop.set()
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            thread.join(120)


def request_frame(connection: socket.socket) -> tuple[int, bytes]:
    """API key and body of the next request."""
    head = connection.recv(4, socket.MSG_WAITALL) if not isinstance(connection, ssl.SSLSocket) else read(connection, 4)
    if len(head) < 4:
        raise EOFError
    body = read(connection, struct.unpack(">i", head)[0])
    key, _, _, client = struct.unpack_from(">hhih", body)
    return key, body[10 + client :]


def read(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def answer(connection: socket.socket, key: int, body: bytes) -> None:
    connection.sendall(struct.pack(">ii", len(body) + 4, key) + body)


def kafka(answers: dict[int, Callable[[bytes], bytes | None]]) -> Behaviour:
    """A broker that answers the given API keys, and closes the connection where the answer is None."""

    def behave(connection: socket.socket) -> None:
        while True:
            key, body = request_frame(connection)
            reply = answers.get(key, lambda _: None)(body)
            if reply is None:
                return
            answer(connection, key, reply)

    return behave


def apis(_: bytes) -> bytes:
    return BROKER_APIS


def empty(_: bytes) -> bytes:
    return b"\0" * 20


def handshake(code: int) -> Callable[[bytes], bytes]:
    return lambda _: struct.pack(">hi", code, 1) + struct.pack(">h", 5) + b"PLAIN"


def authenticate(code: int, text: bytes) -> Callable[[bytes], bytes]:
    return lambda _: struct.pack(">hh", code, len(text)) + text + struct.pack(">i", 0)


def probe(where: str, seconds: float = 60.0, **properties: str) -> tuple[str, int]:
    named = {key.replace("_", "."): value for key, value in properties.items()}
    return find_server(connection_settings({"bootstrap.servers": where, **named}), seconds=seconds)


def failure(where: str, seconds: float = 60.0, **properties: str) -> ConnectionFailedError:
    with pytest.raises(ConnectionFailedError) as raised:
        probe(where, seconds, **properties)
    return raised.value


LOGIN = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN", "sasl_username": "u", "sasl_password": "p"}


def test_a_broker_that_lets_us_in_is_found():
    with server(kafka({18: apis, 3: empty})) as where:
        assert probe(where) == ("127.0.0.1", int(where.split(":")[1]))


def test_a_name_that_does_not_resolve():
    error = failure("no-such-host.invalid:9092")
    assert error.stage is Stage.NAME
    assert "'no-such-host.invalid' does not resolve" in str(error)


def test_a_closed_port():
    error = failure(f"127.0.0.1:{closed_port()}")
    assert error.stage is Stage.PORT
    assert "the port is closed" in str(error)


def test_a_broker_that_hangs():
    """It accepts all bytes and never answers: only our own limit ends that."""

    def hang(connection: socket.socket) -> None:
        while connection.recv(1000):
            pass

    with server(hang) as where:
        error = failure(where, seconds=1.0)
    assert error.stage is Stage.KAFKA
    assert "answers nothing" in str(error)


def dripping(key: int, before: dict[int, Callable[[bytes], bytes | None]]) -> Behaviour:
    """A broker that answers the keys of ``before``; its answer to ``key`` comes byte by byte and never ends."""

    def behave(connection: socket.socket) -> None:
        while (asked := request_frame(connection))[0] != key:
            answer(connection, asked[0], before[asked[0]](asked[1]) or b"")
        connection.sendall(struct.pack(">ii", 1_004, key))
        while True:  # until the client hangs up
            time.sleep(0.05)
            connection.sendall(b"\0")

    return behave


def test_a_broker_that_drips_is_called_slow_with_what_it_sent() -> None:
    """Each byte used to begin the time-out anew: the attempt never ended, and the name server was blamed."""
    before = {18: apis, 17: handshake(0), 36: authenticate(0, b"")}
    for key, stage in ((18, Stage.KAFKA), (17, Stage.LOGIN), (36, Stage.LOGIN), (3, Stage.LOGIN)):
        with server(dripping(key, before)) as where:
            error = failure(where, seconds=0.6, **LOGIN)
        assert (error.stage, error.server) == (stage, where)
        assert re.search(r": it sent \d+ of 1,004 bytes of its answer before time ran out; ", str(error)), error


def test_a_login_without_an_end_ends() -> None:
    """OAUTHBEARER answers each refusal; a listener that refuses without an error code would be answered for ever."""
    refusal = struct.pack(">hhi", 0, -1, 2) + b"{}"
    accepts_any = lambda _: struct.pack(">hih", 0, 1, 11) + b"OAUTHBEARER"  # noqa: E731
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
    with server(kafka({18: apis, 17: accepts_any, 36: lambda _: refusal})) as where:
        error = failure(
            where, seconds=0.6, security_protocol="SASL_PLAINTEXT", sasl_mechanism="OAUTHBEARER",
            sasl_jaas_config=f"{module} required unsecuredLoginStringClaim_sub='me';",
        )  # fmt: skip
    assert error.stage is Stage.LOGIN
    assert "was not answered in time" in str(error)


def test_a_name_server_is_blamed_for_names_alone() -> None:
    for stage in Stage:
        attempt = probe_module._Attempt(connection_settings({"bootstrap.servers": "b:1"}), "b", 1, 0.0, stage)
        assert ("name server" in str(probe_module._timed_out(attempt))) is (stage is Stage.NAME)
        assert probe_module._timed_out(attempt).stage is stage


def test_a_name_that_is_none() -> None:
    error = failure("a..b:9092")
    assert error.stage is Stage.NAME
    assert "'a..b' does not resolve" in str(error)


@pytest.mark.parametrize("banner", [b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_something_else_than_kafka(banner: bytes):
    with server(lambda connection: connection.sendall(banner)) as where:
        error = failure(where)
    assert error.stage is Stage.KAFKA
    assert "this is no Kafka broker" in str(error)


def test_an_answer_that_is_nonsense():
    with server(kafka({18: lambda _: b"\1"})) as where:
        assert "cannot be read" in str(failure(where))


def test_a_controller():
    with server(kafka({18: lambda _: CONTROLLER_APIS})) as where:
        assert "this is a KRaft controller" in str(failure(where))


def test_a_listener_that_wants_a_login():
    with server(kafka({18: apis})) as where:
        error = failure(where)
    assert error.stage is Stage.LOGIN
    assert "try SASL_PLAINTEXT" in str(error)


def test_a_listener_without_login():
    with server(kafka({18: apis, 17: handshake(34)})) as where:
        assert "does it ask for a login at all?" in str(failure(where, **LOGIN))


def test_a_mechanism_that_is_not_offered():
    with server(kafka({18: apis, 17: handshake(33)})) as where:
        error = failure(where, **{**LOGIN, "sasl_mechanism": "SCRAM-SHA-512"})
    assert "does not offer SCRAM-SHA-512; it offers: PLAIN" in str(error)


def test_a_wrong_password():
    behave = kafka({18: apis, 17: handshake(0), 36: authenticate(58, b"Invalid username or password")})
    with server(behave) as where:
        error = failure(where, **LOGIN)
    assert error.stage is Stage.LOGIN
    assert "refused user 'u' (PLAIN): Invalid username or password" in str(error)


def test_a_right_password():
    behave = kafka({18: apis, 17: handshake(0), 36: authenticate(0, b""), 3: empty})
    with server(behave) as where:
        assert probe(where, **LOGIN)[0] == "127.0.0.1"


def test_a_broker_that_cannot_prove_itself():
    behave = kafka({18: apis, 17: handshake(0), 36: authenticate(0, b"")})
    with server(behave) as where:
        error = failure(where, **{**LOGIN, "sasl_mechanism": "SCRAM-SHA-256"})
    assert "is no SCRAM challenge" in str(error)


def test_one_good_server_among_bad_ones_is_enough():
    with server(kafka({18: apis, 3: empty})) as where:
        assert probe(f"no-such-host.invalid:1,127.0.0.1:1,{where}") == ("127.0.0.1", int(where.split(":")[1]))


def test_the_failure_that_came_furthest_is_told():
    behave = kafka({18: apis, 17: handshake(0), 36: authenticate(58, b"no")})
    with server(behave) as where:
        assert failure(f"127.0.0.1:1,{where},no-such-host.invalid:1", **LOGIN).server == where


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("keys"))


def tls(certificates: Certificates, inner: Behaviour, *, wants_client: bool = False) -> Behaviour:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.broker)
    if wants_client:
        context.load_verify_locations(certificates.authority)
        context.verify_mode = ssl.CERT_REQUIRED

    def behave(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secured:
            inner(secured)

    return behave


def over_tls(certificates: Certificates, **properties: object) -> dict[str, str]:
    return {"security_protocol": "SSL", "ssl_ca_location": str(certificates.authority), **properties}


def test_tls_with_the_right_ca(certificates: Certificates):
    with server(tls(certificates, kafka({18: apis, 3: empty}))) as where:
        assert probe(where, **over_tls(certificates))[0] == "127.0.0.1"


def test_a_wrong_ca(certificates: Certificates):
    wrong = {"ssl_ca_location": str(certificates.other_authority)}
    with server(tls(certificates, kafka({}))) as where:
        error = failure(where, **over_tls(certificates, **wrong))
    assert error.stage is Stage.TLS
    assert "is not signed by the given CA" in str(error)


def test_a_wrong_host_name(certificates: Certificates):
    with server(tls(certificates, kafka({18: apis, 3: empty}))) as where:
        local = where.replace("127.0.0.1", "localhost")
        error = failure(local, **over_tls(certificates))
        assert probe(local, **over_tls(certificates, ssl_endpoint_identification_algorithm="none"))[0] == "localhost"
    assert error.stage is Stage.TLS
    assert "is for another host" in str(error)


def test_a_certificate_is_wanted(certificates: Certificates):
    own = {"ssl_certificate_location": str(certificates.client), "ssl_key_location": str(certificates.client)}
    with server(tls(certificates, kafka({18: apis, 3: empty}), wants_client=True)) as where:
        error = failure(where, **over_tls(certificates))
        assert probe(where, **over_tls(certificates, **own))[0] == "127.0.0.1"
    assert error.stage is Stage.TLS
    assert "client certificate" in str(error)


def test_a_tls_listener_asked_in_the_clear(certificates: Certificates):
    with server(tls(certificates, kafka({}))) as where:
        error = failure(where)
    assert error.stage is Stage.KAFKA
    assert "TLS" in str(error)


def test_a_clear_listener_asked_by_tls(certificates: Certificates):
    with server(kafka({})) as where:
        error = failure(where, **over_tls(certificates))
    assert error.stage is Stage.TLS
    assert "is this a listener without TLS?" in str(error)


def test_certificates_and_keys_as_text(certificates: Certificates):
    """As in an Airflow connection: PEM in the extra itself."""
    both = certificates.client.read_text()
    key, chain = both.split("-----BEGIN CERTIFICATE", 1)
    own = {"ssl_certificate_pem": "-----BEGIN CERTIFICATE" + chain, "ssl_key_pem": key,
           "ssl_ca_pem": certificates.authority.read_text(), "security_protocol": "SSL"}  # fmt: skip
    with server(tls(certificates, kafka({18: apis, 3: empty}), wants_client=True)) as where:
        assert probe(where, **own)[0] == "127.0.0.1"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("ssl_ca_location", "/no/such/ca.pem", "the CA"),
        ("ssl_ca_pem", "nonsense", "the CA"),
        ("ssl_cipher_suites", "NO-SUCH-CIPHER", "ssl.cipher.suites"),
        ("ssl_crl_location", "/no/such/crl.pem", "ssl.crl.location"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_before_anything_is_sent(key: str, value: str, message: str):
    with pytest.raises(InvalidInputError, match=message):
        probe("127.0.0.1:1", security_protocol="SSL", **{key: value})


def test_a_wrong_key_password_is_named(certificates: Certificates, tmp_path: Path):
    from cryptography.hazmat.primitives import serialization

    key = serialization.load_pem_private_key(certificates.client.read_bytes(), None)
    locked = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"right")
    )
    (tmp_path / "key.pem").write_bytes(locked)
    own = {"ssl_certificate_location": str(certificates.client), "ssl_key_location": str(tmp_path / "key.pem")}
    for password in ({}, {"ssl_key_password": "wrong"}):
        with pytest.raises(InvalidInputError, match=r"ssl\.key\.password"):
            probe("127.0.0.1:1", **over_tls(certificates, **own, **password))


@pytest.mark.slow
def test_no_wrong_password_leads_to_another_key_in_the_file_of_the_certificate(
    certificates: Certificates, tmp_path: Path
):
    """One wrong password in 256 looks right until what it opens is read."""
    from cryptography.hazmat.primitives import serialization

    key = serialization.load_pem_private_key(certificates.client.read_bytes(), None)
    locked = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"right")
    )
    (tmp_path / "key.pem").write_bytes(locked)
    own = {"ssl_certificate_location": str(certificates.client), "ssl_key_location": str(tmp_path / "key.pem")}
    for number in range(500):
        with pytest.raises(InvalidInputError, match=r"ssl\.key\.password"):
            probe("127.0.0.1:1", **over_tls(certificates, **own, ssl_key_password=f"wrong {number}"))
