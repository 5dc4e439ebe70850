"""``callwright trust``: confirmed, listed, and confirmed no longer."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.program import callwright

from callwright.jsontext import parse


@pytest.fixture
def trust(tmp_path: Path) -> dict[str, str]:
    return {"CALLWRIGHT_TRUST": str(tmp_path / "trust")}


def test_a_found_file_is_confirmed_listed_and_confirmed_no_longer(tmp_path: Path, trust: dict[str, str]) -> None:
    path = tmp_path / "callwright.toml"
    path.write_text('mode = "text"\n[limits]\nturns = 3\n')
    assert "not used" in callwright("config", folder=tmp_path, **trust).stdout
    assert callwright("trust", "--list", **trust).stderr == "nothing is trusted yet\n"
    done = callwright("trust", "callwright.toml", folder=tmp_path, **trust)
    assert (done.returncode, done.stdout) == (0, "trusted: callwright.toml (mode, limits.turns)\n")
    held = callwright("config", folder=tmp_path, **trust)
    assert 'mode = "text"' in held.stdout
    assert "not used" not in held.stdout + held.stderr
    listed = callwright("trust", **trust).stdout
    assert listed.startswith("settings ")
    assert str(path) in listed
    assert parse(callwright("trust", "--list", "--json", **trust).stdout)["confirmed"][0]["where"] == str(path)
    assert callwright("trust", "--remove", path, **trust).returncode == 0
    assert "not used" in callwright("config", folder=tmp_path, **trust).stdout
    assert callwright("trust", "--remove", path, **trust).returncode == 1


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("callwright.toml", 'modle = "text"', "has no key 'modle'"),
        ("callwright.toml", "x = [", "is not TOML"),
        ("notes.txt", "x", "is nothing that can be confirmed"),
    ],
)
def test_what_makes_no_sense_is_not_confirmed(
    tmp_path: Path, trust: dict[str, str], name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text)
    done = callwright("trust", name, folder=tmp_path, **trust)
    assert done.returncode == 1
    assert said in done.stderr
    assert not (tmp_path / "trust").exists()
    missing = callwright("trust", "none.yaml", folder=tmp_path, **trust)
    assert "there is no 'none.yaml'" in missing.stderr
