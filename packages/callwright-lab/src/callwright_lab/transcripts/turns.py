"""One message of a record in our words, and how messages become the rounds of a trajectory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from callwright.nouns.trajectory import Step
from callwright.nouns.types import JsonObject, Role, ToolCall, ToolResult

Messages: TypeAlias = tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """Content of one message. ``text`` is a thought if calls or an answer stand beside it, else
    plain text.

    ``learn``: the message carries loss in training. ``cut``: the source keeps only the beginning of
    it.
    """

    role: Role
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    code: str = ""
    shown: str = ""
    answer: str | None = None
    given_up: bool = False
    learn: bool = True
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Round:
    """A step, or the ending (``step`` is None), with the messages it was read from."""

    step: Step | None
    answer: str | None = None
    given_up: bool = False
    thought: str = ""  # of an ending
    learn: bool = True
    cut: bool = False
    messages: Messages = ()

    def says(self, other: Round) -> bool:
        """Return True if both rounds mean the same, wherever they were read."""
        return replace(self, messages=(), learn=True, cut=False) == replace(
            other, messages=(), learn=True, cut=False
        )


def build_rounds(turns: Iterable[tuple[Turn, Messages]]) -> tuple[Round, ...]:
    """The rounds of what follows the first request.

    A round begins where the assistant calls; results go to the calls they name, or in order to
    those that wait. What is said without a call belongs to the call that follows at once; at the
    end it is the answer (nothing is none).
    """
    made: list[Round] = []
    waiting: list[
        tuple[Turn, Messages]
    ] = []  # said, and not known yet whether it is thought or answer
    for turn, messages in turns:
        if turn.role != "assistant":
            _flush_waiting(made, waiting, last=False)
            _receive_message(made, turn, messages)
        elif turn.calls or turn.code or turn.answer is not None or turn.given_up:
            made.append(_start_round(waiting, turn, messages))
            waiting = []
        else:
            waiting.append((turn, messages))
    _flush_waiting(made, waiting, last=True)
    return tuple(made)


def _start_round(waiting: Sequence[tuple[Turn, Messages]], turn: Turn, messages: Messages) -> Round:
    said = [*(t for t, _ in waiting), turn]
    text = "\n\n".join(t.text for t in said if t.text)
    calls = _assign_call_ids(turn.calls)
    learn, cut = all(t.learn for t in said), any(t.cut for t in said)
    all_messages = (*(m for _, some in waiting for m in some), *messages)
    if turn.calls or turn.code:
        step = Step(text, calls, _match_results(calls, (), turn.results), turn.code, turn.shown)
        return Round(step, learn=learn, cut=cut, messages=all_messages)
    return Round(None, turn.answer, turn.given_up, text, learn, cut, all_messages)


def _flush_waiting(made: list[Round], waiting: list[tuple[Turn, Messages]], *, last: bool) -> None:
    """Append the waiting turns without calls to the rounds: the last one as the answer if nothing
    follows, the others as thoughts.
    """
    while waiting:
        turn, messages = waiting.pop(0)
        if last and not waiting:
            made.append(
                Round(None, turn.text or None, learn=turn.learn, cut=turn.cut, messages=messages)
            )
        else:
            made.append(Round(Step(turn.text), learn=turn.learn, cut=turn.cut, messages=messages))


def _receive_message(made: list[Round], turn: Turn, messages: Messages) -> None:
    """A message to the agent: results and print-outs of the round before it, or more of the
    request.
    """
    if not made or made[-1].step is None:
        if made:
            made[-1] = replace(made[-1], messages=(*made[-1].messages, *messages))
        return
    step = made[-1].step
    results = _match_results(step.calls, step.results, turn.results)
    shown = "\n".join(text for text in (step.shown, turn.shown) if text)
    step = replace(step, results=results, shown=shown)
    made[-1] = replace(
        made[-1], step=step, cut=made[-1].cut or turn.cut, messages=(*made[-1].messages, *messages)
    )


def _match_results(
    calls: Sequence[ToolCall], before: Sequence[ToolResult], new: Sequence[ToolResult]
) -> tuple[ToolResult, ...]:
    """Results in the order of their calls: by id where the id is a call's, else the next that
    waits.
    """
    found = {r.id: r for r in before}
    for result in new:
        open_ = [c for c in calls if c.id not in found]
        call = next((c for c in open_ if c.id == result.id), open_[0] if open_ else None)
        if call is not None:
            arguments = call.arguments if isinstance(call.arguments, dict) else {}
            found[call.id] = replace(result, id=call.id, tool=call.tool, arguments=arguments)
    return tuple(found[c.id] for c in calls if c.id in found)


_UNNAMED = "\0"  # begins the id of a call that its message gives none


def _assign_call_ids(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    """The calls of one message, each with an id of its own; :func:`assign_unique_ids` names those that came
    without one.
    """
    made: list[ToolCall] = []
    for place, call in enumerate(calls):
        known = call.id and call.id not in {c.id for c in made}
        made.append(call if known else replace(call, id=f"{_UNNAMED}{place}"))
    return tuple(made)


def assign_unique_ids(found: Iterable[Round]) -> tuple[Round, ...]:
    """The rounds, every call with an id of its own: one that has none, or repeats an earlier one,
    is called by its place in the trajectory, ``call_1``, ``call_2`` …, its result with it.
    """
    taken: set[str] = set()
    made, count = [], 0
    for one in found:
        step = one.step
        for call in step.calls if step else ():
            count += 1
            if (call.id in taken or call.id.startswith(_UNNAMED)) and step is not None:
                step = _rename_call_id(
                    step,
                    call.id,
                    _choose_free_id(f"call_{count}", taken | {c.id for c in step.calls}),
                )
        taken |= {c.id for c in step.calls} if step else set()
        made.append(replace(one, step=step))
    return tuple(made)


def _choose_free_id(name: str, taken: Collection[str]) -> str:
    return next(n for n in (name + "_" * i for i in range(len(taken) + 1)) if n not in taken)


def _rename_call_id(step: Step, old: str, new: str) -> Step:
    calls = tuple(replace(c, id=new) if c.id == old else c for c in step.calls)
    results = tuple(replace(r, id=new) if r.id == old else r for r in step.results)
    return replace(step, calls=calls, results=results)
