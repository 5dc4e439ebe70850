"""The Finish step (RETO, section 3.3 and A.6): one question, answered from the execution summary
only, then checked.

``finish`` does no I/O: it yields at most ``1 + repair_questions`` questions and is sent the
replies. Nothing unconfirmed is kept without its mark, and nothing is dropped in silence.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from rapidfuzz.fuzz import ratio

from callwright import prompts
from callwright.grounding.facts import Facts
from callwright.grounding.grounding_result import Fix, GroundingResult
from callwright.grounding.index import facts_of
from callwright.grounding.quoting import (
    append_missing,
    build_abstention,
    list_changes,
    list_missing,
    list_telling,
    quote_result,
)
from callwright.grounding.reply import (
    WORDS,
    Draft,
    Drafts,
    read_drafts,
    read_words,
    schema_for,
    split_prose,
)
from callwright.grounding.summary import render_skips, summarise_results
from callwright.grounding.support import check_statement
from callwright.language import ENGLISH
from callwright.language.spoken import load_phrases
from callwright.language.tokens import split_tokens, squash_text
from callwright.nouns.model_profile import SMALL
from callwright.nouns.protocols import ChatRequest, ReplyMode
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import (
    READ_LOCAL,
    Answer,
    Edit,
    Message,
    Reply,
    Skip,
    Statement,
    Tool,
    ToolResult,
)
from callwright.nouns.wire_names import EditRules

UNCONFIRMED = load_phrases("en")["unconfirmed"]
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
_WITHDRAWN = EditRules.ANSWER_WITHDRAWN
_OPEN = ENGLISH.words("statements.open_questions")
_TELLING_NOTHING = ENGLISH.words("statements.telling_nothing")
_A_CALL = re.compile(r"([\w.\-]+) ?\(.*\)\.?\Z|([\w.\-]+)\([\"{]", re.DOTALL)
# a statement so like the question, in percent, answers nothing
_ECHO = threshold("callwright.grounding", "echo")
_ECHO_PART = threshold("callwright.grounding", "echo_part")
_ANNOUNCING = (":", "：")  # signs at the end of a line that a list follows
_PART = 24  # letters of a part of a question that is no name or value


class Prompt(Protocol):
    """A beginning that all questions of a run share, or of a conversation."""

    def ask(self, question: str, /, **values: str) -> tuple[Message, ...]:
        """The messages of one question, a prompt file with one section, behind what is shared."""
        ...


class Words(NamedTuple):
    """An answer in plain sentences. ``language``: its name in the question;
    ``has_written``: whether a call has changed anything. Where none has, a small model that is asked
    what was done says that all was.
    """

    language: str
    has_written: bool


class WrittenAnswer(NamedTuple):
    """An answer, checked. ``missing``: what the model named as missing, as it wrote it; the answer
    names besides what failed and what was withdrawn.
    """

    answer: Answer
    missing: tuple[str, ...] = ()


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
    already. ``prompt``: what all questions of a run share, the results among it; None where there is
    no run, and the question holds its own summary of them. ``answer_tokens``: of the reply that
    writes the answer. ``words``: the answer is asked for in plain sentences, behind a ``prompt`` that
    shows the results, and what no result confirms is left out. None: statements that name the
    results they rest on.
    """
    done = list_telling(results)
    if not done:
        return WrittenAnswer(build_abstention(results, skips, query=query))
    facts = facts if facts is not None else facts_of(query, results, skips)
    ids = [r.id for r in results]
    if prompt is None:
        request = _build_question(query, results, skips, mode, char_limit, ids)
    elif words is None:
        request = _build_run_question(prompt, facts, mode, ids)
    else:
        request = _build_question_in_words(prompt, facts, mode, words)
    request = replace(request, max_tokens=answer_tokens)
    reply = yield request
    drafts = read_drafts(reply, ids)
    if _is_empty_reply(drafts) and not drafts.gave_up and repair_questions > 0:
        repair_questions -= 1
        reply = yield _build_retry_request(request, reply, prompt)
        drafts = read_drafts(reply, ids) if not _is_not_known(reply) else Drafts()
    if _is_empty_reply(drafts):
        return WrittenAnswer(build_abstention(results, skips, "the model gave no answer", query))
    drafts = _join_echoes(drafts, facts)
    drafts = _leave_echoes_out(drafts, facts) if words is not None else drafts
    statements: list[Statement] = []
    edits: list[Edit] = []
    texts, rules = [], []
    for position, draft in enumerate(drafts.statements):
        place = (position, len(drafts.statements))
        statement, made, left = yield from _verify_statement(
            draft, facts, request, reply, repair_questions, place, prompt
        )
        repair_questions = left
        if words is not None and statement.support == "unsupported":
            verdict = GroundingResult("unsupported", [*statement.problems])
            statement, made = _withdraw_statement(draft, verdict, facts, place, echo=False)
        statements.append(statement)
        rules.append(made[-1].rule if made else "")
        edits += made
        is_again = rules[-2:] == [_WITHDRAWN, _WITHDRAWN] and words is not None
        if not is_again or statement.text != statements[-2].text:
            texts.append(draft.glue + statement.text if position else statement.text)
    given_up = [
        s.text.split("\n")[0] for s, e in zip(statements, rules, strict=True) if e == _WITHDRAWN
    ]
    if words is not None and len(given_up) == len(statements):
        found = [quote_result(result) for result in done]
        texts += ["\n" + "\n".join(f"- {one.text}" for one in found)]
        statements += found
    missing = (*list_missing(drafts, results, facts.phrases), *given_up)
    changes = list_changes(results, "".join(texts))
    said = "\n".join(("".join(texts), *(change.text for change in changes)))
    text = append_missing(said, missing, facts.phrases)
    answer = Answer(text, (*statements, *changes), missing, tuple(edits))
    return WrittenAnswer(answer, tuple(dict.fromkeys(drafts.missing)))


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
    request = _build_question(query, results, (), mode, char_limit, ids)
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
    """An answer that the model wrote already, word for word: checked as :func:`finish_without_repair`
    does. Pure.
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


def decide_statement(draft: Draft, facts: Facts, position: int) -> Statement | None:
    """The statement as it stands in the answer of :func:`write_answer`; None where the model would
    be asked about it first.
    """
    if _explain_non_answer(draft.text, facts):
        return None
    verdict = check_statement(draft.text, facts, draft.results)
    if verdict.support == "unsupported" and not _repair_statement(draft, verdict, facts):
        return None
    return _decide_by_rule(draft, verdict, facts, position)[0]


def _is_empty_reply(drafts: Drafts) -> bool:
    return not drafts.statements and not drafts.missing


def _build_question(
    query: str,
    results: Sequence[ToolResult],
    skips: Sequence[Skip],
    mode: ReplyMode,
    limit: int,
    ids: Sequence[str],
) -> ChatRequest:
    summary = summarise_results(query, results, skips, limit)
    messages = prompts.render("finish", format=_FORMATS[mode], summary=summary, query=query)
    return _build_answer_request(messages, mode, ids)


def _build_run_question(
    prompt: Prompt, facts: Facts, mode: ReplyMode, ids: Sequence[str]
) -> ChatRequest:
    skipped = _render_skipped(facts)
    values = {"skipped": skipped, "format": _FORMATS[mode], "query": facts.query}
    return _build_answer_request(prompt.ask("ask_answer", **values), mode, ids)


def _build_question_in_words(
    prompt: Prompt, facts: Facts, mode: ReplyMode, words: Words
) -> ChatRequest:
    values = {
        "skipped": f"{_render_skipped(facts)}{_render_found(facts)}",
        "language": words.language,
        "format": _IN_WORDS if mode == "schema" else "",
    }
    messages = prompt.ask("ask_done" if words.has_written else "ask_found", **values)
    return ChatRequest(messages, "answer", schema=WORDS if mode == "schema" else None)


def _render_found(facts: Facts) -> str:
    """Return what was found, said again where a call found nothing: a small model tells of the last
    result.
    """
    found = [quote_result(result).text for result in list_telling(facts.results)]
    return f"What was found: {'; '.join(found)}.\n" if len(found) < len(facts.results) else ""


def _render_skipped(facts: Facts) -> str:
    return "".join(f"{line}\n" for line in render_skips(facts.skips))


def _build_answer_request(
    messages: tuple[Message, ...], mode: ReplyMode, ids: Sequence[str]
) -> ChatRequest:
    if mode == "schema":
        return ChatRequest(messages, "answer", schema=schema_for(ids))
    if mode == "native":
        tool = Tool("Finish", "Give the final answer.", schema_for(ids), effects=READ_LOCAL)
        return ChatRequest(messages, "answer", tools=(tool,), tool_choice="required")
    return ChatRequest(messages, "answer", stop=("\nObservation:", "\nHuman:"))


def _verify_statement(
    draft: Draft,
    facts: Facts,
    request: ChatRequest,
    reply: Reply,
    repair_questions: int,
    place: tuple[int, int],
    prompt: Prompt | None,
) -> Generator[ChatRequest, Reply, tuple[Statement, list[Edit], int]]:
    """Check one statement; repair it by rule, else by one question, else mark it."""
    position = place[0]
    verdict = check_statement(draft.text, facts, draft.results)
    why = _explain_non_answer(draft.text, facts)
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
            _build_plain_request(facts, prompt, request.max_tokens // 2)
            if echo and request.schema != WORDS
            else _build_restate_request(draft, verdict, facts, request, reply, prompt)
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


def _withdraw_statement(
    draft: Draft, verdict: GroundingResult, facts: Facts, place: tuple[int, int], echo: bool
) -> tuple[Statement, list[Edit]]:
    """The model, asked again, says itself that no result holds it: what is unknown is said, the
    claim is not.
    """
    position, of = place
    text = f"{facts.phrases['not_in_results']}: {facts.query.strip()}"
    if of > 1:
        text = facts.phrases["left_out"]
    if echo:
        quoted, _ = _quote_cited_results(draft, facts, position, verdict.problems[0])
        text = f"{facts.phrases['results']}:\n{quoted.text}"
    statement = Statement(text, "limitation", (), tuple(verdict.problems))
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


def _build_restate_request(
    draft: Draft,
    verdict: GroundingResult,
    facts: Facts,
    request: ChatRequest,
    reply: Reply,
    prompt: Prompt | None,
) -> ChatRequest:
    problems, evidence = "; ".join(verdict.problems), _render_evidence(verdict, facts)
    return _build_followup_request(request, reply, draft.text, problems, evidence, prompt)


def _build_plain_request(facts: Facts, prompt: Prompt | None, max_tokens: int) -> ChatRequest:
    """The question again, without the reply that only repeated it: small models repeat that once
    more. The reply is plain text, which takes half the tokens of the answer's form.
    """
    if prompt is None:
        summary = summarise_results(facts.query, facts.results, facts.skips, _PLAIN)
        messages = prompts.render("finish_plain", summary=summary, query=facts.query)
    else:
        skipped = _render_skipped(facts)
        messages = prompt.ask("ask_plain", skipped=skipped, query=facts.query)
    return ChatRequest(messages, "answer.restate", max_tokens=max_tokens)


def _build_retry_request(request: ChatRequest, reply: Reply, prompt: Prompt | None) -> ChatRequest:
    """The one question after a reply that holds no statement at all."""
    said = " ".join(reply.text.split())[:_QUOTED] or "(nothing)"
    why = "it holds no statement, so it answers nothing"
    return _build_followup_request(request, reply, said, why, "", prompt)


def _build_followup_request(
    request: ChatRequest,
    reply: Reply,
    statement: str,
    problems: str,
    evidence: str,
    prompt: Prompt | None,
) -> ChatRequest:
    name = "finish_restate" if prompt is None else "ask_restate"
    asked = prompts.render(name, statement=statement, problems=problems, evidence=evidence)
    said = Message("assistant", reply.text or "(tool call)")
    messages = (*request.messages, said, *asked)
    if request.schema == WORDS:  # the system prompt may ask for JSON
        return ChatRequest(messages, "answer.restate", schema=WORDS, max_tokens=120)
    return ChatRequest(messages, "answer.restate", max_tokens=120, stop=("\n\n",))


def _render_evidence(verdict: GroundingResult, facts: Facts) -> str:
    quotes = [f"{c.result}: {c.quote}" for c in verdict.citations if c.quote]
    quotes += [f"{f.leaf.result}: {facts.quote(f.leaf)}" for f in verdict.fixes]
    return "The summary says: " + "; ".join(dict.fromkeys(quotes)) + "\n" if quotes else ""


def _parse_restatement(
    reply: Reply, draft: Draft, facts: Facts
) -> tuple[str, GroundingResult] | None:
    text = _take_statement(read_words(reply.text).strip().strip('"'))
    if not text or _is_not_known(reply) or _explain_non_answer(text, facts):
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


def _explain_non_answer(text: str, facts: Facts) -> str:
    """Return the reason why a statement states nothing, whatever supports its values; "" if it
    states something.
    """
    called = _A_CALL.match(text.strip())
    if called is not None and (called[1] or called[2]) in {r.tool for r in facts.results}:
        return "this is a call, and says nothing of what came of it"
    return "this only repeats the question" if _is_question_echo(text, facts) else ""


def _is_question_echo(text: str, facts: Facts) -> bool:
    """Return True if a statement only repeats the question. It has nearly the same words, is a
    whole part of it, or has no informative words of its own.
    """
    if ratio(text.lower(), facts.query.lower()) > _ECHO:
        return True
    said, asked_for = squash_text(text), squash_text(facts.query)
    if len(said) >= _PART and said in asked_for:
        return True
    if len(said) > _ECHO_PART / 100 * len(asked_for) and _is_subsequence(said, asked_for):
        return True  # the request, with a word or a comma less
    asked = set(split_tokens(facts.query))
    return bool(_OPEN & asked) and not set(split_tokens(text)) - asked - _TELLING_NOTHING


def _join_echoes(drafts: Drafts, facts: Facts) -> Drafts:
    """Return the statements as one where together they only repeat parts of the request."""
    texts = [draft.text for draft in drafts.statements]
    if len(texts) < 2 or not repeats_parts(texts, facts):
        return drafts
    if sum(len(squash_text(text)) for text in texts) < _PART:
        return drafts
    cited = dict.fromkeys(result for draft in drafts.statements for result in draft.results)
    return replace(drafts, statements=(Draft(facts.query, (*cited,)),))


def _leave_echoes_out(drafts: Drafts, facts: Facts) -> Drafts:
    """Return the sentences that state something; all of them where none does."""
    kept = tuple(one for one in drafts.statements if not _explain_non_answer(one.text, facts))
    return replace(drafts, statements=kept) if kept else drafts


def repeats_parts(texts: Sequence[str], facts: Facts) -> bool:
    """Return True if each of these statements stands in the request, word for word."""
    asked = squash_text(facts.query)
    return all(squash_text(text) in asked for text in texts)


def _is_subsequence(part: str, whole: str) -> bool:
    """Return True if the signs of a text stand in another in the same order."""
    left = iter(whole)
    return bool(part) and all(sign in left for sign in part)


def _is_not_known(reply: Reply) -> bool:
    return "NOT KNOWN" in reply.text.upper()
