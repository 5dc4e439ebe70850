"""A reply that is nothing but a call of a tool that nobody offered: no answer to anybody.

Small models with tools before them answer "17 plus 25?" with ``{"name": "add", "arguments": …}``.
Without a marker that is text like any other, so it is only looked at where the upstream's own calls
do not work, where it is the whole reply, where the client asks for no JSON, and where the user
speaks neither of such a thing nor of that name, in a language that can be read. An upstream that
our engine leads and that declined to call writes one too, for it means a tool that it was offered
(:func:`callwright.proxy.session.leading.lead.take_up_call`).
"""

from __future__ import annotations

import re

from callwright.jsontext import JsonError, parse
from callwright.language.pack import pack_or_english
from callwright.nouns.types import ToolCall
from callwright.parsing import CallPiece
from callwright.proxy.session import words
from callwright.proxy.session.context import Context

_BEGINS = re.compile(
    r'\s*(?:```\w*\s*)?\{\s*"(?:name|tool|function)"\s*:\s*"([^"\\]{1,80})"\s*[,}]'
)
_WHOLE = re.compile(r"\s*(?:```\w*\s*(?P<fenced>\{.*\})\s*```|(?P<bare>\{.*\}))\s*\Z", re.S)
_NAMES, _ARGUMENTS = ("name", "tool", "function"), ("arguments", "parameters", "args")


def may_begin_call(text: str, context: Context) -> bool:
    """Return True if a reply with this beginning may become a hallucinated call."""
    found = _BEGINS.match(text) if _is_checked(context) else None
    if found is None or len(text) > context.settings.hold_bytes:
        return False
    return _is_unknown_name(found[1], context)


def find_hallucinated_call(text: str, context: Context) -> CallPiece | None:
    """The call that a whole reply is, if nobody offered its tool."""
    found = _WHOLE.match(text) if _is_checked(context) else None
    if found is None:
        return None
    try:
        value = parse(found["fenced"] or found["bare"])
    except JsonError:
        return None
    name = next((value[k] for k in _NAMES if k in value), None)
    arguments = next((value[k] for k in _ARGUMENTS if k in value), None)
    if len(value) != 2 or not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    return (
        CallPiece(ToolCall("", name, arguments), text, "json")
        if _is_unknown_name(name, context)
        else None
    )


def _is_checked(context: Context) -> bool:
    is_wanted = words.wants_json(context.body.get("response_format"))
    is_text = is_wanted or context.forbids_calls
    return not (context.native or context.toolset.opaque or is_text)


def _is_unknown_name(name: str, context: Context) -> bool:
    asked = context.query
    return (
        name not in context.toolset.names
        and name.lower() not in asked.lower()
        and _wants_no_call_written(asked)
    )


def _wants_no_call_written(asked: str) -> bool:
    """Return True if a request is in a language that can be read, and speaks of no such thing."""
    language = pack_or_english(asked)
    return language is not None and language.says("calls.written_out", asked) is False
