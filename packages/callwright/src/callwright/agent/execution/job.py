"""A run as strategies work with it: the step function's context, the executor that makes the calls
and the questions that go to the model.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from callwright.agent.answer_text import AnswerText
from callwright.agent.execution.executor import Executor
from callwright.agent.journal.ledger import Ledger
from callwright.agent.leading.closing import add_question, ask_user, close_turn, say_freely
from callwright.agent.questions import Questions
from callwright.agent.step import StepContext
from callwright.dataflow.prerequisites import list_reads
from callwright.grounding import (
    LiveAnswer,
    Words,
    WrittenAnswer,
    build_abstention,
    build_no_answer,
    check_answer,
    check_written_answer,
    facts_of,
    finish_without_repair,
    write_answer,
)
from callwright.grounding.output import Evidence, Filled, Output, OutputTarget, fill_output
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Answer, Message, Reply
from callwright.repair.provenance.sources import ProvenanceIndex


@dataclass(slots=True, kw_only=True)
class Job(StepContext):
    """One run, from a strategy's point of view. ``facts`` are the executor's. ``output``: the type
    that the answer is filled into besides; ``streamed`` tells the answer as it is written.
    """

    executor: Executor
    questions: Questions
    output: OutputTarget | None = None
    streamed: AnswerText | None = None

    def __post_init__(self) -> None:
        self.executor.share_prompt(lambda: self.shared_prompt)

    @property
    def ledger(self) -> Ledger:
        """The answers from outside that are on record."""
        return self.executor.ledger

    @property
    def sandbox(self) -> bool:
        """True if what calls change is thrown away: a strategy may try a write and take another
        way.
        """
        return self.executor.is_sandbox

    def take_as_written(self, *, unchecked: bool = False) -> None:
        """Call what the model writes, and answer with what it says (:meth:`Executor.as_written`).
        ``unchecked``: its replies are not held to the documented arguments either.
        """
        self.executor.as_written(unchecked=unchecked)

    def finish(self) -> Generator[ChatRequest, Reply, WrittenAnswer]:
        """The questions of the Finish step; none where the model wrote its answer already, gave up,
        or called nothing and asked the user instead.
        """
        if (written := self._get_written_answer()) is not None:
            return WrittenAnswer(written)
        facts = self.facts
        facts.take_reason(self.answer or "")
        if facts.asked_back and not (self.as_written or facts.all_results or facts.held):
            return WrittenAnswer(add_question(Answer(""), facts.asked_back, ()))
        if self.asks_for_nothing and not facts.all_results:
            self.trace.add("note", text="the message only greets or thanks")
            return WrittenAnswer((yield from say_freely(self)))
        results, limits = self._shown(), self.limits
        if self.as_written:
            answer = yield from finish_without_repair(
                self.query,
                results,
                mode=self.mode,
                char_limit=limits.result_chars,
                answer_tokens=self.facts.profile.answer_tokens,
            )
            return WrittenAnswer(answer)
        # a refused second question must not lose the first answer
        repair_questions = 1 if self.questions.calls_left > 1 else 0
        skips, most = self.executor.missing, limits.result_chars
        led = facts.led

        def write(words: Words | None = None) -> Generator[ChatRequest, Reply, WrittenAnswer]:
            deeds = words.deeds if words else None
            live = LiveAnswer(self.query, results, skips, deeds, self._list_told())
            if self.streamed is not None:
                self.streamed.begin(live)
            return (
                yield from write_answer(
                    self.query,
                    results,
                    skips,
                    mode=self.mode,
                    char_limit=most,
                    repair_questions=repair_questions,
                    facts=live.facts,
                    prompt=self.shared_prompt if led is None else None,
                    answer_tokens=self.facts.profile.answer_tokens,
                    words=words,
                )
            )

        if led is None:
            return (yield from self._ask_for_unstated((yield from write())))
        return (yield from close_turn(led, write)).join()

    def _list_told(self) -> list[str]:
        """The system's messages: they may tell what day it is."""
        talk = self.executor.state.asked.conversation
        return [message.content for message in talk if message.role == "system"]

    def _ask_for_unstated(
        self, written: WrittenAnswer
    ) -> Generator[ChatRequest, Reply, WrittenAnswer]:
        """The answer, and behind it a question to the user for the values without which writes were
        kept back; the question alone where nothing else came of the run.
        """
        reads = list_reads(self.tools)
        held = [one for one in self.facts.unstated if one.call.tool not in reads]
        if not held or self.questions.calls_left < 1:
            return written
        talk = (*self.conversation, Message("user", self.asked))
        is_held = self.mode == "schema"
        asked = yield from ask_user(held, self, talk, is_held_to_schema=is_held)
        if not asked:
            return written
        said = written.answer if self.executor.succeeded else Answer("")
        return WrittenAnswer(add_question(said, asked, held))

    def fill_output(self, target: OutputTarget) -> Generator[ChatRequest, Reply, Filled]:
        """The questions that fill the results into a type; none where no call succeeded."""
        results, asked = self._shown(), self.executor.state.asked
        if not any(result.ok for result in results):
            return Output(lacking=("no result was found to take its values from",)), ()
        evidence = Evidence(
            facts_of(self.query, results, self.executor.missing),
            ProvenanceIndex(asked.query, asked.conversation, results),
        )
        questions = 1 if self.questions.calls_left > 1 else 0
        return (
            yield from fill_output(
                target,
                evidence,
                self.open_prompt(),
                self.mode,
                questions=questions,
                max_tokens=self.facts.profile.output_tokens,
            )
        )

    def _get_written_answer(self) -> Answer | None:
        """The answer where the model is not asked for one any more."""
        results, skips = tuple(self.executor.results), self.executor.missing
        if self.given_up is not None:
            why = (
                f"the model gave up: {self.given_up}"
                if self.given_up
                else "the model wrote no answer"
            )
            return (
                build_no_answer(why, self.query)
                if self.as_written
                else build_abstention(results, skips, why, self.query)
            )
        if self.answer is not None and self.as_written:
            return check_written_answer(self.answer, self.query, results)
        if self.answer is not None and self.executor.succeeded:
            return check_answer(self.answer, self.query, results, skips)
        return None
