from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from callwright.nouns.types import CheckedCall, Json, JsonObject, Tool, ToolCall, ToolResult
from callwright.repair.draft import Draft, Drafts
from callwright.repair.gate import Gate, Refusal
from callwright.repair.provenance.grounding import (
    classify_value,
    copies_example,
    ground_arguments,
    is_identifier,
)
from callwright.repair.provenance.sources import ProvenanceIndex
from tests.places import DATA

TEXT = {"type": "string"}


def grounded(
    arguments: JsonObject,
    tool: Tool,
    sources: ProvenanceIndex,
    accepts: Callable[[JsonObject], bool],
) -> Draft:
    """The draft of a call after its values were judged."""
    drafts = Drafts([ToolCall("", tool.name, arguments)])
    change = ground_arguments(drafts[0], tool, sources, accepts)
    if change is not None:
        drafts.apply(change)
    return drafts[0]


def check(
    arguments: JsonObject, properties: JsonObject, required: list[str], sources: ProvenanceIndex
) -> CheckedCall | Refusal:
    tool = Tool(
        "t", input_schema={"type": "object", "properties": properties, "required": required}
    )
    return Gate([tool]).check(ToolCall("c", "t", arguments), sources)


def test_an_invented_identifier_is_a_violation() -> None:
    verdict = check(
        {"user_id": "u-4711"}, {"user_id": TEXT}, ["user_id"], ProvenanceIndex("show my orders")
    )
    assert isinstance(verdict, Refusal)
    (found,) = verdict.violations
    assert (found.kind, found.keyword, found.path, found.got) == (
        "ungrounded",
        "identifier",
        "/user_id",
        "u-4711",
    )


@pytest.mark.parametrize("query", ["orders of u-4711", "orders of U 4711", "orders of user u4711?"])
def test_an_identifier_from_the_query_passes(query: str) -> None:
    verdict = check({"user_id": "u-4711"}, {"user_id": TEXT}, ["user_id"], ProvenanceIndex(query))
    assert isinstance(verdict, CheckedCall)
    assert verdict.edits == verdict.warnings == ()


def test_the_only_fitting_value_of_the_results_is_filled_in() -> None:
    sources = ProvenanceIndex(
        "orders of Ada",
        results=[ToolResult("r1", "find_user", {}, {"user": {"id": "u-9", "age": 36}})],
    )
    verdict = check({"user_id": "u-4711"}, {"user_id": TEXT}, ["user_id"], sources)
    assert isinstance(verdict, CheckedCall)
    assert verdict.arguments == {"user_id": "u-9"}
    assert [(e.path, e.before, e.after, e.rule) for e in verdict.edits] == [
        ("/user_id", "u-4711", "u-9", "fill_from_result")
    ]


def test_two_fitting_values_are_not_chosen_from() -> None:
    sources = ProvenanceIndex(
        "orders", results=[ToolResult("r1", "users", {}, [{"user_id": "u-1"}, {"user_id": "u-2"}])]
    )
    verdict = check({"user_id": "u-4711"}, {"user_id": TEXT}, ["user_id"], sources)
    assert isinstance(verdict, Refusal)


def test_an_id_of_another_thing_does_not_fit() -> None:
    sources = ProvenanceIndex(
        "orders", results=[ToolResult("r1", "find_team", {}, {"team": {"id": "t-1"}})]
    )
    assert isinstance(
        check({"user_id": "u-4711"}, {"user_id": TEXT}, ["user_id"], sources), Refusal
    )


@pytest.mark.parametrize(
    "value",
    [
        "<user_id>",
        "YOUR_API_KEY",
        "$1",
        "{{id}}",
        "${TOKEN}",
        "your-token",
        "[USER ID]",
        "placeholder",
        "string",
        "id_here",
    ],
)
def test_a_placeholder_is_a_violation_unless_the_user_wrote_it(value: str) -> None:
    refused = check({"note": value}, {"note": TEXT}, ["note"], ProvenanceIndex("do it"))
    assert isinstance(refused, Refusal)
    assert refused.violations[0].keyword == "placeholder"
    assert isinstance(
        check({"note": value}, {"note": TEXT}, ["note"], ProvenanceIndex(f"do it with {value}")),
        CheckedCall,
    )


def test_a_placeholder_for_an_optional_key_is_left_out() -> None:
    verdict = check(
        {"a": "x", "key": "YOUR_API_KEY"},
        {"a": TEXT, "key": TEXT},
        ["a"],
        ProvenanceIndex("take x"),
    )
    assert isinstance(verdict, CheckedCall)
    assert verdict.arguments == {"a": "x"}
    assert [e.rule for e in verdict.edits] == ["drop_unsourced"]


@pytest.mark.parametrize("filler", ["", "None", "n/a", "unknown"])
def test_a_filler_for_an_optional_key_is_left_out(filler: str) -> None:
    verdict = check(
        {"a": "x", "b": filler}, {"a": TEXT, "b": TEXT}, ["a"], ProvenanceIndex("take x")
    )
    assert isinstance(verdict, CheckedCall)
    assert verdict.arguments == {"a": "x"}


def test_a_filler_that_the_schema_offers_stays() -> None:
    part = {"type": "string", "description": "Any text, or 'none' for all."}
    verdict = check({"b": "none"}, {"b": part}, [], ProvenanceIndex("take x"))
    assert isinstance(verdict, CheckedCall)
    assert verdict.arguments == {"b": "none"}


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("NYC", TEXT),
        (14, {"type": "integer"}),
        ("2024-05-04", {"type": "string", "format": "date"}),
        ("metric", {"enum": ["metric", "imperial"]}),
        (True, {"type": "boolean"}),
    ],
)
def test_what_could_be_derived_is_only_a_warning(value: Json, part: JsonObject) -> None:
    verdict = check(
        {"k": value}, {"k": part}, [], ProvenanceIndex("New York in two weeks, from tomorrow")
    )
    assert isinstance(verdict, CheckedCall)
    assert verdict.arguments == {"k": value}
    assert [w.kind for w in verdict.warnings] == ["unsourced"]


def test_schema_defaults_options_spoken_of_and_listed_codes_are_sources() -> None:
    properties: JsonObject = {
        "unit": {"type": "string", "default": "km"},
        "mode": {"enum": ["fast", "slow"]},
        "city_id": {"type": "integer", "description": "1 = Bangkok, 2 = Chiang Mai"},
        "include_map": {"type": "boolean"},
    }
    arguments = {"unit": "km", "mode": "fast", "city_id": 2, "include_map": True}
    verdict = check(arguments, properties, [], ProvenanceIndex("fast, in Chiang Mai, with a map"))
    assert isinstance(verdict, CheckedCall)
    assert verdict.arguments == arguments
    assert verdict.warnings == ()


def test_identifiers_inside_lists_are_judged_too() -> None:
    part = {"type": "array", "items": TEXT}
    assert isinstance(
        check(
            {"user_ids": ["a-11", "b-22"]},
            {"user_ids": part},
            ["user_ids"],
            ProvenanceIndex("a-11"),
        ),
        Refusal,
    )


@pytest.mark.parametrize(
    ("key", "value", "verdict"),
    [
        ("user_id", "7", True),
        ("userId", 7, True),
        ("id2", "x", True),
        ("movieid", "tt12", True),
        ("policy_code", "PP2023-001", True),
        ("note", "6f1c2c1e-0d4b-4a53-9a3e-3a4d0f6f5b11", True),
        ("note", "6045e2f44e1b233199a5e77a", True),
        ("country_code", "FR", False),
        ("language", "en", False),
        ("paid", "yes", False),
        ("grid", "x", False),
        ("title", "Blade Runner 2049", False),
        ("user_id", "the user named Ada", False),
        ("price_id", 1.5, False),
    ],
)
def test_what_counts_as_an_identifier(key: str, value: Json, verdict: bool) -> None:
    assert is_identifier(key, value) is verdict


def test_a_value_is_judged_by_itself() -> None:
    sources = ProvenanceIndex("red")
    assert classify_value("color", "red", {}, sources) == "held"
    assert classify_value("color", "blue", {}, sources) == "derived"
    assert classify_value("color_id", "b-1", {}, sources) == "identifier"
    pressed = {"type": "number", "description": "0 is not pressed, 1 fully"}
    assert classify_value("pedal", 1.0, pressed, sources) == "held", "the description's 1"
    assert classify_value("pedal", 1.5, pressed, sources) == "derived"


def test_no_edit_breaks_the_schema() -> None:
    tool = Tool("t", input_schema={"properties": {"b": TEXT}, "minProperties": 1})
    verdict = grounded({"b": ""}, tool, ProvenanceIndex("x"), lambda arguments: bool(arguments))
    assert verdict.arguments == {"b": ""}
    assert [w.rule for w in verdict.diagnostics if w.severity == "warning"] == ["unsourced"]


TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
}


def gold_calls() -> Iterator[tuple[str, Tool, JsonObject]]:
    """NesTools' gold calls. Their references to earlier results count as said."""
    for line in (DATA / "nestools" / "test_data.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        tools: dict[str, Tool] = {}
        for api in row["api"]:
            properties: dict[str, Any] = {}
            for key, part in api["parameters"].items():
                properties[key] = {"description": part.get("description", "")}
                if part.get("type") in TYPES:
                    properties[key]["type"] = TYPES[part["type"]]
            schema = {"type": "object", "properties": properties, "required": api["required"]}
            tools[api["api_name"]] = Tool(api["api_name"], api["api_description"], schema)
        for call in row["call"]:
            references = " ".join(re.findall(r"API_call_\d+", json.dumps(call["parameters"])))
            yield f"{row['task']} {references}", tools[call["api_name"]], call["parameters"]


@pytest.mark.skipif(
    not (DATA / "nestools").exists(), reason="NesTools is not at ../shared/data/nestools"
)
def test_gold_calls_are_almost_never_refused_or_edited() -> None:
    seen = harmed = 0
    for said, tool, arguments in gold_calls():
        verdict = grounded(arguments, tool, ProvenanceIndex(said), lambda _: True)
        seen += 1
        harmed += bool(verdict.edits or verdict.errors)
    assert seen > 2_000
    assert harmed / seen < 0.002


@pytest.mark.skipif(
    not (DATA / "nestools").exists(), reason="NesTools is not at ../shared/data/nestools"
)
def test_invented_identifiers_in_gold_calls_are_caught() -> None:
    seen = caught = 0
    for said, tool, arguments in gold_calls():
        for key, value in arguments.items():
            if (
                re.search(r"(^|_)id$", key)
                and isinstance(value, str)
                and not value.startswith("API_call")
            ):
                made_up = {**arguments, key: f"zq-{90_000 + seen}"}
                verdict = grounded(made_up, tool, ProvenanceIndex(said), lambda _: True)
                seen += 1
                caught += bool(verdict.errors) or key not in verdict.arguments
    assert seen > 40
    assert caught / seen > 0.99


def test_the_particular_thing_that_a_description_gives_as_an_example_is_no_source() -> None:
    zone = {"type": "string", "description": "IANA time zone, such as Europe/Paris"}
    for query, copied in (
        ("What time is it in Tokyo?", True),
        ("What time is it in Paris?", False),
    ):
        assert copies_example("Europe/Paris", zone, ProvenanceIndex(query)) is copied
        verdict = check({"zone": "Europe/Paris"}, {"zone": zone}, ["zone"], ProvenanceIndex(query))
        assert isinstance(verdict, CheckedCall), "it is no identifier: noted, not refused"
    assert not copies_example(
        "kilometer", {"description": "such as kilometer, feet"}, ProvenanceIndex("how far?")
    )
    assert not copies_example(
        "NO", {"description": "a code such as NO"}, ProvenanceIndex("how far?")
    )
    assert not copies_example(5, zone, ProvenanceIndex(""))
    assert not copies_example("Europe/Paris", None, ProvenanceIndex(""))
