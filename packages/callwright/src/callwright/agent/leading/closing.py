"""The end of a turn that is led, over calls of our own and of a client: the answer from the
results, a question for what only the user can know, or words where nothing was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

from callwright.agent.leading.led_context import LedContext
from callwright.agent.leading.user_question import UserQuestion
from callwright.agent.safety.held_call import HeldCall
from callwright.agent.step import StepContext
from callwright.grounding import DEED, Words, WrittenAnswer, report_outcome
from callwright.language.spoken import name_spoken
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Answer, Message, Reply, Statement

Dialogue: TypeAlias = Generator[ChatRequest, Reply, WrittenAnswer | None]
"""The questions for the answer from the results; its value is None where there is none to write."""
WriteAnswer: TypeAlias = Callable[[Words], Dialogue]
QUESTION: Final = "question"
"""The purpose of a question for words to the user; it stands behind the conversation alone."""


class Ending(NamedTuple):
    """The end of a turn. ``written``: the answer; None where there is none. ``asked``: a
    question for what only the user can know, for the calls of ``unstated``; "" where there is none.
    """

    written: WrittenAnswer | None = None
    asked: str = ""
    unstated: tuple[HeldCall, ...] = ()

    def join(self) -> WrittenAnswer:
        """The answer, and the question behind it."""
        written = self.written or WrittenAnswer(Answer(""))
        if not self.asked:
            return written
        return WrittenAnswer(add_question(written.answer, self.asked, self.unstated))


def close_turn(
    led: LedContext, write: WriteAnswer | None, *, may_ask: bool = True
) -> Generator[ChatRequest, Reply, Ending]:
    """The questions that end a turn. ``write``: those for the answer from the results, as
    :func:`~callwright.grounding.write_answer` asks them; None: somebody else answers. ``may_ask``:
    the user may be asked for what only they can know.
    """
    unstated = tuple(led.list_unstated()) if may_ask else ()
    if unstated and not led.has_news():
        asked = yield from _ask_behind(led, unstated)
        if asked:
            return Ending(None, asked, unstated)
        unstated = ()
    written: WrittenAnswer | None = None
    if write is not None and led.has_failed_write():
        written = WrittenAnswer(report_outcome(led.facts.results, led.query))
    elif write is not None:
        words = Words(_name_spoken(led), led.has_written(), led.build_deeds())
        written = yield from _put_behind(led.build_prefix(), write(words))
    asked = (yield from _ask_behind(led, unstated)) if unstated else ""
    return Ending(written, asked, unstated)


def _ask_behind(
    led: LedContext, unstated: Sequence[HeldCall]
) -> Generator[ChatRequest, Reply, str]:
    talk = led.build_prefix()[1:]  # without its instructions
    return (yield from ask_user(unstated, led, talk, is_held_to_schema=led.is_held_to_schema))


def _name_spoken(context: StepContext) -> str:
    earlier = [message.content for message in context.conversation if message.role == "user"]
    return name_spoken(context.query, earlier)


def say_freely(context: StepContext) -> Generator[ChatRequest, Reply, Answer]:
    """The model's own words on a message that asks for nothing."""
    asked = (*context.conversation, Message("user", context.query))
    reply = yield ChatRequest(asked, "words", max_tokens=context.facts.profile.answer_tokens)
    return Answer(reply.text.strip())


def ask_user(
    held: Sequence[HeldCall],
    context: StepContext,
    talk: Sequence[Message],
    *,
    is_held_to_schema: bool,
) -> Generator[ChatRequest, Reply, str]:
    """A question to the user for the values that nothing states, without which these calls are not
    made; "" where the model has none. ``talk``: the conversation behind which it is asked.
    """
    question = UserQuestion.build(held, context.tools, context.query, context.facts.results)
    if not question.open:
        return question.fixed_text
    request = ChatRequest(
        (*talk, *question.render_messages(_name_spoken(context))),
        purpose=QUESTION,
        max_tokens=context.facts.profile.answer_tokens,
    )
    if is_held_to_schema:
        request = replace(request, schema=question.schema)
    return question.read_reply((yield request).text)


def add_question(answer: Answer, asked: str, held: Sequence[HeldCall]) -> Answer:
    """The answer with a question to the user behind it, and why it is asked under what is
    missing.
    """
    missing = tuple(dict.fromkeys(f"{one.call.tool}: {one.reason}" for one in held))
    return replace(
        answer,
        text="\n\n".join(filter(None, [answer.text, asked])),
        statements=(*answer.statements, Statement(asked, "limitation")),
        missing=(*answer.missing, *missing),
    )


def _put_behind(begun: tuple[Message, ...], dialogue: Dialogue) -> Dialogue:
    """The questions of a dialogue behind messages that all of them share, but for those that stand
    alone.
    """
    try:
        request = next(dialogue)
        while True:
            is_alone = request.purpose == DEED
            messages = request.messages if is_alone else (*begun, *request.messages)
            reply = yield replace(request, messages=messages)
            request = dialogue.send(reply)
    except StopIteration as done:
        value: WrittenAnswer | None = done.value
        return value
    finally:
        dialogue.close()
