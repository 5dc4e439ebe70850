"""The Finish step (RETO, section 3.3 and A.6): one question, answered from the execution summary
only, then checked.

``finish`` does no I/O: it yields at most ``1 + repair_questions`` questions and is sent the
replies. Nothing unconfirmed is kept without its mark, and nothing is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from callwright.grounding.answer.cleaning import DraftCleaner
from callwright.grounding.answer.deeds import Deeds
from callwright.grounding.answer.non_answers import (
    explain_non_answer,
    join_echoes,
    leave_echoes_out,
)
from callwright.grounding.answer.questions import Prompt, Questions, Words
from callwright.grounding.answer.quoting import (
    append_missing,
    build_abstention,
    list_changes,
    list_missing,
    list_telling,
    list_untold,
    quote_result,
)
from callwright.grounding.answer.reply import (
    Draft,
    Drafts,
    read_drafts,
    read_words,
    split_prose,
)
from callwright.grounding.facts import Facts
from callwright.grounding.grounding_result import Fix, GroundingResult
from callwright.grounding.index import facts_of
from callwright.grounding.support import check_statement
from callwright.language.spoken import load_phrases
from callwright.nouns.model_profile import SMALL
from callwright.nouns.protocols import ChatRequest, ReplyMode
from callwright.nouns.types import (
    Answer,
    Citation,
    Edit,
    Reply,
    Skip,
    Statement,
    ToolResult,
)
from callwright.nouns.wire_names import EditRules

UNCONFIRMED = load_phrases("en")["unconfirmed"]
_WITHDRAWN = EditRules.ANSWER_WITHDRAWN
_ANNOUNCING = (":", "：")  # signs at the end of a line that a list follows


class WrittenAnswer(NamedTuple):
    """An answer, checked. ``missing``: what the model named as missing, as it wrote it; the answer
    names besides what failed and what was withdrawn. ``undone``: the tools of deeds that the model
    told of and that no call did.
    """

    answer: Answer
    missing: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()


def finish(
    query: str,
    results: Sequence[ToolResult],
    skips: Sequence[Skip] = (),
    *,
    mode: ReplyMode = "text",
    char_limit: int = 6_000,
    repair_questions: int = 1,
    facts: Facts | None = None,
) -> Generator[ChatRequest, Reply, Answer]:
    """The answer of :func:`write_answer`."""
    written = yield from write_answer(
        query,
        results,
        skips,
        mode=mode,
        char_limit=char_limit,
        repair_questions=repair_questions,
        facts=facts,
    )
    return written.answer


def write_answer(
    query: str,
    results: Sequence[ToolResult],
    skips: Sequence[Skip] = (),
    *,
    mode: ReplyMode = "text",
    char_limit: int = 6_000,
    repair_questions: int = 1,
    facts: Facts | None = None,
    prompt: Prompt | None = None,
    answer_tokens: int = SMALL.answer_tokens,
    words: Words | None = None,
) -> Generator[ChatRequest, Reply, WrittenAnswer]:
    """Ask for the final answer, check every statement, repair or mark what no result confirms.
    Returns it with what the model itself names as missing.

    ``char_limit`` bounds the execution summary; ``repair_questions`` how many statements the model
    may be asked to restate; a reply without any statement costs one of them, and where none is left
    the answer says what was found instead. Where no call succeeded there is nothing to answer from:
    the model is not asked at all. ``facts`` are those of the results, where they are indexed
    already. ``prompt``: what all questions of a run share, the results among it; None where there
    is no run, and the question holds its own summary of them. ``answer_tokens``: of the reply that
    writes the answer. ``words``: the answer is asked for in plain sentences, and what no result
    confirms is left out. None: statements that name the results they rest on.
    """
    if not list_telling(results):
        return WrittenAnswer(build_abstention(results, skips, query=query))
    facts = facts if facts is not None else facts_of(query, results, skips)
    ids = [r.id for r in results]
    questions = Questions(facts, mode, prompt, words)
    request = replace(questions.ask_answer(char_limit), max_tokens=answer_tokens)
    reply = yield request
    drafts = read_drafts(reply, ids)
    if _is_empty_reply(drafts) and not drafts.gave_up and repair_questions > 0:
        repair_questions -= 1
        reply = yield questions.ask_again(request, reply)
        drafts = read_drafts(reply, ids) if not _is_not_known(reply) else Drafts()
    if _is_empty_reply(drafts):
        why = facts.phrases["no_reply"]
        return WrittenAnswer(build_abstention(results, skips, why, query))
    cleaner = DraftCleaner(facts)
    kept = [
        cleaned for one in drafts.statements if (cleaned := cleaner.clean_draft(one)) is not None
    ]
    drafts = join_echoes(replace(drafts, statements=tuple(kept)), facts)
    drafts = leave_echoes_out(drafts, facts) if words is not None else drafts
    written, edits, undone = _Written(is_in_words=words is not None), list[Edit](), list[str]()
    for position, draft in enumerate(drafts.statements):
        place = (position, len(drafts.statements))
        verdict = check_statement(draft.text, facts, draft.results)
        if tools := (yield from _find_undone(draft, verdict, questions)):
            statement, made = _deny_deed(draft, tools, facts, position)
            undone += tools
        else:
            statement, made, repair_questions = yield from _verify_statement(
                draft, verdict, questions, request, reply, repair_questions, place
            )
        if written.is_in_words and statement.support == "unsupported":
            verdict = GroundingResult("unsupported", [*statement.problems])
            statement, made = _withdraw_statement(draft, verdict, facts, place, echo=False)
        written.add(draft, statement, is_withdrawn=any(e.rule == _WITHDRAWN for e in made[-1:]))
        edits += made
    edits += cleaner.list_edits()
    answer = replace(written.join(drafts, facts), edits=tuple(edits))
    return WrittenAnswer(answer, tuple(dict.fromkeys(drafts.missing)), tuple(dict.fromkeys(undone)))


@dataclass(slots=True)
class _Written:
    """The statements of an answer, verified, and the text that they make."""

    is_in_words: bool
    statements: list[Statement] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    is_withdrawn: list[bool] = field(default_factory=list)

    def add(self, draft: Draft, statement: Statement, *, is_withdrawn: bool) -> None:
        """Add a statement. In plain sentences, one left out is told once for all in a row."""
        self.is_withdrawn.append(is_withdrawn)
        is_again = self.is_in_words and all(self.is_withdrawn[-2:])
        if not (is_again and self.statements and statement.text == self.statements[-1].text):
            self.texts.append(draft.glue + statement.text if self.statements else statement.text)
        self.statements.append(statement)

    def join(self, drafts: Drafts, facts: Facts) -> Answer:
        """The answer, with what is missing and what changed. Where plain sentences were left out,
        results on which no other sentence rests are quoted; where none is left, all results.
        """
        pairs = zip(self.statements, self.is_withdrawn, strict=True)
        given_up = [one.text.split("\n")[0] for one, is_gone in pairs if is_gone]
        statements, texts = [*self.statements], [*self.texts]
        if self.is_in_words and any(self.is_withdrawn):
            untold = list_untold(facts.results, statements)
            left = list_telling(facts.results) if all(self.is_withdrawn) else untold
            found = [quote_result(result) for result in left]
            texts += [f"\n- {one.text}" for one in found]
            statements += found
        missing = (*list_missing(drafts, facts.results, facts.phrases), *given_up)
        changes = list_changes(facts.results, "".join(texts))
        said = "\n".join(("".join(texts), *(change.text for change in changes)))
        text = append_missing(said, missing, facts.phrases)
        return Answer(text, (*statements, *changes), missing)


def finish_without_repair(
    query: str,
    results: Sequence[ToolResult],
    *,
    mode: ReplyMode = "text",
    char_limit: int = 6_000,
    answer_tokens: int = SMALL.answer_tokens,
) -> Generator[ChatRequest, Reply, Answer]:
    """The same question, asked once and whatever was found, and the model's answer in its own
    words: statements are checked, so that their support is known, and none is repaired, marked or
    withdrawn. For comparisons.
    """
    facts = facts_of(query, results, ())
    ids = [r.id for r in results]
    request = Questions(facts, mode).ask_answer(char_limit)
    reply = yield replace(request, max_tokens=answer_tokens)
    drafts = read_drafts(reply, ids)
    text = "".join(
        draft.glue + draft.text if at else draft.text for at, draft in enumerate(drafts.statements)
    )
    return Answer(
        append_missing(text, drafts.missing, facts.phrases),
        _check_drafts(drafts.statements, facts),
        tuple(drafts.missing),
    )


def check_written_answer(text: str, query: str, results: Sequence[ToolResult]) -> Answer:
    """An answer that the model wrote already, word for word: checked as
    :func:`finish_without_repair` does. Pure.
    """
    drafts = split_prose(text, [r.id for r in results])
    return Answer(text.strip(), _check_drafts(drafts, facts_of(query, results, ())))


def _check_drafts(drafts: Sequence[Draft], facts: Facts) -> tuple[Statement, ...]:
    """Statements with the support that they have, none of them changed."""
    checked = [(draft, check_statement(draft.text, facts, draft.results)) for draft in drafts]
    return tuple(Statement(d.text, v.support, v.citations, tuple(v.problems)) for d, v in checked)


def check_answer(
    text: str, query: str, results: Sequence[ToolResult], skips: Sequence[Skip] = ()
) -> Answer:
    """Check an answer that somebody else wrote, repairing what can be repaired without a model.
    Pure.
    """
    facts = facts_of(query, results, skips)
    ids = [r.id for r in results]
    statements, edits, texts = [], [], []
    for position, draft in enumerate(split_prose(text, ids)):
        verdict = check_statement(draft.text, facts, draft.results)
        statement, made = _decide_by_rule(draft, verdict, facts, position)
        statements.append(statement)
        edits += made
        texts.append(draft.glue + statement.text)
    return Answer("".join(texts), tuple(statements), (), tuple(edits))


def decide_statement(
    draft: Draft, facts: Facts, position: int, deeds: Deeds | None = None
) -> Statement | None:
    """The statement as it stands in the answer of :func:`write_answer`; None where the model would
    be asked about it first.
    """
    if explain_non_answer(draft.text, facts):
        return None
    verdict = check_statement(draft.text, facts, draft.results)
    if verdict.support == "unsupported" and not _repair_statement(draft, verdict, facts):
        return None
    if deeds is not None and deeds.is_in_question(verdict, facts.query):
        return None
    return _decide_by_rule(draft, verdict, facts, position)[0]


def _is_empty_reply(drafts: Drafts) -> bool:
    return not drafts.statements and not drafts.missing


def _verify_statement(
    draft: Draft,
    verdict: GroundingResult,
    questions: Questions,
    request: ChatRequest,
    reply: Reply,
    repair_questions: int,
    place: tuple[int, int],
) -> Generator[ChatRequest, Reply, tuple[Statement, list[Edit], int]]:
    """Repair a statement that does not hold by rule, else by one question, else mark it."""
    position, facts = place[0], questions.facts
    why = explain_non_answer(draft.text, facts)
    echo = bool(why)
    if echo:
        verdict = GroundingResult("unsupported", [why])
    if (
        verdict.support == "unsupported"
        and not _repair_statement(draft, verdict, facts)
        and repair_questions > 0
    ):
        repair_questions -= 1
        restated = yield (
            questions.ask_plainly(request.max_tokens // 2)
            if echo and not questions.is_form_of_words
            else questions.ask_restatement(draft, verdict, request, reply)
        )
        found = _parse_restatement(restated, draft, facts)
        if found is not None:
            text, again = found
            edit = Edit(f"/statements/{position}/text", draft.text, text, EditRules.ANSWER_RESTATED)
            support = "mended" if again.support == "supported" else again.support
            return (
                Statement(text, support, again.citations, tuple(verdict.problems)),
                [edit],
                repair_questions,
            )
        if echo or _is_not_known(restated):
            return (*_withdraw_statement(draft, verdict, facts, place, echo), repair_questions)
    statement, edits = (
        _quote_cited_results(draft, facts, position, why)
        if echo
        else _decide_by_rule(draft, verdict, facts, position)
    )
    return statement, edits, repair_questions


def _find_undone(
    draft: Draft, verdict: GroundingResult, questions: Questions
) -> Generator[ChatRequest, Reply, tuple[str, ...]]:
    """The tools that did not do what a statement tells of; () where none is in question."""
    deeds, facts = questions.deeds, questions.facts
    if deeds is None or not deeds.is_in_question(verdict, facts.query):
        return ()
    if explain_non_answer(draft.text, facts):
        return ()
    return deeds.read_reply((yield deeds.ask(draft.text)))


def _deny_deed(
    draft: Draft, undone: Sequence[str], facts: Facts, position: int
) -> tuple[Statement, list[Edit]]:
    """Instead of a sentence that tells of a deed: that the tools which do it were not called."""
    text = f"{facts.phrases['not_done']}: {', '.join(undone)}."
    problem = f"no call of {' or '.join(undone)} was made"
    statement = Statement(text, "limitation", (), (problem,))
    return statement, [Edit(f"/statements/{position}/text", draft.text, text, _WITHDRAWN)]


def _withdraw_statement(
    draft: Draft, verdict: GroundingResult, facts: Facts, place: tuple[int, int], echo: bool
) -> tuple[Statement, list[Edit]]:
    """The model, asked again, says itself that no result holds it: what is unknown is said, the
    claim is not.
    """
    position, of = place
    text = f"{facts.phrases['not_in_results']}: {facts.query.strip()}"
    cited: tuple[Citation, ...] = ()
    if of > 1:
        text = facts.phrases["left_out"]
    if echo:
        quoted, _ = _quote_cited_results(draft, facts, position, verdict.problems[0])
        text = f"{facts.phrases['results']}:\n{quoted.text}"
        cited = quoted.citations
    statement = Statement(text, "limitation", cited, tuple(verdict.problems))
    return statement, [Edit(f"/statements/{position}/text", draft.text, text, _WITHDRAWN)]


def _quote_cited_results(
    draft: Draft, facts: Facts, position: int, why: str
) -> tuple[Statement, list[Edit]]:
    """Instead of what states nothing: what the cited calls returned, word for word."""
    telling = list_telling(facts.results)
    cited = [result for result in telling if result.id in draft.results]
    found = [quote_result(result) for result in cited or telling]
    text = "\n".join(statement.text for statement in found)
    citations = tuple(citation for statement in found for citation in statement.citations)
    statement = Statement(text, "mended", citations, (why,))
    return statement, [
        Edit(f"/statements/{position}/text", draft.text, text, EditRules.ANSWER_QUOTED)
    ]


def _decide_by_rule(
    draft: Draft, verdict: GroundingResult, facts: Facts, position: int
) -> tuple[Statement, list[Edit]]:
    if verdict.support != "unsupported":
        return Statement(draft.text, verdict.support, verdict.citations), []
    path = f"/statements/{position}/text"
    fixed = _repair_statement(draft, verdict, facts)
    if fixed is not None:
        text, again = fixed
        edits = [Edit(path, f.before, f.text, EditRules.ANSWER_VALUE) for f in verdict.fixes]
        return Statement(text, "mended", again.citations, tuple(verdict.problems)), edits
    marked = f"{draft.text.rstrip()} {facts.phrases['unconfirmed']}"
    edit = Edit(path, draft.text, marked, EditRules.ANSWER_MARKED)
    return Statement(marked, "unsupported", (), tuple(verdict.problems)), [edit]


def _repair_statement(
    draft: Draft, verdict: GroundingResult, facts: Facts
) -> tuple[str, GroundingResult] | None:
    """The statement with its wrong values replaced, if the result then holds."""
    if not verdict.repairable:
        return None
    text = apply_fixes(draft.text, verdict.fixes)
    again = check_statement(text, facts, draft.results)
    return (text, again) if again.support == "supported" else None


def apply_fixes(text: str, fixes: Sequence[Fix]) -> str:
    for fix in sorted(fixes, key=lambda f: f.span, reverse=True):
        text = text[: fix.span[0]] + fix.text + text[fix.span[1] :]
    return text


def _parse_restatement(
    reply: Reply, draft: Draft, facts: Facts
) -> tuple[str, GroundingResult] | None:
    text = _take_statement(read_words(reply.text).strip().strip('"'))
    if not text or _is_not_known(reply) or explain_non_answer(text, facts):
        return None
    verdict = check_statement(text, facts, draft.results)
    return (text, verdict) if verdict.support in ("supported", "limitation") else None


def _take_statement(text: str) -> str:
    """Return the first line of a reply. A line that announces a list has the list with it."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    said = [line for line in lines if line]
    if not said or not said[0].endswith(_ANNOUNCING):
        return lines[0]
    return "\n".join(said)


def _is_not_known(reply: Reply) -> bool:
    return "NOT KNOWN" in reply.text.upper()
