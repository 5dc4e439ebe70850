"""Tool descriptions as users have them <-> :class:`~callwright.nouns.types.Tool`.

Recognised: OpenAI chat (``{"type": "function", "function": {…}}``) and Responses (flat), Anthropic
(``input_schema``), MCP (``inputSchema``, ``outputSchema``, ``annotations``), Gemini
(``functionDeclarations``), Bedrock (``toolSpec``), the plain forms with other words for the same
members (``api_name``, ``desc``, ``args``, ``returns``), and what other packages register
(:mod:`callwright.tools.lists.tool_documents`).
:mod:`callwright.schema.normalize` says what is normalised in the schemas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from callwright.nouns.errors import CatalogError
from callwright.nouns.installation import LAB, render_install_hint
from callwright.nouns.types import DESTRUCTIVE, UNKNOWN, Effects, JsonObject, Tool
from callwright.schema.normalize import any_schema, object_schema
from callwright.tools.lists.effects import effects_from_annotations, effects_from_method
from callwright.tools.lists.tool_documents import (
    DocumentFormat,
    format_of_tool,
    registered_formats,
)

COMPENSATES = "callwright/compensates"  # in the ``_meta`` of a tool
FORMS = (
    '{"type": "function", "function": {"name", "description", "parameters"}} (OpenAI), {"name",'
    ' "description", "input_schema"} (Anthropic), {"name", "description", "inputSchema"} (MCP) or'
    ' {"name", "description", "parameters"}; output_schema may stand beside'
)

_NAMES = ("name", "api_name", "tool_name", "function_name", "operationId", "id")
_DESCRIPTIONS = (
    "description",
    "api_description",
    "tool_description",
    "function_description",
    "desc",
    "summary",
)
_INPUTS = (
    "parameters",
    "input_schema",
    "inputSchema",
    "query_parameters",
    "parametersJsonSchema",
    "input_parameters",
    "inputs",
    "arguments",
    "args",
)
_OUTPUTS = (
    "output_schema",
    "outputSchema",
    "output_parameters",
    "responseJsonSchema",
    "responses",
    "response",
    "returns",
    "return",
    "results",
    "outputs",
    "output",
)
_UNREAD = ("required_parameters", "optional_parameters")  # a registered format's: not no parameters
_LISTS = (
    "tools",
    "functions",
    "functionDeclarations",
    "function_declarations",
    "apis",
    "api_list",
    "api",
    "nodes",
)


def tools_from_wire(raw: Any, *, source: str = "") -> tuple[Tool, ...]:
    """Every tool of a list (or of an object that holds one). Raises CatalogError naming the place
    in the list.
    """
    made = []
    for place, item in enumerate(list_entries(raw)):
        try:
            made.append(tool_from_wire(item, source=source))
        except CatalogError as error:
            raise CatalogError(f"tool {place}: {error.message}", hint=error.hint) from None
    return tuple(made)


def list_entries(raw: Any) -> list[Any]:
    """The tool descriptions inside a list, an object that holds a list, or a map from names to
    descriptions.
    """
    if isinstance(raw, Mapping):
        held = next((raw[key] for key in _LISTS if isinstance(raw.get(key), list | Mapping)), None)
        if held is not None and not _get_first(raw, _INPUTS):
            return list_entries(held)
        if _get_name(_unwrap_description(raw)):
            return [raw]
        if raw and all(isinstance(v, Mapping) for v in raw.values()):
            return [
                v if _get_name(_unwrap_description(v)) else {**v, "name": name}
                for name, v in raw.items()
            ]
    if isinstance(raw, list | tuple):
        return [
            tool for item in raw for tool in (list_entries(item) if _is_group(item) else [item])
        ]
    raise CatalogError(f"this is no list of tools: {str(raw)[:80]!r}", hint=f"a tool is {FORMS}")


def tool_from_wire(
    raw: Any,
    *,
    source: str = "",
    trusted: bool = True,
    unsaid: Effects = UNKNOWN,
    formats: Iterable[DocumentFormat] | None = None,
) -> Tool:
    """One tool description in any style. Raises CatalogError that says what is wrong with it.

    Without annotations its effects are ``unsaid``: MCP's worst case, which nobody has declared.
    Whoever hands tools to a run takes ``unsaid=DESTRUCTIVE``, as MCP means it, so that their calls
    ask for leave. ``trusted=False`` keeps the worst case whatever the source says. ``formats`` are
    read before the core's own (default: the registered ones).
    """
    if not isinstance(raw, Mapping):
        raise CatalogError(
            f"a tool is an object, not {type(raw).__name__}: {str(raw)[:80]!r}", hint=FORMS
        )
    if form := format_of_tool(raw, registered_formats() if formats is None else formats):
        return form.read_tool(raw)
    inner = _unwrap_description(raw)
    name = _get_name(inner)
    if not name:
        raise CatalogError(_explain_nameless(raw), hint=f"a tool is {FORMS}")
    try:
        return _build_tool(name, inner, {**raw, **inner}, source, trusted, unsaid)
    except CatalogError as error:
        raise CatalogError(f"tool {name!r}: {error.message}", hint=error.hint) from None


def tool_to_openai(tool: Tool) -> JsonObject:
    """OpenAI's chat style. Output schema and effects stand beside, where :func:`tool_from_wire`
    finds them again; not the worst case, which is what nothing said means.
    """
    function: JsonObject = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
    }
    if tool.output_schema is not None:
        function["output_schema"] = tool.output_schema
    if tool.effects != DESTRUCTIVE:
        function["annotations"] = annotations_of(tool.effects)
    return {"type": "function", "function": function}


def strip_tool(tool: Tool) -> Tool:
    """The tool reduced to its name, its description and its parameters."""
    return replace(tool, output_schema=None, effects=DESTRUCTIVE)


def tool_to_mcp(tool: Tool) -> JsonObject:
    """MCP's ``tools/list`` style (2025-06-18 and later), annotations written out."""
    made: JsonObject = {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
    }
    if tool.output_schema is not None and tool.output_schema.get("type") == "object":
        made["outputSchema"] = tool.output_schema
    if tool.compensates:
        made["_meta"] = {COMPENSATES: tool.compensates}
    return {**made, "annotations": annotations_of(tool.effects)}


def annotations_of(effects: Effects) -> JsonObject:
    """Effects as MCP hints."""
    return {
        "readOnlyHint": effects.read_only,
        "destructiveHint": effects.destructive,
        "idempotentHint": effects.idempotent,
        "openWorldHint": effects.open_world,
    }


def _build_tool(
    name: str,
    inner: Mapping[str, Any],
    whole: Mapping[str, Any],
    source: str,
    trusted: bool,
    unsaid: Effects,
) -> Tool:
    return Tool(
        name=name,
        description=str(_get_first(inner, _DESCRIPTIONS) or inner.get("title") or "").strip(),
        input_schema=_read_input_schema(inner),
        output_schema=_read_output_schema(whole),
        effects=_read_effects(whole, trusted, unsaid),
        source=source,
        trusted=trusted,
        compensates=_read_compensated(whole) if trusted else "",
    )


def _read_compensated(whole: Mapping[str, Any]) -> str:
    """The name of the tool of which this one undoes calls, as ``_meta`` of MCP says it."""
    meta = whole.get("_meta")
    named = meta.get(COMPENSATES) if isinstance(meta, Mapping) else None
    return named if isinstance(named, str) else ""


def _unwrap_description(raw: Any) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        return {}
    for key in ("function", "toolSpec", "custom"):
        if isinstance(raw.get(key), Mapping):
            inner: Mapping[str, Any] = raw[key]
            return inner
    return raw


def _is_group(item: Any) -> bool:
    """Gemini and Bedrock put several declarations into one entry."""
    return (
        isinstance(item, Mapping)
        and not _get_name(_unwrap_description(item))
        and any(k in item for k in _LISTS)
    )


def _get_name(raw: Mapping[str, Any]) -> str:
    found = _get_first(raw, _NAMES)
    return found.strip() if isinstance(found, str) else ""


def _explain_nameless(raw: Mapping[str, Any]) -> str:
    kind = raw.get("type")
    if isinstance(kind, str) and kind not in ("function", "custom", "object"):
        return (
            f"{kind!r} is a tool that the vendor's own server runs: there is no schema to plan or"
            " check with"
        )
    return f"a tool has no name: {str(dict(raw))[:100]}"


def _get_first(raw: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((raw[key] for key in keys if raw.get(key) not in (None, "")), None)


def _read_input_schema(raw: Mapping[str, Any]) -> JsonObject:
    found = _get_first(raw, _INPUTS)
    if found is None and (unread := [key for key in _UNREAD if raw.get(key)]):
        raise CatalogError(
            f"its parameters are under {unread[0]!r}, which no installed package reads",
            hint="give them as 'parameters', or install callwright-lab, which reads the notations of"
            f" data sets: {render_install_hint(package=LAB)}",
        )
    if isinstance(found, Mapping) and isinstance(found.get("json"), Mapping) and len(found) == 1:
        found = found["json"]
    required = raw.get("required")
    return object_schema(found, required if isinstance(required, list) else None)


def _read_output_schema(raw: Mapping[str, Any]) -> JsonObject | None:
    stated = _get_first(raw, _OUTPUTS[:2])
    if stated is not None:
        return any_schema(stated)
    found = _get_first(raw, _OUTPUTS)
    if found is None and isinstance(raw.get("output_name"), str):
        return {
            "type": "object",
            "properties": {raw["output_name"]: {}},
        }  # what later calls refer to (Bamboogle*)
    if isinstance(found, Mapping):
        by_status = next(
            (found[k] for k in ("200", "201", "default") if isinstance(found.get(k), Mapping)), None
        )
        found = _get_body_schema(by_status) if by_status is not None else found
    try:
        return any_schema(found)
    except CatalogError:
        return None  # a sample answer, or prose: it was not given as a schema


def _get_body_schema(response: Mapping[str, Any]) -> Any:
    """The schema inside an OpenAPI response object, or the object itself where there is none."""
    content = response.get("content")
    if isinstance(content, Mapping):
        media = next(
            (m for m in content.values() if isinstance(m, Mapping) and "schema" in m), None
        )
        return media["schema"] if media else None
    return response.get("schema", response)


def _read_effects(raw: Mapping[str, Any], trusted: bool, unsaid: Effects) -> Effects:
    said = raw.get("annotations", raw.get("effects"))
    if isinstance(said, Mapping):
        return effects_from_annotations(said, trusted=trusted)
    method = raw.get("method")
    return effects_from_method(method) if trusted and isinstance(method, str) and method else unsaid
