"""The licences of what a refiner learns from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from callwright_lab.training.refiner.licences import list_limits, render_licences
from callwright_lab.training.refiner.sources import SOURCES
from callwright_lab.training.refiner.task import Sample
from tests.training.refiner_case import samples


def _from(source: str) -> list[Sample]:
    return [replace(s, task=replace(s.task, source=source)) for s in samples()]


@pytest.mark.parametrize("source", ["nestools", "seal_tools", "glaive", "toolace", "xlam"])
def test_a_published_set_with_a_free_licence_sets_no_limit(source: str) -> None:
    assert list_limits(_from(source)) == []
    assert render_licences(_from(source)).endswith(f"| {SOURCES[source].licence} | yes |")


def test_a_set_that_is_for_evaluation_and_a_file_of_ones_own_set_limits() -> None:
    mine = [replace(s, by="some-model") for s in _from("mine")]
    learned = [*_from("toolrl"), *_from("nestools"), *mine]
    shown = render_licences(learned)
    assert f"| toolrl | {len(mine)} | rule | Apache-2.0 (ToolRL);" in shown
    assert f"| mine | {len(mine)} | some-model | unknown (a user's own file) | unknown |" in shown
    own, toolrl = list_limits(learned)
    assert "Rows of mine are not for weights that are given away." in own
    assert "Licence: unknown (a user's own file)." in own
    assert "Rows of toolrl are not for weights that are given away." in toolrl
