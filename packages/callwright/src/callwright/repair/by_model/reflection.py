"""Tier 2 with a reflection first: what was wrong, what to do about it, and only then the call
(Tool-MVR, 3.3.1, B.4).

A way of asking for :mod:`callwright.repair.by_model.question`, which does the rest as ever: budget,
overlay, and the gate for what comes back. Unlike the plain question it shows what was tried before,
and it makes the model say its reasons in the order of the paper's three steps: error analysis,
correction strategy, action.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.errors import Violation
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import JsonObject, Reply, Tool, to_canonical_json, to_plain_text
from callwright.repair.by_model.question import Case, read_reply
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.schema.summary import reply_schema

_THOUGHT = {"analysis": 240, "strategy": 200}  # characters of each: enough for two sentences
_TRIED = 3  # the latest attempts that are shown
_ERROR_CHARS = 300


@dataclass(frozen=True, slots=True)
class Tried:
    """An attempt that failed, and what came back. ``left``: it was carried out, and not refused
    before.
    """

    arguments: JsonObject | str
    feedback: str
    left: bool = False


@dataclass(frozen=True, slots=True)
class Reflection:
    """Reflection of a model on a failed call. ``arguments`` is None if it gave no readable call."""

    analysis: str
    strategy: str
    arguments: JsonObject | str | None

    @property
    def text(self) -> str:
        return " ".join(part for part in (self.analysis, self.strategy) if part)


@dataclass(slots=True)
class Reflecting:
    """Asks for a reflection and its call; ``said`` keeps every one that was given. ``tried``:
    earlier attempts.
    """

    tried: Sequence[Tried] = ()
    said: list[Reflection] = field(default_factory=list)

    def question(self, case: Case, sources: ProvenanceIndex | None) -> ChatRequest:
        tried = "\n".join(
            f"{to_plain_text(t.arguments)} -> {t.feedback[:_ERROR_CHARS]}"
            for t in self.tried[-_TRIED:]
        )
        messages = case.ask("reflect", sources, tried=tried or "(nothing)")
        return ChatRequest(messages, purpose="reflect", schema=reflection_schema(case.tool))

    def read(self, reply: Reply, tool: Tool) -> JsonObject | str | Violation:
        thoughts, call = _split_thought(reply.text, tool)
        arguments = read_reply(replace(reply, text=call), tool)
        self.said.append(
            Reflection(*thoughts, None if isinstance(arguments, Violation) else arguments)
        )
        return arguments


def reflection_schema(tool: Tool) -> JsonObject | None:
    """``{"analysis", "strategy", "tool_calls"}``, in this order; None where the tool's schema
    cannot be held to.
    """
    plain = reply_schema(tool)
    if plain is None:
        return None
    thought = {name: {"type": "string", "maxLength": most} for name, most in _THOUGHT.items()}
    return {
        **plain,
        "properties": {**thought, **plain["properties"]},
        "required": [*thought, *plain["required"]],
    }


def _split_thought(text: str, tool: Tool) -> tuple[tuple[str, str], str]:
    """Analysis and strategy, and the text of the call without them; what is cut off or no object
    stays whole, and so do bare arguments of a tool that has parameters of these names.
    """
    try:
        found = parse_lenient(text)
    except JsonError:
        return ("", ""), text
    if not isinstance(found.value, dict) or _is_bare_arguments(found.value, tool):
        return ("", ""), text
    parts = (found.value.get(name) for name in _THOUGHT)
    analysis, strategy = (" ".join(part.split()) if isinstance(part, str) else "" for part in parts)
    call = {key: value for key, value in found.value.items() if key not in _THOUGHT}
    return (analysis, strategy), text if found.truncated else to_canonical_json(call)


def _is_bare_arguments(value: JsonObject, tool: Tool) -> bool:
    """Return True if an object is the arguments themselves. It has none of the names that enclose a
    call, and it has a thought's name that is also a parameter of the tool.
    """
    under = {"tool_calls", "calls", "arguments"} - tool.properties.keys()
    return not under & value.keys() and any(
        name in tool.properties for name in _THOUGHT if name in value
    )
