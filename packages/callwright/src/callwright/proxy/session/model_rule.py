"""The model rule as the proxy uses it: a refiner is asked about all calls of an answer, after the
rules and before what is still refused is asked about.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Reply, ToolCall
from callwright.proxy.session.context import Context
from callwright.repair.draft import AFTER_CALLS, Drafts
from callwright.repair.pipeline import run_rules


def refine_calls(
    calls: Sequence[ToolCall], context: Context
) -> Generator[ChatRequest, Reply, Drafts]:
    """The calls as the refiner of the settings has them. Its upstream is the model that the client
    asks for, unless the settings name one.
    """
    from callwright.repair.by_model.guard import Upstream
    from callwright.repair.by_model.refiner import MODEL_RULES, RefinerContext

    settings = context.settings.refiner
    assert settings is not None
    if not settings.upstream:
        settings = replace(settings, upstream=str(context.body.get("model") or ""))
    named = [call if call.id else replace(call, id=f"call_{n}") for n, call in enumerate(calls, 1)]
    drafts = Drafts(named, turn=AFTER_CALLS)
    query, system = _join_conversation(context), _join_system(context)
    up = Upstream("", drafts.calls, context.toolset.tools, query, system=system)
    yield from run_rules(MODEL_RULES, drafts, RefinerContext(up, settings))
    return drafts


def _join_conversation(context: Context) -> str:
    """The request as the paper's refiner reads it: all that was said, each turn by its role; the
    user's words alone where that is all.
    """
    said = [m for m in context.messages if m.role != "system" and m.content.strip()]
    if len(said) == 1:
        return said[0].content
    return "\n".join(f"{m.role.upper()}: {m.content}" for m in said)


def _join_system(context: Context) -> str:
    return "\n".join(m.content for m in context.messages if m.role == "system")
