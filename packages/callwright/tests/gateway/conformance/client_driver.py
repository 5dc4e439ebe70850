"""The command that the conformance suite runs for its client scenarios: a client that reaches the
suite's server through the gateway, so that the gateway is the client which the suite examines.

``python client_driver.py URL``; the scenario is in the environment, as the suite puts it there.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, MCPError
from mcp.types import (
    CreateMessageResult,
    ElicitRequestFormParams,
    ElicitResult,
    ListRootsResult,
    TextContent,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from callwright.gateway.configuration import read_servers
from callwright.gateway.oauth.login import LoginOptions, log_in
from callwright.gateway.oauth.login_store import LoginStore
from callwright.gateway.oauth.server_auth import ServerLogins
from callwright.gateway.server.gateway import Gateway, GatewaySetup
from callwright.gateway.server.handlers import build_server
from callwright.nouns.errors import CatalogError
from callwright.tools.servers import Server

Steps = Callable[[Client], Awaitable[None]]
SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
CONTEXT: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
VERSION = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "")


async def list_only(client: Client) -> None:
    await client.list_tools()


def call_tools(*calls: tuple[str, dict[str, Any]]) -> Steps:
    async def steps(client: Client) -> None:
        await client.list_tools()
        for name, arguments in calls:
            await client.call_tool(name, arguments)

    return steps


async def touch_everything(client: Client) -> None:
    """One request of each kind that has a header of its own."""
    await call_each(client)
    for resource in (await client.list_resources()).resources[:1]:
        await client.read_resource(resource.uri)
    for prompt in (await client.list_prompts()).prompts[:1]:
        await client.get_prompt(prompt.name)


async def call_each(client: Client) -> None:
    """Call every tool that the gateway lists."""
    for tool in (await client.list_tools()).tools:
        required = tool.input_schema.get("required", [])
        kinds = {k: v.get("type") for k, v in tool.input_schema.get("properties", {}).items()}
        values: dict[Any, Any] = {"integer": 0, "number": 0, "boolean": False, "string": "x"}
        await try_call(client, tool.name, {key: values.get(kinds[key], "x") for key in required})


async def replay_calls(client: Client) -> None:
    """Make the calls that the suite gives."""
    listed = {tool.name for tool in (await client.list_tools()).tools}
    for call in CONTEXT.get("toolCalls", []):
        if call["name"] in listed:
            await try_call(client, call["name"], call.get("arguments") or {})


SAID: list[str] = []


def _find_wanted_scope() -> str:
    """The scope that the last result says a login needs."""
    found = re.search(r"gateway login suite --scope '([^']+)'", SAID[-1] if SAID else "")
    return found[1] if found else ""


async def try_call(client: Client, name: str, arguments: dict[str, Any]) -> None:
    """Call a tool; its error is the suite's affair."""
    try:
        result = await client.call_tool(name, arguments)
        SAID.append(str(result.content))
        logging.info("%s %s -> %s", name, arguments, result)
    except MCPError as error:
        logging.info("%s %s -> %s", name, arguments, error)


async def call_first(client: Client) -> None:
    for tool in (await client.list_tools()).tools[:1]:
        await try_call(client, tool.name, {})


async def call_with_states(client: Client) -> None:
    await client.list_tools()
    for name in ("echo_state", "unrelated", "no_state", "no_result_type"):
        await client.call_tool(f"test_mrtr_{name}", {})


async def echo_schema(client: Client) -> None:
    """Send a tool's schema back as it was listed."""
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    schema = listed["json_schema_2020_12_tool"].input_schema
    await try_call(client, "json_schema_echo", {"schema": schema})


ADD = ("add_numbers", {"a": 5, "b": 3})
STEPS: dict[str, Steps] = {
    "initialize": list_only,
    "json-schema-ref-no-deref": list_only,
    "json-schema-2020-12-preservation": echo_schema,
    "tools_call": call_tools(ADD),
    "request-metadata": call_tools(ADD),
    "sse-retry": call_tools(("test_reconnection", {})),
    "elicitation-sep1034-client-defaults": call_tools(("test_client_elicitation_defaults", {})),
    "http-standard-headers": touch_everything,
    "http-custom-headers": replay_calls,
    "http-invalid-tool-headers": call_each,
    "sep-2322-client-request-state": call_with_states,
}


async def main(url: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        logins = LoginStore(Path(folder) / "logins")
        if SCENARIO.startswith("auth/"):
            await log_in_by_itself(url, logins)
        found = read_servers({"suite": {"url": url, "prefix": ""}}, Path(folder))
        setup = GatewaySetup(
            entries=found.entries, consent="client", logins=ServerLogins(logins), list_seconds=30
        )
        gateway = Gateway(setup)
        mode: Any = "auto" if VERSION in MODERN_PROTOCOL_VERSIONS else "legacy"
        async with (
            gateway.running(),
            Client(
                build_server(gateway),
                mode=mode,
                sampling_callback=sample,
                list_roots_callback=list_roots,
                elicitation_callback=elicit,
            ) as client,
        ):
            await STEPS.get(SCENARIO, call_first)(client)
            for _ in range(3):  # as a user who does what the gateway says, and gives up in the end
                scope = _find_wanted_scope()
                if not scope:
                    break
                await log_in_by_itself(url, logins, scope)
                await call_first(client)
        problems = [one.health.last for one in gateway.upstreams.values() if one.health.last]
        logging.info("problems: %s", problems)
        if problems:
            sys.exit(1)


async def log_in_by_itself(url: str, logins: LoginStore, scope: str = "") -> None:
    """``callwright gateway login``, with a browser that clicks by itself."""
    async with asyncio.TaskGroup() as group:

        async def visit(address: str) -> None:
            async with httpx2.AsyncClient(follow_redirects=True, trust_env=False) as browser:
                await browser.get(address)

        options = LoginOptions(
            client_id=CONTEXT.get("client_id", ""),
            client_secret=CONTEXT.get("client_secret", ""),
            client_document="https://conformance-test.local/client-metadata.json",
            scope=scope,
        )
        try:
            await log_in(
                Server("suite", url=url),
                logins.open("", url),
                lambda address: group.create_task(visit(address)) and None,
                options,
            )
        except CatalogError as error:
            logging.info("no login: %s", error)


async def sample(context: Any, params: Any) -> CreateMessageResult:
    said = TextContent(type="text", text="")
    return CreateMessageResult(role="assistant", content=said, model="none")


async def list_roots(context: Any) -> ListRootsResult:
    return ListRootsResult(roots=[])


async def elicit(context: Any, params: Any) -> ElicitResult:
    """Accept, with the defaults of the form."""
    content: dict[str, Any] = {}
    if isinstance(params, ElicitRequestFormParams):
        fields = params.requested_schema.get("properties", {})
        content = {name: one["default"] for name, one in fields.items() if "default" in one}
        if "confirmed" in fields:
            content["confirmed"] = True
    return ElicitResult(action="accept", content=content)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    asyncio.run(main(sys.argv[1]))
