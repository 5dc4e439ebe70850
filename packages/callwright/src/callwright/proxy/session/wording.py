"""An answer in words, for a user who would get none: asked of the upstream once more, else composed
from the results. A generator without I/O, like :mod:`callwright.proxy.session.decision.decide`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

from callwright.language.spoken import guess_spoken, load_phrases
from callwright.nouns.types import Edit, Reply
from callwright.nouns.wire_names import EditRules
from callwright.parsing import parse_calls
from callwright.proxy.session import words
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import Decision, Question
from callwright.proxy.session.leading import guided

NO_WORDS = "Your last answer held no words for the user."


def write_in_words(
    said: str | None,
    finish: str,
    made: Decision,
    context: Context,
    load: Callable[[Callable[[], None]], None],
) -> Generator[Question, Reply, bool]:
    """See that an answer without calls has words, and clean what the decision adds to it.

    ``said`` is the text of the upstream's own answer, None where that says something otherwise;
    ``finish`` its finish_reason; ``load`` runs what loads modules. Return True if new words stand
    for what was said.
    """
    _clean_added(made, context)
    is_last = words.is_after_results(context)
    if made.calls or said is None or not (is_last or made.problems) or context.demanded:
        return False
    if finish == "content_filter" or not words.is_wordless(said, context):
        return False
    if made.text:
        answer = "\n".join(made.text)
    elif finish == "length":
        answer = compose_from_results(context, load)
    else:
        answer = yield from _ask_in_words(made, context)
        answer = answer or compose_from_results(context, load)
    if said.strip() or not made.text:
        made.edits.append(Edit(words.CONTENT, said, answer, EditRules.ANSWER_IN_WORDS))
    made.text = [answer]
    return True


def _clean_added(made: Decision, context: Context) -> None:
    """Remove leftovers from what the decision adds to the answer's text.

    Where calls are kept back and nothing else is said in words, the reason is. After results, what
    has no words is left out.
    """
    added = []
    for text in made.text:
        shown, edits = words.clean_text(text, context)
        made.edits += edits
        added.append(shown)
    said = [text for text in added if not words.is_wordless(text, context)]
    if added and not said and not made.calls:
        said = [*dict.fromkeys(made.problems)]
        said = said if said or words.is_after_results(context) else added
    made.text = added if made.calls else said


def _ask_in_words(made: Decision, context: Context) -> Generator[Question, Reply, str]:
    """The upstream's answer to the request once more, without tools; "" where it has no words
    again, or the budget is spent.
    """
    if not context.grant():
        made.notes.append("no budget to ask for an answer in words")
        return ""
    live = words.LiveWords(context)
    reply = yield Question("words", guided.build_body_in_words(context, NO_WORDS), live.read)
    if live.said:
        return live.close(reply.text)
    shown, _ = words.clean_text(parse_calls(reply.text, context.toolset.tools).text, context)
    if words.is_wordless(shown, context):
        made.notes.append("asked for an answer in words, without one")
        return ""
    return shown.strip()


def compose_from_results(context: Context, load: Callable[[Callable[[], None]], None]) -> str:
    """Sentences made without a model: what the tools returned; where a call failed or returned
    nothing, that the question could not be answered, and why.
    """
    load(_load_grounding)
    from callwright.grounding.answer.quoting import build_abstention

    results = context.state.results or context.state.earlier
    why = load_phrases(guess_spoken(context.query))["no_reply"]
    answer = build_abstention(results, (), why, context.query)
    quoted = [one.text for one in answer.statements if one.support == "supported"]
    return "\n".join(quoted) if results and len(quoted) == len(results) else answer.text


def _load_grounding() -> None:
    from callwright.grounding.answer import quoting  # noqa: F401
