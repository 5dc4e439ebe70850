"""Requests to a model: in the suite's own way, and as a client with native tools asks."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from callwright.jsontext import JsonError, parse
from callwright.nouns.types import Json, JsonObject
from callwright_lab.benchmarks.acebench.reading import AceCall, UnreadableCalls, parse_calls
from callwright_lab.datasets.acebench import AceRow

RAW, DIRECT, PROXY = "raw", "direct", "proxy"
WAYS: Mapping[str, str] = {
    RAW: "the suite's long prompt, calls as text, read as the suite reads them",
    DIRECT: "native tools and a prompt of two sentences",
    PROXY: "the same behind callwright proxy",
}
SAMPLING: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 1024}
"""As the suite's ``model_infer.py`` asks a model on one's own machine."""

_WORDS = {"true": True, "false": False}


@cache
def _load_prompts(name: str) -> Mapping[str, Any]:
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


def compute_prompt_digest() -> str:
    """Twelve digits of a digest over all prompts and the sampling: what rows must share to be
    compared.
    """
    texts = [_load_prompts("suite_prompts.toml"), _load_prompts("native_prompts.toml")]
    told = orjson.dumps([*texts, dict(SAMPLING)], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(told).hexdigest()[:12]


def build_body(row: AceRow, way: str, model: str = "") -> JsonObject:
    """The body of a chat request, not streamed."""
    body: JsonObject = {"model": model} if model else {}
    if way == RAW:
        return {**body, "messages": _list_raw_messages(row), **SAMPLING}
    tools = [
        {"type": "function", "function": {**tool, "name": written}}
        for written, tool in map_tools(row).items()
    ]
    return {**body, "messages": list_native_messages(row), "tools": tools, **SAMPLING}


def _list_raw_messages(row: AceRow) -> list[JsonObject]:
    """The suite's two messages, made as ``common_inference.py`` makes them."""
    texts = _load_prompts("suite_prompts.toml")[row.language]
    functions = [*row.functions]  # the prompt shows Python's own spelling of the list
    if row.is_special:
        system = texts["special"].format(time=row.time, function=functions)
    elif row.category == "normal_preference":
        system = texts["preference"].format(profile=row.profile, function=functions)
    else:
        system = texts["normal"].format(time=row.time, function=functions)
    user = texts["user"].format(question=row.question)
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def map_tools(row: AceRow) -> dict[str, JsonObject]:
    """The tools by the name under which they are sent: endpoints refuse a dot in a name. Of two
    tools of one name the first is sent.
    """
    found: dict[str, JsonObject] = {}
    for name, tool in {tool["name"]: tool for tool in reversed(row.tools)}.items():
        written = name.replace(".", "_")
        found[f"{written}_{len(found)}" if written in found else written] = tool
    return {name: found[name] for name in reversed(found)}


def list_native_messages(row: AceRow) -> list[JsonObject]:
    """The conversation as messages. A turn that the data write as calls is an assistant's message
    with ``tool_calls``; the turn behind it is what they returned, the only record of it.
    """
    messages: list[JsonObject] = [{"role": "system", "content": _write_system(row)}]
    open_calls: list[str] = []
    for role, text in row.turns:
        calls = _read_history(text) if role == "system" else []
        if calls:
            made = _write_tool_calls(row, calls, len(messages))
            messages.append({"role": "assistant", "content": None, "tool_calls": made})
            open_calls = [call["id"] for call in made]
        elif open_calls:
            result = text if role == "system" else ""
            messages += [{"role": "tool", "tool_call_id": i, "content": result} for i in open_calls]
            open_calls = []
            if role == "user":
                messages.append({"role": "user", "content": text})
        else:
            messages.append({"role": "assistant" if role == "system" else "user", "content": text})
    return messages


def _write_system(row: AceRow) -> str:
    texts = _load_prompts("native_prompts.toml")[row.language]
    parts = [texts["system"], row.time]
    if row.profile:
        parts.append(texts["profile"].format(profile=row.profile))
    return "\n".join(part for part in parts if part)


def _read_history(text: str) -> list[AceCall]:
    try:
        return parse_calls(text) if text.startswith("[") else []
    except UnreadableCalls:
        return []


def _write_tool_calls(row: AceRow, calls: list[AceCall], place: int) -> list[JsonObject]:
    names = {tool["name"]: written for written, tool in map_tools(row).items()}
    written = []
    for number, call in enumerate(calls):
        for name, arguments in call.items():
            text = orjson.dumps(_to_json(arguments), option=orjson.OPT_NON_STR_KEYS).decode()
            function = {"name": names.get(name, name), "arguments": text}
            id = f"call_{place}_{number}"
            written.append({"id": id, "type": "function", "function": function})
    return written


def _to_json(value: Any) -> Json:
    """A value of the notation as JSON: there, ``true`` and ``false`` are names."""
    if isinstance(value, dict):
        return {key: _to_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(inner) for inner in value]
    return _WORDS.get(value, value) if isinstance(value, str) else value


def read_native_calls(row: AceRow, message: Mapping[str, Any]) -> list[AceCall]:
    """The calls of an assistant's message under the tools' own names. Arguments that are no JSON
    object stay as one argument without a name, which no gold has.
    """
    names = {written: tool["name"] for written, tool in map_tools(row).items()}
    calls: list[AceCall] = []
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        name = str(function.get("name"))
        calls.append({names.get(name, name): _read_arguments(function.get("arguments"))})
    return calls


def _read_arguments(given: Any) -> JsonObject:
    try:
        value = parse(given) if isinstance(given, str) else given
    except JsonError:
        value = given
    return value if isinstance(value, dict) else {"": value}
