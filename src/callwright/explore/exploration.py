"""EXPLORE (Tool-MVR, 3.3.1, Figure 3): sample a learner's actions at steps of verified trajectories, keep those which
are errors with what came back, and write what it should have thought then: Eq. (4) and (5).

An error is believed only while the verified call still does what it did: before a failed or unserving action counts,
the right call is made once more (the control), where it may be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from callwright import prompts
from callwright.errors import Failure
from callwright.explore import reflection
from callwright.explore.learner import Action, Form, Point, asked, form_of, points, wanted
from callwright.explore.row import Reflected, record, row_of
from callwright.explore.sourced import unsourced
from callwright.explore.trying import Trying
from callwright.explore.wrong import Serves, Wrong, checked, empty, failed, same, serves, taken, unserving
from callwright.gate import Gate
from callwright.jsontext import JsonError, mend
from callwright.protocols import ChatModel, ChatRequest
from callwright.trajectory import Step, Trajectory
from callwright.types import Json, JsonObject, Tool, ToolResult, canonical, to_json
from callwright.verify.budget import Meter
from callwright.verify.sweep import Finding, Row, Sweep, key_of
from callwright.wire.schemas import closed_object

LAYOUT = "openai"  # of rows in the journal: it has words for every call
_TOKENS = 200


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the learner is explored: points a trajectory, samples a point, at which temperature, from which seed."""

    points: int = 2
    samples: int = 4
    temperature: float = 1.0
    seed: int = 0
    form: Form | None = None  # as each trajectory was made


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one action: a row, or why there is none. ``times``: how many samples were this action."""

    category: str
    why: str = ""
    times: int = 1
    row: Reflected | None = None


@dataclass(slots=True)
class _Control:
    """The right call, made once more where that is asked for."""

    results: tuple[ToolResult, ...] | None = None
    unknown: bool = False  # it may not be made here


@dataclass
class Explorer:
    """Judges points for :func:`callwright.verify.sweep.sweep`. ``tools`` are the catalogue's: their effects count.

    ``reflector``: who writes reflections, by rule without one. ``judge``: who is asked where the rule cannot tell
    whether an action serves; without one such actions are dropped.
    """

    learner: ChatModel
    trying: Trying
    tools: Sequence[Tool] = ()
    sampling: Sampling = field(default_factory=Sampling)
    reflector: ChatModel | None = None
    judge_model: ChatModel | None = None

    def rows(self, trajectories: Iterable[Trajectory]) -> list[Row[Point]]:
        """The points as rows of a sweep."""
        found = points(trajectories, self.sampling.points, self.sampling.seed)
        return [Row(p.id, key_of(to_json(p.trajectory), p.at), p) for p in found]

    async def judge(self, point: Point, meter: Meter) -> Finding:
        """Sample, try and judge one point."""
        gate = Gate(self._offered(point.trajectory))
        control = _Control()
        made = []
        for action, times in await self._sampled(point, meter):
            outcome = await self._outcome(point, action, gate, control, meter)
            made.append(replace(outcome, times=times))
        kept = [one for one in made if one.row is not None]
        category = kept[0].category if kept else made[0].category if made else "no sample"
        why = f"{len(kept)} of {len(made)} different actions are errors"
        return Finding(bool(kept), category, why, {"actions": [_told(one) for one in made]})

    def _offered(self, trajectory: Trajectory) -> list[Tool]:
        known: Mapping[str, Tool] = {tool.name: tool for tool in self.tools}
        return [known.get(tool.name, tool) for tool in trajectory.tools]

    async def _sampled(self, point: Point, meter: Meter) -> list[tuple[Action, int]]:
        """The different actions of all samples, each with how often it came."""
        how, mode = self.sampling, (await self.learner.capabilities()).mode
        form = how.form or form_of(point.trajectory)
        found: dict[str, tuple[Action, int]] = {}
        for number in range(how.samples):
            request = asked(point, form, mode, how.temperature, how.seed + number)
            reply = await meter.metered(self.learner).complete(request)
            action = wanted(reply, point, form, mode)
            key = canonical([action.none, [(c.tool, c.arguments) for c in action.calls]])
            first, times = found.get(key, (action, 0))
            found[key] = first, times + 1
        return list(found.values())

    async def _outcome(self, point: Point, action: Action, gate: Gate, control: _Control, meter: Meter) -> Outcome:
        if action.none:
            return Outcome("no call", action.none)
        if action.computed:
            return Outcome("not carried out", "its program computes arguments, and is not run here")
        if same(action.calls, point.right.calls, gate):
            return Outcome("right", "the verified call")
        wrong, results = await self._tried(point, action, gate, meter)
        if isinstance(wrong, str):
            return Outcome("not carried out" if wrong.startswith("not ") else "failed for another reason", wrong)
        found = wrong or await self._unserving(point, action, results, meter)
        if isinstance(found, Outcome):
            return found
        if not found.refused and (why := await self._doubt(point, found, gate, control, meter)):
            return Outcome("the verified call does otherwise now", why)
        step = Step(action.thought, action.calls, results, action.code)
        row = Reflected(point.before, step, "", point.right.calls, found.kind, found.error)
        return await self._reflected(row, meter)

    async def _tried(
        self, point: Point, action: Action, gate: Gate, meter: Meter
    ) -> tuple[Wrong | str | None, tuple[ToolResult, ...]]:
        """What is wrong with the calls, None where they succeeded, else why nothing follows; and what came back."""
        wrong: Wrong | None = None
        results = []
        for call in action.calls:
            verdict = checked(gate, call)
            if isinstance(verdict, Wrong):
                given = call.arguments if isinstance(call.arguments, dict) else {}
                failure = Failure("tool_error", verdict.feedback)
                results.append(ToolResult(call.id, call.tool, given, failure=failure))
                wrong = wrong or verdict
            else:
                results.append(await self.trying.call(verdict, point.trajectory.query, meter))
        came = tuple(results)
        if wrong is not None:
            return wrong, came
        return failed(came, gate.tools) or None, came

    async def _unserving(
        self, point: Point, action: Action, results: Sequence[ToolResult], meter: Meter
    ) -> Wrong | Outcome:
        """The planning error of calls that succeeded, or what they are instead."""
        nothing = empty(results, self._offered(point.trajectory))
        how = serves(results, point, taken(point))
        if how == "untold" and self.judge_model is not None:
            how = await self._asked_whether(point, results, meter, self.judge_model)
        if how == "equal":
            return Outcome("as good", "another call, the same result")
        if how == "serves":
            return Outcome("as good", "its result holds what the later rounds take from the verified one")
        if how == "untold":
            return Outcome("cannot be told", "nothing of the verified result is taken later, and no model was asked")
        return unserving(action.calls, point, nothing)

    async def _asked_whether(
        self, point: Point, results: Sequence[ToolResult], meter: Meter, model: ChatModel
    ) -> Serves:
        constrained = (await model.capabilities()).json_schema
        shown = _shown(point.right.results), _shown(results)
        messages = prompts.render("explore_serves", query=point.trajectory.query, right=shown[0], other=shown[1])
        text: JsonObject = {"type": "string", "maxLength": 200}
        schema = closed_object(why=text, serves={"enum": ["yes", "no"]}) if constrained else None
        request = ChatRequest(messages, purpose="explore_serves", schema=schema, max_tokens=_TOKENS)
        reply = await meter.metered(model).complete(request)
        try:
            said = mend(reply.text).value
        except JsonError:
            return "untold"
        told = said.get("serves") if isinstance(said, dict) else None
        return "serves" if told == "yes" else "lacks" if told == "no" else "untold"

    async def _doubt(self, point: Point, wrong: Wrong, gate: Gate, control: _Control, meter: Meter) -> str:
        """Why an error is not believed: the right call, made now, fails or gives something else."""
        if control.results is None and not control.unknown:
            made = []
            for call in point.right.calls:
                verdict = checked(gate, call)
                if isinstance(verdict, Wrong):
                    return f"the verified call is refused now: {verdict.feedback}"
                made.append(await self.trying.call(verdict, point.trajectory.query, meter))
            control.unknown = any(r.failure is not None and r.failure.kind == "not_executable" for r in made)
            control.results = tuple(made)
        if control.unknown or control.results is None:
            return ""
        if ill := next((r for r in control.results if not r.ok), None):
            return f"it fails: {ill.failure.message if ill.failure else ''}"
        if wrong.kind == "planning" and serves(control.results, point, taken(point)) == "lacks":
            return "it returns something else"
        return ""

    async def _reflected(self, row: Reflected, meter: Meter) -> Outcome:
        """The row with its reflection, or why it is dropped."""
        if self.reflector is None:
            row = replace(row, reflection=reflection.by_rule(row))
        else:
            row = replace(row, reflection=await written_by(self.reflector, row, meter), by=self.reflector.name)
        return settled(row)


async def written_by(model: ChatModel, row: Reflected, meter: Meter) -> str:
    """What a model writes as the reflection of a row; "" where its reply holds none."""
    constrained = (await model.capabilities()).json_schema
    reply = await meter.metered(model).complete(reflection.question(row, schema=constrained))
    return reflection.read(reply)


def settled(row: Reflected) -> Outcome:
    """The row as an outcome: kept, or dropped for what its reflection says."""
    if not row.reflection:
        return Outcome("no reflection", "the reply held no analysis and strategy")
    if why := unsourced(row):
        return Outcome("unsourced", why)
    return Outcome(f"{row.kind}: {row.error}", row=row)


@dataclass
class Harvested:
    """Judges harvested rows for a sweep: what the rule had to write, ``reflector`` writes anew where there is one."""

    reflector: ChatModel | None = None

    def rows(self, found: Iterable[Reflected]) -> list[Row[Reflected]]:
        """Each different row once."""
        made = {key_of(told := record(row, LAYOUT)): (row, told) for row in found}
        return [Row(f"{row.before.id}@{len(row.before.steps) + 1}", key, row) for key, (row, _) in made.items()]

    async def judge(self, row: Reflected, meter: Meter) -> Finding:
        """The row with a reflection that stands, or why it is dropped."""
        if self.reflector is not None and row.by == "rule":
            written = await written_by(self.reflector, row, meter)
            row = replace(row, reflection=written, by=self.reflector.name)
        outcome = settled(row)
        return Finding(outcome.row is not None, outcome.category, outcome.why, {"actions": [_told(outcome)]})


def rows_of(made: Iterable[Finding]) -> list[Reflected]:
    """The rows of findings, in order."""
    return [row_of(one["row"]) for f in made for one in f.found.get("actions", ()) if one["row"] is not None]


def by_action(made: Sweep) -> Sweep:
    """The sweep with a finding for every sample, for the report: kept errors by kind, the others by why they went."""
    each = tuple(
        Finding(one["row"] is not None, one["category"], one["why"] or _reason(one), {}, f"{finding.id}#{n}")
        for finding in made.findings
        for n, one in enumerate(finding.found.get("actions", ()), 1)
        for _ in range(one["times"] if one["row"] is None else 1)
    )
    return replace(made, findings=each)


def _reason(one: JsonObject) -> str:
    row = row_of(one["row"])
    return " ".join(reflection.feedback(row.wrong).split())[:160]


def _told(one: Outcome) -> JsonObject:
    row: Json = record(one.row, LAYOUT) if one.row is not None else None
    return {"category": one.category, "why": one.why, "times": one.times, "row": row}


def _shown(results: Sequence[ToolResult]) -> str:
    return "\n".join(f"{r.tool}({canonical(r.arguments)}) -> {canonical(r.content)[:800]}" for r in results)
