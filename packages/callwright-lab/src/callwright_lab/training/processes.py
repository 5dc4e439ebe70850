"""Shares work among the processes that ``accelerate launch`` started."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

LOOK = 0.2  # seconds between two looks at a mark


def count_processes() -> int:
    """Return the number of processes that train: 1 where none were started beside this one."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_main_process() -> bool:
    """Return True if this process is the one that writes."""
    return os.environ.get("RANK", "0") == "0"


def do_once(mark: Path, work: Callable[[], object]) -> None:
    """Let the main process do the work, and the others wait until it is done, however long it
    takes: they look for the file ``mark``, for a barrier of PyTorch gives up after minutes.
    """
    if count_processes() == 1:
        work()
        return
    import torch
    from accelerate import PartialState

    if is_main_process():
        mark.unlink(missing_ok=True)  # of a run before
    # without a GPU it would be told of no other process
    PartialState(cpu=not torch.cuda.is_available()).wait_for_everyone()
    if is_main_process():
        work()
        mark.touch()
    while not mark.is_file():
        time.sleep(LOOK)
