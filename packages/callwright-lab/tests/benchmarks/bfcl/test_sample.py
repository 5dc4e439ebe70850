"""The sample: the same for everybody, halves that do not meet, the final one opened once."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import compute_digest
from callwright_lab.benchmarks.bfcl.sample import (
    CATEGORIES,
    MULTI_TURN,
    Case,
    draw_sample,
    find_half,
    open_final,
    parse_categories,
    read_cases,
    read_tool_sets,
    render_sample,
    sort_for_cache,
)

INVENTED = {"multiple": [f"multiple_{n}" for n in range(60)]}
FROZEN = "dev a64171, final 5f0a91"
"""Digests of both halves, drawn on 2026-11-24 before any case was run."""


def test_halves_are_by_digest_and_do_not_meet() -> None:
    dev, final = (draw_sample(INVENTED, half, 99) for half in ("dev", "final"))
    assert {case.id for case in dev} | {case.id for case in final} == set(INVENTED["multiple"])
    assert not {case.id for case in dev} & {case.id for case in final}
    assert all(find_half(case.id) == case.half for case in (*dev, *final))
    assert find_half("multiple_94") == "dev"


def test_a_smaller_sample_is_the_beginning_of_a_larger_one() -> None:
    few, many = (draw_sample(INVENTED, "dev", count) for count in (5, 15))
    assert few == many[:5]
    assert draw_sample({"multiple": reversed(INVENTED["multiple"])}, "dev", 5) == few


def test_the_sample_of_the_board_is_frozen(wheel: Path) -> None:
    cases = read_cases(CATEGORIES)
    drawn = {half: draw_sample(cases, half, 15) for half in ("dev", "final")}
    assert {half: len(found) for half, found in drawn.items()} == {"dev": 105, "final": 105}
    digests = [f"{h} {compute_digest([c.id for c in found])[:6]}" for h, found in drawn.items()]
    assert ", ".join(digests) == FROZEN


def test_a_sample_is_stated_by_category() -> None:
    text = render_sample(draw_sample(INVENTED, "dev", 3))
    assert text.startswith("multiple (3): ")
    assert len(text.split()) == 5


def test_categories_by_name_and_by_group() -> None:
    assert parse_categories("multi_turn,simple") == (*MULTI_TURN, "simple_python")
    assert parse_categories("parallel, multiple,parallel") == ("multiple", "parallel")
    with pytest.raises(ConfigError, match="there is no category 'memory'"):
        parse_categories("memory")


def test_the_final_half_is_opened_once_for_each_row(tmp_path: Path) -> None:
    ledger = tmp_path / "runs" / "opened.json"
    assert open_final(ledger, "raw m", "a", "day 1") == "day 1"
    assert open_final(ledger, "raw m", "a", "day 2") == "day 1"
    assert open_final(ledger, "proxy m", "b", "day 2") == "day 2"
    with pytest.raises(ConfigError, match="opened for raw m on day 1 under other settings"):
        open_final(ledger, "raw m", "c", "day 3")
    assert open_final(ledger, "raw m", "a", "day 4") == "day 1"


def test_a_ledger_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    ledger = tmp_path / "opened.json"
    ledger.write_text("{")
    with pytest.raises(ConfigError, match="is no ledger"):
        open_final(ledger, "raw m", "a", "day 1")


def test_cases_with_the_same_tools_are_run_behind_one_another() -> None:
    names = ["a", "b", "c", "d"]
    cases = [Case(name, "multi_turn_base", "dev") for name in names]
    cases.append(Case("e", "multiple", "dev"))
    sets = {"a": ("Files",), "b": ("Travel",), "c": ("Files",), "d": ("Files", "Travel")}
    made = sort_for_cache(cases, sets)
    assert [case.id for case in made] == ["a", "c", "b", "d", "e"]
    assert sort_for_cache(made, {}) == made


def test_the_suite_names_the_environments_of_its_cases(wheel: Path) -> None:
    sets = read_tool_sets(["multi_turn_base", "multiple"])
    assert sets["multi_turn_base_0"] == ("TwitterAPI", "GorillaFileSystem")
    assert sets["multiple_0"] == ()
