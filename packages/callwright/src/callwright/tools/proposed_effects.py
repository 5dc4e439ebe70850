"""Proposes the effects of tools that declare none: a draft that a person reads and corrects.

A model is asked with one letter what a call of a tool does, of every tool by itself and in two
orders, because a small model prefers a letter. It also prefers a kind before it has read anything of
the tool. So each share is divided by its prior, the share for a tool without name and description
(contextual calibration: Zhao et al., "Calibrate Before Use", 2021). Uncertain tools get no proposal.
Proposals have no effect until a person passes the file to ``--effects``
(:mod:`callwright.tools.declared_effects`).
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
"""The least share of a read for which ``read`` is proposed. A write that counts as a read is never
held back.
"""
SURE_WRITE: Final = threshold("callwright.tools", "proposed_write_share")
"""The least share of both other kinds together for which the likelier of them is proposed."""
_ABOUT, _PARAMETERS = 400, 12  # characters of a description, and names, in a question
_TOLD = 70  # characters of a description in the file
_MEANINGS: Mapping[str, str] = {
    "read": "it only looks something up or computes something; nothing is different afterwards",
    "write": "it creates, sends, books, sets or changes something",
    "destructive": "it deletes, cancels or overwrites something that cannot be brought back",
}
_BLANK = Tool("tool")


@dataclass(frozen=True, slots=True)
class ProposedEffects:
    """The shares that a model gives the kinds of effects of a tool."""

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


def propose_effects(tool: Tool, prior: Shares) -> Questions[ProposedEffects]:
    """Classify one tool. ``prior``: the shares of :func:`ask_kinds` without a tool."""
    shares = (yield from ask_kinds(tool)) if prior else {}
    calibrated = {kind: share / prior[kind] for kind, share in shares.items()}
    whole = sum(calibrated.values())
    return ProposedEffects(tool, {kind: share / whole for kind, share in calibrated.items()})


def ask_kinds(tool: Tool = _BLANK) -> Questions[Shares]:
    """Return the mean shares of both orders for a tool, by default for a blank one."""
    kinds = list(_MEANINGS)
    orders, build = (kinds, kinds[::-1]), partial(_build_question, tool)
    return dict(zip(kinds, (yield from ask_shares(kinds, orders, build, _ask)), strict=False))


def _ask(request: ChatRequest) -> Questions[Reply]:
    return (yield request)


def _build_question(tool: Tool, kinds: Sequence[str]) -> ChatRequest:
    about = " ".join(tool.description.split())[:_ABOUT]
    return build_letter_question(
        prompts.render(
            "effects",
            name=tool.name,
            about=about or "It has no description.",
            parameters=", ".join(list(tool.properties)[:_PARAMETERS]) or "none",
            choices=render_choices([_MEANINGS[kind] for kind in kinds]),
        ),
        "effects",
    )


def render_proposals(proposals: Sequence[ProposedEffects], model: str) -> str:
    """Return the file for ``--effects``, the likeliest reads first. Uncertain tools are commented
    out.
    """
    proposed = sum(bool(one.kind) for one in proposals)
    lines = [
        f"# {proposed} of {len(proposals)} tools, classified by {one_line(model)}. Nobody has reviewed this file.",
        "# Review every line, and remove the # where you know better. Kinds: read (it changes nothing),",
        "# write, idempotent (a write that may be repeated), destructive (a write that cannot be undone).",
        "# Use: callwright proxy --effects FILE",
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
