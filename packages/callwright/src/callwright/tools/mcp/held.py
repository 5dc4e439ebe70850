"""A client of an MCP server and the task that it lives in, so that its end disturbs nobody else's
code.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from callwright.nouns.types import JsonObject
from callwright.tools.mcp.connection import (
    SILENT,
    Answering,
    Watch,
    build_open_error,
    list_tools,
    open_client,
)
from callwright.tools.mcp.lost import EXTENSION
from callwright.tools.mcp.pages import ToolPages
from callwright.tools.mcp.stderr import keep_stderr
from callwright.tools.mcp.streams import is_unread
from callwright.tools.servers import Server

if TYPE_CHECKING:
    from mcp import Client

STOP_SECONDS = 8.0  # a process may take six: told to end, SIGTERM, SIGKILL


class HeldClient:
    """One connection at a time. ``client`` is None while there is none: it was never started, or
    its other side has ended it, which ``ended`` is told.

    ``group``: where its task lives; without one it has its own, from the first start to
    :meth:`stop`. ``status`` is that of the last HTTP error, which the SDK does not hand on;
    ``refused`` is told it in the context of the request. ``auth``: see :func:`open_client`.
    """

    def __init__(
        self,
        server: Server,
        *,
        answering: Answering = SILENT,
        is_dropped: Callable[[str], bool] = is_unread,
        group: asyncio.TaskGroup | None = None,
        ended: Callable[[], None] = lambda: None,
        refused: Callable[[int], None] = lambda _: None,
        auth: Any = None,
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        self._server, self._answering, self._is_dropped = server, answering, is_dropped
        self._ended, self._refused, self._auth = ended, refused, auth
        self._stop_seconds = stop_seconds
        self._group, self._owns_group = group, group is None
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.client: Client | None = None
        self.pages = ToolPages()
        self.status: int | None = None

    @property
    def is_open(self) -> bool:
        """Return True between :meth:`start` and :meth:`stop`, also where the connection was lost
        meanwhile.
        """
        return self._task is not None

    async def start(self) -> Sequence[JsonObject]:
        """Connect and list the tools. Raises CatalogError saying why the server cannot be used."""
        if self._group is None:
            self._group = await asyncio.TaskGroup().__aenter__()
        ready: asyncio.Future[Sequence[JsonObject]] = asyncio.get_running_loop().create_future()
        self._closing = asyncio.Event()
        self._task = self._group.create_task(self._live(ready, self._closing))
        return await ready

    async def stop(self) -> None:
        """End the connection and the server process. A server over HTTP that does not answer when
        it is told that its session ends is waited for no longer than ``stop_seconds``.
        """
        self._closing.set()
        task, self._task = self._task, None
        if self.client is not None:
            self._forget(self.client)  # before the SDK ends what is under way there: it is lost
        elif task is not None:
            task.cancel()  # still connecting, or lost already
        if task is not None:
            _, late = await asyncio.wait({task}, timeout=self._stop_seconds)
            if late:
                task.cancel()
        if task is not None and not self._owns_group:
            await asyncio.wait({task})
        elif self._group is not None:
            group, self._group = self._group, None
            await group.__aexit__(None, None, None)

    def lose(self, client: Client) -> None:
        """Give up a connection that is of no use any more."""
        if self.client is client:
            self._forget(client)
            self._closing.set()

    async def _live(
        self, ready: asyncio.Future[Sequence[JsonObject]], closing: asyncio.Event
    ) -> None:
        """Hold one connection until ``closing``. Never raises: what goes wrong is said through
        ``ready``.
        """
        client: Client | None = None

        def end() -> None:
            closing.set()
            if client is not None:
                self._forget(client)

        self.pages = pages = ToolPages()
        watch = Watch(end, pages, self._note_status, self._is_dropped)
        async with keep_stderr() as stderr:
            try:
                async with (
                    asyncio.timeout(self._server.seconds) as limit,
                    open_client(
                        self._server, stderr.file, watch, self._answering, auth=self._auth
                    ) as client,
                ):
                    listed = await list_tools(client)
                    limit.reschedule(None)
                    self.client = client
                    if not ready.done():
                        ready.set_result(listed)
                    await closing.wait()
            except Exception as error:
                if not ready.done():
                    ready.set_exception(
                        build_open_error(self._server, error, stderr.read(), self.status)
                    )
            finally:
                if client is not None:
                    self._forget(client)
                if not ready.done():
                    ready.cancel()

    def _forget(self, client: Client) -> None:
        """The next call connects again instead of writing to nobody."""
        if self.client is client:
            self.client = None
            self._ended()

    async def _note_status(self, response: Any) -> None:
        """HTTP response hook. Only a POST carries a request."""
        if (
            response.request.method == "POST"
            and response.status_code >= 400
            and EXTENSION not in response.extensions
        ):
            self.status = response.status_code
            self._refused(response.status_code)
