from __future__ import annotations

import base64
import json
import time
import urllib.parse
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

from kafka.net.sasl.oauth import AbstractTokenProvider

from rebalance_advisor.kafka.connection.settings import TokenSource
from rebalance_advisor.outgoing_http import OutgoingRequestError, ask

_FETCH_SECONDS = 4.0
_LARGEST_ANSWER = 1_000_000
_UNSECURED_SECONDS = 3600.0
# Tokens that expire sooner are fetched again.
_MARGIN_SECONDS = 120.0


class TokenRefusedError(Exception):
    """The message holds no secret."""


class TokenProvider(AbstractTokenProvider):
    """One token for all connections of a snapshot."""

    def __init__(self, source: TokenSource) -> None:
        super().__init__()
        self._source = source
        self._token, self._ends = "", 0.0

    def token(self) -> str:
        if time.time() > self._ends - _MARGIN_SECONDS:
            self._token, self._ends = fetched_token(self._source, time.time())
        return self._token

    def extensions(self) -> dict[str, str]:
        """Return SASL extensions (KIP-342)."""
        return dict(self._source.extensions)


def fetched_token(source: TokenSource, now: float) -> tuple[str, float]:
    """Return (token, expiry in epoch seconds). Raises TokenRefusedError."""
    if source.endpoint is None:
        return unsecured_token(dict(source.claims), now), now + _UNSECURED_SECONDS
    if source.endpoint.startswith("file:"):
        return _token_of_file(
            urllib.parse.unquote(urllib.parse.urlsplit(source.endpoint).path)
        ), now + _UNSECURED_SECONDS
    answer = _request_token(source)
    token = answer.get("access_token") or answer.get("id_token")
    if not isinstance(token, str) or not token:
        raise TokenRefusedError(f"{source.endpoint} answered without access_token")
    lasts = answer.get("expires_in")
    return token, now + (float(lasts) if isinstance(lasts, int | float) and lasts > 0 else _UNSECURED_SECONDS)


def unsecured_token(claims: Mapping[str, str], now: float) -> str:
    """As OAuthBearerUnsecuredLoginCallbackHandler (RFC 7515, ``alg: none``)."""
    payload = {**claims, "iat": now, "exp": now + _UNSECURED_SECONDS}
    return f"{_part({'alg': 'none'})}.{_part(payload)}."


def _part(document: Mapping[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")


def _token_of_file(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as failure:
        raise TokenRefusedError(f"{path} cannot be read ({getattr(failure, 'strerror', 'no text')})") from None


def _request_token(source: TokenSource) -> Mapping[str, object]:
    """As Java's HttpJwtRetriever. TLS verification stays on."""
    assert source.endpoint is not None
    form = {"grant_type": "client_credentials"} | ({"scope": source.scope} if source.scope else {})
    name, secret = source.client_id or "", source.client_secret or ""
    if source.is_header_encoded:
        name, secret = urllib.parse.quote_plus(name), urllib.parse.quote_plus(secret)
    login = base64.b64encode(f"{name}:{secret}".encode()).decode()
    try:
        answer = ask(
            source.endpoint,
            form=form,
            headers={"Authorization": f"Basic {login}", "Accept": "application/json"},
            has_secret=True,
            seconds=_FETCH_SECONDS,
            ca_file=source.ca_location,
            ca_pem=source.ca_pem,
            largest=_LARGEST_ANSWER,
        )
    except OutgoingRequestError as failure:
        # The address may hold user and password.
        raise TokenRefusedError(f"{failure.address} gives no token ({failure.problem_text})") from None
    if answer.status != HTTPStatus.OK:
        reason = f"{answer.status}{_error_of(answer.body)}"
        raise TokenRefusedError(f"{source.endpoint} refused client {source.client_id!r} ({reason})")
    try:
        document = json.loads(answer.body)
    except (ValueError, RecursionError):
        raise TokenRefusedError(f"{source.endpoint} gives no token (its answer is no JSON)") from None
    if not isinstance(document, dict):
        raise TokenRefusedError(f"{source.endpoint} answered without access_token")
    return document


def _error_of(body: bytes) -> str:
    """Only the error code (RFC 6749 §5.2)."""
    try:
        error = json.loads(body)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return f", {error}" if isinstance(error, str) and error.replace("_", "").isalnum() else ""
