"""Renders the prompt for the model: tools as signatures, earlier results within a character budget.

Signatures replace JSON Schema because a small model on a CPU reads about 35 tokens a second. The
decoding schema or the gate holds the full schema anyway.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from callwright.jsontext.pointer import follow_references
from callwright.nouns.model_profile import SMALL, ModelProfile
from callwright.nouns.types import Skip, Tool, ToolResult, to_canonical_json

_DEPTH = 2  # nested objects deeper than this are shown as "object"
_THOUGHT = 200
_NO_THOUGHTS: Mapping[str, str] = MappingProxyType({})
_REFUSALS = 3  # the latest refused calls are shown, so that they are not made again


def render_signature(tool: Tool, profile: ModelProfile = SMALL) -> str:
    """One tool as ``name(required: type, optional?: type)``, its description, then its described
    parameters. ``profile`` limits the descriptions.
    """
    required = set(tool.required)
    parts = [
        f"{name}{'' if name in required else '?'}: {render_type(schema, tool.input_schema)}"
        for name, schema in tool.properties.items()
    ]
    about = _shorten_text(tool.description, profile.description_chars)
    lines = [f"- {tool.name}({', '.join(parts)}): {about}"]
    for name, schema in tool.properties.items():
        note = _render_note(schema, profile.parameter_chars)
        if note:
            lines.append(f"    {name}: {note}")
    return "\n".join(lines)


def render_signatures(tools: Sequence[Tool], profile: ModelProfile = SMALL) -> str:
    return "\n".join(render_signature(tool, profile) for tool in tools)


def choose_listed_tools(tools: Sequence[Tool], profile: ModelProfile = SMALL) -> tuple[Tool, ...]:
    """The tools that the beginning of every question shows: all of a few, else none."""
    fits = (
        len(tools) <= profile.listed_tools
        and len(render_signatures(tools, profile)) <= profile.listed_chars
    )
    return tuple(tools) if fits else ()


def render_type(schema: Any, root: Any, depth: int = 0) -> str:
    """A JSON Schema as a short type: ``string``, ``"a" | "b"``, ``number[]``, ``{x: number}``."""
    if not isinstance(schema, dict):
        return "any"
    schema = follow_references(schema, root)
    if isinstance(schema.get("enum"), list):
        return " | ".join(to_canonical_json(v) for v in schema["enum"][:24])
    if "const" in schema:
        return to_canonical_json(schema["const"])
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list) and depth <= _DEPTH:
            return " | ".join(dict.fromkeys(render_type(s, root, depth + 1) for s in schema[key]))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(render_type({**schema, "type": k}, root, depth) for k in kind)
    if kind == "array":
        return render_type(schema.get("items"), root, depth + 1) + "[]"
    if kind == "object" and isinstance(schema.get("properties"), dict) and depth < _DEPTH:
        required = schema.get("required") or ()
        inner = (
            f"{k}{'' if k in required else '?'}: {render_type(v, root, depth + 1)}"
            for k, v in schema["properties"].items()
        )
        return "{" + ", ".join(inner) + "}"
    if kind == "string" and schema.get("format") in ("date", "date-time", "time"):
        return str(schema["format"])
    return str(kind or "any")


def render_results(
    results: Sequence[ToolResult],
    limit: int,
    refused: Sequence[Skip] = (),
    thoughts: Mapping[str, str] = _NO_THOUGHTS,
) -> str:
    """Earlier results, each under its id, together at most about ``limit`` characters; then the
    latest refusals. ``thoughts``: what the model thought before a call, by the result's id; it
    stands above the result.

    Short results are kept whole; the long ones share what is left evenly and end in a visible
    marker.
    """
    lines: list[str] = []
    for result, line in zip(results, _render_result_lines(results, limit), strict=True):
        thought = thoughts.get(result.id)
        lines += [f"thought: {_shorten_text(thought, _THOUGHT)}", line] if thought else [line]
    return "\n".join([*lines, *_render_refusal_lines(refused)]) or "(none yet)"


def render_refusals(refused: Sequence[Skip]) -> str:
    """The latest calls that were refused, and why, a line each."""
    return "".join(f"{line}\n" for line in _render_refusal_lines(refused))


def _render_refusal_lines(refused: Sequence[Skip]) -> list[str]:
    return [f"not executed: {s.tool}: {_shorten_text(s.reason, 200)}" for s in refused[-_REFUSALS:]]


def _render_result_lines(results: Sequence[ToolResult], limit: int) -> list[str]:
    bodies = [_render_body(r) for r in results]
    room = _divide_limit([len(b) for b in bodies], limit)
    return [
        f"{r.id}: {r.tool}({to_canonical_json(r.arguments)[1:-1]}) -> {_cut_text(body, share)}"
        for r, body, share in zip(results, bodies, room, strict=True)
    ]


def _render_body(result: ToolResult) -> str:
    if result.failure is not None:
        return f"FAILED ({result.failure.kind}): {_shorten_text(result.failure.message, 300)}"
    return result.content if isinstance(result.content, str) else to_canonical_json(result.content)


def _divide_limit(lengths: Sequence[int], limit: int) -> list[int]:
    """Max-min fair: nobody gets more than it needs, what is spared goes to the longer ones."""
    shares = [0] * len(lengths)
    left = limit
    for position, index in enumerate(sorted(range(len(lengths)), key=lambda i: lengths[i])):
        fair = left // (len(lengths) - position)
        shares[index] = min(lengths[index], fair)
        left -= shares[index]
    return shares


def _cut_text(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    return f"{text[:length]} …[{len(text) - length} more characters cut]"


def _shorten_text(text: str, length: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1].rsplit(" ", 1)[0] + "…"


def _render_note(schema: Any, length: int) -> str:
    if not isinstance(schema, dict):
        return ""
    note = _shorten_text(str(schema.get("description") or ""), length)
    if "default" in schema and schema["default"] is not None:
        note = f"{note} (default {to_canonical_json(schema['default'])})".strip()
    return note
