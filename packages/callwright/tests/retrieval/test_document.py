"""What an index holds of a tool."""

from __future__ import annotations

from dataclasses import replace

from callwright.retrieval.document import build_document, document_digest
from tests.retrieval.conftest import tool


def test_a_document_has_name_twice_description_and_parameter_names() -> None:
    made = build_document(tool("bookHotel", "Reserve a room.", "hotel_id", source="travel"))
    assert made.terms.split() == ["book", "hotel", "book", "hotel", "reserv", "room", "hotel", "id"]
    assert (made.name, made.parent) == ("bookHotel", "travel")


def test_the_text_for_an_encoder_is_a_sentence() -> None:
    assert (
        build_document(tool("book_hotel", "Reserve\n a room.", "nights")).text
        == "book hotel: Reserve a room. Takes nights."
    )
    assert build_document(tool("book_hotel")).text == "book hotel."


def test_the_digest_changes_with_whatever_the_document_shows() -> None:
    one = tool("book_hotel", "Reserve a room.", "nights", source="travel")
    others = [
        replace(one, name="hotel"),
        replace(one, description="Reserve a bed."),
        replace(one, source="elsewhere"),
        tool("book_hotel", "Reserve a room.", "guests", source="travel"),
    ]
    assert document_digest(one) == document_digest(replace(one))
    assert len({document_digest(t) for t in [one, *others]}) == 5


def test_a_manual_for_a_description_is_cut() -> None:
    assert len(build_document(tool("t", "word " * 10_000)).text) < 2_100
