"""Agent loops of others, unmodified, driven over the standard streams.

Runs in an environment of its own, where nothing of ours is installed. One JSON object a line: a
job comes in; each call of a tool goes out and its result comes in; the answer goes out. The world
stays with who asks.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

Call = Callable[[str, Any], str]
Loop = Callable[[dict[str, Any], Call], str]
_SECONDS = 900.0


class TurnLimit(Exception):
    """The loop asked as often as it may, and came to no end."""


def _write_chat_messages(job: dict[str, Any]) -> list[dict[str, Any]]:
    """A job's messages as chat completions have them."""
    made = []
    for message in job["messages"]:
        if "calls" in message:
            calls = [
                {
                    "id": c["id"],
                    "type": "function",
                    "function": {"name": c["name"], "arguments": json.dumps(c["arguments"])},
                }
                for c in message["calls"]
            ]
            made.append({"role": "assistant", "content": "", "tool_calls": calls})
        elif message["role"] == "tool":
            row = {"role": "tool", "tool_call_id": message["id"], "content": message["content"]}
            made.append(row)
        else:
            made.append({"role": message["role"], "content": message["content"]})
    return made


def _write_chat_tools(job: dict[str, Any]) -> list[dict[str, Any]]:
    kept = ("name", "description", "parameters", "annotations")
    return [
        {"type": "function", "function": {key: tool[key] for key in kept if key in tool}}
        for tool in job["tools"]
    ]


def run_openai(job: dict[str, Any], call: Call, *, stream: bool = False) -> str:
    """The plain loop of the official client's documentation."""
    client = _open_client(job["base_url"], job["key"])
    ask = _ask_streamed if stream else _ask_whole
    messages, tools = _write_chat_messages(job), _write_chat_tools(job)
    for _ in range(job["turns"]):
        message = ask(client, {"model": job["model"], "messages": messages, "tools": tools})
        messages.append(message)
        if not message.get("tool_calls"):
            return message.get("content") or ""
        for made in message["tool_calls"]:
            result = call(made["function"]["name"], _read_json(made["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": made["id"], "content": result})
        if job["reminder"]:
            messages.append({"role": "user", "content": job["reminder"]})
    raise TurnLimit


@cache
def _open_client(base_url: str, key: str) -> Any:
    """One client for all jobs: to make one takes longer than a scripted job."""
    from openai import OpenAI

    return OpenAI(base_url=base_url, api_key=key, max_retries=0, timeout=_SECONDS)


def _ask_whole(client: Any, body: dict[str, Any]) -> dict[str, Any]:
    message = client.chat.completions.create(**body).choices[0].message
    found: dict[str, Any] = message.model_dump(exclude_none=True)
    return found


def _ask_streamed(client: Any, body: dict[str, Any]) -> dict[str, Any]:
    """The reply put together from its pieces."""
    calls: dict[int, dict[str, Any]] = {}
    text = ""
    options = {"include_usage": True}
    for chunk in client.chat.completions.create(**body, stream=True, stream_options=options):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            for piece in choice.delta.tool_calls or ():
                _add_piece(calls, piece)
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return message


def _add_piece(calls: dict[int, dict[str, Any]], piece: Any) -> None:
    fresh = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
    made = calls.setdefault(piece.index, fresh)
    made["id"] = piece.id or made["id"]
    if piece.function is not None:
        made["function"]["name"] += piece.function.name or ""
        made["function"]["arguments"] += piece.function.arguments or ""


def _read_json(text: str) -> Any:
    """The arguments, or the text where it is no JSON."""
    try:
        return json.loads(text)  # noqa: TID251 - nothing of ours is installed here
    except ValueError:
        return text


def run_openai_stream(job: dict[str, Any], call: Call) -> str:
    """The same loop with streamed replies."""
    return run_openai(job, call, stream=True)


def run_pydantic_ai(job: dict[str, Any], call: Call) -> str:
    """Pydantic AI's agent."""
    from pydantic_ai import Agent, Tool
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.usage import UsageLimits

    def bind(name: str) -> Callable[..., str]:
        return lambda **arguments: call(name, arguments)

    tools = [
        Tool.from_schema(bind(t["name"]), t["name"], t["description"], t["parameters"])
        for t in job["tools"]
    ]
    provider = OpenAIProvider(base_url=job["base_url"], api_key=job["key"])
    system, *earlier, last = job["messages"]
    agent = Agent(
        OpenAIChatModel(job["model"], provider=provider),
        instructions=system["content"],
        tools=tools,
    )
    done = agent.run_sync(
        last["content"],
        message_history=_write_pydantic_messages(earlier),
        usage_limits=UsageLimits(request_limit=job["turns"]),
    )
    return str(done.output)


def _write_pydantic_messages(messages: list[dict[str, Any]]) -> list[Any]:
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    made: list[Any] = []
    for message in messages:
        if "calls" in message:
            parts = [ToolCallPart(c["name"], c["arguments"], c["id"]) for c in message["calls"]]
            made.append(ModelResponse(parts=parts))
        elif message["role"] == "tool":
            part = ToolReturnPart(message["name"], message["content"], message["id"])
            made.append(ModelRequest(parts=[part]))
        elif message["role"] == "assistant":
            made.append(ModelResponse(parts=[TextPart(message["content"])]))
        else:
            made.append(ModelRequest(parts=[UserPromptPart(message["content"])]))
    return made


def run_langgraph(job: dict[str, Any], call: Call) -> str:
    """LangGraph's prebuilt agent."""
    from langchain_core.tools import StructuredTool
    from langchain_openai import ChatOpenAI
    from langgraph.prebuilt import create_react_agent

    def bind(name: str) -> Callable[..., str]:
        return lambda **arguments: call(name, arguments)

    tools = [
        StructuredTool(
            name=t["name"],
            description=t["description"],
            args_schema=t["parameters"],
            func=bind(t["name"]),
        )
        for t in job["tools"]
    ]
    model = ChatOpenAI(
        model=job["model"],
        base_url=job["base_url"],
        api_key=job["key"],
        max_retries=0,
        timeout=_SECONDS,
    )
    agent = create_react_agent(model, tools)
    done = agent.invoke(
        {"messages": _write_chat_messages(job)}, {"recursion_limit": 2 * job["turns"] + 1}
    )
    content = done["messages"][-1].content
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def run_openai_agents(job: dict[str, Any], call: Call) -> str:
    """The OpenAI Agents SDK, over chat completions."""
    from agents import Agent, Runner, set_tracing_disabled
    from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    client = AsyncOpenAI(
        base_url=job["base_url"], api_key=job["key"], max_retries=0, timeout=_SECONDS
    )
    system, *rest = job["messages"]
    agent = Agent(
        name="office",
        instructions=system["content"],
        tools=[_build_agents_tool(tool, call) for tool in job["tools"]],
        model=OpenAIChatCompletionsModel(model=job["model"], openai_client=client),
    )
    done = Runner.run_sync(agent, _write_agents_items(rest), max_turns=job["turns"])
    return str(done.final_output)


def _build_agents_tool(tool: dict[str, Any], call: Call) -> Any:
    from agents import FunctionTool

    async def invoke(_: Any, arguments: str) -> str:
        return await asyncio.to_thread(call, tool["name"], _read_json(arguments))

    return FunctionTool(
        name=tool["name"],
        description=tool["description"],
        params_json_schema=tool["parameters"],
        on_invoke_tool=invoke,
        strict_json_schema=False,
    )


def _write_agents_items(messages: list[dict[str, Any]]) -> list[Any]:
    made: list[Any] = []
    for message in messages:
        if "calls" in message:
            made += [
                {
                    "type": "function_call",
                    "call_id": c["id"],
                    "name": c["name"],
                    "arguments": json.dumps(c["arguments"]),
                }
                for c in message["calls"]
            ]
        elif message["role"] == "tool":
            row = {"call_id": message["id"], "output": message["content"]}
            made.append({"type": "function_call_output", **row})
        else:
            made.append({"role": message["role"], "content": message["content"]})
    return made


def run_smolagents(job: dict[str, Any], call: Call) -> str:
    """smolagents' ToolCallingAgent. It takes no earlier messages: they stand in the task."""
    from smolagents import OpenAIModel, ToolCallingAgent

    system, *earlier, last = job["messages"]
    agent = ToolCallingAgent(
        tools=[_build_smol_tool(tool, call) for tool in job["tools"]],
        model=OpenAIModel(job["model"], api_base=job["base_url"], api_key=job["key"]),
        instructions=system["content"],
        max_steps=job["turns"],
        verbosity_level=0,
    )
    transcript = "".join(f"{m['role']}: {_render_message(m)}\n" for m in earlier)
    asked = (
        f"Earlier:\n{transcript}\nNow the user says:\n{last['content']}"
        if transcript
        else last["content"]
    )
    return str(agent.run(asked))


def _render_message(message: dict[str, Any]) -> str:
    return json.dumps(message["calls"]) if "calls" in message else str(message["content"])


def _build_smol_tool(tool: dict[str, Any], call: Call) -> Any:
    from smolagents import Tool

    required = tool["parameters"]["required"]

    class Served(Tool):  # type: ignore[misc, unused-ignore]
        skip_forward_signature_validation = True
        name = tool["name"]
        description = tool["description"]
        inputs = {  # noqa: RUF012 - smolagents wants a class attribute
            key: part if key in required else {**part, "nullable": True}
            for key, part in tool["parameters"]["properties"].items()
        }
        output_type = "string"

        def forward(self, **arguments: Any) -> str:
            """Call the tool of the world."""
            return call(tool["name"], {k: v for k, v in arguments.items() if v is not None})

    return Served()


LOOPS: dict[str, Loop] = {
    "openai": run_openai,
    "openai-stream": run_openai_stream,
    "pydantic-ai": run_pydantic_ai,
    "langgraph": run_langgraph,
    "openai-agents": run_openai_agents,
    "smolagents": run_smolagents,
}


def serve(loop: Loop, read: Callable[[], str], write: Callable[[str], Any]) -> None:
    """Run job after job until there is none. What a loop raises is the job's error, never ours."""
    turn = threading.Lock()

    def call(name: str, arguments: Any) -> str:
        with turn:
            write(json.dumps({"call": name, "arguments": arguments}) + "\n")
            answer: str = json.loads(read())["result"]  # noqa: TID251
            return answer

    while line := read():
        job = json.loads(line)  # noqa: TID251 - the bench wrote the line
        try:
            done = {"answer": loop(job, call), "error": ""}
        except Exception as error:
            done = {"answer": "", "error": f"{type(error).__name__}: {error}"[:400]}
        write(json.dumps(done) + "\n")


def main() -> None:
    """Serve one framework on the standard streams; what it prints goes to the other one."""
    os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
    out = sys.stdout
    sys.stdout = sys.stderr

    def write(line: str) -> None:
        out.write(line)
        out.flush()

    serve(LOOPS[sys.argv[1]], sys.stdin.readline, write)


if __name__ == "__main__":
    main()
