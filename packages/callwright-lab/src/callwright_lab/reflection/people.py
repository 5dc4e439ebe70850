"""Finds the people named in trajectories: e-mail addresses, telephone numbers, and names beside a
person's word.

A name is a value that stands with such a word (``guest``, ``author``, ``customer`` …). It may be an
argument or a member of a result, or lie in a list or a record under the word. It may also lie in a
record with an address or a number, in JSON sent as text, or in a line ``Guest: …``. From there its
words are known wherever they stand, in any case and in any script.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeGuard

from callwright.jsontext import JsonError, parse_lenient
from callwright.language.tokens import split_identifier
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import Json, Tool
from callwright.repair.provenance.grounding import is_identifier

# Scripts that are written without spaces: what stands beside an address or a name there is no part
# of it.
_TIGHT = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
_HOST = rf"(?:[^\W_{_TIGHT}]|-)+"
EMAILS = (
    re.compile(rf"(?:[^\W{_TIGHT}]|[.+%'’-])*[^\W{_TIGHT}]\+?(?:@|%40){_HOST}(?:\.{_HOST})+"),
    re.compile(
        r"[^\s@<>()\[\]{}\",;:/\\?!*|]+@[^\s@<>()\[\]{}\",;:/\\?!*|]+\.[^\s@<>()\[\]{}\",;:/\\?!*|.]+"
    ),  # any script
)
"""Addresses, in the order in which they are looked for."""

_GAP = r"[ ().\u00a0\u2010-\u2013\uff0d\-/]{0,3}"
_PLUS = re.compile(rf"(?<![\w.:/+-])(?:[+\uff0b]|00){_GAP}\d(?:{_GAP}\d){{6,14}}(?!\w)")
_DASH = r"[ \u00a0\u2010-\u2013\uff0d./-]"
_ZERO = r"[0\u0660\u06f0\u0966\uff10]"
_NATIONAL = re.compile(
    rf"(?<![\w.:/-])\(?{_ZERO}\d{{1,4}}\)?{_DASH}\d(?:{_DASH}?\d){{4,11}}(?![\w-])"
    r"|(?<![\w.:/-])\(?\d{3}\)?[ .\u2010-]\d{3}[ .\u2010-]\d{4}(?![\w-])"  # North America's
    r"|(?<![\w.:/-])\d\d(?:[ \u00a0]\d\d){3,4}(?![\w-])"  # in pairs
)
_DATE = re.compile(r"\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[./-]\d\d?[./-](?:19|20)?\d\d(?!\d)")
_LABELLED = re.compile(
    r"^[\s>*•|-]*([^\W\d][\w .'-]{0,30}?)\**\s*[:：=]\s*\**([^\n|;]{1,80})", re.MULTILINE
)
_PEOPLE = frozenset(
    "guest guests person people attendee attendees customer customers client clients author authors"
    " recipient recipients sender senders contact contacts employee employees passenger passengers"
    " patient patients owner owners assignee assignees member members participant participants user"
    " users username firstname surname lastname fullname manager colleague colleagues friend"
    " friends driver teacher student students traveler traveller travelers travellers reviewer"
    " reviewers organizer organiser candidate applicant buyer seller subscriber".split()
)
_NAMES = frozenset(
    "name names first last middle given family full display nick nickname surname forename".split()
)
_NUMBERS = frozenset("phone phones telephone tel mobile cell cellphone fax whatsapp msisdn".split())
_REACHED = frozenset(
    "email emails mail phone telephone mobile birthday birthdate dob ssn passport".split()
)
_THINGS = frozenset(
    "file folder path tool product city country event company project calendar list room agent type"
    " kind role status count group plan level language timezone zone tier story guide interface"
    " input prompt message content note notes comment comments request requests rating review"
    " reviews id ids code number age date time day hour url link repo address street department"
    " title service page text query host".split()
)
_TITLES = frozenset(
    "mr mrs ms miss dr prof sir madam jr sr phd md von van der den de la le el bin al and und vip".split()
)
_WORDS = frozenset(  # names that are words as well: only where they are written as names
    "will may mark rose grace hope faith joy art bill sue drew rich frank grant chase pat rob jack"
    " june april august dawn summer autumn ray max guy dean lee long young king white black green"
    " brown gray stone wood bush park day hall page price west north banks field ford hill lane"
    " love power reed sharp short small smart swift wise best bond case church cook cross early"
    " fields fish fox gates good hart holiday house hunt knight lake law major marsh miles moon"
    " nice noble parks pope post rice rivers rush sky snow steel street strong weeks wells winter"
    " the all any none team admin support everyone nobody self me test info sales other guest user"
    " customer client".split()
)
_BETWEEN = re.compile(r"[\s.,'’&()·・\u2010-]+")
_LONGEST = 60  # characters of a name
_MOST_WORDS = 6
_LOWER = 3  # words of a name that is written without capitals
_NOT_A_NAME = re.compile(r"[\d@/:;=<>{}\[\]\"_|\\!?#%+*^~`$]")  # what no name is written with
_SHORTEST = 5  # digits of a telephone number
_WITH_COUNTRY = 10
_SAME = ["".join(chr(zero + n) for zero in (0x30, 0x660, 0x6F0, 0x966, 0xFF10)) for n in range(10)]


@dataclass(frozen=True, slots=True)
class People:
    """``words`` of names as they are written, and the digits of telephone ``numbers``, of all
    trajectories.
    """

    words: tuple[str, ...] = ()
    numbers: frozenset[str] = frozenset()
    _found: dict[str, str] = field(default_factory=dict)  # folded -> as it is known
    _pattern: re.Pattern[str] | None = None
    _word: re.Pattern[str] | None = None
    known: re.Pattern[str] | None = None  # telephone numbers

    def is_one(self, word: str) -> bool:
        """Return True if a word belongs to a known name and is not an ordinary word of the
        language.
        """
        folded = word.casefold()
        return folded in self._found and folded not in _WORDS

    def renamed(self, text: str, alias: Callable[[str], str]) -> str:
        """The text with every word of a name replaced, whatever its case; a name that is a word of
        the language as well only where it is written as a name.
        """
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._run(found[0], alias), text)

    def _run(self, text: str, alias: Callable[[str], str]) -> str:
        """Words of names that stand together."""
        alone = len(self._word.findall(text)) == 1 if self._word is not None else True
        return (
            self._word.sub(lambda one: self._one(one[0], alias, alone), text)
            if self._word is not None
            else text
        )

    def _one(self, word: str, alias: Callable[[str], str], alone: bool) -> str:
        known = self._found[word.casefold()]
        if alone and word != known and word.casefold() in _WORDS and not word[:1].isupper():
            return word
        return alias(known)


def collect_people(trajectories: Iterable[Trajectory]) -> People:
    """The names and numbers of all trajectories."""
    names: dict[str, list[str]] = {}
    numbers: set[str] = set()
    for trajectory in trajectories:
        for key, value, person in _iter_named_scalars(trajectory):
            if not (is_number(value) or isinstance(value, str)):
                continue
            said = unicodedata.normalize("NFC", str(value))
            if person and isinstance(value, str):
                names[said] = list(_iter_name_words(key, said))
            if set(split_identifier(key)) & _NUMBERS and len(extract_digits(said)) >= _SHORTEST:
                numbers.add(extract_digits(said))
    found: dict[str, str] = {}
    for name in sorted(names):
        for word in names[name]:
            found.setdefault(word.casefold(), word)
    if not found:
        return People((), frozenset(numbers), known=_compile_number_pattern(numbers))
    one = _compile_alternatives(found)
    runs = re.compile(rf"(?:{one})(?:[ ,.'’_-]{{1,2}}(?:{one}))*", re.IGNORECASE)
    single = re.compile(one, re.IGNORECASE)
    return People(
        tuple(found.values()),
        frozenset(numbers),
        found,
        runs,
        single,
        _compile_number_pattern(numbers),
    )


def _compile_number_pattern(numbers: Iterable[str]) -> re.Pattern[str] | None:
    """One pattern of telephone numbers, whatever stands between their digits, with and without the
    country's code.
    """
    forms = {
        form for one in numbers for form in (one, one[-8:] if len(one) >= _WITH_COUNTRY else one)
    }
    parts = [
        _GAP.join(f"[{_SAME[int(c)]}]" for c in form)
        for form in sorted(forms, key=lambda f: (-len(f), f))
    ]
    return re.compile(rf"[+\uff0b]?(?<!\d)(?:{'|'.join(parts)})(?!\d)") if parts else None


def _compile_alternatives(found: Iterable[str]) -> str:
    """A pattern of all words, the longest first. Where a script has no spaces a word has no
    borders.
    """
    parts = []
    for word in sorted(found, key=lambda word: (-len(word), word)):
        tight = re.search(f"[{_TIGHT}]", word) is not None
        parts.append(re.escape(word) if tight else rf"(?<![^\W\d_]){re.escape(word)}(?![^\W\d_])")
    return "|".join(parts)


def numbers_in(text: str, people: People) -> list[str]:
    """The telephone numbers in a text, as they stand there, in their order: by their form, and
    those known.
    """
    patterns = [_PLUS, _NATIONAL, *([people.known] if people.known is not None else [])]
    found = [one.span() for pattern in patterns for one in pattern.finditer(text)]
    found = [
        (a, b)
        for a, b in found
        if not _DATE.search(text[a:b]) and len(extract_digits(text[a:b])) >= _SHORTEST
    ]
    whole = [
        (a, b)
        for a, b in found
        if not any((c, d) != (a, b) and c <= a and b <= d for c, d in found)
    ]
    return [text[a:b] for a, b in sorted(set(whole))]


def is_number(value: Json) -> TypeGuard[int]:
    """Return True if a value is an integer and not a boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


def extract_digits(text: str) -> str:
    """The digits of a text, of any script, as ASCII."""
    return "".join(
        str(unicodedata.digit(c)) for c in text if unicodedata.digit(c, None) is not None
    )


def _iter_named_scalars(trajectory: Trajectory) -> Iterator[tuple[str, Json, bool]]:
    """Every scalar of arguments and results with its key, and whether it is said to be a person's
    name.
    """
    for call in trajectory.calls:
        tool = trajectory.tool(call.tool)
        of_people = _is_people_tool(call.tool)
        for key, value in call.arguments.items() if isinstance(call.arguments, dict) else ():
            about = _find_parameter_description(tool, key)
            named = _is_person_key(key) or (
                _is_name(key) and (of_people or bool(set(split_identifier(about)) & _PEOPLE))
            )
            yield from _iter_nested_scalars(key, value, named)
        if isinstance(call.arguments, str):
            yield from _iter_nested_scalars("", call.arguments, False)
    for result in trajectory.results:
        yield from _iter_nested_scalars("", result.content, False, _is_people_tool(result.tool))
        if result.failure is not None:
            yield from _iter_nested_scalars("", result.failure.message, False)
    for step in trajectory.steps:
        yield from (
            told
            for text in (step.thought, step.shown)
            for told in _iter_nested_scalars("", text, False)
        )
    for tool in trajectory.tools:
        for key, part in tool.properties.items():
            options = part.get("enum") if isinstance(part, dict) else None
            if _is_person_key(key) and isinstance(options, list):
                yield from _iter_nested_scalars(key, options, True)
    yield from _iter_nested_scalars("", trajectory.query, False)


def _iter_nested_scalars(
    key: str, value: Json, person: bool, record: bool = False
) -> Iterator[tuple[str, Json, bool]]:
    """``person``: what stands here is said to be a person; ``record``: the records here are
    people's.
    """
    if isinstance(value, dict):
        own = record or person or any(set(split_identifier(k)) & _REACHED for k in value)
        for name, inner in value.items():
            named = _is_person_key(name) or (own and _is_name(name))
            yield from _iter_nested_scalars(name, inner, named, record or person)
    elif isinstance(value, list):
        for inner in value:
            yield from _iter_nested_scalars(key, inner, person, record)
    elif isinstance(value, str) and (read := _parse_container(value)) is not None:
        yield from _iter_nested_scalars(key, read, person, record)
    else:
        yield key, value, person
        if isinstance(value, str) and not person:
            for found in _LABELLED.finditer(value):
                if _is_person_key(found[1]) or set(split_identifier(found[1])) & _NUMBERS:
                    yield found[1], found[2].strip(" *"), _is_person_key(found[1])


def _parse_container(text: str) -> Json:
    """The value of a text that is JSON; None where it is none."""
    if text.lstrip()[:1] in ("{", "["):
        with suppress(JsonError):
            found = parse_lenient(text).value
            return found if isinstance(found, dict | list) else None
    return None


def _iter_name_words(key: str, value: str) -> Iterator[str]:
    """The words of what looks like a name, and not like that person's number, address or kind."""
    if len(value) > _LONGEST or is_identifier(key, value) or _NOT_A_NAME.search(value):
        return
    found = [word for word in _BETWEEN.split(value) if word]
    written_as_one = value != value.lower() or value == value.upper()  # no case: another script
    if not 0 < len(found) <= (_MOST_WORDS if written_as_one else _LOWER):
        return
    for word in found:
        folded = word.casefold()
        single = len(word) == 1 and not re.match(f"[{_TIGHT}]", word)
        if (
            single
            or folded in _TITLES
            or (len(found) == 1 and folded in _WORDS and not word[:1].isupper())
        ):
            continue
        yield word


def _is_person_key(key: str) -> bool:
    named = set(split_identifier(key))
    return bool(named & _PEOPLE) and not named & _THINGS


def _is_name(key: str) -> bool:
    named = set(split_identifier(key))
    return bool(named & _NAMES) and not named & _THINGS


def _is_people_tool(tool: str) -> bool:
    """Return True if a tool's name says that its records are people."""
    return bool(set(split_identifier(tool)) & _PEOPLE)


def _find_parameter_description(tool: Tool | None, key: str) -> str:
    part = tool.properties.get(key) if tool is not None else None
    about = part.get("description") if isinstance(part, dict) else None
    return about if isinstance(about, str) else ""
