"""An MCP server that offers everything there is, written with the SDK, over stdio or HTTP.

``--legacy`` has it speak 2025-11-25 and older only, ``--port N`` serve HTTP.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated

OBJECT = {"type": "object", "properties": {}}
NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
TOOLS = [
    types.Tool(
        name="add",
        description="Add two numbers.",
        input_schema=NUMBERS,
        output_schema={"type": "object", "properties": {"sum": {"type": "integer"}}},
        annotations=types.ToolAnnotations(read_only_hint=True),
    ),
    types.Tool(name="order", description="Place an order.", input_schema=NUMBERS),
    types.Tool(name="ask_name", description="Greet the user.", input_schema=OBJECT),
    types.Tool(name="ask_model", description="Ask the client's model.", input_schema=OBJECT),
    types.Tool(name="ask_roots", description="List the client's roots.", input_schema=OBJECT),
    types.Tool(name="work", description="Work with progress and logs.", input_schema=OBJECT),
    types.Tool(name="wait", description="Wait until it is cancelled.", input_schema=OBJECT),
    types.Tool(name="link", description="Name a resource that no list has.", input_schema=OBJECT),
    types.Tool(name="touch", description="Change the watched resource.", input_schema=OBJECT),
    types.Tool(name="whoami", description="Tell the process and the key.", input_schema=OBJECT),
]
TASKS = "io.modelcontextprotocol/tasks"
LEGACY = "--legacy" in sys.argv
NOTE = "note://one"
NAME = types.ElicitRequest(
    params=types.ElicitRequestFormParams(
        message="What is your name?",
        requested_schema={
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        },
    )
)
SAMPLE = types.CreateMessageRequest(
    params=types.CreateMessageRequestParams(
        messages=[types.SamplingMessage(role="user", content=types.TextContent(text="Say hi"))],
        max_tokens=10,
    )
)
bus = InMemorySubscriptionBus()
watchers: dict[str, list[Any]] = {}


def say(text: str, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], **more)


def note(variable: str, line: str = "") -> None:
    """Leave a mark that a test looks for."""
    with Path(os.environ[variable]).open("a") as file:
        file.write(line)


def is_modern(ctx: Any) -> bool:
    return str(ctx.protocol_version) >= "2026"


async def ask(ctx: Any, params: Any, key: str, request: Any, result_type: Any) -> Any:
    """The client's answer: by a request of ours, or by an interim result."""
    if not is_modern(ctx):
        from mcp.shared.message import ServerMessageMetadata

        related = ServerMessageMetadata(related_request_id=ctx.request_id)
        return await ctx.session.send_request(request, result_type, metadata=related)
    answered = (params.input_responses or {}).get(key)
    if answered is not None:
        assert params.request_state == f"state of {key}"
        return answered
    return types.InputRequiredResult(input_requests={key: request}, request_state=f"state of {key}")


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> Any:
    given = params.arguments or {}
    match params.name:
        case "add":
            total = given["a"] + given["b"]
            return say(str(total), structured_content={"sum": total})
        case "order":
            note("WORLD_ORDERS", f"{given}\n")
            return say("ordered")
        case "ask_name":
            answer = await ask(ctx, params, "name", NAME, types.ElicitResult)
            if isinstance(answer, types.InputRequiredResult):
                return answer
            return say(f"{answer.action}: {(answer.content or {}).get('name')}")
        case "ask_model":
            answer = await ask(ctx, params, "model", SAMPLE, types.CreateMessageResultWithTools)
            if isinstance(answer, types.InputRequiredResult):
                return answer
            content = answer.content
            first = content[0] if isinstance(content, list) else content
            return say(f"{answer.model}: {first.text}")
        case "ask_roots":
            answer = await ask(
                ctx, params, "roots", types.ListRootsRequest(), types.ListRootsResult
            )
            if isinstance(answer, types.InputRequiredResult):
                return answer
            return say(" ".join(str(root.uri) for root in answer.roots))
        case "work" if given.get("as_task"):
            declared = ctx.session.client_capabilities
            assert TASKS in (declared.extensions or {})
            return {"resultType": "task", "taskId": "t-1", "status": "working"}
        case "work":
            for done in (1, 2, 3):
                await ctx.session.report_progress(done, 3, f"step {done}")
            await log(ctx, "info", "half way")
            await log(ctx, "error", "nearly failed")
            return say("w" * int(given.get("size", 0)) or "worked")
        case "wait":
            note("WORLD_WAITING")
            try:
                await anyio.sleep_forever()
            finally:
                note("WORLD_CANCELLED")
        case "link":
            return types.CallToolResult(
                content=[types.ResourceLink(uri="hidden://thing", name="thing")]
            )
        case "touch":
            await bus.publish(ResourceUpdated(uri=NOTE))
            for session in watchers.get(NOTE, []):
                await session.send_resource_updated(NOTE)
            return say("touched")
        case "whoami":
            return say(f"{os.getpid()} {os.environ.get('WORLD_KEY', '')}")
    raise ValueError(params.name)


class TaskParams(types.RequestParams):
    task_id: str


async def ask_task(ctx: Any, params: TaskParams) -> dict[str, Any]:
    assert params.task_id == "t-1"
    status = "cancelled" if ctx.method == "tasks/cancel" else "completed"
    return {"taskId": "t-1", "status": status, "result": {"content": []}}


async def log(ctx: Any, level: Any, text: str) -> None:
    from mcp.server.connection import allowed_log_levels

    if level in allowed_log_levels(ctx.protocol_version, ctx.meta):
        message = types.LoggingMessageNotification(
            params=types.LoggingMessageNotificationParams(level=level, data=text, logger="world")
        )
        await ctx.session.send_notification(message, ctx.request_id)


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    start = int(params.cursor) if params and params.cursor else 0
    more = str(start + 4) if start + 4 < len(TOOLS) else None
    return types.ListToolsResult(tools=TOOLS[start : start + 4], next_cursor=more)


async def list_prompts(ctx: Any, params: Any) -> types.ListPromptsResult:
    argument = types.PromptArgument(name="city", required=True)
    return types.ListPromptsResult(prompts=[types.Prompt(name="trip", arguments=[argument])])


async def get_prompt(ctx: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    text = f"Plan a trip to {(params.arguments or {})['city']}."
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(messages=[message])


async def list_resources(ctx: Any, params: Any) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=[types.Resource(uri=NOTE, name="one")])


async def list_templates(ctx: Any, params: Any) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template="city://{name}", name="city")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(ctx: Any, params: types.ReadResourceRequestParams) -> Any:
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=params.uri, text=f"all of {params.uri}")]
    )


async def complete(ctx: Any, params: types.CompleteRequestParams) -> types.CompleteResult:
    known = ["Oslo", "Osaka", "Rome"]
    values = [one for one in known if one.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values))


async def subscribe(ctx: Any, params: types.SubscribeRequestParams) -> types.EmptyResult:
    watchers.setdefault(params.uri, []).append(ctx.session)
    return types.EmptyResult()


async def unsubscribe(ctx: Any, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
    watchers.pop(params.uri, None)
    return types.EmptyResult()


async def set_level(ctx: Any, params: types.SetLevelRequestParams) -> types.EmptyResult:
    return types.EmptyResult()


def build() -> Server[Any]:
    server: Server[Any] = Server(
        "world",
        version="1",
        instructions="Be kind.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_completion=complete,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=unsubscribe,
        on_subscriptions_listen=ListenHandler(bus),
    )
    server.extensions = {TASKS: {}}
    for method in ("tasks/get", "tasks/cancel"):
        server.add_request_handler(method, TaskParams, ask_task)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    return server


def build_app(*, is_legacy: bool = False) -> Any:
    """The server over HTTP, as an ASGI application."""
    app = build().streamable_http_app()
    if not is_legacy:
        return app

    async def refuse_newer(scope: Any, receive: Any, send: Any) -> None:
        if (b"mcp-protocol-version", b"2026-07-28") not in scope.get("headers", ()):
            return await app(scope, receive, send)
        await send({"type": "http.response.start", "status": 400, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        return None

    return refuse_newer


async def serve() -> None:
    server = build()
    async with stdio_server() as (read_stream, write_stream):
        if LEGACY:
            async with server.lifespan(server) as state:
                await serve_loop(server, read_stream, write_stream, lifespan_state=state)
        else:
            options = server.create_initialization_options()
            await server.run(read_stream, write_stream, options)


if __name__ == "__main__":
    asyncio.run(serve())
