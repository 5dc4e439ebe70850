"""Errors of the text that calls are written in, and of the stream it arrives in.

They act on whatever text ``Given.write`` makes, so every dialect and every data set's own format
can be spoiled.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from callwright.nouns.types import JsonObject, ToolCall
from callwright_lab.training.refiner.corrupted import (
    Corrupted,
    Corruptor,
    Given,
    draw_one,
    write_reply,
)

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_CLOSERS = re.compile(r"(?:</[^<>]*>|<\|[^|<>]*\|>|```|[\s\])}]|<[^<>]*end[^<>]*>)*\Z")
_TAG = re.compile(r"</[\w:]+>")
_LEADS = (
    "I will use the tool now.\n\n",
    "Sure! Here is the call you need:\n\n",
    "Let me look that up.\n",
)
_TAILS = ("\n\nLet me know if you need anything else.", "\n\nThis will give you the result.", "")
_THOUGHTS = (
    "The user wants this done, so a tool is needed.",
    "I should look at the tools. One of them fits.",
)
_WRAPPERS = {
    "name": ("tool", "function", "tool_name", "name"),
    "arguments": ("parameters", "args", "input"),
}
_MARKERS = (
    "</tool_call>",
    "<tool_call>",
    "[TOOL_CALLS]",
    "</function>",
    "```",
    "<|python_tag|>",
    '{"name": "x"}',
)


def _build_corrupted(kind: str, given: Given, text: str, answerable: bool, note: str) -> Corrupted:
    return Corrupted(kind, "text", answerable, note, given.calls, text=text)


def _build_text_corruptor(
    kind: str, spoil: Callable[[str, random.Random], str], note: str, answerable: bool = True
) -> Corruptor:
    """A corruption of the whole text; None where it would change nothing."""

    def corruptor(given: Given, rng: random.Random) -> Corrupted | None:
        text = given.write(given.calls)
        spoiled = spoil(text, rng)
        return (
            _build_corrupted(kind, given, spoiled, answerable, note)
            if given.calls and spoiled != text
            else None
        )

    return corruptor


def _change_outside_strings(text: str, change: Callable[[str], str]) -> str:
    """``change`` applied to what stands between double-quoted strings."""
    parts, at = [], 0
    for match in _STRING.finditer(text):
        parts += [change(text[at : match.start()]), match[0]]
        at = match.end()
    return "".join([*parts, change(text[at:])])


def _single_quotes(text: str, _rng: random.Random) -> str:
    """Python's quotes; a string that holds a quote or a backslash keeps its own, as Python's repr
    would.
    """
    return _STRING.sub(lambda m: m[0] if set(m[1]) & {"'", "\\"} else f"'{m[1]}'", text)


def _python_literals(text: str, _rng: random.Random) -> str:
    names = {"true": "True", "false": "False", "null": "None"}
    return _change_outside_strings(
        text, lambda s: re.sub(r"\b(true|false|null)\b", lambda m: names[m[1]], s)
    )


def _trailing_comma(text: str, _rng: random.Random) -> str:
    at = _last_closer(text)
    return text[:at] + "," + text[at:] if at > 0 and text[at - 1] not in "([{" else text


def _last_closer(text: str) -> int:
    """Return the position where the innermost bracket at the end of the text closes; -1 if none
    does.
    """
    start = len(text) - len(_find_closers(text))
    return next((i for i in range(start, len(text)) if text[i] in "])}"), -1)


def _find_closers(text: str) -> str:
    """The closers, tags and spaces at the end of the text."""
    found = _CLOSERS.search(text)
    return found[0] if found else ""


def _missing_closer(text: str, rng: random.Random) -> str:
    """Without its last tag, or without its last bracket: nothing of an argument is lost."""
    tags = [m.span() for m in _TAG.finditer(text)]
    brackets = [
        i for i in range(len(text) - len(_find_closers(text)), len(text)) if text[i] in "])}"
    ]
    if tags and (rng.random() < 0.5 or not brackets):
        return text[: tags[-1][0]] + text[tags[-1][1] :]
    return text[: brackets[-1]] + text[brackets[-1] + 1 :] if brackets else text


def _extra_closer(text: str, rng: random.Random) -> str:
    tags = _TAG.findall(text)
    brackets = [c for c in _find_closers(text) if c in "])}"]
    if tags and (rng.random() < 0.5 or not brackets):
        return f"{text}\n{tags[-1]}"
    at = _last_closer(text)
    return text[:at] + text[at] + text[at:] if at >= 0 else text


def _truncate_text(text: str, rng: random.Random) -> str:
    """Cut inside what the last call says, as a token limit does: something of an argument is
    gone.
    """
    body = len(text) - len(_find_closers(text))
    if body and text[body - 1] in "\"'":
        body -= 1
    start = max(text.rfind(mark) for mark in ("arguments", "parameters", "(", "<parameter", "{"))
    return (
        text[: rng.randrange(max(start + 1, body * 3 // 5), body)] if body > start + 1 > 0 else text
    )


def _wrapper_keys(text: str, rng: random.Random) -> str:
    """Other words for ``name`` and ``arguments``."""
    name, arguments = rng.choice(_WRAPPERS["name"]), rng.choice(_WRAPPERS["arguments"])
    text = re.sub(r'(?<=[{,\s])"(?:arguments|parameters)"(?=\s*:\s*[{"])', f'"{arguments}"', text)
    return re.sub(
        r'(?<=[{\s])"name"(?=\s*:\s*"[^"]*",\s*"(?:parameters|args|input)")', f'"{name}"', text
    )


def _insert_thought(text: str, rng: random.Random) -> str:
    """A thought that leaks into the answer: whole, never opened, or never closed before the
    call.
    """
    thought = rng.choice(_THOUGHTS)
    return rng.choice(
        [
            f"<think>\n{thought}\n</think>\n{text}",
            f"{thought}\n</think>\n{text}",
            f"<think>\n{thought}\n{text}",
        ]
    )


# ---------------------------------------------------------------- errors that need the calls


def _build_stringify_corruptor(times: int) -> Corruptor:
    """Arguments encoded as a JSON string, once or twice more than they should be."""
    kind = "arguments_as_text" if times == 1 else "escaped_twice"

    def corruptor(given: Given, rng: random.Random) -> Corrupted | None:
        i = draw_one(rng, [i for i, c in enumerate(given.calls) if isinstance(c.arguments, dict)])
        if i is None:
            return None
        encoded: object = given.calls[i].arguments
        for _ in range(times):
            encoded = write_reply(encoded)
        calls = given.with_call(i, replace(given.calls[i], arguments=str(encoded)))
        return _build_corrupted(
            kind,
            given,
            given.write(calls),
            True,
            f"the arguments of {given.calls[i].tool} are text",
        )

    return corruptor


def _insert_nan(given: Given, rng: random.Random) -> Corrupted | None:
    """A number written as NaN: JSON has none, and which number was meant is gone."""
    numbers = [
        s
        for s in given.sites()
        if isinstance(s.value, int | float) and not isinstance(s.value, bool)
    ]
    site = draw_one(rng, numbers)
    if site is None:
        return None
    text = given.write(given.with_value(site, float("nan")))
    note = f"{given.calls[site.call].tool}.{site.key} is NaN"
    return _build_corrupted("not_a_number", given, text, given.stated(site.value), note)


def _insert_marker(given: Given, rng: random.Random) -> Corrupted | None:
    """A string argument that rightly holds a call marker. Nothing is broken: it must come out as it
    is.
    """
    site = draw_one(
        rng, [s for s in given.sites() if isinstance(s.value, str) and "enum" not in s.schema]
    )
    if site is None:
        return None
    value = f"{site.value} {rng.choice(_MARKERS)} and more"
    calls = given.with_value(site, value)
    note = f"{given.calls[site.call].tool}.{site.key} holds {value!r}"
    return Corrupted("marker_in_string", "text", True, note, calls, text=given.write(calls))


def _concatenate_calls(given: Given, rng: random.Random) -> Corrupted | None:
    """Several calls as JSON objects with nothing, a comma or a semicolon between them."""
    if len(given.calls) < 2:
        return None
    mark = rng.choice(["", ", ", "; ", "\n"])
    text = mark.join(write_reply({"name": c.tool, "arguments": c.arguments}) for c in given.calls)
    return _build_corrupted(
        "run_together", given, text, True, f"{len(given.calls)} objects joined by {mark!r}"
    )


# ---------------------------------------------------------------- streams


def _split_stream(given: Given, rng: random.Random) -> Corrupted | None:
    """The text in pieces of one character, or cut at random places."""
    text = given.write(given.calls)
    if not text:
        return None
    if rng.random() < 0.5:
        pieces = tuple(text)
    else:
        cuts = sorted(
            {0, len(text), *(rng.randrange(len(text)) for _ in range(rng.randrange(1, 9)))}
        )
        pieces = tuple(text[a:b] for a, b in itertools.pairwise(cuts))
    return Corrupted(
        "split", "stream", True, f"{len(pieces)} pieces", given.calls, text=text, pieces=pieces
    )


def build_deltas(calls: tuple[ToolCall, ...]) -> list[JsonObject]:
    """OpenAI chunk deltas of the calls: a head with id and name, then the arguments in two
    pieces.
    """
    found: list[JsonObject] = []
    for i, call in enumerate(calls):
        text = call.arguments if isinstance(call.arguments, str) else write_reply(call.arguments)
        head = {
            "id": call.id or f"call_{i}",
            "type": "function",
            "function": {"name": call.tool, "arguments": ""},
        }
        found.append({"index": i, **head})
        for part in (text[: len(text) // 2], text[len(text) // 2 :]):
            found.append({"index": i, "function": {"arguments": part}})
    return found


def _build_delta_corruptor(
    kind: str, spoil: Callable[[JsonObject], JsonObject], several: bool = False
) -> Corruptor:
    def corruptor(given: Given, _rng: random.Random) -> Corrupted | None:
        if len(given.calls) < 1 + several:
            return None
        spoiled = tuple({"tool_calls": [spoil(d)]} for d in build_deltas(given.calls))
        return Corrupted(
            kind, "stream", True, f"{len(spoiled)} deltas", given.calls, deltas=spoiled
        )

    return corruptor


def _build_key_remover(key: str) -> Callable[[JsonObject], JsonObject]:
    return lambda delta: {k: v for k, v in delta.items() if k != key}


TEXT_KINDS: Mapping[str, Corruptor] = {
    "fence": _build_text_corruptor(
        "fence",
        lambda t, rng: f"```{rng.choice(['json', '', 'tool_call'])}\n{t}\n```",
        "a fence around it",
    ),
    "prose": _build_text_corruptor(
        "prose", lambda t, rng: rng.choice(_LEADS) + t + rng.choice(_TAILS), "prose around it"
    ),
    "think_leak": _build_text_corruptor(
        "think_leak", _insert_thought, "a thought leaks into the answer"
    ),
    "missing_closer": _build_text_corruptor(
        "missing_closer", _missing_closer, "the last closing tag or bracket is missing"
    ),
    "extra_closer": _build_text_corruptor(
        "extra_closer", _extra_closer, "a tag or bracket closes twice"
    ),
    "truncated": _build_text_corruptor(
        "truncated", _truncate_text, "it ends in the middle of an argument", answerable=False
    ),
    "single_quotes": _build_text_corruptor("single_quotes", _single_quotes, "Python's quotes"),
    "python_literals": _build_text_corruptor(
        "python_literals", _python_literals, "True, False, None"
    ),
    "trailing_comma": _build_text_corruptor(
        "trailing_comma", _trailing_comma, "a comma before the last bracket"
    ),
    "wrapper_keys": _build_text_corruptor(
        "wrapper_keys", _wrapper_keys, "other words for name and arguments"
    ),
    "arguments_as_text": _build_stringify_corruptor(1),
    "escaped_twice": _build_stringify_corruptor(2),
    "not_a_number": _insert_nan,
    "marker_in_string": _insert_marker,
    "run_together": _concatenate_calls,
    "split": _split_stream,
    "delta_without_id": _build_delta_corruptor("delta_without_id", _build_key_remover("id")),
    "delta_without_index": _build_delta_corruptor(
        "delta_without_index", _build_key_remover("index")
    ),
    "delta_reused_index": _build_delta_corruptor(
        "delta_reused_index", lambda d: {**d, "index": 0}, several=True
    ),
}
"""Every error of texts and streams, by name."""
