"""The door over HTTP: who may use it, as whom, and what its own pages show."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx2
import mcp_types as types
import pytest

from callwright.gateway.server.authorizer import Principal, Unauthorized, Verdict
from callwright.models.secret import Secret
from callwright.nouns.types import JsonObject
from callwright.serving.access import Access
from callwright.serving.own_pages import JSON, Answer, build_answer
from tests.gateway.doors import (
    build_gateway,
    connect_http,
    peer,
    read_text,
    serve_http,
    try_call,
    world,
)

KEY = "a key of the gateway"
GUARDED = Access(Secret(KEY), what="gateway", variable="CALLWRIGHT_GATEWAY_KEY")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
ACCEPT = {"accept": "application/json, text/event-stream"}


def browse() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(timeout=20, trust_env=False)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_clients_of_both_eras_call_over_http(mode: str) -> None:
    gateway = build_gateway({"w": world(trusted=True), "old": world("--legacy", trusted=True)})
    async with serve_http(gateway) as address, connect_http(address, mode) as client:
        assert len((await client.list_tools()).tools) == 20
        for server in ("w", "old"):
            result = await client.call_tool(f"{server}__add", {"a": 1, "b": "2"})
            assert result.structured_content == {"sum": 3}
            assert (result.meta or {})["callwright/gateway"]["edits"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_approval_is_asked_of_a_client_that_can_be_asked(mode: str) -> None:
    asked: list[str] = []

    async def approve(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept" if len(asked) == 1 else "decline", content={})

    gateway = build_gateway({"w": world()})
    async with (
        serve_http(gateway) as address,
        connect_http(address, mode, elicitation_callback=approve) as client,
    ):
        await client.list_tools()
        assert await try_call(client, "w__add", {"a": 1, "b": 2}) == "3"
        assert "'add' of the server 'w'" in asked[0]
        assert "the user said no" in await try_call(client, "w__add", {"a": 1, "b": 2})
        assert len(asked) == 2


async def test_a_client_cannot_approve_what_its_user_was_not_asked() -> None:
    async def approve(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="decline")

    answer = types.ElicitResult(action="accept", content={})
    gateway = build_gateway({"w": world()})
    async with (
        serve_http(gateway) as address,
        connect_http(address, elicitation_callback=approve) as client,
    ):
        await client.list_tools()
        told = await client.session.call_tool(
            "w__add",
            {"a": 1, "b": 2},
            input_responses={"callwright/consent": answer},
            allow_input_required=True,
        )
        assert isinstance(told, types.InputRequiredResult)


async def test_without_the_key_nothing_is_served_and_with_it_all_is() -> None:
    gateway = build_gateway({"p": peer(approve=["pid"])})
    async with serve_http(gateway, GUARDED) as address, browse() as http:
        refused = await http.post(f"{address}/mcp", json=INITIALIZE, headers=ACCEPT)
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        assert (await http.get(f"{address}/callwright")).status_code == 401
        assert (await http.get(f"{address}/metrics")).status_code == 401
        assert (await http.get(f"{address}/health")).json()["authorization"] == "key"
        bearer = {"authorization": f"Bearer {KEY}"}
        async with connect_http(address, headers=bearer) as client:
            await client.list_tools()
            assert "pid" in await try_call(client, "p__pid")
        assert (await http.get(f"{address}/metrics", headers=bearer)).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost:3000"}, 200),
    ],
)
async def test_a_web_page_of_another_site_may_not_use_it(
    headers: dict[str, str], status: int
) -> None:
    gateway = build_gateway({"p": peer()})
    async with serve_http(gateway) as address, browse() as http:
        told = await http.post(f"{address}/mcp", json=INITIALIZE, headers={**ACCEPT, **headers})
        assert told.status_code == status


async def test_its_pages_show_servers_and_calls_without_secrets() -> None:
    gateway = build_gateway({"p": peer(approve=["*"]), "gone": {"command": "/no/such/program"}})
    async with serve_http(gateway) as address, browse() as http:
        page = await http.get(f"{address}/callwright", headers={"accept": "text/html"})
        assert "No call yet" in page.text
        async with connect_http(address) as client:
            await client.list_tools()
            await try_call(client, "p__pid", {"api_key": "abcdef123456", "x": "<script>"})
            await try_call(client, "p__pidd")
        page = await http.get(f"{address}/callwright", headers={"accept": "text/html"})
        assert "p__pid" in page.text
        assert "abcdef123456" not in page.text
        assert "<script>alert" not in page.text
        assert "no command" in page.text
        again = await http.get(
            f"{address}/callwright", headers={"if-none-match": page.headers["etag"]}
        )
        assert again.status_code == 304
        metrics = (await http.get(f"{address}/metrics")).text
        assert 'callwright_gateway_calls_total{server="p",outcome="passed"} 1' in metrics
        assert 'callwright_gateway_refused_total{reason="unknown_tool"} 1' in metrics
        assert 'callwright_gateway_server_up{server="gone"} 0' in metrics
        servers = (await http.get(f"{address}/callwright/servers.json")).json()
        assert [one["name"] for one in servers] == ["p", "gone"]
        front = await http.get(f"{address}/", headers={"accept": "text/html"})
        assert "/mcp" in front.text
        assert (await http.get(f"{address}/nowhere")).status_code == 404
        assert (await http.post(f"{address}/metrics")).status_code == 405


async def test_the_right_key_opens_the_pages_in_a_browser() -> None:
    gateway = build_gateway({"p": peer()})
    async with serve_http(gateway, GUARDED) as address, browse() as http:
        form = await http.get(f"{address}/callwright", headers={"accept": "text/html"})
        assert form.status_code == 401
        assert "CALLWRIGHT_GATEWAY_KEY" in form.text
        wrong = await http.post(f"{address}/callwright/login", data={"key": "no"})
        assert wrong.status_code == 401
        right = await http.post(f"{address}/callwright/login", data={"key": KEY})
        assert right.status_code == 303
        cookie = right.headers["set-cookie"].partition(";")[0]
        page = await http.get(f"{address}/callwright", headers={"cookie": cookie})
        assert page.status_code == 200


async def test_a_session_that_its_client_ends_leaves_no_process_behind() -> None:
    async def list_roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[])

    gateway = build_gateway({"p": peer(approve=["*"])})
    async with serve_http(gateway) as address:
        async with connect_http(address, "legacy", list_roots_callback=list_roots) as client:
            await client.list_tools()
            assert len(gateway.upstreams["p"].links) == 1
            assert gateway.sessions.count() == 1
        assert gateway.upstreams["p"].links == ()
        assert gateway.sessions.count() == 0


async def test_who_ends_a_session_that_is_not_theirs_ends_nothing() -> None:
    gateway = build_gateway({"p": peer(approve=["*"])})
    async with (
        serve_http(gateway) as address,
        connect_http(address, "auto") as client,
        browse() as http,
    ):
        await client.list_tools()
        links = gateway.upstreams["p"].links
        for headers in ({}, {"mcp-session-id": ""}, {"mcp-session-id": "nobody's"}):
            await http.delete(f"{address}/mcp", headers={**ACCEPT, **headers})
        assert len(links) == 1
        assert gateway.upstreams["p"].links == links


class TokenAuthorizer:
    """Knows its users by their tokens; the seam's second implementation."""

    def __init__(self, users: Mapping[str, Principal]) -> None:
        self._users = users

    async def authorize(self, scope: Mapping[str, Any]) -> Verdict:
        given = dict(scope["headers"]).get(b"authorization", b"").decode()
        user = self._users.get(given.removeprefix("Bearer "))
        said = (("www-authenticate", 'Bearer resource_metadata="x"'),)
        return user or Unauthorized(401, "a token is needed", said)

    def find_page(self, path: str) -> Answer | None:
        is_own = path == "/.well-known/oauth-protected-resource/mcp"
        return build_answer(JSON, b"{}") if is_own else None

    def describe(self) -> JsonObject:
        return {"authorization": "tokens"}


USERS = {
    "token-ann": Principal("app", "https://id.example", "ann"),
    "token-bob": Principal("app", "https://id.example", "bob"),
}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_two_users_at_once_share_no_process_and_no_session(mode: str) -> None:
    gateway = build_gateway({"w": world(approve=["*"])})
    async with (
        serve_http(gateway, authorizer=TokenAuthorizer(USERS)) as address,
        connect_http(address, mode, {"authorization": "Bearer token-ann"}) as ann,
        connect_http(address, mode, {"authorization": "Bearer token-bob"}) as bob,
        browse() as http,
    ):
        processes = []
        for client in (ann, bob, ann):
            await client.list_tools()
            processes.append(read_text(await client.call_tool("w__whoami", {})))
        assert processes[0] == processes[2]
        assert processes[0] != processes[1]
        assert len(gateway.upstreams["w"].links) == 2
        unknown = await http.post(f"{address}/mcp", json=INITIALIZE, headers=ACCEPT)
        assert unknown.status_code == 401
        assert unknown.headers["www-authenticate"].startswith("Bearer resource_metadata")
        page = await http.get(f"{address}/.well-known/oauth-protected-resource/mcp")
        assert page.status_code == 200


async def test_a_session_belongs_to_the_user_who_opened_it() -> None:
    gateway = build_gateway({"w": world(approve=["*"])})
    async with serve_http(gateway, authorizer=TokenAuthorizer(USERS)) as address, browse() as http:
        ann = {**ACCEPT, "authorization": "Bearer token-ann"}
        opened = await http.post(f"{address}/mcp", json=INITIALIZE, headers=ann)
        session = opened.headers["mcp-session-id"]
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        for token, status in (("token-ann", 200), ("token-bob", 404)):
            headers = {
                **ACCEPT,
                "authorization": f"Bearer {token}",
                "mcp-session-id": session,
                "mcp-protocol-version": "2025-11-25",
            }
            told = await http.post(f"{address}/mcp", json=ping, headers=headers)
            assert told.status_code == status


async def test_the_state_of_a_call_that_asks_is_of_no_use_to_another_user() -> None:
    async def never(context: Any, params: Any) -> types.ElicitResult:
        raise AssertionError("nobody is asked here")

    gateway = build_gateway({"w": world()})
    async with (
        serve_http(gateway, authorizer=TokenAuthorizer(USERS)) as address,
        connect_http(
            address, headers={"authorization": "Bearer token-ann"}, elicitation_callback=never
        ) as ann,
        connect_http(
            address, headers={"authorization": "Bearer token-bob"}, elicitation_callback=never
        ) as bob,
    ):
        await ann.list_tools()
        asked = await ann.session.call_tool("w__add", {"a": 1, "b": 2}, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
        answers = {"callwright/consent": types.ElicitResult(action="accept", content={})}
        for client, arguments in ((bob, {"a": 1, "b": 2}), (ann, {"a": 1, "b": 3})):
            with pytest.raises(Exception, match="requestState"):
                await client.session.call_tool(
                    "w__add",
                    arguments,
                    input_responses=answers,
                    request_state=asked.request_state,
                    allow_input_required=True,
                )
        done = await ann.session.call_tool(
            "w__add",
            {"a": 1, "b": 2},
            input_responses=answers,
            request_state=asked.request_state,
            allow_input_required=True,
        )
        assert isinstance(done, types.CallToolResult)
        assert read_text(done) == "3"


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
async def test_a_client_that_leaves_within_its_request_is_no_error(
    version: str, capfd: pytest.CaptureFixture[str]
) -> None:
    gateway = build_gateway({"w": world(trusted=True)})
    head = (
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        "accept: application/json, text/event-stream\r\n"
        f"mcp-protocol-version: {version}\r\ncontent-length: 1000\r\n\r\n"
    )
    async with serve_http(gateway) as address:
        port = int(address.rpartition(":")[2])
        for _ in range(5):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(head.encode() + b'{"jsonrpc"')
            await writer.drain()
            writer.transport.abort()
        async with connect_http(address) as client:
            assert await try_call(client, "w__add", {"a": 1, "b": 2}) == "3"
    assert capfd.readouterr().err == ""
