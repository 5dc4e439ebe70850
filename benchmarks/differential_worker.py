"""The worker of ``differential.py``: reads cases, lets one source tree repair them, writes results.

The same file serves every layout of the source: :data:`PLACES` names where each thing may be, the
newest place first. Nothing else here knows a module. Lines come in blocks: toolsets and cases, then
``{"end": …}``; then one result a case goes out, and one line with the processor seconds spent.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from importlib import import_module
from typing import IO, Any

JsonObject = dict[str, Any]
_decode: Callable[[str], Any] = json.JSONDecoder().decode

PLACES: Mapping[str, tuple[str, ...]] = {
    "Tool": ("callwright.nouns.types:Tool", "callwright.types:Tool"),
    "ToolCall": ("callwright.nouns.types:ToolCall", "callwright.types:ToolCall"),
    "Message": ("callwright.nouns.types:Message", "callwright.types:Message"),
    "Effects": ("callwright.nouns.types:Effects", "callwright.types:Effects"),
    "Gate": ("callwright.repair.gate:Gate", "callwright.gate:Gate"),
    "refine": (
        "callwright.repair.refine:refine",
        "callwright.repair.refinement:refine",
        "callwright.repair.pipeline:refine",
        "callwright.refine.ladder:refine",
    ),
    "Session": ("callwright.proxy.session.session:Session", "callwright.proxy.session:Session"),
    "Settings": (
        "callwright.proxy.session.settings:Settings",
        "callwright.proxy.settings:Settings",
    ),
    "Toolsets": ("callwright.proxy.session.context:Toolsets", "callwright.proxy.context:Toolsets"),
    "events": ("callwright.proxy.session.events", "callwright.proxy.events"),
}
"""Name -> ``module:attribute``, or ``module``, each tried in turn."""


@cache
def lookup(name: str) -> Any:
    """The thing of that name in this tree. Raises ImportError that lists where it was sought."""
    for place in PLACES[name]:
        module, _, attribute = place.partition(":")
        try:
            found = import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not module.startswith(error.name):
                raise  # the module is there, and something that it needs is not
            continue
        if not attribute:
            return found
        if hasattr(found, attribute):
            return getattr(found, attribute)
    raise ImportError(f"{name} is at none of {', '.join(PLACES[name])}: add its place")


# ---------------------------------------------------------------- what comes in


def noun(name: str, row: JsonObject) -> Any:
    """A dataclass of this tree from a row of either; a field that it lacks is left out."""
    known = _fields(name)
    return lookup(name)(**{key: value for key, value in row.items() if key in known})


@cache
def _fields(name: str) -> frozenset[str]:
    return frozenset(field.name for field in fields(lookup(name)))


def tool_of(row: JsonObject) -> Any:
    return noun("Tool", {**row, "effects": noun("Effects", row["effects"])})


def call_of(row: JsonObject) -> Any:
    return noun("ToolCall", row)


def message_of(row: JsonObject) -> Any:
    calls = tuple(call_of(call) for call in row.get("tool_calls") or ())
    return noun("Message", {**row, "tool_calls": calls})


# ---------------------------------------------------------------- modes


def refined(case: JsonObject, tools: list[Any]) -> JsonObject:
    """A text, a message or a list of calls through the refiner."""
    source = case["reply"]
    if isinstance(source, list):
        source = [call_of(row) for row in source]
    messages = [message_of(row) for row in case["messages"]]
    found = lookup("refine")(source, tools, query=case["query"], messages=messages)
    return {
        "calls": [_call(c) for c in found.calls],
        "edits": _edits(found.edits),
        "refused": _kinds(found.violations),
        "text": found.text,
        "cut": found.truncated,
        "form": found.dialect,
        "said": [a.reason for a in found.abstained] + [v.message for v in found.violations],
    }


def gated(case: JsonObject, tools: list[Any]) -> JsonObject:
    """Calls through the gate, each for itself; nothing is known but its arguments."""
    gate = lookup("Gate")(tools)
    made: JsonObject = {"calls": [], "edits": [], "refused": [], "said": []}
    for place, row in enumerate(case["reply"]):
        verdict = gate.check(call_of(row))
        made["edits"] += [[rule, f"/{place}{path}"] for rule, path in _edits(verdict.edits)]
        refused = getattr(verdict, "violations", ())
        if refused:
            made["refused"] += _kinds(refused)
            made["said"] += [v.message for v in refused]
        else:
            made["calls"].append([verdict.id, verdict.tool.name, verdict.arguments])
            made["said"] += [v.message for v in verdict.warnings]
    return made


def proxied(case: JsonObject, tools: list[Any]) -> JsonObject:
    """A reply through the proxy's session, with an upstream that follows the case's script."""
    events = lookup("events")
    session = lookup("Session")(noun("Settings", case["settings"]), _toolsets())
    body = json.dumps(case["body"]).encode()
    waiting = deque(session.handle(events.Request("POST", case["path"], "", (), body), 0.0))
    coming: deque[Any] = deque()
    asked: list[str] = []
    out: list[bytes] = []
    while waiting or coming:
        command: Any = waiting.popleft() if waiting else None
        match type(command).__name__:
            case "NoneType":
                waiting += session.handle(coming.popleft(), 0.0)
            case "Probe":
                waiting += session.handle(events.Probed(**case["probed"]), 0.0)
            case "SendBody":
                out.append(command.data)
            case "CloseUpstream":
                coming.clear()
            case "SendUpstream":
                asked.append(_wanted(command.body, asked))
                coming = deque(_answer(events, case["upstream"][asked[-1]]))
    return _delivered(b"".join(out), case, session.record, asked)


@cache
def _toolsets() -> Any:
    return lookup("Toolsets")()


def _wanted(body: bytes, asked: list[str]) -> str:
    """Which answer of the script a request gets: by schema, the reply itself, or nothing."""
    if b'"response_format"' in body or b'"grammar"' in body:
        return "schema"
    return "again" if "free" in asked else "free"


def _answer(events: Any, answer: JsonObject) -> Iterator[Any]:
    yield events.UpstreamHead(200, {"content-type": answer["type"]})
    for piece in answer["pieces"]:
        yield events.UpstreamData(piece.encode())
    yield events.UpstreamEnd()


def _delivered(data: bytes, case: JsonObject, record: Any, asked: list[str]) -> JsonObject:
    text, calls = received(data)
    return {
        "calls": calls,
        "edits": _edits(record.edits),
        "refused": _kinds(record.violations),
        "text": text,
        "verbatim": data.decode(errors="replace") == "".join(case["upstream"]["free"]["pieces"]),
        "fault": getattr(record, "fault", ""),  # younger than the rest
        "asked": asked,
        "said": [v.message for v in record.violations] + list(record.notes),
    }


MODES: Mapping[str, Callable[[JsonObject, list[Any]], JsonObject]] = {
    "refine": refined,
    "gate": gated,
    "proxy": proxied,
}


# ---------------------------------------------------------------- what goes out


def _call(call: Any) -> list[Any]:
    return [call.id, call.tool, call.arguments]


def _edits(edits: Iterable[Any]) -> list[list[str]]:
    return [[edit.rule, edit.path] for edit in edits]


def _kinds(violations: Iterable[Any]) -> list[list[str]]:
    return [[violation.kind, violation.path] for violation in violations]


def received(data: bytes) -> tuple[str, list[list[Any]]]:
    """Text and calls as a client puts them together, of a whole answer or of a stream."""
    texts: list[str] = []
    calls: dict[int, list[str]] = {}
    for message in _messages(data.decode(errors="replace")):
        texts.append(message.get("content") or "")
        for place, part in enumerate(message.get("tool_calls") or ()):
            call = calls.setdefault(part.get("index", place), ["", "", ""])
            function = part.get("function") or {}
            call[0] = call[0] or part.get("id") or ""
            call[1] = call[1] or function.get("name") or ""
            call[2] += function.get("arguments") or ""
    return "".join(texts), [[id, name, _object(text)] for id, name, text in calls.values()]


def _messages(text: str) -> Iterator[JsonObject]:
    """The message of an answer, or the deltas of a stream."""
    if text.startswith("{"):
        lines = [text]
    else:
        lines = [line[5:].strip() for line in text.split("\n") if line.startswith("data:")]
    for line in lines:
        for choice in _decode(line).get("choices") or () if line != "[DONE]" else ():
            yield choice.get("message") or choice.get("delta") or {}


def _object(text: str) -> Any:
    try:
        value = _decode(text)
    except ValueError:
        return text
    return value if isinstance(value, dict) else text


# ---------------------------------------------------------------- the loop


def answered(case: JsonObject, tools: list[Any]) -> JsonObject:
    """The result of one case; an error of the code under comparison is a result too."""
    try:
        return MODES[case["mode"]](case, tools)
    except ImportError:
        raise
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def serve(lines: Iterable[str], out: IO[str]) -> None:
    """Answer block after block."""
    toolsets: dict[str, list[Any]] = {}
    block: list[JsonObject] = []
    for line in lines:
        row = _decode(line)
        if "tools" in row:
            toolsets[row["toolset"]] = [tool_of(tool) for tool in row["tools"]]
        elif "end" not in row:
            block.append(row)
        else:
            started = time.process_time()
            results = [answered(case, toolsets[case["toolset"]]) for case in block]
            spent = time.process_time() - started
            out.writelines(json.dumps(result, default=repr) + "\n" for result in results)
            out.write(json.dumps({"seconds": spent}) + "\n")
            out.flush()
            block.clear()


def main() -> int:
    """Serve on the standard streams; what the code under comparison prints goes to stderr."""
    out = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    for name in PLACES:
        lookup(name)
    out.write(json.dumps({"source": import_module("callwright").__file__}) + "\n")
    out.flush()
    serve(sys.stdin, out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
