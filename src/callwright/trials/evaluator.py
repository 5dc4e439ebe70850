"""Evaluate with a model: the paper's Evaluator (GRETEL, Table 1, section 3.2.2), asked without I/O.

The model sees every candidate with its evidence, replies cut and fenced. What it answers becomes a permutation of the
candidates whatever it is: names it made up are dropped, names it forgot follow in the order of the evidence.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from callwright import prompts
from callwright.gate.sources import squash
from callwright.jsontext import JsonError, mend
from callwright.protocols import ChatRequest
from callwright.trials.result import Ranked
from callwright.types import Json, JsonObject, Reply, Tool

_ABOUT = 200  # characters of a description
_TOKENS = 24  # of a reply, for each candidate
_FENCE = "====="


@dataclass(frozen=True, slots=True)
class Shown:
    """A candidate as the evaluator sees it. ``reply`` is what its trial brought back, secrets removed."""

    tool: Tool
    ranked: Ranked
    reply: str = ""


@dataclass(frozen=True, slots=True)
class Opinion:
    """The model's order, and how far it is the same however the candidates are shown (None: asked once)."""

    order: tuple[str, ...]
    agreement: float | None = None
    problems: tuple[str, ...] = ()


def evaluate(
    query: str, shown: Sequence[Shown], *, shuffles: int = 0, reply_chars: int = 400, schema: bool = True
) -> Generator[ChatRequest, Reply, Opinion]:
    """Ask for a ranking, and ``shuffles`` times more with the candidates in another order.

    The orders are put together by mean rank (Borda). ``schema``: whether the reply can be constrained.
    """
    orders: list[list[str]] = []
    problems: list[str] = []
    fallback = [one.tool.name for one in shown]
    for round_ in range(shuffles + 1):
        view = list(shown)
        if round_:
            random.Random(round_).shuffle(view)
        reply = yield _question(query, view, reply_chars, schema)
        order, problem = read_order(reply.text, fallback)
        orders.append(order)
        problems += [problem] if problem else []
    place = {name: sum(order.index(name) for order in orders) for name in fallback}
    final = tuple(sorted(fallback, key=lambda name: (place[name], orders[0].index(name))))
    return Opinion(final, agreement(orders), tuple(problems))


def agreement(orders: Sequence[Sequence[str]]) -> float | None:
    """The share of pairs of names that two orders put the same way, mean over all pairs of orders; 1.0 where they are
    alike, 0.5 by chance (Kendall's tau is twice this less one). None for fewer than two orders."""
    if len(orders) < 2:
        return None
    shares = [_same_way(a, b) for a, b in combinations(orders, 2)]
    return sum(shares) / len(shares)


def _same_way(one: Sequence[str], other: Sequence[str]) -> float:
    place = {name: i for i, name in enumerate(other)}
    pairs = [place[a] < place[b] for a, b in combinations(one, 2)]
    return sum(pairs) / len(pairs) if pairs else 1.0


def read_order(text: str, names: Sequence[str]) -> tuple[list[str], str]:
    """The order that a reply gives the names, as a permutation of them; and what was wrong with the reply.

    Read are lists of names, of objects that hold one, and of the paper's [tool, API] pairs, fenced, wrapped in an
    object or broken as they may be; where no list can be read, the names in the order in which the text has them.
    """
    given = _list_in(text)
    if given is None:
        at = {name: text.find(name) for name in names}
        said = sorted((name for name in names if at[name] >= 0), key=lambda name: (at[name], -len(name)))
        kept, unknown, problem = said, 0, "the evaluator's reply held no list"
    else:
        known = {squash(name): name for name in reversed(names)}
        found = [_name_in(entry, names, known) for entry in given]
        kept = list(dict.fromkeys(name for name in found if name))
        unknown, problem = sum(not name for name in found), ""
    missing = [name for name in names if name not in kept]
    if unknown or (missing and not problem):
        problem = f"the evaluator named {unknown} tools that are no candidates and left out {len(missing)}"
    return [*kept, *missing], problem


def _list_in(text: str) -> list[Json] | None:
    try:
        value = mend(text).value
    except JsonError:
        return None
    if isinstance(value, dict):
        value = next((v for v in value.values() if isinstance(v, list)), None)
    return value if isinstance(value, list) else None


def _name_in(entry: Json, names: Sequence[str], known: dict[str, str]) -> str:
    """The candidate that an entry means; "" for none."""
    if isinstance(entry, dict):
        entry = list(entry.values())
    if isinstance(entry, list):
        texts = [text for text in entry if isinstance(text, str)]
        tried = [*("".join(pair) for pair in (texts[:2], texts[:2][::-1])), *reversed(texts)]
    else:
        tried = [entry] if isinstance(entry, str) else []
    for text in tried:
        if text in names:
            return text
    return next((known[squash(text)] for text in tried if squash(text) in known), "")


def _question(query: str, view: Sequence[Shown], reply_chars: int, schema: bool) -> ChatRequest:
    text = "\n\n".join(_candidate(one, i, reply_chars) for i, one in enumerate(view, 1))
    messages = prompts.render("trial_rank", query=query, candidates=text)
    names = [one.tool.name for one in view]
    wanted = _order_schema(names) if schema and names else None
    return ChatRequest(messages, purpose="trial.rank", schema=wanted, max_tokens=32 + _TOKENS * len(names))


def _order_schema(names: Sequence[str]) -> JsonObject:
    return {"type": "array", "items": {"enum": list(names)}, "minItems": len(names), "maxItems": len(names)}


def _candidate(shown: Shown, number: int, reply_chars: int) -> str:
    return "\n".join(
        [f"{number}. {shown.tool.name}: {_one_line(shown.tool.description, _ABOUT)}", *_lines(shown, reply_chars)]
    )


def _lines(shown: Shown, reply_chars: int) -> Iterator[str]:
    one = shown.ranked
    yield f"   retrieved as number {one.initial}; trial: {_outcome(one)}"
    if one.justification:
        yield f"   {_FENCE}\n   {_fenced(one.justification, reply_chars)}\n   {_FENCE}"
    if shown.reply and reply_chars:
        yield f"   reply:\n   {_FENCE}\n   {_fenced(shown.reply, reply_chars)}\n   {_FENCE}"


def _outcome(one: Ranked) -> str:
    if one.outcome is None:
        return "not tried, or nothing proved"
    said = one.outcome.replace("_", " ")
    return f"{said} (simulated, not real)" if one.simulated else said


def _fenced(text: str, most: int) -> str:
    """A stranger's text on one line, cut, without anything that could end its fence."""
    return _one_line(text.replace(_FENCE, "=" * 3), most)


def _one_line(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: max(0, most - 1)] + "…"
