"""The notations of references: the core's own, and those that packages register."""

from __future__ import annotations

import pytest

from callwright.nouns.plugins import load_plugins
from callwright.nouns.types import ToolCall
from callwright.repair.ordering.notations import GROUP, OWN_NOTATIONS, reference_notations
from callwright.repair.ordering.references import find_call_references


def test_the_notations_are_the_core_s_and_the_registered_ones_by_rank() -> None:
    registered = [row for rows in load_plugins(GROUP) for row in rows]
    found = reference_notations()
    assert {row.name for row in found} == {row.name for row in (*OWN_NOTATIONS, *registered)}
    assert [row.rank for row in found] == sorted({row.rank for row in found}), "no two of one rank"


@pytest.mark.parametrize(
    ("text", "notation", "label", "field"),
    [
        ("$1", "numbered", "1", ()),
        ("${2.price}", "numbered", "2", ("price",)),
        ("{call_1.id}", "braces", "call_1", ("id",)),
        ("{{call_1.a.b}} too", "braces", "call_1", ("a", "b")),
    ],
)
def test_the_core_s_own_are_references(
    text: str, notation: str, label: str, field: tuple[str, ...]
) -> None:
    calls = [
        ToolCall("call_1", "f", {}),
        ToolCall("call_2", "g", {}),
        ToolCall("call_3", "h", {"a": text}),
    ]
    (found,) = find_call_references(calls, [])
    assert (found.notation, found.label, found.field) == (notation, label, field)


def test_every_pattern_finds_nothing_without_its_sign() -> None:
    for row in reference_notations():
        for pattern in row.patterns:
            assert {"label", "field"} <= set(pattern.groupindex)
            assert not pattern.search("plain words and 12 numbers, 3 USD")
