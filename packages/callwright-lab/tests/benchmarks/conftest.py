"""What several tests here need and what takes seconds to make: once a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from callwright_lab.benchmarks.recovery.desk import FaultyTasks


@pytest.fixture(scope="session")
def faulty() -> FaultyTasks:
    """All of the desk's tasks with faults. For the gold of each a desk is laid out and its servers
    are started.
    """
    from callwright_lab.benchmarks.recovery.desk import build_faulty_tasks
    from tests.benchmarks.desk.test_bench import DESK

    return build_faulty_tasks(DESK)
