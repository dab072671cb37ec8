from __future__ import annotations

import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.kafka.connection import tokens
from rebalance_advisor.kafka.connection.logins import client_options
from rebalance_advisor.kafka.connection.properties import connection_settings
from rebalance_advisor.kafka.connection.settings import TokenSource
from rebalance_advisor.kafka.connection.tokens import TokenRefusedError, fetched_token
from rebalance_advisor.outgoing_http import HttpAnswer, OutgoingRequestError, ask, checked_address
from rebalance_advisor.prometheus.http_api import PrometheusError, Server
from stack.kafka.security import Certificates, make_certificates

SECRET = "hunter2-token"
ERRORS = (OutgoingRequestError, PrometheusError, TokenRefusedError)
SECONDS = 0.5


def prometheus(url: str, folder: Path, ca: str | None) -> None:
    (folder / "token").write_text(SECRET)
    server = Server.at(url, folder / "token", None if ca is None else Path(ca))
    server.query("up", datetime.now(UTC), SECONDS)


def token_endpoint(url: str, _: Path, ca: str | None) -> None:
    fetched_token(TokenSource(url, "me", SECRET, ca_location=ca), 0.0)


# By its row in docs/internals/connections.md: a request to URL that carries SECRET.
CALLERS: dict[str, Callable[[str, Path, str | None], None]] = {
    "Prometheus": prometheus,
    "OAuth token endpoint": token_endpoint,
}
each_caller = pytest.mark.parametrize("name", CALLERS)


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_FETCH_SECONDS", SECONDS)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("http") / "keys")


@dataclass
class WebServer:
    """Answers every request with the same, and records what came: head and body in one text."""

    url: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b'{"access_token": "t", "data": {"resultType": "vector", "result": []}}'
    seen: list[str] = field(default_factory=list)


@contextmanager
def web_server(certificate: Path | None = None) -> Iterator[WebServer]:
    """On a port of its own, until the end of the block; with TLS where there is a ``certificate``."""
    web = WebServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # an S3 client waits for 100-continue

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            web.seen.append(f"{self.requestline}\n{self.headers}\n{body}")
            self.send_response(web.status)
            for header, value in {**web.headers, "Content-Length": str(len(web.body))}.items():
                self.send_header(header, value)
            self.end_headers()
            with suppress(OSError):  # the client hangs up where the answer is too large
                self.wfile.write(web.body)

        do_GET = do_PUT = do_HEAD = do_DELETE = do_POST

        def log_message(self, *_: object) -> None: ...

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """A client that hangs up is part of these tests."""

    with Quiet(("127.0.0.1", 0), Handler) as listening:
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            listening.socket = context.wrap_socket(listening.socket, server_side=True)
        thread = threading.Thread(target=listening.serve_forever, args=(0.02,))
        thread.start()
        web.url = f"{'http' if certificate is None else 'https'}://127.0.0.1:{listening.server_port}"
        try:
            yield web
        finally:
            listening.shutdown()
            thread.join()


@contextmanager
def dripping(head: bytes, drop: bytes) -> Iterator[str]:
    """The address of a server that sends ``head`` at once, then a ``drop`` now and then, until the block ends."""
    over = threading.Event()

    def serve() -> None:
        with suppress(OSError), listening.accept()[0] as connection:
            connection.sendall(head)
            while not over.wait(0.05):
                connection.sendall(drop)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            over.set()
            thread.join()


def failure(name: str, url: str, folder: Path, ca: str | None = None) -> str:
    with pytest.raises(ERRORS) as error:
        CALLERS[name](url, folder, ca)
    assert SECRET not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("form", [None, {"q": "1"}], ids=["GET", "POST"])
def test_no_redirect_is_followed_and_the_error_names_the_other_host(status: int, form: dict[str, str] | None) -> None:
    with web_server() as first, web_server() as second:
        first.status, first.headers = status, {"Location": f"{second.url}/steal?{SECRET}"}
        with pytest.raises(OutgoingRequestError, match=rf"redirects to the host '127.0.0.1' \({status}\)") as error:
            ask(first.url, form=form, headers={"Authorization": SECRET}, has_secret=True, seconds=10)
    assert (len(first.seen), second.seen) == (1, [])
    assert SECRET not in str(error.value)


@each_caller
def test_credentials_do_not_follow_a_redirect(name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with web_server() as first, web_server() as second:
        for first.status in (301, 302, 303, 307, 308):
            first.headers = {"Location": second.url.replace("127.0.0.1", "localhost")}
            text = failure(name, first.url, tmp_path)
            assert f"redirects to the host 'localhost' ({first.status}), and no redirect is followed" in text
            assert "if you trust that address, give it instead" in text
    assert (len(first.seen), second.seen) == (5, [])
    assert SECRET not in caplog.text


def test_a_redirect_without_a_host_is_named_as_such() -> None:
    with web_server() as server:
        server.status = 302
        for server.headers in ({}, {"Location": "/login"}):
            with pytest.raises(OutgoingRequestError, match="redirects to another path of the same host"):
                ask(server.url, has_secret=False, seconds=10)


@each_caller
def test_certificates_and_host_names_are_verified(name: str, tmp_path: Path, certificates: Certificates) -> None:
    with web_server(certificates.broker) as server:
        CALLERS[name](server.url, tmp_path, str(certificates.authority))
        for ca in (None, str(certificates.other_authority)):
            assert "its certificate is not trusted" in failure(name, server.url, tmp_path, ca)
        other_name = server.url.replace("127.0.0.1", "localhost")
        assert "its certificate is not trusted" in failure(name, other_name, tmp_path, str(certificates.authority))
        assert "none.pem cannot be used" in failure(name, server.url, tmp_path, str(tmp_path / "none.pem"))
    assert len(server.seen) == 1


@each_caller
def test_a_server_that_is_silent_or_drips_is_abandoned(name: str, tmp_path: Path) -> None:
    for head, drop in (
        (b"", b""),
        (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b"{"),
    ):
        with dripping(head, drop) as url:
            assert f"no whole answer within {SECONDS:g} s" in failure(name, url, tmp_path)


@each_caller
def test_plain_http_carries_a_credential_to_loopback_only(name: str, tmp_path: Path) -> None:
    assert "would be sent without encryption" in failure(name, "http://idp.example.org/token", tmp_path)


@each_caller
def test_an_error_does_not_hold_what_the_address_keeps_secret(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    failure(name, f"http://me:{SECRET}@127.0.0.1:1/token", tmp_path)
    failure(name, f"https://me:{SECRET}@127.0.0.1:1/token", tmp_path)
    assert SECRET not in caplog.text


def test_a_prometheus_without_credentials_may_speak_plain_http() -> None:
    assert Server.at("http://prometheus.example.org:9090").headers == {}
    with pytest.raises(PrometheusError, match="would be sent without encryption"):
        Server.at("http://me:hunter2@prometheus.example.org:9090")


def test_an_answer_is_at_most_so_large() -> None:
    with web_server() as server:
        server.body = bytes(2**20)
        assert ask(server.url, has_secret=False, seconds=30, largest=2**20) == HttpAnswer(200, server.body)
        server.body += b"0"
        with pytest.raises(OutgoingRequestError, match="the answer is larger than 1 MiB"):
            ask(server.url, has_secret=False, seconds=30, largest=2**20)


def test_a_compressed_answer_is_not_unpacked() -> None:
    """A few KiB could become gigabytes."""
    with web_server() as server:
        server.headers, server.body = {"Content-Encoding": "gzip"}, b"\x1f\x8b no gzip"
        assert ask(server.url, has_secret=False, seconds=30).body == server.body
    assert "Accept-Encoding: identity" in server.seen[0]


def test_a_name_server_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    over, is_left = threading.Event(), threading.Event()

    def lookup(*_: object, **__: object) -> None:
        over.wait(30)
        is_left.set()
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    with pytest.raises(OutgoingRequestError, match="no "):
        ask("http://prometheus.example.org", has_secret=False, seconds=0.2)
    assert not is_left.is_set(), "it waited for the lookup"
    over.set()
    assert is_left.wait(30), "the lookup's thread did not end"


def test_loopback_is_asked_without_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with web_server() as server, web_server() as proxy:
        for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(variable, proxy.url)
        ask(server.url, headers={"Authorization": SECRET}, has_secret=True, seconds=30)
        assert (len(server.seen), proxy.seen) == (1, [])
        ask("http://prometheus.example.org", has_secret=False, seconds=30)
        assert len(proxy.seen) == 1


@pytest.mark.parametrize("port", ["", ":99999", ":x"])
@pytest.mark.parametrize("address", ["ftp://host", "host", "http://", "http://a b", "http://h\n", "http://[::1", ""])
def test_what_is_no_address_is_refused(address: str, port: str) -> None:
    with pytest.raises(OutgoingRequestError):
        checked_address(f"{address}{port}", has_secret=False)


def test_a_header_that_http_does_not_allow_is_refused_without_its_value() -> None:
    for value in (f"{SECRET}\r\nX: 1", f"{SECRET}\u20ac"):
        with pytest.raises(OutgoingRequestError, match="a header has a character") as error:
            ask("http://127.0.0.1:1", headers={"Authorization": value}, has_secret=True, seconds=1)
        assert SECRET not in str(error.value)


def test_what_is_no_http_is_said_in_words() -> None:
    for answer in (b"220 mail.example.org ESMTP\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"):
        with dripping(answer, b"\r\n") as url, pytest.raises(OutgoingRequestError, match="no whole answer of HTTP"):
            ask(url, has_secret=False, seconds=30)


LAX = {
    "bootstrap.servers": "b:1", "security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.client.credentials.client.id": "me",
    "sasl.oauthbearer.client.credentials.client.secret": SECRET,
    "enable.ssl.certificate.verification": "false", "ssl.endpoint.identification.algorithm": "",
}  # fmt: skip


def token_of(url: str, **properties: str) -> str:
    """The token for a broker whose own TLS settings verify nothing."""
    given = {key.replace("_", "."): value for key, value in properties.items()}
    settings = connection_settings({**LAX, "sasl.oauthbearer.token.endpoint.url": url, **given})
    assert not settings.is_certificate_verified
    return str(client_options(settings)["sasl_oauth_token_provider"].token())


def test_the_token_endpoint_has_tls_of_its_own(certificates: Certificates) -> None:
    """The broker's CA is taken where https.ca.* names no other one; that it verifies nothing is not."""
    right, wrong = str(certificates.authority), str(certificates.other_authority)
    with web_server(certificates.broker) as server:
        for given in ({}, {"https_ca_location": "probe", "ssl_ca_location": right}, {"https_ca_location": wrong}):
            with pytest.raises(TokenRefusedError, match="its certificate is not trusted"):
                token_of(server.url, **given)
        assert server.seen == []
        assert token_of(server.url, ssl_ca_location=right) == "t"
        assert token_of(server.url, https_ca_location=right, ssl_ca_location=wrong) == "t"
        assert token_of(server.url, https_ca_pem=certificates.authority.read_text(), ssl_ca_location=wrong) == "t"
        with pytest.raises(TokenRefusedError, match="its certificate is not trusted"):
            token_of(server.url.replace("127.0.0.1", "localhost"), ssl_ca_location=right)


def test_wrong_properties_of_the_token_endpoint_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="would be sent without encryption"):
        token_of("http://idp.example.org/token")
    with pytest.raises(InvalidInputError, match="holds a user or password") as error:
        token_of(f"https://me:{SECRET}@idp.example.org/token")
    assert SECRET not in str(error.value)
    with pytest.raises(InvalidInputError, match="name the same thing"):
        token_of("https://idp.example.org/token", https_ca_location="a.pem", https_ca_pem="b")
    with pytest.raises(InvalidInputError, match=r"is https.ca.location meant"):
        token_of("https://idp.example.org/token", https_ca_locatoin="a.pem")
