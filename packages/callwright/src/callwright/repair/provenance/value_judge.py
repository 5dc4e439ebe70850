"""Judges values by their sources: one stands in the conversation or a result, or is derived from
either, or is from nowhere.

A rule that acts on this must be sure, so it reads only what a schema declares: numbers, and texts
with a ``format`` or a ``pattern``. A plain text may be a paraphrase or a translation; it is judged
only where it is a full date, a list of mail addresses or a numbered identifier ("ORD-123"). A
schema that allows several kinds is read for the kind of the value that was given. An identifier or
an address has to stand in one piece. What could be derived counts as known: a number that follows
from others (:mod:`callwright.repair.provenance.amounts`), the day after a day that was named, five
nights from the 15th. Where the number words of the user's language are not known, every whole
number and every day counts as known: it may have been said in words.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from datetime import date, timedelta
from functools import cached_property
from math import floor, isfinite

from callwright.language import ENGLISH
from callwright.language.detect import language_of
from callwright.language.number_words import group_sizes, number_languages, read_number_words
from callwright.language.pack import PACKS, pack
from callwright.language.tokens import split_identifier, squash_text, with_ascii_digits
from callwright.nouns.types import (
    Json,
    JsonObject,
    Tool,
    is_number,
    iter_scalars,
    to_canonical_json,
)
from callwright.repair.provenance.amounts import CLOCK, DAY, Amounts, read_minutes
from callwright.repair.provenance.grounding import (
    examples_in,
    is_filler,
    is_identifier,
    looks_unfilled,
)
from callwright.repair.provenance.hosts import (
    ADDRESS_FORMATS,
    NAME_FORMATS,
    decode_stated_labels,
    is_local,
    is_unsaid_name,
)
from callwright.repair.provenance.mails import is_stated_mail, list_mails
from callwright.repair.provenance.readable import can_read_numbers, speaks_of_one
from callwright.repair.provenance.sources import Leaf, ProvenanceIndex
from callwright.repair.provenance.spans import NamedDay, find_named_day, find_near_days, find_span
from callwright.repair.provenance.unsaid_days import UnsaidDays, find_todays
from callwright.schema.compiled import Node
from callwright.schema.value_spellings import calendar_day

_COORDINATES = ENGLISH.words("parameters.coordinate_keys")
_PERIODS = ENGLISH.listed("calendar.periods")  # that begin and end with a month
_LONGEST_MONTH = 31
_IN_WORDS = 12  # up to here most languages have one short word for a number
_MOST_MEANT = 4  # days that are shown
_DEPTH = 12
_HALF_DAY = 720  # minutes
_NO_TIMES = (0, 720, 1439)  # midnight, noon and the last minute
_HALF_PAST = 30  # from here on a time may be told by the next hour
_DIGITS = re.compile(r"\d+")
_TELLING_DIGITS = 3  # fewer stand by chance in a longer number
_COMPACT_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)([01]\d)([0-3]\d)(?!\d)")
_LETTERS = re.compile(r"[A-Za-z]+")
_LEAST_PHONE, _LONGEST_PREFIX = 7, 4  # digits
_KINDS = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_GIVING, _BOUNDS = ("default", "const"), ("minimum", "maximum")
_DAYS = frozenset({"date", "date-time"})
_MAILS = "mail addresses"
_MAIL_ROLES = frozenset({"email", "idn-email", _MAILS})
_HOST_ROLES = NAME_FORMATS | _MAIL_ROLES  # values that hold the name of a host
_TEXT = "text"
_LOOKED_UP = "looked up"
_NUMBERED = "numbered"
# "12345", "ORD-123", "H-B-100"; a year and a name with one figure are none
_CODE = re.compile(
    r"(?:[A-Za-z]{1,8}(?:[-_#/][A-Za-z]{1,8}){0,3}[-_#/]?\d{3,}|\d{5,})(?:[-_]?[A-Za-z0-9]+)*"
)
_DATED = 100_000  # characters of a text in which dates are looked for


class ValueJudge:
    """Possible sources of a value, read when first asked for."""

    def __init__(
        self,
        sources: ProvenanceIndex,
        said: Sequence[str],
        near: int = 31,
        looked_up: Container[str] = (),
        tool: Tool | None = None,
        call: JsonObject | None = None,
    ) -> None:
        self._tool, self._call = tool, call or {}
        self._sources = sources
        self._said = said
        self._near = near
        self._looked_up = looked_up
        self._amounts = Amounts(sources, said, tool, call)

    def holds(self, key: str, value: Json, node: Node) -> bool:
        """Return True if a value has a source, could be derived, or cannot be judged."""
        if value is None or isinstance(value, bool):
            return True
        if self._sources.was_asked_with(value):
            bare = self._sources.without_echoes()
            if bare is not self._sources:
                known = self._said, self._near, self._looked_up, self._tool, self._call
                return ValueJudge(bare, *known).holds(key, value, node)
        role = self._find_role(key, value, node)
        is_given = is_set_by_schema if self._may_be_example(key, value) else is_schema_value
        if is_given(value, node):
            return True
        if not role:
            return not self._is_unfilled(value, node)
        if role == "number":
            is_place = not _COORDINATES.isdisjoint(split_identifier(key)[-1:])
            is_judged = isinstance(value, int | float) and not is_place
            return not is_judged or self._number(float(value), key, node)
        if not isinstance(value, str) or not value:
            return True
        if role == _LOOKED_UP and self._names_a_record(value):
            return False
        if role in _HOST_ROLES:
            value = decode_stated_labels(value, self._sources.texts)
        if role in _DAYS and (self.is_other_day(value) or self._is_unsaid_day(key, value, node)):
            return False
        if role in _DAYS and self._is_unsaid_time(value, node):
            return False
        if role in _MAIL_ROLES:
            return all(is_stated_mail(one, self._sources) for one in list_mails(value) or [value])
        is_day = role in _DAYS and self._sources.holds_day(value)
        return is_day or self._sources.holds_apart(value) or self._holds_derived(key, value, role)

    def _names_a_record(self, value: str) -> bool:
        """Return True for a text that results have only as the name of records with an identifier of
        their own: no other tool's identifier is it.
        """
        leaves = self._sources.leaves
        named = [leaf for leaf in leaves if leaf.value == value and leaf.path]
        if not named:
            return False
        held = {(leaf.result, leaf.path[:-1]) for leaf in leaves if _is_identifying(leaf)}
        return all(
            not _is_identifying(leaf) and (leaf.result, leaf.path[:-1]) in held for leaf in named
        )

    def _may_be_example(self, key: str, value: Json) -> bool:
        """Return True for a code that is an example where a description names it, in whatever words:
        no write is made with it, and no call at all where a read gives such values. A word, such as
        "primary", may be named to be used.
        """
        if key in self._looked_up:
            return isinstance(value, str) and bool(_DIGITS.search(value))
        return self._is_declared_write() and _is_numbered(key, value)

    def _is_unfilled(self, value: Json, node: Node) -> bool:
        """Return True for a text that stands for a value which is not there, as "unknown" does,
        unless somebody said it.
        """
        if not isinstance(value, str) or not value.strip() or _is_listed(value, node):
            return False
        return (is_filler(value) or looks_unfilled(value)) and not self._sources.holds_words(value)

    def _find_role(self, key: str, value: Json, node: Node) -> str:
        """The kind of value by which a scalar is judged; "" for one that is not."""
        role = _classify_schema(node, value)
        if role == _TEXT:
            role = _classify_text(value) or (_LOOKED_UP if key in self._looked_up else "")
            role = role or (_NUMBERED if _is_numbered(key, value) else "")
        return role

    def _holds_derived(self, key: str, value: str, role: str) -> bool:
        """Return True if a text that does not stand in the sources could be derived from them."""
        if role in (_LOOKED_UP, "uuid"):
            return False
        if role in NAME_FORMATS | ADDRESS_FORMATS and is_local(value):
            return True
        if role in NAME_FORMATS and self._is_unsaid_name(value):
            return False
        if role in _DAYS:
            return self._day(value)
        if role == "time" or CLOCK.fullmatch(value):
            return self._hour(value)
        is_named = role == _NUMBERED or (role == "pattern" and is_identifier(key, value))
        return self._digits(value, is_identifier=is_named)

    def _is_unsaid_name(self, value: str) -> bool:
        """Return True if a declared write names a host to which nothing leads."""
        if self._tool is None or not self._is_declared_write():
            return False
        about = (
            self._tool.name,
            self._tool.description,
            to_canonical_json(self._tool.input_schema),
        )
        return is_unsaid_name(value, self._said, (*self._sources.texts, *about))

    def _number(self, value: float, key: str, node: Node) -> bool:
        value = abs(value)
        if value in (0, 1):
            return value == 0 or not self._is_declared_write() or self._may_be_one()
        if self._is_left_of_group(value):
            return False
        if self._is_unread(value) or any(self._sources.holds(value * n) for n in self._group_sizes):
            return True
        return self._amounts.holds(value, key, node)

    def _is_declared_write(self) -> bool:
        """Return True if the tool declares that it may write: one more or less, or another day, is
        another deed.
        """
        return self._tool is not None and self._tool.effects.declares_write

    def _may_be_one(self) -> bool:
        """Return True if the user spoke of one thing, in words or with the figure."""
        said = ProvenanceIndex("", self._said)
        return speaks_of_one(self._said) or 1.0 in said.numbers_apart

    def _is_left_of_group(self, value: float) -> bool:
        """Return True for the 3 of "three dozen", which is said of 36, unless it stands
        elsewhere.
        """
        said, sizes = self._read_last_words()
        is_said = value in said or not value.is_integer()
        if is_said or not any(s >= _IN_WORDS and value * s in said for s in sizes):
            return False
        figures = (row for text in self._sources.texts for row in _DIGITS.findall(text))
        return sum(float(row) == value for row in figures) <= 1 and not self._group_sizes

    def _read_last_words(self) -> tuple[frozenset[float], frozenset[float]]:
        """The numbers that the last message says in words, and the sizes of the groups it counts
        by.
        """
        last = self._said[-1] if self._said else ""
        codes = number_languages(last, language_of(" ".join(self._said)))
        return read_number_words(last, codes), group_sizes(last, codes)

    @cached_property
    def _group_sizes(self) -> frozenset[float]:
        """The numbers by which the tool itself counts: 12 where it speaks of dozens."""
        about = to_canonical_json(self._tool.input_schema) if self._tool is not None else ""
        return group_sizes(about, ("en",)) - {2.0}

    def _is_unread(self, value: float) -> bool:
        """Return True if a number may be stated in words that cannot be read."""
        tool = self._tool if value > _IN_WORDS else None
        return value.is_integer() and not can_read_numbers(self._said, tool)

    def _is_unsaid_day(self, key: str, text: str, node: Node) -> bool:
        """Return True for a day that is certainly nobody's: a declared write has it and nobody
        spoke of a day, or it is years away from those that are known and only its number may be
        said.
        """
        day = calendar_day(text[:10])
        if day is None or self.find_meant_days() or self._find_named_day() is not None:
            return False
        if self._tool is not None and self._is_declared_write():
            names = " ".join((*split_identifier(self._tool.name), *split_identifier(key)))
            if self._unsaid_days.is_unsaid(day, self._describe(node), names):
                return True
        if day in self._known_days or self._sources.holds_whole(text):
            return False
        return self._unsaid_days.is_too_far(day)

    def is_day_from_nowhere(self, key: str, value: str, node: Node) -> bool:
        """Return True for a day where nothing that was said or came back could mean any, today not
        excepted.
        """
        day = calendar_day(value[:10]) if self._find_role(key, value, node) in _DAYS else None
        return day is not None and self._unsaid_days.is_nowhere(day, self._describe(node))

    def _is_unsaid_time(self, text: str, node: Node) -> bool:
        """Return True for the time of a date in a declared write where nobody spoke of any time.
        One that begins, halves or ends a day may only complete the form, and one of today may be
        the present.
        """
        clock = CLOCK.search(text, 10)
        if clock is None or not self._is_declared_write() or read_minutes(clock[0]) in _NO_TIMES:
            return False
        if calendar_day(text[:10]) in self._todays or self._amounts.may_tell_time():
            return False
        return self._unsaid_days.is_time_unsaid(self._describe(node))

    def _describe(self, node: Node) -> str:
        """The documentation of a parameter and its tool."""
        told = self._tool.description if self._tool is not None else ""
        return f"{told} {node.resolved().get('description') or ''}"

    def _day(self, text: str) -> bool:
        """A day of which the number or the year was said, or one near a day that was named; any day
        where it may be said in words that cannot be read.
        """
        day, numbers = calendar_day(text[:10]), self._sources.numbers_apart
        meant = self.find_meant_days() if day is not None else frozenset()
        if meant:
            return day in meant
        if day is not None and self._find_named_day() is not None:
            return True
        if day is None or {float(day.day), float(day.year)} & numbers:
            return True
        if not can_read_numbers(self._said, self._tool) or self._unsaid_days.may_be_yearly(day):
            return True
        small = {n for n in numbers if 0 < n <= _LONGEST_MONTH}
        if any(
            day.day - n in small or n - day.day in small for n in small
        ):  # five nights from the 15th
            return True
        at_an_end = day.day == 1 or (day + timedelta(days=1)).day == 1
        if at_an_end and any(self._sources.mentions(word) for word in _PERIODS):
            return True
        return any(abs((day - other).days) <= self._near for other in self._known_days)

    def list_meant(self, value: Json, node: Node, arguments: JsonObject) -> tuple[str, ...]:
        """The days, as text, that the user's words lead to in the place of a date; in the place of
        a number the only one that the last message says in words, unless ``arguments`` hold it.
        """
        if _classify_schema(node, value) == "number":
            return self._list_said_numbers(arguments)
        is_day = _classify_schema(node, value) == "date" or _classify_text(value) == "date"
        meant = self.find_meant_days() or self._count_named_days()
        days = sorted(meant, reverse=True) if is_day else ()
        return tuple(day.isoformat() for day in days[:_MOST_MEANT])

    def _list_said_numbers(self, arguments: JsonObject) -> tuple[str, ...]:
        """The only whole number that the last message says in words, if it is too large for an hour
        and no argument holds it.
        """
        said, sizes = self._read_last_words()
        used = {float(row) for row in _DIGITS.findall(to_canonical_json(arguments))}
        told = (said - sizes) or said  # "a dozen is 12"
        open_ = [n for n in told if n > _IN_WORDS and n.is_integer() and n not in used]
        return (str(int(open_[0])),) if len(open_) == len(told) == 1 else ()

    def find_meant_days(self) -> frozenset[date]:
        """The days that a span of time in the user's last message leads to, from each day that was
        named; none where it names no span, or a day in another way.
        """
        span = find_span(self._said[-1]) if self._said else None
        if span is None:
            return frozenset()
        named = self._known_days
        near = {day + timedelta(days=n) for day in named for n in find_near_days(self._said[-1])}
        return frozenset(end for start in named | near for end in span.count_from(start))

    def is_other_day(self, text: str) -> bool:
        """Return True for a day that is another one than the user's last message surely means, and
        that stands nowhere: neither in what was said nor in a result of a call that did not ask for
        it. Today's date gives no other day.
        """
        day, named = calendar_day(text[:10]), self._find_named_day()
        if day is None or named is None or named.fits(day, self._list_possible_todays()):
            return False
        return day in self._todays or not self._names_day(day)

    def _names_day(self, day: date) -> bool:
        """Return True if a text names a day, with its year or without."""
        asked = {r.id for r in self._sources.results if day in days_in(_list_texts(r.arguments))}
        texts = (self._sources.without(asked) if asked else self._sources).texts
        if day in days_in(texts):
            return True
        told = "\n".join(texts)[:_DATED]
        packs = (language for code in PACKS if (language := pack(code)) is not None)
        dates = (one for language in packs for one in language.dates(told))
        parts = (day.month, day.day)
        return any((d.month, d.day) == parts and d.year in (None, day.year) for d in dates)

    @cached_property
    def _todays(self) -> frozenset[date]:
        """The days that may be today: those of which a text says so, or the only one that was said."""
        spoken = days_in(self._sources.said_texts)
        told = find_todays(self._sources.said_texts) or (spoken if len(spoken) == 1 else ())
        return frozenset((*told, *filter(None, [self._sources.today])))

    def find_near_day(self) -> date | None:
        """The one day that the user's last message names by a word that counts from today; None
        where it names none so, or more than one day may be today.
        """
        named = self._find_named_day()
        if named is None or named.weekday is not None:
            return None
        days = {named.count_from(today) for today in self._list_possible_todays()}
        return days.pop() if len(days) == 1 else None

    def _find_named_day(self) -> NamedDay | None:
        return find_named_day(self._said[-1]) if self._said else None

    @cached_property
    def _known_days(self) -> set[date]:
        return {*self._sources.days_known, *days_in(self._sources.texts)}

    @cached_property
    def _unsaid_days(self) -> UnsaidDays:
        spoken = days_in(self._sources.said_texts)
        return UnsaidDays(self._sources, self._said, self._known_days, spoken)

    def _list_possible_todays(self) -> set[date]:
        """The days from which "tomorrow" may count: those that were said, else today, and only
        where neither is known those of results, such as a clock's.
        """
        spoken = days_in(self._sources.said_texts)
        today = {self._sources.today} if self._sources.today is not None else set()
        return spoken or today or self._known_days

    def _count_named_days(self) -> frozenset[date]:
        """The days that the user's last message means, from each day that was named."""
        named = self._find_named_day()
        known = self._list_possible_todays() if named is not None else ()
        found = (named.count_from(day) for day in known if named is not None)
        return frozenset(day for day in found if day is not None)

    def _hour(self, text: str) -> bool:
        """A time of which the hour was said, or the next one: "quarter to five", "halb acht"."""
        hour, minute = [*map(int, _DIGITS.findall(text)), 0, 0][:2]
        hours = {hour, hour + 1} if minute >= _HALF_PAST else {hour}
        if hour in (0, 12) or not can_read_numbers(self._said, self._tool):
            return True
        clocks = {read_minutes(t) for text in self._sources.texts for t in CLOCK.findall(text)}
        if any((60 * hour + minute - known) % _HALF_DAY == 0 for known in clocks):
            return True
        # the hour of another time, or a part of a date, is not said
        plain = self._amounts.drop_dates()
        numbers = {n for n in plain.numbers if isfinite(n)}
        apart = {abs(60 * hour + minute - known) for known in clocks}
        if not apart.isdisjoint(n * unit for n in numbers for unit in (1, 60)):
            return True  # so long before or after a time that was named
        # "tres y media" is read as three and a half
        said = {floor(n) for n in numbers}
        return any(not said.isdisjoint((h, h % 12)) for h in hours)

    def _digits(self, text: str, *, is_identifier: bool) -> bool:
        """A text of which a longest row of digits was said, as a number or as a part of a longer
        one. Of an identifier no part of a date or of a time of day is one.
        """
        rows = _DIGITS.findall(text)
        plain = self._sources
        if is_identifier:
            plain = self._amounts.drop_dates()
        longest = [row for row in {*rows} if len(row) == max(map(len, rows))]
        if not rows or any(
            float(row) in plain.numbers and not self._is_taken(text, row, plain) for row in longest
        ):
            return True
        whole = "".join(rows)
        is_code = _LETTERS.match(text) is not None  # which nobody writes longer than it is
        parts = [] if is_code else [row for row in longest if len(row) >= _TELLING_DIGITS]
        seen = (
            row
            for other in plain.texts
            for row in _DIGITS.findall(squash_text(with_ascii_digits(other)))
            if len(row) > _TELLING_DIGITS
        )
        return any(
            (
                (row in whole or any(part in row for part in parts))
                and not self._is_taken(text, row, plain)
            )
            or (text.startswith("+") and _is_same_phone(row, whole))
            for row in seen
        )

    def _is_taken(self, text: str, row: str, plain: ProvenanceIndex) -> bool:
        """Return True if a number is no part of a code: another argument of the call is that
        number, or it is short and every text that says it writes out another code with the same
        letters, as "200 pieces of A-100" does.
        """
        letters = _LETTERS.match(text)
        if letters is None:
            return False
        given = any(is_number(one) and float(row) == one for one in iter_scalars(self._call))
        if given or len(row) > _TELLING_DIGITS:
            return given
        alone = re.compile(rf"(?<![0-9A-Za-z-]){row}(?![0-9A-Za-z])")
        code = re.compile(rf"(?<![A-Za-z]){letters[0]}[-_#/]?\d", re.IGNORECASE)
        saying = [text for text in map(with_ascii_digits, plain.texts) if alone.search(text)]
        return bool(saying) and all(map(code.search, saying))


def _is_same_phone(one: str, other: str) -> bool:
    """Return True if two rows of digits end alike, but for prefixes of a country and a trunk."""
    tails = (other[cut:] for cut in range(_LONGEST_PREFIX + 1))
    return any(
        len(tail) >= _LEAST_PHONE and one.endswith(tail) and len(one) - len(tail) <= _LONGEST_PREFIX
        for tail in tails
    )


def _list_texts(value: Json) -> list[str]:
    return [one for one in iter_scalars(value) if isinstance(one, str)]


def days_in(texts: Iterable[str]) -> set[date]:
    """The full dates that texts name."""
    parts = [text[:_DATED] for text in texts]
    found = [calendar_day(match[0]) for text in parts for match in DAY.finditer(text)]
    found += [calendar_day("-".join(m.groups())) for t in parts for m in _COMPACT_DAY.finditer(t)]
    return {day for day in found if day is not None}


def _classify_schema(node: Node, value: Json, depth: int = 0) -> str:
    """``number``, the format of a text, ``pattern``, or ``text``, by what a schema says of values
    of this one's kind; "" for what it leaves open or lists.
    """
    node = node.resolved()
    schema = node.schema
    if not isinstance(schema, dict) or depth > _DEPTH or "enum" in schema or "const" in schema:
        return ""
    kinds = schema.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if kinds != [None]:
        return _classify_kinds(kinds, schema, value)
    branches = [b for keyword in ("anyOf", "oneOf", "allOf") for b in node.branches(keyword)]
    roles = {_classify_schema(b, value, depth + 1) for b in branches if b.accepts(value)}
    return roles.pop() if len(roles) == 1 else ""


def _classify_kinds(kinds: Sequence[Json], schema: JsonObject, value: Json) -> str:
    """The kind of value that a schema with these types asks for, of which this is one."""
    if not all(kind in _KINDS for kind in kinds):
        return ""
    if is_number(value):
        return "number" if "number" in kinds or "integer" in kinds else ""
    if isinstance(value, str) and "string" in kinds:
        role = schema.get("format") or ("pattern" if schema.get("pattern") else _TEXT)
        return role if isinstance(role, str) else ""
    return ""


def read_day(value: Json, node: Node) -> date | None:
    """The day of a scalar that its schema or its form tells to be a date, with or without a
    time.
    """
    if not isinstance(value, str):
        return None
    role = _classify_schema(node, value)
    role = _classify_text(value) if role == _TEXT else role
    return calendar_day(value[:10]) if role in ("date", "date-time") else None


def _classify_text(value: Json) -> str:
    """Return the kind of a text without a declared format: a full date, a mail address or a list of
    those; else "".
    """
    if not isinstance(value, str):
        return ""
    if DAY.fullmatch(value[:10]) and value[10:11] in ("", "T", " "):
        return "date"
    if list_mails(value) == [value]:
        return "email"
    return _MAILS if "@" in value and list_mails(value) else ""


def _is_numbered(key: str, value: Json) -> bool:
    """Return True if a text is an identifier by its argument's name and holds a number by its form:
    nobody paraphrases it.
    """
    return (
        isinstance(value, str) and _CODE.fullmatch(value) is not None and is_identifier(key, value)
    )


def _is_identifying(leaf: Leaf) -> bool:
    return bool(leaf.path) and split_identifier(leaf.path[-1])[-1:] in (("id",), ("uuid",))


def _is_listed(value: str, node: Node) -> bool:
    """Return True if a schema lists the value among others."""
    listed = node.resolved().get("enum")
    return isinstance(listed, list) and value in listed


def is_set_by_schema(value: Json, node: Node) -> bool:
    """Return True if a value is the schema's default, or a bound of a range beyond 0 and 1."""
    node = node.resolved()
    givers = _GIVING if value in (0, 1) else (*_GIVING, *_BOUNDS)
    return any(
        to_canonical_json(node.get(key)) == to_canonical_json(value)
        for key in givers
        if node.get(key) is not None
    )


def is_schema_value(value: Json, node: Node) -> bool:
    """Return True if the schema itself gives the value: its default, a bound of a range beyond 0
    and 1, or a value that its description names, except as an example.
    """
    if is_set_by_schema(value, node):
        return True
    about = node.resolved().get("description")
    if not isinstance(about, str):
        return False
    text = value if isinstance(value, str) else to_canonical_json(value)
    return (
        text in about
        and text not in examples_in(about)
        and re.search(rf"(?<![\w.]){re.escape(text)}(?!\w|\.\d)", about) is not None
    )
