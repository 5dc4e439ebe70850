"""An authorization server on loopback: metadata, keys, registration, authorization code with PKCE,
refresh with rotation, introspection. It approves every user at once; whatever else a client has to
do right is checked.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from callwright.serving.sockets import open_socket

REALM = "/realm"  # most issuers have a path, and the SDK's models add a slash to those without


@asynccontextmanager
async def serve_app(app: Any) -> AsyncIterator[str]:
    """An ASGI application on a free port of the loopback; its origin."""
    with open_socket("127.0.0.1", 0) as listening:
        config = uvicorn.Config(app, log_level="error", ws="none", lifespan="on")
        server = uvicorn.Server(config)
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve(sockets=[listening]))
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
            server.should_exit = True


@dataclass
class Issuer:
    """``url`` is set when it is served. ``user`` is whoever logs in next. ``seen`` are the requests
    by path. ``lifetime``: seconds of an access token.
    """

    url: str = ""
    user: str = "ann"
    lifetime: int = 3600
    seen: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    clients: dict[str, dict[str, Any]] = field(default_factory=dict)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    refreshing: dict[str, dict[str, str]] = field(default_factory=dict)
    opaque: dict[str, dict[str, Any]] = field(default_factory=dict)
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )
    kid: str = "first"

    def rotate(self) -> None:
        """Sign with another key from now on."""
        self.key, self.kid = ec.generate_private_key(ec.SECP256R1()), secrets.token_hex(4)

    def claims(self, resource: str, **changed: Any) -> dict[str, Any]:
        made = {
            "iss": self.url,
            "aud": resource,
            "sub": self.user,
            "client_id": "c1",
            "scope": "tools",
            "iat": int(time.time()),
            "exp": int(time.time()) + self.lifetime,
            **changed,
        }
        return {name: value for name, value in made.items() if value is not None}

    def sign(self, claims: dict[str, Any], kind: str = "at+jwt", algorithm: str = "ES256") -> str:
        headers = {"typ": kind, "kid": self.kid}
        return jwt.encode(claims, self.key, algorithm=algorithm, headers=headers)

    def token(self, resource: str, **changed: Any) -> str:
        return self.sign(self.claims(resource, **changed))

    def opaque_token(self, resource: str, **changed: Any) -> str:
        made = secrets.token_urlsafe(16)
        self.opaque[made] = {"active": True, **self.claims(resource, **changed)}
        return made

    def count(self, path: str) -> int:
        return sum(one == path for one, _ in self.seen)

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route(f"/.well-known/oauth-authorization-server{REALM}", self._metadata),
                Route(f"{REALM}/keys", self._keys),
                Route(f"{REALM}/register", self._register, methods=["POST"]),
                Route(f"{REALM}/authorize", self._authorize),
                Route(f"{REALM}/token", self._token, methods=["POST"]),
                Route(f"{REALM}/introspect", self._introspect, methods=["POST"]),
            ]
        )

    async def _note(self, request: Request) -> dict[str, str]:
        body = (await request.body()).decode()
        form = {k: str(v) for k, v in (await request.form()).items()} if body else {}
        self.seen.append((_path_of(request), form))
        return form

    async def _metadata(self, request: Request) -> Response:
        await self._note(request)
        return JSONResponse(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "registration_endpoint": f"{self.url}/register",
                "jwks_uri": f"{self.url}/keys",
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "refresh_token"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
                "authorization_response_iss_parameter_supported": True,
            }
        )

    async def _keys(self, request: Request) -> Response:
        await self._note(request)
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key()))
        return JSONResponse({"keys": [{**public, "kid": self.kid, "use": "sig", "alg": "ES256"}]})

    async def _register(self, request: Request) -> Response:
        told = json.loads(await request.body())
        client = {**told, "client_id": secrets.token_hex(8), "token_endpoint_auth_method": "none"}
        self.clients[client["client_id"]] = client
        self.seen.append((_path_of(request), {"client_id": client["client_id"]}))
        return JSONResponse(client, 201)

    async def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        self.seen.append((_path_of(request), asked))
        client = self.clients[asked["client_id"]]
        assert asked["redirect_uri"] in client["redirect_uris"]
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self.codes[code] = {**asked, "user": self.user}
        told = urlencode({"code": code, "state": asked["state"], "iss": self.url})
        return RedirectResponse(f"{asked['redirect_uri']}?{told}", 302)

    async def _token(self, request: Request) -> Response:
        form = await self._note(request)
        if form["grant_type"] == "refresh_token":
            about = self.refreshing.pop(form["refresh_token"], None)
        else:
            about = self.codes.pop(form["code"], None)
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            if about is not None and challenge != about["code_challenge"]:
                about = None
        if about is None or about["client_id"] != form["client_id"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        refresh = secrets.token_urlsafe(16)
        self.refreshing[refresh] = about
        return JSONResponse(
            {
                "access_token": self.token(form["resource"], sub=about["user"]),
                "token_type": "Bearer",
                "expires_in": self.lifetime,
                "refresh_token": refresh,
                "scope": "tools",
            }
        )

    async def _introspect(self, request: Request) -> Response:
        form = await self._note(request)
        if request.headers.get("authorization") != f"Basic {_basic('gateway', 's3cret')}":
            return JSONResponse({}, 401)
        return JSONResponse(self.opaque.get(form["token"], {"active": False}))


def _path_of(request: Request) -> str:
    return request.url.path.removeprefix(REALM)


def _basic(name: str, secret: str) -> str:
    return base64.b64encode(f"{name}:{secret}".encode()).decode()


@asynccontextmanager
async def serve_issuer() -> AsyncIterator[Issuer]:
    """An authorization server that runs."""
    issuer = Issuer()
    async with serve_app(issuer.app()) as url:
        issuer.url = url + REALM
        yield issuer
