"""Decides by code whether an error was recognised and corrected: the objective counterparts of ERR
and ECR. Pure.

*Recognised*: after the error the run makes another call for the same purpose: to the same tool or
to gold's, but not the wrong call. *Corrected*: a later, different call was executed, succeeded, and
gave what gold's call gives. *Told*: the answer says that something failed or could not be found
out. It is counted apart, because every answer here names the failed calls, whatever the model
noticed. Unlike Tool-MVR's judged rates, these ask no model and ignore what the agent says of its
error. So the two are never shown under one name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from callwright.nouns.trajectory import Step
from callwright.nouns.types import Json, JsonObject, ToolCall, ToolResult, to_canonical_json
from callwright_lab.metrics import wilson_interval

_NUMBER = re.compile(r"-?(?!0\d)\d+(?:\.\d+)?")  # 007, +5 and 1e3 are codes


@dataclass(frozen=True, slots=True)
class Gold:
    """A right call and what it gives; ``content`` is None where nobody knows (it cannot be carried
    out here).
    """

    tool: str
    arguments: JsonObject
    content: Json = None

    def given_by(self, result: ToolResult) -> bool:
        """Return True if a result matches this call: the same content, or the same call with any
        content.
        """
        if not result.ok:
            return False
        if self.content not in (None, "", [], {}) and to_canonical_json(
            result.content
        ) == to_canonical_json(self.content):
            return True
        return result.tool == self.tool and has_same_arguments(result.arguments, self.arguments)


@dataclass(frozen=True, slots=True)
class Recovery:
    """Recovery from one error in one run. ``met``: the error happened in this run; without it the
    other fields mean nothing. ``repairable``: some call could correct the error; otherwise telling is
    all that can be done.
    """

    met: bool
    recognised: bool = False
    corrected: bool = False
    told: bool = False
    repairable: bool = True

    def facts(self) -> JsonObject:
        """As fields of a row."""
        return {
            "met": self.met,
            "recognised": self.recognised,
            "corrected": self.corrected,
            "told": self.told,
            "mendable": self.repairable,  # as rows on disk call it
        }


def judge_recovery(
    wrong: ToolCall, gold: Sequence[Gold], after: Sequence[Step], *, told: bool
) -> Recovery:
    """Judge what followed an error. ``gold``: the calls any of which corrects it; none where no
    call can. ``told``: the answer says that something failed.
    """
    aimed = {wrong.tool, *(one.tool for one in gold)}
    tried = any(
        call.tool in aimed and not _is_same_call(call, wrong)
        for step in after
        for call in step.calls
    )
    results = [
        result for step in after for result in step.results if not _is_same_call(result, wrong)
    ]
    corrected = any(one.given_by(result) for result in results for one in gold)
    return Recovery(True, tried or corrected, corrected, told, bool(gold))


def has_same_arguments(given: JsonObject | str, wanted: JsonObject) -> bool:
    """Return True if two calls' arguments mean the same: numbers equal their text, and outer space
    and letter case are ignored.
    """
    return isinstance(given, dict) and _normalise_value(given) == _normalise_value(wanted)


def _is_same_call(one: ToolCall | ToolResult, wrong: ToolCall) -> bool:
    return one.tool == wrong.tool and to_canonical_json(one.arguments) == to_canonical_json(
        wrong.arguments
    )


def _normalise_value(value: Json) -> Any:
    """Numbers as Decimal, which is exact: two identifiers of ten digits may differ in the last."""
    if isinstance(value, dict):
        return {key: _normalise_value(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_normalise_value(inner) for inner in value]
    if isinstance(value, bool) or value is None:
        return str(value).casefold()
    if isinstance(value, int | float):
        return Decimal(value if isinstance(value, int) else repr(value))
    text = value.strip().casefold()
    return Decimal(text) if _NUMBER.fullmatch(text) else text


def count_outcomes(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Count the rows: ``met``; of these ``recognised``, ``told`` and ``mendable``; of the
    repairable ones ``corrected``.
    """
    met = [row for row in rows if row.get("met")]
    repairable = [row for row in met if row["mendable"]]
    return {
        "met": len(met),
        "recognised": sum(row["recognised"] for row in met),
        "told": sum(row["told"] for row in met),
        "mendable": len(repairable),
        "corrected": sum(row["corrected"] for row in repairable),
    }


def format_share(part: int, whole: int) -> str:
    """``3/12 = 25 % (9 – 53)``, Wilson's 95 % interval; a dash of none."""
    if not whole:
        return "–"
    found = wilson_interval(part, whole)
    return (
        f"{part}/{whole} = {100 * found.value:.0f} % ({100 * found.low:.0f} –"
        f" {100 * found.high:.0f})"
    )
