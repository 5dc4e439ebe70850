"""The treatment of a run's calls on their way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Repairing: TypeAlias = Literal["plain", "reflect", "reflect-after"]
"""How tier 2 asks: plainly, with a reflection instead, or with one where asking plainly did not
help.
"""


@dataclass(slots=True)
class CallHandling:
    """The treatment of a run's calls. ``as_written``: they leave as the model wrote them, or fail
    as a tool's own do; ``unchecked``: and what their schema says decides nothing. ``is_trusted``:
    values that stand nowhere else are somebody's own, not a model's. ``may_fetch``: what the answer
    names as missing may be fetched. ``fills_schema``: they come from replies that are held to a
    schema of calls, and a model calls too readily there: a value that nothing states holds back
    reads too, and tools that declare nothing. ``implied``: tools and optional arguments of theirs
    that no word states and that the conversation implies.
    """

    may_repair: bool = True
    as_written: bool = False
    unchecked: bool = False
    is_trusted: bool = False
    may_fetch: bool = True
    fills_schema: bool = False
    implied: set[tuple[str, str]] = field(default_factory=set)
    repairing: Repairing = "plain"
