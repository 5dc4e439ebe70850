"""The end of a turn of a client: the questions of
:func:`~callwright.agent.leading.closing.close_turn`, put to the upstream behind the client's own
messages.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from callwright.agent.leading.led_context import LedContext
from callwright.models.chat import messages_out
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import JsonObject, Reply, Skip, Tool
from callwright.proxy.session import followup, words
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import Question
from callwright.proxy.session.leading import guided

if TYPE_CHECKING:
    from callwright.agent.leading.closing import Ending
    from callwright.grounding import Words, WrittenAnswer


def is_answered_by_engine(context: Context) -> bool:
    """Return True if the answer from results is written by the engine: not where the client asks
    for JSON of its own form, or where an image may say more than the results.
    """
    wants_json = words.wants_json(context.body.get("response_format"))
    is_left = "answer" in context.settings.without or context.holds_media
    return not is_left and not wants_json


@dataclass(slots=True)
class Closing:
    """Puts the questions that end a turn. ``problems``: why calls that the model made are not sent;
    ``shown``: the tools of which the questions for calls tell; ``reply``: the upstream's last.
    """

    context: Context
    led: LedContext
    problems: Sequence[str] = ()
    shown: Sequence[Tool] = ()
    reply: Reply = field(default_factory=lambda: Reply(""))
    _read: Callable[[str], str] | None = None  # of the answer, while it comes

    def close(self, *, may_ask: bool) -> Generator[Question, Reply, Ending]:
        """The end of the turn. Where there is nothing to tell of, the upstream speaks for itself.
        ``may_ask``: the user may be asked for what only they can know.
        """
        from callwright.agent.leading.closing import close_turn

        self.led.is_silent = self.led.is_silent or not self.context.may_ask_for_shares
        results = self.context.state.results
        is_news = any(result.ok for result in results) or self.led.has_failed_write()
        write = self._write if is_news and is_answered_by_engine(self.context) else None
        return (yield from self._put(close_turn(self.led, write, may_ask=may_ask)))

    def _write(self, words_in: Words) -> Generator[ChatRequest, Reply, WrittenAnswer | None]:
        """The answer from the results, every statement checked; None where the upstream does not
        follow the schema, and its own words are as good.
        """
        from callwright.grounding import LiveAnswer, write_answer

        query, results = self.context.state.asked.query, self.context.state.results
        skips = [Skip("", problem, refused=True) for problem in dict.fromkeys(self.problems)]
        told = [one.content for one in self.context.messages if one.role == "system"]
        live = LiveAnswer(query, results, skips, words_in.deeds, told)
        self._read = live.read
        dialogue = write_answer(
            query,
            results,
            skips,
            mode="schema" if self.context.schema else "text",
            facts=live.facts,
            words=words_in,
        )
        try:
            request = next(dialogue)
            while True:
                reply = yield request
                is_form = request.schema is None or reply.text.lstrip().startswith("{")
                if request.purpose == "answer" and not is_form:
                    return None
                request = dialogue.send(reply)
        except StopIteration as done:
            written: WrittenAnswer = done.value
        finally:
            dialogue.close()
        return written if written.answer.text.strip() else None

    def _put(
        self, dialogue: Generator[ChatRequest, Reply, Ending]
    ) -> Generator[Question, Reply, Ending]:
        from callwright.grounding import DEED

        try:
            request = next(dialogue)
            while True:
                read = self._read if request.purpose == "answer" else None
                self.reply = yield Question("words", self._build_body(request), read)
                if request.purpose == DEED:
                    self.context.note_shares(self.reply)
                request = dialogue.send(self.reply)
        except StopIteration as done:
            ending: Ending = done.value
        finally:
            dialogue.close()
        return ending

    def _build_body(self, request: ChatRequest) -> JsonObject:
        """A question of our own behind the client's conversation. One about the results begins as
        those for calls do.
        """
        from callwright.agent.leading.closing import QUESTION
        from callwright.grounding import DEED

        if request.purpose == DEED:
            return followup.build_letter_body(request, self.context)
        body = followup.copy_settings(self.context)
        begun = self.context.body["messages"]
        if self.shown and request.purpose != QUESTION:
            begun = guided.begin_messages(self.context, self.shown)
        body["messages"] = [*begun, *messages_out(request.messages)]
        if request.schema is not None:
            return followup.hold_to_schema(body, request.schema, self.context, request.max_tokens)
        return followup.limit_reply(body, request.max_tokens)
