"""Proposals of what tools do: corrected by what the model leans to, sure or open, and a file that can
be handed back as it is.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.models.dialogue import run_dialogue
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import DESTRUCTIVE, READ, UNKNOWN, WRITE, Reply, Tool
from callwright.tools.declared_effects import KINDS, DeclaredEffects
from callwright.tools.proposed_effects import (
    SURE_READ,
    SURE_WRITE,
    ProposedEffects,
    ask_kinds,
    propose_effects,
    render_proposals,
)

PRIOR = {"read": 0.2, "write": 0.6, "destructive": 0.2}
_BEGINNINGS = {"it only": "read", "it creates": "write", "it deletes": "destructive"}


class Model:
    """Holds each kind as likely as it is told for the tool that a question names."""

    def __init__(self, told: Mapping[str, Mapping[str, float]]) -> None:
        self.told, self.asked = told, []

    async def complete(self, request: ChatRequest) -> Reply:
        text = request.messages[-1].content
        self.asked.append(text)
        name = next((name for name in self.told if f"call: {name}\n" in text), "tool")
        choices = [line for line in text.split("\n") if line[1:3] == ") "]
        kinds = {
            line[0]: kind for line in choices for key, kind in _BEGINNINGS.items() if key in line
        }
        assert len(kinds) == 3
        return Reply("A", first_token={k: self.told[name][v] for k, v in kinds.items()})


def test_a_kind_counts_by_what_the_name_and_words_of_the_tool_add_to_it() -> None:
    model = Model({"tool": PRIOR, "find": {"read": 0.3, "write": 0.6, "destructive": 0.1}})
    prior = asyncio.run(run_dialogue(ask_kinds(), model.complete))
    assert prior == pytest.approx(PRIOR)
    found = asyncio.run(run_dialogue(propose_effects(Tool("find"), prior), model.complete))
    assert found.shares == pytest.approx({"read": 0.5, "write": 1 / 3, "destructive": 1 / 6})
    assert found.kind == "read"
    assert len(model.asked) == 4, "in two orders each"
    assert model.asked[2] != model.asked[3]


def test_what_a_model_without_probabilities_is_asked_stays_open() -> None:
    async def complete(_: ChatRequest) -> Reply:
        return Reply("A")

    assert asyncio.run(run_dialogue(ask_kinds(), complete)) == {}
    found = asyncio.run(run_dialogue(propose_effects(Tool("find"), PRIOR), complete))
    assert (found.shares, found.kind) == ({}, "")
    assert asyncio.run(run_dialogue(propose_effects(Tool("find"), {}), complete)).kind == ""


@pytest.mark.parametrize(
    ("read", "destructive", "kind"),
    [
        (SURE_READ, 0.1, "read"),
        (SURE_READ - 0.01, 0.1, ""),
        (1 - SURE_WRITE + 0.01, 0.1, ""),
        (1 - SURE_WRITE - 0.01, 0.1, "write"),
        (0.1, 0.5, "destructive"),
    ],
)
def test_only_what_is_sure_is_proposed(read: float, destructive: float, kind: str) -> None:
    shares = {"read": read, "write": 1 - read - destructive, "destructive": destructive}
    assert ProposedEffects(Tool("a"), shares).kind == kind


def test_the_question_says_what_is_known_of_the_tool() -> None:
    parameters = {"type": "object", "properties": {"path": {}, "all": {}}}
    tool = Tool("wipe", "Remove\na folder.", parameters)
    text = next(ask_kinds(tool)).messages[-1].content
    assert "wipe" in text
    assert "Remove a folder." in text
    assert "path, all" in text
    assert "no description" in next(ask_kinds()).messages[-1].content


def test_the_file_is_read_as_declared_effects_with_what_is_open_left_out() -> None:
    proposals = [
        ProposedEffects(Tool("move", "Move it."), {"read": 0.1, "write": 0.8, "destructive": 0.1}),
        ProposedEffects(Tool("list"), {"read": 0.8, "write": 0.1, "destructive": 0.1}),
        ProposedEffects(Tool("go"), {"read": 0.4, "write": 0.5, "destructive": 0.1}),
        ProposedEffects(Tool("rm"), {"read": 0.1, "write": 0.1, "destructive": 0.8}),
        ProposedEffects(Tool("silent"), {}),
    ]
    text = render_proposals(proposals, "a-model")
    assert text.startswith("# 3 of 5 tools, classified by a-model. Nobody has reviewed this file.")
    assert text.index('"list"') < text.index('"go"') < text.index('"move"')
    assert '"move" = "write"  # write 80%, read 10%, destructive 10%: Move it.' in text
    assert '# "go" = "write"  # write 50%, read 40%, destructive 10%' in text
    rows = tomllib.loads(text)
    assert rows == {"list": "read", "move": "write", "rm": "destructive"}
    by_name = {one.tool.name: one.tool for one in proposals}
    declared = DeclaredEffects(tuple((name, KINDS[kind]) for name, kind in rows.items()))
    found = {tool.name: tool.effects for tool in declared.apply([*by_name.values()])}
    assert found == {
        "move": WRITE, "list": READ, "rm": DESTRUCTIVE, "go": UNKNOWN, "silent": UNKNOWN,
    }  # fmt: skip


@given(
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=90),
)
def test_no_name_and_no_description_breaks_the_file(name: str, about: str) -> None:
    shares = {"read": 0.8, "write": 0.1, "destructive": 0.1}
    text = render_proposals([ProposedEffects(Tool(name, about), shares)], "m")
    rules = tuple((key, KINDS[kind]) for key, kind in tomllib.loads(text).items())
    assert DeclaredEffects(rules).apply([Tool(name)])[0].effects == READ
