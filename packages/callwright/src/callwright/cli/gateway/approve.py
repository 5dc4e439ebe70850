"""``callwright gateway approve``: changed definitions are shown, and hold once they are approved."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from callwright.gateway.pins.pin_store import Pending, approve_changes, iter_pending
from callwright.tools.trust import TrustStore, escape_terminal_text, render_changes


def approve_named(named: Sequence[str]) -> int:
    """Show what waits for approval; approve what is named as SERVER or SERVER/TOOL. 1 where
    something that was named does not wait, or something waits and nothing was named.

    Raises TrustError.
    """
    trust = TrustStore()
    waiting = list(iter_pending(trust))
    if not named:
        for pending in waiting:
            _show_changes(pending)
        if not waiting:
            print("no definition has changed since it was first seen or approved")
        return 1 if waiting else 0
    missed = [
        name for name in named if not any(_pick_changes(one, name).changes for one in waiting)
    ]
    for pending in waiting:
        tools = {c.tool for name in named for c in _pick_changes(pending, name).changes}
        chosen = replace(pending, changes=tuple(c for c in pending.changes if c.tool in tools))
        if chosen.changes:
            _show_changes(chosen, is_approved=True)
            approve_changes(trust, chosen)
    for name in missed:
        print(f"nothing of {escape_terminal_text(name)} waits for approval", file=sys.stderr)
    return 1 if missed else 0


def _pick_changes(pending: Pending, name: str) -> Pending:
    """The changes of one server that a name means: of SERVER all, of SERVER/TOOL one. Both may have
    a slash in them.
    """
    if name == pending.server:
        return pending
    tool = name.removeprefix(f"{pending.server}/") if name.startswith(pending.server) else name
    is_meant = name == f"{pending.server}/{tool}"
    kept = tuple(c for c in pending.changes if is_meant and c.tool == tool)
    return replace(pending, changes=kept)


def _show_changes(pending: Pending, *, is_approved: bool = False) -> None:
    server = escape_terminal_text(pending.server)
    where = f" ({escape_terminal_text(pending.place)})" if pending.place else ""
    count = len(pending.changes)
    what = f"{count} definition{'s' * (count != 1)} of {server}{where}"
    print(f"approved: {what}" if is_approved else f"changed, and blocked: {what}")
    for line in render_changes(pending.changes):
        print(f"  {line}")
    if not is_approved:
        print(f"  if that is right: callwright gateway approve {server}[/TOOL]")
