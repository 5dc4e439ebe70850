from __future__ import annotations

from typing import Any

import pytest

from callwright.gateway.exposure import ExposureSettings, SearchExposure
from callwright.gateway.session.exposure import Answer, Meant
from callwright.jsontext import parse
from tests.gateway.exposure.offered import make_catalog

CATALOG = make_catalog(
    [
        ("mail", "send_mail", "Send a mail to somebody"),
        ("weather", "get_forecast", "The forecast of the weather"),
    ]
)
SEARCHED = ExposureSettings("search")


def text_of(answer: object) -> str:
    assert isinstance(answer, Answer)
    text: str = answer.result["content"][0]["text"]
    return text


def test_a_search_answers_with_definitions_that_can_be_called() -> None:
    answer = SearchExposure(SEARCHED).resolve("search_tools", {"query": "weather"}, CATALOG)
    told = parse(text_of(answer))
    assert told["tools"][0]["name"] == "weather__get_forecast"
    assert told["searched"] == 2


def test_a_call_through_call_tool_is_the_call_of_that_tool_with_those_arguments() -> None:
    exposure = SearchExposure(SEARCHED)
    given = {"name": "mail__send_mail", "arguments": {"to": "a"}}
    assert exposure.resolve("call_tool", given, CATALOG) == Meant("mail__send_mail", {"to": "a"})


def test_a_hidden_tool_can_be_called_by_its_own_name() -> None:
    meant = SearchExposure(SEARCHED).resolve("mail__send_mail", {"to": "a"}, CATALOG)
    assert meant == Meant("mail__send_mail", {"to": "a"})


def test_arguments_that_are_none_are_refused_in_words() -> None:
    exposure = SearchExposure(SEARCHED)
    calls: list[tuple[str, Any]] = [("search_tools", None), ("call_tool", "[]")]
    for name, arguments in calls:
        answer = exposure.resolve(name, arguments, CATALOG)
        assert isinstance(answer, Answer)
        assert answer.result["isError"] is True
        assert "needs" in text_of(answer)


def test_a_server_that_is_none_is_answered_with_those_that_are() -> None:
    asked = {"query": "x", "server": "post"}
    said = text_of(SearchExposure(SEARCHED).resolve("search_tools", asked, CATALOG))
    assert said == "there is no server 'post'; there are: mail, weather"


def test_nothing_is_searched_where_all_tools_are_listed_until_somebody_asks() -> None:
    opened = []

    def open_search() -> Any:
        opened.append(1)
        raise AssertionError("not wanted")

    exposure = SearchExposure(ExposureSettings(), open_search)
    assert len(exposure.list_tools(CATALOG)) == 2
    assert exposure.describe(CATALOG) == ""
    exposure.prepare(CATALOG)
    assert not opened


def test_another_catalogue_is_listed_and_searched_anew() -> None:
    exposure = SearchExposure(SEARCHED)
    exposure.resolve("search_tools", {"query": "weather"}, CATALOG)
    other = make_catalog([("bank", "transfer", "Transfer money")])
    assert "bank (1)" in exposure.describe(other)
    told = parse(text_of(exposure.resolve("search_tools", {"query": "transfer money"}, other)))
    assert [row["name"] for row in told["tools"]] == ["bank__transfer"]


def test_a_server_s_own_tool_of_that_name_has_another() -> None:
    from callwright.gateway.session.catalog import build_catalog, read_listing
    from callwright.gateway.session.policy import ServerPolicy

    raw = {"name": "call_tool", "description": "x", "inputSchema": {"type": "object"}}
    catalog = build_catalog([read_listing(ServerPolicy(name="own", prefix=""), [raw])])
    exposure = SearchExposure(SEARCHED)
    assert [one["name"] for one in exposure.list_tools(catalog)] == ["search_tools", "call_tool"]
    assert exposure.resolve("call_tool", {"name": "own__call_tool"}, catalog) == Meant(
        "own__call_tool", {}
    )


@pytest.mark.parametrize(
    "arguments",
    [
        '{"name": "mail__send", "arguments": {"to": "a"}}',
        {"tool_name": "mail__send", "arguments": {"to": "a"}},
        {"name": "mail__send", "args": {"to": "a"}},
    ],
)
def test_calls_of_the_gateway_s_own_tools_are_repaired_too(arguments: Any) -> None:
    catalog = make_catalog([("mail", "send", "Send a mail")])
    meant = SearchExposure(SEARCHED).resolve("call_tool", arguments, catalog)
    assert meant == Meant("mail__send", {"to": "a"})
