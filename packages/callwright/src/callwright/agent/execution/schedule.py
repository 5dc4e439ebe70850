"""Schedules the steps of a plan: a step starts as soon as all that it waits for have succeeded. No
layers, no barriers.

Steps may be added while others run, so a plan can be executed while it is still being written. A
failed step stops every step that waits for it, directly or indirectly, and no other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from callwright.nouns.plan import Slot


class Schedule:
    """Starts slots in one TaskGroup, which its owner waits for. Made inside ``async with`` of that
    group.

    ``work`` does a slot's work and says whether it succeeded; what it raises ends the group.
    ``done`` are slots that had succeeded before. In the end a slot is in ``done``, in ``failed``,
    in ``blocked`` (slot -> a failed slot that it waited for, whichever failed first), or nowhere:
    it waits for what was never added, or for itself.
    """

    def __init__(
        self,
        group: asyncio.TaskGroup,
        work: Callable[[Slot], Awaitable[bool]],
        done: Iterable[str] = (),
    ) -> None:
        self.done = {*done}
        self.failed: set[str] = set()
        self.blocked: dict[str, str] = {}
        self._group = group
        self._work = work
        self._waiting: dict[str, set[str]] = {}  # slot -> what it still waits for
        self._slots: dict[str, Slot] = {}
        self._followers: dict[str, list[str]] = {}

    def add(self, slot: Slot) -> None:
        """One more slot, started at once if it waits for nothing."""
        self._slots[slot.id] = slot
        waits = slot.after - self.done
        if not waits:
            self._group.create_task(self._run(slot))
            return
        stopped = next((b for b in sorted(waits) if b in self.failed or b in self.blocked), None)
        if stopped is not None:
            self._block(slot.id, self.blocked.get(stopped, stopped))
            return
        self._waiting[slot.id] = {*waits}
        for before in waits:
            self._followers.setdefault(before, []).append(slot.id)

    async def _run(self, slot: Slot) -> None:
        """Do a slot's work, then go on with what that made ready: the first of it here, the others
        beside it.
        """
        going: Slot | None = slot
        while going is not None:
            slot, going = going, None
            if not await self._work(slot):
                self.failed.add(slot.id)
                for behind in self._followers.pop(slot.id, ()):
                    self._block(behind, slot.id)
                return
            self.done.add(slot.id)
            for behind in self._followers.pop(slot.id, ()):
                waits = self._waiting.get(behind)
                if waits is None:
                    continue  # it was blocked meanwhile
                waits.discard(slot.id)
                if waits:
                    continue
                del self._waiting[behind]
                if going is None:
                    going = self._slots[behind]
                else:
                    self._group.create_task(self._run(self._slots[behind]))

    def _block(self, slot: str, by: str) -> None:
        front = [slot]
        while front:
            one = front.pop()
            if one not in self.blocked:
                self.blocked[one] = by
                self._waiting.pop(one, None)
                front += self._followers.pop(one, ())
