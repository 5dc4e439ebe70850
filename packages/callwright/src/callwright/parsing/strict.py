"""The strict attempt: a marker, exactly the JSON of calls, the marker that closes them, all of it
there already.

Most calls of most models are just that. Whatever is anything else is left to the reader of its
marker, which takes the same from what is read here, only in many more steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from callwright.jsontext import JsonError, parse
from callwright.nouns.types import Json, JsonObject
from callwright.parsing.formats import mistral
from callwright.parsing.formats.markup import PAIR
from callwright.parsing.formats.tagged import ENVELOPES, NOTHING
from callwright.parsing.formats.untagged import MAX_UNDECIDED
from callwright.parsing.scanner import GLANCE
from callwright.parsing.tool_vocabulary import ToolVocabulary

Plain: TypeAlias = list[tuple[str, JsonObject]]
Strict: TypeAlias = tuple[str, Plain, int]  # the family, the calls, where what holds them ends
Attempt: TypeAlias = Callable[[str, int, ToolVocabulary, bool], Strict | None]
_VALUES = frozenset("{[")
_FENCE = re.compile(r"```[\w+\-]{0,32}\s*(?=[{\[])")
_ARGS = re.compile(r"\[TOOL_CALLS\]([^\W\d][\w.\-/]{0,127})\[ARGS\](?=\{)")


def _parse_calls(text: str) -> tuple[Plain, bool] | None:
    """The calls that a JSON text means, and whether it is a list of them: in the two spellings that
    nearly all models use, with nothing beside name and arguments.
    """
    if text[:1] not in _VALUES:
        return None
    value = _parse_value(text)
    if type(value) is dict:
        call = _parse_call(value)
        return ([call], False) if call is not None else None
    if type(value) is not list or not value:
        return None
    calls = [
        call for entry in value if type(entry) is dict and (call := _parse_call(entry)) is not None
    ]
    return (calls, True) if len(calls) == len(value) else None


def _parse_call(value: JsonObject) -> tuple[str, JsonObject] | None:
    if len(value) != 2:
        return None
    name: Json = value.get("name")
    given = value.get("arguments") or value.get("parameters")
    if given is None:  # no arguments at all, or none in them
        given = value.get("arguments", value.get("parameters"))
    if (
        type(name) is not str
        or type(given) is not dict
        or name.startswith("functions.")
        or name.strip() != name
    ):
        return None
    return name, given


def _parse_value(text: str) -> Json:
    """The value that a text is; None where it is none, or where a reader, who looks no further
    ahead than a glance, would not see that its list begins with an object, or what closes it.
    """
    bare = text.rstrip()
    if len(text) - len(bare) > GLANCE or text[1 : GLANCE + 2].isspace():
        return None
    try:
        return parse(bare)
    except JsonError:
        return None


def _make_envelope_attempt(opening: str) -> Attempt:
    """At one JSON value between the tags of this row of ``ENVELOPES``."""
    envelope = ENVELOPES[opening]
    closing, start = envelope.closes[0], len(opening)
    family = envelope.families.get("json", envelope.families[""])
    several = envelope.families.get("list", envelope.families[""])

    def attempt(text: str, at: int, _offer: ToolVocabulary, _ended: bool) -> Strict | None:
        end = text.find(closing, at + start)
        found = _parse_calls(text[at + start : end].lstrip()) if end >= 0 else None
        if found is None or found[0][0][0] == NOTHING:
            return None
        return several if found[1] else family, found[0], end + len(closing)

    return attempt


def _attempt_bare(text: str, at: int, offer: ToolVocabulary, ended: bool) -> Strict | None:
    """At a reply that ends with the JSON that begins here."""
    if not ended or len(text) - at > MAX_UNDECIDED:
        return None
    found = _parse_calls(text[at:])
    if found is None or not all(offer.calls(name) for name, _ in found[0]):
        return None
    return "json", found[0], len(text.rstrip())


def _attempt_fenced(text: str, at: int, offer: ToolVocabulary, _ended: bool) -> Strict | None:
    head = _FENCE.match(text, at)
    end = text.find("```", head.end()) if head else -1
    if head is None or not 0 <= end - at < MAX_UNDECIDED:
        return None
    found = _parse_calls(text[head.end() : end])
    if found is None or not all(offer.calls(name) for name, _ in found[0]):
        return None
    return "fenced", found[0], end + 3


def _attempt_mistral(text: str, at: int, offer: ToolVocabulary, ended: bool) -> Strict | None:
    """At a list that the reply ends with, or a name, ``[ARGS]`` and JSON up to the next marker or
    the end.
    """
    head = _ARGS.match(text, at)
    if head is None:
        found = _parse_calls(text[at + len(mistral.MARKER) :].strip()) if ended else None
        return ("mistral", found[0], len(text.rstrip())) if found is not None and found[1] else None
    end = text.find(mistral.MARKER, head.end())
    if offer.bracketed or (end < 0 and not ended):
        return None
    body = text[head.end() : end if end >= 0 else len(text)].rstrip()
    given = _parse_object(body)
    return (
        ("mistral_args", [(head[1], given)], head.end() + len(body)) if given is not None else None
    )


def _parse_object(text: str) -> JsonObject | None:
    value = _parse_value(text)
    return value if type(value) is dict else None


def _make_section_attempt(family: str, head: str, closing: str, outer: str) -> Attempt:
    """At calls that each have a head with the name and a closing marker, in a section of their own
    (``outer`` ends it) or alone.
    """
    heads = re.compile(head)

    def attempt(text: str, at: int, offer: ToolVocabulary, _ended: bool) -> Strict | None:
        calls: Plain = []
        while (found := heads.match(text, at)) is not None:
            end = text.find(closing, found.end())
            given = _parse_object(text[found.end() : end]) if end >= 0 else None
            if given is None:
                return None
            calls.append((found[1], given))
            at = end + len(closing)
            if not outer:
                break
            if text.startswith(outer, at):
                at += len(outer)
                break
        else:
            return None
        return (family, calls, at) if not offer.bracketed else None

    return attempt


_N = r"([^\W\d][\w.\-/]{0,127})"
_V31 = _make_section_attempt(
    "deepseek_v31",
    rf"(?:<｜tool▁calls▁begin｜>)?<｜tool▁call▁begin｜>(?!(?:function|tool)<){_N}<｜tool▁sep｜>(?=\{{)",
    "<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
)
_V3 = _make_section_attempt(
    "deepseek",
    rf"(?:<｜tool▁calls▁begin｜>|\n)?<｜tool▁call▁begin｜>function<｜tool▁sep｜>{_N}\n```json\n(?=\{{)",
    "\n```<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
)
_KIMI = _make_section_attempt(
    "kimi",
    r"(?:<\|tool_calls_section_begin\|>)?<\|tool_call_begin\|>(?:functions\.)?"
    rf"(?!functions\.){_N}:\d+<\|tool_call_argument_begin\|>(?=\{{)",
    "<|tool_call_end|>",
    "<|tool_calls_section_end|>",
)
_HARMONY = _make_section_attempt(
    "harmony",
    r"(?:<\|start\|>assistant)?<\|channel\|>commentary to=functions\."
    rf"(?!functions\.|(?:user|self)\b){_N} <\|constrain\|>json<\|message\|>(?=\{{)",
    "<|call|>",
    "",
)


def _attempt_deepseek(text: str, at: int, offer: ToolVocabulary, ended: bool) -> Strict | None:
    return _V31(text, at, offer, ended) or _V3(text, at, offer, ended)


ATTEMPTS: Mapping[str, Attempt] = {
    **{
        tag: _make_envelope_attempt(tag)
        for tag, row in ENVELOPES.items()
        if tag.endswith((">", "]")) and tag != PAIR
    },
    **dict.fromkeys("{[", _attempt_bare),
    "```": _attempt_fenced,
    mistral.MARKER: _attempt_mistral,
    "<｜tool▁calls▁begin｜>": _attempt_deepseek,
    "<|tool_calls_section_begin|>": _KIMI,
    "<|channel|>": _HARMONY,
    "<|start|>": _HARMONY,
}
