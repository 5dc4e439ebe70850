"""Worlds against BFCL's own executor and checker, over all of its gold."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.multi_turn.bench import DATA, GOLD
from callwright_lab.benchmarks.multi_turn.worlds import (
    CHECKER,
    DESTROYS,
    READS,
    World,
    WorldSource,
    check_turn,
    list_offered_tools,
    parse_gold_calls,
    read_class_tools,
    write_reply,
)
from callwright_lab.benchmarks.refine import bfcl

Scenario = tuple[dict[str, Any], list[list[str]]]


@pytest.fixture(scope="module")
def scenarios() -> list[Scenario]:
    try:
        gold = bfcl.read_ground_truths(bfcl.unpack_folder() / GOLD)
    except ConfigError as error:
        pytest.skip(f"needs shared data: BFCL's wheel ({error})")
    return [(row, gold[row["id"]]) for row in bfcl.read_lines(bfcl.unpack_folder() / DATA)]


def public(world: World) -> dict[str, dict[str, Any]]:
    """The state that BFCL compares."""
    return {
        name: copy.deepcopy({k: v for k, v in vars(made).items() if not k.startswith("_")})
        for name, made in world.instances.items()
    }


def test_every_tool_has_its_effects_and_no_name_is_declared_that_is_not_there(
    scenarios: list[Scenario],
) -> None:
    names = {owner: {tool.name for tool in read_class_tools(owner)} for owner in READS}
    assert all(set(listed.split()) <= names[owner] for owner, listed in READS.items())
    assert set().union(*names.values()) >= DESTROYS
    assert not DESTROYS & {name for listed in READS.values() for name in listed.split()}


def test_a_description_is_the_tools_own_and_not_that_of_its_class(
    scenarios: list[Scenario],
) -> None:
    cat = next(tool for tool in read_class_tools("GorillaFileSystem") if tool.name == "cat")
    assert cat.description.startswith("Display the contents of a file")
    assert cat.output_schema is not None


def test_what_is_taken_away_is_not_offered(scenarios: list[Scenario]) -> None:
    row = next(row for row, _ in scenarios if row.get("excluded_function"))
    assert not {tool.name for tool in list_offered_tools(row)} & set(row["excluded_function"])


def test_reading_changes_nothing_in_all_of_gold(scenarios: list[Scenario]) -> None:
    reads = {name for listed in READS.values() for name in listed.split()}
    seen = set()
    for row, gold in scenarios:
        world = World(row)
        for call in (
            call for texts in gold for call in parse_gold_calls(texts, list_offered_tools(row))
        ):
            before = public(world)
            world.play([call])
            if call.tool in reads:
                seen.add(call.tool)
                assert public(world) == before, (row["id"], call.tool)
    assert len(seen) > 30


def test_replies_are_those_of_bfcls_own_executor(scenarios: list[Scenario]) -> None:
    execute = bfcl.import_from_wheel(
        "bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils"
    ).execute_multi_turn_func_call
    for row, gold in scenarios:
        world = World(row)
        for texts in gold:
            start = len(world.said)
            world.play(parse_gold_calls(texts, list_offered_tools(row)))
            theirs, _ = execute(
                texts, row["initial_config"], row["involved_classes"], "replies", row["id"]
            )
            assert world.said[start:] == theirs, row["id"]


def test_verdicts_are_those_of_bfcls_own_checker(scenarios: list[Scenario]) -> None:
    """Each scenario's first turn as gold plays it, without its last call, and with its calls twice
    over.
    """
    check = bfcl.import_from_wheel(CHECKER).multi_turn_checker
    found = []
    for row, gold in scenarios:
        calls = parse_gold_calls(gold[0], list_offered_tools(row))
        for name, played in (
            ("whole", [*gold[0]]),
            ("short", gold[0][:-1]),
            ("twice", [*gold[0], *gold[0]]),
        ):
            ours, right = World(row), World(row)
            ours.play(parse_gold_calls(played, list_offered_tools(row)))
            right.play(calls)
            reasons = (
                check_turn(ours, right, right.said, 0) if ours.said else ["nothing was called"]
            )
            theirs = check([[played]], gold[:1], row, "multi_turn_base", f"verdict_{name}")
            assert (not reasons) == theirs["valid"], (row["id"], name, reasons, theirs)
            found.append(not reasons)
    assert True in found
    assert False in found


async def test_an_error_of_the_environment_is_a_failure_and_what_is_raised_too(
    scenarios: list[Scenario],
) -> None:
    row = next(row for row, _ in scenarios if "GorillaFileSystem" in row["involved_classes"])
    world = World(row)
    source = WorldSource(world, list_offered_tools(row))
    cat = next(tool for tool in await source.open() if tool.name == "cat")
    missing, odd = (
        await source.call(cat, {"file_name": "nope"}),
        await source.call(cat, {"nope": 1}),
    )
    assert missing.failure is not None
    assert "No such file" in missing.failure.message
    assert odd.failure is not None
    assert world.said[1].startswith("Error during execution")


def test_gold_without_keys_takes_the_parameters_order_and_other_gold_is_named(
    scenarios: list[Scenario],
) -> None:
    tools = read_class_tools("GorillaFileSystem")
    (call,) = parse_gold_calls(["sort('final_report.pdf')"], tools)
    assert (call.tool, call.arguments) == ("sort", {"file_name": "final_report.pdf"})
    with pytest.raises(ConfigError, match="no call of an offered tool"):
        parse_gold_calls(["fly(to='Oslo')"], tools)


def test_replies_are_written_as_bfcl_compares_them() -> None:
    assert write_reply("a") == "a"
    assert write_reply({"a": 1.0}) == '{"a": 1.0}'
    assert write_reply({"a": {1}}) == "{'a': {1}}"
    assert write_reply([True]) == "[True]"
