from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding.labels import moment_labels, record_labels, text_labels
from callwright.grounding.quantity import find_moments


def names(record: dict[str, object]) -> set[str]:
    return {label for _, label in record_labels(record)}


def test_a_record_goes_by_its_short_texts() -> None:
    assert names({"title": "The Long Way", "genre": "drama"}) == {"long way", "drama"}


def test_it_goes_by_the_numbers_that_identify_it_and_by_no_other_number() -> None:
    assert names({"order_id": 4711, "year": 1999, "price": 12, "open": True}) == {"#4711", "#1999"}


def test_a_list_of_texts_names_it_too() -> None:
    assert names({"tags": ["Red Wine", 7, "Dry"]}) == {"red wine", "dry"}


def test_a_field_that_holds_a_unit_is_no_name() -> None:
    assert names({"currency": "EUR", "unit": "metric", "city": "Oslo"}) == {"oslo"}


def test_addresses_and_long_texts_are_no_names() -> None:
    assert list(text_labels("https://example.org/a")) == []
    assert list(text_labels("someone@example.org")) == []
    assert list(text_labels("word " * 30)) == []


def test_a_day_is_named_with_or_without_its_year() -> None:
    assert list(text_labels("2024-05-24")) == ["@5-24"]
    assert list(moment_labels(find_moments("24 May")[0])) == ["@5-24"]
    assert list(moment_labels(find_moments("10:30")[0])) == []


@given(
    st.dictionaries(
        st.text(max_size=8), st.none() | st.integers() | st.text(max_size=100), max_size=8
    )
)
def test_labels_are_folded_and_never_empty(record: dict[str, object]) -> None:
    assert all(label and label == label.strip() for label in names(record))
