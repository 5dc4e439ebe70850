"""The Python-call agent (Tool-MVR, 3.2.3 and Table 17, after CodeAct): thought, program, print-out,
until an answer.

A program runs in :mod:`callwright.agent.execution.sandbox`; each of its calls goes the way of all
calls: gate, repair, consent, journal, budget. It is given what the tool returned, or ``{"error":
why}``, and its variables stay for the next one. The answer is the model's own, checked against the
results without a further question.

A resume does not run a program again that was carried out before: its calls are on record, and come
from there. Only where another program follows are the earlier ones run, with what their calls
returned then, so that it finds their variables.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from callwright import prompts
from callwright.agent.execution.job import Job
from callwright.agent.execution.perform import perform
from callwright.agent.execution.sandbox import LOST, ProgramError, Ran, Sandbox, require_sandbox
from callwright.agent.render import render_signatures
from callwright.agent.step import step_id
from callwright.jsontext import JsonError, parse_lenient, write
from callwright.nouns.plan import Plan
from callwright.nouns.protocols import ChatRequest, ReplyMode
from callwright.nouns.types import Json, JsonObject, Message, Tool, ToolCall, ToolResult
from callwright.parsing.formats.program import STOPS, Round, read_round, write_round
from callwright.parsing.formats.pythonic import write_value
from callwright.schema.normalize import closed_object, required_first
from callwright.tools.lists.tools import strip_tool, tool_to_openai

CALLS = 2  # of one round, at most (Table 17)
_FRUITLESS = 2  # rounds in a row that bring nothing new, before there are no more calls
_OBSERVED = 0.5  # of the characters of results: the most that one observation takes
_SHORT = 300  # characters that are left of an old observation where there is no room for all
_NO_ROUND = (
    "the reply held neither a program nor a final answer: write one of the two, in the format"
    " asked for"
)
_CUT = "the reply was cut off in its program, of which nothing was run: write a shorter one"
_NOTHING = "(the program printed nothing: print what you want to see)"
_AGAIN = (
    "That is known already. If it is enough, give the final answer; if not, call something else."
)
_END = "There are no more calls. Give the final answer with what came back, or give up and say why."
_LOST = "All variables are gone: the next program begins anew."
_FORMATS: dict[ReplyMode, str] = {
    "text": (
        "Reply in this format, one round at a time:\n<thought> what you know, and what you need now"
        " </thought>\n<execute>\n```python\nprint(a_function(argument='value'))\n```\n</execute>\nor,"
        " at the end, <final_answer> the answer </final_answer> or <given_up> why </given_up>"
        " behind the thought."
    ),
    "schema": (
        'Reply with JSON, one of:\n{"thought": "...", "calls": [{"function": "...", "arguments":'
        ' {}}]}\n{"thought": "...", "program": "..."}, a program in Python\n{"thought": "...",'
        ' "final_answer": "..."}\n{"thought": "...", "given_up": "why"}'
    ),
}


class Code:
    """Grows the plan call by call, as the model's programs make them. Raises MissingExtra without a
    sandbox.
    """

    name = "code"
    free = False  # whether replies are text where decoding could be constrained

    async def run(self, job: Job) -> None:
        require_sandbox()
        job.plan = Plan()
        rounds = _Rounds(job, self.opening, "text" if self.free else job.questions.mode)
        fruitless = 0
        try:
            for turn in range(1, job.limits.turns + 1):
                found = rounds.found
                over = fruitless >= _FRUITLESS or 1 < turn == job.limits.turns
                if await rounds.next(over=over):
                    break
                fruitless = 0 if rounds.found > found else fruitless + 1
                if over:
                    why = (
                        f"{_FRUITLESS} rounds in a row brought nothing new"
                        if fruitless > _FRUITLESS
                        else f"{turn} rounds"
                    )
                    job.trace.add(
                        "note", text=f"stopped without an answer of the agent's own: {why}"
                    )
                    break
        finally:
            await rounds.close()
            if job.as_written and job.answer is None and job.given_up is None:
                job.given_up = (  # the answer is its own or none: nobody asks for one in other words
                    ""
                )
        job.record_plan()

    def opening(self, job: Job, shown: Sequence[Tool]) -> tuple[Message, ...]:
        """The system message and the request."""
        form = _FORMATS.get(job.questions.mode, _FORMATS["text"])
        tools = render_signatures(shown, job.facts.profile)
        return prompts.render("code", calls=str(CALLS), format=form, tools=tools, query=job.asked)


class ToolMVR(Code):
    """The same agent, for models that were trained to be it (``train toolmvr``): asked in the words
    that they learned from (``convert --to toolbench-vr``), and answering in text whatever else
    their endpoint can do.
    """

    name = "toolmvr"
    free = True

    def opening(self, job: Job, shown: Sequence[Tool]) -> tuple[Message, ...]:
        listed = repr([tool_to_openai(strip_tool(tool)) for tool in shown])
        return prompts.render("transcript", tools=listed, query=job.asked)


Opening: TypeAlias = Callable[[Job, Sequence[Tool]], tuple[Message, ...]]


@dataclass(frozen=True, slots=True)
class _Function:
    """A tool as programs know it: its name and those of its parameters are Python's."""

    tool: Tool
    shown: Tool
    keys: dict[str, str]  # as a program writes it -> as the tool has it


@dataclass(slots=True)
class _Done:
    """A program that was carried out since the session began, and what its calls returned."""

    code: str
    returned: list[Json] = field(default_factory=list)


class _Rounds:
    """The conversation with the model and the session of its programs."""

    def __init__(self, job: Job, opening: Opening, mode: ReplyMode) -> None:
        self._job = job
        self._opening, self._mode = opening, mode
        self._functions = build_functions(job.tools)
        self._messages: list[Message] = [*self._before()]
        self._stack = AsyncExitStack()
        self._sandbox: Sandbox | None = None
        self._done: list[_Done] = []  # what the session knows
        self._shown: set[str] = set()  # observations so far
        self._behind = False  # the session does not know all of that yet
        self.found = 0  # results so far that told something new

    async def close(self) -> None:
        """End the session, if there is one."""
        self._sandbox = None
        await self._stack.aclose()

    async def next(self, *, over: bool = False) -> bool:
        """One round; whether it was the last. ``over``: it may only end the run. Raises
        LimitReached.
        """
        job = self._job
        reply = await job.questions.ask(self._question(over), calls=None)
        made = _parse_round(reply.text, self._mode)
        cut = reply.finish_reason != "stop" and made.ending == "open"
        if cut and made.answer is not None:
            job.trace.add("note", text="the model's answer was cut off")
        if made.answer is not None or made.given_up is not None:
            job.trace.add("round", **_serialize_round(made), calls=[], shown="", stop="")
            job.answer, job.given_up = made.answer, made.given_up
            return True
        if over:
            job.trace.add("round", **_serialize_round(made), calls=[], shown=_END, stop="error")
            return False
        if made.code is None or cut or made.ending == "torn":
            shown = _NO_ROUND if made.code is None else _CUT
            job.trace.add("round", **_serialize_round(made), calls=[], shown=shown, stop="error")
        else:
            found = self.found
            shown = await self._carried_out(made)
            if shown in self._shown and self.found == found:
                shown = f"{shown}\n{_AGAIN}"
        self._shown.add(shown)
        said = reply.text if self._mode == "schema" else write_round(made) or reply.text
        self._messages += [Message("assistant", said), Message("user", f"Observation:\n{shown}")]
        return False

    def _question(self, over: bool) -> ChatRequest:
        job, mode = self._job, self._mode
        shown = [function.shown for function in self._functions.values()]
        messages = self._opening(job, shown)
        messages = (
            *messages[:1],
            *job.conversation,
            *messages[1:],
            *self._within(job.limits.result_chars),
        )
        if over:
            messages = (
                *messages[:-1],
                replace(messages[-1], content=f"{messages[-1].content}\n{_END}"),
            )
        request = ChatRequest(messages, purpose="code", max_tokens=job.limits.reply_tokens)
        if mode == "schema":
            return replace(
                request, schema=build_reply_schema([] if over else shown, free=job.free_arguments)
            )
        return replace(request, stop=STOPS)

    def _before(self) -> Iterator[Message]:
        """Yield the calls made before the agent began, as rounds of its own."""
        executor = self._job.executor
        shown = {function.tool.name: function for function in self._functions.values()}
        made: list[tuple[str, JsonObject | str, Json]] = [
            (r.tool, r.arguments, get_result_value(r)) for r in executor.all_results
        ]
        made += [(r.call.tool, r.call.arguments, {"error": r.message}) for r in executor.refusals]
        for tool, given, value in made:
            name, arguments = _translate_call(shown.get(tool), tool, given)
            call = {"function": name, "arguments": arguments}
            if self._mode == "schema":
                said = write({"thought": "", "calls": [call]}).decode()
            else:
                said = write_round(Round(code=f"print({_format_call(call)})"))
            yield Message("assistant", said)
            yield Message("user", f"Observation:\n{value}")

    def _within(self, chars: int) -> list[Message]:
        """The rounds so far; of the oldest observations only their beginning where there is no room
        for all.
        """
        left, kept = chars, []
        for message in reversed(self._messages):
            text = message.content
            if message.role == "user":
                if len(text) > max(left, _SHORT):
                    text = f"{text[:_SHORT]}… (shortened)"
                left -= len(text)
            kept.append(replace(message, content=text))
        return kept[::-1]

    async def _carried_out(self, made: Round) -> str:
        """Run a program, or take what came of it before a crash. What the model is shown of it."""
        job, calls = self._job, _Calls(self._job, self._functions)
        assert made.code is not None
        if (told := job.ledger.next("", "round")) is not None:
            for call in told["calls"]:
                await calls.make(ToolCall("", call["tool"], call["arguments"]))
            ran, turn, self._behind = Ran(told["shown"], told["stop"]), told["turn"], True
        else:
            ran = await self._run(made.code, calls)
            ran, turn = (
                replace(ran, printed=render_observation(ran, job.limits.result_chars)),
                job.ledger.turn(""),
            )
        job.trace.add(
            "round",
            **_serialize_round(made),
            calls=calls.made,
            shown=ran.printed,
            stop=ran.stop,
            actor="",
            turn=turn,
        )
        self.found += calls.found
        if ran.stop in LOST:
            self._done, self._behind = [], False
            await self.close()  # it may be an earlier process that lost its session
        else:
            self._done.append(_Done(made.code, calls.returned))
        return ran.printed

    async def _run(self, code: str, calls: _Calls) -> Ran:
        sandbox = await self._opened()
        if self._behind:
            self._behind = False
            for done in self._done:
                await sandbox.run(done.code, self._functions, _Replay(done.returned).call, CALLS)
        return await sandbox.run(code, self._functions, calls.call, CALLS)

    async def _opened(self) -> Sandbox:
        if self._sandbox is None:
            limits = self._job.limits
            made = Sandbox(
                seconds=limits.program_seconds,
                memory=limits.program_bytes,
                chars=limits.program_chars,
            )
            self._sandbox = await self._stack.enter_async_context(made)
        return self._sandbox


class _Calls:
    """The calls of one program, made as all calls of a run are."""

    def __init__(self, job: Job, known: dict[str, _Function]) -> None:
        self._job, self._functions = job, known
        self.made: list[JsonObject] = []
        self.returned: list[Json] = []
        self.found = 0  # results that no earlier call had brought
        self._ids: list[str] = []

    async def call(self, name: str, args: tuple[Json, ...], kwargs: dict[str, Json]) -> Json:
        return await self.make(bind_call(self._functions[name], args, kwargs))

    async def make(self, call: ToolCall) -> Json:
        job = self._job
        number = len(job.plan.slots) + 1
        self.made.append(
            {"tool": call.tool, "arguments": call.arguments, "slot": step_id(call, number)}
        )
        before = len(job.executor.all_results)
        allowed = {tool.name for tool in job.tools}
        self.found += len(await perform(job.step(call, number, allowed, beside=self._ids), job))
        came = job.executor.all_results[before:]
        self._ids += [result.id for result in came]
        value = get_result_value(came[0]) if came else self._not_made(call)
        self.returned.append(value)
        return value

    def _not_made(self, call: ToolCall) -> Json:
        """Return the value of a call that was not sent: the result of the same earlier call, or the
        reason for its refusal.
        """
        executor = self._job.executor
        skip = executor.skips[-1] if executor.skips else None
        before = executor.repeated_by(skip) if skip is not None else ""
        same = next((r for r in executor.results if r.id == before), None)
        if same is not None:
            return get_result_value(same)
        return {"error": skip.reason if skip is not None else f"{call.tool} was not called"}


class _Replay:
    """Gives a program once more what its calls returned."""

    def __init__(self, returned: Sequence[Json]) -> None:
        self._left = list(returned)

    async def call(self, name: str, *_given: Json) -> Json:
        if not self._left:
            raise ProgramError("RuntimeError", f"{name} was not called before")
        return self._left.pop(0)


def build_functions(tools: Sequence[Tool]) -> dict[str, _Function]:
    """The tools by the names that programs call them by, in order, each Python's and no other's."""
    made: dict[str, _Function] = {}
    for tool in tools:
        name = _make_identifier(tool.name, made)
        keys: dict[str, str] = {}
        for key in tool.properties:
            keys[_make_identifier(key, keys)] = key
        renamed = {shown: tool.properties[key] for shown, key in keys.items()}
        back = {key: shown for shown, key in keys.items()}
        schema = {
            **tool.input_schema,
            "properties": renamed,
            "required": [back.get(key, key) for key in tool.required],
        }
        made[name] = _Function(tool, replace(tool, name=name, input_schema=schema), keys)
    return made


def _translate_call(
    function: _Function | None, tool: str, given: JsonObject | str
) -> tuple[str, JsonObject]:
    """A call by the names that a program has for it; arguments that are no object are none."""
    arguments = given if isinstance(given, dict) else {}
    if function is None:
        return tool, arguments
    shown = {key: written for written, key in function.keys.items()}
    return function.shown.name, {shown.get(key, key): value for key, value in arguments.items()}


def _make_identifier(name: str, taken: Container[str]) -> str:
    made = re.sub(r"\W", "_", name) or "_"
    if made[0].isdigit():
        made = f"_{made}"
    if keyword.iskeyword(made) or made in ("print", "__debug__"):
        made = f"{made}_"
    while made in taken:
        made = f"{made}_"
    return made


def bind_call(function: _Function, args: Sequence[Json], kwargs: JsonObject) -> ToolCall:
    """The call that a program made: arguments by position take the parameters in order. Raises
    ProgramError for more of them than there are.
    """
    arguments = {function.keys.get(key, key): value for key, value in kwargs.items()}
    free = [key for key in function.tool.properties if key not in arguments]
    if (
        len(args) == 1
        and isinstance(args[0], dict)
        and not arguments
        and not _takes_object(function.tool, free)
    ):
        return ToolCall("", function.tool.name, dict(args[0]))
    if len(args) > len(free):
        known = ", ".join(function.keys) or "none"
        raise ProgramError(
            "TypeError",
            f"{function.shown.name}() takes other arguments; its parameters are: {known}",
        )
    return ToolCall("", function.tool.name, {**dict(zip(free, args, strict=False)), **arguments})


def _takes_object(tool: Tool, free: Sequence[str]) -> bool:
    part = tool.properties.get(free[0]) if free else None
    return isinstance(part, dict) and part.get("type") in ("object", None)


def build_reply_schema(shown: Sequence[Tool], *, free: bool = False) -> JsonObject:
    """The decoding schema of one round; without tools, of the last. Calls with their arguments come
    first: where decoding is constrained, a small model gets them right that way, and they are the
    same program. ``free``: the arguments of calls are held to nothing but being an object.
    """
    thought = {"type": "string", "maxLength": 400}
    text = {"type": "string", "maxLength": 2_000}
    calls = [
        closed_object(
            function={"const": t.name}, arguments={"type": "object"} if free else required_first(t)
        )
        for t in shown
    ]
    listed = {"type": "array", "items": {"anyOf": calls}, "minItems": 1, "maxItems": CALLS}
    ways = {"calls": listed, "program": text} if shown else {}
    ways |= {"final_answer": text, "given_up": text}
    return {
        "anyOf": [closed_object(**{"thought": thought, way: part}) for way, part in ways.items()]
    }


def _parse_round(text: str, mode: ReplyMode) -> Round:
    if mode != "schema":
        return read_round(text)
    try:
        found = parse_lenient(text)
    except JsonError:
        return read_round(text)
    value = found.value
    if not isinstance(value, dict) or found.truncated:
        return Round(code="", ending="torn") if found.truncated else read_round(text)
    thought = str(value.get("thought") or "")
    for way in ("program", "final_answer", "given_up"):
        if isinstance(value.get(way), str):
            return Round(thought, **{_PARTS[way]: value[way]})
    calls = value.get("calls")
    made = (
        [_format_call(call) for call in calls if isinstance(call, dict)]
        if isinstance(calls, list)
        else []
    )
    return Round(thought, "\n".join(f"print({call})" for call in made) if made else None)


_PARTS = {"program": "code", "final_answer": "answer", "given_up": "given_up"}


def _format_call(call: JsonObject) -> str:
    name, given = str(call.get("function")), call.get("arguments")
    return write_value([ToolCall("", name, given if isinstance(given, dict) else {})])[0]


def _serialize_round(made: Round) -> JsonObject:
    return {
        "thought": made.thought,
        "code": made.code,
        "answer": made.answer,
        "given_up": made.given_up,
    }


def get_result_value(result: ToolResult) -> Json:
    """Return the value that a program receives for a result: the tool's content, even if that is an
    error of its own.
    """
    if result.failure is None or result.content is not None:
        return result.content
    return {"error": result.failure.message}


def render_observation(ran: Ran, chars: int) -> str:
    """Return the model's observation of a program that has run."""
    printed, most = ran.printed.rstrip("\n"), max(_SHORT, int(chars * _OBSERVED))
    if len(printed) > most:
        printed = f"{printed[:most]}… ({len(printed) - most} characters more)"
    parts = [printed or ("" if ran.stop else _NOTHING)]
    parts += [
        f"The program was stopped: {ran.why}" if ran.stop not in ("error", "calls") else ran.why
    ]
    parts += [_LOST if ran.stop in LOST else ""]
    return "\n".join(part for part in (parts if ran.stop else parts[:1]) if part)
