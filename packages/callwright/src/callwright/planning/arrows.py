"""Plans as the text of Beyond ReAct: ``{"DAG": "1->2, 1->3, 4"}`` over numbered tools, written and
read.

Numbers are places in the list of tools, from 1. An arrow says that the right tool uses what the
left one returns; a bare number is a tool that has no arrow; ``1->2->3`` is two arrows. Every graph
has one written form, so that what is learned from does not vary with the order in which somebody
listed its edges.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Sequence

from callwright import prompts
from callwright.jsontext import JsonError, parse
from callwright.nouns.plan import Plan, Problem, Slot
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import JsonObject, Tool
from callwright.repair.by_model.refiner import render_signature
from callwright.schema.normalize import closed_object

KEY = "DAG"
ITEM = r"\d{1,4}(?:\s*->\s*\d{1,4})*"
DAG = re.compile(rf"\s*{ITEM}(?:\s*,\s*{ITEM})*\s*,?\s*", re.ASCII)
_MOST = 40  # items of a reply that is decoded by a pattern
_APART = 6  # tools of which a pattern can say that none points at itself
_LISTED = 16  # tools whose numbers a decoding pattern can spell out
_TEXT = 600  # characters of a thought before the arrows
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)


def write_arrows(plan: Plan, tools: Sequence[Tool]) -> str:
    """The plan's dependency string, in execution order: by layer of the source, then of the target,
    then by number.

    The plan must be sound and its tools distinct and among ``tools``; what stands alone comes last.
    """
    number = {tool.name: n for n, tool in enumerate(tools, 1)}
    tool_of = {slot.id: slot.tool for slot in plan.slots}
    layer = {slot.id: k for k, slots in enumerate(plan.layers) for slot in slots}

    def place(id: str) -> tuple[int, int]:
        return layer[id], number[tool_of[id]]

    edges = sorted(plan.edges, key=lambda e: (place(e[0]), place(e[1])))
    joined = {id for edge in edges for id in edge}
    alone = sorted(number[s.tool] for s in plan.slots if s.id not in joined)
    arrows = [f"{number[tool_of[a]]}->{number[tool_of[b]]}" for a, b in edges]
    return ", ".join([*arrows, *map(str, alone)])


def write_reply(plan: Plan, tools: Sequence[Tool]) -> str:
    """The plan as a model should answer: one JSON object."""
    return json.dumps({KEY: write_arrows(plan, tools)})


def read_arrows(text: str, tools: Sequence[Tool]) -> Plan | Problem:
    """The plan a dependency string says, or the Problem ``syntax`` where it says none; an empty one
    says none.

    The plan may still be unsound (:meth:`Plan.problems`): a number without a tool becomes a slot of
    the unknown tool ``#number``, and cycles stay. Slots stand in the order of their numbers and are
    named by their tools.
    """
    if not DAG.fullmatch(text):
        return Problem(
            "syntax", (), f'{text[:80]!r} is not a list of arrows such as "1->2, 1->3, 4"'
        )
    chains = [[int(n) for n in item.split("->")] for item in text.split(",") if item.strip()]
    name = {n: tool.name for n, tool in enumerate(tools, 1)}
    before: dict[int, set[int]] = {n: set() for chain in chains for n in chain}
    for chain in chains:
        for a, b in itertools.pairwise(chain):
            before[b].add(a)

    def named(n: int) -> str:
        return name.get(n, f"#{n}")

    return Plan(
        tuple(Slot(named(n), named(n), frozenset(map(named, before[n]))) for n in sorted(before))
    )


def read_reply(text: str, tools: Sequence[Tool]) -> Plan | Problem:
    """The plan in a model's reply: a JSON object with ``DAG``, in a code fence or bare, thoughts
    before it aside.

    Strict, for it is what rewards are given by: other text, broken JSON and a missing string are
    the Problem ``syntax``. Further keys (an intent, a thought) are allowed.
    """
    try:
        found = parse(strip_code_fence(_THOUGHT.sub("", text, count=1)))
    except JsonError as error:
        return Problem("syntax", (), f"the reply is not JSON: {error}")
    dag = found.get(KEY) if isinstance(found, dict) else None
    if not isinstance(dag, str):
        return Problem("syntax", (), f'the reply must be a JSON object with a text "{KEY}"')
    return read_arrows(dag, tools)


def strip_code_fence(text: str) -> str:
    """A reply without the code fence around it."""
    body = text.strip()
    fenced = _FENCE.fullmatch(body)
    return fenced[1] if fenced else body


def is_connected(plan: Plan) -> bool:
    """Return True if the plan is connected when arrows are read both ways. Plans of one tool or of
    none are connected.
    """
    beside: dict[str, set[str]] = {s.id: set() for s in plan.slots}
    for a, b in plan.edges:
        beside[a].add(b)
        beside[b].add(a)
    found: set[str] = set()
    front = list(beside)[:1]
    while front:
        at = front.pop()
        if at not in found:
            found.add(at)
            front += beside[at]
    return len(found) == len(beside)


def edges_by_tool(plan: Plan) -> set[tuple[str, str]]:
    """(from, to) pairs of different tools, each once, whatever the slots are called."""
    tool = {slot.id: slot.tool for slot in plan.slots}
    return {(tool[a], tool[b]) for a, b in plan.edges if tool[a] != tool[b]}


def number_lines(lines: Iterable[str]) -> str:
    """Lines with the numbers that arrows use."""
    return "\n".join(f"{n}. {line}" for n, line in enumerate(lines, 1))


def render_tools(tools: Sequence[Tool], most: int = 200) -> str:
    """The tools as a planner is shown them: number, signature, and the first ``most`` characters of
    what they do.
    """
    return number_lines(
        f"{render_signature(t)}{': ' if t.description else ''}{_shorten_text(t.description, most)}"
        for t in tools
    )


def build_schema(count: int, *before: str) -> JsonObject:
    """Return the schema of a reply about ``count`` tools: the texts ``before``, then arrows between
    their numbers.

    The decoder's pattern limits the reply: no tool points at itself. There are no more items than
    an acyclic graph of so many tools can have. Small models go on for ever otherwise.
    """
    item, most = _build_item_pattern(count), min(max(count, count * (count - 1) // 2), _MOST) - 1
    more = f"{{0,{most}}}" if count <= _LISTED else "*"
    texts: JsonObject = {key: {"type": "string", "maxLength": _TEXT} for key in before}
    return closed_object(
        **texts, **{KEY: {"type": "string", "pattern": f"^{item}(, {item}){more}$"}}
    )


def _build_item_pattern(count: int) -> str:
    """One tool, or an arrow from one to another, as a regular expression short enough for
    decoders.
    """
    if 1 < count <= _APART:
        others = {
            n: "".join(str(m) for m in range(1, count + 1) if m != n) for n in range(1, count + 1)
        }
        return "(" + "|".join(f"{n}(->[{rest}])?" for n, rest in others.items()) + ")"
    if count < 10:
        number = f"[1-{count}]"
    elif count <= _LISTED:
        number = f"([1-9]|1[0-{count - 10}])"
    else:
        number = "[1-9][0-9]{0,2}"
    return f"{number}(->{number})?"


def _shorten_text(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + " …"


def build_question(query: str, tools: Sequence[Tool], max_tokens: int = 256) -> ChatRequest:
    """Return the request to a planner of this form, trained or not: the same words in training,
    measuring and use.
    """
    messages = prompts.render("planner", tools=render_tools(tools), query=query)
    return ChatRequest(
        messages, purpose="plan", schema=build_schema(len(tools)), max_tokens=max_tokens
    )
