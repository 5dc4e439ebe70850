"""What a wait rests on: a tool waits for another one only where something speaks for it.

Trees answer by what is usual where nothing speaks for a pair, and among the plans they learned from to wait is usual.
So "the weather in Oslo and what the Equinor stock costs" became two layers, over tools that share no word. A pair has
a **witness** where a schema, a name or a description ties the one tool to the other, or where the request speaks of
the one in the part that asks for the other, or points back there, or where the request lacks what the other requires
and the one could give it. A pair without one costs no layer.

A tie by schemas alone is no witness where the tool's own part of the request gives all that it requires: who is told
"a timer for 10 minutes" needs nobody's minutes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from callwright.dataflow.flow import Profile, profile
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Tool
from callwright.planning.features import NAMES

Array = np.ndarray[Any, Any]

UNWITNESSED = threshold("callwright.planning", "unwitnessed")
"""A pair without a witness is no likelier than this. Of those that trees called likely for tools of sources they had
not seen, 10 of 190 were needed: docs/lab.md."""
# strength of what the request says of an input, from which it counts as given
GIVEN = threshold("callwright.planning", "given")

DOCUMENTED = (
    "flow_any",
    "told_any",
    "told_about",
    "tells",
    "subject_input",
    "subject_input_about",
    "subject_about",
    "about_subject",
    "output_input",
    "output_goal",
)
SPOKEN = ("said_output", "said_subject", "said_again", "done_before")
POINTING = ("later_b", "back_b")
TAKING = ("flow_payload",)  # an input that takes any text or number
NAMED = ("told_any", "told_about")  # the documentation of the one names the other
_NUMERIC = frozenset({"integer", "number"})
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def unwitnessed(query: str, tools: Sequence[Tool], pairs: Array) -> Array:
    """Which ordered pairs nothing speaks for, (N, N). ``pairs``: their :mod:`callwright.planning.features`.

    Words are not read where no part of the request asks for the tool: then documentation and numbers alone speak.
    """
    supplied = _supplied(pairs)
    pointing = _any(pairs, POINTING) & ~supplied
    taking = _any(pairs, TAKING) & (_column(pairs, "b_deficit") > 0)
    silent = ~_any(pairs, (*DOCUMENTED, *SPOKEN)) & ~pointing & ~taking & ~_counting(query, tools)
    given = supplied & (_column(pairs, "b_given_min") >= GIVEN) & ~_any(pairs, (*NAMED, *SPOKEN))
    found: Array = silent | given
    return found


def _supplied(pairs: Array) -> Array:
    """Whether a part of its own asks for the second tool and gives a value for each of its required inputs."""
    own = (_column(pairs, "b_found") > 0) & (_column(pairs, "same_part") == 0)
    found: Array = own & (_column(pairs, "b_deficit") <= 0)
    return found


def _counting(query: str, tools: Sequence[Tool]) -> Array:
    """Whether the request holds fewer numbers than the second tool requires, and the first may return some."""
    profiles = [profile(t) for t in tools]
    said = len(_NUMBER.findall(query))
    wanted = [sum(f.required and f.type in _NUMERIC for f in p.inputs) for p in profiles]
    lacking = np.array([count > said for count in wanted], dtype=bool)
    giving = np.array([_may_count(p) for p in profiles], dtype=bool)
    found: Array = giving[:, None] & lacking[None, :]
    return found


def _may_count(tool: Profile) -> bool:
    return not tool.declares_output or any(f.type in _NUMERIC or not f.type for f in tool.outputs)


def _column(pairs: Array, name: str) -> Array:
    found: Array = pairs[..., NAMES.index(name)]
    return found


def _any(pairs: Array, names: tuple[str, ...]) -> Array:
    return np.asarray((pairs[..., [NAMES.index(n) for n in names]] > 0).any(axis=-1))
