"""The formats that refiner data are written in (Tool-use Refiner, Appendices B and C.2), read
strictly and written.

====================  =====================================================================================
glaive                ``<functioncall> {"name": …, "arguments": {…}} <|endoftext|>``, one call
toolace               ``<function_list>[f(a='x'), g()]</function_list>``, Python calls
xlam                  ``<func_call>[{"name": …, "arguments": {…}}, …]</func_call>``
nestools              ``<nested_function>[{"api_name": …, "parameters": {…}, "responses": ["API_call_0"]}, …]…``
order                 ``<order_func>[{"step": 1, "tool_list": [name, …]}, …]</order_func>``, names only
====================  =====================================================================================

Nothing is repaired here: a reward that forgave broken text would teach to write it. Nothing may
stand outside the tags except reasoning (``<think>…</think>``) before them.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from callwright.jsontext import JsonError, parse
from callwright.nouns.types import Json, JsonObject
from callwright_lab.training.refiner.corrupted import write_reply

_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call as rewards see it. ``labels``: names of its results (NesTools); ``step``: 1.. in
    ``order``, else 0.
    """

    name: str
    arguments: JsonObject
    labels: tuple[str, ...] = ()
    step: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """Result of reading a reply. ``calls`` is None if it cannot be read; ``right``: it has the tags
    and the body and nothing else.
    """

    calls: tuple[Invocation, ...] | None
    right: bool


@dataclass(frozen=True, slots=True)
class Format:
    """One format: its tags, how its body is read (ValueError where it cannot be) and written."""

    name: str
    open: str
    close: str
    _read: Callable[[str], list[Invocation]]
    _write: Callable[[Sequence[Invocation]], str]

    def write(self, calls: Sequence[Invocation]) -> str:
        """The calls as the data set writes them, tags included."""
        pad = " " if self.name == "glaive" else ""
        return f"{self.open}{pad}{self._write(calls)}{pad}{self.close}"

    def read(self, text: str) -> Reading:
        """Read a reply. Readable calls without the tags, or amid other text, are read but not
        ``right``.
        """
        text = _THOUGHT.sub("", text, count=1).strip()
        start, end = text.find(self.open), text.rfind(self.close)
        tagged = start >= 0 and start + len(self.open) <= end
        body = text[start + len(self.open) : end] if tagged else text
        try:
            with warnings.catch_warnings(
                action="ignore"
            ):  # of ast.parse, about escapes in what a model wrote
                calls = tuple(self._read(body.strip()))
        except (ValueError, JsonError, SyntaxError, RecursionError, MemoryError):
            return Reading(None, False)
        return Reading(calls, tagged and start == 0 and end + len(self.close) == len(text))


def _require_object(value: Json, keys: set[str]) -> JsonObject:
    if not isinstance(value, dict) or set(value) != keys:
        raise ValueError(f"not an object of {sorted(keys)}")
    return value


def _parse_list(text: str) -> list[Json]:
    value = parse(text)
    if not isinstance(value, list):
        raise ValueError("not a list")
    return value


def _parse_call(value: Json) -> Invocation:
    found = _require_object(value, {"name", "arguments"})
    if not isinstance(found["name"], str) or not isinstance(found["arguments"], dict):
        raise ValueError("name or arguments have the wrong type")
    return Invocation(found["name"], found["arguments"])


def _read_glaive(text: str) -> list[Invocation]:
    return [_parse_call(parse(text))]


def _write_glaive(calls: Sequence[Invocation]) -> str:
    if len(calls) != 1:
        raise ValueError("glaive writes one call")
    return write_reply({"name": calls[0].name, "arguments": calls[0].arguments})


def _read_xlam(text: str) -> list[Invocation]:
    return [_parse_call(item) for item in _parse_list(text)]


def _write_xlam(calls: Sequence[Invocation]) -> str:
    return write_reply([{"name": c.name, "arguments": c.arguments} for c in calls])


def _read_toolace(text: str) -> list[Invocation]:
    found = ast.parse(text, mode="eval").body
    if not isinstance(found, ast.List):
        raise ValueError("not a list")
    return [_python_call(item) for item in found.elts]


def _python_call(node: ast.expr) -> Invocation:
    if not isinstance(node, ast.Call) or node.args or any(k.arg is None for k in node.keywords):
        raise ValueError("not a call with named arguments")
    name = ast.unparse(node.func)
    if not re.fullmatch(r"[\w.]+", name):
        raise ValueError("not a name")
    return Invocation(
        name, {str(k.arg): _convert_literal(ast.literal_eval(k.value)) for k in node.keywords}
    )


def _convert_literal(value: object) -> Json:
    """A Python literal as JSON: tuples are lists; sets, bytes and complex numbers are no JSON."""
    if isinstance(value, list | tuple):
        return [_convert_literal(v) for v in value]
    if isinstance(value, dict):
        return {str(k): _convert_literal(v) for k, v in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"{type(value).__name__} is no JSON")


def _write_toolace(calls: Sequence[Invocation]) -> str:
    made = (f"{c.name}({', '.join(f'{k}={v!r}' for k, v in c.arguments.items())})" for c in calls)
    return f"[{', '.join(made)}]"


def _read_nestools(text: str) -> list[Invocation]:
    calls = []
    for item in _parse_list(text):
        found = _require_object(item, {"api_name", "parameters", "responses"})
        name, arguments, labels = found["api_name"], found["parameters"], found["responses"]
        if (
            not isinstance(name, str)
            or not isinstance(arguments, dict)
            or not isinstance(labels, list)
        ):
            raise ValueError("a field has the wrong type")
        calls.append(Invocation(name, arguments, tuple(map(str, labels))))
    return calls


def _write_nestools(calls: Sequence[Invocation]) -> str:
    return write_reply(
        [
            {"api_name": c.name, "parameters": c.arguments, "responses": list(c.labels)}
            for c in calls
        ]
    )


def _read_order(text: str) -> list[Invocation]:
    calls = []
    for number, item in enumerate(_parse_list(text), 1):
        found = _require_object(item, {"step", "tool_list"})
        names = found["tool_list"]
        if (
            found["step"] != number
            or not isinstance(names, list)
            or not all(isinstance(n, str) for n in names)
        ):
            raise ValueError("not step 1, 2, … with names")
        calls += [Invocation(name, {}, step=number) for name in names]
    return calls


def _write_order(calls: Sequence[Invocation]) -> str:
    steps: dict[int, list[str]] = {}
    for call in calls:
        steps.setdefault(call.step, []).append(call.name)
    return write_reply(
        [{"step": i, "tool_list": steps[at]} for i, at in enumerate(sorted(steps), 1)]
    )


FORMATS: Mapping[str, Format] = {
    f.name: f
    for f in (
        Format("glaive", "<functioncall>", "<|endoftext|>", _read_glaive, _write_glaive),
        Format("toolace", "<function_list>", "</function_list>", _read_toolace, _write_toolace),
        Format("xlam", "<func_call>", "</func_call>", _read_xlam, _write_xlam),
        Format(
            "nestools", "<nested_function>", "</nested_function>", _read_nestools, _write_nestools
        ),
        Format("order", "<order_func>", "</order_func>", _read_order, _write_order),
    )
}
"""The formats by name."""


def is_representable(calls: Sequence[Invocation], name: str) -> bool:
    """Return True if the format can express these calls: writing and reading them gives the same
    calls. The paper filters out others.
    """
    try:
        reading = FORMATS[name].read(FORMATS[name].write(calls))
    except ValueError:
        return False
    return reading.right and reading.calls == tuple(calls)
