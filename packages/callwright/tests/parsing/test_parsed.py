from __future__ import annotations

import dataclasses

import pytest

from callwright.parsing import Finish, Parsed


def test_nothing_found_is_an_empty_value() -> None:
    found = Parsed()
    assert (
        found.calls,
        found.text,
        found.finish,
        found.dialect,
        found.reason,
        found.truncated,
    ) == (
        (),
        "",
        None,
        "",
        "",
        False,
    )


def test_an_answer_is_given_unless_said_otherwise() -> None:
    assert Finish("42").return_type == "give_answer"


def test_values_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Parsed().text = "x"  # type: ignore[misc]
