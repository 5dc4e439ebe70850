"""Environments beside ours: made once, and whole or not at all."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.comparison.side import side_python


@pytest.mark.heavy
def test_an_environment_is_made_once_and_anew_for_other_requirements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "pyproject.toml").write_text(
        '[project]\nname = "beside"\nversion = "1"\n[build-system]\nrequires = []\nbuild-backend ='
        ' "nowhere"\n'
    )
    monkeypatch.setenv("CALLWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    first = side_python("beside", ["pip"])  # there already: nothing is fetched
    made = first.stat().st_ino
    assert subprocess.run([first, "-c", "import pip"]).returncode == 0
    assert side_python("beside", ["pip"]).stat().st_ino == made
    with pytest.raises(ConfigError, match="no-such-package-anywhere"):
        side_python("beside", ["no-such-package-anywhere==9"])
    assert side_python("beside", ["pip"]).stat().st_ino == made
