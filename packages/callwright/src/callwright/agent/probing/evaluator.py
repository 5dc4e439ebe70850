"""Evaluate with a model: the paper's Evaluator (GRETEL, Table 1, section 3.2.2), asked without I/O.

The model sees the candidates numbered, each with its evidence, replies cut and fenced, and answers
with their numbers: names of twenty tools are most of what a small model would write. What it
answers becomes a permutation of the candidates whatever it is: what it made up is dropped, what it
forgot follows in the order of the evidence.
"""

from __future__ import annotations

import random
import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from callwright import prompts
from callwright.agent.probing.result import Ranked
from callwright.jsontext import JsonError, parse_lenient
from callwright.language.tokens import squash_text
from callwright.nouns.model_profile import SMALL, ModelProfile
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Json, JsonObject, Reply, Tool

_ABOUT = 200  # characters of a description, with the smallest profile
_DIGITS = 9  # of a number that can be a candidate's
# of a reply, for each candidate, with the smallest profile: it may write names all the same
_TOKENS = 24
_FENCE = "====="
_NUMBERED = re.compile(r"\[(\d{1,3})\]")


@dataclass(frozen=True, slots=True)
class Shown:
    """A candidate as the evaluator sees it. ``reply`` is what its trial brought back, secrets
    removed.
    """

    tool: Tool
    ranked: Ranked
    reply: str = ""


@dataclass(frozen=True, slots=True)
class Opinion:
    """The model's order, and how far it is the same however the candidates are shown (None: asked
    once).
    """

    order: tuple[str, ...]
    agreement: float | None = None
    problems: tuple[str, ...] = ()


def rank_with_model(
    query: str,
    shown: Sequence[Shown],
    *,
    shuffles: int = 0,
    reply_chars: int = 400,
    schema: bool = True,
    profile: ModelProfile = SMALL,
) -> Generator[ChatRequest, Reply, Opinion]:
    """Ask for a ranking, and ``shuffles`` times more with the candidates in another order.

    The orders are put together by mean rank (Borda). ``schema``: whether the reply can be
    constrained. ``profile`` limits descriptions and the reply; ``reply_chars`` are the same in all.
    """
    orders: list[list[str]] = []
    problems: list[str] = []
    fallback = [one.tool.name for one in shown]
    for round_ in range(shuffles + 1):
        view = list(shown)
        if round_:
            random.Random(round_).shuffle(view)
        reply = yield _build_request(query, view, reply_chars, schema, profile)
        order, problem = read_order(reply.text, [one.tool.name for one in view], fallback)
        orders.append(order)
        problems += [problem] if problem else []
    place = {name: sum(order.index(name) for order in orders) for name in fallback}
    final = tuple(sorted(fallback, key=lambda name: (place[name], orders[0].index(name))))
    return Opinion(final, compute_agreement(orders), tuple(problems))


def compute_agreement(orders: Sequence[Sequence[str]]) -> float | None:
    """The share of pairs of names that two orders put the same way, mean over all pairs of orders;
    1.0 where they are alike, 0.5 by chance (Kendall's tau is twice this less one). None for fewer
    than two orders.
    """
    if len(orders) < 2:
        return None
    shares = [_compute_pair_agreement(a, b) for a, b in combinations(orders, 2)]
    return sum(shares) / len(shares)


def _compute_pair_agreement(one: Sequence[str], other: Sequence[str]) -> float:
    place = {name: i for i, name in enumerate(other)}
    pairs = [place[a] < place[b] for a, b in combinations(one, 2)]
    return sum(pairs) / len(pairs) if pairs else 1.0


def read_order(text: str, names: Sequence[str], rest: Sequence[str] = ()) -> tuple[list[str], str]:
    """The order that a reply gives the names, as a permutation of them; and what was wrong with the
    reply.

    Read are lists of numbers (from 1, as ``names`` stand), of names, of objects that hold either,
    and of the paper's [tool, API] pairs, fenced, wrapped in an object or broken as they may be;
    where no list can be read, the names in the order in which the text has them, or its numbers as
    in "[2] > [1]". What is not named follows in the order of ``rest``.
    """
    given = _extract_list(text)
    if given is None or (len(given) < 2 < len(names) and _NUMBERED.findall(text)[1:]):
        kept, unknown, problem = _find_names(text, names), 0, "the evaluator's reply held no list"
    else:
        known = {squash_text(name): name for name in reversed(names)}
        found = [_match_candidate(entry, names, known) for entry in given]
        kept = list(dict.fromkeys(name for name in found if name))
        unknown, problem = sum(not name for name in found), ""
    missing = [name for name in rest or names if name not in kept]
    if unknown or (missing and not problem):
        problem = (
            f"the evaluator named {unknown} tools that are no candidates and left out"
            f" {len(missing)}"
        )
    return [*kept, *missing], problem


def _find_names(text: str, names: Sequence[str]) -> list[str]:
    """The names in the order in which a text without a list has them; where it has none, by its
    numbers.
    """
    at = {name: text.find(name) for name in names}
    said = sorted(
        (name for name in names if at[name] >= 0), key=lambda name: (at[name], -len(name))
    )
    numbered = [
        name for number in _NUMBERED.findall(text) if (name := _get_by_number(int(number), names))
    ]
    return said or list(dict.fromkeys(numbered))


def _extract_list(text: str) -> list[Json] | None:
    try:
        value = parse_lenient(text).value
    except JsonError:
        return None
    if isinstance(value, dict):
        value = next((v for v in value.values() if isinstance(v, list)), None)
    return value if isinstance(value, list) else None


def _match_candidate(entry: Json, names: Sequence[str], known: dict[str, str]) -> str:
    """The candidate that an entry means; "" for none."""
    if isinstance(entry, dict):
        entry = list(entry.values())
    if isinstance(entry, list):
        texts = [text for text in entry if isinstance(text, str)]
        tried = [*("".join(pair) for pair in (texts[:2], texts[:2][::-1])), *reversed(texts)]
        numbers = [part for part in entry if isinstance(part, int)]
    else:
        tried, numbers = (
            ([entry] if isinstance(entry, str) else []),
            [entry] if isinstance(entry, int) else [],
        )
    for text in tried:
        if text in names:
            return text
        numbers += [int(n) for n in [text.strip("[] ")] if n.isdecimal() and len(n) < _DIGITS]
    named = next((known[squash_text(text)] for text in tried if squash_text(text) in known), "")
    return named or next(
        (name for number in numbers if (name := _get_by_number(number, names))), ""
    )


def _get_by_number(number: int, names: Sequence[str]) -> str:
    return names[number - 1] if 0 < number <= len(names) else ""


def _build_request(
    query: str, view: Sequence[Shown], reply_chars: int, schema: bool, profile: ModelProfile
) -> ChatRequest:
    about = profile.scale(_ABOUT, "description_chars")
    text = "\n\n".join(
        _render_candidate(one, i, about, reply_chars) for i, one in enumerate(view, 1)
    )
    messages = prompts.render("trial_rank", query=query, candidates=text)
    wanted = _order_schema(len(view)) if schema and view else None
    least = 32 + _TOKENS * len(view)  # also where the limit of a run is set lower
    return ChatRequest(
        messages,
        purpose="trial.rank",
        schema=wanted,
        max_tokens=max(least, profile.scale(least, "reply_tokens")),
        temperature=profile.temperature,
    )


def _order_schema(count: int) -> JsonObject:
    return {
        "type": "array",
        "items": {"enum": list(range(1, count + 1))},
        "minItems": count,
        "maxItems": count,
    }


def _render_candidate(shown: Shown, number: int, about: int, reply_chars: int) -> str:
    return "\n".join(
        [
            f"[{number}] {shown.tool.name}: {_one_line(shown.tool.description, about)}",
            *_iter_lines(shown, reply_chars),
        ]
    )


def _iter_lines(shown: Shown, reply_chars: int) -> Iterator[str]:
    one = shown.ranked
    yield f"   retrieved as number {one.initial}; trial: {_describe_outcome(one)}"
    if one.justification:
        yield f"   {_FENCE}\n   {_strip_fence(one.justification, reply_chars)}\n   {_FENCE}"
    if shown.reply and reply_chars:
        yield f"   reply:\n   {_FENCE}\n   {_strip_fence(shown.reply, reply_chars)}\n   {_FENCE}"


def _describe_outcome(one: Ranked) -> str:
    if one.outcome is None:
        return "not tried, or nothing proved"
    said = one.outcome.replace("_", " ")
    return f"{said} (simulated, not real)" if one.simulated else said


def _strip_fence(text: str, most: int) -> str:
    """A stranger's text on one line, cut, without anything that could end its fence."""
    return _one_line(text.replace(_FENCE, "=" * 3), most)


def _one_line(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: max(0, most - 1)] + "…"
