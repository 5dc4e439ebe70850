"""Plan with a model: the paper's Planner (GRETEL, Table 1), asked without I/O, its reply read as
any model's is.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from callwright import prompts
from callwright.agent.probing.arguments import Draft, Lacking
from callwright.agent.probing.values import Request
from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.model_profile import SMALL, ModelProfile
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import JsonObject, Reply, Tool, ToolResult, to_canonical_json

# with the smallest profile
_ABOUT = 600  # characters of a description
_PARAMETERS = 4_000  # characters of a schema
_RESULT = 600  # characters of a result


def plan_with_model(
    tool: Tool,
    request: Request,
    results: Sequence[ToolResult] = (),
    *,
    schema: bool = True,
    profile: ModelProfile = SMALL,
) -> Generator[ChatRequest, Reply, Draft | Lacking | None]:
    """Ask for the arguments of one call. None where the reply is neither a call nor says what is
    missing. ``profile`` limits what is shown and written.
    """
    most = profile.scale(_RESULT, "result_chars")
    shown = "; ".join(f"{r.tool}: {to_canonical_json(r.content)[:most]}" for r in results)
    messages = prompts.render(
        "trial_plan",
        query=request.query,
        tool=f"{tool.name}: {tool.description[: profile.scale(_ABOUT, 'description_chars')]}",
        parameters=to_canonical_json(tool.input_schema)[
            : profile.scale(_PARAMETERS, "listed_chars")
        ],
        conversation=request.earlier.replace("=====", "===") or "nothing",
        results=shown.replace("=====", "===") or "none",
        today=request.today.strftime("%A, %Y-%m-%d"),
    )
    reply = yield ChatRequest(
        messages,
        purpose="trial.plan",
        schema=_build_schema(tool) if schema else None,
        max_tokens=profile.reply_tokens,
        temperature=profile.temperature,
    )
    return read_plan(reply.text, tool)


def read_plan(text: str, tool: Tool) -> Draft | Lacking | None:
    """Return the plan in a reply. Bare arguments, without the object around them, are accepted."""
    try:
        found = parse_lenient(text)
    except JsonError:
        return None
    value = found.value
    if not isinstance(value, dict) or found.truncated:
        return None
    missing = value.get("missing")
    if (
        isinstance(missing, list)
        and "missing" not in tool.properties
        and not isinstance(value.get("arguments"), dict)
    ):
        named = tuple(key for key in missing if isinstance(key, str) and key in tool.required)
        return Lacking(named, False) if named else None  # that it saw none is an opinion
    inner = value.get("arguments", value.get("parameters"))
    if isinstance(inner, dict) and not {"arguments", "parameters"} & tool.properties.keys():
        return Draft(inner)
    return Draft(value) if not value.keys() - tool.properties.keys() else None


def _build_schema(tool: Tool) -> JsonObject:
    """The decoding schema: a call, or what is missing for one."""
    call = {
        "type": "object",
        "properties": {"arguments": tool.input_schema},
        "required": ["arguments"],
    }
    if not tool.required:
        return {**call, "additionalProperties": False}
    names = {"type": "array", "items": {"enum": list(tool.required)}, "minItems": 1}
    lack = {
        "type": "object",
        "properties": {"missing": names},
        "required": ["missing"],
        "additionalProperties": False,
    }
    return {"anyOf": [{**call, "additionalProperties": False}, lack]}
