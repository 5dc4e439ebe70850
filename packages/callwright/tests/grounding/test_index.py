from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding.facts import Facts, Leaf
from callwright.grounding.index import MAX_LEAVES, facts_of, unpack_content
from callwright.nouns.errors import Failure
from callwright.nouns.types import ToolResult


def index(content: Any, **arguments: Any) -> Facts:
    return facts_of("q", [ToolResult("r1", "lookup", arguments, content)])


def leaf(facts: Facts, value: Any) -> Leaf:
    return next(x for x in facts.leaves if x.value == value)


def test_a_scalar_stands_under_its_path_with_its_unit() -> None:
    found = leaf(index({"legs": [{"distance_km": 12}]}), 12)
    assert (found.where, found.key, found.unit) == ("legs/0/distance_km", "distance_km", "km")


def test_a_record_hands_its_names_to_all_it_holds() -> None:
    facts = index({"city": "Oslo", "weather": {"temp_c": 4, "wind": {"kmh": 20}}})
    assert "oslo" in leaf(facts, 4).labels
    assert "oslo" in leaf(facts, 20).labels


def test_siblings_do_not_share_their_names() -> None:
    facts = index([{"name": "Norte", "n": 1}, {"name": "Sur", "n": 2}])
    assert "norte" in leaf(facts, 1).labels
    assert "norte" not in leaf(facts, 2).labels


def test_what_was_asked_names_what_came_back() -> None:
    assert "oslo" in leaf(index({"temp": 4}, city="Oslo"), 4).labels


def test_keys_of_a_map_of_records_are_names() -> None:
    facts = index({"e-101": {"price": 3, "stock": 5}, "e-117": {"price": 4, "stock": 6}})
    assert "e 101" in leaf(facts, 3).labels
    assert 2 in [n for n, _ in facts.lists]


def test_a_table_of_columns_and_rows_is_read_as_records() -> None:
    facts = index({"columns": ["city", "people"], "rows": [["Oslo", 700_000], ["Bergen", 290_000]]})
    assert "bergen" in leaf(facts, 290_000).labels
    assert leaf(facts, 290_000).key == "people"


@pytest.mark.parametrize(
    "content", ['{"a": [1, 2]}', "{'a': [1, 2]}", '"{\\"a\\": [1, 2]}"', {"a": [1, 2]}]
)
def test_json_inside_a_string_is_unpacked(content: Any) -> None:
    assert unpack_content(unpack_content(content)) == {"a": [1, 2]}


def test_text_that_is_no_json_stays_text() -> None:
    assert unpack_content("{open} sea") == "{open} sea"


def test_sentences_of_a_long_text_are_read_apart() -> None:
    facts = index(
        "The old harbour of Brenn has 14 berths in use. The new harbour of Ostvik has 30 berths in"
        " use."
    )
    parts = {f.number.value: f.leaf.part for f in facts.figures if f.number is not None}
    assert "Brenn" in parts[14]
    assert "Ostvik" in parts[30]


def test_every_array_is_counted() -> None:
    assert sorted(n for n, _ in index({"a": [1, 2, 3], "b": {"c": []}}).lists) == [0, 3]


def test_times_and_durations_are_read_from_what_apis_send() -> None:
    facts = index({"created_at": 1_716_528_900, "duration": "PT1H20M", "flight_duration": "01:25"})
    assert [
        (f.moment.year, f.moment.month) for f in facts.moment_figures if f.moment and f.moment.year
    ] == [(2024, 5)]
    assert {80.0, 85.0} <= {
        f.number.value for f in facts.figures if f.number is not None and f.unit == "min"
    }


def test_a_failed_call_has_no_figures() -> None:
    facts = facts_of("q", [ToolResult("r1", "t", {}, None, Failure("timeout", "late after 30 s"))])
    assert facts.figures == []


def test_what_is_indexed_is_bounded_and_every_result_has_its_share() -> None:
    facts = facts_of("q", [ToolResult(f"r{i}", "t", {}, list(range(10_000))) for i in (1, 2)])
    assert facts.cut
    assert len(facts.leaves) <= MAX_LEAVES
    assert {x.result for x in facts.leaves} == {"r1", "r2"}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda x: st.lists(x, max_size=4) | st.dictionaries(st.text(max_size=6), x, max_size=4),
        max_leaves=12,
    )
)
def test_indexing_is_deterministic_and_never_raises(content: Any) -> None:
    one, two = index(content), index(content)
    assert [x.where for x in one.leaves] == [x.where for x in two.leaves]
    assert one.vocabulary == two.vocabulary


def test_texts_in_any_language_are_read_as_it_writes_dates_times_and_numbers() -> None:
    facts = index("Montags offen 9–18 Uhr. Lieferung am 14. März um 7.30 Uhr. Versand 4,90 €.")
    moments = [f.moment for f in facts.figures if f.moment is not None]
    assert {m.hour for m in moments} >= {9, 18, 7}
    assert (3, 14) in {(m.month, m.day) for m in moments}
    assert 4.9 in [f.number.value for f in facts.figures if f.number is not None]


def test_an_amount_in_cents_is_one_of_its_currency() -> None:
    (figure,) = index({"price_cents": 1999, "currency": "EUR"}).figures
    assert figure.number is not None
    assert (round(figure.number.value, 2), figure.unit) == (19.99, "EUR")
