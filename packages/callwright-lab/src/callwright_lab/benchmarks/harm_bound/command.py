"""``callwright train harm-bound``: which changes of a refiner may be taken, so that right replies
stay right.

Right replies are put to the refiner. A score of its changes is cut so that the share of right
replies that become wrong is at most ``--limit``, with 95 % confidence. The file serves
``--harm-bound`` of ``callwright refine``, ``proxy`` and ``gateway``, and counts only for this
refiner, this upstream and these settings.

Right replies are the gold calls of the public data sets, as of an upstream named "gold", or those
of your own upstream (``--right``: a line of JSON each, with query, tools and calls). None calls a
tool of the rows that the refiner was trained on (``--training``) or the score was fitted on.
Answers are kept in ``--replies``: a run that was ended goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any, get_args

from callwright.cli.refiner import RefinerSetup
from callwright.models.identity import identify_model
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import ToolCall, to_canonical_json
from callwright.repair.by_model.guard import SCORED
from callwright.repair.by_model.harm_bound import Cut, CutName, HarmBound, serialize_bound
from callwright.repair.by_model.harm_score import FEATURES, PLAIN
from callwright.repair.by_model.refiner_settings import MAX_TOKENS, Prompt, RefinerSettings
from callwright.storage.lines import read_rows
from callwright.tools.lists.tools import tools_from_wire
from callwright_lab.benchmarks.harm.gold import GoldCase, all_cases
from callwright_lab.benchmarks.harm_bound.asking import Answers, AskedAnswers, MadeAnswers
from callwright_lab.benchmarks.harm_bound.calibration import (
    CONFIDENCE,
    LIMIT,
    Outcome,
    check_count,
    choose_cut,
    compute_upper_bound,
)
from callwright_lab.benchmarks.harm_bound.fitting import LEAST, fit_score
from callwright_lab.benchmarks.harm_bound.proposals import (
    Seen,
    is_sound,
    iter_made,
    judge_proposal,
    keep_once,
    leave_out_tools,
    list_tools,
    see_right,
    see_spoiled,
    split_cases,
)
from callwright_lab.datasets.sources import data_root
from callwright_lab.parallel import SharedModel
from callwright_lab.training.batched import open_measured_model
from callwright_lab.training.refiner.store import read_samples

GOLD = "gold"
_EXAMINATIONS = ("api_bank",)  # data sets that are measured on, and nothing else
_ROW = '{"query": …, "tools": […], "calls": [{"name": …, "arguments": {…}}]}'


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; progress to standard error, the table to standard output."""
    args = _build_parser().parse_args(arguments)
    settings = _build_settings(args)
    fit, right = _load_cases(args)
    Random("calibration").shuffle(right)
    right = list(filter(is_sound, right))[: args.calls or None]
    check_count(len(right), args.limit)
    calibration = [see_right(case) for case in right]
    spoiled = _list_spoiled(right[: args.spoiled])
    some = list(filter(is_sound, fit))[: args.fit]
    learned = [*map(see_right, some), *_list_spoiled(some)]
    with ExitStack() as stack:
        answers = _open_answers(args, settings, stack)
        asked = _judge_all(answers, learned) if args.refiner else []
        outcomes = _judge_all(answers, [*calibration, *spoiled])
    made = list(iter_made(fit))
    rows = _digest_rows(calibration)
    cuts = choose_cuts(made, asked, outcomes, args.limit)
    bound = HarmBound(settings.measured, args.limit, CONFIDENCE, rows, cuts)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(serialize_bound(bound), encoding="utf-8")
    veto = judge_veto(outcomes)
    sys.stdout.write(f"{render_bound(bound, veto)}\n\n{args.out}\n")
    return 0


def choose_cuts(
    made: Sequence[Outcome], asked: Sequence[Outcome], outcomes: Sequence[Outcome], limit: float
) -> dict[CutName, Cut]:
    """The cut without likelihoods, and where the refiner states them that with them."""
    told = f"{len(made)} proposals made without a model, {len(asked)} of the refiner"
    plain = fit_score([*made, *asked], PLAIN)
    cuts: dict[CutName, Cut] = {"plain": choose_cut(plain, outcomes, limit, source=told)}
    rated = [one for one in asked if one.features and set(FEATURES) <= one.features.keys()]
    counts = [sum(one.is_harm for one in rated), sum(one.is_help for one in rated)]
    can_rate = all(
        set(FEATURES) <= one.features.keys() for one in outcomes if one.features is not None
    )
    if min(counts) >= LEAST and can_rate:
        told = f"{len(rated)} proposals of the refiner with log-probabilities"
        score = fit_score(rated, FEATURES)
        cuts["likelihood"] = choose_cut(score, outcomes, limit, source=told)
    return cuts


def _judge_all(answers: Answers, seen: Sequence[Seen]) -> list[Outcome]:
    return [judge_proposal(one, reply) for one, reply in answers.iter_answers(seen)]


def _list_spoiled(cases: Sequence[GoldCase]) -> list[Seen]:
    return [seen for case in cases if (seen := see_spoiled(case)) is not None]


def _digest_rows(calibration: Sequence[Seen]) -> str:
    told = to_canonical_json([[one.upstream.query, one.gold] for one in calibration])
    return "sha256:" + hashlib.sha256(told.encode()).hexdigest()


def judge_veto(outcomes: Sequence[Outcome]) -> tuple[int, int]:
    """Return how many replies are harmed, and helped, where any objection counts."""
    taken = [one for one in outcomes if one.features and not any(one.features[k] for k in SCORED)]
    return sum(one.is_harm for one in taken), sum(one.is_help for one in taken)


def render_bound(bound: HarmBound, veto: tuple[int, int]) -> str:
    """The cuts as a Markdown table beside the veto, then the weights."""
    lines = [
        "| cut | right replies | harmed | upper bound | helped | threshold |",
        "|---" * 6 + "|",
    ]
    for name, cut in bound.cuts.items():
        lines.append(
            f"| {name} | {cut.calls:,} | {cut.harms} | {cut.upper:.3%} |"
            f" {cut.helps} of {cut.wrong} | {cut.threshold:.4f} |"
        )
    plain = bound.cuts["plain"]
    upper = compute_upper_bound(veto[0], plain.calls, bound.confidence)
    lines.append(
        f"| any objection counts | {plain.calls:,} | {veto[0]} | {upper:.3%} |"
        f" {veto[1]} of {plain.wrong} | |"
    )
    for name, cut in bound.cuts.items():
        weights = ", ".join(f"{k} {w:g}" for k, w in cut.score.weights.items() if w)
        lines += ["", f"{name}: {cut.score.intercept:g} + {weights} (fitted on {cut.source})"]
    return "\n".join(lines)


# ---------------------------------------------------------------- what is read


def _build_settings(args: argparse.Namespace) -> RefinerSettings:
    if args.right is not None and args.upstream == GOLD:
        raise ConfigError("--right needs the name of its upstream", hint="--upstream NAME")
    refiner = identify_model(args.refiner) if args.refiner else ""
    return RefinerSettings(args.refiner_prompt, args.refiner_tokens, refiner, args.upstream)


def _open_answers(args: argparse.Namespace, settings: RefinerSettings, stack: ExitStack) -> Answers:
    if not args.refiner:
        return MadeAnswers()
    setup = RefinerSetup(args.refiner, settings.prompt, settings.max_tokens)
    model = stack.enter_context(
        SharedModel(open_measured_model(args.refiner, setup.build_options(args.jobs)))
    )
    kept = args.replies or args.out.with_suffix(".replies.jsonl")
    return AskedAnswers(kept, settings, model, args.jobs)


def _load_cases(args: argparse.Namespace) -> tuple[list[GoldCase], list[GoldCase]]:
    """The cases to fit on, from the data sets, and the right replies: the data sets' other cases, or
    the rows of ``--right``.
    """
    cases = all_cases(args.data or data_root(), args.bfcl)
    fit, right = split_cases(case for case in cases if case.source not in _EXAMINATIONS)
    if args.right is not None:
        right = keep_once(read_rows(args.right, _read_case, what="right reply", hint=_ROW))
        fit = leave_out_tools(fit, list_tools(right))
    return fit, leave_out_tools(right, _list_trained(args.training))


def _read_case(row: dict[str, Any]) -> GoldCase:
    calls = [
        ToolCall(str(call.get("label") or f"call_{n}"), call["name"], call["arguments"])
        for n, call in enumerate(row["calls"], 1)
    ]
    tools = tuple(tools_from_wire(row["tools"]))
    if not calls or not isinstance(row["query"], str):
        raise ValueError("no calls, or no query")
    return GoldCase(to_canonical_json(row), "right", row["query"], tools, tuple(calls))


def _list_trained(path: Path | None) -> set[str]:
    """The tools that the refiner's training rows call."""
    if path is None:
        return set()
    return {call.name for sample in read_samples(path) for call in sample.task.gold}


def _read_share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no share between 0 and 1")
    return share


def _build_parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        "callwright train harm-bound",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument(
        "--refiner",
        default="",
        help="the refiner: local:PATH, local:+ADAPTER, URL#MODEL; or trained:FOLDER, in memory, whose"
        " bound counts for no other (default: proposals made without a model, whose bound counts for"
        " no refiner)",
    )
    p.add_argument("--refiner-prompt", choices=get_args(Prompt), default="paper", help="its prompt")
    p.add_argument(
        "--refiner-tokens", type=int, default=MAX_TOKENS, help="of an answer (default: %(default)s)"
    )
    p.add_argument(
        "--upstream", default=GOLD, help="whose right replies these are (default: %(default)s)"
    )
    p.add_argument("--right", type=Path, help="right replies of your upstream")
    p.add_argument("--training", type=Path, help="data.jsonl of the refiner's training")
    p.add_argument("--data", type=Path, help="folder of the data sets (default: $CALLWRIGHT_DATA)")
    p.add_argument("--bfcl", type=Path, help="bfcl_eval/data of an unpacked bfcl-eval wheel")
    p.add_argument("--calls", type=int, default=0, help="right replies to use (default: all)")
    p.add_argument(
        "--spoiled", type=int, default=200, help="spoiled replies, to see what helps (%(default)s)"
    )
    p.add_argument(
        "--fit", type=int, default=200, help="right and spoiled replies to fit on (%(default)s)"
    )
    p.add_argument(
        "--limit", type=_read_share, default=LIMIT, help="share of right replies (%(default)s)"
    )
    p.add_argument(
        "--jobs", type=int, default=1, help="questions to the refiner at a time (%(default)s)"
    )
    p.add_argument("--replies", type=Path, help="answers (default: beside --out)")
    p.add_argument("--out", type=Path, default=Path("harm-bound.json"), help="(%(default)s)")
    return p


if __name__ == "__main__":
    raise SystemExit(main())
