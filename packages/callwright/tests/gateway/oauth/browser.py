"""A browser that follows a login to its end."""

from __future__ import annotations

import asyncio

import httpx2


class Browser:
    """``opened`` are the addresses that it was shown, ``pages`` what it saw at the end. Its visits
    run in ``group``.
    """

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group
        self.opened: list[str] = []
        self.pages: list[str] = []

    def show(self, address: str) -> None:
        self.opened.append(address)
        self._group.create_task(self._visit(address))

    async def _visit(self, address: str) -> None:
        async with httpx2.AsyncClient(follow_redirects=True, trust_env=False) as client:
            self.pages.append((await client.get(address)).text)
