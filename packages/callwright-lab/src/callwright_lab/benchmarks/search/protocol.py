"""The search protocol (Tool-use Refiner, Appendix E.3, after Search-R1): think, search, read, at
most three turns.

A turn is one reply of the model. ``<answer>`` ends the conversation; else the query between
``<search>`` and ``</search>`` brings the three best passages between ``<information>`` tags, and
the next turn. The refiner is asked only where a reply has no answer: it sees the history and the
reply (of a reply that ran into the context limit, the first 500 tokens) and gives the query.
Without it, a reply without answer and without a well-formed search ends the conversation
unanswered. No I/O here: the conversation is a generator that yields questions and is sent replies.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field

from callwright import prompts
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Json, Message, Reply, Tool, Usage
from callwright.parsing import parse_calls
from callwright_lab.benchmarks.search.corpus import Corpus, Passage, Question

TURNS, TOP, KEPT_TOKENS, TOKENS = 3, 3, 500, 512
CHARS_A_TOKEN = 4
PROMPT = (
    "Answer the given question. You must conduct reasoning inside <think> and </think> first every"
    " time you get new information. After reasoning, if you find you lack some knowledge, you can"
    " call a search engine by <search> query </search>, and it will return the top searched results"
    " between <information> and </information>. You can search as many times as you want. If you"
    " find no further external knowledge needed, you can directly provide the answer inside"
    " <answer> and </answer> without detailed illustrations. For example, <answer> xxx </answer>."
    " Question: {}"
)
SEARCH = Tool(
    "search",
    "Search the corpus.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
_FORM = "Your output must strictly follow this format: <search> query </search>."
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.S)
_SEARCH = re.compile(r"<search>(.*?)</search>", re.S)
_LOOSE = re.compile(
    r"<\s*/?\s*search(?:\s+query)?\s*[>:\]]|\[search\]|\bsearch(?: query)?\s*:", re.I
)

Conversation = Generator[ChatRequest, Reply, "Searched"]
QueryRefiner = Callable[[str, str, str], Generator[ChatRequest, Reply, str]]
"""(question, history, reply without an answer) -> the query to search for, "" for none. May ask a
model.
"""


@dataclass(frozen=True, slots=True)
class Searched:
    """Result of one conversation. ``repaired`` counts the queries in which the refiner differs from
    the strict reading.
    """

    answer: str | None
    queries: tuple[str, ...] = ()
    turns: int = 0
    repaired: int = 0
    usage: Usage = field(default_factory=Usage)
    refiner_usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0


def run_protocol(
    question: str, corpus: Corpus, refine_query: QueryRefiner | None = None
) -> Conversation:
    """One question by the protocol; without ``refine_query``, the upstream alone."""
    prompt, history = PROMPT.format(question), ""
    queries: list[str] = []
    repaired, usage, extra, seconds = 0, Usage(), Usage(), 0.0
    for turn in range(1, TURNS + 1):
        messages = [Message("user", prompt)]
        if history:
            messages.append(Message("user", history))
        reply = yield _build_question(messages)
        usage, seconds, text = usage + reply.usage, seconds + reply.seconds, close_tag(reply.text)
        said = extract_answer(text)
        if said is not None:
            return Searched(said, tuple(queries), turn, repaired, usage, extra, seconds)
        query = extract_strict_query(text)
        if refine_query is not None:
            shown = text[: KEPT_TOKENS * CHARS_A_TOKEN] if reply.finish_reason == "length" else text
            better, spent = yield from _refine_query(refine_query(question, history, shown))
            extra += spent
            repaired += better != query
            query = better
        if not query:
            return Searched(None, tuple(queries), turn, repaired, usage, extra, seconds)
        queries.append(query)
        history += _render_step(text, query, corpus.search(query, TOP))
    return Searched(None, tuple(queries), TURNS, repaired, usage, extra, seconds)


def _build_question(messages: Sequence[Message]) -> ChatRequest:
    return ChatRequest(
        tuple(messages), purpose="bench", max_tokens=TOKENS, stop=("</search>", "</answer>")
    )


def _refine_query(
    asked: Generator[ChatRequest, Reply, str],
) -> Generator[ChatRequest, Reply, tuple[str, Usage]]:
    """The refiner's query and what it cost."""
    spent = Usage()
    try:
        request = next(asked)
        while True:
            reply = yield request
            spent += reply.usage
            request = asked.send(reply)
    except StopIteration as done:
        return str(done.value or ""), spent


def _render_step(text: str, query: str, passages: Sequence[Passage]) -> str:
    """Return the text of a finished turn for the model: its reply, the executed query, and the
    passages found.
    """
    kept = (
        text
        if extract_strict_query(text) == query
        else f"{_LOOSE.split(text)[0].strip()}\n<search> {query} </search>"
    )
    found = "\n".join(f"Doc {n} (Title: {p.title}) {p.text}" for n, p in enumerate(passages, 1))
    return f"{kept.strip()}\n<information>{found or 'Nothing was found.'}</information>\n"


def close_tag(text: str) -> str:
    """The reply with the closing tag at which it was stopped."""
    for tag in ("search", "answer"):
        if text.rfind(f"<{tag}>") > text.rfind(f"</{tag}>"):
            return f"{text}</{tag}>"
    return text


def extract_answer(text: str) -> str | None:
    """Return the text of the last ``<answer>``; None if there is none."""
    found = _ANSWER.findall(text)
    return found[-1].strip() if found else None


def extract_strict_query(text: str) -> str:
    """Return the text of the last well-formed ``<search>``; "" if there is none."""
    found = _SEARCH.findall(text)
    return found[-1].strip() if found else ""


def rules_query(question: str, history: str, text: str) -> Generator[ChatRequest, Reply, str]:
    """Our rules' query: a well-formed one as it is; a call written in any dialect; what follows a
    search marker that is none. A query asked before, or none at all, falls back to the question's
    own words. Asks no model.
    """
    query = extract_strict_query(text) or _extract_called_query(text) or _extract_marked_query(text)
    query = re.sub(
        r"^(?:query)?\s*[:=]\s*", "", query.strip().strip("`\"'[](){}").strip(), flags=re.I
    )
    return query if query and f"<search> {query} </search>" not in history else question
    yield  # a generator, as the protocol wants


def model_query(question: str, history: str, text: str) -> Generator[ChatRequest, Reply, str]:
    """The paper's refiner (E.3): asked with its own prompt (Appendix A) about the whole history and
    the reply, it writes the query to search for. What it writes without a tag is read as the rules
    read it; where it writes none, theirs is taken. Asks under the purpose ``refine``, so that
    another model than the upstream may answer.
    """
    messages = prompts.render(
        "refine",
        system=PROMPT.format(question),
        tools="",
        query=question,
        upstream=(history + text).strip(),
        format=_FORM,
    )
    reply = yield ChatRequest(messages, purpose="refine", max_tokens=TOKENS, stop=("</search>",))
    said = re.sub(r"\A.*?</think>", "", close_tag(reply.text), flags=re.S)
    if not (
        extract_strict_query(said) or _extract_called_query(said) or _extract_marked_query(said)
    ):
        said = text
    return (yield from rules_query(question, history, said))


def _extract_called_query(text: str) -> str:
    """The query of a search that is written as a call."""
    for call in parse_calls(text, [SEARCH]).calls:
        if call.tool.lower().startswith("search") and isinstance(call.arguments, dict):
            values: list[Json] = [v for v in call.arguments.values() if isinstance(v, str)]
            return str(values[0]) if values else ""
    return ""


def _extract_marked_query(text: str) -> str:
    """The rest of the line after the last thing that looks like a search marker."""
    parts = _LOOSE.split(text)
    rest = [p.strip() for p in parts[1:] if p.strip()]
    return rest[-1].splitlines()[0][:300] if rest else ""


def normalise_answer(text: str) -> str:
    """SQuAD's normal form: lower case, no punctuation, no articles, single spaces."""
    bare = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(?:a|an|the)\b", " ", bare).split())


def score_answer(question: Question, found: Searched) -> dict[str, float]:
    """``em``: equal in normal form to an answer; ``contains``: one holds the other (the paper's
    modified metric).
    """
    said = normalise_answer(found.answer or "")
    wanted = [normalise_answer(a) for a in question.answers]
    contains = any(said and w and (w in said or said in w) for w in wanted)
    return {"em": float(said in wanted and bool(said)), "contains": float(contains)}
