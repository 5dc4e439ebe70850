"""The execution summary: what the model is shown when it writes the final answer (RETO, A.6
"Finish").

Every result gets a fair share of the room. A long one is thinned rather than chopped: the entries
that share words with the question stay, what is left out is counted where it stood.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callwright.grounding.index import unpack_content
from callwright.grounding.words import all_concepts
from callwright.language.tokens import key_tokens, split_tokens
from callwright.nouns.types import Json, Skip, ToolResult, to_canonical_json, to_plain_text

_HEAD = 160
_LEAST = 400  # characters that every result may take, however many there are
_ITEMS = 400  # entries of one array or object that are looked at


def summarise_results(
    query: str, results: Sequence[ToolResult], skips: Sequence[Skip], limit: int
) -> str:
    """Results under their ids, failures and skips named as such; about ``limit`` characters in
    all.
    """
    heads = [_render_head(r) for r in results]
    tail = render_skips(skips)
    room = max(200, limit - sum(map(len, heads)) - sum(map(len, tail)))
    contents = [None if r.failure is not None else unpack_content(r.content) for r in results]
    bodies = [
        _render_failure(r) if r.failure is not None else to_plain_text(c)
        for r, c in zip(results, contents, strict=True)
    ]
    wanted = all_concepts(split_tokens(query))
    shares = fair_shares([len(b) for b in bodies], room)
    lines = [
        f"{head} -> {fit_content(content, body, share, wanted)}"
        for head, content, body, share in zip(heads, contents, bodies, shares, strict=True)
    ]
    return "\n".join(lines + tail) or "(nothing was executed)"


def render_skips(skips: Sequence[Skip]) -> list[str]:
    """A line for each call that was not made, 20 at most."""
    return [f"skipped: {s.tool}: {_shorten_text(s.reason, 160)}" for s in skips[:20]]


def render_growing_results(
    query: str, results: Sequence[ToolResult], limit: int
) -> tuple[str, ...]:
    """One text for each result, under its id; together about ``limit`` characters. The text of a
    result depends on it and on those before it, so that what was shown once stays as it was: each
    may take half of the room that those before it have left.
    """
    wanted = all_concepts(split_tokens(query))
    shown, room = [], limit
    for result in results:
        head = f"{_render_head(result)} -> "
        if result.failure is not None:
            shown.append(head + _render_failure(result))
        else:
            content = unpack_content(result.content)
            share = max(_LEAST, room // 2)
            shown.append(head + fit_content(content, to_plain_text(content), share, wanted))
        room = max(0, room - len(shown[-1]))
    return tuple(shown)


def _render_head(result: ToolResult) -> str:
    return f"{result.id}: {result.tool}({_shorten_text(to_canonical_json(result.arguments)[1:-1], _HEAD)})"


def _render_failure(result: ToolResult) -> str:
    failure = result.failure
    return (
        f"FAILED ({failure.kind}): {_shorten_text(failure.message, 240)}"
        if failure is not None
        else ""
    )


def _shorten_text(text: str, length: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1] + "…"


def fair_shares(lengths: Sequence[int], room: int) -> list[int]:
    """Max-min fair: nobody gets more than it needs, what is spared goes to the longer ones."""
    shares = [0] * len(lengths)
    for position, index in enumerate(sorted(range(len(lengths)), key=lambda i: lengths[i])):
        shares[index] = min(lengths[index], max(0, room) // (len(lengths) - position))
        room -= shares[index]
    return shares


def fit_content(content: Json, body: str, share: int, wanted: frozenset[str]) -> str:
    """``content`` within about ``share`` characters, with a visible marker where something was left
    out.
    """
    if len(body) <= share:
        return body
    if isinstance(content, dict | list):
        for members in (24, 12, 6, 3, 1):
            thinned = to_canonical_json(
                _thin_value(content, wanted, members, 240 if members > 3 else 100)
            )
            if len(thinned) <= share:
                return thinned
        body = thinned
    return _select_sentences(body, share, wanted)


def _select_sentences(text: str, share: int, wanted: frozenset[str]) -> str:
    """The sentences that share words with the question, from the beginning on; then whatever
    fits.
    """
    parts = [p for p in text.replace("\n", ". ").split(". ") if p][:2000]
    ranked = sorted(
        range(len(parts)),
        key=lambda i: (-len(all_concepts(split_tokens(parts[i][:400])) & wanted), i),
    )
    kept: list[int] = []
    used = 0
    for index in ranked:
        if used + len(parts[index]) + 2 <= share:
            kept.append(index)
            used += len(parts[index]) + 2
    shown = ". ".join(parts[i] for i in sorted(kept)) if kept else text[:share]
    return f"{shown} …[{max(0, len(text) - len(shown))} more characters cut]"


def _thin_value(
    value: Any, wanted: frozenset[str], members: int, chars: int, depth: int = 0
) -> Any:
    """At most ``members`` entries of each array and long object, those nearest to the question
    first.
    """
    if isinstance(value, str):
        return value if len(value) <= chars else f"{value[:chars]}…[{len(value) - chars} cut]"
    if depth > 6:
        return "…" if isinstance(value, dict | list) else value
    if isinstance(value, list):
        keep = _select_nearest(
            [to_canonical_json(v)[:600] for v in value[:_ITEMS]], wanted, members
        )
        shown = [_thin_value(value[i], wanted, members, chars, depth + 1) for i in keep]
        return (
            shown
            if len(shown) == len(value)
            else [*shown, f"…[{len(value) - len(shown)} more of {len(value)}]"]
        )
    if isinstance(value, dict):
        names = list(value)[:_ITEMS]
        keep = list(range(len(names)))
        if len(value) > members * 2:
            keep = _select_nearest(
                [f"{k} {_shorten_scalar(value[k])}" for k in names], wanted, members * 2
            )
        shown_keys = {
            names[i]: _thin_value(value[names[i]], wanted, members, chars, depth + 1) for i in keep
        }
        left = len(value) - len(shown_keys)
        return shown_keys if not left else {**shown_keys, "…": f"[{left} more keys]"}
    return value


def _shorten_scalar(value: Any) -> str:
    if isinstance(value, str):
        return value[:80]
    if isinstance(value, dict | list):
        return ""
    return str(value)


def _select_nearest(texts: Sequence[str], wanted: frozenset[str], count: int) -> list[int]:
    ranked = sorted(
        range(len(texts)), key=lambda i: (-len(all_concepts(key_tokens(texts[i])) & wanted), i)
    )
    return sorted(ranked[:count])
