"""Calls that were meant right, made right: rules, then the order of calls, then a model. First do no harm.

::

    import callwright

    callwright.refine(reply_text, tools, query="Weather in Oslo?").calls

The room can be called because its name is also that of what it does, whichever of the two was imported first.
"""

import sys
from types import ModuleType
from typing import Any

from callwright.refine.ladder import RUNGS, refine
from callwright.refine.result import Abstention, Refinement, Settings

__all__ = ["RUNGS", "Abstention", "Refinement", "Settings", "refine"]


class _Room(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Refinement:
        return refine(*args, **kwargs)


sys.modules[__name__].__class__ = _Room
