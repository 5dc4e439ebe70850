"""Reads the possible values of one parameter from a request, without a model; surest first.

Unlike refinement, which must never be wrong, a probe may guess: it only reads, and the result of a
guess is judged as a guess. Identifiers, codes, credentials and numbers are never guessed: without a
stated value there is none. The reader knows English. Of a request in another language, or of which
the language cannot be told, what it reads by words and by looks is a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from callwright.agent.probing.days import find_relative_days, iter_phrases
from callwright.dataflow.flow import STOP, VERBS, content_words, split_words
from callwright.language import ENGLISH
from callwright.language.detect import language_of
from callwright.language.tokens import squash_text
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Json, JsonObject, Tool, iter_scalars
from callwright.repair.provenance.conversation_text import (
    NOT_NAMES,
    ConversationText,
    as_number,
    keep_distinct,
    normalize_value,
)
from callwright.repair.rules import extracted as stated
from callwright.schema.value_spellings import NONE

# share of right fills (repair/rules/extracted.py) from which a value is taken to be the one that
# was meant
SURE = threshold("callwright.agent.probing", "sure")

_KEYS = ENGLISH.words("parameters.credentials")
_KEY_WORDS = ENGLISH.words("parameters.credential_words")
_ID = ENGLISH.words("parameters.identifiers")
_CODES = ENGLISH.words("parameters.codes")
_DERIVED = ENGLISH.words("parameters.derived")
_STATED_KINDS = frozenset({"labelled", "identified", "option", "address"})
_BY_LOOKS = frozenset({"only_quoted", "only_name", "only_number", "named"})
_CODE = re.compile(r"(?=.*\d)\S+|[A-Z]{2,6}")
_DAYS = ENGLISH.words("parameters.days")
_PLACES_ON_EARTH = ENGLISH.words("parameters.coordinates")
_ADDRESSES = ENGLISH.words("parameters.addresses")
_SEARCH = ENGLISH.words("parameters.texts")
_NEUTRAL_NUMBERS: Mapping[str, int] = ENGLISH.table("parameters.neutral_numbers")
_NEUTRAL_TEXTS: Mapping[str, str] = ENGLISH.table("parameters.neutral_texts")
_FORMATS = ENGLISH.words("parameters.formats")
_SENTENCE = re.compile(r"(?<=[.?!;])\s+(?=[A-Z])")
_SHORT = 3  # words; what is shorter is no sentence but what an abbreviation's full stop leaves
_TOKEN = re.compile(r"[^\W_][\w'’&-]*(?:\.\w+)*")
_TOPIC = ENGLISH.pattern("requests.topic")
_ASKING = frozenset(w for group in VERBS.values() for w in group) | ENGLISH.words("requests.asking")


@dataclass(frozen=True, slots=True)
class Value:
    """A value that a parameter may take. ``sure``: it is what was meant, or whatever was meant
    leaves it open.
    """

    value: Json
    sure: bool
    origin: str = "said"  # said | default | neutral | guess | the name of the tool that gave it


@dataclass(slots=True)
class Request:
    """Text of the request, after the conversation that it ends, and the day on which it is made."""

    query: str
    today: date
    earlier: str = ""
    talk: ConversationText = field(init=False)
    days: list[str] = field(init=False)

    def __post_init__(self) -> None:
        said = f"{self.earlier}\n{self.query}".strip()
        self.talk = ConversationText(said)
        self.days = [day.isoformat() for day in find_relative_days(said, self.today)]

    @property
    def is_readable(self) -> bool:
        """Return True if the request is known to be in the language that this reader knows. Only
        then does a value that was not found show that nobody said it.
        """
        return is_readable(self.query, self.talk.text)

    def is_readable_for(self, tool: Tool) -> bool:
        """Return True if the request :attr:`is_readable`, or is too short to tell its language and
        most of its words are words of this tool.
        """
        if self.is_readable:
            return True
        said = {*content_words(self.query)}
        own = {*split_words(tool.name), *content_words(tool.description)}
        return not language_of(self.talk.text) and 2 * len(said & own) > len(said)

    @property
    def asks_several(self) -> bool:
        """Return True if the request has several sentences, each of which may ask for a different
        thing.
        """
        return len(_SENTENCE.split(self.query)) > 1

    def _sentences(self) -> list[str]:
        """The sentences of the request; one only where it cannot be told into which it falls."""
        sentences = [s for s in _SENTENCE.split(self.query) if s.strip()]
        return [self.query] if any(len(s.split()) < _SHORT for s in sentences) else sentences

    def part_for(self, tool: Tool) -> Request:
        """The one sentence of several that speaks of what a tool does; all of it where that is not
        clear.
        """
        sentences = self._sentences()
        if len(sentences) < 2:
            return self
        about = ({*split_words(tool.name), *content_words(tool.description)} - STOP) - _ASKING
        shares = [len(about & {*split_words(s)}) for s in sentences]
        best = max(shares)
        if not best or shares.count(best) > 1:
            return self
        return Request(sentences[shares.index(best)], self.today, self.earlier)


def is_readable(query: str, talk: str = "") -> bool:
    """Return True if a request is known to be written in the language that the reader knows.
    ``talk``: the conversation that tells the language where the request is too short to.
    """
    return (language_of(query) or language_of(talk)) == "en"


def list_values(
    key: str, part: JsonObject, request: Request, tool: Tool, used: Sequence[Json] = ()
) -> list[Value]:
    """The values for a parameter, best first; none where nothing that was said can be one.

    ``part`` is its schema, ``used`` are the values of parameters that are settled.
    """
    made: dict[str, Value] = {}
    for found in _iter_values(key, part, request, tool, used):
        made.setdefault(repr(found.value), found)
    return list(made.values())


def is_credential(key: str) -> bool:
    """Return True if the name of a parameter shows that it is a key of its caller: "api_key",
    "access_token".
    """
    named = split_words(key)
    if not named or named[-1] not in _KEYS:
        return False
    return (
        named[-1] not in ("key", "token") or len(named) == 1 or bool(set(named[:-1]) & _KEY_WORDS)
    )


def is_typed(key: str, part: JsonObject) -> bool:
    """Return True if a parameter takes only values of a special form: an id, a code, a number, a
    day, an address. If no stated value has that form, none can be its value.
    """
    named, types = set(split_words(key)), _list_types(part)
    if named & (_ID | _CODES | _DAYS | _PLACES_ON_EARTH | _ADDRESSES):
        return True
    if part.get("format") in _FORMATS or isinstance(part.get("pattern"), str):
        return True
    return bool(types & {"integer", "number"}) or is_credential(key)


def is_derived(key: str) -> bool:
    """Return True if general knowledge can derive a parameter's value from another stated value,
    such as a country's code.
    """
    return bool(set(split_words(key)) & _DERIVED)


def _has_code_form(key: str, found: stated.Candidate) -> bool:
    """Return True if a stated value fits the parameter. A parameter for a code needs a value in the
    form of a code, unless a label names the value.
    """
    if not set(split_words(key)) & (_ID | _CODES) or is_derived(key) or found.kind in _STATED_KINDS:
        return True
    return not isinstance(found.value, str) or _CODE.fullmatch(found.value) is not None


def _iter_values(
    key: str, part: JsonObject, request: Request, tool: Tool, used: Sequence[Json]
) -> Iterator[Value]:
    if "const" in part:
        yield Value(part["const"], True, "default")
        return
    if is_credential(key):
        return
    types = _list_types(part)
    if "array" in types and "string" not in types:
        yield from _iter_lists(key, part, request, tool, used)
        return
    yield from _iter_stated_values(key, part, request, used)
    if "default" in part:
        yield Value(part["default"], True, "default")
    if isinstance(part.get("enum"), list) and part["enum"]:
        yield from _iter_enum_values(part["enum"], request)
    elif "boolean" in types:
        yield Value(False, True, "neutral")
    elif types & {"integer", "number"}:
        yield from _iter_numbers(key, part, request)
    elif "string" in types:
        yield from _iter_texts(key, part, request, tool, used)


def _iter_stated_values(
    key: str, part: JsonObject, request: Request, used: Sequence[Json]
) -> Iterator[Value]:
    """Yield the values stated for the parameter, then other possible ones."""
    if (
        split_words(key)[-1:] == ("date",)
        or set(split_words(key)) & _DAYS
        or part.get("format") == "date"
    ):
        yield from _iter_days(part, request, used)
    one = stated.extract_value(key, part, request.talk, used)
    every = stated.list_candidates(key, part, request.talk, used)
    for found in (one, *every) if one is not None else every:
        if (
            found is None
            or _is_relative_day(found.value, request)
            or not _has_code_form(key, found)
        ):
            continue
        sure = found is one and not is_derived(key) and found.confidence(alone=True) >= SURE
        sure = sure and request.is_readable
        sure = sure and not (
            request.asks_several and found.kind in _BY_LOOKS
        )  # may be another sentence's
        short = _shorten_name(found.value, request)
        if short != found.value:
            yield Value(short, sure)
            sure = False
        yield Value(found.value, sure)


def _iter_days(part: JsonObject, request: Request, used: Sequence[Json]) -> Iterator[Value]:
    taken = {normalize_value(v)[:10] for v in used}
    days = [day for day in keep_distinct([*request.talk.dates, *request.days]) if day not in taken]
    stamp = "T00:00:00Z" if part.get("format") == "date-time" else ""
    if "string" in _list_types(part):
        first = int(request.is_readable)  # of several days the first is the one that is meant
        yield from (Value(day + stamp, len(days) == 1 or i < first) for i, day in enumerate(days))


def _is_relative_day(value: Json, request: Request) -> bool:
    low = normalize_value(value)
    return (
        any(low in phrase.lower() for phrase in iter_phrases(request.talk.text))
        if low and isinstance(value, str)
        else False
    )


def _shorten_name(value: Json, request: Request) -> Json:
    """A name without the verb that opens the request and without what it owns: Ann Lee of "Move Ann
    Lee's Lisbon".
    """
    if not isinstance(value, str) or " " not in value:
        return value
    first, _, rest = value.partition(" ")
    if first.lower() in _ASKING and re.search(
        rf"(?:\A|[.!?\n]\s*){re.escape(value)}", request.talk.text
    ):
        value = rest
    return re.split(r"['’]s?\s", value, maxsplit=1)[0] or value


def _iter_enum_values(options: Sequence[Json], request: Request) -> Iterator[Value]:
    """Options not said in so many words: those that share a word with the request, then the
    first.
    """
    said = set(split_words(request.talk.text))
    for option in options:
        if isinstance(option, str) and said & (set(split_words(option)) - STOP):
            yield Value(option, False, "guess")
    yield Value(options[0], False, "guess")


def _iter_numbers(key: str, part: JsonObject, request: Request) -> Iterator[Value]:
    """Yield neutral numbers for counts and offsets, which every tool understands and no request
    states. For other parameters, yield any stated number.
    """
    named, whole = split_words(key), "number" not in _list_types(part)
    if set(named) & (_ID | _CODES):
        return
    for word in (named[-1:] + named[:1]) if named else ():
        if word in _NEUTRAL_NUMBERS:
            most, least = part.get("maximum"), part.get("minimum")
            value = _NEUTRAL_NUMBERS[word]
            value = min(value, most) if isinstance(most, int) else value
            yield Value(max(value, least) if isinstance(least, int) else value, True, "neutral")
            return
    said = (
        as_number(m[1], frozenset({"integer"} if whole else {"number"}), m[2])
        for m in request.talk.numbers
    )
    yield from (Value(v, False, "guess") for v in said if v is not NONE)


def _iter_texts(
    key: str, part: JsonObject, request: Request, tool: Tool, used: Sequence[Json]
) -> Iterator[Value]:
    """A search gets what the request is about; any other free text the words that nothing else
    explains.
    """
    named = split_words(key)
    for word in named[-1:]:
        if word in _NEUTRAL_TEXTS:
            yield Value(_NEUTRAL_TEXTS[word], True, "neutral")
            return
    if is_typed(key, part):
        return
    left = find_unexplained_words(request, tool, used)
    if set(named) & _SEARCH:
        topic = [m.end() for m in _TOPIC.finditer(request.query)][:1]
        yield from (Value(request.query[at:].strip(" .?!"), False, "guess") for at in topic)
        if left:
            yield Value(" ".join(left), False, "guess")
        yield Value(request.query.strip(), False, "guess")
        return
    whole = squash_text(request.query)  # of which nothing was understood: no value was read
    yield from (Value(text, False, "guess") for text in left if squash_text(text) != whole)


def find_unused_codes(text: str, used: Sequence[Json] = ()) -> list[str]:
    """The numbers and codes of a text that stand in no value that is in use."""
    taken = {squash_text(str(value)) for value in iter_scalars(list(used))}
    found = (word.strip("\"'`“”‘’.,:;?!()%") for word in text.split())
    return [
        w for w in found if _CODE.fullmatch(w) and not any(squash_text(w) in one for one in taken)
    ]


def find_unexplained_words(request: Request, tool: Tool, used: Sequence[Json] = ()) -> list[str]:
    """Runs of words of the request that say neither what the tool does, nor how it is asked for,
    nor a value in use: "Oslo" in "weather in Oslo tomorrow" for a tool that tells the weather.
    """
    text = request.query
    for phrase in (*iter_phrases(text), *(v for v in used if isinstance(v, str))):
        text = re.sub(rf"(?<!\w){re.escape(phrase)}(?!\w)", " ; ", text, flags=re.I)
    explained = {
        *split_words(tool.name),
        *split_words(tool.description),
        *STOP,
        *_ASKING,
        *NOT_NAMES,
    }
    runs: list[str] = []
    before: re.Match[str] | None = None
    for m in _TOKEN.finditer(text):
        own = split_words(m[0])
        if not own or m[0].isdigit() or m[0].lower() in NOT_NAMES or set(own) <= explained:
            continue
        goes_on = (
            before is not None
            and text[before.end() : m.start()] == " "
            and _rank_form(before[0]) == _rank_form(m[0])
        )
        if runs and goes_on:
            runs[-1] += f" {m[0]}"
        else:
            runs.append(m[0])
        before = m
    return sorted(keep_distinct(runs), key=_rank_form)


def _rank_form(text: str) -> int:
    """Codes and file names first, then names, then words."""
    if any(c.isdigit() or c in "._@" for c in text):
        return 0
    return 1 if text[:1].isupper() else 2


def _iter_lists(
    key: str, part: JsonObject, request: Request, tool: Tool, used: Sequence[Json]
) -> Iterator[Value]:
    """A list: the members of one that was said, else what one member may be."""
    items = part.get("items")
    inner = items if isinstance(items, dict) else {}
    if _list_types(inner) & {"string"}:
        for row in request.talk.lists[:1]:
            yield Value([_shorten_name(m.strip("\"'`“”"), request) for m in row], False)
    yield from (
        Value([v.value], v.sure, v.origin) for v in list_values(key, inner, request, tool, used)
    )
    if not part.get("minItems"):
        yield Value([], False, "guess")


def _list_types(part: JsonObject) -> frozenset[str]:
    named = part.get("type")
    if named is None:
        return frozenset({"object"}) if "properties" in part else frozenset({"string"})
    return frozenset(map(str, named)) if isinstance(named, list) else frozenset({str(named)})
