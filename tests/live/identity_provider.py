"""An identity provider on loopback: tokens by the client credentials grant, signed; and the keys to check them."""

from __future__ import annotations

import base64
import contextlib
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

CLIENT_ID, CLIENT_SECRET = "advisor-app", "token-secret"
ISSUER, AUDIENCE = "https://provider.test", "kafka"  # brokers of 4.4 check both


@dataclass(frozen=True)
class IdentityProvider:
    """``keys``: a file of public keys (JWKS) for brokers; ``url``: where clients ask for tokens."""

    key: rsa.RSAPrivateKey
    keys: Path
    url: str = ""

    def token(self, subject: str, lasts_s: float = 600.0) -> str:
        """A signed token (RS256) for ``subject``."""
        now = int(time.time())
        claims = {"sub": subject, "iat": now - 5, "exp": now + lasts_s, "scope": "kafka"}
        claims |= {"iss": ISSUER, "aud": AUDIENCE}
        signed = f"{_part({'alg': 'RS256', 'kid': 'one', 'typ': 'JWT'})}.{_part(claims)}"
        return f"{signed}.{_text(self.key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


@contextlib.contextmanager
def identity_provider(folder: Path, subject: str) -> Iterator[IdentityProvider]:
    """Whoever knows the secret is ``subject``."""
    key = rsa.generate_private_key(65537, 2048)
    numbers = key.public_key().public_numbers()
    n, e = (_text(value.to_bytes((value.bit_length() + 7) // 8, "big")) for value in (numbers.n, numbers.e))
    keys = folder / "jwks.json"
    keys.write_text(json.dumps({"keys": [{"kty": "RSA", "kid": "one", "alg": "RS256", "use": "sig", "n": n, "e": e}]}))
    silent = IdentityProvider(key, keys)
    expected = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            is_known = self.headers.get("Authorization") == f"Basic {expected}"
            body = (
                {"access_token": silent.token(subject), "expires_in": 600} if is_known else {"error": "invalid_client"}
            )
            self.send_response(200 if is_known else 401)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield IdentityProvider(key, keys, f"http://127.0.0.1:{server.server_port}/token")
        server.shutdown()
        thread.join()


def _part(document: dict[str, object]) -> str:
    return _text(json.dumps(document).encode())


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
