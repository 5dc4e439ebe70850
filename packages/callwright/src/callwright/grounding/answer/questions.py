"""The questions of the Finish step: for the answer, and about what is wrong in it."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Protocol

from callwright import prompts
from callwright.grounding.answer.deeds import Deeds
from callwright.grounding.answer.quoting import list_telling, quote_result
from callwright.grounding.answer.reply import WORDS, Draft, schema_for
from callwright.grounding.answer.summary import render_skips, summarise_results
from callwright.grounding.facts import Facts
from callwright.grounding.grounding_result import GroundingResult
from callwright.nouns.protocols import ChatRequest, ReplyMode
from callwright.nouns.types import READ_LOCAL, Message, Reply, Tool

_FORMATS = {
    "schema": (
        'Reply with JSON: {"statements": [{"text": "...", "results": ["r1"]}], "missing": []}. In'
        ' "missing" name what the user asked for and no result says; else leave it empty.'
    ),
    "native": "Call the tool Finish exactly once.",
    "text": (
        "Output exactly TWO lines:\nAction: Finish\n"
        'Action Input: {"return_type": "give_answer", "final_answer": "..."}'
    ),
}
_QUOTED = 200  # characters of a reply that are shown as they stand
_IN_WORDS = 'Reply with {"final_answer": "..."}.'
_PLAIN = 3_000  # characters of the summary when the question is put again
_RESTATED_TOKENS = 120


class Prompt(Protocol):
    """A beginning that all questions of a run share."""

    def ask(self, question: str, /, **values: str) -> tuple[Message, ...]:
        """The messages of one question, a prompt file with one section, behind what is shared."""
        ...


class Words(NamedTuple):
    """An answer in plain sentences, asked for behind a conversation that shows the results.
    ``language``: its name in the question; ``has_written``: whether a call has changed anything.
    Where none has, a small model that is asked what was done says that all was. ``deeds``: what
    sentences that rest on no result are judged by; None: by nothing.
    """

    language: str
    has_written: bool
    deeds: Deeds | None = None


class Questions(NamedTuple):
    """The questions about one answer. ``prompt``: what all questions of a run share, the results
    among it. ``words``: the question stands behind a conversation. Without both, it holds its own
    summary of the results.
    """

    facts: Facts
    mode: ReplyMode
    prompt: Prompt | None = None
    words: Words | None = None

    def ask_answer(self, char_limit: int) -> ChatRequest:
        """The question for the answer. ``char_limit`` bounds a summary of the results."""
        if self.words is not None:
            return self._ask_in_words(self.words)
        facts, form = self.facts, _FORMATS[self.mode]
        if self.prompt is not None:
            values = {"skipped": self._render_skipped(), "format": form, "query": facts.query}
            return self._hold_to_form(self.prompt.ask("ask_answer", **values))
        summary = summarise_results(facts.query, facts.results, facts.skips, char_limit)
        asked = prompts.render("finish", format=form, summary=summary, query=facts.query)
        return self._hold_to_form(asked)

    def _ask_in_words(self, words: Words) -> ChatRequest:
        is_form = self.mode == "schema"
        asked = prompts.render(
            "ask_done" if words.has_written else "ask_found",
            skipped=f"{self._render_skipped()}{self._render_found()}",
            language=words.language,
            format=_IN_WORDS if is_form else "",
        )
        return ChatRequest(asked, "answer", schema=WORDS if is_form else None)

    def _hold_to_form(self, messages: tuple[Message, ...]) -> ChatRequest:
        ids = [result.id for result in self.facts.results]
        if self.mode == "schema":
            return ChatRequest(messages, "answer", schema=schema_for(ids))
        if self.mode == "native":
            tool = Tool("Finish", "Give the final answer.", schema_for(ids), effects=READ_LOCAL)
            return ChatRequest(messages, "answer", tools=(tool,), tool_choice="required")
        return ChatRequest(messages, "answer", stop=("\nObservation:", "\nHuman:"))

    def ask_plainly(self, max_tokens: int) -> ChatRequest:
        """The question again, without the reply that only repeated it: small models repeat that
        once more. The reply is plain text, which takes half the tokens of the answer's form.
        """
        facts = self.facts
        if self._is_alone:
            summary = summarise_results(facts.query, facts.results, facts.skips, _PLAIN)
            messages = prompts.render("finish_plain", summary=summary, query=facts.query)
        else:
            ask = prompts.render if self.prompt is None else self.prompt.ask
            messages = ask("ask_plain", skipped=self._render_skipped(), query=facts.query)
        return ChatRequest(messages, "answer.restate", max_tokens=max_tokens)

    def ask_again(self, request: ChatRequest, reply: Reply) -> ChatRequest:
        """The one question after a reply that holds no statement at all."""
        said = " ".join(reply.text.split())[:_QUOTED] or "(nothing)"
        return self._follow_up(
            request, reply, said, "it holds no statement, so it answers nothing", ""
        )

    def ask_restatement(
        self, draft: Draft, verdict: GroundingResult, request: ChatRequest, reply: Reply
    ) -> ChatRequest:
        """The question about one statement that no result confirms."""
        problems, evidence = "; ".join(verdict.problems), self._render_evidence(verdict)
        return self._follow_up(request, reply, draft.text, problems, evidence)

    def _follow_up(
        self, request: ChatRequest, reply: Reply, statement: str, problems: str, evidence: str
    ) -> ChatRequest:
        name = "finish_restate" if self._is_alone else "ask_restate"
        asked = prompts.render(name, statement=statement, problems=problems, evidence=evidence)
        said = Message("assistant", reply.text or "(tool call)")
        messages = (*request.messages, said, *asked)
        # the system prompt may ask for JSON
        schema = WORDS if self.is_form_of_words else None
        request = ChatRequest(messages, "answer.restate", max_tokens=_RESTATED_TOKENS)
        return replace(request, schema=schema, stop=() if schema else ("\n\n",))

    @property
    def deeds(self) -> Deeds | None:
        """Return what sentences that rest on no result are judged by."""
        return self.words.deeds if self.words is not None else None

    @property
    def is_form_of_words(self) -> bool:
        """Return True if the answer in words is held to a schema."""
        return self.words is not None and self.mode == "schema"

    @property
    def _is_alone(self) -> bool:
        return self.prompt is None and self.words is None

    def _render_found(self) -> str:
        """Return what was found, said again where a call found nothing: a small model tells of the
        last result.
        """
        results = self.facts.results
        found = [quote_result(result).text for result in list_telling(results)]
        return f"What was found: {'; '.join(found)}.\n" if len(found) < len(results) else ""

    def _render_skipped(self) -> str:
        return "".join(f"{line}\n" for line in render_skips(self.facts.skips))

    def _render_evidence(self, verdict: GroundingResult) -> str:
        quotes = [f"{c.result}: {c.quote}" for c in verdict.citations if c.quote]
        quotes += [f"{f.leaf.result}: {self.facts.quote(f.leaf)}" for f in verdict.fixes]
        return "The summary says: " + "; ".join(dict.fromkeys(quotes)) + "\n" if quotes else ""
