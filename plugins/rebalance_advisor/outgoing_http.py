"""HTTP requests to Prometheus, token endpoints and Slack; no other module sends any.

Redirects are refused, because a credential would follow. Certificates are always verified. Answers have a size limit
and a deadline. Errors hold no user, password, path, query or header.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import re
import ssl
import threading
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_assignors.errors import AdvisorError
from kafka_assignors.visible_text import excerpt

if TYPE_CHECKING:
    import httpx

LARGEST_ANSWER = 64 * 2**20
_CONNECT_SECONDS = 5.0
_NOT_IN_A_URL = re.compile(r"[\x00-\x20\x7f]")
_NOT_IN_A_HEADER = re.compile(r"[^\x20-\x7e]")


class OutgoingRequestError(AdvisorError):
    """``problem`` and ``hint`` hold no secret."""

    def __init__(self, address: str, problem: str, hint: str = "") -> None:
        super().__init__(f"{address}: {problem}" + (f"; {hint}" if hint else ""))
        self.address, self.problem, self.hint = address, problem, hint

    @property
    def problem_text(self) -> str:
        return f"{self.problem}; {self.hint}" if self.hint else self.problem


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    status: int
    body: bytes


def ask(
    url: str,
    *,
    form: Mapping[str, str] | None = None,
    document: object = None,
    headers: Mapping[str, str] | None = None,
    has_secret: bool,
    seconds: float,
    proxy: str | None = None,
    ca_file: str | None = None,
    ca_pem: str | None = None,
    largest: int = LARGEST_ANSWER,
) -> HttpAnswer:
    """GET, or POST of ``form`` or ``document`` (as JSON). Raises OutgoingRequestError.

    ``has_secret``: plain HTTP only to loopback. ``ca_file`` (PEM file or OpenSSL folder) or ``ca_pem`` replaces the
    system's CAs, ``proxy`` the environment's; loopback uses none.
    """
    import httpx  # 0.3 s

    address = checked_address(url, has_secret=has_secret)
    given = {"Accept-Encoding": "identity", "User-Agent": "kafka-rebalance-advisor", **(headers or {})}
    if any(map(_NOT_IN_A_HEADER.search, given.values())):
        raise OutgoingRequestError(address, "a header has a character that HTTP does not allow", "check the credential")
    tls = _verifying_tls(address, ca_file, ca_pem)
    is_near = _is_loopback(urllib.parse.urlsplit(url).hostname or "")
    limits = httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs addresses with queries
    try:
        client = httpx.AsyncClient(
            verify=tls,
            follow_redirects=False,
            timeout=limits,
            trust_env=not is_near,
            proxy=None if is_near else proxy,
            headers=given,
        )
        method = "GET" if form is None and document is None else "POST"
        request = client.build_request(method, url, data=form, json=document)
        return asyncio.run(_answer(address, client, request, seconds, largest))
    except TimeoutError:
        raise OutgoingRequestError(address, f"no whole answer within {seconds:g} s") from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as failure:
        raise _request_error(address, failure) from None


def checked_address(url: str, *, has_secret: bool) -> str:
    """Return ``scheme://host:port``. Raises OutgoingRequestError."""
    try:
        parts = urllib.parse.urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise OutgoingRequestError("the address", "cannot be read", "give https://HOST") from None
    if parts.scheme not in ("http", "https") or not host or _NOT_IN_A_URL.search(url):
        raise OutgoingRequestError("the address", "is no address of HTTP", "give https://HOST")
    address = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{'' if port is None else f':{port}'}"
    if "@" in parts.netloc:
        raise OutgoingRequestError(address, "the address holds a user or password", "give them by their own setting")
    if has_secret and parts.scheme == "http" and not _is_loopback(host):
        raise OutgoingRequestError(address, "the credential would be sent without encryption", "give https://")
    return address


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def _verifying_tls(address: str, ca_file: str | None, ca_pem: str | None) -> ssl.SSLContext:
    try:
        folder = ca_file if ca_file is not None and Path(ca_file).is_dir() else None
        context = ssl.create_default_context(cafile=None if folder else ca_file, capath=folder, cadata=ca_pem)
    except (OSError, ValueError) as failure:
        reason = getattr(failure, "strerror", None) or "no PEM"
        problem = f"its CA {ca_file or 'given as PEM'} cannot be used ({reason})"
        raise OutgoingRequestError(address, problem, "give PEM that openssl reads") from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


class AbandonedThreads(ThreadPoolExecutor):
    """For work without interruption (name lookups): no deadline and no exit waits for them."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def work() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(fn(*args, **kwargs))
                except Exception as failure:  # noqa: BLE001 # raised again through the future
                    future.set_exception(failure)

        threading.Thread(target=work, daemon=True, name="abandoned at its deadline").start()
        return future


async def _answer(
    address: str, client: httpx.AsyncClient, request: httpx.Request, seconds: float, largest: int
) -> HttpAnswer:
    asyncio.get_running_loop().set_default_executor(AbandonedThreads())
    # httpx limits only steps: a server may drip.
    async with asyncio.timeout(seconds), client:
        response = await client.send(request, stream=True)
        if 300 <= response.status_code < 400:
            raise redirect_error(address, response.status_code, response.headers.get("Location", ""))
        parts, size = [], 0
        async for part in response.aiter_raw():
            size += len(part)
            if size > largest:
                raise OutgoingRequestError(address, f"the answer is larger than {largest // 2**20} MiB")
            parts.append(part)
        return HttpAnswer(response.status_code, b"".join(parts))


def redirect_error(address: str, status: int, location: str) -> OutgoingRequestError:
    """Only the host: login paths and queries hold secrets."""
    try:
        host = urllib.parse.urlsplit(location).hostname
    except ValueError:
        host = None
    target = f"the host {excerpt(host)}" if host else "another path of the same host"
    problem = f"it redirects to {target} ({status}), and no redirect is followed"
    return OutgoingRequestError(address, problem, "if you trust that address, give it instead")


def _request_error(address: str, failure: Exception) -> OutgoingRequestError:
    """The text of httpx may quote a header, a proxy or the address."""
    import httpx

    if isinstance(failure, httpx.TimeoutException):
        return OutgoingRequestError(address, "no answer in time")
    causes = list(_causes(failure))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            problem = f"its certificate is not trusted ({excerpt(cause.verify_message)})"
            return OutgoingRequestError(address, problem, "name the CA that signed it")
    for cause in reversed(causes):
        if isinstance(cause, ssl.SSLError):
            return OutgoingRequestError(address, f"TLS fails ({excerpt(cause.reason or 'no reason')})")
        if isinstance(cause, OSError) and cause.errno:
            # Name lookup codes are negative.
            reason = str(cause.strerror) if cause.errno < 0 else os.strerror(cause.errno)
            return OutgoingRequestError(address, excerpt(reason))
    if isinstance(failure, httpx.ProxyError):
        return OutgoingRequestError(address, "the proxy refuses the connection", "check HTTPS_PROXY and NO_PROXY")
    return OutgoingRequestError(address, f"the answer is no whole answer of HTTP ({type(failure).__name__})")


def _causes(failure: BaseException | None) -> Iterator[BaseException]:
    while failure is not None:
        yield failure
        several = failure.exceptions if isinstance(failure, BaseExceptionGroup) else ()
        failure = several[0] if several else failure.__cause__ or failure.__context__
