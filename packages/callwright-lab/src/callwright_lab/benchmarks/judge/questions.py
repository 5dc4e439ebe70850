"""Judging with a model: six questions, each a generator without I/O, asked of any chat model.

``ask_solvable_pass`` and ``ask_better_run`` ask as ToolEval does for StableToolBench (Guo et al. 2024:
check_answer_status, parse_answer_status, select_better_answer); ``ask_pass``, ``ask_winner`` and
``ask_recovery`` as Tool-MVR does (Tables 5, 6, 7). Replies are held to a schema where the model can
be; what cannot be read is asked for once more and is then no verdict at all: it counts as neither
pass nor fail.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from callwright.agent.render import render_signatures
from callwright.jsontext import JsonError, parse_lenient
from callwright.models.dialogue import vary_request
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Json, JsonObject, Message, Reply, Tool
from callwright.schema.normalize import closed_object
from callwright_lab import prompts
from callwright_lab.benchmarks.judge.text import CHARS, answer_text, chain_text

SOLVED, UNSURE, UNSOLVED = "Solved", "Unsure", "Unsolved"
PASS, FAIL = "Pass", "Fail"
FIRST, SECOND, TIE = "first", "second", "tie"
PROMPTS: Final = (
    "judge_solved",
    "judge_solved_run",
    "judge_better",
    "judge_pass",
    "judge_win",
    "judge_recovery",
)
_REASON = 400  # characters
_TOKENS = 320
_TRIES = 2


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """Verdict of a judge on one question. ``value`` is "" if no reply could be read. ``asked`` is
    False if a rule decided and no model was asked.

    ``more`` holds the second verdict of a question with two (Table 7: the correction).
    """

    value: str
    reason: str = ""
    more: str = ""
    asked: bool = True


@dataclass(frozen=True, slots=True)
class Way:
    """Settings for asking a judge: the seed of a repetition, the temperature, and two limits.
    ``constrained``: replies can be held to a schema. ``chars``: how many characters of a chain are
    shown.
    """

    seed: int = 0
    temperature: float = 0.0
    constrained: bool = True
    chars: int = CHARS


Judging: TypeAlias = Generator[ChatRequest, Reply, JudgeVerdict]
_USUAL = Way()


def ask_solvable_pass(run: Trajectory, way: Way = _USUAL) -> Judging:
    """Solved, Unsure or Unsolved, for SoPR (StableToolBench; ToolEval's evaluator).

    No answer, or one that gives up, is Unsolved without a question. The answer is judged alone;
    only where that leaves the judge unsure, with everything that was done. (ToolEval also asks
    whether the task can be solved; that is settled beforehand for the solvable queries, which alone
    SoPR is defined on.)
    """
    if (
        run.given_up
        or not (run.answer or "").strip()
        or "give_up_and_restart" in (run.answer or "")
    ):
        return JudgeVerdict(UNSOLVED, "there is no final answer", asked=False)
    shown = prompts.render("judge_solved", query=run.query, answer=answer_text(run))
    first = yield from _ask_status(shown, (SOLVED, UNSURE, UNSOLVED), way)
    if first.value != UNSURE:
        return first
    chain = chain_text(run.steps, way.chars)
    shown = prompts.render(
        "judge_solved_run", query=run.query, chain=chain, answer=answer_text(run)
    )
    return (yield from _ask_status(shown, (SOLVED, UNSURE, UNSOLVED), way))


def ask_pass(run: Trajectory, way: Way = _USUAL) -> Judging:
    """Pass, Fail or Unsure, for PR (Tool-MVR, Table 5, Eq. (9))."""
    chain = chain_text(run.steps, way.chars)
    shown = prompts.render("judge_pass", query=run.query, chain=chain, answer=answer_text(run))
    return (yield from _ask_status(shown, (PASS, FAIL, UNSURE), way))


def ask_better_run(first: Trajectory, second: Trajectory, way: Way = _USUAL) -> Judging:
    """Decide which of two runs of one request is better: ``first``, ``second`` or ``tie``
    (ToolEval's select_better_answer). The result is ``tie`` if both runs are the same; ToolEval
    draws lots there.
    """
    if (first.answer, first.steps) == (second.answer, second.steps):
        return JudgeVerdict(TIE, "both are the same", asked=False)
    steps = {"steps_0": str(len(first.steps)), "steps_1": str(len(second.steps))}
    shown = prompts.render(
        "judge_better", query=first.query, **_render_both(first, second, way), **steps
    )
    return (yield from _ask_index(shown, "index", way))


def ask_winner(first: Trajectory, second: Trajectory, way: Way = _USUAL) -> Judging:
    """Decide which of two runs of one request is better by Tool-MVR's 100 points (Table 6, Equation
    10). There is never a tie.
    """
    shown = prompts.render("judge_win", query=first.query, **_render_both(first, second, way))
    return (yield from _ask_index(shown, "better_answer_index", way))


def ask_recovery(
    query: str,
    tools: Sequence[Tool],
    before: Sequence[Step],
    wrong: Step,
    after: Trajectory,
    way: Way = _USUAL,
) -> Judging:
    """Judge whether an error was recognised (``value``) and corrected (``more``): Tool-MVR, Table
    7. ``after`` is the part after the wrong action. A correction without recognition does not
    count, as the protocol says.
    """
    shown = prompts.render(
        "judge_recovery",
        query=query,
        tools=render_signatures(tools),
        before=chain_text(before, way.chars // 3),
        wrong=chain_text([wrong], way.chars // 3),
        after=f"{chain_text(after.steps, way.chars)}\nFinal answer: {answer_text(after)}",
    )
    both = {"enum": [PASS, FAIL]}
    said = yield from _ask_enum(shown, {"error_recognition": both, "error_correction": both}, way)
    if said is None:
        return JudgeVerdict("", "no reply could be read")
    seen, repaired = str(said["error_recognition"]), str(said["error_correction"])
    return JudgeVerdict(seen, str(said.get("content", "")), repaired if seen == PASS else FAIL)


def _render_both(first: Trajectory, second: Trajectory, way: Way) -> dict[str, str]:
    return {
        "chain_0": chain_text(first.steps, way.chars // 2),
        "chain_1": chain_text(second.steps, way.chars // 2),
        "answer_0": answer_text(first),
        "answer_1": answer_text(second),
    }


def _ask_status(
    messages: tuple[Message, ...], values: Sequence[str], way: Way
) -> Generator[ChatRequest, Reply, JudgeVerdict]:
    said = yield from _ask_enum(messages, {"answer_status": {"enum": list(values)}}, way)
    if said is None:
        return JudgeVerdict("", "no reply could be read")
    return JudgeVerdict(str(said["answer_status"]), str(said.get("content", "")))


def _ask_index(
    messages: tuple[Message, ...], key: str, way: Way
) -> Generator[ChatRequest, Reply, JudgeVerdict]:
    said = yield from _ask_enum(messages, {key: {"enum": [0, 1]}}, way)
    if said is None:
        return JudgeVerdict("", "no reply could be read")
    return JudgeVerdict(SECOND if said[key] == 1 else FIRST, str(said.get("content", "")))


def _ask_enum(
    messages: tuple[Message, ...], parts: Mapping[str, JsonObject], way: Way
) -> Generator[ChatRequest, Reply, JsonObject | None]:
    """The reply as an object with a value of each part's enum; None where two replies had none. The
    reason first: a model that has said why says better what.
    """
    schema = closed_object(content={"type": "string", "maxLength": _REASON}, **parts)
    asked = ChatRequest(
        messages,
        purpose="judge",
        schema=schema if way.constrained else None,
        max_tokens=_TOKENS,
        temperature=way.temperature,
        seed=way.seed * _TRIES,
    )
    for attempt in range(_TRIES):
        reply = yield vary_request(asked, attempt)
        said = _parse_reply(reply.text, parts)
        if said is not None:
            return said
    return None


def _parse_reply(text: str, parts: Mapping[str, JsonObject]) -> JsonObject | None:
    """The object in a reply, its verdicts as the enums spell them."""
    try:
        value = parse_lenient(text).value
    except JsonError:
        return None
    if not isinstance(value, dict):
        return None
    found = {key: _match_enum(value.get(key), part["enum"]) for key, part in parts.items()}
    return None if None in found.values() else {**value, **found}


def _match_enum(value: Json, enum: Sequence[Json]) -> Json:
    """The member of the enum that is meant: case and quotes around a number aside."""
    return next((one for one in enum if str(one).casefold() == str(value).strip().casefold()), None)
