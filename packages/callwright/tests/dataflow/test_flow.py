"""Who can feed whom: by names, places and descriptions, never by a bare type."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callwright.dataflow import flow
from callwright.nouns.types import Tool


def tool(
    name: str,
    inputs: dict[str, str] | None = None,
    outputs: dict[str, str] | None = None,
    about: str = "",
) -> Tool:
    """A tool whose inputs (all required) and outputs are given as name -> description."""
    spec = {k: {"type": "string", "description": v} for k, v in (inputs or {}).items()}
    out = {k: {"type": "string", "description": v} for k, v in (outputs or {}).items()}
    return Tool(
        name,
        about,
        {"type": "object", "properties": spec, "required": list(spec)},
        {"type": "object", "properties": out} if outputs is not None else None,
    )


def test_names_are_split_into_plain_words() -> None:
    assert flow.split_words("SearchMovieIDs") == ("search", "movie", "id")
    assert flow.split_words("get_flight_offers_v2") == ("get", "flight", "offer", "v", "2")
    assert flow.split_words("cities, addresses and news") == ("city", "address", "and", "news")
    assert flow.split_words("lat/lng") == ("latitude", "longitude")


def test_the_id_of_a_search_feeds_the_named_id_of_a_detail() -> None:
    search = Tool(
        "SearchMovie",
        output_schema={
            "type": "object",
            "properties": {
                "results": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"id": {"type": "integer"}}},
                }
            },
        },
    )
    detail = tool("GetMovieCredit", {"movie_id": ""})
    best = flow.find_best_link(search, detail)
    assert best is not None
    assert (best.output.text, best.input.text) == ("results.id", "movie_id")
    assert best.score >= 0.8
    assert best.reason == "needs 'movie_id', which 'results.id' of SearchMovie provides"


def test_the_id_of_something_else_does_not_feed_it() -> None:
    people = tool("SearchPeople", outputs={"id": ""})
    detail = tool("GetMovieCredit", {"movie_id": ""})
    assert flow.find_best_link(people, detail, floor=0.5) is None


def test_a_bare_type_is_no_reason() -> None:
    a = tool("alpha", outputs={"height": ""})
    b = tool("beta", {"colour": ""})
    assert flow.find_links(a, b, floor=0.0) == []


def test_two_general_names_prove_little() -> None:
    a = tool("get_weather", outputs={"name": ""})
    b = tool("send_invoice", {"name": ""})
    assert all(x.score <= 0.3 for x in flow.find_links(a, b, floor=0.0))


def test_a_tool_without_output_schema_is_judged_by_its_name_at_less_than_full_score() -> None:
    bare = Tool("search_movie")
    said = tool("search_movie", outputs={"movie_id": ""})
    wanted = tool("rate", {"movie_id": ""})
    guessed, declared = flow.find_best_link(bare, wanted), flow.find_best_link(said, wanted)
    assert guessed is not None
    assert declared is not None
    assert 0.3 < guessed.score < declared.score
    assert "what search_movie returns" in guessed.reason


def test_an_output_that_repeats_a_required_input_provides_nothing() -> None:
    echo = tool("get_policy", {"hotel_id": ""}, {"hotel_id": "", "policy": ""})
    wanted = tool("get_reviews", {"hotel_id": ""})
    assert flow.find_best_link(echo, wanted, floor=0.5) is None


def test_a_description_that_names_the_producer_is_a_strong_reason() -> None:
    lookup = tool("Search_Attraction_Location", {"query": ""}, {"products": ""})
    wanted = tool(
        "Search_Attractions",
        {"id": "`id` can be retrieved from `api/v1/attraction/searchLocation`"},
    )
    best = flow.find_best_link(lookup, wanted, required=True)
    assert best is not None
    assert best.told
    assert best.score == flow.TOLD
    assert "its description says comes from Search_Attraction_Location" in best.reason


def test_incompatible_types_count_for_less() -> None:
    wanted = tool("b", {"invoice_amount": ""})
    fits = Tool(
        "a", output_schema={"type": "object", "properties": {"invoice_amount": {"type": "string"}}}
    )
    clashes = Tool(
        "a", output_schema={"type": "object", "properties": {"invoice_amount": {"type": "boolean"}}}
    )
    good, bad = flow.find_best_link(fits, wanted), flow.find_best_link(clashes, wanted)
    assert good is not None
    assert bad is not None
    assert good.score > bad.score


def test_verbs_are_sorted_into_kinds() -> None:
    assert flow.find_verb_kind("searchFlights") == "find"
    assert flow.find_verb_kind("book_flight") == "act"
    assert flow.find_verb_kind("cancelOrder") == "remove"
    assert flow.find_verb_kind("weather") == ""


def test_odd_schemas_are_read_without_complaint() -> None:
    odd = Tool(
        "odd",
        input_schema={
            "type": "object",
            "properties": {"a": True, "b": {"type": ["null", "string"]}},
        },
    )
    assert [f.text for f in flow.get_profile(odd).inputs] == ["a", "b"]
    assert flow.get_profile(Tool("none", input_schema={"properties": []})).inputs == ()


def test_a_huge_schema_is_cut() -> None:
    many = Tool("many", input_schema={"properties": {f"field_{i}": {} for i in range(5_000)}})
    assert len(flow.get_profile(many).inputs) == flow.MAX_FIELDS


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.text(max_size=20), json_values, json_values)
def test_no_schema_breaks_it_and_scores_stay_within_bounds(name: str, a: object, b: object) -> None:
    first = Tool(
        name or "a",
        input_schema={"type": "object", "properties": a},
        output_schema={"properties": b},
    )  # type: ignore[dict-item]
    second = Tool("b", input_schema={"type": "object", "properties": b, "required": a})  # type: ignore[dict-item]
    assert all(0.0 <= x.score <= 1.0 for x in flow.find_links(first, second, floor=0.0))
