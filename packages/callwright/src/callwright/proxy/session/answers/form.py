"""The JSON that a client asked for by ``response_format``: an answer that breaks it is repaired. Pure.

What is right already stays, to the byte. What cannot be made right without a guess stays as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from callwright.jsontext import JsonError, parse, parse_lenient, write
from callwright.nouns.types import Edit, Json, JsonObject
from callwright.nouns.wire_names import EditRules
from callwright.proxy.session.answers.sse import json_bytes, json_object
from callwright.proxy.session.words import CONTENT
from callwright.schema.coerce import coerce_value
from callwright.schema.compiled import Compiled, compile_relaxed
from callwright.schema.keys import drop_keys, rename_keys
from callwright.schema.value_edits import ValueEdit
from callwright.tools.lists import chat_messages as chat

_FENCED = re.compile(r"\A.*?^```\w*\s*$\n(.*?)^```\s*$", re.DOTALL | re.MULTILINE)
_OBJECT: JsonObject = {"type": "object"}


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
        return body, [], "the answer was cut off: it is not completed to the schema"
    made, edits, problem = repair_text(text, form)
    if not edits:
        return body, [], problem
    choice = {**choice, "message": {**message, "content": made}}
    return json_bytes({**document, "choices": [choice]}), edits, problem


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
