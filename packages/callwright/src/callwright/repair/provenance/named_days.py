"""Days that the user names by a word that counts from today: "tomorrow", "übermorgen", "后天".

A model knows the word and gets the day wrong: it takes the next one, or one of its training. Where
the words leave one day only, a call gets that day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from callwright.nouns.types import JsonObject, Tool
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.provenance.value_judge import ValueJudge, read_day
from callwright.schema.compiled import compiled_for

_FORM = re.compile(r"\d{4}-\d\d-\d\d(?!\d)")  # ISO 8601, with or without a time


class WrongDay(NamedTuple):
    """An argument that holds another day than the one that was named, and the value with that day."""

    key: str
    value: str
    right: str


def find_wrong_day(
    arguments: JsonObject, tool: Tool, sources: ProvenanceIndex, said: Sequence[str]
) -> WrongDay | None:
    """The only argument of a valid call that is a day, where it is required and the user's last
    message names another one by a word such as "tomorrow". None where anything of that is not
    certain: there are two days in the call or in the message, a result gives the day, today is not
    known, or the language has no list of such words.
    """
    root = compiled_for(tool).root
    nodes = {key: root.property(key) for key in arguments}
    days = [key for key, node in nodes.items() if node and read_day(arguments[key], node)]
    if len(days) != 1 or days[0] not in tool.required:
        return None
    key, value = days[0], str(arguments[days[0]])
    judge = ValueJudge(sources, said)
    right = judge.find_near_day()
    if right is None or not judge.is_other_day(value) or not _FORM.match(value):
        return None
    return WrongDay(key, value, right.isoformat() + value[10:])
