from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from callwright.gateway.oauth.guard import OAuthGuard
from callwright.gateway.oauth.jwt_verifier import JwtVerifier
from callwright.gateway.oauth.resource import OAuthResource
from callwright.http import Egress, HttpClient, HttpResponse
from tests.gateway.oauth.issuer import Issuer, serve_app

RESOURCE = "https://tools.example.org/mcp"
METADATA = "/.well-known/oauth-protected-resource/mcp"


async def show(request: Request) -> JSONResponse:
    """What the application behind the guard sees."""
    token = get_access_token()
    return JSONResponse(
        {
            "headers": sorted(request.headers),
            "subject": token.subject if token else None,
            "token": token.token if token else None,
        }
    )


@asynccontextmanager
async def guarded(issuer: Issuer) -> AsyncIterator[str]:
    inner = Starlette(routes=[Route("/mcp", show, methods=["POST"]), Route("/healthz", show)])
    resource = OAuthResource(resource=RESOURCE, issuers=(issuer.url,), scopes=("tools",))
    async with (
        aclosing(JwtVerifier(resource)) as verifier,
        serve_app(OAuthGuard(inner, resource, verifier)) as url,
    ):
        yield url


async def ask(method: str, url: str, *authorization: str) -> tuple[int, HttpResponse, Any]:
    client = HttpClient(Egress.any())
    headers = {"authorization": authorization[0]} if authorization else {}
    try:
        found = await client.request(method, url, headers=headers)
    finally:
        await client.aclose()
    assert isinstance(found, HttpResponse)
    return found.status, found, json.loads(found.body or b"null")


async def test_a_request_without_a_token_is_told_where_to_get_one(issuer: Issuer) -> None:
    async with guarded(issuer) as url:
        status, answer, _ = await ask("POST", f"{url}/mcp")
        assert status == 401
        assert answer.headers["www-authenticate"] == (
            f'Bearer scope="tools", resource_metadata="https://tools.example.org{METADATA}"'
        )
        status, answer, told = await ask("GET", f"{url}{METADATA}")
        assert (status, told["authorization_servers"]) == (200, [issuer.url])
        assert answer.headers["access-control-allow-origin"] == "*"


async def test_behind_the_guard_the_user_is_known_and_the_token_is_gone(issuer: Issuer) -> None:
    async with guarded(issuer) as url:
        token = issuer.token(RESOURCE)
        status, _, told = await ask("POST", f"{url}/mcp", f"Bearer {token}")
        assert status == 200
        assert told["subject"] == "ann"
        assert told["token"] == ""
        assert "authorization" not in told["headers"]


async def test_a_token_for_another_resource_is_refused_with_its_error(issuer: Issuer) -> None:
    async with guarded(issuer) as url:
        token = issuer.token("https://other.example.org/mcp")
        status, answer, told = await ask("POST", f"{url}/mcp", f"Bearer {token}")
        assert status == 401
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]
        assert told["error_description"] == "it was not issued for this resource"


async def test_a_missing_scope_is_403_and_named(issuer: Issuer) -> None:
    async with guarded(issuer) as url:
        token = issuer.token(RESOURCE, scope="openid")
        status, answer, _ = await ask("POST", f"{url}/mcp", f"Bearer {token}")
        assert status == 403
        assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
        assert 'scope="tools"' in answer.headers["www-authenticate"]


async def test_another_scheme_is_no_bearer_token(issuer: Issuer) -> None:
    async with guarded(issuer) as url:
        status, answer, _ = await ask("POST", f"{url}/mcp", "Basic YTpi")
        assert status == 401
        assert "invalid_token" in answer.headers["www-authenticate"]


async def test_an_issuer_that_is_gone_is_503_and_no_fault_of_the_client(issuer: Issuer) -> None:
    gone = Issuer(url="http://127.0.0.1:9")
    async with guarded(gone) as url:
        status, answer, told = await ask("POST", f"{url}/mcp", f"Bearer {gone.token(RESOURCE)}")
        assert status == 503
        assert told["error"] == "temporarily_unavailable"
        assert "www-authenticate" not in answer.headers


async def test_other_paths_are_the_inner_application_s_affair(issuer: Issuer) -> None:
    async with guarded(issuer) as url:
        assert (await ask("GET", f"{url}/healthz"))[0] == 200
        assert (await ask("POST", f"{url}{METADATA}"))[0] == 405
