"""Finds defects of calls: against their tools' schemas, and against what was known before them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

from callwright.nouns.types import to_canonical_json
from callwright.repair.gate import Gate, Refusal
from callwright.repair.provenance.grounding import classify_value, iter_leaves
from callwright_lab.verify.dataset.account import Account, Defect, DefectKind

_AS_FOUND: dict[str, DefectKind] = {
    "unknown_tool": "unknown_tool",
    "day_from_nowhere": "day_from_nowhere",
    "repeated_call": "repeated_call",
    "trial_and_error": "trial_and_error",
    "unused_result": "unused_result",
}
_LABEL = re.compile(r"\bAPI_call_\d+\b|\$var\d+\b")
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_CONCRETE = re.compile(
    r"\w+://\S+|[\w.+-]+@[\w-]+\.\w[\w.]*|(?:\d{1,3}\.){3}\d{1,3}"
    r"|(?=\S*\d)(?=\S*[A-Za-z])[A-Za-z0-9_-]{8,}|[A-Z][a-z]+ (?:Doe|Smith)"  # names that stand in for any
)
_POWER = re.compile(r"(\d+(?:\.\d+)?)(?:\s*[x×*]\s*10\s*\^?\s*|e\+?)(\d{1,2})\b", re.I)
_WORDS = "one two three four five six seven eight nine ten eleven twelve".split()
_ROUND = frozenset(
    {12.0, 20.0, 24.0, 25.0, 30.0, 50.0, 60.0, 100.0, 200.0, 500.0, 1000.0}
)  # what one takes by default
_UNITS = (
    1.0,
    1.609,
    2.205,
    2.54,
    3.281,
    3.6,
    7.0,
    12.0,
    24.0,
    30.48,
    60.0,
    101.325,
    365.0,
    3600.0,
    86400.0,
)
_FACTORS = tuple(
    f * 10.0**k for f in (f for u in _UNITS for f in (u, 1 / u)) for k in (*range(-6, 7), 9)
)
_LOST = frozenset({"rename_key", "drop_unknown"})


def convert_step_faults(account: Account) -> Iterator[Defect]:
    """Yield the faults of :mod:`callwright_lab.verify.steps` as defects, if the source keeps enough
    to support them.
    """
    torn = {call.id for _, call, _ in account.trajectory.pairs() if isinstance(call.arguments, str)}
    for found in account.found:
        kind = _AS_FOUND.get(found.kind)
        if kind == "unknown_tool" and account.gold:
            kind = "tool_not_offered"
        if kind is not None and not (kind == "repeated_call" and found.call in torn):
            yield Defect(kind, found.reason, found.step, found.call)


def find_refused_calls(account: Account) -> Iterator[Defect]:
    """Yield what the gate refuses, by kind: missing inputs, unknown arguments, values of a wrong
    kind.
    """
    gate = Gate(account.trajectory.tools)
    for step, call, _, tool in account.calls():
        if tool is None or (isinstance(call.arguments, str) and step in account.cut):
            continue
        verdict = gate.check(call)
        if isinstance(verdict, Refusal):
            # what a reference stands for is of a kind that nobody can know
            known = [v for v in verdict.violations if not _LABEL.search(to_canonical_json(v.got))]
            missing = [v for v in known if v.keyword == "required"]
            if (
                missing and account.transcript.format == "api-bank"
            ):  # its prompts do not say what is required
                continue
            kind: DefectKind = "missing_input" if missing else "wrong_value"
            if known:
                yield Defect(kind, (missing or known)[0].message, step, call.id)
        elif lost := [e.path.removeprefix("/") for e in verdict.edits if e.rule in _LOST]:
            yield Defect(
                "unknown_argument", f"{tool.name} has no argument {', '.join(lost)}", step, call.id
            )


def find_ungrounded_values(account: Account) -> Iterator[Defect]:
    """Values that nothing before their call contains."""
    for step, call, arguments, tool, sources in account.said_before():
        if not account.is_complete(step - 1):
            return
        for key, value in arguments.items():
            for path, name, leaf, part in iter_leaves(key, value, tool.properties.get(key)):
                where = path.removeprefix("/")
                verdict = classify_value(name, leaf, part, sources)
                said = (
                    f"{where} is {to_canonical_json(leaf)}, which nothing before this call contains"
                )
                if isinstance(leaf, str) and (label := _LABEL.search(leaf)):
                    if verdict != "held":
                        yield Defect(
                            "dangling_reference", f"{where} refers to {label[0]}", step, call.id
                        )
                elif verdict == "identifier":
                    yield Defect("identifier_from_nowhere", said, step, call.id)
                elif verdict == "derived" and _is_telling_value(leaf, account.trajectory.query):
                    yield Defect("value_from_nowhere", said, step, call.id)


def _is_telling_value(leaf: object, query: str) -> bool:
    """Return True if a value must come from somewhere: an address, an opaque text, a name or a
    number. A number of the request in another unit does not count. Ordinary words do not count,
    since they may paraphrase the request.
    """
    if isinstance(leaf, bool) or not isinstance(leaf, int | float | str):
        return False
    if isinstance(leaf, str) and not _NUMBER.fullmatch(leaf.strip()):
        return _CONCRETE.fullmatch(leaf.strip()) is not None and not _is_site(leaf, query)
    try:
        number = abs(float(leaf.replace(",", "") if isinstance(leaf, str) else leaf))
    except OverflowError:  # an integer longer than any quantity
        return False
    if number <= 10 or number in _ROUND or 1900 <= number <= 2100 or not math.isfinite(number):
        return False
    said = [
        abs(float(text.replace(",", ""))) for text in _NUMBER.findall(query)
    ] + _parse_spelled_numbers(query)
    return not any(
        value and _is_close(number, value * factor) for value in said for factor in _FACTORS
    )


def _is_site(leaf: str, query: str) -> bool:
    """Return True if an address belongs to a site that the request names: Apple's is
    www.apple.com.
    """
    found = re.match(r"\w+://(?:www\.)?([\w-]+)\.", leaf)
    return (
        found is not None
        and len(found[1]) > 3
        and found[1].lower() in query.lower()
        and "example" not in leaf
    )


def _parse_spelled_numbers(query: str) -> list[float]:
    """Numbers that the request spells out, or writes with a power of ten."""
    counted = [
        float(n) for n, word in enumerate(_WORDS, 1) if re.search(rf"\b{word}\b", query, re.I)
    ]
    return counted + [float(f"{m[1]}e{m[2]}") for m in _POWER.finditer(query)]


def _is_close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-2)


CALL_RULES: tuple[Callable[[Account], Iterator[Defect]], ...] = (
    convert_step_faults,
    find_refused_calls,
    find_ungrounded_values,
)
