"""What several tests here need and what takes seconds to make: once a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from callwright.benchmarks.recovery_desk import FaultyTasks


@pytest.fixture(scope="session")
def faulty() -> FaultyTasks:
    """All of the desk's tasks with faults. For the gold of each a desk is laid out and its servers are started."""
    from tests.benchmarks.test_desk import DESK

    from callwright.benchmarks.recovery_desk import faulty_tasks

    return faulty_tasks(DESK)
