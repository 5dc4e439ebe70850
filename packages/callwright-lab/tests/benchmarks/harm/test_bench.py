"""The harm measure counts what changed, sets unlawful gold apart, and sees nothing where nothing
changed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns.types import Tool, ToolCall
from callwright_lab.benchmarks.harm.bench import (
    NATIVE,
    check_prose,
    find_valid_calls,
    main,
    measure_cases,
    measure_harm,
    render_report,
    sample_cases,
)
from callwright_lab.benchmarks.harm.gold import GoldCase
from callwright_lab.benchmarks.harm.prose import Prose

TOOL = Tool(
    "get_weather",
    "Weather.",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
)


def case(**arguments: object) -> GoldCase:
    call = ToolCall("call_1", "get_weather", dict(arguments))
    return GoldCase("c", "own", "Weather in Oslo for 3 days", (TOOL,), (call,))


@pytest.mark.parametrize("dialect", [NATIVE, "hermes", "fenced", "qwen_xml"])
def test_a_right_call_is_not_harmed(dialect: str) -> None:
    right = case(city="Oslo", days=3)
    count = measure_harm(right, dialect, ("rules", "sequence"), find_valid_calls(right))
    assert (count.calls, count.harmed, count.unlawful) == (1, 0, 0)


def test_a_changed_call_is_harm() -> None:
    wrong = case(city="Oslo", days="3")  # pretend that this was right
    count = measure_harm(wrong, NATIVE, ("rules",), [True])
    assert (count.calls, count.harmed, len(count.examples)) == (1, 1, 1)


def test_gold_that_breaks_its_schema_is_counted_apart() -> None:
    odd = case(city="Oslo", days="3")
    count = measure_harm(odd, NATIVE, ("rules",), find_valid_calls(odd))
    assert (count.calls, count.unlawful, count.unlawful_changed, count.unlawful_beyond) == (
        0,
        1,
        1,
        0,
    )


def test_references_and_nulls_are_lawful() -> None:
    assert find_valid_calls(case(city="Oslo", days=None)) == [True]
    assert find_valid_calls(case(city="Oslo", days="API_call_0")) == [True]


def test_prose_is_harmed_by_a_call_that_nobody_made() -> None:
    assert check_prose(Prose("p", 'The service answered {"city": "Oslo"}.', (TOOL,))) == ""
    call = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'
    assert "get_weather" in check_prose(Prose("p", call, (TOOL,)))


def test_sources_take_turns() -> None:
    cases = [
        GoldCase(f"{s}{i}", s, "", (TOOL,), case(city="x").calls) for s in "ab" for i in range(5)
    ]
    assert [c.source for c in sample_cases(cases, 4)] == ["a", "b", "a", "b"]


def test_the_report_has_a_row_for_every_dialect_and_source() -> None:
    found = measure_cases([case(city="Oslo")], [NATIVE, "hermes"], ())
    text = render_report(found, [], 10)
    assert "| native |" in text
    assert "| own |" in text
    assert "prose: 0 of 10" in text


def test_without_data_the_command_says_where_to_get_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(tmp_path)]) == 1
    assert "gold calls" in capsys.readouterr().err
