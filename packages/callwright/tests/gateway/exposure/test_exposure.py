from __future__ import annotations

from callwright.gateway.exposure import (
    CALL_TOOL,
    LIMIT,
    SEARCH_TOOLS,
    ExposureSettings,
    expose_tools,
)
from callwright.gateway.session.catalog import GatewayTool
from callwright.jsontext import write
from tests.gateway.exposure.offered import make_offer


def offer(number: int, server: str = "many", *, pinned: bool = False) -> GatewayTool:
    return make_offer(server, f"tool_{number:04}", "d", pinned=pinned)


def names(exposed: object) -> list[str]:
    return [definition["name"] for definition in exposed.definitions]  # type: ignore[attr-defined]


def test_up_to_the_limit_all_tools_are_listed_and_nothing_is_announced() -> None:
    exposed = expose_tools([offer(n) for n in range(LIMIT)], ExposureSettings())
    assert len(exposed.definitions) == LIMIT
    assert not exposed.hidden
    assert exposed.announcement == ""
    assert not exposed.has_search


def test_above_the_limit_two_tools_and_the_pinned_ones_are_listed() -> None:
    offers = [*(offer(n) for n in range(LIMIT)), offer(7, "few", pinned=True)]
    exposed = expose_tools(offers, ExposureSettings())
    assert names(exposed) == [SEARCH_TOOLS, CALL_TOOL, "few__tool_0007"]
    assert exposed.hidden == {"many": LIMIT}
    assert exposed.has_search


def test_hidden_tools_are_announced_with_their_number_and_servers_where_the_model_reads_it() -> (
    None
):
    offers = [*(offer(n) for n in range(50)), offer(1, "few")]
    exposed = expose_tools(offers, ExposureSettings())
    assert "51 tools of this gateway are not listed" in exposed.announcement
    assert "few (1), many (50)" in exposed.announcement
    assert exposed.announcement in exposed.definitions[0]["description"]


def test_pinned_lists_only_those_and_still_announces_the_others() -> None:
    offers = [offer(1, pinned=True), offer(2)]
    exposed = expose_tools(offers, ExposureSettings("pinned"))
    assert names(exposed) == ["many__tool_0001"]
    assert "1 tool of this gateway is not listed" in exposed.announcement
    assert "--expose pinned" in exposed.announcement


def test_search_can_be_wanted_for_few_tools_and_all_for_many() -> None:
    few = expose_tools([offer(1)], ExposureSettings("search"))
    many = expose_tools([offer(n) for n in range(500)], ExposureSettings("all"))
    assert names(few) == [SEARCH_TOOLS, CALL_TOOL]
    assert len(many.definitions) == 500


def test_tools_stand_in_the_order_of_the_configuration_and_servers_in_that_of_their_names() -> None:
    offers = [offer(2, "b"), offer(1, "b"), offer(1, "a")]
    exposed = expose_tools(offers, ExposureSettings("all"))
    assert names(exposed) == ["b__tool_0002", "b__tool_0001", "a__tool_0001"]
    assert "a (1), b (2)" in expose_tools(offers, ExposureSettings("search")).announcement


def test_2500_tools_of_200_servers_cost_less_than_2000_tokens() -> None:
    offers = [offer(n, f"a-server-with-a-long-name-{n % 200:03}") for n in range(2_500)]
    exposed = expose_tools(offers, ExposureSettings())
    # No tokenizer makes more than one token of three characters of English and JSON.
    assert len(write(list(exposed.definitions))) / 3 <= 2_000
    assert "and 160 more" in exposed.announcement
