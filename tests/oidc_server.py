"""A university's OpenID Connect in small: a real HTTP server with a key of its own, which tells what a test wants."""

import base64
import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

CLIENT, SECRET = "assent", "between-us"


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class University:
    """What it says. `claims` are laid over an honest token's; a claim that is None is left out."""

    key: rsa.RSAPrivateKey = field(default_factory=new_key)
    issuer: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    signing_key: Any = None
    algorithm: str = "RS256"
    is_basic: bool = True  # takes the client's secret as HTTP Basic only
    is_down: bool = False
    asked: list[dict[str, str]] = field(default_factory=list)  # what clients came with
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def discovery(self) -> dict[str, Any]:
        at = self.issuer
        found = {
            "issuer": at,
            "authorization_endpoint": f"{at}/authorize",
            "token_endpoint": f"{at}/token",
            "jwks_uri": f"{at}/keys",
            "userinfo_endpoint": f"{at}/userinfo",
        }
        if not self.is_basic:
            found["token_endpoint_auth_methods_supported"] = ["client_secret_post"]  # type: ignore[assignment]
        return {**found, **self.metadata}

    def keys(self) -> dict[str, Any]:
        public = json.loads(RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [{**public, "kid": "one", "use": "sig"}]}

    def authorize(self, query: dict[str, str]) -> str:
        """Return where the person's browser is sent back to: they signed in there, and agreed."""
        self.asked.append(query)
        code = f"code-{len(self.asked)}"
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: dict[str, str], *, authorization: str) -> tuple[int, dict[str, Any]]:
        """Give an ID token for a code, once, to our client alone (RFC 6749, RFC 7636)."""
        asked = self.codes.pop(form.get("code", ""), None)
        basic = "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        is_client = authorization == basic if self.is_basic else form.get("client_secret") == SECRET
        if asked is None or not is_client or form.get("redirect_uri") != asked["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        proof = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(proof).rstrip(b"=").decode() != asked["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        return 200, {
            "access_token": "access",
            "token_type": "Bearer",
            "id_token": self.id_token(asked["nonce"]),
        }

    def id_token(self, nonce: str) -> str:
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "sub": "1", "nonce": nonce, "iat": now, "exp": now + 300}
        claims = {**claims, "email": "ada@university.example", "email_verified": True, **self.claims}
        told = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(told, self.signing_key or self.key, self.algorithm, headers={"kid": "one"})


def handler_of(university: University) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if university.is_down:
                self.answer(500, {})
            elif parts.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", university.authorize(dict(parse_qsl(parts.query))))
                self.end_headers()
            else:
                pages = {"/keys": university.keys(), "/userinfo": university.userinfo}
                found = pages.get(parts.path, university.discovery())
                self.answer(200, found)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            given = self.headers.get("Authorization", "")
            self.answer(*university.token(dict(parse_qsl(body)), authorization=given))

        def answer(self, status: int, content: dict[str, Any]) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, *args: Any) -> None:
            pass

    return Handler


@contextmanager
def serve(university: University) -> Iterator[University]:
    """Answer on a free port of this machine until the end of the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(university))
    university.issuer = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield university
    finally:
        server.shutdown()
        server.server_close()
