"""Tools and a prompt that ask their client something: by requests in the middle of a call
(2025-11-25), or by an ``input_required`` result that the client answers in its next request
(2026-07-28).
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from mcp.server.mcpserver import Context, Elicit, ElicitationResult, MCPServer, Resolve
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, Field


class Word(BaseModel):
    """One word of the user."""

    response: str = Field(description="the user's word")


class Defaults(BaseModel):
    """A default of each primitive type (SEP-1034)."""

    name: str = Field(default="John Doe", description="name")
    age: int = Field(default=30, description="age")
    score: float = Field(default=95.5, description="score")
    status: str = Field(
        default="active",
        description="status",
        json_schema_extra={"enum": ["active", "inactive", "pending"]},
    )
    verified: bool = Field(default=True, description="verified or not")


class Enums(BaseModel):
    """The forms of enumerations (SEP-1330)."""

    untitledSingle: str = Field(json_schema_extra={"enum": ["option1", "option2", "option3"]})
    titledSingle: str = Field(
        json_schema_extra={
            "oneOf": [
                {"const": "value1", "title": "First"},
                {"const": "value2", "title": "Second"},
            ]
        }
    )
    untitledMulti: list[str] = Field(
        json_schema_extra={"items": {"type": "string", "enum": ["option1", "option2"]}}
    )
    titledMulti: list[str] = Field(
        json_schema_extra={
            "items": {
                "anyOf": [
                    {"const": "value1", "title": "First"},
                    {"const": "value2", "title": "Second"},
                ]
            }
        }
    )
    legacyEnum: str = Field(
        json_schema_extra={"enum": ["opt1", "opt2"], "enumNames": ["Option one", "Option two"]}
    )


def add_questions(server: MCPServer) -> None:
    """Add every tool and prompt that asks."""
    _add_requests(server)
    _add_single_inputs(server)
    _add_state(server)
    _add_rounds(server)
    _add_refusals(server)
    _add_prompt(server)


def _add_requests(server: MCPServer) -> None:
    @server.tool()
    async def test_sampling(prompt: str, ctx: Context) -> str | InputRequiredResult:
        """Asks the client's model, in the form of the connection's era."""
        said: Any = _answer(ctx, "sample")
        if said is None and ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return InputRequiredResult(input_requests={"sample": _ask_model(prompt)})
        if said is None:
            said = await ctx.session.create_message(
                messages=[SamplingMessage(role="user", content=_text(prompt))],
                max_tokens=100,
                related_request_id=ctx.request_id,  # else it goes where nobody may listen yet
            )
        return f"LLM response: {getattr(said.content, 'text', '')}"

    @server.tool()
    async def test_elicitation(
        message: str, answer: Annotated[ElicitationResult[Word], Resolve(_ask_word)]
    ) -> str:
        """Asks the user for a word."""
        return _describe("User response", answer)

    @server.tool()
    async def test_elicitation_sep1034_defaults(
        answer: Annotated[ElicitationResult[Defaults], Resolve(_ask_defaults)],
    ) -> str:
        """Asks with defaults."""
        return _describe("Elicitation completed", answer)

    @server.tool()
    async def test_elicitation_sep1330_enums(
        answer: Annotated[ElicitationResult[Enums], Resolve(_ask_enums)],
    ) -> str:
        """Asks with enumerations."""
        return _describe("Elicitation completed", answer)

    @server.tool()
    async def test_streaming_elicitation(
        answer: Annotated[ElicitationResult[Word], Resolve(_ask_word)],
    ) -> str:
        """Asks in the form of the client's era."""
        return f"elicitation {answer.action}"


def _add_single_inputs(server: MCPServer) -> None:
    @server.tool()
    async def test_input_required_result_elicitation(ctx: Context) -> str | InputRequiredResult:
        """Asks for a name."""
        name = _field_of(_answer(ctx, "user_name"), "name")
        return f"Hello, {name}!" if name else InputRequiredResult(input_requests=_ask_name())

    @server.tool()
    async def test_input_required_result_sampling(ctx: Context) -> str | InputRequiredResult:
        """Asks the client's model for a capital."""
        said = _answer(ctx, "capital_question")
        if isinstance(said, CreateMessageResult):
            return f"Model said: {getattr(said.content, 'text', '')}"
        asked = {"capital_question": _ask_model("What is the capital of France?")}
        return InputRequiredResult(input_requests=asked)

    @server.tool()
    async def test_input_required_result_list_roots(ctx: Context) -> str | InputRequiredResult:
        """Asks for the client's roots."""
        said = _answer(ctx, "client_roots")
        if isinstance(said, ListRootsResult):
            return f"Client exposed {len(said.roots)} root(s)."
        return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})


def _add_state(server: MCPServer) -> None:
    @server.tool()
    async def test_input_required_result_request_state(ctx: Context) -> str | InputRequiredResult:
        """Asks, and wants its state back."""
        if _answer(ctx, "confirm") and ctx.request_state == "the state of round one":
            return "state-ok: confirmation received"
        return InputRequiredResult(
            input_requests={"confirm": _ask_form("Please confirm", ok="boolean")},
            request_state="the state of round one",
        )

    @server.tool()
    async def test_input_required_result_tampered_state(ctx: Context) -> str | InputRequiredResult:
        """Asks; the library refuses a state that somebody changed."""
        if ctx.request_state is not None:
            return f"state-ok: {ctx.request_state}"
        return InputRequiredResult(
            input_requests={"confirm": _ask_form("Please confirm", ok="boolean")},
            request_state="round one",
        )


def _add_rounds(server: MCPServer) -> None:
    @server.tool()
    async def test_input_required_result_multiple_inputs(ctx: Context) -> str | InputRequiredResult:
        """Asks three things at once."""
        asked = {
            **_ask_name(),
            "greeting": _ask_model("Generate a greeting"),
            "client_roots": ListRootsRequest(),
        }
        if asked.keys() <= (ctx.input_responses or {}).keys():
            return "All inputs received."
        return InputRequiredResult(input_requests=asked, request_state="three questions")

    @server.tool()
    async def test_input_required_result_multi_round(ctx: Context) -> str | InputRequiredResult:
        """Asks two things, one after the other."""
        state = json.loads(ctx.request_state) if ctx.request_state else {}
        name = state.get("name") or _field_of(_answer(ctx, "step1"), "name")
        if state and name and (color := _field_of(_answer(ctx, "step2"), "color")):
            return f"{name} likes {color}."
        if state and name:
            asked = {"step2": _ask_form("Step 2: your favorite color?", color="string")}
            told = json.dumps({"round": 2, "name": name})
            return InputRequiredResult(input_requests=asked, request_state=told)
        asked = {"step1": _ask_form("Step 1: your name?", name="string")}
        return InputRequiredResult(input_requests=asked, request_state=json.dumps({"round": 1}))


def _add_refusals(server: MCPServer) -> None:
    @server.tool()
    async def test_input_required_result_capabilities(ctx: Context) -> InputRequiredResult:
        """Asks only in ways that the client offers."""
        offered = ctx.client_capabilities
        asked: dict[str, Any] = {}
        if offered is None or offered.sampling is not None:
            asked["sample"] = _ask_model("Say hello")
        if offered is None or offered.elicitation is not None:
            asked |= _ask_name()
        return InputRequiredResult(input_requests=asked, request_state="as the client can")


def _add_prompt(server: MCPServer) -> None:
    @server.prompt()
    async def test_input_required_result_prompt(
        ctx: Context,
    ) -> list[UserMessage] | InputRequiredResult:
        """A prompt that asks before it is rendered."""
        said = _field_of(_answer(ctx, "user_context"), "context")
        if said:
            return [UserMessage(role="user", content=_text(f"Use the following context: {said}"))]
        asked = {"user_context": _ask_form("Which context?", context="string")}
        return InputRequiredResult(input_requests=asked)


def _ask_word() -> Elicit[Word]:
    return Elicit("a word, please", Word)


def _ask_defaults() -> Elicit[Defaults]:
    return Elicit("Please review these values", Defaults)


def _ask_enums() -> Elicit[Enums]:
    return Elicit("Please choose", Enums)


def _describe(begin: str, answer: Any) -> str:
    content = answer.data.model_dump_json() if answer.action == "accept" else "{}"
    return f"{begin}: action={answer.action}, content={content}"


def _answer(ctx: Context, key: str) -> Any:
    return (ctx.input_responses or {}).get(key)


def _field_of(answer: Any, name: str) -> Any:
    return (answer.content or {}).get(name) if isinstance(answer, ElicitResult) else None


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _ask_form(message: str, **fields: str) -> ElicitRequest:
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in fields.items()},
        "required": list(fields),
    }
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _ask_name() -> dict[str, Any]:
    return {"user_name": _ask_form("What is your name?", name="string")}


def _ask_model(prompt: str) -> CreateMessageRequest:
    messages = [SamplingMessage(role="user", content=_text(prompt))]
    return CreateMessageRequest(
        params=CreateMessageRequestParams(messages=messages, max_tokens=100)
    )
