"""The JSON that a client asked for by ``response_format``: an answer that breaks it is repaired.
Pure.

What is right already stays, to the byte. What cannot be made right without a guess stays as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from callwright.jsontext import JsonError, parse, parse_lenient, write
from callwright.nouns.types import Edit, Json, JsonObject
from callwright.nouns.wire_names import EditRules
from callwright.proxy.session.answers.sse import encode_event, extract_data, json_bytes, json_object
from callwright.proxy.session.words import CONTENT
from callwright.schema.coerce import coerce_value
from callwright.schema.compiled import Compiled, compile_relaxed
from callwright.schema.keys import drop_keys, rename_keys
from callwright.schema.value_edits import ValueEdit
from callwright.tools.lists import chat_messages as chat

_FENCED = re.compile(r"\A.*?^```\w*\s*$\n(.*?)^```\s*$", re.DOTALL | re.MULTILINE)
_OBJECT: JsonObject = {"type": "object"}
_CUT_OFF = "the answer was cut off: it is not completed to the schema"


@dataclass(frozen=True, slots=True)
class Form:
    """The form that a client asked for: its schema."""

    schema: Json

    def compile(self) -> Compiled:
        return compile_relaxed(self.schema)


def read_form(body: JsonObject) -> Form | None:
    """The form that a chat request asks for; None where it asks for none."""
    asked = body.get("response_format")
    if not isinstance(asked, dict):
        return None
    named = asked.get("json_schema")
    if asked.get("type") == "json_schema" and isinstance(named, dict) and "schema" in named:
        return Form(named["schema"])
    return Form(_OBJECT) if asked.get("type") == "json_object" else None


def repair_completion(body: bytes, form: Form) -> tuple[bytes, list[Edit], str]:
    """A chat completion whose text has the form, the edits that gave it this form, and why it has
    not. The very bytes where nothing was changed; an answer that calls tools has no form.
    """
    document = json_object(body)
    choice = chat.only_choice(document) if document else None
    message = choice.get("message") if choice else None
    if document is None or choice is None or not isinstance(message, dict):
        return body, [], ""
    text = chat.content_text(message.get("content"))
    if message.get("tool_calls") or message.get("refusal") or not text:
        return body, [], ""
    if choice.get("finish_reason") == "length":
        return body, [], _CUT_OFF
    made, edits, problem = repair_text(text, form)
    if not edits:
        return body, [], problem
    choice = {**choice, "message": {**message, "content": made}}
    return json_bytes({**document, "choices": [choice]}), edits, problem


def is_in_form(text: str, form: Form) -> bool:
    """Return True if a text is an object of the form, each of whose keys the schema names."""
    value, _ = _read_value(text)
    named = form.schema.get("properties") if isinstance(form.schema, dict) else None
    if not isinstance(value, dict) or not isinstance(named, dict):
        return False
    return value.keys() <= named.keys() and form.compile().accepts(value)


def read_delta(event: bytes) -> str | None:
    """The text that an event of a streamed chat completion adds, "" where it adds none; None where
    the stream has no single answer in text: calls, a refusal, several choices.
    """
    chunk = json_object(extract_data(event))
    choices = chunk.get("choices") if chunk else None
    if not choices:
        return ""
    choice = chat.only_choice(chunk) if chunk else None
    delta = choice.get("delta") if choice else None
    if not isinstance(delta, dict) or delta.get("tool_calls") or delta.get("refusal"):
        return None
    text = delta.get("content")
    return text if isinstance(text, str) else ""


def repair_stream(events: Sequence[bytes], form: Form) -> tuple[bytes, list[Edit], str]:
    """The events of a streamed chat completion with their text in the form: all of it in the first
    that has any. Edits and problem as of :func:`repair_completion`; the very bytes where nothing
    was changed.
    """
    came, texts = b"".join(events), [read_delta(event) or "" for event in events]
    chunks = [json_object(extract_data(event)) for event in events]
    if any(_is_cut_off(chunk) for chunk in chunks):
        return came, [], _CUT_OFF
    made, edits, problem = repair_text("".join(texts), form)
    if not edits:
        return came, [], problem
    out, left = list[bytes](), made
    for event, text, chunk in zip(events, texts, chunks, strict=True):
        out.append(encode_event(_with_content(chunk, left)) if text else event)
        left = "" if text else left
    return b"".join(out), edits, problem


def _is_cut_off(chunk: JsonObject | None) -> bool:
    choice = chat.only_choice(chunk) if chunk else None
    return choice is not None and choice.get("finish_reason") == "length"


def _with_content(chunk: JsonObject | None, text: str) -> JsonObject:
    """A chunk of one choice with another text."""
    choice = chat.only_choice(chunk) if chunk else None
    if chunk is None or choice is None:
        raise AssertionError("only a chunk of one choice has text")
    delta = {**choice["delta"], "content": text}
    return {**chunk, "choices": [{**choice, "delta": delta}]}


def repair_text(text: str, form: Form) -> tuple[str, list[Edit], str]:
    """The text as JSON of the form, the edits, and why it has another form still. The text itself
    where it is right, or cannot be made right.
    """
    schema = form.compile()
    value, is_strict = _read_value(text)
    if value is None and not is_strict:
        return text, [], "the answer is no JSON"
    if is_strict and schema.accepts(value):
        return text, [], ""
    made, renamed = rename_keys(value, schema.root)
    made, coerced = coerce_value(made, schema)
    dropped: tuple[ValueEdit, ...] = ()
    if not schema.accepts(made):
        made, dropped = drop_keys(made, schema.root)
    if not schema.accepts(made):
        return text, [], "the answer does not follow the schema, and no lossless edit helps"
    written = write(made).decode()
    edits = [one.to_edit() for one in (*renamed, *coerced, *dropped)]
    located = [replace(edit, path=CONTENT + edit.path) for edit in edits]
    marks = [] if is_strict else [Edit(CONTENT, text, written, EditRules.REPAIR_JSON)]
    return written, [*marks, *located], ""


def _read_value(text: str) -> tuple[Json, bool]:
    """The value of a text, and True if the whole text is strict JSON; None where there is none."""
    try:
        return parse(text), True
    except JsonError:
        pass
    fenced = _FENCED.match(text)
    try:
        found = parse_lenient(fenced[1] if fenced else text)
    except JsonError:
        return None, False
    is_whole = isinstance(found.value, dict | list) and not found.truncated and not found.is_mark
    return (found.value if is_whole else None), False
