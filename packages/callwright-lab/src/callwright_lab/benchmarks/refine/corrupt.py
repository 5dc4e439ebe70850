"""BFCL's gold calls spoiled in every known way: how many of those that can be repaired are, and who
reports the rest.

Repaired means: what is handed on is what a perfect repairer hands on, or another answer that BFCL's
own checker calls valid and every tool's schema accepts (the checker alone forgives letter case that
a tool would refuse). A corruption whose right call cannot be known any more counts as reported
where something was said about it and no call was handed on as if it were whole; a wrong call handed
on without a word is ``silent``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from callwright.models.chat import Gathered
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import READ, CheckedCall, JsonObject, Tool, ToolCall, to_canonical_json
from callwright.proxy.session.answers.native import NativeCalls
from callwright.repair.gate import Gate
from callwright_lab.benchmarks.comparison.report import render_table
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows
from callwright_lab.benchmarks.refine.bfcl import PARALLEL, SINGLE, Bfcl
from callwright_lab.benchmarks.refine.read import READERS, Reader, read_timed
from callwright_lab.benchmarks.refine.score import has_same_calls
from callwright_lab.benchmarks.refine.task import Examination, Found, Recorded, Task
from callwright_lab.training.refiner.corrupted import write_hermes
from callwright_lab.training.refiner.corruption import KINDS, Corrupted, corrupt

SHOWN = (
    "stripped",
    "json_repair",
    "parsed",
    "sequence",
)  # "rules" alone differs from "sequence" in no class
IDS = ("missing_id", "reused_id")  # classes that only a native message can have
OURS = ("parsed", "rules", "sequence")
ROUNDS = 6  # how often the same calls may be spoiled in different places before a class has too few


COUNTS: Mapping[str, str] = {
    "answerable": "answerable",
    "mended": "repaired",
    "unmended": "unrepaired",
    "lost": "lost",
    "reported": "reported",
    "silent": "silent",
    "seconds": "seconds",
}
"""The counts of a tally: their names in rows on disk, and here."""


@dataclass
class Tally:
    """Counts of one reader on one class."""

    answerable: int = 0
    repaired: int = 0
    unrepaired: int = 0  # answerable ones that stayed wrong without a word
    lost: int = 0  # unanswerable ones
    reported: int = 0
    silent: int = 0
    seconds: float = 0.0
    wrong: list[tuple[Task, Corrupted, Found]] = field(default_factory=list)


def gold_tasks(*, read_only: bool = False) -> list[Task]:
    """BFCL's tasks whose gold calls its own checker calls valid and the tools' own schemas accept
    as they stand.

    ``read_only``: the tools as if their publisher had said that they only read, so that a rule may
    change the tool.
    """
    bfcl = Bfcl((*SINGLE, *PARALLEL))
    kept = [
        t
        for t in bfcl.tasks()
        if bfcl.score(t, Found(t.gold)).right and _is_accepted(t.tools, t.gold)
    ]
    return (
        [replace(t, tools=tuple(replace(x, effects=READ) for x in t.tools)) for t in kept]
        if read_only
        else kept
    )


def _is_accepted(tools: Sequence[Tool], calls: Sequence[ToolCall]) -> bool:
    gate = Gate(tools)
    return all(isinstance(seen := gate.check(c), CheckedCall) and not seen.edits for c in calls)


def iter_corruptions(
    tasks: Sequence[Task], kind: str, count: int, seed: int = 0
) -> Iterator[tuple[Task, Corrupted]]:
    """Corruptions of one kind until ``count`` gold calls are spoiled, tasks in an order of the
    seed's; a class that few calls can have gets each of them in several places.
    """
    order = list(tasks)
    Random(f"{kind} {seed}").shuffle(order)
    seen: set[str] = set()
    spoiled = 0
    for turn in range(ROUNDS):
        for task in order:
            if spoiled >= count:
                return
            drawn = Random(
                f"{kind} {seed * ROUNDS + turn} {task.id}"
            )  # each task its own form of the error
            made = corrupt(task.gold, task.tools, kind, drawn, query=join_user_messages(task))
            mark = to_canonical_json([task.id, made]) if made else ""
            if made is not None and mark not in seen:
                seen.add(mark)
                spoiled += 1
                yield task, made


def join_user_messages(task: Task) -> str:
    return "\n".join(m.content for m in task.messages if m.role != "assistant")


def build_reply(task: Task, spoiled: Corrupted, *, ours: bool = False) -> Recorded:
    """The spoiled calls as a server would have sent them: as text, in the dialect of most open
    models.

    Deltas are put together by their indices, as an SDK does, or (``ours``) as our proxy does.
    """
    message = (
        _assemble_native_message(spoiled) if ours and spoiled.deltas else _build_message(spoiled)
    )
    return Recorded(task.id, "gold", message, "corrupted")


def _assemble_native_message(spoiled: Corrupted) -> JsonObject:
    native = NativeCalls()
    for delta in spoiled.deltas:
        native.feed(delta)
    listed = [
        {"id": c.id, "function": {"name": c.name, "arguments": c.arguments}} for c in native.calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": listed}


def _build_message(spoiled: Corrupted) -> JsonObject:
    if spoiled.kind in IDS:
        native = [
            {"id": c.id, "function": {"name": c.tool, "arguments": write_arguments(c)}}
            for c in spoiled.calls
        ]
        return {"role": "assistant", "content": None, "tool_calls": native}
    if spoiled.deltas:
        gathered = Gathered()
        for delta in spoiled.deltas:
            gathered.feed({"choices": [{"delta": delta}]})
        calls = gathered.calls()
        listed = [
            {"id": c.id, "function": {"name": c.tool, "arguments": c.arguments}} for c in calls
        ]
        return {"role": "assistant", "content": gathered.text, "tool_calls": listed}
    text = spoiled.text or "".join(spoiled.pieces) or write_hermes(spoiled.calls)
    return {"role": "assistant", "content": text}


def write_arguments(call: ToolCall) -> str:
    """Arguments as a server sends them."""
    return call.arguments if isinstance(call.arguments, str) else to_canonical_json(call.arguments)


def measure_readers(
    pairs: Sequence[tuple[Task, Corrupted]], readers: Mapping[str, Reader]
) -> dict[str, Tally]:
    """Every reader on the corruptions of one class."""
    bfcl = Bfcl(())
    tallies = {name: Tally() for name in readers}
    for task, spoiled in pairs:
        plain, ours = build_reply(task, spoiled), build_reply(task, spoiled, ours=True)
        for name, reader in readers.items():
            found = read_timed(reader, ours if name in OURS else plain, task)
            count_reading(tallies[name], bfcl, task, spoiled, found)
    return tallies


def count_reading(
    tally: Tally, judge: Examination, task: Task, spoiled: Corrupted, found: Found
) -> None:
    """Count one reading of one corruption."""
    tally.seconds += found.seconds
    right = is_repaired(judge, task, spoiled, found)
    said = (
        bool(found.abstained)
        or any(isinstance(c.arguments, str) for c in found.calls)
        or not found.calls
    )
    if spoiled.answerable:
        tally.answerable += 1
        tally.repaired += right
        tally.unrepaired += not right and not said
    else:
        tally.lost += 1
        tally.reported += said or right
        tally.silent += not said and not right
    if not right and (spoiled.answerable or not found.abstained):
        tally.wrong.append((task, spoiled, found))


def is_repaired(judge: Examination, task: Task, spoiled: Corrupted, found: Found) -> bool:
    """Return True if the repaired calls are a correct answer again. If ids were corrupted, the new
    ids must also tell the calls apart.
    """
    if spoiled.kind in IDS and len({c.id for c in found.calls if c.id}) < len(found.calls):
        return False
    if has_same_calls(found.calls, spoiled.expected):
        return True
    return _is_accepted(task.tools, found.calls) and judge.score(task, found).right


@dataclass(frozen=True)
class Plan:
    """Settings of a measurement of corrupted replies: which kinds, how many, and where a row per
    class is stored. ``config`` identifies the measured code.
    """

    kinds: Sequence[str] = tuple(KINDS)
    count: int = 1000
    seed: int = 0
    read_only: bool = False
    results: Path | None = None
    failures: Path | None = None
    config: str = ""

    def key(self, kind: str) -> tuple[object, ...]:
        return kind, self.count, self.seed, self.read_only, self.config


def measure_all(
    plan: Plan, tasks: Sequence[Task], say: Callable[[str], object] = str
) -> dict[str, dict[str, Tally]]:
    """Every class of the plan. A class whose row is there is not run again; each new one is written
    at once.
    """
    done = {
        _get_row_key(row): row["tallies"]
        for row in (read_rows(plan.results) if plan.results else ())
    }
    readers = {name: READERS[name] for name in SHOWN}
    found: dict[str, dict[str, Tally]] = {}
    for kind in plan.kinds:
        started = time.monotonic()
        if plan.key(kind) in done:
            found[kind] = {
                name: _read_tally(counts) for name, counts in done[plan.key(kind)].items()
            }
            continue
        found[kind] = measure_readers(
            list(iter_corruptions(tasks, kind, plan.count, plan.seed)), readers
        )
        last = found[kind][SHOWN[-1]]
        say(f"{kind}: {last.repaired}/{last.answerable}, {time.monotonic() - started:.1f} s")
        if plan.results:
            _append_tallies(plan, kind, found[kind])
        if plan.failures:
            _write_failures(plan.failures, found)
    return found


def _get_row_key(row: JsonObject) -> tuple[object, ...]:
    return row["kind"], row["count"], row["seed"], row["read_only"], row["config"]


def _read_tally(counts: Mapping[str, Any]) -> Tally:
    return Tally(**{COUNTS[name]: count for name, count in counts.items()})


def _append_tallies(plan: Plan, kind: str, tallies: Mapping[str, Tally]) -> None:
    names = ("kind", "count", "seed", "read_only", "config")
    row: JsonObject = dict(zip(names, plan.key(kind), strict=True))
    row["tallies"] = {
        name: {count: getattr(t, own) for count, own in COUNTS.items()}
        for name, t in tallies.items()
    }
    assert plan.results is not None
    append_row(plan.results, row)


def measure_and_print(plan: Plan) -> int:
    """The table over every class, and what went wrong after the last reader."""
    unknown = [kind for kind in plan.kinds if kind not in KINDS]
    if unknown:
        raise ConfigError(
            f"there is no corruption {unknown[0]!r}", hint="kinds: " + ", ".join(KINDS)
        )
    found = measure_all(
        plan, gold_tasks(read_only=plan.read_only), lambda line: sys.stderr.write(line + "\n")
    )
    sys.stdout.write(render_tables(found) + "\n")
    return 0


def render_tables(found: Mapping[str, Mapping[str, Tally]]) -> str:
    """One line a class: the answerable ones repaired by every reader, then the fate of those nobody
    can repair.
    """
    names = list(next(iter(found.values())))
    last = names[-1]
    tail = ["wrong and silent", "unanswerable", f"reported by {last}", "silent"]
    lines = [
        ["corruption", "answerable", *names, *tail],
        *(_render_line(k, t) for k, t in found.items()),
    ]
    lines.append(
        _render_line("all", {n: _sum_tallies([t[n] for t in found.values()]) for n in names})
    )
    calls = max(1, sum(t[last].answerable + t[last].lost for t in found.values()))
    spent = ", ".join(
        f"{n} {1e3 * sum(t[n].seconds for t in found.values()) / calls:.2f}" for n in names
    )
    return f"{render_table(lines)}\n\nCPU milliseconds a reply: {spent}."


def _render_line(kind: str, tallies: Mapping[str, Tally]) -> list[str]:
    """One class: the answerable ones repaired by every reader, then what the last one did with the
    rest.
    """
    of = list(tallies.values())[-1]
    repaired = [_format_share(t.repaired, t.answerable) for t in tallies.values()]
    fate = [str(of.unrepaired), str(of.lost), _format_share(of.reported, of.lost), str(of.silent)]
    return [kind, str(of.answerable), *repaired, *fate]


def _sum_tallies(tallies: Sequence[Tally]) -> Tally:
    return Tally(**{name: sum(getattr(t, name) for t in tallies) for name in COUNTS.values()})


def _format_share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "–"


def _write_failures(path: Path, found: Mapping[str, Mapping[str, Tally]], each: int = 12) -> None:
    """Failures for people, the most frequent class first."""
    parts = []
    for kind, tallies in sorted(found.items(), key=lambda item: -len(item[1][SHOWN[-1]].wrong)):
        wrong = tallies[SHOWN[-1]].wrong
        if wrong:
            parts.append(
                f"## {kind}: {len(wrong)} not right\n"
                + "\n".join(_render_failure(*w) for w in wrong[:each])
            )
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _render_failure(task: Task, spoiled: Corrupted, found: Found) -> str:
    message = to_canonical_json(_build_message(spoiled))
    lines = [
        f"- {task.id}: {spoiled.note}"
        + ("" if spoiled.answerable else " (unanswerable: must be reported)")
    ]
    lines += [f"  - in: {message[:700]}", f"  - query: {join_user_messages(task)[-400:]!r}"]
    wanted = to_canonical_json([[c.tool, c.arguments] for c in spoiled.expected])
    lines += [f"  - got: {to_canonical_json(found.to_json())[:700]}", f"  - wanted: {wanted[:700]}"]
    lines += [
        f"  - edits: {[e.rule for e in found.edits]}, reported:"
        f" {[a[:120] for a in found.abstained][:3]}"
    ]
    return "\n".join(lines)
