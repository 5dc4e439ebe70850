"""A virtual tool server in StableToolBench's spirit (Guo et al. 2024): recorded replies first, then
a model that imitates the tool from its documentation, in the format of Tool-MVR's Table 14.

What it answers is always marked as simulated: it serves tests, benchmarks and rehearsals, and
proves nothing.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import TypeAlias

from callwright import prompts
from callwright.jsontext import JsonError, parse, parse_lenient
from callwright.models.dialogue import run_dialogue, vary_request
from callwright.nouns.errors import Failure, FailureKind
from callwright.nouns.limits import Limits
from callwright.nouns.protocols import ChatModel, ChatRequest
from callwright.nouns.types import (
    CheckedCall,
    Json,
    JsonObject,
    Reply,
    Tool,
    ToolCall,
    ToolOutput,
    ToolResult,
    get_public_fields,
    to_canonical_json,
)
from callwright.repair.gate import Gate, Refusal
from callwright.simulation.recording import Recorded, Recording
from callwright.tools.lists.tools import tool_to_openai

MAX_TOKENS = 768
PATIENCE = 300.0  # seconds: two replies of MAX_TOKENS from a small model on a busy processor
FIELDS = 12  # of an object that must be there, where its schema does not say which
ITEMS = 3  # of a list, where its schema does not say how many
EXAMPLES = 3  # recorded calls of the tool that the model is shown
_ATTEMPTS = 2
_EXAMPLE_CHARS = 2_048  # of all examples together, as in StableToolBench
_QUERY_CHARS = 1_000

Imitation: TypeAlias = Generator[ChatRequest, Reply, ToolOutput]


class Simulator:
    """Answers calls in the tools' place. Every answer says that it is simulated, and by what.

    ``recorded`` is looked up first: by the tool's digest and the arguments. With ``nearest``, the
    recorded reply to the most similar call of the tool comes next. ``model`` imitates what is not
    on record, the same call always in the same way as long as this simulator lives. Without either
    the call fails with ``not_executable``.
    """

    def __init__(
        self,
        recorded: Recording | None = None,
        model: ChatModel | None = None,
        *,
        nearest: bool = False,
    ) -> None:
        self.recorded = recorded or Recording()
        self._model = model
        self._nearest = nearest
        self._made: dict[tuple[str, str], ToolOutput] = {}

    async def simulate(
        self,
        call: ToolCall | CheckedCall,
        tool: Tool,
        query: str = "",
        error: Failure | None = None,
    ) -> ToolResult:
        """Return a plausible result of this tool, recorded or simulated. ``query``: the purpose of
        the call; ``error``: the tool's own error, if it was called (GRETEL, Table 1). Raises
        ModelError if the model cannot be asked.

        A call that the tool's schema refuses fails with ``tool_error``, as it would there.
        """
        began = time.monotonic()
        arguments, refused = _check_arguments(call, tool)
        output = self.recorded.find(tool, arguments) or refused
        if output is None and self._nearest:
            output = self.recorded.nearest(tool, arguments)
        if output is None:
            output = await self._imitated(tool, arguments, query, error)
        seconds = time.monotonic() - began
        return ToolResult(
            call.id,
            tool.name,
            arguments,
            **get_public_fields(output),
            seconds=seconds,
            slot=call.slot,
        )

    async def _imitated(
        self, tool: Tool, arguments: JsonObject, query: str, error: Failure | None
    ) -> ToolOutput:
        model = self._model
        if model is None:
            said = f"{tool.name}: no reply to this call is on record, and no model imitates it"
            return ToolOutput(
                failure=Failure("not_executable", said, not_done=True), simulated="recorded"
            )
        key = (tool.digest, to_canonical_json(arguments))
        if key not in self._made:
            constrained = (await model.capabilities()).json_schema
            examples = self.recorded.examples(tool, EXAMPLES)
            dialogue = imitate_tool(
                tool, arguments, query, error, examples, constrained=constrained
            )
            self._made[key] = await run_dialogue(dialogue, model.complete)
        return self._made[key]


class SimulatedSource:
    """The tools of a catalogue, answered by a simulator: a ToolSource for tests, benchmarks and dry
    runs.
    """

    def __init__(
        self, tools: Sequence[Tool], simulator: Simulator, *, name: str = "simulated"
    ) -> None:
        self._tools, self._simulator, self._name = tuple(tools), simulator, name

    @property
    def name(self) -> str:
        return self._name

    async def open(self) -> Sequence[Tool]:
        return self._tools

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        result = await self._simulator.simulate(ToolCall("", tool.name, arguments), tool)
        return ToolOutput(result.content, result.failure, result.simulated)

    async def aclose(self) -> None:
        """Nothing is held."""


def extend_limits(limits: Limits) -> Limits:
    """Limits of a run whose tools a model imitates: what a tool may take says nothing of how fast a
    model writes, and an imitation that is cut off is made again at each repetition. The whole run
    has the time of ten calls at least.
    """
    return replace(
        limits,
        tool_seconds=max(limits.tool_seconds, PATIENCE),
        seconds=max(limits.seconds, 10 * PATIENCE),
    )


def imitate_tool(
    tool: Tool,
    arguments: JsonObject,
    query: str = "",
    error: Failure | None = None,
    examples: Sequence[Recorded] = (),
    *,
    constrained: bool = False,
) -> Imitation:
    """Ask a model to answer as the tool would (Tool-MVR, Table 14; StableToolBench adds the
    examples). No I/O.

    An answer that is no JSON object, or stops in the middle, is asked for once more; then the call
    has failed with ``unavailable``. An ``error`` that the imitated tool gives is a failure of kind
    ``tool_error``.
    """
    messages = prompts.render(
        "simulate",
        documentation=render_documentation(tool),
        context=_render_context(query, error, examples),
        arguments=to_canonical_json(arguments),
    )
    schema = reply_schema(tool) if constrained else None
    asked = ChatRequest(messages, purpose="simulate", schema=schema, max_tokens=MAX_TOKENS)
    for attempt in range(_ATTEMPTS):
        reply = yield vary_request(asked, attempt)
        output = _parse_reply(reply.text)
        if output is not None:
            return output
    return _build_failure("unavailable", f"the model that imitates {tool.name} gave no JSON object")


def render_documentation(tool: Tool) -> str:
    """Return the documentation of a tool for the imitating model: its function description and its
    output.
    """
    described = tool_to_openai(tool)["function"]
    described.pop("annotations", None)
    return f"{tool.name}: {tool.description}\n{to_canonical_json(described)}"


def reply_schema(tool: Tool) -> JsonObject:
    """``{"error", "response"}``, the response as the tool's output schema has it, whole and short:
    where nothing says which fields must be there, those that are listed first must, and open lists
    end. Definitions move to the root.
    """
    response = _narrow_schema(tool.output_schema or {})
    definitions: JsonObject = {
        key: response.pop(key) for key in ("$defs", "definitions") if key in response
    }
    properties = {"error": {"type": "string", "maxLength": 200}, "response": response}
    made: JsonObject = {
        "type": "object",
        "properties": properties,
        "required": ["error", "response"],
    }
    return {**made, "additionalProperties": False, **definitions}


def _narrow_schema(schema: JsonObject) -> JsonObject:
    """The schema, narrower: a small model leaves out every field that it may, and ends no list that
    it need not.
    """
    made = dict(schema)
    for key in ("properties", "$defs", "definitions"):
        if isinstance(inner := made.get(key), dict):
            made[key] = {
                k: _narrow_schema(v) if isinstance(v, dict) else v for k, v in inner.items()
            }
    if isinstance(listed := made.get("properties"), dict) and "required" not in made:
        plain = [
            k for k, v in listed.items() if isinstance(v, dict) and "$ref" not in v
        ]  # that might have no end
        made["required"] = plain[:FIELDS]
    if made.get("type") == "array":
        made = {"maxItems": max(ITEMS, made.get("minItems", 0)), **made}
        if isinstance(items := made.get("items"), dict):
            made["items"] = _narrow_schema(items)
    return made


def _check_arguments(
    call: ToolCall | CheckedCall, tool: Tool
) -> tuple[JsonObject, ToolOutput | None]:
    """The call's arguments as an object, and the failure where the tool's schema refuses them."""
    if isinstance(call, CheckedCall):
        return call.arguments, None
    checked = Gate([tool]).check(ToolCall(call.id, tool.name, call.arguments))
    if isinstance(checked, Refusal):
        given = call.arguments if isinstance(call.arguments, dict) else checked.arguments or {}
        return given, ToolOutput(
            failure=Failure("tool_error", checked.message, not_done=True), simulated="recorded"
        )
    return checked.arguments, None


def _render_context(query: str, error: Failure | None, examples: Sequence[Recorded]) -> str:
    shown = "".join(
        f"Example:\nInput: {to_canonical_json(e.arguments)}\nOutput: {_render_output(e.output)}\n"
        for e in examples
    )
    parts = [shown[:_EXAMPLE_CHARS] + "\n" * (len(shown) > _EXAMPLE_CHARS)] if shown else []
    if query:
        parts.append(
            f"The call is made for this request: {' '.join(query.split())[:_QUERY_CHARS]}\n"
        )
    if error is not None:
        parts.append(f"The API itself failed ({error.kind}); answer as it would when it works.\n")
    return "".join(parts)


def _render_output(output: ToolOutput) -> str:
    failed = output.failure
    return to_canonical_json(
        {"error": failed.message if failed else "", "response": None if failed else output.content}
    )


def _parse_reply(text: str) -> ToolOutput | None:
    try:
        read = parse_lenient(text)
    except JsonError:
        return None
    value = read.value
    if read.truncated or not isinstance(value, dict):
        return None
    if "response" not in value and "error" not in value:
        return ToolOutput(value, simulated="model")  # the answer without its wrapping
    said = value.get("error")
    if isinstance(said, str) and said.strip():
        return _build_failure("tool_error", said.strip())
    return ToolOutput(_unwrap_response(value.get("response")), simulated="model")


def _unwrap_response(response: Json) -> Json:
    """A response written as the text of a JSON document is that document."""
    if isinstance(response, str) and response.lstrip()[:1] in ("{", "["):
        try:
            return parse(response)
        except JsonError:
            return response
    return response


def _build_failure(kind: FailureKind, message: str) -> ToolOutput:
    return ToolOutput(failure=Failure(kind, message), simulated="model")
