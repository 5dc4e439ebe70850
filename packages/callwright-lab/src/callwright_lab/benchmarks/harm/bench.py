"""``callwright bench harm``: what refinement does to calls that were right and to replies that call
nothing.

Every gold reply is written in every dialect, read and refined (the time of the first row is that of
refining, of the others that of reading, where it read the same calls). Harm is any difference: a
call lost, added or with another name or argument. Calls whose gold violates the tool's own schema
are counted apart, strictly and with a value equal to its own text (5 and "5"). Prose is harmed if a
call is found in it or its text changes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.errors import CallwrightError
from callwright.nouns.types import Json, ToolCall, to_canonical_json
from callwright.parsing import DIALECTS, write_calls
from callwright.repair.gate import Gate, Refusal
from callwright.repair.ordering.references import find_call_references
from callwright.repair.reading import read_source
from callwright.repair.refinement import refine
from callwright.repair.result import Refinement
from callwright.repair.rules.reference_placeholders import replace_references
from callwright_lab.benchmarks.harm.gold import GoldCase, all_cases
from callwright_lab.benchmarks.harm.prose import Prose, prose_replies
from callwright_lab.datasets.sources import data_root

NATIVE = "native"  # calls as calls, not written as text
LADDERS: Mapping[str, tuple[str, ...]] = {
    "read": (),
    "rules": ("rules",),
    "sequence": ("rules", "sequence"),
}


@dataclass(slots=True)
class Count:
    """Calls seen and harmed; ``unlawful``: those whose gold breaks the schema, changed at all and
    beyond own text.
    """

    calls: int = 0
    harmed: int = 0
    unlawful: int = 0
    unlawful_changed: int = 0
    unlawful_beyond: int = 0
    seconds: float = 0.0
    examples: list[str] = field(default_factory=list)

    def add(self, other: Count) -> None:
        self.calls += other.calls
        self.harmed += other.harmed
        self.unlawful += other.unlawful
        self.unlawful_changed += other.unlawful_changed
        self.unlawful_beyond += other.unlawful_beyond
        self.seconds += other.seconds
        self.examples += other.examples[: 5 - len(self.examples)] if len(self.examples) < 5 else []

    def cells(self) -> str:
        share = 100 * self.harmed / self.calls if self.calls else 0.0
        each = 1e6 * self.seconds / max(1, self.calls + self.unlawful)
        apart = f"{self.unlawful} | {self.unlawful_changed} | {self.unlawful_beyond}"
        return f"{self.calls} | {self.harmed} | {share:.3f} | {apart} | {each:.0f}"


Compared: TypeAlias = tuple[Count, list[ToolCall]]


def find_valid_calls(case: GoldCase) -> list[bool]:
    """Return for each call whether the gate accepts it unchanged, apart from references and nulls
    in optional parameters.
    """
    gate, by_name = Gate(case.tools), {t.name: t for t in case.tools}
    found = find_call_references(case.calls, case.tools, case.query)
    made = []
    for i, call in enumerate(case.calls):
        assert isinstance(call.arguments, dict)
        aside = replace_references(
            call.arguments, by_name[call.tool], [r for r in found if r.call == i]
        )
        verdict = gate.check(ToolCall("", call.tool, aside.arguments))
        made.append(not isinstance(verdict, Refusal) and not verdict.edits)
    return made


def measure_harm(
    case: GoldCase,
    dialect: str,
    rule_groups: Sequence[str],
    legal: Sequence[bool],
    known: dict[str, Refinement] | None = None,
) -> Count:
    """One gold reply in one dialect through the pipeline.

    ``known`` keeps what became of each distinct list of calls that was read: refinement is a
    function of it, so that a dialect which reads what another read is not refined twice.
    """
    known = {} if known is None else known
    started = time.process_time()
    calls = (
        case.calls
        if dialect == NATIVE
        else read_source(write_calls(case.calls, dialect), case.tools).calls
    )
    key = to_canonical_json([[c.id, c.tool, c.arguments] for c in calls])
    if key not in known:
        known[key] = refine(
            list(calls),
            case.tools,
            query=case.query,
            messages=case.messages,
            rule_groups=rule_groups,
        )
    found = known[key]
    seconds = time.process_time() - started
    count, lost = compare_calls(case, legal, found.calls)
    count.seconds = seconds
    count.examples += [_format_example(case, dialect, found, call) for call in lost]
    return count


def compare_calls(case: GoldCase, legal: Sequence[bool], calls: Sequence[ToolCall]) -> Compared:
    """Return the counts of a case's changed calls, and the correct calls that were changed."""
    count, lost = Count(), []
    strict = Counter(_fingerprint_call(c) for c in calls)
    loose = Counter(_fingerprint_call(c, own_text=True) for c in calls)
    for call, right in zip(case.calls, legal, strict=True):
        same, alike = (
            _take_fingerprint(strict, _fingerprint_call(call)),
            _take_fingerprint(loose, _fingerprint_call(call, own_text=True)),
        )
        if right:
            count.calls += 1
            count.harmed += not same
        else:
            count.unlawful += 1
            count.unlawful_changed += not same
            count.unlawful_beyond += not alike
        if right and not same:
            lost.append(call)
    count.harmed += max(0, len(calls) - len(case.calls))
    return count, lost


def _take_fingerprint(prints: Counter[str], wanted: str) -> bool:
    if prints[wanted] <= 0:
        return False
    prints[wanted] -= 1
    return True


def _fingerprint_call(call: ToolCall, *, own_text: bool = False) -> str:
    return to_canonical_json(
        [call.tool, _to_own_text(call.arguments) if own_text else call.arguments]
    )


def _to_own_text(value: Json) -> Json:
    """The value with scalars as their own text, and texts of objects and lists as what they
    spell.
    """
    if isinstance(value, dict):
        return {k: _to_own_text(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_to_own_text(v) for v in value]
    if isinstance(value, str):
        if value.lstrip()[:1] in ("{", "["):
            try:
                return _to_own_text(parse_lenient(value).value)
            except JsonError:
                return value
        return value.lower() if value.lower() in ("true", "false") else _normalise_number(value)
    return (
        to_canonical_json(value)
        if isinstance(value, bool) or value is None
        else _normalise_number(to_canonical_json(value))
    )


def _normalise_number(text: str) -> str:
    try:
        return repr(float(text))
    except ValueError:
        return text


def _format_example(case: GoldCase, dialect: str, found: Refinement, call: ToolCall) -> str:
    edits = ", ".join(f"{e.path} {e.rule}" for e in found.edits) or "read differently"
    return f"{case.id} in {dialect}: {call.tool}{to_canonical_json(call.arguments)[:120]}: {edits[:160]}"


def check_prose(prose: Prose) -> str:
    """Return a description of the change to a reply without calls; "" if it is unchanged."""
    found = refine(prose.text, prose.tools, query="")
    if found.calls:
        return f"{prose.id}: read as {found.dialect}: {found.calls[0].tool}"
    return "" if found.text.strip() == prose.text.strip() else f"{prose.id}: its text changed"


def sample_cases(cases: Sequence[GoldCase], most: int) -> list[GoldCase]:
    """Cases of about ``most`` calls, every source taken in turn, spread over each source."""
    queues = {}
    for source in dict.fromkeys(c.source for c in cases):
        own = [c for c in cases if c.source == source]
        queues[source] = own[::3] + own[1::3] + own[2::3]
    made: list[GoldCase] = []
    calls = 0
    while calls < most and any(queues.values()):
        for queue in queues.values():
            if queue and calls < most:
                made.append(queue.pop(0))
                calls += len(made[-1].calls)
    return made


def measure_cases(
    cases: Iterable[GoldCase], dialects: Sequence[str], rule_groups: Sequence[str]
) -> dict[tuple[str, str], Count]:
    """Counts by (dialect, source)."""
    found: dict[tuple[str, str], Count] = {}
    for case in cases:
        legal = find_valid_calls(case)
        known: dict[str, Refinement] = {}
        for dialect in dialects:
            found.setdefault((dialect, case.source), Count()).add(
                measure_harm(case, dialect, rule_groups, legal, known)
            )
    return found


def render_report(
    found: Mapping[tuple[str, str], Count], prose: Sequence[str], replies: int
) -> str:
    """The tables as Markdown, worst examples below."""
    head = (
        "| {} | right calls | harmed | % | unlawful gold | changed | beyond own text | µs a call |"
    )
    lines = []
    for place, title in ((0, "dialect"), (1, "source")):
        lines += [head.format(title), "|---" * 8 + "|"]
        sums: dict[str, Count] = {}
        for key, count in found.items():
            sums.setdefault(key[place], Count()).add(count)
        lines += [f"| {name} | {count.cells()} |" for name, count in sums.items()]
        lines.append("")
    total = Count()
    for count in found.values():
        total.add(count)
    share = 100 * len(prose) / replies if replies else 0.0
    lines.append(f"all: {total.cells()}")
    lines.append(f"prose: {len(prose)} of {replies} harmed ({share:.2f} %)")
    examples = [e for count in found.values() for e in count.examples]
    return "\n".join([*lines, "", *examples[:40], *prose[:40]])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; exit code 1 where the harm rate is above ``--most`` percent."""
    p = argparse.ArgumentParser(prog="callwright bench harm", description=__doc__)
    p.add_argument(
        "--data",
        type=Path,
        default=None,
        help="folder that holds the data sets (default: $CALLWRIGHT_DATA)",
    )
    p.add_argument(
        "--bfcl", type=Path, default=None, help="bfcl_eval/data of an unpacked bfcl-eval wheel"
    )
    p.add_argument("--calls", type=int, default=5000, help="how many right calls (default 5000)")
    p.add_argument(
        "--prose", type=int, default=1000, help="how many replies without calls (default 1000)"
    )
    p.add_argument(
        "--dialects",
        default="",
        help="comma-separated; default: native and all that are read unasked",
    )
    p.add_argument(
        "--ladder",
        choices=LADDERS,
        default="sequence",
        help="how far up (default: rules and sequence)",
    )
    p.add_argument(
        "--most",
        type=float,
        default=0.2,
        help="harm rate in percent that still passes (default 0.2)",
    )
    options = p.parse_args(arguments)
    try:
        cases = all_cases(options.data or data_root(), options.bfcl)
    except CallwrightError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    dialects = [d for d in options.dialects.split(",") if d] or [
        NATIVE,
        *(name for name, row in DIALECTS.items() if not row.asked),
    ]
    found = measure_cases(sample_cases(cases, options.calls), dialects, LADDERS[options.ladder])
    replies = prose_replies(cases, options.data or data_root(), options.prose)
    prose = [said for reply in replies if (said := check_prose(reply))]
    sys.stdout.write(render_report(found, prose, len(replies)) + "\n")
    total = Count()
    for count in found.values():
        total.add(count)
    return int(
        100 * total.harmed > options.most * total.calls
        or 100 * len(prose) > options.most * len(replies)
    )
