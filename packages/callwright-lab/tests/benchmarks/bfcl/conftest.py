"""The suite's wheel and its environment: skipped where pip cannot reach an index."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.bfcl.harness import prepare_python
from callwright_lab.benchmarks.refine.bfcl import unpack_folder


@pytest.fixture(scope="session")
def wheel() -> Path:
    """The unpacked wheel: data and code of the suite."""
    try:
        return unpack_folder()
    except ConfigError as error:
        pytest.skip(f"could not be fetched here: BFCL's wheel ({error})")


@pytest.fixture(scope="session")
def suite_python(wheel: Path) -> str:
    """The interpreter of the suite's environment, made once in the cache."""
    try:
        return str(prepare_python())
    except ConfigError as error:
        pytest.skip(f"could not be fetched here: what bfcl-eval needs ({error})")
