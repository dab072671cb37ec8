import base64
import json
import threading
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from rebalance_advisor.kafka.connection.settings import TokenSource
from rebalance_advisor.kafka.connection.tokens import TokenProvider, TokenRefusedError, fetched_token, unsecured_token


@dataclass
class TokenServer:
    """Identity provider: its answers, and the requests it got."""

    url: str = ""
    status: int = 200
    answer: bytes = b'{"access_token": "t-1", "expires_in": 600}'
    asked: list[tuple[str, dict[str, list[str]]]] = field(default_factory=list)


@pytest.fixture
def provider() -> Iterator[TokenServer]:
    server = TokenServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            login = base64.b64decode(self.headers["Authorization"].removeprefix("Basic ")).decode()
            server.asked.append((login, urllib.parse.parse_qs(body)))
            self.send_response(server.status)
            self.end_headers()
            self.wfile.write(server.answer)

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        server.url = f"http://127.0.0.1:{listening.server_port}/token"
        yield server
        listening.shutdown()
        thread.join()


def source(provider: TokenServer) -> TokenSource:
    return TokenSource(provider.url, "me", "se:cret", scope="kafka read")


def test_the_client_credentials_grant(provider: TokenServer) -> None:
    assert fetched_token(source(provider), 1000.0) == ("t-1", 1600.0)
    assert provider.asked == [("me:se:cret", {"grant_type": ["client_credentials"], "scope": ["kafka read"]})]
    fetched_token(replace(source(provider), scope=None, is_header_encoded=True), 0.0)
    assert provider.asked[1] == ("me:se%3Acret", {"grant_type": ["client_credentials"]})


def test_all_connections_share_one_token_until_it_ends(provider: TokenServer) -> None:
    tokens = TokenProvider(replace(source(provider), extensions=(("logicalCluster", "lkc-1"),)))
    assert [tokens.token(), tokens.token()] == ["t-1", "t-1"]
    assert len(provider.asked) == 1
    assert tokens.extensions() == {"logicalCluster": "lkc-1"}
    provider.answer = b'{"access_token": "t-2", "expires_in": 60}'
    short = TokenProvider(source(provider))
    assert [short.token(), short.token()] == ["t-2", "t-2"]
    assert len(provider.asked) == 3, "it ends within the margin: asked for each time"


@pytest.mark.parametrize(
    ("status", "answer", "message"),
    [
        (
            401,
            b'{"error": "invalid_client", "error_description": "se:cret"}',
            r"refused client 'me' \(401, invalid_client\)",
        ),
        (500, b"<html>se:cret</html>", r"refused client 'me' \(500\)"),
        (200, b'{"token_type": "Bearer"}', "answered without access_token"),
        (200, b"[]", "answered without access_token"),
        (200, b"<html>", "gives no token"),
    ],
)
def test_what_went_wrong_is_said_without_the_secret(
    provider: TokenServer, status: int, answer: bytes, message: str
) -> None:
    provider.status, provider.answer = status, answer
    with pytest.raises(TokenRefusedError, match=message) as refused:
        fetched_token(source(provider), 0.0)
    assert "se:cret" not in str(refused.value)


def test_nobody_at_the_endpoint() -> None:
    with pytest.raises(TokenRefusedError, match=r"http://127.0.0.1:1 gives no token \(.*refused"):
        fetched_token(TokenSource("http://127.0.0.1:1/t", "me", "x"), 0.0)


def test_a_token_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "a token").write_text("abc\n")
    assert fetched_token(TokenSource((tmp_path / "a token").as_uri()), 0.0)[0] == "abc"
    with pytest.raises(TokenRefusedError, match="none cannot be read"):
        fetched_token(TokenSource((tmp_path / "none").as_uri()), 0.0)


def test_an_unsecured_token_is_a_head_claims_and_no_signature() -> None:
    head, claims, signature = unsecured_token({"sub": "admin"}, 5.0).split(".")
    assert signature == ""
    parts = [json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))) for part in (head, claims)]
    assert parts == [{"alg": "none"}, {"sub": "admin", "iat": 5.0, "exp": 3605.0}]
    assert fetched_token(TokenSource(claims=(("sub", "admin"),)), 5.0) == (
        unsecured_token({"sub": "admin"}, 5.0),
        3605.0,
    )
