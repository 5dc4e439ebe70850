"""The learner at a step of a verified trajectory: which steps, what it is asked, what it wants to
do (3.3.1).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from callwright.agent.bind import View, build_bind_request, read_reply
from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import ChatRequest, ReplyMode
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Message, Reply, ToolCall, to_canonical_json
from callwright.parsing.formats.program import STOPS, read_round
from callwright_lab.reflection.syntax import find_expressions, is_literal_program
from callwright_lab.transcripts import FORMATS, Transcript, normalize_trajectory, write
from callwright_lab.transcripts.toolbench_vr import message_text

Form = Literal["code", "calls"]
"""How the learner is asked: for a program, as in Table 17 and in the rows that it was trained on;
or for a call.
"""

_TOKENS = 768


@dataclass(frozen=True, slots=True)
class Point:
    """Point of a trajectory at which the learner acts: round ``at`` is the right action, earlier
    rounds are the history.
    """

    trajectory: Trajectory
    at: int

    @property
    def before(self) -> Trajectory:
        return self.trajectory.before(self.at)

    @property
    def right(self) -> Step:
        return self.trajectory.steps[self.at]

    @property
    def id(self) -> str:
        return f"{self.trajectory.id}@{self.at + 1}"


@dataclass(frozen=True, slots=True)
class Action:
    """The action that a learner proposes. ``none`` is the reason why there is no action, or "".
    ``runs``: the action is a program that is more than calls with literal arguments, so its calls
    show only when it runs.
    """

    calls: tuple[ToolCall, ...] = ()
    thought: str = ""
    code: str = ""
    none: str = ""
    runs: bool = False

    @property
    def key(self) -> str:
        """Equal for samples that are the same action."""
        return to_canonical_json(
            [self.none, self.code if self.runs else [(c.tool, c.arguments) for c in self.calls]]
        )


def sample_points(
    trajectories: Iterable[Trajectory], each: int, seed: int, form: Form | None = None
) -> Iterator[Point]:
    """At most ``each`` points of a trajectory, by chance, the same ones for the same seed whatever
    else is explored.

    Only rounds that can be known to be right are points: those all of whose calls came back well,
    and programs of which only the print-out is on record, which are run before anything is held
    against them. ``form``: how the learner is asked, by default as the trajectory was made.
    """
    for trajectory in trajectories:
        coded = (form or infer_form(trajectory)) == "code"
        steps = enumerate(trajectory.steps)
        able = [
            at
            for at, step in steps
            if is_fully_recorded(step, trajectory) or (coded and _is_runnable(step))
        ]
        chance = random.Random(f"{seed} {trajectory.id} {trajectory.key}")
        for at in sorted(chance.sample(able, min(each, len(able)))):
            yield Point(trajectory, at)


def is_fully_recorded(step: Step, trajectory: Trajectory) -> bool:
    """Return True if the record shows every call of the round with its arguments, and all calls
    succeeded. A program that computes its arguments shows only the expressions.
    """
    unknown = find_expressions(step.code, {tool.name for tool in trajectory.tools})
    given = [call.arguments for call in step.calls]
    return step.ok and all(
        isinstance(one, dict) and not unknown & set(map(str, one.values())) for one in given
    )


def _is_runnable(step: Step) -> bool:
    return bool(step.code and step.calls) and all(result.ok for result in step.results)


def infer_form(trajectory: Trajectory) -> Form:
    """As the trajectory itself was made; a call where its tools' names are none that a program can
    have.
    """
    coded = any(step.code for step in trajectory.steps)
    return (
        "code" if coded and all(tool.name.isidentifier() for tool in trajectory.tools) else "calls"
    )


def build_learner_request(
    point: Point, form: Form, mode: ReplyMode, temperature: float, seed: int
) -> ChatRequest:
    """The question at a point. ConfigError where the history cannot be told in this form."""
    request = (
        _build_program_request(point)
        if form == "code"
        else build_bind_request(_build_view(point), mode, "react")
    )
    return replace(request, purpose="explore", temperature=temperature, seed=seed)


def parse_action(reply: Reply, point: Point, form: Form, mode: ReplyMode) -> Action:
    """Return the action that the learner's reply proposes."""
    if form == "code":
        made = message_text(reply.text, point.trajectory.tools)
        if not made.code:
            ends = made.answer is not None or made.given_up
            return Action(
                none="it ended here" if ends else "its reply is in no form that was asked for"
            )
        if reply.finish_reason == "length" and read_round(reply.text).ending != "closed":
            return Action(none="its reply was cut off")
        names = {tool.name for tool in point.trajectory.tools}
        calls = _number_calls(made.calls) if is_literal_program(made.code, names) else ()
        return Action(calls, made.text, made.code, runs=not calls)
    bound = read_reply(_build_view(point), mode, reply)
    return Action(
        _number_calls(bound.calls), none="" if bound.calls else bound.malformed or "it ended here"
    )


def _number_calls(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    return tuple(replace(call, id=f"w{n}") for n, call in enumerate(calls, 1))


def _build_program_request(point: Point) -> ChatRequest:
    layout = FORMATS["toolbench-vr"]
    try:
        made = write(Transcript(normalize_trajectory(point.before, code=True)), layout)
    except ConfigError as error:
        raise ConfigError(f"{point.id}: {error.message}", hint="--as calls") from None
    told = tuple(Message(m["role"], m["content"]) for m in made["messages"])
    return ChatRequest(told, stop=STOPS, max_tokens=_TOKENS)


def _build_view(point: Point) -> View:
    before = point.before
    results = tuple(replace(r, id=f"r{n}") for n, r in enumerate(before.results, 1))
    return View(
        before.query, before.tools, results, index=point.at + 1, total=point.at + 1, may_finish=True
    )
