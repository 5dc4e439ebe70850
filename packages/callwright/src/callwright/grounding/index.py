"""Results read into :class:`~callwright.grounding.facts.Facts`: walked without recursion, bounded,
in linear time.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from callwright.dataflow.lineage import collect_inherited
from callwright.grounding.facts import Facts, Figure, Leaf, Path, render_content
from callwright.grounding.fields import (
    concepts_of_keys,
    scale_of_field,
    unit_beside,
    unit_of_field,
)
from callwright.grounding.foreign import moments_in, numbers_in_result
from callwright.grounding.labels import record_labels, text_labels
from callwright.grounding.quantity import (
    Number,
    convert_epoch,
    find_moments,
    iso_duration,
)
from callwright.grounding.words import all_concepts, find_concepts
from callwright.jsontext import JsonError, parse, parse_tool_text
from callwright.language import ENGLISH
from callwright.language.detect import language_of
from callwright.language.pack import PACKS, pack
from callwright.language.tokens import key_tokens, split_tokens
from callwright.nouns.types import Json, JsonObject, Skip, ToolResult

MAX_LEAVES = 2_000
MAX_CHARS = 40_000
_WORDS = 3_000  # of them, how many are also known by their stems
_LONG = 40  # a longer text is read sentence by sentence
_EPOCH_KEY = ENGLISH.pattern("fields.epoch")
_DATED = ENGLISH.pattern("calendar.dated")
_OFFSET = re.compile(r"(?:UTC|GMT)?\s?([+\-−])(\d{1,2}):?(\d{2})?")
_URL = re.compile(r"https?://|^www\.|^[\w.+-]+@[\w-]+\.\w+$")


@dataclass(slots=True)
class _Node:
    """A record while the results are walked: what it hands down to what it holds."""

    result: str
    tool: str
    labels: frozenset[str]
    unit: str
    attributes: frozenset[str]
    index: int = 0


def facts_of(
    query: str,
    results: Sequence[ToolResult],
    skips: Sequence[Skip] = (),
    said: Sequence[str] = (),
) -> Facts:
    """Index the results. Pure, deterministic, linear in their size and bounded. ``said``: other
    texts of the conversation, which may tell what day it is: "Today is Wednesday, 2026-03-11."
    """
    facts = Facts(query, tuple(results), tuple(skips), tuple(said))
    room = _Room(MAX_LEAVES, MAX_CHARS, max(1, len(results)))
    origins = collect_inherited(results)
    for result in results:
        if result.failure is not None and result.content is None:
            continue
        facts.texts[result.id] = render_content(result.content)
        _Walk(facts, result, room, origins.get(result.id, ())).run()
    facts.cut = room.cut
    _index_aliases(facts)
    _index_vocabulary(facts)
    return facts


class _Room:
    """Remaining capacity of the index; every result has a guaranteed share."""

    def __init__(self, leaves: int, chars: int, parts: int) -> None:
        self.leaves, self.chars, self.parts, self.cut = leaves, chars, parts, False

    def share(self) -> tuple[int, int]:
        parts, self.parts = max(1, self.parts), self.parts - 1
        return self.leaves // parts, self.chars // parts


class _Walk:
    """One result, walked without recursion."""

    def __init__(
        self, facts: Facts, result: ToolResult, room: _Room, origins: Sequence[JsonObject] = ()
    ) -> None:
        self.facts, self.result, self.room, self.origins = facts, result, room, origins
        self.leaves, self.chars = room.share()
        self._start = (self.leaves, self.chars)
        self.nodes = 0

    def run(self) -> None:
        labels = self._arguments()
        words = all_concepts(key_tokens(self.result.tool)) if self.result.tool else frozenset()
        unit = unit_beside(self.result.arguments)
        root = _Node(self.result.id, self.result.tool, labels, unit, words)
        content = unpack_content(self.result.content)
        same = content is self.result.content
        self.facts.read[self.result.id] = (
            self.facts.texts[self.result.id] if same else render_content(content)
        )
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
        """Return the labels that a result takes from the arguments of its call. Arguments that list
        several things give none. Names that a record of the result itself holds give none either.

        The arguments of the calls that fed this one also give labels
        (:mod:`callwright.dataflow.lineage`).
        """
        own = [self.result.arguments, *self.origins]
        return frozenset().union(*map(self._asked_for, own))

    def _asked_for(self, arguments: JsonObject) -> frozenset[str]:
        single = {
            k: v for k, v in arguments.items() if isinstance(v, str | int) and "," not in str(v)
        }
        text = self.facts.texts[self.result.id]
        if text.count("},{") or text.count("}, {"):
            single = {
                k: v for k, v in single.items() if not isinstance(v, str) or f'"{v}"' not in text
            }
        return self._labels(single)

    def _of_dict(self, value: dict[str, Any], path: Path, node: _Node) -> Iterator[Any]:
        table = _table_to_records(value)
        if table is not None:
            value = {**value, **table}
        if _is_map(value):
            yield from self._of_map(value, path, node)
            return
        own = self._labels(value)
        unit = unit_beside(value) or node.unit
        self.nodes += 1
        down = _Node(node.result, node.tool, node.labels | own, unit, node.attributes, self.nodes)
        beside: frozenset[str] = frozenset().union(
            *(self._labels(child, 8) for child in value.values() if isinstance(child, dict))
        )
        wide = (
            down
            if not beside
            else _Node(
                down.result, down.tool, down.labels | beside, unit, down.attributes, down.index
            )
        )
        for key, child in reversed(list(value.items())[: self.leaves + 1]):
            if isinstance(child, dict):
                name = " ".join(split_tokens(key))
                yield (
                    child,
                    (*path, key),
                    _Node(
                        down.result,
                        down.tool,
                        down.labels | {name},
                        unit,
                        down.attributes,
                        down.index,
                    ),
                )
            else:
                yield child, (*path, key), wide if not isinstance(child, list) else down

    def _of_map(self, value: dict[str, Any], path: Path, node: _Node) -> Iterator[Any]:
        """Records under their names: ``{"e-101": {…}, "e-117": {…}}`` is a list whose keys are
        labels.
        """
        self.facts.lists.append((len(value), self._make(len(value), path, node)))
        for key, child in reversed(list(value.items())[: self.leaves + 1]):
            labels = self._named("key", " ".join(split_tokens(key)))
            yield (
                child,
                (*path, (key,)),
                _Node(  # a tuple: a key that names a record, not a field
                    node.result,
                    node.tool,
                    node.labels | labels,
                    node.unit,
                    node.attributes,
                    node.index,
                ),
            )

    def _named(self, origin: str, *labels: str) -> frozenset[str]:
        for label in labels:
            if label:
                self.facts.origins[label].add(origin)
        return frozenset(label for label in labels if label)

    def _labels(self, value: dict[str, Any], limit: int = 24) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for key, label in record_labels(value, limit):
            found |= self._named(key, label)
        return found

    def _of_list(self, value: list[Any], path: Path, node: _Node) -> Iterator[Any]:
        stand = self._make(len(value), path, node)
        self.facts.lists.append((len(value), stand))
        row = any(isinstance(v, str) for v in value) and any(
            isinstance(v, int | float) for v in value
        )
        if row:
            labels = self._named(
                "row", *(name for v in value if isinstance(v, str) for name in text_labels(v))
            )
            self.nodes += 1
            node = _Node(
                node.result, node.tool, node.labels | labels, node.unit, node.attributes, self.nodes
            )
        for position in range(min(len(value), self.leaves + 1) - 1, -1, -1):
            yield value[position], (*path, position), node

    def _make(self, value: Any, path: Path, node: _Node, part: str = "", unit: str = "") -> Leaf:
        keys = tuple(p for p in path if isinstance(p, str))
        path = tuple(p[0] if isinstance(p, tuple) else p for p in path)
        attributes = concepts_of_keys(keys[-3:]) | node.attributes
        unit = unit or unit_of_field(keys, node.unit)
        shape = (node.tool, *keys)
        return Leaf(
            node.result, path, value, shape, node.labels, attributes, unit, part, node.index
        )

    def _leaf(self, value: Any, path: Path, node: _Node) -> None:
        self.leaves -= 1
        if isinstance(value, str):
            self.room.cut = self.room.cut or len(value) > self.chars
            value = value[: self.chars]
            self.chars -= len(value) + 8
            if (
                (len(value) > _LONG and value.count(" ") > 6) or "\n" in value.strip()
            ) and not _URL.match(value):
                lines = [line for line in value.split("\n") if any(c.isdigit() for c in line)]
                stand = self._make(len(lines), path, node)
                for length in {len(lines), value.count("\n") + 1} if len(lines) > 1 else ():
                    self.facts.lists.append((length, stand))
                self._alike(lines, stand)
                for part in _split_sentences(value):
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
            scale = scale_of_field(leaf.key)
            number = Number(float(value) * scale, 0.0, (0, 0), (0, 0), leaf.unit, scale=scale)
            self.facts.figures.append(Figure(leaf, number))
            if _EPOCH_KEY.search(leaf.key) and (moment := convert_epoch(value)) is not None:
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
            words = split_tokens(part)
            names = self._named(
                "text", *(n for m in _NAMES.finditer(part) for n in text_labels(m.group()))
            )
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
        found = find_moments(text)
        for moment in moments_in(text, language_of(text)):
            self.facts.figures.append(Figure(leaf, moment=moment))
        for number in numbers_in_result(text, [m.span for m in found], words=bool(part)):
            self.facts.figures.append(Figure(leaf, _scale_number(number, leaf)))
        shift = _OFFSET.fullmatch(text)
        if shift:
            minutes = (int(shift[2]) * 60 + int(shift[3] or 0)) * (1 if shift[1] == "+" else -1)
            self.facts.figures.append(
                Figure(leaf, Number(float(minutes), 0.0, (0, 0), (0, 0), "min"))
            )
        seconds = iso_duration(text)
        if seconds is not None:
            self.facts.figures.append(
                Figure(leaf, Number(seconds / 60, 0.0, (0, len(text)), (0, len(text)), "min"))
            )
        for moment in found:  # "01:25" under a key such as duration
            if (
                moment.has_time
                and not moment.has_date
                and "=duration" in leaf.attributes
                and moment.minute is not None
            ):
                worth = (moment.hour or 0) * 60 + moment.minute
                self.facts.figures.append(
                    Figure(leaf, Number(float(worth), 0.0, moment.span, moment.span, "min"))
                )


def _scale_number(number: Number, leaf: Leaf) -> Number:
    """A number of a text in the magnitude that its field's key states."""
    scale = scale_of_field(leaf.key)
    if leaf.part or number.unit or number.scale != 1 or scale == 1:
        return number
    return replace(number, value=number.value * scale, step=number.step * scale, scale=scale)


_NAMES = ENGLISH.pattern("statements.names_in_results")


def _split_sentences(text: str) -> list[str]:
    return [s[:2000] for s in _build_break().split(text) if s.strip()][:300]


@cache
def _build_break() -> re.Pattern[str]:
    """An expression for what parts sentences, which nothing does before a month: "am 14. März"."""
    names = {name for one in map(pack, PACKS) if one is not None for name in one.months}
    months = "|".join(re.escape(name) for name in sorted(names) if name.isalpha())
    return re.compile(
        rf"(?:(?<=[!?;])|(?<=\D\.)|(?<=\.)(?!\s+(?:{months})\b))\s+|\n+", re.IGNORECASE
    )


def _table_to_records(value: dict[str, Any]) -> dict[str, Any] | None:
    """``{"columns": [...], "rows": [[...]]}`` as records."""
    for head in ENGLISH.listed("fields.table_heads"):
        names = value.get(head)
        if isinstance(names, list) and names and all(isinstance(n, str) for n in names):
            for body in ENGLISH.listed("fields.table_rows"):
                rows = value.get(body)
                if (
                    isinstance(rows, list)
                    and rows
                    and all(isinstance(r, list) and len(r) == len(names) for r in rows)
                ):
                    return {body: [dict(zip(names, r, strict=True)) for r in rows]}
    return None


def _is_map(value: dict[str, Any]) -> bool:
    """Return True if the keys of an object name records of one kind rather than fields."""
    if len(value) < 2 or not all(isinstance(v, dict) and v for v in value.values()):
        return False
    members = list(value.values())[:50]
    shared = set(members[0]).intersection(*members[1:])
    return bool(shared) and 2 * len(shared) >= len(set().union(*members))


def _index_aliases(facts: Facts) -> None:
    """Record the words of a statement that may name each label: the whole label, and words that few
    labels share.
    """
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


def _index_vocabulary(facts: Facts) -> None:
    words = set(facts.folded.split())
    spoken = [w for w in words if w.isalpha() and len(w) < 40]
    facts.vocabulary = words | {
        c for w in itertools.islice(sorted(spoken), _WORDS) for c in find_concepts(w)
    }


def unpack_content(content: Json) -> Json:
    """Content that is JSON (or a printed Python value) inside a string, as a value; at most three
    layers deep.
    """
    for _ in range(3):
        if (
            isinstance(content, dict)
            and isinstance(content.get("response"), str)
            and len(content) <= 3
        ):
            inner = _parse_inner(content["response"])
            if inner is None:
                return content
            content = {**content, "response": inner}
            return content
        if not isinstance(content, str):
            return content
        value = _parse_inner(content)
        if value is None:
            return content
        content = value
    return content


def _parse_inner(text: str) -> Json:
    stripped = text.strip()
    quoted = stripped[:2] in ('"{', '"[', '"\\')  # JSON written as a JSON string
    if len(stripped) > 2_000_000 or not (quoted or stripped[:1] in ("{", "[")):
        return None
    try:
        return parse(stripped)
    except JsonError:
        pass
    value = parse_tool_text(stripped) if len(stripped) <= 40_000 and not quoted else None
    return None if value is stripped else value
