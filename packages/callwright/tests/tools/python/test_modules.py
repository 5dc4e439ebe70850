from __future__ import annotations

import sys
from pathlib import Path

import pytest

from callwright.nouns.errors import CatalogError
from callwright.tools.python.modules import get_attribute, load_file, load_module


def test_a_file_is_run_with_its_folder_importable_and_leaves_the_path_as_it_was(
    tmp_path: Path,
) -> None:
    (tmp_path / "beside_it.py").write_text("VALUE = 3")
    (tmp_path / "tools.py").write_text(
        "from beside_it import VALUE\ndef f(a: 'B') -> None: ...\nclass B: ..."
    )
    before = list(sys.path)
    module = load_file(tmp_path / "tools.py")
    assert module.VALUE == 3
    assert sys.path == before
    assert sys.modules[module.__name__] is module  # its annotations can be resolved


def test_two_files_of_one_name_do_not_disturb_each_other(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tools.py").write_text(f"NAME = {name!r}")
    assert load_file(tmp_path / "a" / "tools.py").NAME == "a"
    assert load_file(tmp_path / "b" / "tools.py").NAME == "b"


def test_what_is_wrong_inside_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("1 / 0")
    with pytest.raises(CatalogError, match=r"t\.py cannot be imported: ZeroDivisionError"):
        load_file(tmp_path / "t.py")
    (tmp_path / "t.py").write_text("import no_such_package_anywhere")
    with pytest.raises(CatalogError) as error:
        load_file(tmp_path / "t.py")
    assert "no_such_package_anywhere" in error.value.hint


def test_modules_are_imported_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_tools_here.py").write_text("class A:\n    b = 1")
    monkeypatch.chdir(tmp_path)
    module = load_module("my_tools_here")
    assert get_attribute(module, "A.b", "my_tools_here:A.b") == 1
    with pytest.raises(CatalogError, match=r"there is no 'A\.c'") as error:
        get_attribute(module, "A.c", "my_tools_here:A.c")
    assert "it holds: A" in error.value.hint
