"""Identifies the process that owns a run, as its journal names it, for use when the lock file is
gone.

A lock of the operating system dies with its process, but only a file that exists can be locked. A
user who clears away old ``*.lock`` files lets a second process in. So the owner is also named
inside the journal, and asked for here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from callwright.nouns.types import Json

_PROC = Path("/proc")
_STARTED = 19  # of the fields of /proc/PID/stat that follow the name: when the process started (proc(5), field 22)


def this_process() -> dict[str, Json]:
    """This process, as nothing else can be called: its number, when it started, and where numbers
    mean the same.
    """
    return {"pid": os.getpid(), "started": _read_start_time(os.getpid()), "where": _read_boot_id()}


def is_running(owner: object) -> bool:
    """Return True if a process named by :func:`this_process` is alive. False if that cannot be
    determined: on another machine, in another container, without ``/proc``.
    """
    if not isinstance(owner, Mapping) or not isinstance(owner.get("pid"), int):
        return False
    started = owner.get("started")
    return (
        bool(started)
        and owner.get("where") == _read_boot_id() != ""
        and _read_start_time(owner["pid"]) == started
    )


def _read_start_time(pid: int) -> str:
    try:
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return ""
    return fields[_STARTED] if len(fields) > _STARTED and fields[0] != "Z" else ""


def _read_boot_id() -> str:
    """The boot of this machine, and the name space of process numbers in it."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {(_PROC / 'self/ns/pid').readlink()}"
    except (OSError, ValueError):
        return ""
