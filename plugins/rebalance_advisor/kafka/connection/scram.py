"""The client's half of SASL PLAIN and SCRAM (RFC 4616, RFC 5802, RFC 7677): messages out, messages in, no socket."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Generator

_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
_MOST_ITERATIONS = 1_000_000


class ServerNotTrustedError(ValueError):
    """The broker's answer is no SCRAM answer, or it does not know the password either."""


def login_messages(mechanism: str, username: str, password: str) -> Generator[bytes, bytes, None]:
    """Yields each message to send and is sent each answer; ends when the broker has proved itself too.

    Raises ServerNotTrustedError where an answer is malformed or its signature wrong.
    """
    if mechanism == "PLAIN":
        yield b"\0" + username.encode() + b"\0" + password.encode()
        return
    yield from _scram(_HASHES[mechanism], username, password, secrets.token_hex(16))


def _scram(digest: str, username: str, password: str, nonce: str) -> Generator[bytes, bytes, None]:
    name = username.replace("=", "=3D").replace(",", "=2C")
    first = f"n={name},r={nonce}"
    answer = (yield f"n,,{first}".encode()).decode(errors="replace")
    challenge = _fields(answer)
    try:
        salt, iterations = base64.b64decode(challenge["s"]), int(challenge["i"])
    except (KeyError, ValueError):
        raise ServerNotTrustedError(f"{answer!r} is no SCRAM challenge") from None
    if not challenge.get("r", "").startswith(nonce) or not 0 < iterations <= _MOST_ITERATIONS:
        raise ServerNotTrustedError("the SCRAM challenge does not continue ours")
    salted = hashlib.pbkdf2_hmac(digest, password.encode(), salt, iterations)
    final = f"c=biws,r={challenge['r']}"
    signed = f"{first},{answer},{final}".encode()
    client_key = hmac.digest(salted, b"Client Key", digest)
    stored_key = hashlib.new(digest, client_key).digest()
    signature = hmac.digest(stored_key, signed, digest)
    proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
    verdict = _fields((yield f"{final},p={base64.b64encode(proof).decode()}".encode()).decode(errors="replace"))
    expected = hmac.digest(hmac.digest(salted, b"Server Key", digest), signed, digest)
    if not hmac.compare_digest(base64.b64decode(verdict.get("v", "")), expected):
        raise ServerNotTrustedError("the broker did not prove that it knows the password")


def _fields(message: str) -> dict[str, str]:
    return {key: value for key, _, value in (part.partition("=") for part in message.split(","))}
