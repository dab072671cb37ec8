"""The probe's Kafka requests; the connection's timeout bounds each answer."""

from __future__ import annotations

import socket
import struct
import time
from dataclasses import dataclass

from rebalance_advisor.kafka.unheard import UnfinishedAnswerError

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
    words, at = _read_string(body, 2)
    (size,) = struct.unpack_from(">i", body, at)
    return SaslAnswer(error, words, body[at + 4 : at + 4 + max(0, size)])


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
