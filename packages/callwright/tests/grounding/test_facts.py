from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding import facts_of
from callwright.grounding.facts import render_content
from callwright.nouns.types import ToolResult, to_canonical_json

CONTENT = {
    "city": "Málaga",
    "stations": [
        {"name": "Norte", "height_m": 12, "open": True, "seen": "2024-05-24"},
        {"name": "Sur", "height_m": 40, "open": False, "seen": "2024-05-25"},
    ],
}
FACTS = facts_of(
    "How high are 2 stations on 24 May?",
    [ToolResult("r1", "stations", {"limit": "2", "id": 7}, CONTENT)],
)


def test_a_column_is_the_same_field_over_sibling_records() -> None:
    heights = [c for c in FACTS.columns.values() if c[0].leaf.key == "height_m"]
    assert [[f.leaf.value for f in c] for c in heights] == [[12, 40]]


def test_numbers_are_found_by_range() -> None:
    assert [f.leaf.value for f in FACTS.between(11, 13)] == [12]
    assert FACTS.between(13, 39) == []


def test_what_was_asked_is_known_as_numbers_and_moments() -> None:
    assert [n.value for n in FACTS.query_numbers] == [2]
    assert [(m.day, m.month) for m in FACTS.query_moments] == [(24, 5)]


def test_arguments_are_numbers_also_where_they_were_sent_as_text_and_nothing_else_is() -> None:
    assert set(FACTS.argument_numbers) == {2.0, 7.0}
    odd = {"a": "²", "b": "--1", "c": True, "d": 10**400, "e": "1.2.3", "f": "-.5", "g": "nan"}
    assert facts_of("q", [ToolResult("r1", "t", odd, 1)]).argument_numbers == (-0.5,)


def test_switches_are_the_fields_that_are_true_or_false() -> None:
    assert {k: [leaf.value for leaf in v] for k, v in FACTS.switches.items()} == {
        "open": [True, False]
    }


def test_weekdays_lead_to_the_days_that_fall_on_them() -> None:
    assert FACTS.weekdays[4] == {"@5-24"}


def test_words_are_known_without_accents_and_in_their_families() -> None:
    assert FACTS.knows("malaga")
    assert FACTS.knows("station")
    assert not FACTS.knows("harbour")


def test_a_quote_of_a_leaf_stands_in_its_result() -> None:
    assert all(FACTS.quote(leaf) in FACTS.texts["r1"] for leaf in FACTS.leaves)
    heights = [leaf for leaf in FACTS.leaves if leaf.key == "height_m"]
    assert FACTS.quote(heights[1]) == '"height_m":40'


def test_what_lies_beyond_the_index_is_still_found_as_whole_words() -> None:
    facts = facts_of("q", [ToolResult("r1", "t", {}, "word " * 60_000 + "zebra 4711")])
    assert facts.cut
    assert facts.stands("4711")
    assert not facts.stands("471")


@given(
    st.recursive(
        st.integers() | st.text(max_size=8),
        lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=5), x, max_size=3),
    )
)
def test_content_is_rendered_as_it_is_canonically_written(content: object) -> None:
    assert render_content(content) == (
        content if isinstance(content, str) else to_canonical_json(content)
    )  # type: ignore[arg-type]


def test_a_name_that_is_written_as_one_word_is_known_as_its_words_too() -> None:
    known = facts_of("Is getPumpState up?", [ToolResult("r1", "HTTPServer", {}, "on")]).folded
    for words in ("getpumpstate", "get pump state", "httpserver", "http server"):
        assert f" {words} " in known


@pytest.mark.parametrize(
    ("content", "minutes"),
    [({"utc_offset": 7200}, 120), ({"zone": "UTC+05:30"}, 330), ({"offset": -3}, -180)],
)
def test_the_offsets_that_results_name_are_known_in_every_form(
    content: dict[str, Any], minutes: int
) -> None:
    assert facts_of("q", [ToolResult("r1", "lookup", {}, content)]).offsets == (0, minutes)


@pytest.mark.parametrize(
    ("query", "said", "result"),
    [
        ("Today is Wednesday, 2026-03-11. When is yoga?", (), {}),
        ("Wann ist Yoga?", ("Sei knapp.", "Heute ist der 11. März 2026."), {}),
        ("瑜伽是什么时候？", ("今天是2026年3月11日。",), {}),
        ("When is yoga?", (), {"current_date": "2026-03-11"}),
    ],
)
def test_what_day_it_is_is_told_by_a_text_or_a_field(
    query: str, said: tuple[str, ...], result: dict[str, Any]
) -> None:
    known = facts_of(query, [ToolResult("r1", "lookup", {}, result)], said=said)
    assert known.todays == {date(2026, 3, 11)}


def test_another_day_is_not_taken_for_today() -> None:
    result = ToolResult("r1", "get_current_weather", {}, {"date": "2026-03-11"})
    assert facts_of("Yoga is on 2026-03-13.", [result]).todays == frozenset()


def test_results_of_lists_without_entries_alone_are_void() -> None:
    assert facts_of("q", [ToolResult("r1", "t", {}, {"orders": []})]).is_void
    assert not facts_of("q", [ToolResult("r1", "t", {}, {"orders": [], "total": 0})]).is_void
    assert not facts_of("q", []).is_void
