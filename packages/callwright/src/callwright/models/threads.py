"""Determines the number of threads for a decoder."""

from __future__ import annotations

import os
from pathlib import Path


def default_threads() -> int:
    """``CALLWRIGHT_THREADS``, else one per physical core this process may use (affinity, container
    quota).

    Two threads on one core slow each other down, and a thread more than the quota stalls all the
    others.
    """
    said = os.environ.get("CALLWRIGHT_THREADS", "")
    if said.isdecimal() and int(said) > 0:
        return int(said)
    usable = _list_usable_cpus()
    count = _count_cores(usable) if usable else (os.cpu_count() or 1)
    return max(1, min(count, _read_cpu_quota(), 16))


def _list_usable_cpus() -> set[int]:
    """CPU numbers this process may run on; empty where the system does not say."""
    try:
        return set(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return set()


def _count_cores(cpus: set[int], root: Path = Path("/sys/devices/system/cpu")) -> int:
    """Return the number of different cores that the CPUs belong to. If the system does not say, it
    is the number of CPUs.
    """
    cores = set()
    for cpu in cpus:
        try:
            cores.add(
                (root / f"cpu{cpu}" / "topology" / "thread_siblings_list")
                .read_text(encoding="ascii")
                .strip()
            )
        except OSError:
            return len(cpus)
    return len(cores)


def _read_cpu_quota(path: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """Whole CPUs that the container's quota grants (cgroup v2), or a large number."""
    try:
        quota, period = path.read_text(encoding="ascii").split()
        return max(1, int(quota) // int(period))
    except (OSError, ValueError):
        return 1_000
