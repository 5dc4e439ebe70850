"""Values that the conversation states for a parameter: said beside its name, or the only one of their format.

Nothing is derived, translated or guessed at: a candidate is a piece of what was said. Two different candidates of the
surest kind that has any are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from callwright.flow import words
from callwright.gate.spellings import NONE, calendar_day, number
from callwright.types import Json, JsonObject, canonical

MAX_TEXT = 20_000  # of the conversation, its end
CONFIDENCE = {  # share of such fills that were the gold value (bench confidence): replies of one call, of several
    "labelled": (0.99, 0.92),
    "identified": (0.98, 0.86),
    "address": (0.93, 0.97),
    "option": (0.99, 0.8),
    "counted": (0.98, 0.85),
    "only_date": (0.88, 0.88),
    "only_time": (0.5, 0.6),
    "only_number": (0.96, 0.96),
    "only_quoted": (0.94, 0.95),
    "place": (0.89, 0.92),
    "between": (0.88, 0.8),
    "only_name": (0.46, 0.36),
}
_QUOTED = re.compile(r"\"([^\"\n]{1,200})\"|“([^”\n]{1,200})”|(?<![\w])'([^'\n]{1,200})'(?!\w)|`([^`\n]{1,200})`")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_URL = re.compile(r"https?://[^\s<>\"'\])]+[^\s<>\"'\]).,;:!?]")
_UUID = re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")
_IP = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
_DATE = re.compile(
    r"\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b|\b\d{1,2}[-/.]\d{1,2}[-/.]\d{4}\b"
    r"|\b[A-Z][a-z]{2,8}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}\b"
    r"|\b\d{1,2}(?:st|nd|rd|th)?(?: of)? [A-Z][a-z]{2,8},? \d{4}\b"
)
_NUMBER = re.compile(
    r"(?<![\w.,/:-])([-−]?\d+(?:,\d{3})*(?:\.\d+)?)(?![\w]|[.,:/]\d|-\d)(\s?(?:%|percent\b|thousand\b|million\b|billion\b))?"
)
_TIMES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_NAME = re.compile(r"\b[A-Z][\w'’.-]*[\w](?:[ ](?:of |de |the |van |von |& )?[A-Z][\w'’.-]*[\w])*")
_LINK = (
    r"\s*(?:\)|of the \w+)?\s*(?:number |id |code |name |address )?"
    r"(?:(?:is|are|was|will be)(?: set)?(?: to)?|:|=|named|called|set to|->)\s*"
)
_ID_SAID = re.compile(
    r"\b(?:ID|id|Id|identifier)\b(?: number)?(?: is| of|:|=)?\s*"
    r"(?:[\"'`]([^\"'`\n]{1,80})[\"'`]|#?([A-Za-z_-]*\d[\w-]*))"
)
_PLACE = re.compile(r"\b[A-Z][\w.'-]+(?: [A-Z][\w.'-]+)*,\s?[A-Z]{2}\b")
_CLOCK = re.compile(r"(?<![\d:])\d{1,2}:\d{2}(?!\d|:)(?: ?[AaPp]\.?[Mm]\b)?")
_PLACE_WORDS = frozenset({"city", "location", "area", "place", "town", "region"})
_BEFORE_NUMBER = re.compile(r"[\"'`$€£]?")
_TAG = re.compile(r"</?\w+>|\*\*[^*\n]+\*\*")
_NOT_NAMES = frozenset(
    "i i'm i'd i'll i've what which where when who whose how why can could would should will please find get show "
    "tell give is are do does did the a an my your it its this that there if in on at for from to and or also then "
    "help calculate compute determine book order search list create make set update delete add remove convert send "
    "check let yes no ok okay hi hello hey sure thanks thank based our need want retrieve provide generate identify "
    "use using after before next finally first second lastly additionally based on with as we you he she they "
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december today tomorrow schedule play what's".split()
)
_DATE_WORDS = frozenset({"date", "day", "birthday", "deadline", "checkin", "checkout", "arrival", "departure", "dob"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value that was said, and how it came to be one for the parameter."""

    value: Json
    kind: str

    def confidence(self, *, alone: bool) -> float:
        """How often such a value is the right one; ``alone``: the reply has no other call."""
        return CONFIDENCE[self.kind][0 if alone else 1]


@dataclass
class Talk:
    """What was said, its end if it is long, and what can be picked out of it (each list is made once)."""

    text: str
    low: str = field(init=False)

    def __post_init__(self) -> None:
        self.text = _TAG.sub("\n", self.text[-MAX_TEXT:])
        self.low = self.text.lower()

    @cached_property
    def quoted(self) -> list[str]:
        return _unique(next(g for g in m.groups() if g) for m in _QUOTED.finditer(self.text))

    @cached_property
    def dates(self) -> list[str]:
        """Days, as ISO 8601 writes them."""
        return _unique(d.isoformat() for m in _DATE.finditer(self.text) if (d := calendar_day(m[0])))

    @cached_property
    def numbers(self) -> list[re.Match[str]]:
        without = _DATE.sub(" ", self.text)
        return list(_NUMBER.finditer(without))

    @cached_property
    def names(self) -> list[str]:
        """Runs of capitalised words, sentence openers taken off."""
        return _unique(n for m in _NAME.finditer(self.text) if (n := _trimmed(m[0])))


def fill(key: str, part: JsonObject, talk: Talk, used: Iterable[Json] = ()) -> Candidate | None:
    """The one value that the conversation states for a parameter; None where there is none or more than one.

    ``part`` is the parameter's schema. ``used`` are values of the call's other arguments: what is only the last of
    its format may already be spoken for.
    """
    taken = {_spoken(v) for v in used}
    for kind, found in _by_kind(key, part, talk, taken):
        values = {canonical(v): v for v in found}
        if len(values) == 1:
            (value,) = values.values()
            return Candidate(value, kind)
        if values:
            return None
    return None


def _by_kind(key: str, part: JsonObject, talk: Talk, taken: set[str]) -> Iterator[tuple[str, list[Json]]]:
    types = _types(part)
    if isinstance(part.get("enum"), list):
        yield "option", _options(part["enum"], talk.text)
        return
    yield "labelled", _labelled(key, types, part, talk)
    yield "identified", _identified(key, types, talk)
    yield "address", [v for v in _addressed(key, part, talk) if "string" in types]
    if types & {"integer", "number"}:
        yield "counted", _counted(key, types, talk)
        yield "only_number", _free([_as_number(n[1], types, n[2]) for n in talk.numbers], taken)
    elif "string" in types and not part.get("pattern"):
        yield from _texts(key, part, talk, taken)


def _texts(key: str, part: JsonObject, talk: Talk, taken: set[str]) -> Iterator[tuple[str, list[Json]]]:
    named = set(words(key))
    if named & _DATE_WORDS or part.get("format") == "date":
        days = {d.isoformat() for t in taken if (d := calendar_day(t[:10]))}
        yield "only_date", _free(talk.dates, taken | days)
        return
    if "time" in named:
        yield "only_time", _free(_unique(m[0] for m in _CLOCK.finditer(talk.text)), taken)
    if named & {"time", "email", "url", "uri", "phone", "id", "uuid", "token", "password"} or part.get("format"):
        return
    if named & _PLACE_WORDS:
        yield "place", _free(_unique(m[0] for m in _PLACE.finditer(talk.text)), taken)
        yield "place", _places(part, talk, taken)
    yield "between", _between(named, part, talk)
    yield "only_quoted", _free(talk.quoted, taken)
    yield "only_name", _free(talk.names, taken)


_MORE_THAN_A_NAME = re.compile(r"state|country|format|code|,", re.I)
_GOES_ON_QUOTING = re.compile(r"\s*(?:,|;|&|\band\b|\bor\b)\s*(?:and |or )?[\"'`“]")  # the first of several
_GOES_ON = re.compile(r",? [A-Z0-9]|,[A-Z]| state\b| county\b", re.M)


def _places(part: JsonObject, talk: Talk, taken: set[str]) -> list[Json]:
    """Names after "in", "at", "near", "for", unless the parameter asks for more than a name ("City, State")."""
    if _MORE_THAN_A_NAME.search(str(part.get("description") or "")):
        return []
    said = re.finditer(rf"\b(?:in|at|for|near) ({_NAME.pattern[2:]})", talk.text)
    whole = [m[1] for m in said if not _GOES_ON.match(talk.text, m.end())]
    return _free([n for s in whole if (n := _trimmed(s)) == s], taken)


def _between(named: set[str], part: JsonObject, talk: Talk) -> list[Json]:
    """X and Y of "from X to Y", by what the key says it is."""
    if _MORE_THAN_A_NAME.search(str(part.get("description") or "")):
        return []
    ends = list(re.finditer(rf"\bfrom ({_NAME.pattern[2:]}) to ({_NAME.pattern[2:]})", talk.text))
    if "currency" in named or len(ends) != 1 or _GOES_ON.match(talk.text, ends[0].end()):
        return []
    if named & {"from", "origin", "start", "departure", "source"}:
        return [_trimmed(ends[0][1])]
    return [_trimmed(ends[0][2])] if named & {"to", "destination", "end", "arrival", "target"} else []


def _free(values: Iterable[Json], taken: set[str]) -> list[Json]:
    """Values that no other argument holds."""
    return [v for v in values if v is not NONE and not any(_spoken(v) in t or t in _spoken(v) for t in taken if t)]


def _spoken(value: Json) -> str:
    return (value if isinstance(value, str) else canonical(value)).strip().lower()


def _types(part: JsonObject) -> frozenset[str]:
    named = part.get("type", "string")
    return frozenset(named if isinstance(named, list) else [named])


def _options(options: list[Json], text: str) -> list[Json]:
    """Options that were said in so many words."""
    low = text.lower()
    said = [
        o for o in options if isinstance(o, str) and o and re.search(rf"(?<!\w){re.escape(o.lower())}(?!\w)", low)
    ]
    return [o for o in said if not any(o != p and o.lower() in p.lower() for p in said)]


def _labels(key: str, low: str) -> list[str]:
    """The ways to say a key in a sentence, as patterns; none where its words are not all there."""
    plain = [w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", key)]
    if not plain or not all(w in low for w in plain):
        return []
    return [r"[\s_-]?".join(map(re.escape, plain))]


def _labelled(key: str, types: frozenset[str], part: JsonObject, talk: Talk) -> list[Json]:
    found: list[Json] = []
    for label in _labels(key, talk.low):
        link = f"(?:{_LINK}|\\s+of\\s+)" if types & {"integer", "number"} else _LINK
        for m in re.finditer(rf"(?<![\w]){label}s?\b[\"'`]?{link}", talk.text, re.I):
            value = _value_at(talk.text, m.end(), types, part)
            if value is not NONE:
                found.append(value)
    return found


def _identified(key: str, types: frozenset[str], talk: Talk) -> list[Json]:
    """What stands after "ID" for a parameter that is some thing's id."""
    if words(key)[-1:] != ("id",):
        return []
    found = [m[1] or m[2] for m in _ID_SAID.finditer(talk.text)]
    if types & {"integer", "number"}:
        return [v for f in found if (v := _as_number(f, types)) is not NONE]
    return list(found) if "string" in types else []


def _value_at(text: str, at: int, types: frozenset[str], part: JsonObject) -> Json:
    """What stands right after a label: a quoted text, a number, one token or a run of capitalised words."""
    if types & {"integer", "number"}:
        at += len(_BEFORE_NUMBER.match(text, at)[0])  # type: ignore[index]
        m = _NUMBER.match(text, at)
        return _as_number(m[1], types, m[2]) if m else NONE
    if "string" not in types:
        return NONE
    m = _QUOTED.match(text, at)
    if m:
        return NONE if _GOES_ON_QUOTING.match(text, m.end()) else next(g for g in m.groups() if g)
    if part.get("format") == "date" or _DATE.match(text, at):
        m = _DATE.match(text, at)
        day = calendar_day(m[0]) if m else None
        return day.isoformat() if day else NONE
    for pattern in (_EMAIL, _URL, _UUID, re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+)+(?=[,.;!?)\n]|$)")):
        m = pattern.match(text, at)
        if m:
            return m[0]
    m = re.compile(r"[\w@#$%&*+/.:-]*[\w*#$%&](?=[\s,;.!?)\"'`]|$)").match(text, at)
    token = m[0] if m else ""
    telling = any(c.isdigit() or c in "@_/" for c in token) or token[1:] != token[1:].lower() or _ends(text, m)
    return token if token and telling and token.lower() not in _NOT_NAMES else NONE


def _ends(text: str, m: re.Match[str] | None) -> bool:
    """Whether a value's sentence or clause ends with it."""
    return m is not None and re.match(r"\s*(?:[,.;!?)\n]|and\b|$)", text[m.end() :]) is not None


def _addressed(key: str, part: JsonObject, talk: Talk) -> list[Json]:
    """The only values that look like what the key's name or format says: an e-mail address, a URL, a UUID, an IP."""
    named = {*words(key), *re.findall(r"[a-z]+", key.lower()), str(part.get("format", ""))}
    for kinds, pattern in (
        ({"email", "mail", "e-mail"}, _EMAIL),
        ({"url", "uri", "link", "website"}, _URL),
        ({"uuid", "guid"}, _UUID),
        ({"ip", "ipv4"}, _IP),
    ):
        if named & kinds:
            return list(_unique(m[0] for m in pattern.finditer(talk.text)))
    return []


def _counted(key: str, types: frozenset[str], talk: Talk) -> list[Json]:
    """Numbers that stand right before what the key counts: "3 nights" for ``nights`` or ``num_nights``."""
    nouns = [w for w in words(key) if w not in ("number", "count", "total", "of", "in", "the", "max", "min")]
    if not nouns or nouns[-1] not in talk.low:
        return []
    after = re.compile(rf"[\s-]+{re.escape(nouns[-1])}(?:s|es)?\b(?!\s*(?:of|is|=|:|was|from|to)?\s*[$\d])", re.I)
    said = [m for m in talk.numbers if after.match(m.string, m.end())]
    return [v for m in said if (v := _as_number(m[1], types, m[2])) is not NONE]


def _as_number(text: str, types: frozenset[str], scale: str | None = None) -> Json:
    """The number; "213 million" in full, NONE for a percentage (7 or 0.07: nobody said which is wanted)."""
    scale = (scale or "").strip().lower()
    if scale and scale not in _TIMES:
        return NONE
    found = number(text.replace("−", "-").replace(",", ""), whole="number" not in types)
    if scale and found is not NONE:
        product = found * _TIMES[scale]
        found = int(product) if float(product).is_integer() else NONE
    return found


def _trimmed(name: str) -> str:
    parts = name.split()
    while parts and parts[0].lower().strip(".,'’") in _NOT_NAMES:
        parts.pop(0)
    return re.sub(r"['’]s?\Z", "", " ".join(parts).rstrip(".")) if parts else ""


def _unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
