"""The question in the terminal whether a call may leave."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import partial

from callwright.agent.safety.consent import Approve, Proposal
from callwright.cli.terminal.live import Live
from callwright.nouns.control_characters import escape_controls, one_line
from callwright.nouns.types import to_canonical_json
from callwright.tools.python.functions import run_in_thread

_SHOWN = 1_000  # characters of one value
_ANSWERS = {"y": True, "yes": True, "n": False, "no": False, "": False}


def make_terminal_approval(live: Live, read: Callable[[], str] = input) -> Approve | None:
    """Asks on the terminal; None where nobody sits there: then what needs approval is refused."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    always: set[tuple[str, str]] = set()
    one_at_a_time = asyncio.Lock()

    async def approve(proposal: Proposal) -> bool:
        tool = (proposal.call.tool.name, proposal.offer.reference if proposal.offer else "")
        async with one_at_a_time:
            if tool in always:
                return True
            with live.paused():
                said = await run_in_thread(
                    partial(_read_answer, render_proposal(proposal), read)
                )  # other calls go on meanwhile
            if said == "always":
                always.add(tool)
                return True
            return _ANSWERS[said]

    return approve


def render_proposal(proposal: Proposal) -> str:
    """The call as it is put to the user, values from results marked."""
    whose = f" ({proposal.offer.reference})" if proposal.offer else ""
    lines = [f"\n{one_line(proposal.call.tool.name)}{whose}: {proposal.why}"]
    for key, value in proposal.call.arguments.items():
        path = "/" + key.replace("~", "~0").replace("/", "~1")
        told = [
            of for at, of in proposal.origins.items() if at == path or at.startswith(path + "/")
        ]
        mark = f"   <- not in your request: from {', '.join(dict.fromkeys(told))}" if told else ""
        lines.append(
            f"  {one_line(key)} = {_cut_value(escape_controls(to_canonical_json(value)))}{mark}"
        )
    return "\n".join(lines) + "\nMay it be called? [y]es, [N]o, [always] for this tool: "


def _cut_value(value: str) -> str:
    """A value as far as it leaves the question on the screen; how much is left out is said."""
    left = len(value) - _SHOWN
    return value if left <= 0 else f"{value[:_SHOWN]}… ({left} more characters)"


def _read_answer(question: str, read: Callable[[], str]) -> str:
    """Return the user's answer. The end of input is a no."""
    said = "?"
    while said not in (*_ANSWERS, "always"):
        print(question, end="", file=sys.stderr, flush=True)
        try:
            said = read().strip().lower()
        except EOFError:
            said = "no"
    return said
