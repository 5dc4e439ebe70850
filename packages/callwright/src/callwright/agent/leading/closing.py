"""The end of a turn that is led, over calls of our own: the answer from the results, a question for
what only the user can know, or words where nothing was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import TypeAlias

from callwright.agent.leading.led_context import LedContext
from callwright.agent.leading.user_question import UserQuestion
from callwright.agent.safety.held_call import HeldCall
from callwright.agent.step import StepContext
from callwright.grounding import DEED, Words, WrittenAnswer, report_outcome
from callwright.language.spoken import name_spoken
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Answer, Message, Reply, Statement

Dialogue: TypeAlias = Generator[ChatRequest, Reply, WrittenAnswer]


def close_turn(led: LedContext, write: Callable[..., Dialogue]) -> Dialogue:
    """The questions that end a turn. ``write``: those for the answer from the results, as
    :func:`~callwright.grounding.write_answer` asks them, in ``words``.
    """
    if led.is_idle:
        return WrittenAnswer((yield from _say_freely(led)))
    unstated, (_, *talk) = led.list_unstated(), led.build_prefix()  # without its instructions
    if unstated and not led.has_news():
        asked = yield from ask_user(unstated, led, talk)
        if asked:
            return WrittenAnswer(add_question(Answer(""), asked, unstated))
        unstated = []
    if led.has_failed_write():
        written = WrittenAnswer(report_outcome(led.facts.results, led.query))
    else:
        words = Words(_name_spoken(led), led.has_written(), led.build_deeds())
        written = yield from _put_behind(led.build_prefix(), write(words=words))
    asked = (yield from ask_user(unstated, led, talk)) if unstated else ""
    if not asked:
        return written
    return WrittenAnswer(add_question(written.answer, asked, unstated))


def _name_spoken(context: StepContext) -> str:
    earlier = [message.content for message in context.conversation if message.role == "user"]
    return name_spoken(context.query, earlier)


def _say_freely(led: LedContext) -> Generator[ChatRequest, Reply, Answer]:
    """The model's own words on a message that asks for nothing."""
    asked = (*led.conversation, Message("user", led.query))
    reply = yield ChatRequest(asked, "words", max_tokens=led.facts.profile.answer_tokens)
    return Answer(reply.text.strip())


def ask_user(
    held: Sequence[HeldCall], context: StepContext, talk: Sequence[Message]
) -> Generator[ChatRequest, Reply, str]:
    """A question to the user for the values that nothing states, without which these calls are not
    made; "" where the model has none. ``talk``: the conversation behind which it is asked.
    """
    question = UserQuestion.build(held, context.tools, context.query, context.facts.results)
    if not question.open:
        return question.fixed_text
    request = ChatRequest(
        (*talk, *question.render_messages(_name_spoken(context))),
        purpose="question",
        max_tokens=context.facts.profile.answer_tokens,
    )
    if context.mode == "schema":
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
        value: WrittenAnswer = done.value
        return value
    finally:
        dialogue.close()
