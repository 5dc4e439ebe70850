"""How long a piece of work takes, told apart from how busy the machine is."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

_TRIES = 60


def quickest(work: Callable[[], object], enough: float) -> float:
    """Seconds of processor of the quickest of many tries; no more are made once one takes less than
    ``enough``.

    A busy machine can only make a try longer (its caches and its clock are shared), never shorter.
    So one try below the limit shows what the work takes, however many others lie above it. What
    other threads use is not counted.
    """
    work()  # what is made once, at the first use, is no part of it
    best = float("inf")
    gc.collect()
    gc.disable()
    try:
        for _ in range(_TRIES):
            before = time.thread_time()
            work()
            best = min(best, time.thread_time() - before)
            if best < enough:
                break
    finally:
        gc.enable()
    return best
