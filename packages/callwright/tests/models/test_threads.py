from __future__ import annotations

from pathlib import Path

import pytest

from callwright.models.threads import _count_cores, _read_cpu_quota, default_threads


def test_threads_are_at_least_one_and_may_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_threads() >= 1
    monkeypatch.setenv("CALLWRIGHT_THREADS", "3")
    assert default_threads() == 3


def test_two_threads_of_one_core_count_once(tmp_path: Path) -> None:
    for cpu, siblings in enumerate(["0,2", "1,3", "0,2", "1,3"]):
        folder = tmp_path / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(siblings + "\n")
    assert _count_cores({0, 1, 2, 3}, tmp_path) == 2
    assert _count_cores({0, 2}, tmp_path) == 1
    assert _count_cores({0, 1, 9}, tmp_path) == 3  # a system that does not say


@pytest.mark.parametrize(
    ("text", "cpus"), [("200000 100000", 2), ("50000 100000", 1), ("max 100000", 1000), ("", 1000)]
)
def test_a_containers_quota_is_respected(tmp_path: Path, text: str, cpus: int) -> None:
    (tmp_path / "cpu.max").write_text(text)
    assert _read_cpu_quota(tmp_path / "cpu.max") == cpus
