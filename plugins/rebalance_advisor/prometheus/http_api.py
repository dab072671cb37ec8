"""No error message holds a secret."""

from __future__ import annotations

import base64
import json
import math
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from rebalance_advisor.outgoing_http import OutgoingRequestError, ask, checked_address

_ANSWER_SECONDS = 30.0
Labels = Mapping[str, str]


class PrometheusError(InvalidInputError):
    """Not reached, or the query was refused."""


@dataclass(frozen=True, slots=True)
class Server:
    """``address``: without user and password, which ``headers`` hold. ``ca_file`` replaces the system's CAs."""

    address: str
    headers: Mapping[str, str] = field(repr=False, default_factory=dict)
    ca_file: Path | None = None

    @classmethod
    def at(cls, url: str, bearer_token_file: Path | None = None, ca_file: Path | None = None) -> Server:
        """Parse ``https://user:password@host:9090/prefix``.

        Raises PrometheusError, also for a credential over plain HTTP.
        """
        try:
            parts = urllib.parse.urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            parts, host, port = urllib.parse.urlsplit(""), None, None
        if parts.scheme not in ("http", "https") or not host:
            raise PrometheusError.at("--prometheus", "is no address", "give http://HOST:9090 or https://…")
        url_host = f"[{host}]" if ":" in host else host
        address = f"{parts.scheme}://{url_host}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"
        headers: dict[str, str] = {}
        if parts.username is not None:
            login = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
            headers["Authorization"] = f"Basic {base64.b64encode(login.encode()).decode()}"
        if bearer_token_file is not None:
            headers["Authorization"] = f"Bearer {_token(bearer_token_file)}"
        try:
            checked_address(address, has_secret=bool(headers))
        except OutgoingRequestError as refusal:
            raise PrometheusError.at("--prometheus", str(refusal)) from None
        return cls(address, headers, ca_file)

    def query(self, text: str, at: datetime, seconds: float = _ANSWER_SECONDS) -> list[tuple[Labels, float]]:
        """NaN is left out."""
        try:
            answer = ask(
                f"{self.address}/api/v1/query",
                form={"query": text, "time": f"{at.timestamp():.3f}"},
                headers=self.headers,
                has_secret=bool(self.headers),
                seconds=min(seconds, _ANSWER_SECONDS),
                ca_file=None if self.ca_file is None else str(self.ca_file),
            )
        except OutgoingRequestError as failure:
            raise PrometheusError.at(self.address, f"cannot be asked ({failure.problem})", failure.hint) from None
        if answer.status != HTTPStatus.OK:
            raise PrometheusError.at(self.address, f"refuses a query ({answer.status}{_body_text(answer.body)})")
        try:
            return _series(json.loads(answer.body))
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            problem = "does not answer as Prometheus does"
            raise PrometheusError.at(self.address, problem, "give the address whose path ends before /api/v1") from None


def _series(document: Any) -> list[tuple[Labels, float]]:
    if document["data"]["resultType"] != "vector":
        raise ValueError("no vector")
    samples = [(dict(series["metric"]), float(series["value"][1])) for series in document["data"]["result"]]
    return [(labels, value) for labels, value in samples if math.isfinite(value)]


def _body_text(body: bytes) -> str:
    """A proxy's text is not shown."""
    try:
        document = json.loads(body)
        return f", {excerpt(document['error'])}" if document.get("errorType") == "bad_data" else ""
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""


def _token(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        problem = f"cannot be read ({getattr(error, 'strerror', None) or 'no text'})"
        raise PrometheusError.at(str(file), problem) from None
