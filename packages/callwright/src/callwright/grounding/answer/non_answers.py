"""Statements that answer nothing: they repeat the question, or are a call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rapidfuzz.fuzz import ratio

from callwright.grounding.answer.reply import Draft, Drafts
from callwright.grounding.facts import Facts
from callwright.jsontext import JsonError, parse
from callwright.language import ENGLISH
from callwright.language.tokens import split_tokens, squash_text
from callwright.nouns.thresholds import threshold

_OPEN = ENGLISH.words("statements.open_questions")
_TELLING_NOTHING = ENGLISH.words("statements.telling_nothing")
_A_CALL = re.compile(r"([\w.\-]+) ?\(.*\)\.?\Z|([\w.\-]+)\([\"{]", re.DOTALL)
# a statement so like the question, in percent, answers nothing
_ECHO = threshold("callwright.grounding", "echo")
_ECHO_PART = threshold("callwright.grounding", "echo_part")
_PART = 24  # letters of a part of a question that is no name or value


def explain_non_answer(text: str, facts: Facts) -> str:
    """Return the reason why a statement states nothing, whatever supports its values; "" if it
    states something.
    """
    if _is_data(text) and "json" not in facts.query.lower():
        return "this is data, and no sentence"
    called = _A_CALL.match(text.strip())
    if called is not None and (called[1] or called[2]) in {r.tool for r in facts.results}:
        return "this is a call, and says nothing of what came of it"
    return "this only repeats the question" if _is_question_echo(text, facts) else ""


def _is_data(text: str) -> bool:
    """Return True if a text is nothing but a JSON list, object or null, or marks without a word."""
    bare = text.strip().rstrip(".")
    if not any(sign.isalnum() for sign in bare) or bare == "null":
        return True
    if bare[:1] + bare[-1:] not in ("{}", "[]"):
        return False
    try:
        return isinstance(parse(bare), dict | list)
    except JsonError:
        return False


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


def join_echoes(drafts: Drafts, facts: Facts) -> Drafts:
    """Return the statements as one where together they only repeat parts of the request."""
    texts = [draft.text for draft in drafts.statements]
    if len(texts) < 2 or not repeats_parts(texts, facts):
        return drafts
    if sum(len(squash_text(text)) for text in texts) < _PART:
        return drafts
    cited = dict.fromkeys(result for draft in drafts.statements for result in draft.results)
    return replace(drafts, statements=(Draft(facts.query, (*cited,)),))


def leave_echoes_out(drafts: Drafts, facts: Facts) -> Drafts:
    """Return the sentences that state something; all of them where none does."""
    kept = tuple(one for one in drafts.statements if not explain_non_answer(one.text, facts))
    return replace(drafts, statements=kept) if kept else drafts


def repeats_parts(texts: Sequence[str], facts: Facts) -> bool:
    """Return True if each of these statements stands in the request, word for word."""
    asked = squash_text(facts.query)
    return all(squash_text(text) in asked for text in texts)


def _is_subsequence(part: str, whole: str) -> bool:
    """Return True if the signs of a text stand in another in the same order."""
    left = iter(whole)
    return bool(part) and all(sign in left for sign in part)
