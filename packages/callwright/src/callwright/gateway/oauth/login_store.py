"""Keeps what a login at a server left: tokens, the client's registration, and where to renew them.

One file a user and server, which only the owner of this process can read (mode 0600). It holds
credentials: nothing of it is printed or logged.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callwright.jsontext import JsonError, parse, write
from callwright.nouns.errors import TrustError
from callwright.nouns.types import JsonObject
from callwright.storage.database import state_dir

if TYPE_CHECKING:
    from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

_FORMAT = 1


class LoginStore:
    """The logins of all users at all servers, in a folder."""

    def __init__(self, folder: Path | None = None, now: Callable[[], float] = time.time) -> None:
        self.folder = folder or state_dir() / "logins"
        self._now = now

    def open(self, user: str, url: str) -> Login:
        """The login of one user ("": of this machine's) at the server of this very URL."""
        name = hashlib.sha256(write([user, url])).hexdigest()[:32]
        return Login(self.folder / f"{name}.json", user, url, self._now)


class Login:
    """One login; the SDK's ``TokenStorage``. Raises TrustError where its file cannot be kept."""

    def __init__(self, path: Path, user: str, url: str, now: Callable[[], float]) -> None:
        self.path = path
        self.user, self.url = user, url
        self._now = now

    @property
    def exists(self) -> bool:
        """Return True if there are tokens of this user and this server."""
        return isinstance(self._read().get("tokens"), dict)

    @property
    def stamp(self) -> int:
        """Changes whenever the login is written; 0 where there is none."""
        try:
            return self.path.stat().st_mtime_ns
        except OSError:
            return 0

    @property
    def expires(self) -> float | None:
        """When the access token expires, in seconds since 1970; None where that is not known."""
        found = self._read().get("expires")
        return float(found) if isinstance(found, int | float) else None

    @property
    def metadata(self) -> JsonObject:
        """The documents of the authorization server (``server``) and of the resource
        (``resource``), as they were at the login.
        """
        found = self._read().get("metadata")
        return found if isinstance(found, dict) else {}

    def keep_metadata(self, metadata: JsonObject) -> None:
        self._write(metadata=metadata)

    def forget(self) -> bool:
        """Remove the login. False where there was none."""
        with suppress(FileNotFoundError):
            self.path.unlink()
            return True
        return False

    async def get_tokens(self) -> OAuthToken | None:
        from mcp.shared.auth import OAuthToken

        found = self._read().get("tokens")
        return OAuthToken.model_validate(found) if isinstance(found, dict) else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        seconds = tokens.expires_in
        expires = None if seconds is None else self._now() + seconds
        self._write(tokens=tokens.model_dump(mode="json", exclude_none=True), expires=expires)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        from mcp.shared.auth import OAuthClientInformationFull

        found = self._read().get("client")
        made = OAuthClientInformationFull
        return made.model_validate(found) if isinstance(found, dict) else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._write(client=client_info.model_dump(mode="json", exclude_none=True))

    def _read(self) -> JsonObject:
        """The content that is kept; {} where there is nothing, or where it is another's."""
        try:
            said = parse(self.path.read_bytes())
        except (OSError, JsonError):
            return {}
        is_ours = isinstance(said, dict) and said.get("callwright_login") == _FORMAT
        return said if is_ours and (said["user"], said["url"]) == (self.user, self.url) else {}

    def _write(self, **changed: Any) -> None:
        told = {**self._read(), **changed}
        told |= {"callwright_login": _FORMAT, "user": self.user, "url": self.url}
        part = self.path.with_suffix(f".{os.getpid()}.part")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(part, "wb", opener=_open_private) as file:
                file.write(write(told))
            part.replace(self.path)
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise TrustError(
                f"the login at {self.url} cannot be kept in {self.path.parent}:"
                f" {error.strerror or error}",
                hint="may this user write there?",
            ) from None


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
