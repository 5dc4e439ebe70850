"""ToolBench / RapidAPI descriptions -> Tool. Source: OpenBMB/ToolBench, ``api_list`` of its
queries.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from callwright.nouns.errors import CatalogError
from callwright.nouns.types import JsonObject, Tool
from callwright.schema.normalize import any_schema, object_schema
from callwright.tools.lists.effects import effects_from_method

_RESERVED = frozenset({"from", "class", "return", "false", "true", "id", "and"})
_LIST_OF = re.compile(r"^list of (\w+) with length \d+$")


def is_toolbench(raw: Mapping[str, Any]) -> bool:
    """Return True if this is one entry of an ``api_list``."""
    return isinstance(raw.get("required_parameters"), list) or isinstance(
        raw.get("optional_parameters"), list
    )


def tool_from_toolbench(
    raw: Mapping[str, Any], *, tool_name: str = "", description: str = ""
) -> Tool:
    """One API -> Tool named ``<api>_for_<tool>``, as ToolBench's own inference names it.

    ``tool_name`` and ``description`` are the enclosing document's; an entry of an ``api_list``
    holds its own.
    """
    api = str(raw.get("api_name") or raw.get("name") or "").strip()
    if not api:
        raise CatalogError(f"a ToolBench API has no name: {str(dict(raw))[:100]}")
    owner = str(raw.get("tool_name") or tool_name)
    required = _build_name(raw.get("required_parameters"), api)
    parameters = {**required, **_build_name(raw.get("optional_parameters"), api)}
    return Tool(
        name=(
            f"{change_name(standardise(api))}_for_{standardise(owner)}"
            if owner
            else change_name(standardise(api))
        ),
        description=_describe_tool(raw, description, owner),
        input_schema=object_schema(parameters, list(required)),
        output_schema=_read_output(raw),
        effects=effects_from_method(raw.get("method")),
        source=f"toolbench {owner}".strip(),
    )


def standardise(text: str) -> str:
    """ToolBench's file-safe names: everything but letters and digits becomes one underscore, lower
    case.
    """
    name = re.sub(r"[^\u4e00-\u9fa5a-zA-Z0-9_]", "_", text)
    name = re.sub(r"_+", "_", name).strip("_").lower()
    return f"get_{name}" if name[:1].isdigit() else name


def change_name(name: str) -> str:
    """Names that Python reserves get ``is_`` before them."""
    return f"is_{name}" if name in _RESERVED else name


def _build_name(raw: Any, api: str) -> dict[str, JsonObject]:
    """Parameters by name, as ToolBench's inference spells it."""
    found: dict[str, JsonObject] = {}
    for parameter in raw if isinstance(raw, list) else []:
        if not parameter:
            continue
        if not isinstance(parameter, Mapping) or not parameter.get("name"):
            raise CatalogError(
                f"ToolBench API {api!r} has a parameter without a name: {str(parameter)[:80]}"
            )
        found[change_name(standardise(str(parameter["name"])))] = _read_parameter(parameter)
    return found


def _describe_tool(raw: Mapping[str, Any], outer: str, owner: str) -> str:
    own = str(raw.get("api_description") or raw.get("description") or "").strip()
    about = outer.strip() or str(raw.get("tool_description") or "").strip()
    return " ".join(
        part for part in (own, f"({owner}: {about})" if about and owner else about) if part
    )


def _read_parameter(raw: Mapping[str, Any]) -> JsonObject:
    kept = {k: v for k, v in raw.items() if k not in ("name", "default")}
    default = raw.get("default")
    # required parameters carry the form's sample value under "default": an example, not what a
    # server fills in
    return {**kept, "example_value": default} if default not in ("", None) else kept


def _read_output(raw: Mapping[str, Any]) -> JsonObject | None:
    """The response template as a schema; published schemas, where there are any, come first."""
    stated = raw.get("schema")
    if isinstance(stated, Mapping) and ("properties" in stated or "type" in stated):
        return any_schema(stated)
    template = raw.get("template_response")
    return _of_template(template, 0) if template not in (None, "", {}, []) else None


def _of_template(value: Any, depth: int) -> JsonObject:
    if depth > 12:
        return {}
    if isinstance(value, Mapping):
        made = {str(k): _of_template(v, depth + 1) for k, v in value.items() if k != "_list_length"}
        return {"type": "object", "properties": made}
    if isinstance(value, list):
        return (
            {"type": "array", "items": _of_template(value[0], depth + 1)}
            if value
            else {"type": "array"}
        )
    match = _LIST_OF.match(str(value))
    if match:
        return {"type": "array", "items": any_schema(match[1]) or {}}
    return {} if value == "NoneType" else any_schema(str(value)) or {}
