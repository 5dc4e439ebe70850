"""Checks that a reflection uses only what its writer could know: the request, the documentation,
earlier rounds and the results. Pure.

The right call is checked in the same way. A value of it that nothing before it contains cannot be
learned, only guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from callwright.nouns.types import JsonObject, iter_scalars, to_canonical_json
from callwright.repair.provenance.grounding import classify_value, examples_in, iter_leaves
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright_lab.reflection.row import Reflected
from callwright_lab.reflection.syntax import collect_literals

_LEAKS = re.compile(
    r"\b(?:reference|verified|correct iteration|right iteration|ground truth|gold|provided"
    r" (?:solution|answer)|"
    r"given solution|expected (?:call|answer|solution))\b",
    re.I,
)
_QUOTED = re.compile(
    r"'([^'\n]{1,200})'(?![\w])|\"([^\"\n]{1,200})\"|`([^`\n]{1,200})`|“([^”\n]{1,200})”"
)
_FIGURE = re.compile(r"(?<![\w.])[-+]?\d[\w.,:/\-]*")
_CODE = re.compile(
    r"\b[A-Za-z]\w*(?:_\w+)+\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z]{2,}\d*\b|\b\w*\d\w*[A-Za-z]\w*\b|\S+@\S+\.\w+"
)
_NAME = re.compile(r"(?<=[a-z,;:)'\"\d] )[A-Z][\w'’-]+")
_PLAIN = frozenset("I I'll I'm I've API APIs ID IDs JSON URL HTTP ISO OK".split())
_HAS_DIGIT = re.compile(r"\d")


def explain_unsourced(row: Reflected) -> str:
    """Return the reason to drop a row; "" if everything in it is stated somewhere before it."""
    known = build_known_sources(row)
    leak = _LEAKS.search(row.reflection)
    if leak is not None and not known.holds_whole(leak[0]):
        return f"the reflection speaks of what its writer cannot have seen: {leak[0]!r}"
    if made_up := _find_guessed_value(row, known):
        return made_up
    unheard = (claim for claim in iter_claims(row.reflection) if not _is_known_claim(known, claim))
    return next(
        (f"the reflection says {claim!r}, which nothing before it contains" for claim in unheard),
        "",
    )


def _find_guessed_value(row: Reflected, known: ProvenanceIndex) -> str:
    """The first value of the right call that could only be guessed. Of a program's only those that
    stand in it: the others it computes.
    """
    said = collect_literals(row.program) if row.program else None
    for call in row.right:
        tool = row.before.tool(call.tool)
        if tool is None:
            return f"the right call is of {call.tool}, which is not on offer"
        given = call.arguments if isinstance(call.arguments, dict) else {}
        if copied := _find_copied_example(given, row):
            return copied
        for key, value in given.items():
            for path, name, leaf, part in iter_leaves(key, value, tool.properties.get(key)):
                if said is not None and to_canonical_json(leaf) not in said:
                    continue
                if leaf not in (None, "") and not known.holds(leaf):
                    kind = classify_value(name, leaf, part, known)
                    told = f"{path.removeprefix('/')} of the right call is {to_canonical_json(leaf)[:80]}"
                    return f"{told}, which nothing before it contains ({kind})"
    return ""


def _find_copied_example(given: JsonObject, row: Reflected) -> str:
    """A value that is only the error's own example: "use a code such as NO" does not mean NO."""
    steps = (*row.before.steps, row.wrong)
    said = [r.failure.message for step in steps for r in step.results if r.failure] + [
        s.shown for s in steps if s.shown
    ]
    examples = {example for text in said for example in examples_in(text)}
    for key, value in given.items():
        if not isinstance(value, str) or value not in examples:
            continue
        results = [
            r for r in row.before.results if value not in iter_scalars(r.arguments)
        ]  # which only echo it
        if not ProvenanceIndex(row.before.query, results=results).holds(value):
            return f"{key} of the right call is {value!r}, which is only the error's own example"
    return ""


def build_known_sources(row: Reflected) -> ProvenanceIndex:
    """Everything that is known where the reflection is written."""
    before = row.before
    known = ProvenanceIndex(before.query)
    for tool in before.tools:
        known.add_text(f"{tool.name} {tool.description}")
        known.add_text(to_canonical_json(tool.input_schema))
        for key in tool.properties:
            known.add_text(key)
    for step in (*before.steps, row.wrong):
        known.add_text(f"{step.thought}\n{step.code}\n{step.shown}")
        for call in step.calls:
            known.add_text(call.tool)
            known.add_text(to_canonical_json(call.arguments))
        for result in (
            () if step.shown else step.results
        ):  # of a program only its print-out was seen
            known.add_result(result)
            if result.failure is not None:
                known.add_text(f"{result.failure.message}\n{to_canonical_json(result.content)}")
    return known


def iter_claims(text: str) -> Iterator[str]:
    """Yield the checkable parts of a reflection: quotations, figures, identifiers, names inside a
    sentence.
    """
    rest = text
    for found in _QUOTED.finditer(text):
        quoted = next(group for group in found.groups() if group is not None)
        yield quoted
        rest = rest.replace(found[0], " ")
    for pattern in (_FIGURE, _CODE, _NAME):
        for found in pattern.finditer(rest):
            claim = found[0].strip(".,:;/-+'’")
            if claim and claim not in _PLAIN:
                yield claim


def _is_known_claim(known: ProvenanceIndex, claim: str) -> bool:
    if known.holds(claim):
        return True
    number = claim.replace(",", "")
    try:
        return known.holds(float(number) if "." in number else int(number))
    except ValueError:
        return not _HAS_DIGIT.search(claim) and known.mentions(claim)
