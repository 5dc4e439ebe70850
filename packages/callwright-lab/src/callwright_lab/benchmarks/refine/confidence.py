"""``callwright bench confidence``: how often the rules' guesses are right, from which their
confidences are taken.

Values: every required argument of a right call is taken away in turn, and what the conversation is
said to state for it is compared with the gold value. Names: the tool is called by other words for
the same thing, with the right tool among those offered and without it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from callwright.dataflow.flow import STOP, VERBS, split_words
from callwright.nouns.errors import CallwrightError
from callwright.nouns.types import READ, Json, Tool, ToolCall
from callwright.repair.provenance.conversation_text import ConversationText
from callwright.repair.rules import extracted as stated
from callwright.repair.rules import formats, names
from callwright.repair.rules.extracted_siblings import list_partner_values
from callwright.schema.value_spellings import NONE
from callwright_lab.benchmarks.harm.bench import find_valid_calls
from callwright_lab.benchmarks.harm.gold import GoldCase, all_cases
from callwright_lab.datasets.sources import data_root

_KIND_OF = {word: kind for kind, listed in VERBS.items() for word in listed}
Fills = dict[tuple[str, bool], Counter[str]]


def count_fills(cases: Iterable[GoldCase]) -> Fills:
    """(kind, reply of one call) -> how many stated values were "right" or "wrong"; kind "none":
    nothing was found.
    """
    found: Fills = {}
    for case in cases:
        talk = ConversationText("\n".join([*(m.content for m in case.messages), case.query]))
        tools = {t.name: t for t in case.tools}
        for call, right in zip(case.calls, find_valid_calls(case), strict=True):
            for key in tools[call.tool].required if right else ():
                verdict = _check_fill(case, call, key, tools[call.tool], talk)
                if verdict is not None:
                    kind, good = verdict
                    counts = found.setdefault((kind, len(case.calls) == 1), Counter())
                    counts["right" if good else "wrong"] += 1
    return found


def _check_fill(
    case: GoldCase, call: ToolCall, key: str, tool: Tool, talk: ConversationText
) -> tuple[str, bool] | None:
    """(kind, whether it is the gold value) for one argument taken away; None where the gold call
    lacks it.
    """
    if not isinstance(call.arguments, dict) or key not in call.arguments:
        return None
    used = [
        value
        for other in case.calls
        for name, value in (other.arguments.items() if isinstance(other.arguments, dict) else ())
        if not (other is call and name == key)
    ]
    alike_calls = [c.arguments for c in case.calls if c is not call and c.tool == call.tool]
    siblings = [given[key] for given in alike_calls if isinstance(given, dict) and key in given]
    part, pairs = tool.properties.get(key, {}), list_partner_values(key, call.arguments)
    made = stated.extract_value(key, part, talk, used, siblings, pairs)
    if made is None:
        return "none", False
    spelled = formats.convert_to_documented(made.value, tool.properties.get(key))
    return made.kind, is_same_guess(made.value if spelled is NONE else spelled, call.arguments[key])


def is_same_guess(one: Json, other: Json) -> bool:
    """Equal, letter case and surrounding space aside; a number equals its own text."""
    return one == other or str(one).strip().lower() == str(other).strip().lower()


def iter_other_names(tool: Tool, draw: Random) -> Iterator[str]:
    """Other words for the same tool: another verb of the same kind, its description's first words,
    a noun less.
    """
    own = split_words(tool.name)
    swapped = [draw.choice(sorted(VERBS[_KIND_OF[w]])) if w in _KIND_OF else w for w in own]
    if tuple(swapped) != own:
        yield "_".join(swapped)
    described = [w for w in split_words(tool.description) if w not in STOP and len(w) > 2][:3]
    if len(described) > 1:
        yield "_".join(described)
    nouns = [w for w in own if w not in _KIND_OF]
    if len(nouns) > 1:
        yield "_".join([*draw.sample(nouns, len(nouns) - 1), "info"])


def count_matches(cases: Iterable[GoldCase], seed: int = 3) -> dict[str, Counter[str]]:
    """Count the matches of altered tool names: "present" (the right tool is offered) and "absent",
    by right, wrong, none.
    """
    draw = Random(seed)
    found: dict[str, Counter[str]] = {"present": Counter(), "absent": Counter()}
    for case in cases:
        tools = [replace(t, effects=READ) for t in case.tools]
        for call in case.calls[:2] if len(tools) > 1 else ():
            right = next(t for t in tools if t.name == call.tool)
            for name in iter_other_names(right, draw):
                for part, offered in (
                    ("present", tools),
                    ("absent", [t for t in tools if t is not right]),
                ):
                    hit, _ = names.match_name(name, call.arguments, offered, case.query)
                    if hit is None:
                        verdict = "none"
                    elif hit.tool is right:
                        verdict = "right"
                    else:
                        verdict = "wrong"
                    found[part][verdict] += 1
    return found


def render_report(filled: Fills, named: Mapping[str, Counter[str]]) -> str:
    """Both tables as Markdown."""
    lines = [
        "| value found by | reply of | right | wrong | share right | confidence |",
        "|---" * 6 + "|",
    ]
    for (kind, alone), counts in sorted(filled.items()):
        total = counts["right"] + counts["wrong"]
        set_to = stated.CONFIDENCE[kind][not alone] if kind in stated.CONFIDENCE else ""
        size = "one call" if alone else "several"
        share = f"{counts['right'] / total:.3f}" if kind != "none" else ""
        lines.append(
            f"| {kind} | {size} | {counts['right']} | {counts['wrong']} | {share} | {set_to} |"
        )
    lines += ["", "| right tool | matched right | matched wrong | left alone |", "|---" * 4 + "|"]
    for part, counts in named.items():
        lines.append(f"| {part} | {counts['right']} | {counts['wrong']} | {counts['none']} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    p = argparse.ArgumentParser(prog="callwright bench confidence", description=__doc__)
    p.add_argument("--data", type=Path, default=None, help="folder that holds the data sets")
    p.add_argument(
        "--bfcl", type=Path, default=None, help="bfcl_eval/data of an unpacked bfcl-eval wheel"
    )
    p.add_argument(
        "--cases", type=int, default=0, help="only so many cases, spread over all (default: all)"
    )
    options = p.parse_args(arguments)
    try:
        cases = [
            c
            for c in all_cases(options.data or data_root(), options.bfcl)
            if c.source != "api_bank"
        ]
    except CallwrightError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    if options.cases:
        cases = cases[:: max(1, len(cases) // options.cases)]
    sys.stdout.write(render_report(count_fills(cases), count_matches(cases)) + "\n")
    return 0
