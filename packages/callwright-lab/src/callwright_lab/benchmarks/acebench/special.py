"""Special rows: a value is missing, a value is wrong, or no tool fits. Every call is wrong there.

Two rules. :func:`check_words` is the suite's: the reply must hold the words that its prompt
demands. :func:`check_answer` is for a client with native tools, whose prompt demands no such
words:

* no call is made, and something is said;
* ``incomplete``: the answer names every missing parameter. A name is found as it is written or as
  its words in a row (``time_period``, ``timePeriod``, "time period"), whatever the case; so a
  question in Chinese must still hold the parameter's name;
* ``error_param``: the answer holds every wrong value as the user wrote it, whatever the case and
  the spaces;
* ``irrelevant``: the answer holds the suite's own words, for which the prompt of the native rows
  asks too.

What an answer means beyond that, code cannot tell: "I evaluated plan 1234WrongID" without a call
passes. A table of these rows therefore shows beside them how often no call was made, which needs
no words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from callwright_lab.datasets.acebench import AceRow

MISSING = "Missing necessary parameters"
INCORRECT = "There is incorrect value"
LIMITED = "the limitations of the function"
_SEPARATED = re.compile(r"[\W_]+")


def check_words(row: AceRow, text: str) -> str:
    """Return why the suite rejects a reply to a special row; empty where it accepts it."""
    if row.category == "special_irrelevant":
        return "" if LIMITED in text else "does not say that it cannot"
    gold: Mapping[str, Any] = row.gold
    incomplete = row.category == "special_incomplete"
    sentence = MISSING if incomplete else INCORRECT
    for name, values in gold.items():
        if sentence not in text:
            return f"does not say: {sentence}"
        wanted = [name, *values] if incomplete else values
        if absent := [value for value in wanted if value not in text]:
            return f"does not name {absent[0]}"
    return ""


def check_answer(row: AceRow, text: str, *, is_calling: bool) -> str:
    """Return why an answer of a client with native tools is not right; empty where it is."""
    if is_calling:
        return "calls where no call is right"
    if not text.strip():
        return "says nothing"
    if row.category == "special_irrelevant":
        return "" if LIMITED in text.casefold() else "does not say that it cannot"
    squash = _squash_name if row.category == "special_incomplete" else _squash_value
    absent = [value for value in iter_named(row) if squash(value) not in squash(text)]
    return f"does not name {absent[0]}" if absent else ""


def iter_named(row: AceRow) -> Iterable[str]:
    """Missing parameters or wrong values that an answer has to name; nothing of other rows."""
    if row.category in ("special_incomplete", "special_error_param"):
        for values in row.gold.values():
            yield from values


def _squash_name(text: str) -> str:
    return _SEPARATED.sub("", text).casefold()


def _squash_value(text: str) -> str:
    return "".join(text.split()).casefold()
