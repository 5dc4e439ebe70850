"""Settings that every test shares."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A shared machine is slow at times: an example that takes long is no failure.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")

# Hundreds of programs are started here. Where they may keep no bytecode, each of them compiles all
# of ours again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Where several workers share the cores, threads of one's tensor library only wait for another's.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# Files whose tests are few and take long.
LONG = (
    "test_attack.py",
    "test_conformance.py",
    "test_conversation.py",
    "test_gateway_proofs.py",
    "test_harness.py",
    "test_install.py",
    "test_killed_runs.py",
    "test_recipes.py",
    "test_release_packages.py",
    "test_solving.py",
    "test_structure.py",
    "test_upstream.py",
    "test_valid_calls.py",
    "test_verify.py",
    "test_wheel.py",
    "test_writes_once.py",
)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Millions of objects of tests and libraries stay until the end. The garbage collector does not
    look for garbage among them: not while they come, nor later with every collection.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where the heavy tests alone are run, files without one are not imported."""
    if config.option.markexpr != "heavy" or collection_path.suffix != ".py":
        return None
    return None if "heavy" in collection_path.read_text(encoding="utf-8") else True


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Several workers take the longest files first, then those with most tests: one that comes last
    is waited for.
    """
    if hasattr(config, "workerinput"):
        number = Counter(item.path for item in items)
        items.sort(
            key=lambda item: (item.path.name not in LONG, -number[item.path], str(item.path))
        )


@pytest.fixture(scope="session", autouse=True)
def runs_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Programs that tests start keep their runs and what they learn of tools here, not in the
    user's folder.
    """
    os.environ["CALLWRIGHT_RUNS"] = str(tmp_path_factory.mktemp("runs"))
    os.environ["CALLWRIGHT_EVIDENCE"] = str(tmp_path_factory.mktemp("state") / "evidence.db")
    os.environ["CALLWRIGHT_TRUST"] = str(tmp_path_factory.mktemp("trust"))
    yield
    del (
        os.environ["CALLWRIGHT_RUNS"],
        os.environ["CALLWRIGHT_EVIDENCE"],
        os.environ["CALLWRIGHT_TRUST"],
    )
