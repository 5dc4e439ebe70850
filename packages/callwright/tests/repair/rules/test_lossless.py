"""The gate's rules, one by one."""

from __future__ import annotations

import pytest

from callwright.nouns.errors import Violation
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall
from callwright.repair.draft import Drafts
from callwright.repair.pipeline import run_rules, run_without_questions
from callwright.repair.rules.lossless import LOSSLESS_RULES, read_object, schema_context

TOOL = Tool(
    "book",
    "",
    {
        "type": "object",
        "properties": {"nights": {"type": "integer"}, "room": {"type": "string"}},
        "required": ["nights"],
    },
)


@pytest.mark.parametrize(
    ("arguments", "rules", "after"),
    [
        ('{"nights": 2}', [], {"nights": 2}),
        ('"{\\"nights\\": 2}"', ["unwrap_json"], {"nights": 2}),
        ('[{"nights": 2}]', ["list_to_single"], {"nights": 2}),
        ("{'nights': 2,}", ["mend_json"], {"nights": 2}),
        ({"nights": "2"}, ["text_to_number"], {"nights": 2}),
        ({"Nights": "2"}, ["rename_key", "text_to_number"], {"nights": 2}),
        ({"nights": 2, "colour": "red"}, ["drop_unknown"], {"nights": 2}),
        ({"colour": "red"}, [], {"colour": "red"}),
    ],
)
def test_every_rule_in_its_turn(
    arguments: JsonObject | str, rules: list[str], after: JsonObject
) -> None:
    drafts = Drafts([ToolCall("1", "book", arguments)])
    run_without_questions(run_rules(LOSSLESS_RULES, drafts, schema_context(TOOL)))
    assert drafts[0].call.arguments == after
    assert [edit.rule for edit in drafts.render_edits()] == rules


def test_arguments_that_are_no_object_close_the_draft() -> None:
    drafts = Drafts([ToolCall("1", "book", '{"nights": ')])
    run_without_questions(run_rules(LOSSLESS_RULES, drafts, schema_context(TOOL)))
    assert drafts[0].is_closed
    assert [found.rule for found in drafts[0].errors] == ["truncated"]


@pytest.mark.parametrize(("value", "kind"), [(3, "not_json"), ("[1, 2]", "not_json")])
def test_what_is_no_object_is_a_violation(value: Json, kind: str) -> None:
    found = read_object(value)
    assert isinstance(found, Violation)
    assert found.kind == kind


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("{'amount': 12.50,}", 12.5),
        ("{'amount': 1_000,}", 1_000),
        ("{'amount': +5, 'note': 'caf\\u00e9 2'}", 5),
        ("Call 7: {'amount': 5} as of 2025", 5),
        ("{'amount': 5 000}", None),
        ("{'amount': 5 * 3}", None),
        ("{'amount': 5+3}", None),
    ],
)
def test_no_digit_of_broken_json_is_lost(text: str, amount: float | None) -> None:
    found = read_object(text)
    assert isinstance(found, Violation) == (amount is None)
    assert isinstance(found, Violation) or found[0]["amount"] == amount
