"""The values of an output that no result supports: each is checked as a statement of the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from callwright.grounding.facts import Facts
from callwright.grounding.support import check_statement
from callwright.language.tokens import split_identifier
from callwright.nouns.types import Json, JsonObject
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.schema.compiled import Node
from callwright.schema.value_edits import Pointer

_LABEL = 60  # letters of a text beside a number that may say whose it is


class Unsupported(NamedTuple):
    """A value that no result supports, its place, and why."""

    pointer: Pointer
    value: Json
    problem: str


class Evidence(NamedTuple):
    """The facts of the results, and all that was said and returned."""

    facts: Facts
    sources: ProvenanceIndex


def find_unsupported(value: Json, node: Node, evidence: Evidence) -> tuple[Unsupported, ...]:
    """The values of an output that nothing supports. Truth values, and options that the schema
    lists, are the model's judgement: they are not looked for.
    """
    return tuple(_Check(evidence).walk(value, node, ()))


class _Check:
    def __init__(self, evidence: Evidence) -> None:
        self._facts, self._sources = evidence

    def walk(
        self, value: Json, node: Node | None, at: Pointer, label: str = ""
    ) -> Iterator[Unsupported]:
        node = None if node is None else _choose_node(value, node)
        if isinstance(value, dict):
            for key, member in value.items():
                child = None if node is None else node.member(key)
                yield from self.walk(member, child, (*at, key), self._find_label(value, key))
        elif isinstance(value, list):
            for place, item in enumerate(value):
                child = None if node is None else node.item(place)
                yield from self.walk(item, child, (*at, place), label)
        elif problem := self._explain(value, node, at, label):
            yield Unsupported(at, value, problem)

    def _find_label(self, record: JsonObject, key: str) -> str:
        """The one text beside a value that says whose it is; "" where there is none, or more."""
        beside = {name: text for name, text in record.items() if name != key}
        texts = [
            f"{_say_key(name)} {text}"
            for name, text in beside.items()
            if isinstance(text, str) and len(text) <= _LABEL and self._sources.holds(text)
        ]
        return texts[0] if len(texts) == 1 else ""

    def _explain(self, value: Json, node: Node | None, at: Pointer, label: str) -> str:
        """Return why a value is not supported; "" where it is."""
        is_chosen = node is not None and (node.get("enum") is not None or node.get("const"))
        if value is None or isinstance(value, bool) or is_chosen:
            return ""
        if isinstance(value, str):
            return "" if self._is_said(value) else self._explain_text(value)
        names = [key for key in at if isinstance(key, str)]
        return self._explain_number(str(value), _say_key(names[-1]) if names else "", label)

    def _is_said(self, text: str) -> bool:
        """Return True if a text was said or returned: one with digits as it stands, for the parts
        of a day or of a code prove nothing.
        """
        if not any(letter.isdigit() for letter in text):
            return self._sources.holds(text)
        whole = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)
        return any(whole.search(seen) for seen in self._sources.texts)

    def _explain_text(self, text: str) -> str:
        found = check_statement(text, self._facts)
        return "; ".join(found.problems) if found.support == "unsupported" else ""

    def _explain_number(self, number: str, key: str, label: str) -> str:
        found = check_statement(f"{key} {number}", self._facts)
        problem = _find_problem(found.problems, number)
        if problem and (bare := check_statement(number, self._facts)).support != "unsupported":
            found, problem = bare, ""
        if problem or not label or found.derived:
            return problem
        of_record = check_statement(f"{label}, {key} {number}", self._facts)
        return _find_problem(of_record.problems, number)


def _find_problem(problems: list[str], number: str) -> str:
    """The problem that is about this number."""
    return next((one for one in problems if one.lstrip("-").startswith(number.lstrip("-"))), "")


def _say_key(key: str) -> str:
    return " ".join(split_identifier(key)) or key


def _choose_node(value: Json, node: Node) -> Node:
    """The subschema that says what this value is: the branch that accepts it."""
    node = node.resolved()
    for keyword in ("anyOf", "oneOf"):
        for branch in node.branches(keyword):
            if branch.accepts(value):
                return _choose_node(value, branch)
    return node
