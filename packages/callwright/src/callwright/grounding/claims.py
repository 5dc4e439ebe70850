"""A statement taken apart: the numbers, moments, identifiers and names it claims, and the words
around them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from callwright.grounding.facts import Facts
from callwright.grounding.foreign import moments_in, numbers_in
from callwright.grounding.labels import moment_labels
from callwright.grounding.lexicon import GLUE, NOT_NAMES, NOTHING
from callwright.grounding.quantity import (
    Moment,
    Number,
    Span,
    find_moments,
    find_numbers,
    is_overlapping,
)
from callwright.grounding.rates import join_rates
from callwright.grounding.words import find_concepts, stem_word
from callwright.language import ENGLISH
from callwright.language.detect import guess_language, is_foreign, is_likelier_another, language_of
from callwright.language.pack import pack
from callwright.language.tokens import blank_unparted, fold_text, split_tokens, with_ascii_digits

_COMPOUNDING = ("de",)  # languages that write compounds as one word
_LEAST_FIRST, _LEAST_REST = 5, 4  # letters of their parts


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in the statement that belongs to records of the results."""

    span: Span
    labels: frozenset[str]


@dataclass(frozen=True, slots=True)
class Clause:
    span: Span
    attributes: frozenset[str]
    negated: bool = False


@dataclass
class Claims:
    """Everything a statement says that can be looked up."""

    text: str
    numbers: list[Number] = field(default_factory=list)
    moments: list[Moment] = field(default_factory=list)
    identifiers: list[tuple[Span, str]] = field(default_factory=list)
    names: list[tuple[Span, str]] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    clauses: list[Clause] = field(default_factory=list)
    attributes: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()  # the attribute words that any result uses
    readable: bool = True  # its words are English, or nothing speaks against it
    language: str = ""  # of a statement that is not English, "" where it cannot be told

    def announces(self, words: re.Pattern[str]) -> bool:
        """Return True if the statement may announce a calculation: it does so in words, or its
        words cannot be read.
        """
        return not self.readable or bool(words.search(self.text))

    def counts_twice(self) -> bool:
        """Return True if the statement may speak of a value twice, or of half of it: it has a word
        for that, or no words for that are known in its language.
        """
        reader = pack("en" if self.readable else self.language)
        return reader is None or reader.says("statements.twice", self.text) is not False

    def speaks_of(self, what: str, text: str) -> bool:
        """Return True if a part of the statement says something in the statement's language."""
        reader = pack("en" if self.readable else self.language)
        return reader is not None and bool(reader.says(what, text))

    def clause_of(self, span: Span) -> Clause:
        return next((c for c in self.clauses if c.span[0] <= span[0] < c.span[1]), self.clauses[-1])

    def words_near(self, span: Span) -> frozenset[str]:
        """The attribute words that may speak for a value: its clause without its neighbours' own
        words.

        A day between a word and a value parts them only where the value is a day too: "sunset on 24
        June is at …".
        """
        clause = self.clause_of(span)
        days = {m.span for m in self.moments if not m.has_time}
        fences = self.values if span in days else [s for s in self.values if s not in days]
        inside = [
            s
            for s in fences
            if clause.span[0] <= s[0] < clause.span[1] and not _same_place(s, span)
        ]
        start = max(
            (_skip_counted_noun(self.text, s) for s in inside if s[1] <= span[0]),
            default=clause.span[0],
        )
        end = min((s[0] for s in inside if s[0] >= span[1]), default=clause.span[1])
        found = frozenset(
            _words_outside(self.text, min(start, span[0]), min(end, len(self.text)), self)
        )
        if not found & self.known and (len(self.values) < 2 or not inside):
            return found | (self.attributes if len(self.values) < 2 else clause.attributes)
        return found

    @property
    def values(self) -> list[Span]:
        return sorted([n.span for n in self.numbers if not n.word] + [m.span for m in self.moments])

    def near(self, span: Span) -> list[Mention]:
        """The mentions that speak for what stands at ``span``: its clause's, else the last before,
        else the next.
        """
        others = [m for m in self.mentions if not _same_place(m.span, span)]
        values, clause = self.values, self.clause_of(span)
        is_each = others and span in values and len(values) % len(others) == 0
        if is_each and self.speaks_of("statements.in_order", self.text):
            return [others[values.index(span) % len(others)]]
        here = [m for m in others if clause.span[0] <= m.span[0] < clause.span[1]]
        if here:
            return here
        before = [m for m in others if m.span[0] < clause.span[0]]
        if before:
            home = self.clause_of(before[-1].span)
            return [m for m in before if home.span[0] <= m.span[0] < home.span[1]]
        return others[:1]


_URLS = re.compile(
    r"https?://[^\s<>\"')\]]+|www\.[^\s<>\"')\]]+|(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.\w+)+"
)
_CODE = re.compile(
    r"(?<![\w])(?=[\w./:+-]{0,200}\d)(?:(?=[\w./:+-]{0,200}[A-Za-z_])\w+(?:[-./:+]\w+)*|\d+(?:\.\d+){2,}|\d+(?:-\d+){2,}"
    r"|\d{3,}-\d{3,}|\+\d[\d .-]{6,}\d)"
    r"(?![\w])"
)
_JOINT = re.compile(  # names of files, paths and hosts: "a.txt", "src/app.py", ".env"; not "e.g." or "and/or"
    r"(?<![\w./])\.?(?:[\w-]+[./\\])*[\w-]+\.(?=[\w-]*[A-Za-z]{2})(?:[a-z][a-z\d]*|[A-Z][A-Z\d]*)(?![\w])"
    r"|(?<![\w./])\.[a-z]{2,}\w*(?!\w|\.\w)"
)
_PLAIN = ENGLISH.pattern("statements.plain_number")
_JOINED_BEFORE = re.compile(r"\A[\u0621-\u064a]{1,3}(?=[A-Za-z\d])")  # Arabic "and", "with"
_DOTTED = re.compile(r"^\d+(?:\.\d+){2,}$")
_SCIENTIFIC = re.compile(r"\d+(?:\.\d+)?[eE][+-]\d{1,3}|\d+\.\d+[eE]\d{1,3}")
_JOINED = re.compile(r"^(?:\d+(?:\.\d+)?)[-–](?:[A-Za-z]+)(?:[-–][A-Za-z]+)*$")  # 14-hour, 3-star
_CLAUSE = ENGLISH.pattern("statements.clause")
_NEGATED = ENGLISH.pattern("statements.negated")
_NAME = ENGLISH.pattern("statements.name")
_NUMBERED = re.compile(r"^\s*(?:[-*•]\s*)?(?:\(?\d{1,2}[.)]|[-*•])\s+")
_WORD = re.compile(r"[^\W_]+")
_LAST_WORD = re.compile(r"([^\W\d_]+)\W{0,3}\Z")


def claims_of(text: str, facts: Facts) -> Claims:
    """Read one statement against the names that the results know."""
    text = with_ascii_digits(text)
    language = _find_language(text, facts.query)
    claims = Claims(text, readable=_is_english(text, facts.query, language), language=language)
    lead = _NUMBERED.match(text)
    taken: list[Span] = [lead.span()] if lead else []
    taken += _extract_identifiers(claims, taken)
    spoken = "en" if claims.readable else language
    found = moments_in(text, spoken)
    claims.moments = [m for m in found if not _has_overlap(m.span, taken)]
    taken += [m.span for m in claims.moments]
    read = find_numbers(text, taken) if claims.readable else numbers_in(text, taken, language)
    joined = join_rates(read, text, spoken)
    claims.numbers = [n for n in joined if not _OUT_OF.search(text[: n.span[0]])]
    if claims.readable:  # elsewhere a capital letter may stand on any word
        _extract_names(claims, [*taken, *(n.span for n in claims.numbers if not n.word)])
    _extract_mentions(claims, facts)
    claims.numbers = [n for n in claims.numbers if not _is_inside_name(n.span, claims.mentions)]
    _split_clauses(claims, facts, taken)
    return claims


_OUT_OF = ENGLISH.pattern("statements.out_of")


def _find_language(text: str, query: str) -> str:
    """The language of a statement: as it tells, as the request or both together tell, or the
    likeliest."""
    both = f"{query}\n{text}"
    return language_of(text) or language_of(query) or language_of(both) or guess_language(both)


def _is_english(text: str, query: str, language: str) -> bool:
    """Return True if a statement can be read as English: its own words or else the request's say
    so, or nothing speaks against it.
    """
    told_by = text if language_of(text) or is_foreign(text) else query
    both = f"{query}\n{text}"
    return not is_foreign(told_by) and (language == "en" or not is_likelier_another(both))


def _same_place(a: Span, b: Span) -> bool:
    """Return True if two spans overlap, unless the first extends further: "1 kg apples" names more
    than "1 kg".
    """
    return is_overlapping(a, b) and not (a[0] <= b[0] and b[1] < a[1])


def _is_inside_name(span: Span, mentions: list[Mention]) -> bool:
    """A number that is part of a name: "Estate 220"."""
    return any(m.span[0] < span[0] and span[1] <= m.span[1] for m in mentions)


def _has_overlap(span: Span, taken: list[Span]) -> bool:
    return any(a < span[1] and span[0] < b for a, b in taken)


def _extract_identifiers(claims: Claims, taken: list[Span]) -> list[Span]:
    found = [(m.span(), m.group().rstrip(".,;:!?")) for m in _URLS.finditer(claims.text)]
    spans = [s for s, _ in found]
    dates = [m.span for m in find_moments(claims.text)]
    text = blank_unparted(claims.text)
    for m in _CODE.finditer(text):
        word = _JOINED_BEFORE.sub("", m.group())
        if (
            (_PLAIN.match(word) and not _DOTTED.match(word))
            or _JOINED.match(word)
            or _SCIENTIFIC.fullmatch(word)
            or _has_overlap(m.span(), [*spans, *dates, *taken])
        ):
            continue
        found.append((m.span(), word))
        spans.append(m.span())
    for m in _JOINT.finditer(text):
        if not _has_overlap(m.span(), [*spans, *dates, *taken]):
            found.append((m.span(), m.group()))
            spans.append(m.span())
    claims.identifiers = found
    return spans


def _extract_names(claims: Claims, taken: list[Span]) -> None:
    for m in _NAME.finditer(claims.text):
        span, name = m.span(), m.group()
        if _has_overlap(span, taken):
            continue
        words = [w for w in _WORD.finditer(name) if w.group()[0].isupper()]
        starts = (
            not claims.text[: span[0]].strip(" \"'“‘*-•#([")
            or claims.text[: span[0]].rstrip()[-1:] in ".!?:\n"
        )
        if starts and words:
            first = fold_text(words[0].group())
            alone = len(words) == 1 and words[0].group()[1:].islower()
            if first in GLUE or stem_word(first) in GLUE or first in NOT_NAMES or alone:
                words = words[1:]
        kept = [
            w.group() for w in words if fold_text(w.group()) not in NOT_NAMES and len(w.group()) > 1
        ]
        if kept:
            claims.names.append((span, " ".join(kept)))


def _extract_mentions(claims: Claims, facts: Facts) -> None:
    words = [(m.start(), m.end(), fold_text(m.group())) for m in _WORD.finditer(claims.text)]
    is_compounding = language_of(claims.text) in _COMPOUNDING
    position = 0
    while position < len(words):
        size, labels = _match_longest_alias(words, position, facts, claims.text)
        if not labels and is_compounding:
            labels = _match_compound(words[position][2], facts)
        if labels:
            claims.mentions.append(
                Mention((words[position][0], words[position + size - 1][1]), labels)
            )
        position += max(1, size)
    for moment in claims.moments:
        labels = frozenset(moment_labels(moment)) or facts.weekdays.get(
            -1 if moment.weekday is None else moment.weekday, frozenset()
        )
        if labels & facts.labels:
            claims.mentions.append(Mention(moment.span, labels))
    sizes = {size for size, _ in facts.lists}
    for number in claims.numbers:
        label = f"#{number.value:.0f}"
        before = _LAST_WORD.search(claims.text[: number.span[0]])
        is_count = number.value in sizes and not (
            before and find_concepts(fold_text(before[1])) & facts.field_words
        )  # "you have 2 alarms", not "alarm 2"
        if label in facts.labels and not (number.unit or number.word or is_count):
            claims.mentions.append(Mention(number.span, frozenset((label,))))
    claims.mentions.sort(key=lambda m: m.span)


def _match_longest_alias(
    words: list[tuple[int, int, str]], position: int, facts: Facts, text: str
) -> tuple[int, frozenset[str]]:
    for size in range(min(8, len(words) - position), 0, -1):
        alias = " ".join(w[2] for w in words[position : position + size])
        labels = facts.aliases.get(alias) or facts.aliases.get(alias.removesuffix("s"))
        if not labels:
            continue
        start = words[position][0]
        plain = size == 1 and not text[start].isupper() and not text[start].isdigit()
        if plain and (alias in GLUE or not {alias, alias[:-1]} & labels or _names_a_field(alias)):
            continue
        if size == 1 and alias in GLUE and alias not in labels:
            continue
        return size, labels
    return 1, frozenset()


def _match_compound(word: str, facts: Facts) -> frozenset[str]:
    """The labels of a record that a longer word begins with: "Stromrechnung" is of "Strom"."""
    for size in range(len(word) - _LEAST_REST, _LEAST_FIRST - 1, -1):
        labels = facts.aliases.get(word[:size], frozenset())
        if word[:size] in labels:
            return labels
    return frozenset()


def _names_a_field(word: str) -> bool:
    return any(c.startswith("=") for c in find_concepts(word))


def _split_clauses(claims: Claims, facts: Facts, taken: list[Span]) -> None:
    text = claims.text
    solid = [*taken, *(n.span for n in claims.numbers), *(m.span for m in claims.mentions)]
    cuts = [0]
    for m in _CLAUSE.finditer(text):
        if not _has_overlap(m.span(), solid):
            cuts.append(m.start())
    cuts.append(len(text) + 1)
    for start, end in itertools.pairwise(cuts):
        words = _words_outside(text, start, min(end, len(text)), claims)
        claims.clauses.append(
            Clause((start, end), frozenset(words), bool(_NEGATED.search(text[start:end])))
        )
    claims.attributes = frozenset().union(*(c.attributes for c in claims.clauses))
    claims.known = facts.field_words


_NOUN = re.compile(r"\s*[\w%°²]+(?=\W|$)")


def _skip_counted_noun(text: str, span: Span) -> int:
    """Behind a value and the word that it counts: "33 points|"."""
    found = _NOUN.match(text, span[1])
    return found.end() if found else span[1]


def _words_outside(text: str, start: int, end: int, claims: Claims) -> Iterator[str]:
    inside = [m.span for m in claims.mentions]
    for m in _WORD.finditer(text, start, end):
        if not _has_overlap(m.span(), inside):
            yield from find_concepts(fold_text(m.group()))
    for number in claims.numbers:
        if start <= number.span[0] < end and number.unit:
            yield from find_concepts(number.unit.lower())


_EMPTY = GLUE | NOTHING


def content_words(claims: Claims, facts: Facts) -> tuple[list[str], list[str]]:
    """The words of a statement that carry meaning, names aside, and those of them that nothing
    known contains.
    """
    text = claims.text
    figures = (n.digits for n in claims.numbers if not n.word)
    for start, end in (*(s for s, _ in claims.names), *(m.span for m in claims.mentions), *figures):
        text = text[:start] + " " * (end - start) + text[end:]
    carried = [
        w
        for w in split_tokens(text)
        if not {w, stem_word(w)} & _EMPTY and not w.isdigit() and len(w) > 2
    ]
    unknown = [w for w in carried if not facts.knows(w)]
    return carried, unknown
