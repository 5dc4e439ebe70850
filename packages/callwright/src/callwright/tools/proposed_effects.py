"""Proposes the effects of tools that declare none: a draft that a person reads and corrects.

A model is asked with one letter what a call of a tool does, of every tool by itself and in two
orders, for a small model prefers a letter. It also leans towards a kind before it has read anything
of the tool, so each share is divided by that of a tool of which nothing is said (contextual
calibration: Zhao et al., "Calibrate Before Use", 2021). What it is not sure of stays open. Nothing
acts on a proposal before a person hands the file back (:mod:`callwright.tools.declared_effects`).
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from glob import escape
from typing import Final, TypeAlias, TypeVar

from callwright import prompts
from callwright.nouns.control_characters import one_line
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Reply, Tool
from callwright.prompts.one_letter import ask_shares, build_letter_question, render_choices

T = TypeVar("T")
Questions: TypeAlias = Generator[ChatRequest, Reply, T]
Shares: TypeAlias = Mapping[str, float]
"""The probability of each kind, together 1; empty where a model states no probabilities."""

SURE_READ: Final = threshold("callwright.tools", "proposed_read_share")
"""The share from which a tool is proposed as a read: of a write that counts as a read any number is
sent.
"""
SURE_WRITE: Final = threshold("callwright.tools", "proposed_write_share")
"""The share of the two other kinds together from which the likelier of them is proposed."""
_ABOUT, _PARAMETERS = 400, 12  # characters of a description, and names, in a question
_TOLD = 70  # characters of a description in the file
_MEANINGS: Mapping[str, str] = {
    "read": "it only looks something up or computes something; nothing is different afterwards",
    "write": "it creates, sends, books, sets or changes something",
    "destructive": "it deletes, cancels or overwrites something that cannot be brought back",
}
_NOTHING_SAID = Tool("tool")


@dataclass(frozen=True, slots=True)
class ProposedEffects:
    """The effects that a model supposes of a tool."""

    tool: Tool
    shares: Shares

    @property
    def kind(self) -> str:
        """Return one of :data:`~callwright.tools.declared_effects.KINDS`; "" where the model is not
        sure.
        """
        if not self.shares:
            return ""
        if self.shares["read"] >= SURE_READ:
            return "read"
        if 1 - self.shares["read"] < SURE_WRITE:
            return ""
        return max(("write", "destructive"), key=lambda kind: self.shares[kind])


def propose_effects(tool: Tool, leaning: Shares) -> Questions[ProposedEffects]:
    """Ask of one tool. ``leaning``: what :func:`ask_kinds` found of a tool of which nothing is
    said.
    """
    shares = (yield from ask_kinds(tool)) if leaning else {}
    raised = {kind: share / leaning[kind] for kind, share in shares.items()}
    whole = sum(raised.values())
    return ProposedEffects(tool, {kind: share / whole for kind, share in raised.items()})


def ask_kinds(tool: Tool = _NOTHING_SAID) -> Questions[Shares]:
    """Ask of one tool, by default of one of which nothing is said, and take the mean of both orders
    as it is.
    """
    kinds = list(_MEANINGS)
    orders, build = (kinds, kinds[::-1]), partial(_build_question, tool)
    return dict(zip(kinds, (yield from ask_shares(kinds, orders, build, _ask)), strict=False))


def _ask(request: ChatRequest) -> Questions[Reply]:
    reply: Reply = yield request
    return reply


def _build_question(tool: Tool, kinds: Sequence[str]) -> ChatRequest:
    about = " ".join(tool.description.split())[:_ABOUT]
    messages = prompts.render(
        "effects",
        name=tool.name,
        about=about or "It has no description.",
        parameters=", ".join(list(tool.properties)[:_PARAMETERS]) or "none",
        choices=render_choices([_MEANINGS[kind] for kind in kinds]),
    )
    return build_letter_question(messages, "effects")


def render_proposals(proposals: Sequence[ProposedEffects], model: str) -> str:
    """Return the file for ``--effects``, the likeliest reads first. What is open is commented
    out.
    """
    proposed = sum(bool(one.kind) for one in proposals)
    lines = [
        f"# {proposed} of {len(proposals)} tools, as {one_line(model)} holds them. Nobody has checked it.",
        "# Read every line, correct it, and remove the # where you know. The kinds: read (nothing is",
        "# different afterwards), write, idempotent (a write that may be made twice), destructive",
        "# (what it takes away cannot be brought back). Use: callwright proxy --effects FILE",
        "",
        *map(_render_line, sorted(proposals, key=_rank)),
    ]
    return "\n".join(lines) + "\n"


def _rank(one: ProposedEffects) -> tuple[float, str]:
    return -one.shares.get("read", 0.0), one.tool.name


def _render_line(one: ProposedEffects) -> str:
    likeliest = sorted(one.shares, key=lambda kind: -one.shares[kind])
    kind = one.kind or (likeliest[0] if likeliest else "write")
    shares = ", ".join(f"{name} {one.shares[name]:.0%}" for name in likeliest)
    about = one_line(one.tool.description)[:_TOLD].strip()
    told = ": ".join(part for part in (shares, about) if part)
    name = json.dumps(escape(one.tool.name), ensure_ascii=False)  # a name there may be a pattern
    line = f'{name} = "{kind}"' + (f"  # {told}" if told else "")
    return line if one.kind else f"# {line}"
