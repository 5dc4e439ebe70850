from __future__ import annotations

from callwright.gateway.session.catalog import build_catalog, read_listing
from callwright.nouns.types import READ
from tests.gateway.session.offers import CITY, catalog, policy, tool

READING = {"readOnlyHint": True, "title": "Forecast"}


def test_a_definition_is_offered_as_its_server_gave_it_but_for_its_name() -> None:
    raw = tool("forecast", description="Tomorrow.", outputSchema={"type": "object"}, icons=[1])
    made = catalog(raw, trusted=True)
    (offer,) = made
    assert offer.to_wire() == {**raw, "name": "weather__forecast"}
    assert (offer.reference, offer.server, offer.name) == (
        "weather:forecast",
        "weather",
        "forecast",
    )
    assert made.find("weather__forecast") is offer
    assert made.find("forecast") is None


def test_what_an_untrusted_server_says_of_its_tools_loosens_nothing_in_a_client_either() -> None:
    raw = tool("forecast", annotations=READING)
    (untrusted,) = catalog(raw)
    assert untrusted.to_wire()["annotations"] == {
        "title": "Forecast",
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
    }
    assert untrusted.tool.effects.may_write
    (trusted,) = catalog(raw, trusted=True)
    assert trusted.to_wire()["annotations"] == READING
    assert not trusted.tool.effects.may_write


def test_the_user_s_own_word_on_effects_is_believed() -> None:
    (offer,) = catalog(tool("forecast"), effects={"fore*": "read"})
    assert offer.tool.effects == READ
    assert offer.to_wire()["annotations"]["readOnlyHint"] is True


def test_a_schema_that_cannot_be_used_for_checks_costs_the_checks_and_not_the_tool() -> None:
    remote = {"type": "object", "properties": {"a": {"$ref": "https://example.org/a.json"}}}
    made = catalog(tool("odd", remote), tool("forecast"))
    assert [offer.name for offer in made] == ["odd", "forecast"]
    odd = made.find("weather__odd")
    assert odd is not None
    assert odd.to_wire()["inputSchema"] == remote
    assert odd.tool.input_schema["type"] == "object"
    assert any("passed on unchecked" in problem for problem in made.problems)


def test_a_tool_without_a_name_is_left_out_and_said_to_be() -> None:
    made = catalog({"inputSchema": CITY, "name": ""}, tool("forecast"))
    assert [offer.name for offer in made] == ["forecast"]
    assert any("left out" in problem for problem in made.problems)


def test_denied_and_blocked_tools_are_known_with_the_reason() -> None:
    listing = read_listing(
        policy(deny=["storm"]), [tool("forecast"), tool("storm")], {"rain": "it has changed"}
    )
    made = build_catalog([listing])
    assert [offer.name for offer in made] == ["forecast"]
    assert made.hidden["weather__rain"] == "it has changed"
    assert '"deny"' in made.hidden["weather__storm"]


def test_a_name_nearby_is_found_also_without_its_prefix() -> None:
    made = catalog(tool("forecast"), tool("forecast_hourly"))
    assert made.list_near("forecast")[0] == "weather__forecast"
    assert "weather__forecast" in made.list_near("weather__forcast")
    assert made.list_near("send_mail") == []


def test_servers_with_equal_tools_are_told_apart() -> None:
    listings = [read_listing(policy(name), [tool("read")]) for name in ("a", "b")]
    made = build_catalog(listings)
    assert list(made.offers) == ["a__read", "b__read"]
    offered = made.as_offered()
    assert (offered["b__read"].source, offered["b__read"].name) == ("b", "read")


def test_a_tool_that_waits_for_approval_leaves_its_name_to_nobody() -> None:
    ours = read_listing(policy("a", prefix=""), [], {"read": "its definition changed"})
    theirs = read_listing(policy("b", prefix=""), [tool("read")])
    made = build_catalog([ours, theirs])
    assert list(made.offers) == ["b__read"]
    assert made.hidden == {"a__read": "its definition changed"}
    denied = read_listing(policy("a", prefix="", deny=["read"]), [tool("read")])
    assert list(build_catalog([denied, theirs]).offers) == ["read"], "the user's own choice"


def test_a_tool_may_write_unless_somebody_says_that_it_reads() -> None:
    assert next(iter(catalog(tool("forecast")))).may_write
    assert not next(iter(catalog(tool("forecast", annotations=READING)))).may_write
    assert not next(iter(catalog(tool("forecast"), effects={"*": "read"}))).may_write


def test_annotations_that_are_our_own_are_believed_and_a_write_needs_approval_all_the_same() -> (
    None
):
    reads, writes = catalog(
        tool("forecast", annotations=READING), tool("order", annotations={}), vouched=True
    )
    assert not reads.tool.effects.may_write
    assert reads.to_wire()["annotations"] == READING
    assert (writes.tool.effects.may_write, writes.tool.trusted) == (True, False)


def test_a_pattern_that_names_no_tool_is_said_to() -> None:
    patterns = {"approve": ["forcast"], "deny": ["storm"], "pinned": ["fore*"]}
    made = read_listing(policy(effects={"*_mail": "write"}, **patterns), [tool("forecast")])
    assert [said.split(",")[0] for said in made.problems] == [
        "weather: \"deny\" names 'storm'",
        "weather: \"approve\" names 'forcast'",
        "weather: \"effects\" names '*_mail'",
    ]
