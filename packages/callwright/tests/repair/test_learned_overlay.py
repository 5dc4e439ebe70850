from __future__ import annotations

from typing import Any, Literal

import pydantic
import pytest

from callwright.nouns.types import CheckedCall, Tool, ToolCall
from callwright.repair.gate import Gate
from callwright.repair.learned_overlay import SchemaOverlay, overlay_from_error
from callwright.tools.overlay import OverlayChange

MOVIES = Tool(
    "movies",
    input_schema={
        "type": "object",
        "properties": {
            "genre": {"type": "string"},
            "year": {"type": "string"},
            "page_size": {"type": "integer"},
        },
        "required": ["genre", "year"],
    },
)
GIVEN = {"genre": "Comedy", "year": "2000-2019", "page_size": 500}


@pytest.mark.parametrize(
    ("error", "key", "change", "value"),
    [
        ("Invalid year format - year should be 4 digits.", "year", "pattern", r"^\d{4}$"),
        ("movies() got an unexpected keyword argument 'genre'", "genre", "forbid", None),
        ("Unknown parameter: 'genre'", "genre", "forbid", None),
        ("Additional properties are not allowed ('genre' was unexpected)", "genre", "forbid", None),
        (
            "genre must be one of comedy, drama or horror",
            "genre",
            "enum",
            ["comedy", "drama", "horror"],
        ),
        (
            "Invalid genre. Allowed values are: 'comedy', 'drama'",
            "genre",
            "enum",
            ["comedy", "drama"],
        ),
        ("genre must be an integer: Thriller", "genre", "type", "integer"),
        ("year: value is not a valid integer", "year", "type", "integer"),
        ("missing required parameter 'country'", "country", "require", None),
        ("movies() missing 1 required positional argument: 'country'", "country", "require", None),
        ("'country' is a required property", "country", "require", None),
        (
            "GET /movies answered 400: missing required parameter: country",
            "country",
            "require",
            None,
        ),
        ("country_code is required", "country_code", "require", None),
        ("year must be in YYYY-MM-DD format", "year", "pattern", r"^\d{4}\-\d{2}\-\d{2}$"),
        ("page size must be between 1 and 100", "page_size", "minimum", 1),
        ("page_size must be at most 100", "page_size", "maximum", 100),
        ("there is no 'Comedy'. Did you mean 'Comedies'?", "genre", "enum", ["Comedies"]),
        ("unknown parameter 'genre', expected 'kind'", "genre", "forbid", None),
        ("unknown parameter 'genre', expected 'kind'", "kind", "require", None),
        ("Unexpected field 'genre'; did you mean 'kind'?", "kind", "require", None),
        ("query.kind: Field required", "kind", "require", None),
        (
            "body.kind: Field required; body.genre: Extra inputs are not permitted",
            "genre",
            "forbid",
            None,
        ),
        (
            'unknown year "2000-2019"; did you mean "2000s" or "2010s"?',
            "year",
            "enum",
            ["2000s", "2010s"],
        ),
    ],
)
def test_what_the_error_says_beyond_the_schema_is_found(
    error: str, key: str, change: Any, value: Any
) -> None:
    overlay = overlay_from_error(error, MOVIES, GIVEN)
    assert overlay is not None
    assert OverlayChange(key, change, value) in overlay.changes


@pytest.mark.parametrize(
    "error",
    [
        "",
        "Something went wrong",
        "Internal Server Error",
        "No movies were found",
        "Your subscription is required",
        "Error: field required",
        "Input parameters missing: please provide the user ID",
        "Missing required parameters: please provide the user ID",
        "Did you mean to search? Try again",
        "unknown tool 'film'. Did you mean 'films'?",
        "Not found",
    ],
)
def test_an_error_that_says_nothing_new_gives_no_overlay(error: str) -> None:
    assert overlay_from_error(error, MOVIES, GIVEN) is None


class Wanted(pydantic.BaseModel, extra="forbid"):
    """What a server of FastMCP or FastAPI really takes, where its documentation is old."""

    released: str
    genre: Literal["Fun", "Fear"]
    page_size: int = pydantic.Field(10, le=100)


def pydantic_says() -> pydantic.ValidationError:
    with pytest.raises(pydantic.ValidationError) as raised:
        Wanted.model_validate(GIVEN)
    return raised.value


def as_text(error: pydantic.ValidationError) -> str:
    return f"Error executing tool movies: {error}"


def as_fastapi(error: pydantic.ValidationError) -> str:
    return "; ".join(f"{found['loc'][-1]}: {found['msg']}" for found in error.errors())


@pytest.mark.parametrize("written", [as_text, as_fastapi])
def test_all_that_pydantic_says_is_found(written: Any) -> None:
    overlay = overlay_from_error(written(pydantic_says()), MOVIES, GIVEN)
    assert overlay is not None
    assert set(map(repr, overlay.changes)) == {
        repr(OverlayChange("released", "require")),
        repr(OverlayChange("year", "forbid")),
        repr(OverlayChange("genre", "enum", ["Fun", "Fear"])),
        repr(OverlayChange("page_size", "maximum", 100)),
    }
    fixed = overlay.apply(MOVIES)
    assert set(fixed.properties) == {"released", "genre", "page_size"}


@pytest.mark.parametrize("form", ["integer", "YYYY-MM-DD", "Boolean"])
def test_a_kind_of_value_that_was_expected_is_no_name(form: str) -> None:
    overlay = overlay_from_error(f"unexpected parameter 'year', expected '{form}'", MOVIES, GIVEN)
    assert overlay is None or all(change.change != "require" for change in overlay.changes)


def test_a_name_that_is_suggested_is_no_value_of_the_old_one() -> None:
    overlay = overlay_from_error("unknown parameter 'genre'; did you mean 'kind'?", MOVIES, GIVEN)
    assert overlay is not None
    assert {*overlay.apply(MOVIES).properties} == {"kind", "year", "page_size"}


def test_applying_leaves_the_tool_itself_alone() -> None:
    before = MOVIES.digest
    overlay = SchemaOverlay(
        (OverlayChange("year", "pattern", "^x$"), OverlayChange("lang", "require")),
        "lang is missing",
    )
    changed = overlay.apply(MOVIES)
    assert MOVIES.digest == before
    assert changed.properties["year"] == {"type": "string", "pattern": "^x$"}
    assert "lang" in changed.required
    assert "lang is missing" in changed.properties["lang"]["description"]


def test_a_forbidden_key_can_no_longer_be_given() -> None:
    changed = SchemaOverlay((OverlayChange("genre", "forbid"),), "").apply(MOVIES)
    assert "genre" not in changed.properties
    assert "genre" not in changed.required
    assert changed.input_schema["additionalProperties"] is False


def test_options_of_a_number_are_numbers() -> None:
    changed = SchemaOverlay((OverlayChange("page_size", "enum", ["10", "20"]),), "").apply(MOVIES)
    assert changed.properties["page_size"]["enum"] == [10, 20]


def test_the_overlay_is_recorded_as_edits_of_its_own_rule() -> None:
    overlay = SchemaOverlay((OverlayChange("year", "pattern", "^x$"),), "")
    (edit,) = overlay.edits(MOVIES)
    assert (edit.path, edit.rule) == ("/year", "overlay")
    assert edit.before == {"type": "string"}
    assert edit.after == {"type": "string", "pattern": "^x$"}


def test_a_huge_error_is_read_in_no_time() -> None:
    overlay_from_error("must be one of " + "a, " * 100_000, MOVIES, GIVEN)
    overlay_from_error("'" * 100_000 + " is required", MOVIES, GIVEN)


def test_a_form_of_date_that_the_tool_wants_takes_the_place_of_the_documented_one() -> None:
    dated = Tool(
        "rate", "", {"type": "object", "properties": {"date": {"type": "string", "format": "date"}}}
    )
    compact = overlay_from_error(
        "date must be given as YYYYMMDD, without dashes", dated, {"date": "2025-06-20"}
    )
    assert compact is not None
    assert compact.apply(dated).properties["date"] == {
        "type": "string",
        "pattern": r"^\d{4}\d{2}\d{2}$",
    }
    verdict = Gate([compact.apply(dated)]).check(ToolCall("c", "rate", {"date": "20250620"}))
    assert isinstance(verdict, CheckedCall), "no value could have been of both forms"
    dashed = overlay_from_error("date: use YYYY-MM-DD", dated, {"date": "20 June"})
    assert dashed is not None
    assert dashed.apply(dated).properties["date"]["format"] == "date", "what agrees stays"
