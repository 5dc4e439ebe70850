"""Answers, and parts of answers, that are made without a model: results, failures and gaps in fixed
words of the user's language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from callwright.grounding.answer.reply import Drafts
from callwright.grounding.facts import render_content
from callwright.grounding.quantity import find_numbers
from callwright.language.spoken import guess_spoken, load_phrases
from callwright.nouns.types import (
    Answer,
    Citation,
    Json,
    Skip,
    Statement,
    ToolCall,
    ToolResult,
    to_canonical_json,
)
from callwright.repair.pending import is_pending

_QUOTED = 200  # characters of a result that are shown as they stand
_GIVEN = 100  # of a call's arguments
_TOLD = 160  # of a tool's message
_REASONS = 5  # that an answer gives for its having none
_NAMED = 3  # tools that were left out for one reason
_UNTOLD = 3  # results that are quoted where sentences were left out
_CHANGES = 3  # values of one record that a later result has otherwise


def build_abstention(
    results: Sequence[ToolResult], skips: Sequence[Skip], why: str = "", query: str = ""
) -> Answer:
    """The honest answer where nothing could be said: why, what failed, and what tools did return.
    ``query``: what tells the language.

    Tools that were left out for the same reason are told of together; the trace has each of them.
    """
    phrases = load_phrases(guess_spoken(query))
    missing = [_render_failure(r, phrases) for r in results if not r.ok]
    missing += [
        f"{render_call(r)} {phrases['nothing']}" for r in results if r.ok and is_empty(r.content)
    ]
    missing = [*missing, *_render_skips(skips, phrases)]
    if len(missing) > _REASONS:
        missing = [*missing[:_REASONS], f"and {len(missing) - _REASONS} more"]
    telling = (result for result in list_telling(results) if not is_empty(result.content))
    found = [quote_result(result) for result in telling]
    reasons = "; ".join(missing) or ("" if why else phrases["no_call"])
    said = ": ".join(part for part in (phrases["no_answer"], why, reasons) if part) + "."
    lost = [f"an answer in words: {why}"] if found and why else []
    text = "\n".join((said, *(s.text for s in found)))
    return Answer(text, (Statement(said, "limitation"), *found), (*lost, *missing))


def report_outcome(results: Sequence[ToolResult], query: str) -> Answer:
    """Return an answer without a model: each failure and each result on a line of its own, for
    results that a model must not put into words of its own.
    """
    phrases = load_phrases(guess_spoken(query))
    failed = tuple(_render_failure(r, phrases) for r in results if not r.ok)
    found = [quote_result(result) for result in list_telling(results)]
    said = "\n".join((f"{phrases['not_done']}:", *(f"- {one}" for one in failed)))
    quoted = [f"{phrases['results']}:", *(f"- {one.text}" for one in found)] if found else []
    statements = (Statement(said, "limitation"), *found)
    return Answer("\n".join((said, *quoted)), statements, failed)


def build_no_answer(why: str, query: str = "") -> Answer:
    """Return an answer that says that the model wrote none, with the reason."""
    said = f"{load_phrases(guess_spoken(query))['given_up']}: {why}."
    return Answer(said, (Statement(said, "limitation"),), (why,))


def quote_result(result: ToolResult) -> Statement:
    """Return a statement about one call's result: its beginning, values as they stand."""
    quote = render_content(result.content)[:_QUOTED]
    said = " ".join(_render_plainly(result.content).split())
    shown = said if len(said) <= _QUOTED else f"{said[:_QUOTED]}…"
    return Statement(f"{render_call(result)}: {shown}", "supported", (Citation(result.id, quote),))


def render_call(call: ToolCall | ToolResult, most: int = _GIVEN) -> str:
    """A call as a user reads it: ``get_weather(city: Oslo, days: 3)``. ``most``: characters of the
    arguments.
    """
    given = _render_plainly(call.arguments)
    return f"{call.tool}({given if len(given) <= most else given[: most - 1] + '…'})"


def _render_plainly(value: Json) -> str:
    """A value in few signs: members of flat objects as ``key: value``, else JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and all(map(_is_scalar, value.values())):
        return ", ".join(f"{key}: {_render_plainly(one)}" for key, one in value.items())
    if isinstance(value, list) and value and all(_is_flat(one) for one in value):
        joint = "; " if any(isinstance(one, dict) for one in value) else ", "
        return joint.join(map(_render_plainly, value))
    return to_canonical_json(value)


def _is_flat(value: Json) -> bool:
    members = value.values() if isinstance(value, dict) else [value]
    return all(map(_is_scalar, members))


def _is_scalar(value: Json) -> bool:
    return not isinstance(value, dict | list)


def is_empty(content: object) -> bool:
    """Return True if a result holds nothing."""
    return content is None or content in ("", [], {})


def list_telling(results: Sequence[ToolResult]) -> list[ToolResult]:
    """The results that came and hold something; where none does, those that are a list without
    entries: that there is none is an answer.
    """
    telling = [r for r in results if r.ok and not is_empty(r.content)]
    return telling or [r for r in results if r.content == [] and _is_answered(r)]


def _is_answered(result: ToolResult) -> bool:
    """Return True if the tool did what it was asked for, even if it found nothing."""
    return result.failure is None or result.failure.kind == "empty"


def list_untold(results: Sequence[ToolResult], statements: Sequence[Statement]) -> list[ToolResult]:
    """The last telling results on which none of these statements rests, three at most. Of equal
    calls the last one counts, and a result that says what a cited one says is told.
    """
    cited = {citation.result for one in statements for citation in one.citations}
    telling = list_telling(results)
    told = {to_canonical_json([r.tool, r.content]) for r in telling if r.id in cited}
    last = {to_canonical_json([r.tool, r.arguments]): r for r in telling}
    untold = [r for r in last.values() if to_canonical_json([r.tool, r.content]) not in told]
    return untold[-_UNTOLD:]


def list_missing(
    drafts: Drafts, results: Sequence[ToolResult], phrases: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the gaps that the model reports, and every failure that no later success
    superseded; that a tool found nothing is none where it is all that is told.
    """
    good = {(r.tool, to_canonical_json(r.arguments)) for r in results if r.ok}
    slots = {r.slot for r in results if r.ok and r.slot}
    telling = list_telling(results)
    failed = [
        _render_failure(r, phrases)
        for r in results
        if not r.ok
        and r not in telling
        and (r.tool, to_canonical_json(r.arguments)) not in good
        and not (r.slot and r.slot in slots)
    ]
    cut = [phrases["cut"]] if drafts.cut else []
    return tuple(dict.fromkeys((*drafts.missing, *failed, *cut)))


def append_missing(text: str, missing: Sequence[str], phrases: Mapping[str, str]) -> str:
    """The answer's text, and below it what is missing and not said in it."""
    left = [m for m in missing if m not in text]
    if not left:
        return text.strip()
    lines = "\n".join(f"- {m}" for m in left)
    return f"{text.strip()}\n\n{phrases['missing']}:\n{lines}".strip()


def list_changes(results: Sequence[ToolResult], text: str) -> list[Statement]:
    """Statements about records that were read twice and had changed, where the text leaves out a
    value of theirs: "get_balance(account: main): balance: 140.0 → 200.0".
    """
    read: dict[str, list[ToolResult]] = {}
    for result in results:
        if result.ok and isinstance(result.content, dict) and not is_pending(result.content):
            read.setdefault(f"{result.tool} {to_canonical_json(result.arguments)}", []).append(
                result
            )
    return [one for again in read.values() for one in _compare_readings(again, text)]


def _compare_readings(again: Sequence[ToolResult], text: str) -> Iterator[Statement]:
    contents = [one.content for one in again if isinstance(one.content, dict)]
    given = [*again[0].arguments.values()]
    if not any(value in given for value in contents[0].values()):
        return  # nothing tells that it is one record: two orders have two numbers
    keys = [
        key for key in contents[0] if len({to_canonical_json(c.get(key)) for c in contents}) > 1
    ]
    values = [[content.get(key) for content in contents] for key in keys]
    told = [value for row in values for value in row]
    if not 0 < len(keys) <= _CHANGES or not all(map(_is_scalar, told)):
        return
    if all(_is_stated(value, text) for value in told):
        return
    rows = (" → ".join(map(_render_plainly, row)) for row in values)
    changes = ", ".join(f"{key}: {row}" for key, row in zip(keys, rows, strict=True))
    cited = tuple(Citation(one.id, render_content(one.content)[:_QUOTED]) for one in again)
    yield Statement(f"{render_call(again[0])}: {changes}", "supported", cited)


def _is_stated(value: Json, text: str) -> bool:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return any(number.value == value for number in find_numbers(text))
    return _render_plainly(value).casefold() in text.casefold()


def _render_failure(result: ToolResult, phrases: Mapping[str, str]) -> str:
    failure = result.failure
    if failure is None:
        return ""
    if failure.kind == "empty":
        return f"{render_call(result)} {phrases['nothing']}"
    message = " ".join(failure.message.split()).rstrip(". ") or failure.kind.replace("_", " ")
    told = message if len(message) <= _TOLD else message[: _TOLD - 1] + "…"
    return f"{render_call(result)} {phrases['failed']}: {told}"


def _render_skips(skips: Sequence[Skip], phrases: Mapping[str, str]) -> list[str]:
    """Return the reasons why tools were not called; refused calls come first."""
    tools: dict[str, list[str]] = {}
    for skip in sorted(skips, key=lambda skip: not skip.refused):
        tools.setdefault(skip.reason.rstrip(". "), []).append(skip.tool)
    told = []
    for reason, named in tools.items():
        names = list(dict.fromkeys(named))
        if len(names) == 1:
            told.append(f"{names[0]} {phrases['skipped']}: {reason}")
        else:
            others = f" and {len(names) - _NAMED} others" if len(names) > _NAMED + 1 else ""
            shown = names[:_NAMED] if others else names
            said = phrases["tools_skipped"].format(number=len(names))
            told.append(f"{said}: {reason} ({', '.join(shown)}{others})")
    return told
