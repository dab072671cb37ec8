"""SASL PLAIN and SCRAM without sockets (RFC 4616, 5802, 7677). kafka-python's SCRAM accepts one iteration and does not
escape ``,`` and ``=``.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Generator
from typing import Any

from kafka.net.sasl import register_sasl_mechanism
from kafka.net.sasl.abc import SaslMechanism

_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
# Few iterations make the password easy to guess from the client's proof (RFC 7677 §4).
LEAST_ITERATIONS = 4_096
# 0.5 s of CPU a connection; Kafka's own limit is 16,384.
MOST_ITERATIONS = 1_000_000
_COUNT = re.compile(r"[1-9][0-9]{0,9}")


class ServerNotTrustedError(ValueError):
    """The broker breaks SCRAM's rules or does not know the password."""


def login_messages(mechanism: str, username: str, password: str) -> Generator[bytes, bytes, None]:
    """Yield each message, receive each answer, until the broker has proved itself.

    Raises ServerNotTrustedError. The proof is sent only after nonce, salt and iterations are checked.
    """
    if mechanism == "PLAIN":
        yield b"\0" + username.encode() + b"\0" + password.encode()
        return
    yield from _scram(_HASHES[mechanism], username, password, secrets.token_hex(16))


def use_own_scram() -> None:
    for mechanism in _HASHES:
        register_sasl_mechanism(mechanism, OwnScram, overwrite=True)


class OwnScram(SaslMechanism):
    def __init__(self, **config: Any) -> None:
        self._messages = login_messages(
            config["sasl_mechanism"], config["sasl_plain_username"], config["sasl_plain_password"]
        )
        self._message: bytes | None = next(self._messages)

    def auth_bytes(self) -> bytes:
        return self._message or b""

    def receive(self, auth_bytes: bytes) -> None:
        try:
            self._message = self._messages.send(auth_bytes)
        except StopIteration:
            self._message = None

    def is_done(self) -> bool:
        return self._message is None

    def is_authenticated(self) -> bool:
        return self.is_done()


def _scram(digest: str, username: str, password: str, nonce: str) -> Generator[bytes, bytes, None]:
    name = username.replace("=", "=3D").replace(",", "=2C")
    first = f"n={name},r={nonce}"
    answer = (yield f"n,,{first}".encode()).decode(errors="replace")
    whole_nonce, salt, iterations = _challenge(answer, nonce)
    salted = hashlib.pbkdf2_hmac(digest, password.encode(), salt, iterations)
    final = f"c=biws,r={whole_nonce}"
    signed = f"{first},{answer},{final}".encode()
    client_key = hmac.digest(salted, b"Client Key", digest)
    stored_key = hashlib.new(digest, client_key).digest()
    signature = hmac.digest(stored_key, signed, digest)
    proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
    verdict = _fields((yield f"{final},p={base64.b64encode(proof).decode()}".encode()).decode(errors="replace"))
    expected = hmac.digest(hmac.digest(salted, b"Server Key", digest), signed, digest)
    try:
        is_proved = hmac.compare_digest(base64.b64decode(verdict.get("v", ""), validate=True), expected)
    except ValueError:
        is_proved = False
    if not is_proved:
        raise ServerNotTrustedError("the broker did not prove that it knows the password")


def _challenge(answer: str, nonce: str) -> tuple[str, bytes, int]:
    fields = _fields(answer)
    try:
        salt = base64.b64decode(fields["s"], validate=True)
    except (KeyError, ValueError):
        salt = b""
    # "m": a mandatory extension; none exists (RFC 5802 §5.1).
    if not salt or "m" in fields or not _COUNT.fullmatch(fields.get("i", "")):
        raise ServerNotTrustedError(f"{answer[:200]!r} is no SCRAM challenge")
    whole_nonce, iterations = fields.get("r", ""), int(fields["i"])
    if not whole_nonce.startswith(nonce) or whole_nonce == nonce:
        raise ServerNotTrustedError("the SCRAM challenge does not continue our nonce")
    if not LEAST_ITERATIONS <= iterations <= MOST_ITERATIONS:
        raise ServerNotTrustedError(
            f"the broker asks for {iterations:,} SCRAM iterations, and {LEAST_ITERATIONS:,} (RFC 7677) to "
            f"{MOST_ITERATIONS:,} are allowed"
        )
    return whole_nonce, salt, iterations


def _fields(message: str) -> dict[str, str]:
    return {key: value for key, _, value in (part.partition("=") for part in message.split(","))}
