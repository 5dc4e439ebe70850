"""Finds the evidence for a dependency: a tool waits for another one only if there is a witness.

Without evidence, trees predict the usual answer, and in the plans they learned from, waiting is
usual. So "the weather in Oslo and what the Equinor stock costs" became two layers, over tools that
share no word. A pair has a **witness** in these cases. A schema, a name or a description ties the
one tool to the other. The request mentions the one in the part that asks for the other, or points
back there. The request lacks an input that the other requires and the one could give. A pair
without a witness costs no layer.

A tie by schemas alone is no witness if the tool's own part of the request gives all that it
requires. For example, "a timer for 10 minutes" needs no minutes from another tool.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from callwright.dataflow.flow import Profile, get_profile
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


def find_unwitnessed(query: str, tools: Sequence[Tool], pairs: Array) -> Array:
    """Return the ordered pairs without any witness, (N, N). ``pairs``: their
    :mod:`callwright.planning.features`.

    Words are not read if no part of the request asks for the tool: then only documentation and
    numbers count.
    """
    supplied = _mask_supplied(pairs)
    pointing = _has_any(pairs, POINTING) & ~supplied
    taking = _has_any(pairs, TAKING) & (_get_column(pairs, "b_deficit") > 0)
    silent = (
        ~_has_any(pairs, (*DOCUMENTED, *SPOKEN))
        & ~pointing
        & ~taking
        & ~_mask_counting(query, tools)
    )
    given = (
        supplied
        & (_get_column(pairs, "b_given_min") >= GIVEN)
        & ~_has_any(pairs, (*NAMED, *SPOKEN))
    )
    found: Array = silent | given
    return found


def _mask_supplied(pairs: Array) -> Array:
    """Return for each pair whether the second tool is fully supplied. A part of its own asks for it
    and gives a value for each of its required inputs.
    """
    own = (_get_column(pairs, "b_found") > 0) & (_get_column(pairs, "same_part") == 0)
    found: Array = own & (_get_column(pairs, "b_deficit") <= 0)
    return found


def _mask_counting(query: str, tools: Sequence[Tool]) -> Array:
    """Return for each pair whether the first tool may supply missing numbers. The request holds
    fewer numbers than the second tool requires, and the first may return some.
    """
    profiles = [get_profile(t) for t in tools]
    said = len(_NUMBER.findall(query))
    wanted = [sum(f.required and f.type in _NUMERIC for f in p.inputs) for p in profiles]
    lacking = np.array([count > said for count in wanted], dtype=bool)
    giving = np.array([_may_count(p) for p in profiles], dtype=bool)
    found: Array = giving[:, None] & lacking[None, :]
    return found


def _may_count(tool: Profile) -> bool:
    return not tool.declares_output or any(f.type in _NUMERIC or not f.type for f in tool.outputs)


def _get_column(pairs: Array, name: str) -> Array:
    found: Array = pairs[..., NAMES.index(name)]
    return found


def _has_any(pairs: Array, names: tuple[str, ...]) -> Array:
    return np.asarray((pairs[..., [NAMES.index(n) for n in names]] > 0).any(axis=-1))
