"""Old spellings of options work for one version, with a warning, where they were options."""

from __future__ import annotations

import pytest

from callwright.cli.settings.renamed_options import RENAMED, replace_old_options
from tests.cli.program import callwright


@pytest.mark.parametrize("command", RENAMED)
def test_an_old_spelling_is_replaced_and_named(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for old, new in RENAMED[command].items():
        words = command.split()
        assert replace_old_options([*words, "x", old, "y"]) == [*words, "x", new, "y"]
        assert replace_old_options([*words, f"{old}=y"]) == [*words, f"{new}=y"]
        assert f"{old} is now {new}" in capsys.readouterr().err


def test_nothing_else_is_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    same = ["explore", "--keep", "find_*"]
    assert replace_old_options(same) == same
    same = ["train", "refiner", "--prompt", "short"]  # of another sub-command
    assert replace_old_options(same) == same
    assert replace_old_options(["run", "--", "--may-fill"]) == ["run", "--", "--may-fill"]
    assert replace_old_options([]) == []
    assert capsys.readouterr().err == ""


def test_the_program_takes_an_old_spelling() -> None:
    done = callwright("run", "x", "--tools", "nowhere.py", "--may-fill", "no rule")
    assert "warning: --may-fill is now --allow-source" in done.stderr
    assert "No such option" not in done.stderr


@pytest.mark.parametrize("words", ["run", "proxy", "refine", "gateway serve", "bench refine"])
def test_help_shows_only_the_new_spelling(words: str) -> None:
    shown = callwright(*words.split(), "--help").stdout
    for old, new in (RENAMED.get(words) or RENAMED[words.split()[0]]).items():
        assert f"{new} " in shown
        assert f"{old} " not in shown
