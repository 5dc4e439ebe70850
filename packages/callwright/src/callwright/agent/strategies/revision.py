"""The global revision of a plan (RETO, A.2): what is done where local repair cannot help.

A needed call has failed for good: repair, the lookup again and another tool in its place did not
help. Then what is left is planned once more, for one of the run's budget B. Every strategy that
plans or grows a plan uses this one mechanism; what differs is who makes the new plan. What was
completed stays, with its results, and no write is made again. Whoever plans is told what failed and
what is there. Where the run was shown a few tools of a catalogue, what the failed call was for is
looked for in all of it, and what is found may be planned. A frozen plan is not revised.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from callwright.agent.gaps import NOTE, Gap, failure_gap, is_identified
from callwright.agent.origins import build_failed_call
from callwright.agent.safety.policy import find_asked
from callwright.agent.select import build_request, read_selection
from callwright.agent.step import StepContext, Steps, ask
from callwright.agent.substitutes import is_no_worse
from callwright.nouns.types import READ, Effects, JsonObject, Tool

_BEYOND = 12  # tools of the whole catalogue that are looked at for one that failed
_OFFERED = 3  # of which are planned with at most
_WITHOUT = (
    "These calls have failed and cannot be made to work:\n{failed}\nName only tools that"
    " go round them. If none can, name none."
)


class Lost(NamedTuple):
    """A call that failed for good, of a tool that may not even be among those offered."""

    tool: str
    slot: str
    call: str
    arguments: JsonObject
    message: str

    @property
    def gap(self) -> Gap:
        """The gap as the model is told of it."""
        return failure_gap(self.tool, self.arguments, self.message)


class Revision:
    """The revisions of one run, ``most`` of them. ``gaps``: what the last one is to go round."""

    def __init__(self, context: StepContext, most: int = 1) -> None:
        self._context = context
        self._left = most
        self.gaps: tuple[Gap, ...] = ()

    @property
    def may_begin(self) -> bool:
        """Return True if the run's settings and what it has used allow one more."""
        facts = self._context.facts
        is_paper = facts.handling.as_written or not facts.handling.may_repair
        return self._left > 0 and not facts.freeze.on and not is_paper

    def begin(
        self, lost: Sequence[Lost], blocked: Sequence[str] = (), *, needs_new: bool = False
    ) -> bool:
        """Begin one, and pay for it. What the catalogue has for the lost calls comes into view.
        ``blocked``: slots that wait for them. ``needs_new``: only where the catalogue has
        something.
        """
        if not lost or not self.may_begin:
            return False
        found = self._search(lost)
        if (needs_new and not found) or not self._context.facts.granted():
            return False
        self._left -= 1
        self._context.admit(found)
        self.gaps = tuple(one.gap for one in lost)
        first = lost[0]
        told = {"tool": first.tool, "failed": first.call, "message": first.message[:NOTE]}
        more = {"offered": [tool.name for tool in found]} if found else {}
        self._context.trace.add("recovery", step="plan", **told, blocked=[*blocked], **more)
        return True

    def choose(self, lost: Sequence[Lost], above: int) -> Steps[tuple[Tool, ...]]:
        """Begin one where tools are left that may go round the lost calls, and return those that
        the model chooses; of no more than ``above`` all. None where there is nothing to plan with.
        """
        if not lost or not self.may_begin:
            return ()
        is_new = self.begin(lost, needs_new=not self._list_left(lost))
        tools = self._list_left(lost) if is_new else ()
        if len(tools) <= above:
            return tools
        failed = "\n".join(f"- {one.gap.note}" for one in lost)
        context, notes = self._context, _WITHOUT.format(failed=failed)
        prompt = context.shared_prompt
        request = build_request(context.query, tools, context.mode, prompt, notes)
        reply = yield from ask(request, calls=None)
        return read_selection(reply, tools)

    def _list_left(self, lost: Sequence[Lost]) -> tuple[Tool, ...]:
        """The tools that no call was made of yet, as far as they may be planned unasked: no worse
        in their effects than what failed, and what may write only where the request asks for it.
        """
        context = self._context
        earlier = [message.content for message in context.conversation]
        asked = find_asked(context.query, earlier, context.tools)
        used = {result.tool for result in context.facts.all_results} | {one.tool for one in lost}
        than = self._list_effects(lost)
        return tuple(
            tool
            for tool in context.tools
            if not tool.compensates
            and tool.name not in used
            and _may_go_round(tool, than, is_asked=asked[tool.name] is True)
        )

    def _list_effects(self, lost: Sequence[Lost]) -> list[Effects]:
        """The effects of the tools that failed; reading ones where one of them was never shown."""
        known = {tool.name: tool.effects for tool in self._context.tools}
        return [known.get(one.tool, READ) for one in lost]

    def _search(self, lost: Sequence[Lost]) -> tuple[Tool, ...]:
        """Return what the whole catalogue has for the first of the lost calls, no worse in its
        effects."""
        context = self._context
        if context.reserve is None:
            return ()
        known = {tool.name: tool for tool in context.tools}
        failed = known.get(lost[0].tool)
        wanted = f"{failed.name} {failed.description}" if failed else lost[0].tool.replace("_", " ")
        than = self._list_effects(lost[:1])
        others = context.reserve.find(wanted, known, _BEYOND)
        fit = (t for t in others if not t.compensates and _may_go_round(t, than))
        return tuple(fit)[:_OFFERED]


def _may_go_round(tool: Tool, than: Sequence[Effects], *, is_asked: bool = True) -> bool:
    if tool.effects.read_only:
        return True
    return is_asked and any(is_no_worse(tool.effects, effects) for effects in than)


def list_lost_calls(context: StepContext) -> tuple[Lost, ...]:
    """The calls that failed for good, in call order: those of a tool of which no call succeeded,
    nor of another in its place. A search that found nothing is none of them, nor is a call about
    something that the request itself identifies: that it is not there is an answer.
    """
    facts = context.facts
    tools = {tool.name: tool for tool in context.tools}
    good = facts.succeeded | facts.state.replaced
    lost = []
    for result in facts.results:
        tool = tools.get(result.tool)
        failed = build_failed_call(result, tool) if tool is not None else None
        if failed is None or failed.empty or result.tool in good:
            continue
        if not failed.final and is_identified(context.query, result.arguments):
            continue
        lost.append(Lost(result.tool, result.slot, result.id, result.arguments, failed.message))
    return (*lost, *_list_unknown_tools(context, tools))


def _list_unknown_tools(context: StepContext, tools: Iterable[str]) -> list[Lost]:
    """Calls of tools that the run was not shown, where the catalogue may have them."""
    known = {*tools}
    refused = context.facts.refusals if context.reserve is not None else ()
    return [
        Lost(
            one.call.tool,
            one.call.slot,
            one.call.id,
            one.call.arguments if isinstance(one.call.arguments, dict) else {},
            one.message,
        )
        for one in refused
        if one.call.tool and one.call.tool not in known
    ]
