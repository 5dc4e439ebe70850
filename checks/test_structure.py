"""The structure's figures may only get better: what was reached is held.

``python benchmarks/structure.py`` prints them, ``--list FIGURE`` the places behind one.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
REACHED: dict[str, float] = {
    "statements, core": 45_900,
    "statements, all": 69_400,
    "largest room of the core, %": 17.2,
    "files in the fullest folder": 25,
    "folders at the top": 22,
    "modules at the top": 0,
    "one-word function names, %": 3,
    "lines over 100 columns, %": 0.4,
    "classes that list edits, changes or diagnostics": 14,
    "functions of more than 10 parameters": 0,
    "options as a Mapping or **kwargs": 0,
    "classes of more than 14 fields": 0,
    "English words in lists and expressions": 595,
    "data-set notation in the runtime": 0,
    "identifiers of the old dictionary": 9,
}


@pytest.fixture(scope="module")
def structure() -> ModuleType:
    spec = importlib.util.spec_from_file_location("structure", ROOT / "benchmarks/structure.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["structure"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_no_figure_is_worse_than_what_was_reached(structure: ModuleType) -> None:
    values = structure.measure().values
    assert set(values) == set(REACHED)
    worse = {name: values[name] for name, most in REACHED.items() if values[name] > most}
    assert not worse
