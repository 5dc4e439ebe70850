"""ACEBench's rows: their halves, their conversations, their tools."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.datasets.acebench import (
    CATEGORIES,
    LANGUAGES,
    NORMAL,
    SPECIAL,
    iter_rows,
)
from tests.benchmarks.invented_ace import row, write_data


def test_rows_are_read_with_their_gold(tmp_path: Path) -> None:
    rows = write_data(tmp_path, 2)
    assert len(rows) == 2 * len(CATEGORIES) * len(LANGUAGES)
    assert (len(NORMAL), len(SPECIAL)) == (12, 3)
    (first, _) = iter_rows(tmp_path, "zh", "special_incomplete")
    assert first.gold == {"order": ["item"]}
    assert (first.language, first.time, first.gold_calls) == ("zh", "Today is Monday.", ())
    (preferring, _) = iter_rows(tmp_path, "en", "normal_preference")
    assert preferring.profile == "Today is Monday."


def test_without_the_data_one_learns_where_they_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        [*iter_rows(tmp_path, "en", "special_incomplete")]
    assert "github.com/ACEBench/ACEBench" in str(caught.value.hint)


def test_an_odd_digest_is_in_the_final_half() -> None:
    for number in range(20):
        one = row(id=f"normal_atom_enum_{number}")
        digest = hashlib.sha256(f"acebench{one.id}".encode()).digest()
        assert one.half == ("final" if digest[-1] % 2 else "dev")
        assert bytes.fromhex(one.id_digest) == digest
    assert row(language="zh").half == row().half


def test_the_steps_of_a_conversation_share_its_id() -> None:
    step = row("normal_multi_turn_user_adjust", id="normal_multi_turn_user_adjust_3_1")
    assert step.conversation_id == "normal_multi_turn_user_adjust_3"
    assert row(id="normal_atom_enum_3").conversation_id == "normal_atom_enum_3"


def test_turns_begin_with_their_role_alone() -> None:
    one = row(question="user: Hi.\nsystem: Which?\n- user: no turn\nuser: This:\nline two\n")
    assert one.turns == (
        ("user", "Hi."),
        ("system", "Which?\n- user: no turn"),
        ("user", "This:\nline two"),
    )


def test_tools_have_json_schemas() -> None:
    order, weather = row().tools
    assert order["parameters"]["type"] == "object"
    assert order["parameters"]["properties"]["price"] == {"type": "number"}
    assert order["parameters"]["required"] == ["item"]
    assert weather["parameters"]["properties"] == {"city": {"type": "string"}}


def test_gold_is_one_call_or_several_candidates() -> None:
    assert row().gold_calls == ({"shop.order": {"item": "red bolts", "count": 7}},)
    assert row(gold=[{"a": {}}, {"b": {}}]).gold_calls == ({"a": {}}, {"b": {}})
    assert row("special_irrelevant", gold="cannot").gold_calls == ()
