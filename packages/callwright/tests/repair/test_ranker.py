import json

import pytest

from callwright.nouns.errors import WeightsError
from callwright.nouns.types import READ, JsonObject, Tool
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.ranker import (
    FEATURES,
    Trees,
    keep_features,
    load,
    match_by_ranker,
    parameter_features,
    parse_ranker,
    tool_features,
    type_fits,
)

WEATHER = Tool(
    "get_weather",
    "Current weather of a city.",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "the town"},
            "unit": {"enum": ["c", "f"]},
        },
        "required": ["city"],
    },
    effects=READ,
)
STOCK = Tool(
    "get_stock_price",
    "Price of a share.",
    {"type": "object", "properties": {"symbol": {"type": "string"}}},
)

# chooses by the first feature: at most 0.5 is no, above is yes
ONE_TREE: JsonObject = {
    "format": 1,
    "card": {},
    "tasks": {
        "tool": {
            "features": list(FEATURES["tool"]),
            "trees": [[[0, 0.5, 1, 2], -3.0, 3.0]],
            "least": 0.9,
            "lead": 0.1,
        }
    },
}


def test_every_row_has_its_features_and_only_numbers() -> None:
    rows = {
        "tool": tool_features("fetch_weather", {"town": "Oslo"}, WEATHER, "Weather in Oslo?"),
        "parameter": parameter_features("town", "Oslo", "city", WEATHER, 1, ["city"]),
        "keep": keep_features(
            "unit", "c", WEATHER, {"city": "Oslo", "unit": "c"}, ProvenanceIndex("Weather in Oslo?")
        ),
    }
    for task, row in rows.items():
        assert len(row) == len(FEATURES[task])
        assert all(isinstance(x, float) for x in row)


def test_a_nearer_tool_is_chosen_and_a_far_one_is_not() -> None:
    ranker = parse_ranker(json.dumps(ONE_TREE), "test")
    found = ranker.tool("weather_get", {"city": "Oslo"}, [STOCK, WEATHER], "Weather in Oslo?")
    assert found is not None
    assert found[0] is WEATHER
    assert found[1] > 0.9
    assert ranker.tool("zzz", {}, [STOCK, WEATHER], "") is None


def test_a_name_in_other_words_means_the_tool_that_reads_and_never_one_that_may_write() -> None:
    query = "Retrieve the policy document with code PP-1"
    code: JsonObject = {"policy_code": {"type": "string"}}
    fields: JsonObject = {"type": "object", "properties": code, "required": ["policy_code"]}
    about = "Retrieve the full policy document based on the provided code."
    reads = Tool("get_policy_document", about, fields, effects=READ)
    writes = Tool("get_policy_document", about, fields)
    ranker = parse_ranker(json.dumps(ONE_TREE), "test")
    found = match_by_ranker(
        "policy_document_retrieve", {"policy_code": "PP-1"}, [STOCK, reads], query, ranker
    )
    assert found is not None
    assert (found.tool, found.rule) == (reads, "tool_ranked")
    assert (
        match_by_ranker(
            "policy_document_retrieve", {"policy_code": "PP-1"}, [STOCK, writes], query, ranker
        )
        is None
    )
    assert (
        match_by_ranker("order_pizza", {"size": "L"}, [STOCK, reads], "Order a pizza", ranker)
        is None
    )


@pytest.mark.parametrize("name", ["delete_user", "create_user_account", "update_user"])
def test_a_name_that_says_to_write_never_means_a_tool_that_reads(name: str) -> None:
    fields: JsonObject = {
        "type": "object",
        "properties": {"user_id": {"type": "string"}},
        "required": ["user_id"],
    }
    reads = Tool("get_user", "Returns a user by id.", fields, effects=READ)
    sure = {**ONE_TREE["tasks"]["tool"], "trees": [[3.0]], "lead": 0.0}
    ranker = parse_ranker(json.dumps({**ONE_TREE, "tasks": {"tool": sure}}), "test")
    assert (
        match_by_ranker("find_user", {"user_id": "7"}, [reads], "Do it to user 7", ranker)
        is not None
    )
    assert match_by_ranker(name, {"user_id": "7"}, [reads], "Do it to user 7", ranker) is None


def test_two_candidates_as_good_as_each_other_are_no_choice() -> None:
    trees = Trees(("a",), ((3.0,),), 0.5, 0.1)
    assert trees.choose([(1.0,), (1.0,)]) is None
    assert trees.choose([(1.0,)]) is not None
    assert trees.choose([]) is None


@pytest.mark.parametrize(
    "text",
    [
        "no json",
        "[]",
        '{"format": 99, "tasks": {}}',
        '{"format": 1, "tasks": {"tool": {"features": ["x"], "trees": [], "least": 1, "lead": 0}}}',
    ],
)
def test_a_file_of_another_making_is_refused_with_what_to_do(text: str) -> None:
    with pytest.raises(WeightsError, match="train it again"):
        parse_ranker(text, "ranker.json")


def test_no_weights_are_shipped_so_the_rules_decide_alone() -> None:
    tools = [Tool("get_weather", effects=READ), Tool("get_time", effects=READ)]
    assert load() is None
    assert match_by_ranker("weather_lookup", {"city": "Oslo"}, tools, "Weather in Oslo?") is None


@pytest.mark.parametrize(
    ("value", "kind", "fits"),
    [
        (1, "integer", 1.0),
        ("1", "integer", 0.5),
        (True, "integer", 0.0),
        ([], "string", 0.0),
        ("x", None, 0.5),
    ],
)
def test_how_well_a_value_fits_a_type(value: object, kind: str | None, fits: float) -> None:
    assert type_fits(value, kind) == fits
