"""``callwright bench letters``: does a model's one letter tell what was done, and what was asked
for?

Kinds of cases in five languages, our own. *Sentences* of answers, each with the tools that were
offered and called: the share of writes that were not called should be high where the sentence tells
of a deed that no call did (:mod:`callwright.grounding.answer.deeds`). *Requests*, each with the
lookups that were called and a write that followed: its share should be high where the request asks
for it; *beside* are those where another write was made (:mod:`callwright.agent.leading.unasked`).
*Wishes* as models state them: the share of the tool that one is for, and of the likeliest where it
is for none (:mod:`callwright.agent.leading.wanted`). *Choices* of a write: the share of the called
one among all that are offered (:mod:`callwright.agent.leading.mistaken`); its thresholds were set on
the jobs of ``bench agents``. *Aims* of requests: the share of something to be done
(:mod:`callwright.agent.leading.aim`). *Answers* to questions of an assistant: the
share of a yes (:mod:`callwright.agent.leading.agreement`). *Effects*: the share of a read, of the
tools of these cases and with ``--bfcl`` of the methods of BFCL's environments
(:mod:`callwright.tools.proposed_effects`). The thresholds were set on the half ``tune``; ``test``
was written, or drawn by hash, after that.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tomllib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

from callwright.agent.leading.agreement import LEAST_SHARE as LEAST_AGREEMENT
from callwright.agent.leading.agreement import SURE_SHARE as SURE_AGREEMENT
from callwright.agent.leading.agreement import ask_agreement
from callwright.agent.leading.aim import LEAST_DEED as LEAST_DEED_AIM
from callwright.agent.leading.aim import SURE_DEED as SURE_DEED_AIM
from callwright.agent.leading.aim import ask_aim
from callwright.agent.leading.mistaken import LEAST_SHARE as LEAST_CHOICE
from callwright.agent.leading.unasked import (
    LEAST_BESIDE,
    LEAST_SHARE,
    SURE_BESIDE,
    SURE_SHARE,
    Doubt,
    ask_share,
)
from callwright.agent.leading.wanted import SURE_SHARE as SURE_WISH
from callwright.agent.leading.wanted import build_question
from callwright.agent.step import Ask, Replied, Steps, ask
from callwright.grounding.answer.deeds import LEAST_SHARE as LEAST_DEED
from callwright.grounding.answer.deeds import Deeds
from callwright.models import open_model
from callwright.models.dialogue import run_dialogue
from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import ChatModel
from callwright.nouns.types import READ, WRITE, JsonObject, Tool, ToolCall
from callwright.prompts.one_letter import ask_shares, read_shares
from callwright.tools.proposed_effects import (
    SURE_READ,
    SURE_WRITE,
    Shares,
    ask_kinds,
    propose_effects,
)
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows

HALVES = ("tune", "test")
KINDS = ("sentence", "request", "beside", "wish", "choice", "aim", "answer", "effect")
_TUNED_TOOLS, _TUNED_METHODS = 30, 60


@dataclass(frozen=True, slots=True)
class Case:
    """One sentence, request, wish, choice, aim, answer or tool. ``tools``: those that were offered, or
    called; ``done``: those that were called, or the question that is answered. ``is_true``: the deed
    was done, the ``write`` is asked for, something is to be done, the answer is a yes, or the tool
    only reads.
    """

    kind: str
    half: str
    text: str
    tools: tuple[Tool, ...]
    is_true: bool
    done: tuple[str, ...] = ()
    write: str = ""

    @property
    def id(self) -> str:
        """Tells the case from all others."""
        return f"{self.text}|{'+'.join(self.done)}|{self.write}"


@cache
def load_cases() -> tuple[Case, ...]:
    """All cases, sentences first."""
    text = files(__package__).joinpath("data", "cases.toml").read_text(encoding="utf-8")
    rows = tomllib.loads(text)
    tools = {
        name: Tool(name, row["about"], effects=READ if row["reads"] else WRITE)
        for name, row in rows["tools"].items()
    }

    def build(kind: str, row: JsonObject, *names: str, **more: Any) -> Case:
        return Case(kind, row["half"], row["text"], tuple(tools[name] for name in names), **more)

    sentences = [
        build("sentence", row, *row["tools"], done=tuple(row["done"]), is_true=row["is_true"])
        for row in rows["sentences"]
    ]
    requests = [
        build(
            "request" if all(rows["tools"][name]["reads"] for name in row["called"]) else "beside",
            row,
            *row["called"],
            row["write"],
            done=tuple(row["called"]),
            write=row["write"],
            is_true=row["is_asked"],
        )
        for row in rows["requests"]
    ]
    wishes = [
        build("wish", row, *row["tools"], write=row.get("wanted", ""), is_true="wanted" in row)
        for row in rows["wishes"]
    ]
    choices = [
        build("choice", row, *row["tools"], write=name, is_true=name == row["asked"])
        for row in rows["choices"]
        for name in (row["asked"], row["called"])
    ]
    aims = [build("aim", row, is_true=row["is_deed"]) for row in rows["aims"]]
    answers = [
        build("answer", row, done=(row["question"],), is_true=row["is_yes"])
        for row in rows["answers"]
    ]
    effects = _build_effect_cases(list(tools.values()), _TUNED_TOOLS)
    return (*sentences, *requests, *wishes, *choices, *aims, *answers, *effects)


def load_method_cases() -> list[Case]:
    """The methods of BFCL's environments, in the order of their hashes. Raises ConfigError where
    its wheel cannot be had.
    """
    from callwright_lab.benchmarks.multi_turn.worlds import READS, read_class_tools

    methods = [tool for name in READS for tool in read_class_tools(name)]
    methods.sort(key=lambda tool: sha256(tool.name.encode()).digest())
    return _build_effect_cases(methods, _TUNED_METHODS)


def _build_effect_cases(tools: Sequence[Tool], tuned: int) -> list[Case]:
    return [
        Case("effect", HALVES[n >= tuned], tool.name, (tool,), is_true=tool.effects.read_only)
        for n, tool in enumerate(tools)
    ]


async def measure(cases: Sequence[Case], model: ChatModel, results: Path) -> None:
    """Measure the cases that the file of rows lacks. Raises ConfigError for a model that states no
    probabilities.
    """
    known = {row["case"] for row in read_rows(results)}
    left = [case for case in cases if case.id not in known]
    is_of_tools = any(case.kind == "effect" for case in left)
    prior = await run_dialogue(ask_kinds(), model.complete) if is_of_tools else {}
    measures: dict[str, Measure] = {**_MEASURES, "effect": partial(_measure_effect, prior)}
    for case in left:
        share = await measures.get(case.kind, _measure_request)(case, model)
        if share is None:
            raise ConfigError(
                f"{model.name} states no probabilities (top_logprobs)",
                hint="ask a server that states them, such as llama.cpp or vLLM",
            )
        row = {"case": case.id, "kind": case.kind, "half": case.half, "true": case.is_true}
        append_row(results, {**row, "share": round(share, 4), "model": model.name})


Measure: TypeAlias = Callable[[Case, ChatModel], Awaitable[float | None]]


async def _measure_sentence(case: Case, model: ChatModel) -> float | None:
    deeds = Deeds.build(case.tools, case.done)
    if deeds is None:
        raise ConfigError(f"no write is left that was not called: {case.id}")
    reply = await model.complete(deeds.ask(case.text))
    shares = read_shares(reply.first_token, len(deeds.tools) + 1)
    told = zip(deeds.tools, shares, strict=False)
    return sum(share for tool, share in told if tool.name in deeds.undone) if shares else None


async def _measure_request(case: Case, model: ChatModel) -> float | None:
    doubt = Doubt(ToolCall("", case.write, {}), case.tools, is_linked=False)
    return await _carry_out(ask_share(doubt, case.text, lambda one: ask(one, None)), model)


async def _measure_answer(case: Case, model: ChatModel) -> float | None:
    steps = ask_agreement(case.done[0], case.text, lambda one: ask(one, None))
    return await _carry_out(steps, model)


async def _measure_choice(case: Case, model: ChatModel) -> float | None:
    def choose() -> Steps[float | None]:
        orders, build = (case.tools, case.tools[::-1]), partial(build_question, case.text)
        shares = yield from ask_shares(case.tools, orders, build, lambda one: ask(one, None))
        names = [tool.name for tool in case.tools]
        return shares[names.index(case.write)] if shares else None

    return await _carry_out(choose(), model)


async def _measure_aim(case: Case, model: ChatModel) -> float | None:
    return await _carry_out(ask_aim(case.text, lambda one: ask(one, None)), model)


async def _carry_out(steps: Steps[float | None], model: ChatModel) -> float | None:
    """The share that these questions lead to."""
    try:
        action = next(steps)
        while True:
            if not isinstance(action, Ask):
                raise TypeError(f"no question: {action}")
            action = steps.send(Replied(await model.complete(action.request)))
    except StopIteration as done:
        share: float | None = done.value
        return share


async def _measure_effect(prior: Shares, case: Case, model: ChatModel) -> float | None:
    found = await run_dialogue(propose_effects(case.tools[0], prior), model.complete)
    return found.shares.get("read")


async def _measure_wish(case: Case, model: ChatModel) -> float | None:
    reply = await model.complete(build_question(case.text, case.tools, "none of them"))
    shares = read_shares(reply.first_token, len(case.tools) + 1)
    told = zip(case.tools, shares, strict=False)
    others = [share for tool, share in told if not case.write or tool.name == case.write]
    return max(others) if shares else None


_MEASURES: dict[str, Measure] = {
    "sentence": _measure_sentence,
    "wish": _measure_wish,
    "choice": _measure_choice,
    "aim": _measure_aim,
    "answer": _measure_answer,
}


def render_report(rows: Sequence[JsonObject]) -> str:
    """Return how well the share tells the true cases from the others, and what each cut does."""
    lines = []
    for kind in KINDS:
        for half in HALVES:
            found = [row for row in rows if (row["kind"], row["half"]) == (kind, half)]
            true = [float(row["share"]) for row in found if row["true"]]
            false = [float(row["share"]) for row in found if not row["true"]]
            if true and false:
                lines.append(_render_half(kind, half, true, false))
    return "\n".join(lines) or "too few rows"


def _render_half(kind: str, half: str, true: Sequence[float], false: Sequence[float]) -> str:
    high, low = (false, true) if kind == "sentence" else (true, false)
    above = sum((a > b) + (a == b) / 2 for a in high for b in low)
    auc = above / len(high) / len(low)
    name = {"beside": "beside", "wish": "wishes"}.get(kind, f"{kind}s")
    head = f"{name}, {half}: {len(true)} true, {len(false)} false; AUC {auc:.3f}"
    if kind == "sentence":
        caught, wrong = (sum(s >= LEAST_DEED for s in part) for part in (false, true))
        return f"{head}; from {LEAST_DEED} on: {caught} false ones denied, {wrong} true ones"
    if kind == "wish":
        found, wrong = (sum(s >= SURE_WISH for s in part) for part in (true, false))
        return f"{head}; from {SURE_WISH} on: {found} wishes found, {wrong} that are none"
    if kind == "choice":
        wrong, right = (sum(s < LEAST_CHOICE for s in part) for part in (false, true))
        return f"{head}; below {LEAST_CHOICE}: {wrong} wrong ones, {right} right ones"
    if kind == "aim":
        told = [sum(s < LEAST_DEED_AIM for s in part) for part in (false, true)]
        done = [sum(s >= SURE_DEED_AIM for s in part) for part in (false, true)]
        return (
            f"{head}; below {LEAST_DEED_AIM}: {told[0]} to be told, {told[1]} to be done;"
            f" from {SURE_DEED_AIM} on: {done[0]} to be told, {done[1]} to be done"
        )
    if kind == "effect":
        reads = [sum(s >= SURE_READ for s in part) for part in (true, false)]
        writes = [sum(1 - s >= SURE_WRITE for s in part) for part in (true, false)]
        return (
            f"{head}; as reads {reads[0]} reads, {reads[1]} others;"
            f" as writes {writes[0]} reads, {writes[1]} others"
        )
    cuts = {"beside": (LEAST_BESIDE, SURE_BESIDE), "answer": (LEAST_AGREEMENT, SURE_AGREEMENT)}
    least, sure = cuts.get(kind, (LEAST_SHARE, SURE_SHARE))
    left_out = [sum(s < least for s in part) for part in (false, true)]
    asked = [sum(least <= s < sure for s in part) for part in (false, true)]
    return (
        f"{head}; unasked: {left_out[0]} left out, {asked[0]} asked about;"
        f" asked for: {left_out[1]} left out, {asked[1]} asked about"
    )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("callwright bench letters", description=__doc__)
    parser.add_argument("--model", default="local", help="local, local:PATH or URL#MODEL")
    parser.add_argument("--half", choices=HALVES, help="both by default")
    parser.add_argument("--kind", choices=KINDS, help="all by default")
    parser.add_argument("--bfcl", action="store_true", help="effects of BFCL's methods as well")
    parser.add_argument("--out", type=Path, default=Path("runs/letters.jsonl"))
    parser.add_argument("--report", action="store_true", help="print the table of that file alone")
    options = parser.parse_args(arguments)
    if not options.report:
        wanted = options.half, options.kind
        given = [*load_cases(), *(load_method_cases() if options.bfcl else [])]
        cases = [one for one in given if _is_wanted(one, *wanted)]
        asyncio.run(_measure_all(options.model, cases, options.out))
    sys.stdout.write(render_report(read_rows(options.out)) + "\n")
    return 0


def _is_wanted(case: Case, half: str | None, kind: str | None) -> bool:
    return half in (None, case.half) and kind in (None, case.kind)


async def _measure_all(spec: str, cases: Sequence[Case], out: Path) -> None:
    model = open_model(spec)
    try:
        await measure(cases, model, out)
    finally:
        await model.aclose()
