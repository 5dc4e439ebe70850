from __future__ import annotations

from callwright.gateway.session.exposure import ExposeAll, Meant
from tests.gateway.session.offers import catalog, tool


def test_all_tools_are_listed_and_a_call_means_what_it_names() -> None:
    made = catalog(tool("forecast"), tool("storm"))
    shown = ExposeAll()
    assert [one["name"] for one in shown.list_tools(made)] == [
        "weather__forecast",
        "weather__storm",
    ]
    assert shown.describe(made) == ""
    assert shown.resolve("weather__storm", {"a": 1}, made) == Meant("weather__storm", {"a": 1})
