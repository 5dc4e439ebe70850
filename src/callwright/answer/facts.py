"""What the results say, indexed once per answer: every scalar with its key, its record and the names around it.

Hostile or huge results are bounded: at most ``MAX_LEAVES`` scalars and ``MAX_CHARS`` characters of text are indexed;
``Facts.cut`` says so, and values beyond that are still found as text.
"""

from __future__ import annotations

import bisect
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from callwright.answer.quantity import Moment, Number, from_epoch, iso_duration, moments, numbers, weekday_of
from callwright.answer.units import ALIASES, KEY_UNITS, TAIL_UNITS, UNITS
from callwright.answer.words import all_concepts, concepts, fold, key_tokens, stem, tokens
from callwright.jsontext import JsonError, mend, parse
from callwright.types import Json, Skip, ToolResult, canonical

MAX_LEAVES = 2_000
MAX_CHARS = 40_000
_FOLDED = 120_000  # characters of the results whose words are listed; the rest is searched as it stands
_WORDS = 3_000  # of them, how many are also known by their stems
_LONG = 40  # a longer text is read sentence by sentence
_DATE_KEYS = {"date", "day", "datetime", "time", "timestamp", "weekday", "month", "year", "week"}
_EPOCH_KEY = re.compile(r"time|date|_at$|epoch|(^|_)(dt|ts)$|sunrise|sunset|created|updated|expires", re.IGNORECASE)
_UNIT_KEYS = {"unit", "units", "currency", "currencycode", "unitofmeasure", "uom", "base", "measurement"}
_DATED = re.compile(r"\d|day\b|noon|midnight|january|february|april|june|july|august|ember\b|october", re.IGNORECASE)
_OFFSET = re.compile(r"(?:UTC|GMT)?\s?([+\-−])(\d{1,2}):?(\d{2})?")
_URL = re.compile(r"https?://|^www\.|^[\w.+-]+@[\w-]+\.\w+$")


Path: TypeAlias = tuple[str | int | tuple[str], ...]  # (key,) names a record in a map of records


@dataclass(frozen=True, slots=True)
class Leaf:
    """One scalar of one result. ``labels`` are the names it belongs to, ``attributes`` what its keys say it is."""

    result: str
    path: Path
    value: Any
    shape: tuple[str, ...]  # the path without list positions, and the tool: equal for the same field of siblings
    labels: frozenset[str]
    attributes: frozenset[str]
    unit: str = ""
    part: str = ""  # the sentence of a longer text that this leaf stands for
    record: int = 0

    @property
    def key(self) -> str:
        return next((p for p in reversed(self.path) if isinstance(p, str)), "")

    @property
    def where(self) -> str:
        return "/".join(str(p) for p in self.path)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number or moment that stands in a leaf."""

    leaf: Leaf
    number: Number | None = None
    moment: Moment | None = None

    @property
    def unit(self) -> str:
        return (self.number.unit if self.number else "") or self.leaf.unit


@dataclass(slots=True)
class _Node:
    """A record while the results are walked: what it hands down to what it holds."""

    result: str
    tool: str
    labels: frozenset[str]
    unit: str
    attributes: frozenset[str]
    index: int = 0


@dataclass
class Facts:
    """The index. Made by :func:`facts_of`."""

    query: str
    results: tuple[ToolResult, ...]
    skips: tuple[Skip, ...] = ()
    figures: list[Figure] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)
    lists: list[tuple[int, Leaf]] = field(
        default_factory=list
    )  # length of every array, with a leaf that stands for it
    origins: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # label -> the keys it stood under
    aliases: dict[str, frozenset[str]] = field(default_factory=dict)  # what a statement may say -> labels
    records: dict[tuple[str, int], list[Leaf]] = field(default_factory=lambda: defaultdict(list))
    vocabulary: set[str] = field(default_factory=set)
    cut: bool = False
    offsets: tuple[int, ...] | None = None  # from UTC, in minutes, once asked for
    read: dict[str, str] = field(
        default_factory=dict
    )  # result id -> its content unpacked, as text: what names stand in
    texts: dict[str, str] = field(default_factory=dict)  # result id -> what a quote must occur in

    @cached_property
    def folded(self) -> str:
        """Everything known, as one folded text of single-spaced words, for the search of names."""
        room = _FOLDED // max(1, len(self.texts))
        parts = [self.query, *(text[:room] for text in self.read.values())]
        for result in self.results:
            parts += [result.tool, canonical(result.arguments)]
            if result.failure is not None:
                parts.append(result.failure.message)
        parts += [f"{s.tool} {s.reason}" for s in self.skips]
        return " " + " ".join(" ".join(tokens(form)) for p in parts for form in {p, _decamel(p)}) + " "

    @cached_property
    def squeezed(self) -> str:
        """The same without spaces: for identifiers, which people space as they like."""
        return self.folded.replace(" ", "")

    @cached_property
    def query_numbers(self) -> tuple[Number, ...]:
        found = moments(self.query)
        return tuple(numbers(self.query, [m.span for m in found]))

    @cached_property
    def query_moments(self) -> tuple[Moment, ...]:
        return tuple(moments(self.query))

    @cached_property
    def sorted_numbers(self) -> tuple[list[float], list[Figure]]:
        pairs = sorted(((f.number.value, i) for i, f in enumerate(self.figures) if f.number is not None))
        return [p[0] for p in pairs], [self.figures[p[1]] for p in pairs]

    @cached_property
    def moment_figures(self) -> tuple[Figure, ...]:
        return tuple(f for f in self.figures if f.moment is not None)

    @cached_property
    def columns(self) -> dict[tuple[str, ...], list[Figure]]:
        """The figures of the same field over sibling records."""
        found: dict[tuple[str, ...], list[Figure]] = defaultdict(list)
        for figure in self.figures:
            found[figure.leaf.shape].append(figure)
        return found

    @cached_property
    def keys(self) -> dict[str, list[Figure]]:
        """The figures under the same last key, in whatever result."""
        found: dict[str, list[Figure]] = defaultdict(list)
        for figure in self.figures:
            found[figure.leaf.key].append(figure)
        return found

    @cached_property
    def fields(self) -> dict[tuple[str, int], list[Figure]]:
        """The figures of one record."""
        found: dict[tuple[str, int], list[Figure]] = defaultdict(list)
        for figure in self.figures:
            found[figure.leaf.result, figure.leaf.record].append(figure)
        return found

    def knows(self, word: str) -> bool:
        """Whether a word, or one of its family, stands in a result or in the question."""
        if word in self.vocabulary or concepts(word) & self.vocabulary or self.stands(word):
            return True
        if any(word[:size] in self.vocabulary for size in range(5, len(word))):
            return True
        place = bisect.bisect_left(self._sorted_words, word)
        return len(word) >= 5 and place < len(self._sorted_words) and self._sorted_words[place].startswith(word)

    @cached_property
    def _sorted_words(self) -> list[str]:
        return sorted(self.vocabulary)

    @cached_property
    def switches(self) -> dict[str, list[Leaf]]:
        """The fields that are true or false, by key."""
        found: dict[str, list[Leaf]] = defaultdict(list)
        for leaf in self.leaves:
            if isinstance(leaf.value, bool):
                found[leaf.key].append(leaf)
        return found

    def kinds(self, labels: frozenset[str]) -> frozenset[str]:
        """Under which keys these names stand."""
        return frozenset(kind for label in labels for kind in self.origins.get(label, ()))

    @cached_property
    def texts_by_value(self) -> dict[str, list[Leaf]]:
        """Short texts, squeezed -> where they stand."""
        found: dict[str, list[Leaf]] = defaultdict(list)
        for leaf in self.leaves:
            if isinstance(leaf.value, str) and len(leaf.value) <= 80 and not leaf.part:
                found["".join(tokens(leaf.value))].append(leaf)
        return found

    @cached_property
    def field_words(self) -> frozenset[str]:
        """What any field is called."""
        return frozenset().union(*(leaf.attributes for leaf in {f.leaf.shape: f.leaf for f in self.figures}.values()))

    @cached_property
    def labels(self) -> frozenset[str]:
        return frozenset(label for leaf in self.leaves for label in leaf.labels)

    @cached_property
    def weekdays(self) -> dict[int, frozenset[str]]:
        """Weekday -> the labels of the days in the results that fall on it."""
        found: dict[int, set[str]] = defaultdict(set)
        for figure in self.moment_figures[:2000]:
            day = weekday_of(figure.moment)
            if day is not None and figure.moment is not None:
                found[day].update(moment_labels(figure.moment))
        return {d: frozenset(v) for d, v in found.items()}

    def between(self, low: float, high: float) -> list[Figure]:
        """The figures whose number lies in [low, high]."""
        values, figures = self.sorted_numbers
        return figures[bisect.bisect_left(values, low) : bisect.bisect_right(values, high)]

    @cached_property
    def unlisted(self) -> str:
        """The lower-case text of results too long to be listed word by word; "" where all were."""
        room = _FOLDED // max(1, len(self.texts))
        return "\n".join(text.lower() for text in self.read.values() if self.cut or len(text) > room)

    def stands(self, word: str) -> bool:
        """Whether a word or a number stands in the part of a huge result that was not indexed."""
        text = self.unlisted
        if not text:
            return False
        place = text.find(word)
        while place >= 0:
            around = text[place - 1 : place] + text[place + len(word) : place + len(word) + 1]
            if not any(c.isalnum() for c in around):
                return True
            place = text.find(word, place + max(1, len(word)))
        return False

    @cached_property
    def short_texts(self) -> list[tuple[Leaf, str]]:
        """The short texts of the results, folded."""
        return [
            (leaf, " ".join(tokens(leaf.value)))
            for leaf in self.leaves
            if isinstance(leaf.value, str) and 0 < len(leaf.value) < 60
        ]

    def quote(self, leaf: Leaf) -> str:
        """The piece of the result that holds this leaf, exactly as it stands there; "" if it cannot be pointed at."""
        text = self.texts.get(leaf.result, "")
        if leaf.key == "" and not leaf.path and not isinstance(leaf.value, str):
            return text[:240]
        value = leaf.part or leaf.value
        key = leaf.path[-1] if leaf.path and isinstance(leaf.path[-1], str) else None
        tries = [] if key is None or leaf.part else [f"{canonical(key)}:{canonical(value)}"]
        tries += [value if isinstance(value, str) else "", canonical(value)]
        return next((t[:240] for t in tries if t and t[:240] in text), "")


def _decamel(text: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)


def facts_of(query: str, results: Sequence[ToolResult], skips: Sequence[Skip] = ()) -> Facts:
    """Index the results. Pure, deterministic, linear in their size and bounded."""
    facts = Facts(query, tuple(results), tuple(skips))
    room = _Room(MAX_LEAVES, MAX_CHARS, max(1, len(results)))
    for result in results:
        if result.failure is not None and result.content is None:
            continue
        facts.texts[result.id] = rendered(result.content)
        _Walk(facts, result, room).run()
    facts.cut = room.cut
    _alias(facts)
    _vocabulary(facts)
    return facts


def rendered(content: Json) -> str:
    """A result's content as text: what quotes are taken from. The same as ``types.canonical``, for plain JSON."""
    if isinstance(content, str):
        return content
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


class _Room:
    """What may still be indexed; every result is sure of its share."""

    def __init__(self, leaves: int, chars: int, parts: int) -> None:
        self.leaves, self.chars, self.parts, self.cut = leaves, chars, parts, False

    def share(self) -> tuple[int, int]:
        parts, self.parts = max(1, self.parts), self.parts - 1
        return self.leaves // parts, self.chars // parts


class _Walk:
    """One result, walked without recursion."""

    def __init__(self, facts: Facts, result: ToolResult, room: _Room) -> None:
        self.facts, self.result, self.room = facts, result, room
        self.leaves, self.chars = room.share()
        self._start = (self.leaves, self.chars)
        self.nodes = 0

    def run(self) -> None:
        labels = self._arguments()
        words = all_concepts(key_tokens(self.result.tool)) if self.result.tool else frozenset()
        unit = _unit_beside(self.result.arguments)
        root = _Node(self.result.id, self.result.tool, labels, unit, words)
        content = unpack(self.result.content)
        same = content is self.result.content
        self.facts.read[self.result.id] = self.facts.texts[self.result.id] if same else rendered(content)
        stack: list[tuple[Any, tuple[str | int, ...], _Node]] = [(content, (), root)]
        while stack:
            value, path, node = stack.pop()
            if self.leaves <= 0 or self.chars <= 0:
                self.room.cut = True
                break
            if isinstance(value, dict):
                stack.extend(self._of_dict(value, path, node))
            elif isinstance(value, list):
                stack.extend(self._of_list(value, path, node))
            else:
                self._leaf(value, path, node)
        self.room.leaves -= self._start[0] - self.leaves
        self.room.chars -= self._start[1] - self.chars

    def _arguments(self) -> frozenset[str]:
        """What was asked for names what came back; a list of things names none of them, nor does a record's own name."""  # noqa: E501
        single = {k: v for k, v in self.result.arguments.items() if isinstance(v, str | int) and "," not in str(v)}
        text = self.facts.texts[self.result.id]
        if text.count("},{") or text.count("}, {"):
            single = {k: v for k, v in single.items() if not isinstance(v, str) or f'"{v}"' not in text}
        return self._labels(single)

    def _of_dict(self, value: dict[str, Any], path: Path, node: _Node) -> Iterator[Any]:
        table = _table(value)
        if table is not None:
            value = {**value, **table}
        if _is_map(value):
            yield from self._of_map(value, path, node)
            return
        own = self._labels(value)
        unit = _unit_beside(value) or node.unit
        self.nodes += 1
        down = _Node(node.result, node.tool, node.labels | own, unit, node.attributes, self.nodes)
        beside: frozenset[str] = frozenset().union(
            *(self._labels(child, 8) for child in value.values() if isinstance(child, dict))
        )
        wide = (
            down
            if not beside
            else _Node(down.result, down.tool, down.labels | beside, unit, down.attributes, down.index)
        )
        for key, child in reversed(list(value.items())[: self.leaves + 1]):
            if isinstance(child, dict):
                name = " ".join(tokens(key))
                yield (
                    child,
                    (*path, key),
                    _Node(down.result, down.tool, down.labels | {name}, unit, down.attributes, down.index),
                )
            else:
                yield child, (*path, key), wide if not isinstance(child, list) else down

    def _of_map(self, value: dict[str, Any], path: Path, node: _Node) -> Iterator[Any]:
        """Records under their names: ``{"e-101": {…}, "e-117": {…}}`` is a list whose keys are labels."""
        self.facts.lists.append((len(value), self._make(len(value), path, node)))
        for key, child in reversed(list(value.items())[: self.leaves + 1]):
            labels = self._named("key", " ".join(tokens(key)))
            yield (
                child,
                (*path, (key,)),
                _Node(  # a tuple: a key that names a record, not a field
                    node.result, node.tool, node.labels | labels, node.unit, node.attributes, node.index
                ),
            )

    def _named(self, origin: str, *labels: str) -> frozenset[str]:
        for label in labels:
            if label:
                self.facts.origins[label].add(origin)
        return frozenset(label for label in labels if label)

    def _labels(self, value: dict[str, Any], limit: int = 24) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for key, label in _labels(value, limit):
            found |= self._named(key, label)
        return found

    def _of_list(self, value: list[Any], path: Path, node: _Node) -> Iterator[Any]:
        stand = self._make(len(value), path, node)
        self.facts.lists.append((len(value), stand))
        row = any(isinstance(v, str) for v in value) and any(isinstance(v, int | float) for v in value)
        if row:
            labels = self._named("row", *(name for v in value if isinstance(v, str) for name in _label(v)))
            self.nodes += 1
            node = _Node(node.result, node.tool, node.labels | labels, node.unit, node.attributes, self.nodes)
        for position in range(min(len(value), self.leaves + 1) - 1, -1, -1):
            yield value[position], (*path, position), node

    def _make(self, value: Any, path: Path, node: _Node, part: str = "", unit: str = "") -> Leaf:
        keys = tuple(p for p in path if isinstance(p, str))
        path = tuple(p[0] if isinstance(p, tuple) else p for p in path)
        attributes = _key_concepts(keys[-3:]) | node.attributes
        return Leaf(
            node.result, path, value, (node.tool, *keys), node.labels, attributes, unit or _key_unit(keys, node.unit),
            part, node.index,
        )  # fmt: skip

    def _leaf(self, value: Any, path: Path, node: _Node) -> None:
        self.leaves -= 1
        if isinstance(value, str):
            value = value[: self.chars]
            self.chars -= len(value) + 8
            if ((len(value) > _LONG and value.count(" ") > 6) or "\n" in value.strip()) and not _URL.match(value):
                lines = [line for line in value.split("\n") if any(c.isdigit() for c in line)]
                stand = self._make(len(lines), path, node)
                for length in {len(lines), value.count("\n") + 1} if len(lines) > 1 else ():
                    self.facts.lists.append((length, stand))
                self._alike(lines, stand)
                for part in _sentences(value):
                    self.leaves -= 1
                    self._text(part, path, node, part)
                return
            self._text(value, path, node, "")
            return
        leaf = self._make(value, path, node)
        self._keep(leaf)
        if isinstance(value, bool) or value is None:
            return
        if isinstance(value, int | float) and abs(value) < 1e300:
            scale = _scale(leaf.key)
            number = Number(float(value) * scale, 0.0, (0, 0), (0, 0), leaf.unit, scale=scale)
            self.facts.figures.append(Figure(leaf, number))
            if _EPOCH_KEY.search(leaf.key) and (moment := from_epoch(value)) is not None:
                self.facts.figures.append(Figure(leaf, moment=moment))

    def _alike(self, lines: list[str], stand: Leaf) -> None:
        """Lines of one form are a list too: those that hold as many numbers as their neighbours."""
        sizes = [len(re.findall(r"\d+", line)) for line in lines[:500]]
        for size in set(sizes):
            if sizes.count(size) > 1:
                self.facts.lists.append((sizes.count(size), stand))
        many = sum(size > 2 for size in sizes)
        if many > 1:
            self.facts.lists.append((many, stand))

    def _keep(self, leaf: Leaf) -> None:
        self.facts.leaves.append(leaf)
        self.facts.records[(leaf.result, leaf.record)].append(leaf)

    def _text(self, text: str, path: Path, node: _Node, part: str) -> None:
        if part:
            part = part[:4000]
            words = tokens(part)
            names = self._named("text", *(n for m in _NAMES.finditer(part) for n in _label(m.group())))
            node = _Node(
                node.result,
                node.tool,
                node.labels | names,
                node.unit,
                node.attributes | all_concepts(words),
                node.index,
            )
        leaf = self._make(text, path, node, part)
        self._keep(leaf)
        if not part and _URL.search(text) and " " not in text:
            return
        if not part and not _DATED.search(text):
            return
        found = moments(text)
        for moment in found:
            self.facts.figures.append(Figure(leaf, moment=moment))
        for number in numbers(text, [m.span for m in found], words=bool(part)):
            self.facts.figures.append(Figure(leaf, number))
        shift = _OFFSET.fullmatch(text)
        if shift:
            minutes = (int(shift[2]) * 60 + int(shift[3] or 0)) * (1 if shift[1] == "+" else -1)
            self.facts.figures.append(Figure(leaf, Number(float(minutes), 0.0, (0, 0), (0, 0), "min")))
        seconds = iso_duration(text)
        if seconds is not None:
            self.facts.figures.append(Figure(leaf, Number(seconds / 60, 0.0, (0, len(text)), (0, len(text)), "min")))
        for moment in found:  # "01:25" under a key such as duration
            if (
                moment.has_time
                and not moment.has_date
                and "=duration" in leaf.attributes
                and moment.minute is not None
            ):
                worth = (moment.hour or 0) * 60 + moment.minute
                self.facts.figures.append(Figure(leaf, Number(float(worth), 0.0, moment.span, moment.span, "min")))


_NAMES = re.compile(
    r"\b[A-Z]{1,4}\s?\d{1,5}\b|\b[A-Z][\w&'’.-]*(?:\s+(?:of|de|the|and|von|van|la|le)?\s*[A-Z][\w&'’.-]*)*"
)


def _sentences(text: str) -> list[str]:
    return [s[:2000] for s in re.split(r"(?<=[.!?;])\s+|\n+", text) if s.strip()][:300]


def _table(value: dict[str, Any]) -> dict[str, Any] | None:
    """``{"columns": [...], "rows": [[...]]}`` as records."""
    for head in ("columns", "headers", "header", "fields"):
        names = value.get(head)
        if isinstance(names, list) and names and all(isinstance(n, str) for n in names):
            for body in ("rows", "data", "values", "records"):
                rows = value.get(body)
                if (
                    isinstance(rows, list)
                    and rows
                    and all(isinstance(r, list) and len(r) == len(names) for r in rows)
                ):
                    return {body: [dict(zip(names, r, strict=True)) for r in rows]}
    return None


def _labels(value: dict[str, Any], limit: int = 24) -> Iterator[tuple[str, str]]:
    """The names a record goes by, with their keys: its short texts, its dates, the numbers of its identifiers."""
    for key, item in list(value.items())[:limit]:
        if isinstance(item, str):
            if fold(key).replace("_", "") not in _UNIT_KEYS:
                yield from ((key, label) for label in _label(item))
        elif isinstance(item, int) and not isinstance(item, bool):
            if key_tokens(key)[-1:] in (["id"], ["year"], ["number"], ["asn"]):
                yield key, f"#{item}"
        elif isinstance(item, list):
            for member in item[:6]:
                if isinstance(member, str):
                    yield from ((key, label) for label in _label(member))


def _is_map(value: dict[str, Any]) -> bool:
    """Whether the keys of an object name records of one kind rather than fields."""
    if len(value) < 2 or not all(isinstance(v, dict) and v for v in value.values()):
        return False
    members = list(value.values())[:50]
    shared = set(members[0]).intersection(*members[1:])
    return bool(shared) and 2 * len(shared) >= len(set().union(*members))


def _label(text: str) -> Iterator[str]:
    if not text or len(text) > 80 or _URL.search(text):
        return
    if text[0].isdigit():
        found = moments(text)
        if found and found[0].month is not None:
            yield from moment_labels(found[0])
            return
    if any(c.isalpha() for c in text):
        words = tokens(text)
        if words[:1] in (["the"], ["a"], ["an"]) and len(words) > 1:
            words = words[1:]
        if words and len(words) <= 10:
            yield " ".join(words)


def moment_labels(m: Moment) -> Iterator[str]:
    """The names of a day, as labels: statements may give it with or without the year."""
    if m.month is not None:
        yield f"@{m.month}-{m.day or 0}"


def _unit_beside(value: Any) -> str:
    """The unit that a field beside the others names; "time:min" where it names it for one of them (``timeUnit``)."""
    if not isinstance(value, dict):
        return ""
    for key, item in list(value.items())[:40]:
        if not isinstance(item, str) or len(item) >= 24:
            continue
        words = key_tokens(key)
        plain = "".join(words) in _UNIT_KEYS
        if plain or words[-1:] in (["unit"], ["units"], ["uom"], ["currency"]):
            unit = ALIASES.get(fold(item), "")
            if unit:
                return unit if plain or words[-1] == "currency" else f"{words[0]}:{unit}"
    return ""


@lru_cache(maxsize=4096)
def _key_concepts(keys: tuple[str, ...]) -> frozenset[str]:
    return all_concepts(w for k in keys for w in key_tokens(k[:80]))


@lru_cache(maxsize=4096)
def _key_unit(keys: tuple[str, ...], beside: str) -> str:
    for depth, key in enumerate(reversed(keys[-2:])):
        words = key_tokens(key)
        if not words:
            continue
        pair = " ".join(words[-2:])
        if pair in ("sq km", "sq mi", "sq ft", "sq m"):
            return ALIASES[pair]
        if len(words) > 2 and words[-2:] in (["per", "hour"], ["per", "second"]):
            continue
        if len(words) > 1 and words[-1] in ("h", "s", "hour") and words[-2] in ("km", "m", "mi"):
            return {"km": "km/h", "m": "m/s", "mi": "mph"}[words[-2]]
        if scaled := _SCALED.match(words[-1]):
            return ALIASES[scaled["c"]]
        if words == ["runtime"]:
            return "min"  # the film databases' custom
        if words[-1] in KEY_UNITS:
            return KEY_UNITS[words[-1]]
        if len(words) > 1 and words[-1] in TAIL_UNITS and depth == 0:
            return TAIL_UNITS[words[-1]]
        if words[-1] in ("min", "mins") and len(words) > 1 and concepts(words[-2]) & {"=duration", "time", "travel"}:
            return "min"
        if depth == 0 and words[0] in KEY_UNITS and len(words) == 1:
            return KEY_UNITS[words[0]]
    for_key, _, unit = beside.rpartition(":")
    if not keys or (for_key and for_key not in key_tokens(keys[-1])):
        return ""
    return unit if _takes(keys[-1], unit) else ""


_SCALED = re.compile(r"^(?P<s>k|m|mn|mio|bn|b)(?P<c>usd|eur|gbp|chf|jpy|inr|cny)$")
_SCALE_WORDS = {"k": 1e3, "thousand": 1e3, "thousands": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "million": 1e6,
                "millions": 1e6, "bn": 1e9, "b": 1e9, "billion": 1e9, "billions": 1e9}  # fmt: skip


def _scale(key: str) -> float:
    """What a field's key says of its magnitude: ``revenue_musd``, ``population_millions``."""
    words = key_tokens(key)
    if not words:
        return 1.0
    found = _SCALED.match(words[-1])
    if found:
        return _SCALE_WORDS[found["s"]]
    return next((_SCALE_WORDS[w] for w in words[1:] if w in _SCALE_WORDS and len(w) > 2), 1.0)


def _takes(key: str, unit: str) -> bool:
    """Whether a unit that stands beside a field (currency, unit) is about that field."""
    words = {stem(w) for w in key_tokens(key)}
    if not unit or words & _COUNTS:
        return False
    return UNITS[unit].dimension != "money" or bool(words & _MONETARY)


_MONETARY = {stem(w) for w in (
    "price", "cost", "amount", "total", "subtotal", "fee", "fare", "value", "charge", "salary", "wage", "revenue", "income",  # noqa: E501
    "balance", "cap", "high", "low", "open", "close", "rate", "tax", "sum", "budget", "profit", "net", "gross", "payment",  # noqa: E501
    "adult", "child", "rent", "discount", "tip", "deposit", "spend", "spent", "due", "paid", "min", "max", "average", "avg",  # noqa: E501
    "bid", "ask", "last", "volume", "sales", "turnover", "expense", "expenses", "single", "return", "night", "day", "shipping",  # noqa: E501
)}  # fmt: skip
_COUNTS = {stem(w) for w in ("id", "population", "page", "year", "votes", "rating", "nights", "guests", "stops", "count",  # noqa: E501
                             "number", "quantity", "qty", "items", "passengers", "rank", "score", "index", "percent", "percentage", "pct",  # noqa: E501
                             "ratio", "supply", "qty")}  # fmt: skip


def _alias(facts: Facts) -> None:
    """Which words of a statement name which labels: the whole label, and its words that no other label has."""
    by_word: dict[str, set[str]] = defaultdict(set)
    aliases: dict[str, set[str]] = defaultdict(set)
    every = facts.labels
    for label in every:
        aliases[label].add(label)
        words = label.split()
        for word in words if not label.startswith(("@", "#")) else ():
            by_word[word].add(label)
        for size in range(2, min(len(words), 5)):
            aliases[" ".join(words[:size])].add(label)
    for word, labels in by_word.items():
        if len(labels) <= 8 and len(word) >= 3:
            aliases[word] |= labels
    facts.aliases = {a: frozenset(v) for a, v in aliases.items()}


def _vocabulary(facts: Facts) -> None:
    words = set(facts.folded.split())
    spoken = [w for w in words if w.isalpha() and len(w) < 40]
    facts.vocabulary = words | {c for w in itertools.islice(sorted(spoken), _WORDS) for c in concepts(w)}


def unpack(content: Json) -> Json:
    """Content that is JSON (or a printed Python value) inside a string, as a value; at most three layers deep."""
    for _ in range(3):
        if isinstance(content, dict) and isinstance(content.get("response"), str) and len(content) <= 3:
            inner = _parsed(content["response"])
            if inner is None:
                return content
            content = {**content, "response": inner}
            return content
        if not isinstance(content, str):
            return content
        value = _parsed(content)
        if value is None:
            return content
        content = value
    return content


def _parsed(text: str) -> Json:
    stripped = text.strip()
    if len(stripped) > 2_000_000 or stripped[:1] not in ("{", "["):
        return None
    try:
        return parse(stripped)
    except JsonError:
        pass
    try:
        return mend(stripped).value if len(stripped) <= 40_000 else None
    except JsonError:
        return None
