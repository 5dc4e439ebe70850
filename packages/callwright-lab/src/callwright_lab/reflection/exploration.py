"""EXPLORE (Tool-MVR, 3.3.1, Figure 3): sample a learner's actions at steps of verified
trajectories, keep those which are errors with what came back, and write what it should have thought
then: Eq. (4) and (5).

An error is believed only while the verified call still does what it did: before a failed or
unserving action counts, the right call is made once more (the control), where it may be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat

from callwright.agent.execution.sandbox import require_sandbox
from callwright.agent.strategies.code import CALLS
from callwright.jsontext import JsonError, parse_lenient
from callwright.models.dialogue import vary_request
from callwright.nouns.protocols import ChatModel, ChatRequest
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import (
    JsonObject,
    Tool,
    ToolCall,
    ToolResult,
    to_canonical_json,
    to_json,
)
from callwright.parsing.formats.program import has_computed_argument
from callwright.repair.gate import Gate
from callwright.schema.normalize import closed_object
from callwright_lab import prompts
from callwright_lab.reflection import reflection
from callwright_lab.reflection.attempts import Trying
from callwright_lab.reflection.learner import (
    Action,
    Form,
    Point,
    build_learner_request,
    infer_form,
    is_fully_recorded,
    parse_action,
    sample_points,
)
from callwright_lab.reflection.programs import Attempts, Done, NotCarriedOut, Programs
from callwright_lab.reflection.reflection import escape_delimiters
from callwright_lab.reflection.row import Reflected, parse_row, serialize_row
from callwright_lab.reflection.sourced import explain_unsourced
from callwright_lab.reflection.wrong import (
    Serves,
    Wrong,
    check_call,
    classify_failure,
    classify_planning_error,
    find_needed_values,
    is_empty_outcome,
    is_same_action,
    judge_results,
)
from callwright_lab.verify.budget import Meter
from callwright_lab.verify.memory import InDoubt
from callwright_lab.verify.sweep import Finding, Row, Sweep, make_row_key

VERSION = 2  # of what a journal keeps of an action
_TOKENS = 200
_REPLIES = 2  # of a model that is to write a reflection, until one holds it
_TRIED = 300  # characters of an action in the report


@dataclass(frozen=True, slots=True)
class Sampling:
    """Settings of the exploration: points per trajectory, samples per point, temperature and
    seed.
    """

    points: int = 2
    samples: int = 4
    temperature: float = 1.0
    seed: int = 0
    form: Form | None = None  # as each trajectory was made


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one action: a row, or the reason why there is none. ``error`` is the kind of error,
    also where no row follows from it, or "". ``tried`` is the call, ``came`` its result, ``times``
    how many samples were this action.
    """

    category: str
    why: str = ""
    times: int = 1
    row: Reflected | None = None
    error: str = ""
    tried: str = ""
    came: str = ""


@dataclass(slots=True)
class _Control:
    """The right call, made once more where that is asked for."""

    results: tuple[ToolResult, ...] | None = None
    unknown: bool = False  # it may not be made here
    doubt: InDoubt | None = None  # it was being made when an earlier process ended


@dataclass(slots=True)
class _At:
    """A point as its samples share it."""

    point: Point
    gate: Gate
    programs: Programs
    meter: Meter
    control: _Control = field(default_factory=_Control)
    program: str = ""  # the verified round's, where it computes its arguments


@dataclass
class Explorer:
    """Judges points for :func:`callwright_lab.verify.sweep.run_sweep`. ``tools`` are the catalogue's:
    their effects count.

    ``reflector``: who writes reflections, by rule without one. ``judge``: who is asked where the
    rule cannot tell whether an action serves; without one such actions are dropped.
    """

    learner: ChatModel
    trying: Trying
    tools: Sequence[Tool] = ()
    sampling: Sampling = field(default_factory=Sampling)
    reflector: ChatModel | None = None
    judge_model: ChatModel | None = None

    def rows(self, trajectories: Iterable[Trajectory]) -> list[Row[Point]]:
        """The points as rows of a sweep. Raises MissingExtra where programs are asked for and
        nothing runs them.
        """
        how = self.sampling
        found = list(sample_points(trajectories, how.points, how.seed, how.form))
        if any(self._form(point) == "code" for point in found):
            require_sandbox()
        return [Row(p.id, make_row_key(to_json(p.trajectory), p.at), p) for p in found]

    async def judge(self, point: Point, meter: Meter) -> Finding:
        """Sample, try and judge one point."""
        gate = Gate(self._offered(point.trajectory))
        at = _At(point, gate, Programs(gate, self.trying), meter)
        try:
            why, category = (
                await self._settled(at) or _explain_gold_refusal(at),
                "the verified call does otherwise now",
            )
        except InDoubt as doubt:
            why, category = str(doubt), "in doubt"
        if why:
            return Finding(False, category, why, {"actions": [], "tool": _join_gold_tools(point)})
        made = []
        for action, times in await self._sampled(at.point, meter):
            try:
                outcome = await self._outcome(action, at)
            except InDoubt as doubt:
                outcome = Outcome("in doubt", str(doubt), tried=_render_action(action))
            made.append(replace(outcome, times=times))
        kept = [one for one in made if one.row is not None]
        if kept:
            category = kept[0].category
        elif made:
            category = made[0].category
        else:
            category = "no sample"
        why = f"{len(kept)} of {len(made)} different actions are errors"
        found = {
            "actions": [_serialize_outcome(one) for one in made],
            "tool": _join_gold_tools(at.point),
        }
        return Finding(bool(kept), category, why, found)

    def _form(self, point: Point) -> Form:
        return self.sampling.form or infer_form(point.trajectory)

    def _offered(self, trajectory: Trajectory) -> list[Tool]:
        known: Mapping[str, Tool] = {tool.name: tool for tool in self.tools}
        return [known.get(tool.name, tool) for tool in trajectory.tools]

    async def _settled(self, at: _At) -> str:
        """Find out what the verified round calls, where only a run of its program tells; why it is
        of no use now.
        """
        point = at.point
        if self._form(point) != "code":
            return ""
        names = {tool.name for tool in point.trajectory.tools}
        if has_computed_argument(point.right.code, names):
            at.program = point.right.code
        if is_fully_recorded(point.right, point.trajectory):
            return ""
        most = max(CALLS, len(point.right.calls))
        try:
            done = await at.programs.run(
                point.before, point.right.code, point.right.thought, at.meter, most
            )
        except NotCarriedOut as no:
            return f"it is not known what the round called, and it cannot be tried: {no}"
        if done.stop or not done.step.ok:
            return f"its program fails now: {reflection.render_feedback(done.step)[-300:]}"
        steps = list(point.trajectory.steps)
        steps[point.at] = done.step
        at.point = replace(point, trajectory=replace(point.trajectory, steps=tuple(steps)))
        at.control.results = done.step.results
        return ""

    async def _sampled(self, point: Point, meter: Meter) -> list[tuple[Action, int]]:
        """The different actions of all samples, each with how often it came."""
        learner = meter.metered(self.learner)
        how, mode = self.sampling, (await learner.capabilities()).mode
        form = self._form(point)
        found: dict[str, tuple[Action, int]] = {}
        for number in range(how.samples):
            request = build_learner_request(point, form, mode, how.temperature, how.seed + number)
            reply = await learner.complete(request)
            action = parse_action(reply, point, form, mode)
            first, times = found.get(action.key, (action, 0))
            found[action.key] = first, times + 1
        return list(found.values())

    async def _outcome(self, action: Action, at: _At) -> Outcome:
        if action.none:
            return Outcome("no call", action.none)
        if not action.runs and is_same_action(action.calls, at.point.right.calls, at.gate):
            return Outcome("right", "the verified call")
        try:
            done = await self._tried(action, at)
        except NotCarriedOut as no:
            return Outcome("not carried out", str(no), tried=_render_action(action))
        if done.foreign:
            return Outcome(
                "not carried out",
                f"its program was ended here: {_find_last_line(done)}",
                tried=_render_action(action),
            )
        outcome = await self._judged(done, at)
        return replace(outcome, tried=_render_action(action))

    async def _judged(self, done: Done, at: _At) -> Outcome:
        """Return the outcome of an action that was executed."""
        step, point, gate = done.step, at.point, at.gate
        if not step.calls and not done.stop:
            return Outcome("no call", "its program calls nothing")
        if done.stop and _is_correction_made(step, point, gate):
            return Outcome(
                "right, and stumbled", f"the verified calls were made: {_find_last_line(done)}"
            )
        if not done.stop and is_same_action(step.calls, point.right.calls, gate):
            return Outcome("right", "the verified call")
        said = done.wrong or classify_failure(step.results, gate.tools)
        if isinstance(said, str) and said:
            return Outcome("failed for another reason", said)
        if (
            step.code
            and not done.stop
            and judge_results(step.results, point, find_needed_values(point)) in ("equal", "serves")
        ):
            return Outcome("as good", "the program found its way by itself")
        wrong = (
            said
            if isinstance(said, Wrong) and reflection.is_message_visible(step, said.feedback)
            else done.fault
        )
        if said and wrong is None:
            return Outcome(
                "cannot be told",
                "a call of the program failed, and what it printed does not say so",
            )
        found = wrong or await self._unserving(point, step.calls, step.results, at.meter)
        if isinstance(found, Outcome):
            return found
        named = f"{found.kind}: {found.error}"
        if not found.refused and (
            why := await self._doubt(point, found, gate, at.control, at.meter)
        ):
            return Outcome("the verified call does otherwise now", why)
        row = Reflected(
            point.before, step, "", point.right.calls, found.kind, found.error, program=at.program
        )
        came = (
            _find_last_line(done)
            if step.code and step.shown
            else " ".join(reflection.render_feedback(step).split())
        )
        return replace(await self._reflected(row, at.meter), error=named, came=came[:_TRIED])

    async def _tried(self, action: Action, at: _At) -> Done:
        """The action carried out. Raises NotCarriedOut."""
        if action.runs:
            return await at.programs.run(at.point.before, action.code, action.thought, at.meter)
        made = Attempts(at.gate, self.trying, at.point.trajectory.query, at.meter)
        for call in action.calls:
            await made.make(call)
        return Done(
            Step(action.thought, tuple(made.calls), tuple(made.results), action.code), made.wrong
        )

    async def _unserving(
        self, point: Point, calls: Sequence[ToolCall], results: Sequence[ToolResult], meter: Meter
    ) -> Wrong | Outcome:
        """The planning error of calls that succeeded, or what they are instead."""
        nothing = is_empty_outcome(results, self._offered(point.trajectory))
        how = judge_results(results, point, find_needed_values(point))
        if how == "untold" and self.judge_model is not None:
            how = await self._asked_whether(point, results, meter, self.judge_model)
        if how == "equal":
            return Outcome("as good", "another call, the same result")
        if how == "serves":
            return Outcome(
                "as good", "its result holds what the later rounds take from the verified one"
            )
        if how == "untold":
            return Outcome(
                "cannot be told",
                "nothing of the verified result is taken later, and no model was asked",
            )
        return classify_planning_error(calls, point, nothing)

    async def _asked_whether(
        self, point: Point, results: Sequence[ToolResult], meter: Meter, model: ChatModel
    ) -> Serves:
        model = meter.metered(model)
        constrained = (await model.capabilities()).json_schema
        query, right, other = map(
            escape_delimiters,
            (
                point.trajectory.query,
                _render_results(point.right.results),
                _render_results(results),
            ),
        )
        messages = prompts.render("explore_serves", query=query, right=right, other=other)
        text: JsonObject = {"type": "string", "maxLength": 200}
        schema = closed_object(why=text, serves={"enum": ["yes", "no"]}) if constrained else None
        request = ChatRequest(messages, purpose="explore_serves", schema=schema, max_tokens=_TOKENS)
        reply = await model.complete(request)
        try:
            said = parse_lenient(reply.text).value
        except JsonError:
            return "untold"
        told = said.get("serves") if isinstance(said, dict) else None
        if told == "yes":
            return "serves"
        if told == "no":
            return "lacks"
        return "untold"

    async def _doubt(
        self, point: Point, wrong: Wrong, gate: Gate, control: _Control, meter: Meter
    ) -> str:
        """Return the reason to doubt an error: the right call, made now, fails or gives a different
        result; "" if none.
        """
        if control.doubt is not None:
            raise control.doubt
        if control.results is None and not control.unknown:
            made = []
            for call in point.right.calls:
                verdict = check_call(gate, call)
                assert not isinstance(verdict, Wrong), (
                    "nothing is asked where the verified call is refused"
                )
                try:
                    made.append(await self.trying.call(verdict, point.trajectory.query, meter))
                except InDoubt as doubt:
                    control.doubt = doubt
                    raise
            control.unknown = any(
                r.failure is not None and r.failure.kind == "not_executable" for r in made
            )
            control.results = tuple(made)
        if control.unknown or control.results is None:
            return ""
        if ill := next((r for r in control.results if not r.ok), None):
            return f"it fails: {ill.failure.message if ill.failure else ''}"
        if (
            wrong.kind == "planning"
            and judge_results(control.results, point, find_needed_values(point)) == "lacks"
        ):
            return "it returns something else"
        return ""

    async def _reflected(self, row: Reflected, meter: Meter) -> Outcome:
        """The row with its reflection, or why it is dropped."""
        if self.reflector is None:
            row = replace(row, reflection=reflection.reflect_by_rule(row))
        else:
            row = replace(
                row,
                reflection=await ask_reflection(self.reflector, row, meter),
                by=self.reflector.name,
            )
        return decide_outcome(row)


async def ask_reflection(model: ChatModel, row: Reflected, meter: Meter) -> str:
    """Return the reflection that a model writes for a row; "" if no reply holds one. The model is
    asked once more if its first reply holds none.
    """
    model = meter.metered(model)
    question = reflection.build_reflection_request(
        row, schema=(await model.capabilities()).json_schema
    )
    for attempt in range(_REPLIES):
        if told := reflection.parse_reflection(
            await model.complete(vary_request(question, attempt))
        ):
            return told
    return ""


def decide_outcome(row: Reflected) -> Outcome:
    """The row as an outcome: kept, or dropped for what its reflection says."""
    if not row.reflection:
        return Outcome("no reflection", "neither of two replies held analysis and strategy")
    if why := explain_unsourced(row):
        return Outcome("unsourced", why)
    return Outcome(f"{row.kind}: {row.error}", row=row)


@dataclass
class Harvested:
    """Judges harvested rows for a sweep: what the rule had to write, ``reflector`` writes again
    where there is one.
    """

    reflector: ChatModel | None = None

    def rows(self, found: Iterable[Reflected]) -> list[Row[Reflected]]:
        """Each different row once."""
        made = {make_row_key(serialize_row(row)): row for row in found}
        return [
            Row(f"{row.before.id}@{len(row.before.steps) + 1}", key, row)
            for key, row in made.items()
        ]

    async def judge(self, row: Reflected, meter: Meter) -> Finding:
        """The row with a reflection that stands, or why it is dropped."""
        if self.reflector is not None and row.by == "rule":
            written = await ask_reflection(self.reflector, row, meter)
            row = replace(row, reflection=written, by=self.reflector.name)
        outcome = decide_outcome(row)
        return Finding(
            outcome.row is not None,
            outcome.category,
            outcome.why,
            {"actions": [_serialize_outcome(outcome)]},
        )


def collect_rows(made: Iterable[Finding]) -> list[Reflected]:
    """The rows of findings, in order."""
    return [
        parse_row(one["row"])
        for f in made
        for one in f.found.get("actions", ())
        if one["row"] is not None
    ]


def _iter_samples(made: Iterable[Finding]) -> Iterator[tuple[Finding, int, JsonObject]]:
    """Every sample of every point, as often as it was drawn where no row was kept of it."""
    for finding in made:
        for n, one in enumerate(finding.found.get("actions", ()), 1):
            yield from repeat((finding, n, one), one["times"] if one["row"] is None else 1)


def split_by_action(made: Sweep) -> Sweep:
    """The sweep with a finding for every sample, for the report: kept errors by kind, the others by
    why they went; and one for every point at which nothing was sampled.
    """
    each = tuple(
        Finding(
            one["row"] is not None,
            one["category"],
            one["why"] or _shorten_feedback(one),
            {},
            f"{finding.id}#{n}",
        )
        for finding, n, one in _iter_samples(made.findings)
    )
    unsampled = tuple(finding for finding in made.findings if not finding.found.get("actions"))
    return replace(made, findings=(*each, *unsampled))


def _shorten_feedback(one: JsonObject) -> str:
    row = parse_row(one["row"])
    return " ".join(reflection.render_feedback(row.wrong).split())[:160]


def _serialize_outcome(one: Outcome) -> JsonObject:
    row = serialize_row(one.row) if one.row is not None else None
    said = {
        "category": one.category,
        "error": one.error,
        "why": one.why,
        "tried": one.tried,
        "came": one.came,
    }
    return {**said, "times": one.times, "row": row}


def _explain_gold_refusal(at: _At) -> str:
    """Return the reason why the gate now refuses the verified calls; "" if it accepts them. If it
    refuses them, its refusal of other calls is no evidence.
    """
    verdicts = (check_call(at.gate, call) for call in at.point.right.calls)
    return next((f"it is refused: {v.feedback}" for v in verdicts if isinstance(v, Wrong)), "")


def _join_gold_tools(point: Point) -> str:
    """Return the names of the tools that the right action calls, by which errors are counted."""
    return ", ".join(dict.fromkeys(call.tool for call in point.right.calls))


def _render_action(action: Action) -> str:
    text = action.code or "; ".join(
        f"{c.tool}({to_canonical_json(c.arguments)})" for c in action.calls
    )
    return text if len(text) <= _TRIED else f"{text[: _TRIED - 1]}…"


def _find_last_line(done: Done) -> str:
    """The last line of what a program is shown."""
    return next((line for line in reversed(done.step.shown.splitlines()) if line.strip()), "")


def _is_correction_made(step: Step, point: Point, gate: Gate) -> bool:
    """Return True if each of the right calls was made and succeeded. The correction would then only
    repeat them.
    """
    made = [call for call, result in step.pairs if result is not None and result.ok]
    return all(
        any(is_same_action([call], [right], gate) for call in made) for right in point.right.calls
    )


def _render_results(results: Sequence[ToolResult]) -> str:
    return "\n".join(
        f"{r.tool}({to_canonical_json(r.arguments)}) -> {to_canonical_json(r.content)[:800]}"
        for r in results
    )
