"""What an index holds of a tool."""

from __future__ import annotations

from dataclasses import replace

from callwright.nouns.types import Tool
from callwright.retrieval.document import build_document, document_digest
from tests.retrieval.conftest import tool


def test_a_document_has_name_twice_description_and_parameter_names() -> None:
    made = build_document(tool("bookHotel", "Reserve a room.", "hotel_id", source="travel"))
    assert made.terms.split() == ["book", "hotel", "book", "hotel", "reserv", "room", "hotel", "id"]
    assert (made.name, made.parent) == ("bookHotel", "travel")


def test_what_is_said_of_inputs_counts_once() -> None:
    schema = {
        "type": "object",
        "properties": {
            "genre": {"description": "Kind of film", "enum": ["horror", "film noir"]},
            "colis": {"examples": ["CA107308006SI"], "default": ""},
            "page": {"type": "object", "properties": {"size": {"default": 20}}},
            "tags": {"type": "array", "items": {"properties": {"tag": {}}}},
        },
    }
    terms = build_document(Tool("films", "", schema)).terms.split()
    assert [t for t in terms if terms.count(t) == 1 and t not in schema["properties"]]
    assert {"kind", "horror", "noir", "si", "size", "20", "tag"} <= set(terms)
    assert terms.count("horror") == terms.count("noir") == 1
    assert terms.count("film") == 3  # twice as the name, once as said


def test_what_is_said_of_inputs_has_a_bound() -> None:
    schema = {"properties": {"a": {"enum": [f"word{i} " * 9 for i in range(900)]}}}
    schema["properties"] |= {f"p{i}": {"description": f"one{i} two{i} three{i}"} for i in range(90)}
    assert len(build_document(Tool("t", "", schema)).terms.split()) < 420


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
