"""Which tool a name means: clothes, prefixes, slips, and meaning only where nothing can be
written.
"""

from __future__ import annotations

import pytest

from callwright.language.tokens import squash_name, squash_text
from callwright.nouns.types import READ, WRITE, Tool
from callwright.repair.rules import names


def tools(*called: str) -> list[Tool]:
    return [Tool(name) for name in called]


def meant(name: str, *called: str) -> tuple[str, str]:
    found, _ = names.match_name(name, {}, tools(*called))
    return (found.tool.name, found.rule) if found else ("", "")


@pytest.mark.parametrize("name", ["getWeather", "GET-WEATHER", "get weather", "Get.Weather"])
def test_case_and_separators_do_not_count(name: str) -> None:
    assert meant(name, "get_weather", "get_time") == ("get_weather", names.SPELLING)


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("functions.get_weather", "get_weather"),
        ("mcp__server__get_weather", "get_weather"),
        ("get_weather_tool", "get_weather"),
        ("get_weather_v2", "get_weather"),
        ("predict_profit", "investment.predict_profit"),
        ("get_weather", "get_weather_api"),
    ],
)
def test_a_prefix_more_or_less_is_the_same_tool(name: str, tool: str) -> None:
    assert meant(name, tool, "cancel_order") == (tool, names.PREFIX)


def test_a_lost_verb_may_be_another_tool() -> None:
    assert meant("user_account", "delete_user_account") == ("", "")


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("undo_delete_file", "delete_file"),
        ("preview_delete_file", "delete_file"),
        ("simulate_payment", "payment"),
        ("delete_product", "delete_project"),
        ("reactivate_user", "deactivate_user"),
    ],
)
def test_a_write_is_not_called_under_the_name_of_another_tool(name: str, tool: str) -> None:
    found, _ = names.match_name(name, {}, [Tool(tool, effects=WRITE)])
    assert found is None


@pytest.mark.parametrize(
    "name", ["functions.payment", "bank__payment", "my_payment", "payment_v2", "payment_tool"]
)
def test_a_namespace_before_the_name_of_a_write_is_none_of_its_words(name: str) -> None:
    found, _ = names.match_name(name, {}, [Tool("payment", effects=WRITE)])
    assert found is not None


@pytest.mark.parametrize(
    ("query", "arguments", "tools"),
    [
        ("Delete contract 5", {}, []),
        ("", {"contract_id": "5"}, []),
        ("", {}, [Tool("show_contract", effects=READ)]),
    ],
)
def test_a_word_that_others_say_too_is_no_slip_of_the_name_of_a_write(
    query: str, arguments: dict[str, str], tools: list[Tool]
) -> None:
    for effects, is_found in ((WRITE, False), (READ, True)):
        offered = [Tool("delete_contact", effects=effects), *tools]
        found, _ = names.match_name("delete_contract", arguments, offered, query)
        assert (found is not None) is is_found
    found, _ = names.match_name(
        "delete_contrct", arguments, [Tool("delete_contract", effects=WRITE)]
    )
    assert found is not None


def test_two_tools_that_fit_are_none() -> None:
    assert meant("search", "music.search", "video.search") == ("", "")


def test_a_unique_small_slip_is_repaired() -> None:
    assert meant("get_wether", "get_weather", "cancel_order") == ("get_weather", names.SLIP)


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("get_user", "set_user"),
        ("step_1_run", "step_2_run"),
        ("import_file", "export_file"),
        ("lock_door", "unlock_door"),
        ("enable_alarm", "disable_alarm"),
    ],
)
def test_a_verb_a_number_or_an_opposite_is_no_slip(name: str, tool: str) -> None:
    assert meant(name, tool) == ("", "")


def test_meaning_never_picks_a_tool_that_may_write() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    reads = Tool("get_weather", "Current weather forecast of a city.", schema, effects=READ)
    writes = Tool("get_weather", "Current weather forecast of a city.", schema)
    other = Tool(
        "book_flight",
        "Book a flight.",
        {"type": "object", "properties": {"flight": {"type": "string"}}},
    )
    found, _ = names.match_name(
        "fetch_forecast", {"city": "Oslo"}, [reads, other], "weather forecast for Oslo"
    )
    assert found is not None
    assert found.rule == names.MEANING
    refused, likely = names.match_name(
        "fetch_forecast", {"city": "Oslo"}, [writes, other], "weather forecast for Oslo"
    )
    assert refused is None
    assert likely is not None
    assert likely.tool is writes


def test_no_tools_no_match() -> None:
    assert names.match_name("anything", {}, []) == (None, None)


def test_names_keep_their_accents_which_words_of_texts_do_not() -> None:
    assert squash_name("Wetter_Zürich") == "wetterzürich"
    assert squash_text("Wetter_Zürich") == "wetterzurich"
