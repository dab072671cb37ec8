from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from rebalance_advisor.store.schema.connection import StoreError, connect, dsn_from_environment, libpq_string
from stack.kafka.security import make_certificates

SECRET = "hunter2-store"
# The codes that a client's first messages have after their length, and a server's wish for the password as it is.
SSL_REQUEST, GSS_REQUEST, PROTOCOL = (code.to_bytes(4, "big") for code in (80877103, 80877104, 3 << 16))
CLEARTEXT_PASSWORD = b"R" + (8).to_bytes(4, "big") + (3).to_bytes(4, "big")


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg2", "postgresql+psycopg"])
def test_every_spelling_of_an_address_is_taken(scheme: str) -> None:
    known = {"user": "u", "password": "p://", "host": "h", "port": "1", "dbname": "d", "options": "-c a=b -c c=d"}
    known["connect_timeout"] = "30"
    url = f"{scheme}://u:p%3A%2F%2F@h:1/d?options=-c%20a%3Db"
    for dsn in (url, "user=u password=p:// host=h port=1 dbname=d options='-c a=b'"):
        assert conninfo_to_dict(libpq_string(dsn, options="-c c=d", dbname="other")) == known


def test_another_database_is_refused() -> None:
    with pytest.raises(StoreError, match="mysql:// is no PostgreSQL address"):
        connect("mysql://u@h/d")


def test_a_server_that_does_not_answer_is_told_without_the_password() -> None:
    with pytest.raises(StoreError, match="cannot connect to the advisor's database") as error:
        connect("postgresql://u:hidden@127.0.0.1:1/d?connect_timeout=2")
    assert "hidden" not in str(error.value)


def test_the_first_setting_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_ADVISOR_POSTGRES", "postgresql://b")
    monkeypatch.setenv("ADVISOR_POSTGRES_DSN", "postgresql://a")
    assert dsn_from_environment() == "postgresql://a"
    monkeypatch.delenv("ADVISOR_POSTGRES_DSN")
    assert conninfo_to_dict(dsn_from_environment()) == {"host": "b", "dbname": "advisor"}
    monkeypatch.delenv("AIRFLOW_CONN_ADVISOR_POSTGRES")
    with pytest.raises(StoreError, match="set ADVISOR_POSTGRES_DSN or AIRFLOW_CONN_ADVISOR_POSTGRES"):
        dsn_from_environment()


@contextmanager
def hostile_server(answer: Callable[[socket.socket, bytes], None]) -> Iterator[tuple[str, list[bytes]]]:
    """The address of a port that answers each message by ``answer``, and what it was sent; no password is in both."""
    seen: list[bytes] = []
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            with suppress(OSError), listening.accept()[0] as connection:
                connection.settimeout(0.05)  # psycopg leaves a socket open where its time has run out
                while not over.is_set():
                    with suppress(TimeoutError):
                        message = connection.recv(10_000)
                        if not message:
                            break
                        seen.append(message)
                        answer(connection, message)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.05)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"host=127.0.0.1 port={listening.getsockname()[1]} user=u password={SECRET} dbname=d", seen
        finally:
            over.set()
            thread.join()


def says_nothing(_: socket.socket, __: bytes) -> None: ...


def wants_the_password(connection: socket.socket, message: bytes) -> None:
    """Without TLS, in clear text."""
    if message[4:8] in (SSL_REQUEST, GSS_REQUEST):
        connection.sendall(b"N")
    elif message[4:8] == PROTOCOL:
        connection.sendall(CLEARTEXT_PASSWORD)
    else:
        connection.shutdown(socket.SHUT_RDWR)


def refusal_of(dsn: str) -> str:
    with pytest.raises(StoreError, match="cannot connect to the advisor's database") as error:
        connect(dsn)
    assert SECRET not in str(error.value)
    return str(error.value)


def test_a_server_that_accepts_and_never_answers_is_abandoned() -> None:
    with hostile_server(says_nothing) as (dsn, _):
        assert "timeout" in refusal_of(f"{dsn} connect_timeout=2")


def test_connecting_has_a_limit_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGCONNECT_TIMEOUT", raising=False)
    limit = lambda dsn: conninfo_to_dict(libpq_string(dsn, options="")).get("connect_timeout")  # noqa: E731
    assert (limit("host=h"), limit("host=h connect_timeout=3")) == ("30", "3")
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "7")
    assert limit("host=h") is None


@pytest.mark.parametrize(
    "rule", ["sslmode=require", "sslmode=verify-full", "sslmode=disable require_auth=scram-sha-256"]
)
def test_a_server_without_tls_that_asks_for_the_password_does_not_get_it(rule: str) -> None:
    with hostile_server(wants_the_password) as (dsn, seen):
        refusal_of(f"{dsn} {rule} connect_timeout=60")
    assert seen
    assert SECRET.encode() not in b"".join(seen)


def test_the_hostile_server_would_get_a_password_that_nothing_protects() -> None:
    """What docs/internals/connections.md warns of: libpq's defaults verify nothing."""
    with hostile_server(wants_the_password) as (dsn, seen):
        refusal_of(f"{dsn} connect_timeout=60")
    assert SECRET.encode() in b"".join(seen)


def test_a_certificate_of_an_unknown_authority_is_refused_by_verify_full(tmp_path: Path) -> None:
    certificates = make_certificates(tmp_path / "keys")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.broker)
    inside: list[bytes] = []

    def speaks_tls(connection: socket.socket, message: bytes) -> None:
        if message[4:8] == GSS_REQUEST:
            connection.sendall(b"N")
        elif message[4:8] == SSL_REQUEST:
            connection.sendall(b"S")
            connection.settimeout(10)
            with context.wrap_socket(connection, server_side=True) as encrypted:
                inside.append(encrypted.recv(10_000))

    with hostile_server(speaks_tls) as (dsn, seen):
        verified = f"{dsn} sslmode=verify-full connect_timeout=60"
        assert "certificate verify failed" in refusal_of(f"{verified} sslrootcert={certificates.other_authority}")
        assert inside == []
        refusal_of(f"{verified} sslrootcert={certificates.authority}")
    assert inside[0][4:8] == PROTOCOL
    assert SECRET.encode() not in b"".join(seen + inside)
