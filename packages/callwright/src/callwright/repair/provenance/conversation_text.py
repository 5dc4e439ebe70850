"""Provides the conversation as a text from which values are picked: quotations, days, numbers,
capitalised names.

Each list is made when it is first asked for. Nothing here knows a schema;
:mod:`callwright.repair.rules.extracted` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from callwright.jsontext import JsonError, parse
from callwright.language import ENGLISH
from callwright.language.detect import LONGEST, is_foreign
from callwright.language.pack import pack_of
from callwright.nouns.types import Json, to_canonical_json
from callwright.schema.value_spellings import NONE, calendar_day, parse_number

MOST_MEMBERS = 8  # of a list
MAX_TEXT = 20_000  # of the conversation, its end
_JOINED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
"""Letters of scripts that put no space beside a quotation: Thai, Lao, Japanese, Chinese, Korean."""
_SINGLE_QUOTED = (
    rf"(?<![^\W{_JOINED}])'((?:[^'\n]|(?<=[a-z])'(?=[a-z])){{1,200}})'(?![^\W{_JOINED}])"
)
QUOTED = re.compile(
    rf"\"([^\"\n]{{1,200}})\"|“([^”\n]{{1,200}})”|{_SINGLE_QUOTED}|`([^`\n]{{1,200}})`"
)
MORE_QUOTED = ENGLISH.pattern("conversation.more_quoted")
EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+")
URL = re.compile(r"https?://[^\s<>\"'\])]+[^\s<>\"'\]).,;:!?]")
UUID = re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")
DATE = ENGLISH.pattern("conversation.date")
NUMBER = ENGLISH.pattern("conversation.number")
NAME = ENGLISH.pattern("conversation.name")
_MEMBER = ENGLISH.pattern("conversation.member")
_AND = ENGLISH.pattern("conversation.and")
_COMMA = re.compile(r"\s*,\s*")
_STATE = ENGLISH.pattern("conversation.states")
_SHORTENED = ENGLISH.listed("conversation.shortened")
_TIMES: Mapping[str, int] = ENGLISH.table("conversation.scales")
_POSSESSIVE = ENGLISH.pattern("conversation.possessive")
_ARRAY = re.compile(r"(?<![\w\])])\[[^\[\]\n]{1,2000}\]")
_TAG = re.compile(r"</?\w+>|\*\*[^*\n]+\*\*")
NOT_NAMES = ENGLISH.words("conversation.not_names")


@dataclass
class ConversationText:
    """Text of the conversation, shortened to its end if long, and the values picked from it (each
    list is made once).
    """

    text: str
    low: str = field(init=False)

    def __post_init__(self) -> None:
        self.text = _TAG.sub("\n", self.text[-MAX_TEXT:])
        self.low = self.text.lower()

    @cached_property
    def readable(self) -> bool:
        """True if the text is English, or nothing speaks against it. Capital letters, "and" and the
        signs of numbers mean something else elsewhere.
        """
        return not is_foreign(self.text[-LONGEST:])

    @cached_property
    def quoted(self) -> list[str]:
        return keep_distinct(map(get_quoted_text, QUOTED.finditer(self.text)))

    @cached_property
    def dates(self) -> list[str]:
        """Days, as ISO 8601 writes them."""
        days = (calendar_day(m[0]) for m in DATE.finditer(self.text))
        language = None if self.readable else pack_of(self.text[-LONGEST:])
        named = (d.to_date() for d in language.dates(self.text)) if language else ()
        return keep_distinct(day.isoformat() for day in (*days, *named) if day)

    @cached_property
    def numbers(self) -> list[re.Match[str]]:
        if self.readable:
            return list(NUMBER.finditer(DATE.sub(" ", self.text)))
        language = pack_of(self.text[-LONGEST:])
        if language is not None:
            text = language.with_point(self.text)
            for date in reversed(language.dates(text)):
                text = text[: date.span[0]] + " " + text[date.span[1] :]
            return list(NUMBER.finditer(DATE.sub(" ", text)))
        found = NUMBER.finditer(DATE.sub(" ", self.text))
        return [m for m in found if m[1].lstrip("-−").isdigit()]  # "1.234" may be a thousand

    @cached_property
    def names(self) -> list[str]:
        """Runs of capitalised words, sentence openers taken off; none in a text that is not
        English.
        """
        if not self.readable:
            return []
        return keep_distinct(n for m in NAME.finditer(self.text) if (n := extract_name(m)))

    @cached_property
    def arrays(self) -> list[Json]:
        """JSON arrays that stand in the text as such."""
        found = (parse_array(m[0]) for m in _ARRAY.finditer(self.text))
        return list({to_canonical_json(v): v for v in found if v is not NONE}.values())

    @cached_property
    def lists(self) -> list[list[str]]:
        """Members of "A and B" and "A, B and C", where all are names, quotations or numbers; none in
        a text that is not English.
        """
        if not self.readable:
            return []
        rows: list[list[str]] = []
        row: list[str] = []
        end = 0
        for m in _MEMBER.finditer(self.text):
            gap = self.text[end : m.start()] if m.start() - end < 20 else "."
            if row and _AND.fullmatch(gap):
                rows.append([*row, m[0]])
            row = [*row, m[0]] if len(row) < MOST_MEMBERS and _COMMA.fullmatch(gap) else [m[0]]
            end = m.end()
        return [row for row in rows if not any(_STATE.fullmatch(item) for item in row)]


def as_number(text: str, types: frozenset[str], scale: str | None = None) -> Json:
    """The number; "213 million" in full, NONE for a percentage (7 or 0.07: nobody said which is
    wanted).
    """
    scale = (scale or "").strip().lower()
    if scale and scale not in _TIMES:
        return NONE
    found = parse_number(text.replace("−", "-").replace(",", ""), whole="number" not in types)
    if scale and found is not NONE:
        product = found * _TIMES[scale]
        found = int(product) if float(product).is_integer() else NONE
    return found


def normalize_value(value: Json) -> str:
    """A value as it is compared with others that were said: without case and outer spaces; "" for
    NONE.
    """
    if value is NONE:
        return ""
    return (value if isinstance(value, str) else to_canonical_json(value)).strip().lower()


def get_quoted_text(quotation: re.Match[str]) -> str:
    """Return the text between the marks of a quotation."""
    return next(g for g in quotation.groups() if g)


def build_words_pattern(words: Sequence[str], low: str) -> str:
    """A pattern for words that stand together with or without separators; "" where they are not all
    in a text.
    """
    if not words or not all(w in low for w in words):
        return ""
    return r"[\s_-]?".join(map(re.escape, words))


def trim_name(name: str) -> str:
    """A capitalised run without the words that only open a sentence, and without a possessive at
    its end.
    """
    parts = name.split()
    while parts and parts[0].lower().strip(".,'’") in NOT_NAMES:
        parts.pop(0)
    return _POSSESSIVE.sub("", " ".join(parts).rstrip(".")) if parts else ""


def extract_name(m: re.Match[str]) -> str:
    """:func:`trim_name` of a match of :data:`NAME`; a possessive stays where nothing follows that it
    could own.
    """
    name = trim_name(m[0])
    if name.endswith(_SHORTENED) and m.string[m.end() : m.end() + 1] == ".":
        name += "."
    owns = re.match(r"[^\w,.;!?]*\w", m.string[m.end() : m.end() + 20])
    return name if owns or not m[0].endswith(("'s", "’s")) else name + m[0][-2:]


def parse_array(text: str) -> Json:
    """The JSON array that a text is; NONE where it is none."""
    try:
        return parse(text)
    except JsonError:
        return NONE


def keep_distinct(values: Iterable[str]) -> list[str]:
    """Each value once, in order."""
    return list(dict.fromkeys(values))
