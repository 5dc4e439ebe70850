"""A constraint needs a refusal, an example an acceptance; whatever disagrees is drift, and is
reported only.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.jsontext.pointer import follow_references
from callwright.nouns.types import CheckedCall, Json, JsonObject, Tool, ToolCall
from callwright.repair.gate import Gate
from callwright.schema.compiled import compile_schema
from callwright.tools.overlay import OverlayChange, apply_changes
from callwright_lab.verify.observed import Seen, observe_calls
from callwright_lab.verify.places import list_places
from callwright_lab.verify.samples import sample_values
from tests.verify import nested

TOOL = Tool(
    "rooms",
    "Rooms.",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "limit": {"type": "integer"},
            "kind": {"type": "string", "enum": ["single", "double"]},
            "when": {"type": "string", "description": "day of arrival"},
            "free": {},
            "api_key": {"type": "string"},
        },
        "required": ["city"],
    },
)


def ok(reply: Json = None, **arguments: Json) -> Seen:
    return Seen(
        arguments,
        "functional_success",
        proof="called",
        reply=reply if reply is not None else {"n": 1},
    )


def refused(said: str, **arguments: Json) -> Seen:
    return Seen(arguments, "parameter_mismatch", "tool_error", "refused", said)


def changes(*seen: Seen, tool: Tool = TOOL) -> dict[tuple[str, str], OverlayChange]:
    return {(c.key, c.change): c for c in observe_calls(tool, seen).changes}


def test_accepted_values_are_examples_and_a_bare_parameter_is_told_of_them() -> None:
    made = changes(
        ok(city="Oslo", when="1 May"), ok(city="Rome"), refused("no such city", city="Xyz")
    )
    assert made["city", "examples"].value == ["Oslo", "Rome"]
    assert made["city", "description"].value == 'e.g. "Oslo", "Rome"'
    assert "2 calls that answered" in made["city", "examples"].because
    assert ("when", "description") not in made, "what is described stays as it is described"


def test_credentials_options_and_what_is_long_make_no_examples() -> None:
    made = changes(ok(city="x" * 99, kind="single", api_key="k-123"))
    assert not any(change == "examples" for _, change in made)


def test_the_sample_of_any_text_makes_no_example() -> None:
    for value in sample_values("message", {"type": "string", "minLength": 9}, date(2026, 11, 22)):
        made = changes(ok(city=value), ok(city=value))
        assert not any(
            key == "city" and change in ("examples", "description") for key, change in made
        ), value
    assert changes(ok(city="example"), ok(city="Oslo"))["city", "examples"].value == ["Oslo"]


def test_a_range_is_taken_from_what_the_tool_said_when_it_refused() -> None:
    said = "limit must be between 1 and 50"
    made = changes(ok(city="Oslo", limit=50), refused(said, city="Oslo", limit=99))
    assert (made["limit", "minimum"].value if ("limit", "minimum") in made else None) is None, (
        "99 did not break it"
    )
    assert made["limit", "maximum"].value == 50
    assert said in made["limit", "maximum"].because


def test_what_was_accepted_speaks_against_a_constraint() -> None:
    made = changes(
        ok(city="Oslo", limit=80), refused("limit must be at most 50", city="Oslo", limit=99)
    )
    assert ("limit", "maximum") not in made


def test_acceptance_alone_makes_no_range() -> None:
    assert not {change for _, change in changes(ok(city="Oslo", limit=1), ok(city="Oslo", limit=50))} & {
        "minimum", "maximum", "enum", "pattern",
    }  # fmt: skip


def test_a_type_is_known_from_two_values_and_documented_ones_are_not_touched() -> None:
    assert (
        changes(ok(city="Oslo", free="a"), ok(city="Oslo", free="b"))["free", "type"].value
        == "string"
    )
    assert ("free", "type") not in changes(ok(city="Oslo", free="a"), ok(city="Oslo", free=1))
    assert ("free", "type") not in changes(ok(city="Oslo", free="a"))
    assert ("city", "type") not in changes(ok(city="Oslo"), ok(city="Rome"))


def test_a_default_is_what_replies_repeat_where_nothing_was_given() -> None:
    made = changes(
        ok({"limit": 10, "n": 0}, city="Oslo"), ok({"limit": 5, "n": 0}, city="Oslo", limit=5)
    )
    assert made["limit", "default"].value == 10
    never_sent = changes(ok({"limit": 10}, city="Oslo"))
    assert (
        "limit",
        "default",
    ) not in never_sent, "a member of the same name need not be the parameter"
    other = changes(ok({"limit": 10}, city="Oslo"), ok({"limit": 10}, city="Oslo", limit=5))
    assert ("limit", "default") not in other, "it repeats something else"


def test_a_default_that_the_tool_refuses_goes_and_what_it_fills_in_takes_its_place() -> None:
    cls = {"type": "string", "enum": ["economy", "premium"], "default": "economy"}
    fare = Tool(
        "fare", "", {"type": "object", "properties": {"id": {"type": "string"}, "cls": cls}}
    )
    no = refused("cls must be one of: standard, premium", id="1", cls="economy")
    found = observe_calls(fare, [no, ok({"cls": "premium"}, id="1", cls="premium")])
    assert "default" not in apply_changes(fare, found.changes).properties["cls"]
    assert any("refuses the documented default" in line for line in found.drift)
    echoed = observe_calls(
        fare, [no, ok({"cls": "premium"}, id="1", cls="premium"), ok({"cls": "standard"}, id="2")]
    )
    assert apply_changes(fare, echoed.changes).properties["cls"]["default"] == "standard"


def test_another_form_of_days_than_the_words_of_the_documentation_say_is_drift() -> None:
    day = Tool(
        "ships",
        "On a day (DD/MM/YYYY).",
        {"type": "object", "properties": {"day": {"type": "string"}}},
    )
    no = refused("day must be YYYY-MM-DD", day="01/12/2026")
    (line,) = observe_calls(day, [no, ok(day="2026-12-01")]).drift
    assert line.startswith("takes 'day' as YYYY-MM-DD, documented as DD/MM/YYYY")
    assert observe_calls(replace(day, description="YYYY-MM-DD"), [no]).drift == ()


def test_an_output_schema_is_inferred_only_where_none_is_declared() -> None:
    assert changes(ok({"id": 1}, city="Oslo"))["", "output_schema"].value["properties"] == {
        "id": {"type": "integer"}
    }
    assert changes(ok('{"id": 1}', city="Oslo"))["", "output_schema"].value["properties"] == {
        "id": {"type": "integer"}
    }
    assert ("", "output_schema") not in changes(ok("plain", city="Oslo"))
    declared = replace(TOOL, output_schema={"type": "object"})
    assert ("", "output_schema") not in changes(ok({"id": 1}, city="Oslo"), tool=declared)


def test_a_tool_that_disagrees_with_its_documentation_is_reported_and_not_repaired() -> None:
    said = [
        refused("missing required parameter: 'country'", city="Oslo"),
        refused("unknown parameter 'when'", city="Oslo", when="x"),
        refused("'limit' is required", city="Oslo"),
        refused("kind must be one of: suite, flat", city="Oslo", kind="single"),
    ]
    found = observe_calls(TOOL, said)
    assert [line.partition(": ")[0] for line in found.drift] == [
        "asks for 'country', which is not documented",
        "does not know 'when', which is documented",
        "requires 'limit', documented as optional",
        "has other options for 'kind' than are documented",
    ]
    assert {(c.key, c.change) for c in found.changes} == {("kind", "enum")}
    made = apply_changes(TOOL, found.changes)
    assert made.properties.keys() == TOOL.properties.keys()
    assert made.required == TOOL.required
    assert made.properties["kind"]["enum"] == [
        "suite",
        "flat",
    ], "a stale list is replaced by the tool's own"


def test_a_reply_of_another_shape_than_is_declared_is_drift() -> None:
    declared = replace(
        TOOL, output_schema={"type": "object", "properties": {"id": {"type": "integer"}}}
    )
    assert observe_calls(declared, [ok({"id": 1}, city="Oslo")]).drift == ()
    assert (
        "otherwise than documented"
        in observe_calls(declared, [ok({"id": "one"}, city="Oslo")]).drift[0]
    )


values = st.fixed_dictionaries(
    {"city": st.sampled_from(["Oslo", "Rome", ""])},
    optional={
        "limit": st.integers(0, 99),
        "kind": st.sampled_from(["single", "double"]),
        "free": st.integers() | st.text(),
    },
)
errors = st.sampled_from(
    ["limit must be between 1 and 50", "'free' is required", "city must be a string", "free must be an integer",
     "kind must be one of: double, twin", "limit: expected 3 digits", "bad request"]
)  # fmt: skip


@given(st.lists(st.tuples(values, st.none() | errors), max_size=6))
def test_whatever_answered_is_let_through_by_what_was_learned(
    calls: list[tuple[JsonObject, str | None]],
) -> None:
    seen = [refused(said, **given) if said else ok(**given) for given, said in calls]
    gate = Gate([apply_changes(TOOL, observe_calls(TOOL, seen).changes)])
    for one in seen:
        if one.works:
            assert isinstance(gate.check(ToolCall("", "rooms", one.arguments)), CheckedCall)


def test_a_parameter_without_a_description_is_told_of_the_form_and_the_extent_of_what_was_accepted() -> (
    None
):
    made = changes(ok(city="10:00", limit=2), ok(city="12:30", limit=40))
    assert made["city", "description"].value == 'a time of day, HH:MM, e.g. "10:00", "12:30"'
    assert made["limit", "description"].value == "tried with 2 to 40"
    assert ("limit", "description") not in changes(ok(city="Oslo", limit=2))


def test_what_a_refusal_said_that_no_keyword_can_becomes_a_hint_of_a_tool_that_works() -> None:
    said = "no rooms are known in 'OSL': try the name of a city"
    made = changes(
        ok(city="Oslo"), refused(said, city="OSL"), refused("limit must be at most 5", limit=9)
    )
    assert made["", "description"].value == f'Rooms. It refuses with "{said}".'
    twice = changes(
        ok(city="Oslo"), refused(said, city="OSL"), refused(said.replace("OSL", "X"), city="X")
    )
    assert twice["", "description"].value == f'Rooms. It refuses with "{said}".', (
        "they differ in a value alone"
    )
    assert ("", "description") not in changes(
        ok(city="Oslo"), refused("there is no 'OSL'", city="OSL")
    ), "no advice"
    assert ("", "description") not in changes(refused(said, city="OSL")), (
        "of a tool that never answered"
    )


def test_what_cannot_hold_beside_the_documentation_is_drift_and_no_change() -> None:
    day = {"type": "string", "format": "date"}
    tool = Tool(
        "rates",
        "Rates.",
        {"type": "object", "properties": {"day": day, "n": {"type": "integer", "minimum": 5}}},
    )
    said = [
        refused("day must be given as YYYYMMDD", day="2026-01-01"),
        refused("n must be at most 3", n=9),
    ]
    found = observe_calls(tool, said)
    assert [(c.key, c.change) for c in found.changes if c.key] == []
    assert found.drift[0].startswith("wants another form of 'day' than the documented date")


def test_a_tool_that_says_it_is_replaced_has_drifted() -> None:
    (line,) = observe_calls(TOOL, [refused("rooms was renamed to lodgings", city="Oslo")] * 2).drift
    assert line.startswith("says that it is replaced")


def names(schema: Any, root: JsonObject, depth: int = 0) -> Any:
    """The parameters of a schema at every depth, with what is required, references followed."""
    schema = follow_references(schema, root)
    if depth > 6:
        return None
    schema = schema if isinstance(schema, dict) else {}
    properties = schema.get("properties", {})
    return (
        {name: names(part, root, depth + 1) for name, part in properties.items()},
        sorted(schema.get("required", ())),
        names(schema["items"], root, depth + 1) if "items" in schema else None,
        [names(one, root, depth + 1) for one in schema.get("anyOf", ())],
    )


@settings(max_examples=150)
@given(st.data())
def test_at_no_depth_a_parameter_comes_or_goes_and_everything_said_was_seen(
    data: st.DataObject,
) -> None:
    tool = data.draw(nested.TOOLS)
    seen = data.draw(nested.calls(tool))
    found = observe_calls(tool, seen)
    made = apply_changes(tool, found.changes)
    assert (made.name, made.required) == (tool.name, tool.required)
    assert names(made.input_schema, made.input_schema) == names(
        tool.input_schema, tool.input_schema
    )
    known = {place.key: place for place in list_places(tool)}
    for change in (change for change in found.changes if change.key):
        accepted = [
            value for s in seen if s.works for value in known[change.key].values(s.arguments)
        ]
        sent = [value for s in seen for value in known[change.key].values(s.arguments)]
        if change.change == "examples":
            before = known[change.key].schema.get("examples", [])
            assert all(one in accepted for one in change.value if one not in before)
        elif change.change == "default":
            assert any(change.value in known[change.key].values(s.reply) for s in seen if s.works)
        elif change.change in ("enum", "minimum", "maximum", "pattern"):
            holds = compile_schema({change.change: change.value}).accepts
            assert all(map(holds, accepted)), "nothing that was accepted is forbidden"
            assert not all(map(holds, sent)), "something that it forbids was refused"
        elif change.change == "type":
            assert sent, "a type is that of values that were sent"


BOOKING = Tool(
    "book",
    "Book.",
    {
        "type": "object",
        "properties": {
            "guest": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "age": {"type": "integer"},
                    "class": {"type": "string"},
                },
                "required": ["name"],
            },
            "nights": {
                "type": "array",
                "items": {"type": "object", "properties": {"day": {"type": "string"}}},
            },
        },
    },
)


def booked(said: str = "", reply: Any = None, **guest: Any) -> Seen:
    arguments = {"guest": guest, "nights": [{"day": "2026-11-22"}, {"day": "2026-11-23"}]}
    if said:
        return Seen(arguments, "parameter_mismatch", "tool_error", said, said)
    return Seen(arguments, "functional_success", reply=reply or {"guest": guest})


def test_inside_objects_and_arrays_the_same_is_observed_as_of_parameters() -> None:
    seen = [
        booked(name="Ann", age=30),
        booked(name="Bob", age=41, **{"class": "first"}),
        booked("guest.age must be between 18 and 99", name="Kim", age=7),
        booked("guest -> class: must be one of first, second", name="Kim", **{"class": "third"}),
        booked(reply={"guest": {"name": "Lee", "age": 18, "class": "second"}}, name="Lee", age=18),
    ]
    found = {(c.key, c.change): c for c in observe_calls(BOOKING, seen).changes}
    assert found["guest/properties/age", "minimum"].value == 18
    assert (
        "guest/properties/age",
        "maximum",
    ) not in found, "7 was not refused for being more than 99"
    assert found["guest/properties/class", "enum"].value == ["first", "second"]
    assert found["guest/properties/class", "default"].value == "second"
    assert found["guest/properties/name", "examples"].value == ["Ann", "Bob", "Lee"]
    assert found["nights/items/properties/day", "examples"].value == ["2026-11-22", "2026-11-23"]
    assert found["nights/items/properties/day", "description"].value.startswith("a day, YYYY-MM-DD")
    made = apply_changes(BOOKING, [c for c in found.values() if c.key])
    assert made.properties["guest"]["properties"]["age"]["minimum"] == 18
    assert made.properties["guest"]["required"] == ["name"]


def test_a_part_that_is_asked_for_is_drift_of_the_part_and_not_an_unknown_parameter() -> None:
    seen = [booked("guest.age is required", name="Ann")]
    assert observe_calls(BOOKING, seen).drift == (
        "requires 'guest.age', documented as optional: \"guest.age is required\"",
    )
    seen = [booked("'guest.email' is required", name="Ann")]
    assert "asks for 'email', which is not documented" in observe_calls(BOOKING, seen).drift[0]
