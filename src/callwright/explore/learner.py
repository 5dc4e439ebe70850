"""The learner at a step of a verified trajectory: which steps, what it is asked, what it wants to do (3.3.1)."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from callwright.dialects.program import STOPS
from callwright.errors import ConfigError
from callwright.execution.bind import View, question, read
from callwright.protocols import ChatRequest, ReplyMode
from callwright.trajectory import Step, Trajectory
from callwright.transcripts import FORMATS, Transcript, spoken, write
from callwright.transcripts.toolbench_vr import said
from callwright.types import Message, Reply, ToolCall

Form = Literal["code", "calls"]
"""How the learner is asked: for a program, as in Table 17 and in the rows that it was trained on; or for a call."""

_TOKENS = 768


@dataclass(frozen=True, slots=True)
class Point:
    """Where a trajectory is left: its round ``at`` is the right action, those before it are the history."""

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
    """What the learner wants to do. ``none`` says why that is no call, "" where it is one; ``computed``: its program
    makes the arguments, so that what is called shows only when it runs."""

    calls: tuple[ToolCall, ...] = ()
    thought: str = ""
    code: str = ""
    none: str = ""
    computed: bool = False


def points(trajectories: Iterable[Trajectory], each: int, seed: int) -> Iterator[Point]:
    """At most ``each`` points of a trajectory, by chance, the same ones for the same seed whatever else is explored.

    Only rounds all of whose calls came back well can be points: nothing else is known to be right.
    """
    for trajectory in trajectories:
        able = [at for at, step in enumerate(trajectory.steps) if step.ok and _plain(step)]
        chance = random.Random(f"{seed} {trajectory.id} {trajectory.key}")
        for at in sorted(chance.sample(able, min(each, len(able)))):
            yield Point(trajectory, at)


def _plain(step: Step) -> bool:
    return all(isinstance(call.arguments, dict) for call in step.calls)


def form_of(trajectory: Trajectory) -> Form:
    """As the trajectory itself was made; a call where its tools' names are none that a program can have."""
    coded = any(step.code for step in trajectory.steps)
    return "code" if coded and all(tool.name.isidentifier() for tool in trajectory.tools) else "calls"


def asked(point: Point, form: Form, mode: ReplyMode, temperature: float, seed: int) -> ChatRequest:
    """The question at a point. ConfigError where the history cannot be told in this form."""
    request = _program(point) if form == "code" else question(_view(point), mode, "react")
    return replace(request, purpose="explore", temperature=temperature, seed=seed)


def wanted(reply: Reply, point: Point, form: Form, mode: ReplyMode) -> Action:
    """What the learner wants to do."""
    if form == "code":
        made = said(reply.text, point.trajectory.tools)
        if not made.code:
            ends = made.answer is not None or made.given_up
            return Action(none="it ended here" if ends else "its reply is in no form that was asked for")
        none = "" if made.calls else "its program makes no call that can be read"
        return Action(_numbered(made.calls), made.text, made.code, none, _computes(made.code, point.trajectory))
    bound = read(_view(point), mode, reply)
    return Action(_numbered(bound.calls), none="" if bound.calls else bound.malformed or "it ended here")


def _computes(code: str, trajectory: Trajectory) -> bool:
    """Whether an argument of a tool's call is anything but a literal."""
    names = {tool.name for tool in trajectory.tools}
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    own = [n for n in calls if isinstance(n.func, ast.Name) and n.func.id in names]
    return not all(_literal(value) for n in own for value in (*n.args, *(keyword.value for keyword in n.keywords)))


def _literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True


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
    return View(before.query, before.tools, results, index=point.at + 1, total=point.at + 1, may_finish=True)
