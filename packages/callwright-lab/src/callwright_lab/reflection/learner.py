"""The learner at a step of a verified trajectory: which steps, what it is asked, what it wants to
do (3.3.1).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from callwright.agent.bind import View, question, read
from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import ChatRequest, ReplyMode
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Message, Reply, ToolCall, canonical
from callwright.parsing.formats.program import STOPS, read_round
from callwright_lab.reflection.syntax import expressions, plain
from callwright_lab.transcripts import FORMATS, Transcript, spoken, write
from callwright_lab.transcripts.toolbench_vr import message_text

Form = Literal["code", "calls"]
"""How the learner is asked: for a program, as in Table 17 and in the rows that it was trained on;
or for a call.
"""

_TOKENS = 768


@dataclass(frozen=True, slots=True)
class Point:
    """Where a trajectory is left: its round ``at`` is the right action, those before it are the
    history.
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
    """What the learner wants to do. ``none`` says why that is nothing, "" where it is something;
    ``runs``: it is a program that is more than calls with literal arguments, so that what is called
    shows only when it runs.
    """

    calls: tuple[ToolCall, ...] = ()
    thought: str = ""
    code: str = ""
    none: str = ""
    runs: bool = False

    @property
    def key(self) -> str:
        """Equal for samples that are the same action."""
        return canonical(
            [self.none, self.code if self.runs else [(c.tool, c.arguments) for c in self.calls]]
        )


def points(
    trajectories: Iterable[Trajectory], each: int, seed: int, form: Form | None = None
) -> Iterator[Point]:
    """At most ``each`` points of a trajectory, by chance, the same ones for the same seed whatever
    else is explored.

    Only rounds that can be known to be right are points: those all of whose calls came back well,
    and programs of which only the print-out is on record, which are run before anything is held
    against them. ``form``: how the learner is asked, by default as the trajectory was made.
    """
    for trajectory in trajectories:
        coded = (form or form_of(trajectory)) == "code"
        steps = enumerate(trajectory.steps)
        able = [at for at, step in steps if known(step, trajectory) or (coded and _runnable(step))]
        chance = random.Random(f"{seed} {trajectory.id} {trajectory.key}")
        for at in sorted(chance.sample(able, min(each, len(able)))):
            yield Point(trajectory, at)


def known(step: Step, trajectory: Trajectory) -> bool:
    """Whether it is on record what the round called, with which arguments, and that all of it came
    back well. Of a program that computes its arguments, who only read it knows the expressions.
    """
    unknown = expressions(step.code, {tool.name for tool in trajectory.tools})
    given = [call.arguments for call in step.calls]
    return step.ok and all(
        isinstance(one, dict) and not unknown & set(map(str, one.values())) for one in given
    )


def _runnable(step: Step) -> bool:
    return bool(step.code and step.calls) and all(result.ok for result in step.results)


def form_of(trajectory: Trajectory) -> Form:
    """As the trajectory itself was made; a call where its tools' names are none that a program can
    have.
    """
    coded = any(step.code for step in trajectory.steps)
    return (
        "code" if coded and all(tool.name.isidentifier() for tool in trajectory.tools) else "calls"
    )


def asked(point: Point, form: Form, mode: ReplyMode, temperature: float, seed: int) -> ChatRequest:
    """The question at a point. ConfigError where the history cannot be told in this form."""
    request = _program(point) if form == "code" else question(_view(point), mode, "react")
    return replace(request, purpose="explore", temperature=temperature, seed=seed)


def wanted(reply: Reply, point: Point, form: Form, mode: ReplyMode) -> Action:
    """What the learner wants to do."""
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
        calls = _numbered(made.calls) if plain(made.code, names) else ()
        return Action(calls, made.text, made.code, runs=not calls)
    bound = read(_view(point), mode, reply)
    return Action(
        _numbered(bound.calls), none="" if bound.calls else bound.malformed or "it ended here"
    )


def _numbered(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    return tuple(replace(call, id=f"w{n}") for n, call in enumerate(calls, 1))


def _program(point: Point) -> ChatRequest:
    layout = FORMATS["toolbench-vr"]
    try:
        made = write(Transcript(spoken(point.before, code=True)), layout)
    except ConfigError as error:
        raise ConfigError(f"{point.id}: {error.message}", hint="--as calls") from None
    told = tuple(Message(m["role"], m["content"]) for m in made["messages"])
    return ChatRequest(told, stop=STOPS, max_tokens=_TOKENS)


def _view(point: Point) -> View:
    before = point.before
    results = tuple(replace(r, id=f"r{n}") for n, r in enumerate(before.results, 1))
    return View(
        before.query, before.tools, results, index=point.at + 1, total=point.at + 1, may_finish=True
    )
