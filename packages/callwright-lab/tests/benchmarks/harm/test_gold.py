"""Gold cases of every layout, read from small files of the same form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.harm.gold import (
    all_cases,
    bfcl_cases,
    parse_prompted_tools,
    seal_cases,
)

SYSTEM = """**Available Tools**
1. Name: GetToken
Description: Get the token.
Parameters: {'username': {'type': 'str', 'description': "User's name."}}
2. LikeCount: Likes of a post.
Parameters: {'post_id': {'type': 'int', 'description': 'Post.'}}

**Steps for Each Turn**
"""


def lines(path: Path, *rows: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(r) for r in rows))


def test_bfcl_takes_the_first_accepted_value_and_leaves_out_what_may_be_absent(
    tmp_path: Path,
) -> None:
    from callwright_lab.benchmarks.harm.gold import BFCL_PARTS

    for part in BFCL_PARTS:
        lines(tmp_path / f"BFCL_v4_{part}.json")
        lines(tmp_path / "possible_answer" / f"BFCL_v4_{part}.json")
    schema = {
        "type": "dict",
        "properties": {"a": {"type": "float"}, "b": {"type": "dict"}},
        "required": ["a"],
    }
    question = [[{"role": "user", "content": "q"}]]
    row = {"id": "x", "question": question, "function": [{"name": "m.f", "parameters": schema}]}
    lines(tmp_path / "BFCL_v4_multiple.json", row)
    truth = [{"m.f": {"a": [1.5, 2], "b": ["", {"k": [7]}], "c": [""]}}]
    lines(
        tmp_path / "possible_answer" / "BFCL_v4_multiple.json", {"id": "x", "ground_truth": truth}
    )
    (case,) = bfcl_cases(tmp_path)
    assert case.calls[0].arguments == {"a": 1.5, "b": {"k": 7}}
    assert case.tools[0].properties["a"]["type"] == "number"


def test_seal_tools_gold_stands_among_others(tmp_path: Path) -> None:
    specs = [
        {"api_name": f"t{i}", "parameters": {"a": {"type": "str"}}, "required": ["a"]}
        for i in range(9)
    ]
    lines(tmp_path / "seal_tools" / "tool.jsonl", *specs)
    row = {"id": "d1", "query": "q", "calling": [{"api": "t1", "parameters": {"a": "x"}}]}
    lines(tmp_path / "seal_tools" / "dev.jsonl", row)
    lines(tmp_path / "seal_tools" / "test_in_domain.jsonl")
    (case,) = seal_cases(tmp_path)
    assert "t1" in {t.name for t in case.tools}
    assert len(case.tools) >= 4


def test_tools_of_a_prompt_are_read_in_both_spellings() -> None:
    assert [t.name for t in parse_prompted_tools(SYSTEM)] == ["GetToken", "LikeCount"]
    assert parse_prompted_tools(SYSTEM)[1].properties["post_id"]["type"] == "integer"


def test_no_data_at_all_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="gold calls"):
        all_cases(tmp_path, None)
