"""What is closed at the end of its block."""

from __future__ import annotations

import pytest

from callwright.nouns.closing import Closing


class Door(Closing):
    closed = 0

    def close(self) -> None:
        self.closed += 1


def test_a_block_gets_the_object_and_closes_it_once() -> None:
    with Door() as door:
        assert door.closed == 0
    assert door.closed == 1


def test_an_error_goes_on_and_the_object_is_closed() -> None:
    door = Door()
    with pytest.raises(ValueError, match="a defect"), door:
        raise ValueError("a defect")
    assert door.closed == 1


def test_without_close_there_is_no_object() -> None:
    with pytest.raises(TypeError):
        Closing()  # type: ignore[abstract]
