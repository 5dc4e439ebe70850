"""The file of what the user confirmed, and the definitions of tools as they were first seen."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from callwright.jsontext import JsonError, parse, write
from callwright.nouns.errors import TrustError
from callwright.nouns.types import JsonObject, to_canonical_json
from callwright.storage.database import state_dir
from callwright.tools.trust.definitions import find_changes, plain_json, render_changes
from callwright.tools.trust.shipped import SHIPPED

Kind: TypeAlias = Literal["settings", "document", "journal", "tools"]
"""What was confirmed: a callwright.toml, a file or URL that describes tools, a run's setup, a
server's tool list.
"""

VARIABLE = "CALLWRIGHT_TRUST"
_FORMAT = 1
_WAIT = 10.0  # seconds for another process that writes


@dataclass(frozen=True, slots=True)
class Confirmed:
    """One thing that the user confirmed. ``at``: seconds since 1970."""

    kind: Kind
    where: str
    digest: str
    at: float = 0.0


class TrustStore:
    """Store of the user's confirmations, in a folder that only the user reads. It is
    ``CALLWRIGHT_TRUST``, else in the user's folder for state (XDG base directories). Several
    processes may share it; a file is replaced whole or not at all.

    Raises TrustError if it cannot be read, cannot be written, or may be written by others.
    """

    def __init__(self, folder: Path | str | None = None) -> None:
        self.folder = Path(folder or os.environ.get(VARIABLE) or state_dir() / "trust").expanduser()

    def is_trusted(self, kind: Kind, where: str, digest: str) -> bool:
        """Return True if the user confirmed this content at this place, or if it came with
        Callwright.
        """
        return digest in SHIPPED or any(
            (c.kind, c.where, c.digest) == (kind, where, digest) for c in self.confirmed()
        )

    def confirmed(self) -> tuple[Confirmed, ...]:
        """All that the user confirmed, oldest first."""
        rows = self._read(self._confirmed).get("confirmed", [])
        try:
            return tuple(Confirmed(**row) for row in rows)
        except TypeError:
            raise self._damaged(self._confirmed) from None

    def trust(self, kind: Kind, where: str, digest: str) -> None:
        """Remember that the user confirmed this content at this place. An earlier content is
        confirmed no longer.
        """
        with self._locked():
            others = [c for c in self.confirmed() if (c.kind, c.where) != (kind, where)]
            self._keep([*others, Confirmed(kind, where, digest, time.time())])

    def distrust(self, where: str) -> tuple[Confirmed, ...]:
        """Forget what was confirmed at a place, and the definitions first seen there. Returns what
        was confirmed.
        """
        with self._locked():
            known = self.confirmed()
            gone = tuple(c for c in known if c.where == where)
            if gone:
                self._keep([c for c in known if c.where != where])
            for path in (self._pins(where), self._offered(where)):
                path.unlink(missing_ok=True)
        return gone

    def pinned(self, source: str) -> dict[str, JsonObject]:
        """The definitions of a source's tools as they were first seen or last confirmed, by
        tool.
        """
        found: dict[str, JsonObject] = self._read(self._pins(source)).get("tools", {})
        return found

    def sources(self) -> dict[str, int]:
        """The sources whose definitions are pinned, each with the number of its tools."""
        made = {}
        for path in sorted(self.folder.glob("pins-*.json")):
            said = self._read(path)
            made[str(said.get("source", path.name))] = len(said.get("tools", ()))
        return made

    def pin(self, source: str, definitions: Mapping[str, JsonObject]) -> None:
        """Make these the definitions that hold for a source, beside those of its tools that it does
        not offer now.
        """
        with self._locked():
            self._put(source, {**self.pinned(source), **plain_json(definitions)})

    def offered(self, source: str) -> JsonObject:
        """The list of a source when it was asked last, as :meth:`keep_offered` kept it; {} where it
        never was.
        """
        found: JsonObject = self._read(self._offered(source)).get("listed", {})
        return found

    def keep_offered(self, source: str, listed: Mapping[str, Any]) -> None:
        """Remember what a source lists now, confirmed or not, so that it need not be started to be
        shown.
        """
        said = plain_json(dict(listed))
        if said == self.offered(source):
            return
        with self._locked():
            self._write(self._offered(source), {"source": source, "listed": said})

    def require_unchanged(
        self, source: str, definitions: Mapping[str, JsonObject], *, hint: str = ""
    ) -> str:
        """Pin what is seen for the first time; where that cannot be kept, the reason is returned.

        Raises TrustError with a diff where a definition is not what it was.
        """
        known, definitions = self.pinned(source), plain_json(definitions)
        found = find_changes(known, definitions)
        if found:
            names = (
                f"the definition of {found[0].tool!r}"
                if len(found) == 1
                else f"{len(found)} definitions"
            )
            raise TrustError(
                "\n  ".join(
                    [f"{names} of {source} changed since first use:", *render_changes(found)]
                ),
                hint=hint or f"if that is right: callwright trust {source}",
            )
        new = {name: said for name, said in definitions.items() if name not in known}
        try:
            if new:
                self.pin(source, new)
        except TrustError as error:
            return f"the definitions of {source} are not remembered: {error.message}"
        return ""

    def seal(self, value: JsonObject) -> str:
        """Return a seal that only this user can make for a value (HMAC-SHA256, RFC 2104); "" if no
        key can be kept. It distinguishes the user's own file from a foreign one.
        """
        try:
            return self._mac(value, self._key() or self._new_key())
        except TrustError:
            return ""

    def is_sealed(self, value: JsonObject, seal: object) -> bool:
        """Return True if :meth:`seal` made this seal for exactly this value with the present
        key.
        """
        key = self._key()
        return (
            key != b""
            and isinstance(seal, str)
            and hmac.compare_digest(seal.encode(), self._mac(value, key).encode())
        )

    def _mac(self, value: JsonObject, key: bytes) -> str:
        return hmac.new(key, digest_of(value).encode(), hashlib.sha256).hexdigest()

    def _key(self) -> bytes:
        """The user's secret; b"" where there is none yet."""
        text = self._read(self.folder / "key.json").get("key", "")
        return text.encode() if isinstance(text, str) else b""

    def _new_key(self) -> bytes:
        with self._locked():
            if not self._key():
                self._write(self.folder / "key.json", {"key": secrets.token_hex(32)})
            return self._key()

    @property
    def _confirmed(self) -> Path:
        return self.folder / "confirmed.json"

    def _pins(self, source: str) -> Path:
        return self.folder / f"pins-{hashlib.sha256(source.encode()).hexdigest()[:24]}.json"

    def _offered(self, source: str) -> Path:
        return self.folder / f"offered-{hashlib.sha256(source.encode()).hexdigest()[:24]}.json"

    def _keep(self, confirmed: list[Confirmed]) -> None:
        self._write(self._confirmed, {"confirmed": [asdict(c) for c in confirmed]})

    def _put(self, source: str, definitions: Mapping[str, JsonObject]) -> None:
        self._write(self._pins(source), {"source": source, "tools": dict(definitions)})

    def _read(self, path: Path) -> JsonObject:
        try:
            said = parse(_own_bytes(path))
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise TrustError(
                f"{path} cannot be read: {error.strerror or error}", hint="may this user read it?"
            ) from None
        except JsonError:
            raise self._damaged(path) from None
        if not isinstance(said, dict) or said.get("callwright_trust") != _FORMAT:
            raise self._damaged(path)
        return said

    def _write(self, path: Path, said: Mapping[str, Any]) -> None:
        part = path.with_suffix(f".{os.getpid()}.part")
        try:
            with open(part, "xb", opener=_open_private) as file:
                file.write(write({"callwright_trust": _FORMAT, **said}))
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise self._unwritable(error) from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = FileLock(self.folder / "lock", timeout=_WAIT, mode=0o600)
            lock.acquire()
        except Timeout:
            raise TrustError(
                f"another process holds {self.folder / 'lock'}", hint="wait for it to end"
            ) from None
        except OSError as error:
            raise self._unwritable(error) from None
        try:
            yield
        finally:
            lock.release()

    def _unwritable(self, error: OSError) -> TrustError:
        hint = f"{VARIABLE}=FOLDER names another folder"
        return TrustError(
            f"what is trusted cannot be kept in {self.folder}: {error.strerror or error}", hint=hint
        )

    def _damaged(self, path: Path) -> TrustError:
        return TrustError(
            f"{path} is damaged", hint="remove it: then nothing that stood in it is trusted"
        )


def digest_of(content: bytes | str | JsonObject) -> str:
    """The sha256 of a file's bytes, of a text, or of a JSON value's canonical form, in hex."""
    if not isinstance(content, bytes | str):
        content = to_canonical_json(content)
    raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    return hashlib.sha256(raw).hexdigest()


def normalize_location(named: str | Path) -> str:
    """One name for a place, however it is written: the absolute path of a file, or a URL whose
    login and query, which may hold secrets, are a digest.
    """
    text = str(named)
    if "://" not in text:
        return str(Path(text).expanduser().resolve())
    parts = urlsplit(text)
    host = parts.netloc.rpartition("@")[2].lower()
    secret = f"{parts.netloc.rpartition('@')[0]}?{parts.query}"
    mark = f"#{hashlib.sha256(secret.encode()).hexdigest()[:12]}" if secret != "?" else ""
    return f"{parts.scheme.lower()}://{host}{parts.path.rstrip('/')}{mark}"


def _own_bytes(path: Path) -> bytes:
    """The content of a file that nobody but this user can have written. Raises OSError, or
    TrustError for another.
    """
    with path.open("rb") as file:
        held = os.fstat(file.fileno())
        if sys.platform != "win32":
            if held.st_uid not in (os.getuid(), 0):
                raise TrustError(
                    f"{path} belongs to somebody else: it proves nothing", hint="remove it"
                )
            if held.st_mode & 0o022:
                raise TrustError(
                    f"{path} may be written by others: it proves nothing", hint=f"chmod 600 {path}"
                )
        return file.read()


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
