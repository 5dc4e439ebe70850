"""Plan: calls that can be made of a request, or the input that nobody gave."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from callwright.agent.probing.arguments import Draft, Lacking, draft_calls
from callwright.agent.probing.values import Request, Value
from callwright.nouns.types import Tool

TEXT = {"type": "string"}
FLIGHT = Request(
    "Find me a one-way flight from San Francisco to New York for next Tuesday.", date(2026, 11, 22)
)


def tool(
    required: dict[str, Any], optional: dict[str, Any] | None = None, name: str = "search_flights"
) -> Tool:
    schema = {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
    }
    return Tool(name, "Search flights.", schema)


def test_a_call_is_planned_from_what_was_said() -> None:
    found = draft_calls(
        tool({"origin": TEXT, "destination": TEXT, "date": {**TEXT, "format": "date"}}), FLIGHT
    )
    arguments = {"origin": "San Francisco", "destination": "New York", "date": "2026-11-24"}
    assert found == [Draft(arguments)]


def test_a_mandatory_code_that_nobody_said_is_a_certain_lack_with_its_proof() -> None:
    found = draft_calls(tool({"origin": TEXT, "carrier_code": TEXT}), FLIGHT)
    assert isinstance(found, Lacking)
    assert (found.missing, found.certain) == (("carrier_code",), True)
    assert "'carrier_code'" in found.proof


def test_where_a_code_or_a_number_was_said_that_no_other_input_took_a_lack_is_not_certain() -> None:
    parcel = Request("Has CP558201934KE arrived, which weighs 60% less?", date(2026, 11, 22))
    found = draft_calls(
        tool({"weight": {"type": "integer"}, "carrier_code": TEXT}, name="track"), parcel
    )
    assert isinstance(found, Lacking)
    assert not found.certain
    owned = draft_calls(tool({"api_key": TEXT}, name="track"), parcel)
    assert isinstance(owned, Lacking)
    assert owned.certain, "no number that was said is a key that its caller must own"


def test_a_missing_key_is_named_as_one() -> None:
    found = draft_calls(tool({"origin": TEXT, "api_key": TEXT}), FLIGHT)
    assert isinstance(found, Lacking)
    assert "a key that nobody gave" in found.proof


def test_free_text_that_nobody_said_is_a_lack_but_no_certain_one() -> None:
    found = draft_calls(tool({"origin": TEXT, "destination": TEXT, "airline": TEXT}), FLIGHT)
    assert isinstance(found, Lacking) or "airline" in found[0].guessed
    said = Request("From San Francisco to New York", date(2026, 11, 22))
    found = draft_calls(tool({"origin": TEXT, "destination": TEXT, "airline": TEXT}), said)
    assert found == Lacking(("airline",), False)


def test_what_another_tool_gave_fills_what_was_not_said() -> None:
    given = {"carrier_code": [Value("UA", True, "find_carrier")]}
    found = draft_calls(tool({"origin": TEXT, "carrier_code": TEXT}), FLIGHT, given)
    assert isinstance(found, list)
    assert found[0].arguments == {"origin": "San Francisco", "carrier_code": "UA"}
    assert found[0].given_by == (("carrier_code", "find_carrier"),)


def test_what_was_said_stands_before_what_was_given_unless_the_tool_did_not_take_it() -> None:
    given = {"origin": [Value("SFO", True, "find_airport")]}
    said, chained = (
        draft_calls(tool({"origin": TEXT}), FLIGHT, given, chained=c) for c in (False, True)
    )
    assert isinstance(said, list)
    assert isinstance(chained, list)
    assert (said[0].arguments["origin"], chained[0].arguments["origin"]) == ("San Francisco", "SFO")


def test_a_guess_is_marked_and_has_a_second_best() -> None:
    request = Request("weather in oslo or maybe bergen", date(2026, 11, 22))
    found = draft_calls(tool({"city": TEXT}, name="get_weather"), request)
    assert isinstance(found, list)
    assert all(draft.guessed == ("city",) for draft in found)
    assert len({draft.arguments["city"] for draft in found}) == len(found) == 2


def test_an_object_is_made_of_what_its_members_need() -> None:
    inner = {"type": "object", "properties": {"email": TEXT, "note": TEXT}, "required": ["email"]}
    request = Request("Look up ann@example.org", date(2026, 11, 22))
    found = draft_calls(tool({"person": inner}), request)
    assert isinstance(found, list)
    assert found[0].arguments == {"person": {"email": "ann@example.org"}}


def test_an_optional_parameter_is_given_where_the_request_states_it() -> None:
    found = draft_calls(
        tool({"origin": TEXT}, {"cabin": {**TEXT, "enum": ["economy", "business"]}}), FLIGHT
    )
    assert isinstance(found, list)
    assert "cabin" not in found[0].arguments
    stated = Request("A business flight from Oslo to Rome", date(2026, 11, 22))
    found = draft_calls(
        tool({"origin": TEXT}, {"cabin": {**TEXT, "enum": ["economy", "business"]}}), stated
    )
    assert isinstance(found, list)
    assert found[0].arguments["cabin"] == "business"


def test_a_tool_without_parameters_is_called_without_any() -> None:
    assert draft_calls(tool({}), FLIGHT) == [Draft({})]


TWO = Request('Find the artist Madredeus. Give me a synonym of "petrichor".', date(2026, 11, 22))


def test_of_a_request_for_two_things_a_tool_takes_what_is_said_where_it_is_spoken_of() -> None:
    artist = Tool("find_artist", "Find an artist by name.", tool({"name": TEXT}).input_schema)
    synonym = Tool("synonyms", "A synonym of a word.", tool({"word": TEXT}).input_schema)
    for one, key, value in ((artist, "name", "Madredeus"), (synonym, "word", "petrichor")):
        found = draft_calls(one, TWO)
        assert isinstance(found, list)
        assert found[0].arguments == {key: value}


def test_what_is_said_for_another_thing_is_no_more_than_a_guess() -> None:
    whois = Tool("whois", "Who registered a domain.", tool({"domain": TEXT}).input_schema)
    found = draft_calls(
        whois,
        Request('Who registered the domain? Translate "thank you" please.', date(2026, 11, 22)),
    )
    assert isinstance(found, Lacking) or found[0].guessed == ("domain",)


@pytest.mark.parametrize(
    "query",
    [
        "Welche Züge fahren morgen früh nach Bergen?",
        "¿Qué trenes salen mañana hacia Bergen?",
        "明天早上有哪些火车去卑尔根？",
        "ما هي القطارات المتجهة غدا إلى بيرغن؟",
    ],
)
def test_in_a_language_that_is_not_read_only_a_missing_key_is_certain(query: str) -> None:
    request = Request(query, FLIGHT.today)
    lack = draft_calls(tool({"station_id": TEXT}), request)
    assert isinstance(lack, Lacking)
    assert not lack.certain
    lack = draft_calls(tool({"api_key": TEXT}), request)
    assert isinstance(lack, Lacking)
    assert lack.certain
