"""Reads the final answer of a model: constrained JSON, the paper's two lines, or plain prose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from callwright.jsontext import JsonError, parse, parse_lenient
from callwright.language import ENGLISH
from callwright.language.pack import PACKS, pack
from callwright.nouns.types import Json, JsonObject, Reply

SENTENCE_LIMIT = 80


@dataclass(frozen=True, slots=True)
class Draft:
    """One statement as the model gave it. ``glue`` is the text that stands before it in the
    answer.
    """

    text: str
    results: tuple[str, ...] = ()
    glue: str = ""


@dataclass(frozen=True, slots=True)
class Drafts:
    """A whole answer before it is checked. ``gave_up``: the model said that it has no answer."""

    statements: tuple[Draft, ...] = ()
    missing: tuple[str, ...] = ()
    gave_up: bool = False
    cut: bool = False


def schema_for(ids: Sequence[str]) -> JsonObject:
    """The decoding schema of a final answer: statements that cite results by id, and what is
    missing.
    """
    cited: JsonObject = {
        "type": "array",
        "items": {"type": "string", "enum": list(ids)},
        "maxItems": 6,
    }
    return {
        "type": "object",
        "properties": {
            "statements": {
                "type": "array",
                "minItems": 1,
                "maxItems": 12,
                "items": {
                    "type": "object",
                    "properties": {"text": {"type": "string", "maxLength": 600}, "results": cited},
                    "required": ["text", "results"],
                    "additionalProperties": False,
                },
            },
            "missing": {
                "type": "array",
                "maxItems": 6,
                "items": {"type": "string", "maxLength": 200},
            },
        },
        "required": ["statements", "missing"],
        "additionalProperties": False,
    }


WORDS: JsonObject = {
    "type": "object",
    "properties": {
        "final_answer": {"type": "string", "maxLength": 600},
        "missing": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 200}},
    },
    "required": ["final_answer"],
    "additionalProperties": False,
}
"""The decoding schema of an answer in plain sentences, and of what was asked for and is in none:
that is not asked for, since small models then make up questions of their own.
"""


_TURN = ENGLISH.pattern("replies.turn")
_ACTION = ENGLISH.pattern("replies.action")
_FENCE = re.compile(r"^```\w*\s*|(?:(?<!\s)\s++)?```$")
_FINAL = re.compile(r'"final_answer"\s*:\s*"(?P<text>(?:[^"\\]|\\.)*)', re.DOTALL)
_WORDS = re.compile(r'\s*\{\s*"final_answer"')
_STATEMENTS = re.compile(r'\s*\{\s*"statements"\s*:\s*\[')
_STATEMENT = re.compile(
    r'\s*,?\s*(\{\s*"text"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*"results"\s*:\s*\[[^\]]{0,2000}\]\s*\})'
)
_LEAD = ENGLISH.pattern("replies.lead")
_TAGS = ENGLISH.pattern("replies.tags")


def read_drafts(reply: Reply, ids: Sequence[str]) -> Drafts:
    """Understand a reply in whatever form it came; never raises, invents nothing."""
    cut = reply.finish_reason == "length"
    for call in reply.tool_calls:
        value = call.arguments if isinstance(call.arguments, dict) else read_json(call.arguments)
        if isinstance(value, dict) and (found := _of_object(value, ids)) is not None:
            return found
    text = _FENCE.sub("", reply.text.strip())
    action = _ACTION.search(text)
    if action:
        text = text[action.end() :]
    if text.lstrip().startswith("{"):
        value = read_json(text) or read_json(_first_turn(text))
        if isinstance(value, dict) and (found := _of_object(value, ids)) is not None:
            return found
        return _read_partial(text, ids) or Drafts(
            cut=cut
        )  # an object of another form is no prose either
    return Drafts(tuple(split_prose(_LEAD.sub("", _first_turn(text)), ids)), cut=cut)


def read_begun_drafts(text: str, ids: Sequence[str]) -> tuple[Draft, ...]:
    """The first statements of a reply that is still being written, those whose end has come: as
    :func:`read_drafts` reads them from the whole reply. None of a reply in another form than the
    one that was asked for.
    """
    opens = _STATEMENTS.match(text)
    if opens is not None:
        drafts: list[Draft] = []
        at = opens.end()
        while found := _STATEMENT.match(text, at):
            draft = _build_draft(read_json(found[1]), ids)
            drafts += _split_draft(draft) if draft is not None else ()
            at = found.end()
        return tuple(drafts)
    action = _WORDS.match(text) or _ACTION.search(text)
    final = _FINAL.search(text, action.start()) if action is not None else None
    said = read_json(f'["{final["text"]}"]') if final is not None else None
    if not isinstance(said, list) or not said or not isinstance(said[0], str):
        return ()
    sentences = split_prose(said[0], ids)
    is_whole = final is not None and text[final.end() : final.end() + 2] in ('",', '"}')
    return tuple(sentences if is_whole else sentences[:-1])  # what follows tells where one ends


def read_words(text: str) -> str:
    """The sentences of a reply that was held to :data:`WORDS`; of another one, all of it."""
    value = read_json(text) if _WORDS.match(text) else None
    said = value.get("final_answer") if isinstance(value, dict) else None
    return said if isinstance(said, str) else text


def read_json(text: str) -> Json:
    """The JSON value of ``text``, or None where there is none or where it stops in the middle."""
    try:
        return parse(text)
    except JsonError:
        pass
    try:
        repaired = parse_lenient(text)
    except JsonError:
        return None
    return None if repaired.truncated else repaired.value


def _first_turn(text: str) -> str:
    """Only the model's own turn: what it plays of other speakers is dropped."""
    found = _TURN.search(text)
    return text[: found.start()] if found and found.start() > 0 else text


def _of_object(value: dict[str, Any], ids: Sequence[str]) -> Drafts | None:
    if "arguments" in value and isinstance(
        value["arguments"], dict
    ):  # {"name": "Finish", "arguments": {…}}
        value = value["arguments"]
    missing = tuple(m.strip() for m in _list_texts(value.get("missing")) if m.strip())
    if isinstance(value.get("statements"), list):
        drafts = [
            d
            for s in value["statements"][:SENTENCE_LIMIT]
            if (d := _build_draft(s, ids)) is not None
        ]
        return Drafts(tuple(part for d in drafts for part in _split_draft(d)), missing)
    if isinstance(value.get("final_answer"), str):
        return Drafts(tuple(split_prose(value["final_answer"], ids)), missing)
    if value.get("return_type") == "give_up_and_restart":
        return Drafts((), missing, gave_up=True)
    return None


def _list_texts(value: Json) -> list[str]:
    if isinstance(value, list):
        return [v for v in value if isinstance(v, str)]
    if isinstance(value, str):
        return [value]
    return []


def _build_draft(value: Any, ids: Sequence[str]) -> Draft | None:
    if isinstance(value, str):
        value = {"text": value}
    if (
        not isinstance(value, dict)
        or not isinstance(value.get("text"), str)
        or not value["text"].strip()
    ):
        return None
    text, tagged = _strip_tags(value["text"].strip(), ids)
    cited = [r for r in _list_texts(value.get("results")) if r in ids]
    return Draft(text, tuple(dict.fromkeys((*cited, *tagged))), " ")


def _split_draft(draft: Draft) -> list[Draft]:
    """A statement of several sentences as several statements that rest on the same results."""
    parts = split_prose(draft.text)
    return [
        Draft(p.text, draft.results, p.glue if i else draft.glue) for i, p in enumerate(parts)
    ] or [draft]


def _read_partial(text: str, ids: Sequence[str]) -> Drafts | None:
    """A reply that was cut off: the whole statements, or the final answer as far as its last whole
    sentence.
    """
    found = _FINAL.search(text)
    if found:
        body = read_json(f'["{found["text"]}"]')
        words = (
            body[0]
            if isinstance(body, list) and body and isinstance(body[0], str)
            else found["text"]
        )
        sentences = split_prose(words, ids)
        return Drafts(tuple(sentences), cut=True)
    whole = []
    for m in _STATEMENT.finditer(text):
        draft = _build_draft(read_json(m[1]), ids)
        if draft is not None:
            whole.append(draft)
    return Drafts(tuple(whole), cut=True) if whole else None


def _strip_tags(text: str, ids: Sequence[str]) -> tuple[str, list[str]]:
    """Citations the model wrote into the text, like ``[r1, r2]``, taken out of it."""
    tagged: list[str] = []
    for m in _TAGS.finditer(text):
        tagged += [r for r in re.findall(r"r\d+", m[1].lower()) if r in ids]
    return (_TAGS.sub("", text).strip() if tagged else text), tagged


_ABBREVIATION = ENGLISH.pattern("replies.abbreviation")


# the end of a sentence, which Chinese and Japanese write without a space behind, or any space: looked at once
_BREAK = re.compile(r"(?<=[.!?؟])([\"'”)]*\s+)|(?<=[。！？])([\"'”’」』）]*+\s*+)(?!\Z)|(?<!\s)\s+")
_NUMBERED = re.compile(r"(?:[-*•]\s*)?\d{1,2}[.)]")
_NUMBER_BEHIND = re.compile(r"(?<!\d)[：，、；]\d{1,2}[.)]\Z")  # "他们是：1. 安娜，2. 鲍勃"
_ITEM = re.compile(r"(\d{1,2})[.)]\s+")
_COLONS = (":", "：")
_DAY_WITH_POINT = re.compile(r"(?<![\d.,])\d{1,2}\.\Z")
_LETTERS = re.compile(r"[^\W\d_]+")
_SEEN = 100  # characters before a break that tell whether it is one


def split_prose(text: str, ids: Sequence[str] = ()) -> list[Draft]:
    """Prose into sentences and list lines; joining ``glue + text`` gives the prose back, citations
    taken out.
    """
    drafts: list[Draft] = []
    start = items = 0
    for m in _BREAK.finditer(text):
        same_line = "\n" not in m.group()
        if same_line and _begins_item(text, m, items + 1):  # "They are: 1. first, 2. second"
            items += 1
            _append_draft(drafts, text, start, m.start(), ids)
            start = m.start()
            continue
        is_end = m[1] or m[2] is not None
        if same_line and (not is_end or (m.end() < len(text) and text[m.end()].islower())):
            continue
        end = text[max(start, m.start() - _SEEN) : m.start()]
        is_numbered = _NUMBERED.fullmatch(end.strip()) or _NUMBER_BEHIND.search(end)
        if same_line and (_ABBREVIATION.search(end) or is_numbered):
            continue  # "1. first item"
        if same_line and _is_within_date(end, text[m.end() : m.end() + _SEEN]):
            continue
        _append_draft(drafts, text, start, m.start(), ids)
        start = m.start()
    _append_draft(drafts, text, start, len(text), ids)
    return drafts[: SENTENCE_LIMIT * 2]


def _begins_item(text: str, gap: re.Match[str], number: int) -> bool:
    """Return True if the item of this number of a list within a line begins behind a gap: the first
    behind a colon, and the others in their order behind any sign.
    """
    item = _ITEM.match(text, gap.end())
    if item is None or int(item[1]) != number or gap.start() == 0:
        return False
    before = text[gap.start() - 1]
    is_behind = before in _COLONS if number == 1 else not before.isalnum()
    return is_behind and not _is_within_date(
        item[0].rstrip(), text[item.end() : item.end() + _SEEN]
    )


def _is_within_date(before: str, after: str) -> bool:
    """Return True between a day with its point and a month, or a place in an order and what has
    it, in any language: "am 20. März", "der 2. Flug".
    """
    following = _LETTERS.match(after)
    if following is None or _DAY_WITH_POINT.search(before) is None:
        return False
    return following[0].lower() in _read_months() or any(
        one.says("statements.ordinal", f"{before[-8:]} ") for one in map(pack, PACKS) if one
    )


@cache
def _read_months() -> frozenset[str]:
    packs = (pack(code) for code in PACKS)
    return frozenset(name for one in packs if one is not None for name in one.months)


def _append_draft(drafts: list[Draft], text: str, start: int, end: int, ids: Sequence[str]) -> None:
    piece = text[start:end]
    body = piece.lstrip("\"'”) \t\n") if start else piece.lstrip()
    if not body.strip():
        return
    glue = piece[: len(piece) - len(body)]
    clean, tagged = _strip_tags(body.rstrip(), ids)
    drafts.append(Draft(clean, tuple(dict.fromkeys(tagged)), glue if drafts else ""))
