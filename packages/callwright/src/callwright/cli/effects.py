"""``callwright tools effects``: a draft of what tools do that do not say so."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from callwright.cli.opened import load_tools
from callwright.models import open_model
from callwright.models.dialogue import run_dialogue
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import DESTRUCTIVE, Tool
from callwright.tools.proposed_effects import (
    ProposedEffects,
    ask_kinds,
    propose_effects,
    render_proposals,
)

_HINT = "ask a server that states them, such as llama.cpp or vLLM, or --model local"


def propose(sources: Sequence[str], spec: str, *, every: bool = False, out: Path | None) -> None:
    """Write the draft to a new file, or to standard output. ``every``: of all tools, not only of
    those that stand at MCP's worst case, as a tool does that says nothing or is not believed.

    Raises ConfigError for a file that exists, and for a model that states no probabilities.
    """
    if out is not None and out.exists():
        raise ConfigError(f"{out} exists", hint="name another file: what you corrected is kept")
    tools = load_tools(sources)
    asked = [tool for tool in tools if every or tool.effects == DESTRUCTIVE]
    if not asked:
        print(f"The effects of all {len(tools)} tools are known.", file=sys.stderr)
        return
    name, found = asyncio.run(_ask(spec, asked))
    text = render_proposals(found, name)
    if out is None:
        print(text, end="")
        return
    with out.open("x", encoding="utf-8") as file:
        file.write(text)
    said = sum(bool(one.kind) for one in found)
    print(f"{out}: {said} of {len(found)} tools classified. Review every line before you use it.")


async def _ask(spec: str, tools: Sequence[Tool]) -> tuple[str, list[ProposedEffects]]:
    model = open_model(spec)
    try:
        prior = await run_dialogue(ask_kinds(), model.complete)
        if not prior:
            raise ConfigError(f"{model.name} states no probabilities (top_logprobs)", hint=_HINT)
        found = []
        for number, tool in enumerate(tools, 1):
            found.append(await run_dialogue(propose_effects(tool, prior), model.complete))
            if sys.stderr.isatty():
                print(
                    f"\r{number} of {len(tools)} tools",
                    end="\n" if number == len(tools) else "",
                    file=sys.stderr,
                    flush=True,
                )
        return model.name, found
    finally:
        await model.aclose()
