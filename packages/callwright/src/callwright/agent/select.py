"""Selects the tools that a request needs at all: one short question before the plan, over names and
first sentences.

A small model calls what it is shown, and inside one layer it has nothing to compare a tool with. So
it first chooses among all tools, without their schemas. The plan, the layers and the decoding
schemas then hold only its choice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import log

from callwright import prompts
from callwright.agent.words import ACTIONS, extract_stems
from callwright.jsontext import JsonError, parse_lenient
from callwright.language.tokens import split_name
from callwright.nouns.model_profile import SMALL
from callwright.nouns.protocols import ChatRequest, ReplyMode
from callwright.nouns.types import JsonObject, Reply, Tool, to_canonical_json
from callwright.prompts.run_prompt import RunPrompt

_AS_JSON = 'Reply with JSON: {"needed": ["tool name", ...]}'
_MOST_FOUND = 4  # tools by the words of a request, beside those that the model names
_AS_TEXT = "Reply with the names of the tools that are needed, separated by commas. Call nothing."


def build_request(
    query: str,
    tools: Sequence[Tool],
    mode: ReplyMode,
    prompt: RunPrompt | None = None,
    notes: str = "",
    description_chars: int = SMALL.selection_chars,
) -> ChatRequest:
    """The question; its reply is for :func:`read_selection`. ``prompt``: what all questions of the
    run share; None where there is no run, and the question stands alone. ``notes``: what it says
    beside the request. ``description_chars``: so much of each tool's first sentence is shown.
    """
    listed = "\n".join(
        f"- {tool.name}: {_shorten_description(tool, description_chars)}" for tool in tools
    )
    form = _AS_JSON if mode == "schema" else _AS_TEXT
    if prompt is None:
        asked = f"{query}\n\n{notes}" if notes else query
        messages = prompts.render("select", tools=listed, format=form, query=asked)
    else:
        said = f"{notes}\n\n" if notes else ""
        messages = prompt.ask("ask_select", notes=said, tools=listed, format=form)
    return ChatRequest(
        messages,
        purpose="select",
        schema=_build_schema(tools) if mode == "schema" else None,
        max_tokens=40 + 12 * len(tools),
    )


def read_selection(reply: Reply, tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """The tools that the reply names, in its order: what a model thinks of first is shown to it
    first later.
    """
    try:
        value = parse_lenient(reply.text).value
        named = value.get("needed") if isinstance(value, dict) else value
        names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    except JsonError:
        names = re.findall(r"[\w.\-]+", reply.text)
    by_name = {tool.name: tool for tool in tools}
    return tuple(by_name[name] for name in dict.fromkeys(names) if name in by_name)


def find_mentioned(query: str, tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """The tools that share with the request a word of no other tool: in name, description,
    parameters, options.

    The model's choice alone is short of tools: on 20 tasks it held all that was needed in 15, with
    these in 18, with all that share any word in 19, but then with twice as many that were not
    needed.
    """
    said = extract_stems(query)
    own = {name: said & (words - ACTIONS) for name, words in _stem_texts(tuple(tools)).items()}
    shared = Counter(word for words in own.values() for word in words)
    return tuple(tool for tool in tools if any(shared[word] == 1 for word in own[tool.name]))


def find_closest(query: str, tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """The four tools that share most with the words of a request, those of their names twice; the
    rarer a word among the tools, the more it counts (inverse document frequency). None where no
    word of it stands in a tool, as in another language.

    Of the 59 tools that 33 tasks of the desk need, out of 68, these are 31, and those of
    :func:`find_mentioned` 11.
    """
    said = extract_stems(query) - ACTIONS
    texts = _stem_texts(tuple(tools))
    count = Counter(word for words in texts.values() for word in words)

    def score(tool: Tool) -> float:
        own = extract_stems(" ".join(split_name(tool.name)))
        shared = texts[tool.name] & said
        return sum(log(1 + len(tools) / count[word]) * (1 + (word in own)) for word in shared)

    scores = {tool.name: score(tool) for tool in tools}
    ranked = sorted(tools, key=lambda tool: (-scores[tool.name], tool.name))
    return tuple(tool for tool in ranked[:_MOST_FOUND] if scores[tool.name] > 0)


@lru_cache(maxsize=4)
def _stem_texts(tools: tuple[Tool, ...]) -> Mapping[str, frozenset[str]]:
    """The words of each tool by its name; of some thousand tools they take half a second."""
    return {tool.name: extract_stems(_join_tool_text(tool)) for tool in tools}


def _join_tool_text(tool: Tool) -> str:
    return " ".join(
        [*split_name(tool.name), tool.description, *split_name(to_canonical_json(tool.properties))]
    )


def _build_schema(tools: Sequence[Tool]) -> JsonObject:
    names = {"type": "array", "items": {"enum": [t.name for t in tools]}, "maxItems": len(tools)}
    return {
        "type": "object",
        "properties": {"needed": names},
        "required": ["needed"],
        "additionalProperties": False,
    }


def _shorten_description(tool: Tool, most: int) -> str:
    text = " ".join(tool.description.split()).split(". ")[0]
    return text if len(text) <= most else text[: most - 1] + "…"
