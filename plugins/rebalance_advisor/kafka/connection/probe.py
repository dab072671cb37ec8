"""Find the stage at which a connection fails; Kafka clients only report "no brokers available" after 30 s.

All servers are probed at once. The first success wins; else the failure at the latest stage is raised. The connection's
timeout bounds each answer.
"""

from __future__ import annotations

import queue
import socket
import ssl
import struct
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass
from enum import IntEnum

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.render import render
from rebalance_advisor.kafka.connection.logins import LoginNotPossibleError, check_packages, messages_of
from rebalance_advisor.kafka.connection.reach import UNRESOLVED, unresolved
from rebalance_advisor.kafka.connection.scram import ServerNotTrustedError
from rebalance_advisor.kafka.connection.settings import ConnectionSettings
from rebalance_advisor.kafka.connection.tls import tls_context
from rebalance_advisor.kafka.connection.tokens import TokenRefusedError
from rebalance_advisor.kafka.unresponsive import UnfinishedAnswerError

API_VERSIONS, METADATA, SASL_HANDSHAKE, SASL_AUTHENTICATE = 18, 3, 17, 36
_CLIENT = b"rebalance-advisor-probe"
_LARGEST_ANSWER = 50_000_000
_READ_AT_ONCE = 1 << 20  # recv allocates the requested size
_TLS_ALERT = b"\x15\x03"


class NotKafkaError(Exception):
    """Not an answer of Kafka's protocol."""


class SpeaksTlsError(NotKafkaError):
    """A TLS alert."""


@dataclass(frozen=True, slots=True)
class SaslAnswer:
    error_code: int
    error_message: str
    payload: bytes = b""
    mechanisms: tuple[str, ...] = ()


def ask_api_versions(connection: socket.socket) -> dict[int, tuple[int, int]]:
    body = _call(connection, API_VERSIONS, 0, b"")
    try:
        _, count = struct.unpack_from(">hi", body)
        return {key: (low, high) for key, low, high in struct.iter_unpack(">hhh", body[6 : 6 + 6 * count])}
    except struct.error:
        raise NotKafkaError("its answer to ApiVersions cannot be read") from None


def ask_metadata(connection: socket.socket) -> None:
    """Metadata of no topic is the smallest request that needs a login."""
    _call(connection, METADATA, 4, struct.pack(">i?", 0, False))


def ask_sasl_handshake(connection: socket.socket, mechanism: str) -> SaslAnswer:
    body = _call(connection, SASL_HANDSHAKE, 1, _string(mechanism))
    error, count = struct.unpack_from(">hi", body)
    names, at = [], 6
    for _ in range(count):
        name, at = _read_string(body, at)
        names.append(name)
    return SaslAnswer(error, "", mechanisms=tuple(names))


def ask_sasl_authenticate(connection: socket.socket, message: bytes) -> SaslAnswer:
    body = _call(connection, SASL_AUTHENTICATE, 0, struct.pack(">i", len(message)) + message)
    (error,) = struct.unpack_from(">h", body)
    error_message, at = _read_string(body, 2)
    (size,) = struct.unpack_from(">i", body, at)
    return SaslAnswer(error, error_message, body[at + 4 : at + 4 + max(0, size)])


def _call(connection: socket.socket, key: int, version: int, body: bytes) -> bytes:
    seconds = connection.gettimeout()
    deadline = None if seconds is None else time.monotonic() + seconds
    payload = struct.pack(">hhih", key, version, key, len(_CLIENT)) + _CLIENT + body
    connection.sendall(struct.pack(">i", len(payload)) + payload)
    try:
        head = _read(connection, 4, deadline)
        if head[:2] == _TLS_ALERT:
            raise SpeaksTlsError("it answered with a TLS alert")
        (size,) = struct.unpack(">i", head)
        if not 4 <= size <= _LARGEST_ANSWER:
            raise NotKafkaError(f"it answered {head!r}, which is not Kafka's protocol")
        answer = _read(connection, size, deadline)
    finally:
        connection.settimeout(seconds)
    if struct.unpack_from(">i", answer) != (key,):
        raise NotKafkaError("its answer belongs to no question")
    return answer[4:]


def _read(connection: socket.socket, size: int, deadline: float | None) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        if deadline is not None:
            connection.settimeout(max(0.001, deadline - time.monotonic()))
        try:
            part = connection.recv(min(size - len(parts), _READ_AT_ONCE))
        except TimeoutError:
            if not parts:
                raise
            raise UnfinishedAnswerError(f"{len(parts):,} of {size:,} bytes") from None
        if not part:
            raise EOFError(bytes(parts))
        parts += part
        if deadline is not None and time.monotonic() > deadline and len(parts) < size:
            raise UnfinishedAnswerError(f"{len(parts):,} of {size:,} bytes")
    return bytes(parts)


def _string(value: str) -> bytes:
    data = value.encode()
    return struct.pack(">h", len(data)) + data


def _read_string(body: bytes, at: int) -> tuple[str, int]:
    (size,) = struct.unpack_from(">h", body, at)
    end = at + 2 + max(0, size)
    return body[at + 2 : end].decode(errors="replace"), end


PROBE_SECONDS = 8.0
_GRACE_SECONDS = 0.5  # an attempt's own deadline gives a better error
_UNSUPPORTED_MECHANISM, _ILLEGAL_SASL_STATE = 33, 34
_SELF_SIGNED, _SELF_SIGNED_IN_CHAIN, _NO_LOCAL_ISSUER, _NO_FIRST, _EXPIRED = 18, 19, 20, 21, 10
_NOT_TRUSTED = (_SELF_SIGNED, _SELF_SIGNED_IN_CHAIN, _NO_LOCAL_ISSUER, _NO_FIRST)
_WRONG_HOST = (62, 64)


class Stage(IntEnum):
    NAME = 1
    PORT = 2
    TLS = 3
    KAFKA = 4
    LOGIN = 5


class ConnectionFailedError(AdvisorError):
    """``stage``: the latest stage reached."""

    def __init__(self, stage: Stage, server: str, problem: str, hint: str) -> None:
        super().__init__(f"{server}: {problem}; {hint}")
        self.stage = stage
        self.server = server


_UNDER_WAY = {
    Stage.PORT: "the connection was not made in time",
    Stage.TLS: "the TLS handshake did not end in time",
    Stage.KAFKA: "its first answer did not come in time",
    Stage.LOGIN: "the login, or the first question after it, was not answered in time",
}


@dataclass(slots=True)
class _Attempt:
    settings: ConnectionSettings
    host: str
    port: int
    deadline: float
    stage: Stage = Stage.NAME

    @property
    def server(self) -> str:
        return f"{self.host}:{self.port}"

    def failed(self, stage: Stage, problem: str, hint: str) -> ConnectionFailedError:
        return ConnectionFailedError(stage, self.server, problem, hint)

    def remaining(self) -> float:
        return max(0.05, self.deadline - time.monotonic())


def find_server(settings: ConnectionSettings, *, seconds: float = PROBE_SECONDS) -> tuple[str, int]:
    check_packages(settings)
    context = tls_context(settings) if settings.has_tls else None
    answers: queue.SimpleQueue[tuple[tuple[str, int], AdvisorError | None]] = queue.SimpleQueue()
    attempts = [_Attempt(settings, host, port, time.monotonic() + seconds) for host, port in settings.servers]
    for attempt in attempts:
        # A name lookup cannot be interrupted: its thread may outlive the call.
        threading.Thread(target=_answer, args=(attempt, context, answers), daemon=True).start()
    failures: list[ConnectionFailedError] = []
    pending = {attempt.server: attempt for attempt in attempts}
    while pending:
        try:
            server, failure = answers.get(
                timeout=_GRACE_SECONDS + max(attempt.remaining() for attempt in pending.values())
            )
        except queue.Empty:
            failures += [_timed_out(attempt) for attempt in pending.values()]
            break
        if failure is None:
            return server
        pending.pop(f"{server[0]}:{server[1]}", None)
        failures.append(failure)  # type: ignore[arg-type]
    raise max(failures, key=lambda failure: failure.stage)


def _timed_out(attempt: _Attempt) -> ConnectionFailedError:
    stage = attempt.stage
    if stage is Stage.NAME:
        return attempt.failed(stage, "the name server did not answer in time", "check the host name and DNS")
    return attempt.failed(stage, _UNDER_WAY[stage], "is the broker hanging, or the network very slow?")


def _answer(
    attempt: _Attempt,
    context: ssl.SSLContext | None,
    answers: queue.SimpleQueue[tuple[tuple[str, int], AdvisorError | None]],
) -> None:
    failure: AdvisorError | None = None
    try:
        _walk(attempt, context)
    except ConnectionFailedError as error:
        failure = error
    except Exception as error:  # noqa: BLE001  # whatever a server sends, the caller waits for an answer
        failure = attempt.failed(Stage.KAFKA, f"it answered what cannot be understood ({error!r})", "is it Kafka?")
    answers.put(((attempt.host, attempt.port), failure))


def _walk(attempt: _Attempt, context: ssl.SSLContext | None) -> None:
    with _connect(attempt) as plain:
        connection = plain if context is None else _handshake(attempt, plain, context)
        with connection:
            _ask_kafka(attempt, connection)
            if attempt.settings.has_login:
                _log_in(attempt, connection)
            _ask_as_client(attempt, connection)


def _connect(attempt: _Attempt) -> socket.socket:
    try:
        addresses = socket.getaddrinfo(attempt.host, attempt.port, type=socket.SOCK_STREAM)
    except UNRESOLVED as failure:
        raise attempt.failed(Stage.NAME, render(unresolved(attempt.host, failure)), "check its spelling") from None
    attempt.stage = Stage.PORT
    problem: OSError | None = None
    for family, kind, protocol, _, address in addresses:
        connection = socket.socket(family, kind, protocol)
        try:
            connection.settimeout(min(3.0, attempt.remaining()))
            connection.connect(address)
        except OSError as failure:
            connection.close()
            problem = failure
        else:
            return connection
    if isinstance(problem, TimeoutError):
        raise attempt.failed(Stage.PORT, "nothing answers (time ran out)", "is a firewall between, is the host up?")
    reason = problem.strerror if problem else "no address"
    raise attempt.failed(Stage.PORT, f"the port is closed ({reason})", "is a broker listening there?")


def _handshake(attempt: _Attempt, plain: socket.socket, context: ssl.SSLContext) -> ssl.SSLSocket:
    attempt.stage = Stage.TLS
    name = attempt.host.rstrip(".")
    try:
        plain.settimeout(min(4.0, attempt.remaining()))
        return context.wrap_socket(plain, server_hostname=name)
    except ssl.SSLCertVerificationError as failure:
        raise _certificate_refused(attempt, failure) from None
    except (ssl.SSLError, EOFError, OSError) as failure:
        reason = getattr(failure, "reason", None) or failure
        if "CERTIFICATE" in str(reason) or "HANDSHAKE_FAILURE" in str(reason):
            raise attempt.failed(
                Stage.TLS, f"the broker refused the TLS handshake ({reason})", "does it ask for a client certificate?"
            ) from None
        raise attempt.failed(
            Stage.TLS, f"the listener does not answer TLS ({reason})",
            f"security.protocol is {attempt.settings.security_protocol}: is this a listener without TLS?",
        ) from None  # fmt: skip


def _certificate_refused(attempt: _Attempt, failure: ssl.SSLCertVerificationError) -> ConnectionFailedError:
    if failure.verify_code in _WRONG_HOST:
        return attempt.failed(
            Stage.TLS, f"the broker's certificate is for another host ({failure.verify_message})",
            "connect by a name that stands in the certificate, or set ssl.endpoint.identification.algorithm=none",
        )  # fmt: skip
    if failure.verify_code in _NOT_TRUSTED:
        return attempt.failed(
            Stage.TLS, f"the broker's certificate is not signed by the given CA ({failure.verify_message})",
            "give the CA that signed it (ssl.ca.location, or ssl.truststore.location with type PEM)",
        )  # fmt: skip
    problem = "has expired" if failure.verify_code == _EXPIRED else "is not valid"
    return attempt.failed(Stage.TLS, f"the broker's certificate {problem} ({failure.verify_message})", "renew it")


def _ask_kafka(attempt: _Attempt, connection: socket.socket) -> None:
    attempt.stage = Stage.KAFKA
    protocol = attempt.settings.security_protocol
    try:
        connection.settimeout(min(4.0, attempt.remaining()))
        versions = ask_api_versions(connection)
    except SpeaksTlsError:
        raise attempt.failed(
            Stage.KAFKA, f"the listener speaks TLS, security.protocol is {protocol}", "set it to SSL or SASL_SSL"
        ) from None
    except NotKafkaError as failure:
        raise attempt.failed(Stage.KAFKA, f"this is no Kafka broker: {failure}", "check host and port") from None
    except (OSError, EOFError) as failure:
        raise _no_answer(attempt, failure) from None
    if METADATA not in versions:
        raise attempt.failed(Stage.KAFKA, "this is a KRaft controller", "give a broker's host and port")


def _no_answer(attempt: _Attempt, failure: OSError | EOFError) -> ConnectionFailedError:
    if isinstance(failure, TimeoutError):
        return _too_slow(attempt, failure)
    if isinstance(failure, ssl.SSLError):
        return attempt.failed(
            Stage.TLS,
            f"the broker ended TLS ({failure.reason})",
            "it probably asks for a client certificate (mutual TLS)",
        )
    return attempt.failed(
        Stage.KAFKA, "it closed the connection at the first question",
        f"does the listener speak TLS? security.protocol is {attempt.settings.security_protocol}",
    )  # fmt: skip


def _too_slow(attempt: _Attempt, failure: TimeoutError) -> ConnectionFailedError:
    if isinstance(failure, UnfinishedAnswerError):
        return attempt.failed(
            attempt.stage, f"it sent {failure} of its answer before time ran out",
            "is the broker hanging, or the network very slow?",
        )  # fmt: skip
    problem = "it accepts connections and answers nothing" if attempt.stage is Stage.KAFKA else _UNDER_WAY[Stage.LOGIN]
    return attempt.failed(attempt.stage, problem, "is the broker hanging?")


def _log_in(attempt: _Attempt, connection: socket.socket) -> None:
    settings = attempt.settings
    mechanism = settings.sasl_mechanism or ""
    attempt.stage = Stage.LOGIN
    try:
        connection.settimeout(min(4.0, attempt.remaining()))
        offered = ask_sasl_handshake(connection, mechanism)
        if offered.error_code == _UNSUPPORTED_MECHANISM:
            mechanisms = ", ".join(offered.mechanisms) or "none"
            raise attempt.failed(Stage.LOGIN, f"the broker does not offer {mechanism}", f"it offers: {mechanisms}")
        if offered.error_code:
            raise _no_login_here(attempt)
        _exchange(attempt, connection, messages_of(settings, attempt.host))
    except ServerNotTrustedError as failure:
        raise attempt.failed(Stage.LOGIN, str(failure), "is this the right cluster?") from None
    except TokenRefusedError as failure:
        raise attempt.failed(Stage.LOGIN, str(failure), "check client id, secret and scope") from None
    except LoginNotPossibleError as failure:
        raise attempt.failed(Stage.LOGIN, str(failure), "is there a valid ticket or credential?") from None
    except TimeoutError as failure:
        raise _too_slow(attempt, failure) from None
    except (OSError, EOFError, struct.error, NotKafkaError):
        raise _no_login_here(attempt) from None


def _exchange(attempt: _Attempt, connection: socket.socket, messages: Generator[bytes, bytes, None]) -> None:
    settings = attempt.settings
    message = next(messages)
    while time.monotonic() < attempt.deadline:
        connection.settimeout(min(4.0, attempt.remaining()))
        answer = ask_sasl_authenticate(connection, message)
        if answer.error_code:
            raise attempt.failed(
                Stage.LOGIN,
                f"the broker refused user {settings.principal!r} ({settings.sasl_mechanism}): {answer.error_message}",
                "check user name and password" if settings.password else "is this identity let in there?",
            )
        try:
            message = messages.send(answer.payload)
        except StopIteration:
            return
    raise TimeoutError


def _no_login_here(attempt: _Attempt) -> ConnectionFailedError:
    protocol = attempt.settings.security_protocol
    return attempt.failed(
        Stage.LOGIN, f"the listener ended the login; security.protocol is {protocol}", "does it ask for a login at all?"
    )


def _ask_as_client(attempt: _Attempt, connection: socket.socket) -> None:
    """A listener that requires a login closes the connection here."""
    attempt.stage = Stage.LOGIN
    try:
        connection.settimeout(min(4.0, attempt.remaining()))
        ask_metadata(connection)
    except TimeoutError as failure:
        raise _too_slow(attempt, failure) from None
    except (OSError, EOFError, NotKafkaError):
        protocol = attempt.settings.security_protocol
        hint = f"the listener probably wants a login: security.protocol is {protocol}, try SASL_{protocol}"
        raise attempt.failed(
            Stage.LOGIN, "the broker closed the connection before it told anything",
            "is the user allowed to connect?" if attempt.settings.has_login else hint,
        ) from None  # fmt: skip
