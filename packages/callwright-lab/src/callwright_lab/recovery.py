"""Whether an error was recognised and corrected, decided by code: the objective counterparts of ERR
and ECR. Pure.

*Recognised*: after the error something else was tried for the same purpose, a call of the same or
of gold's tools that is not the wrong one. *Corrected*: a later, different call was carried out,
succeeded, and gave what gold's call gives. *Told*: the answer says that something failed or could
not be found out; that is counted apart, for the answers of every run here name the calls that
failed, whatever the model noticed. Unlike Tool-MVR's judged rates nothing is asked, and what the
agent says of its error does not count; so the two are never shown under one name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callwright.nouns.trajectory import Step
from callwright.nouns.types import Json, JsonObject, ToolCall, ToolResult, canonical
from callwright_lab.metrics import wilson


@dataclass(frozen=True, slots=True)
class Gold:
    """A right call and what it gives; ``content`` is None where nobody knows (it cannot be carried
    out here).
    """

    tool: str
    arguments: JsonObject
    content: Json = None

    def given_by(self, result: ToolResult) -> bool:
        """Whether a result is what this call gives: the same content, or the same call with any
        content.
        """
        if not result.ok:
            return False
        if self.content not in (None, "", [], {}) and canonical(result.content) == canonical(
            self.content
        ):
            return True
        return result.tool == self.tool and same_call(result.arguments, self.arguments)


@dataclass(frozen=True, slots=True)
class Recovery:
    """What became of one error. ``met``: it happened in this run at all; without that the rest says
    nothing.

    ``mendable``: some call could correct it; where none can, telling is all there is to do.
    """

    met: bool
    recognised: bool = False
    corrected: bool = False
    told: bool = False
    mendable: bool = True

    def facts(self) -> JsonObject:
        """As fields of a row."""
        names = ("met", "recognised", "corrected", "told", "mendable")
        return {name: getattr(self, name) for name in names}


def recovery(
    wrong: ToolCall, gold: Sequence[Gold], after: Sequence[Step], *, told: bool
) -> Recovery:
    """Judge what followed an error. ``gold``: the calls any of which corrects it; none where no
    call can. ``told``: the answer says that something failed.
    """
    aimed = {wrong.tool, *(one.tool for one in gold)}
    tried = any(
        call.tool in aimed and not _same(call, wrong) for step in after for call in step.calls
    )
    results = [result for step in after for result in step.results if not _same(result, wrong)]
    corrected = any(one.given_by(result) for result in results for one in gold)
    return Recovery(True, tried or corrected, corrected, told, bool(gold))


def same_call(given: JsonObject | str, wanted: JsonObject) -> bool:
    """Whether two calls' arguments say the same: a number equals its own text, outer space and
    letter case aside.
    """
    return isinstance(given, dict) and _plain(given) == _plain(wanted)


def _same(one: ToolCall | ToolResult, wrong: ToolCall) -> bool:
    return one.tool == wrong.tool and canonical(one.arguments) == canonical(wrong.arguments)


def _plain(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, bool) or value is None:
        return str(value).casefold()
    if isinstance(value, int | float):
        return f"{float(value):g}"
    text = str(value).strip().casefold()
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


def counted(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many rows: ``met``, ``recognised`` and ``told`` of these, ``mendable`` of these,
    ``corrected`` of those.
    """
    met = [row for row in rows if row.get("met")]
    mendable = [row for row in met if row["mendable"]]
    return {
        "met": len(met),
        "recognised": sum(row["recognised"] for row in met),
        "told": sum(row["told"] for row in met),
        "mendable": len(mendable),
        "corrected": sum(row["corrected"] for row in mendable),
    }


def share(part: int, whole: int) -> str:
    """``3/12 = 25 % (9 – 53)``, Wilson's 95 % interval; a dash of none."""
    if not whole:
        return "–"
    found = wilson(part, whole)
    return (
        f"{part}/{whole} = {100 * found.value:.0f} % ({100 * found.low:.0f} –"
        f" {100 * found.high:.0f})"
    )
