"""``callwright trust``: what came from elsewhere is confirmed by its digest, listed, and confirmed
no longer.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from callwright.agent.journal.store import SUFFIX, describe_origin, read_journal
from callwright.cli.settings.config import NAME, parse_config, read_bytes
from callwright.nouns.errors import TrustError
from callwright.tools.catalog import open_catalog
from callwright.tools.trust import TrustStore, digest_of, escape_terminal_text, normalize_location
from callwright.tools.trust.store import Kind

FOLDER_FILES = (
    NAME,
    "mcp.json",
    "openapi.json",
    "openapi.yaml",
    "openapi.yml",
)  # of a folder: no code
_SHORT = 12  # digits of a digest that a list shows


def trust_all(places: Sequence[str]) -> int:
    """Confirm each place as it is now. Raises CallwrightError for one that cannot be confirmed."""
    store = TrustStore()
    for place in places:
        _trust_place(place, store)
    return 0


def forget_places(places: Sequence[str]) -> int:
    """Forget what was confirmed of each place and the definitions pinned there. 1 where there was
    nothing.
    """
    store = TrustStore()
    unknown = 0
    for place in places:
        where = normalize_location(place.removeprefix("mcp+"))
        pinned = [
            source for source in store.sources() if source == place or source.endswith(f" {where}")
        ]
        gone = [*store.distrust(where), *pinned]
        for source in pinned:
            store.distrust(source)
        unknown += not gone
        print(
            f"{'trusted no longer' if gone else 'was not trusted'}: {escape_terminal_text(place)}"
        )
    return 1 if unknown else 0


def list_trusted(as_json: bool = False) -> int:
    """Print what is confirmed, oldest first, and the sources whose definitions are pinned."""
    store = TrustStore()
    confirmed, pinned = store.confirmed(), store.sources()
    if as_json:
        import orjson

        told = {"confirmed": [asdict(c) for c in confirmed], "pinned": pinned}
        print(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode())
        return 0
    for one in confirmed:
        day = time.strftime("%Y-%m-%d", time.localtime(one.at))
        print(f"{one.kind:<9} {day}  {one.digest[:_SHORT]}\n  {escape_terminal_text(one.where)}")
    for source, count in pinned.items():
        print(f"pinned    {count} definitions\n  {escape_terminal_text(source)}")
    if not (confirmed or pinned):
        print("nothing is trusted yet", file=sys.stderr)
    return 0


def _trust_place(place: str, store: TrustStore) -> None:
    path = Path(place).expanduser()
    if "://" in place:
        asyncio.run(_trust_source(place, store))
    elif path.is_dir():
        held = [path / name for name in FOLDER_FILES if (path / name).is_file()]
        if not held:
            raise TrustError(
                f"{place!r} holds none of {', '.join(FOLDER_FILES)}", hint="name the file itself"
            )
        for file in held:
            _trust_place(str(file), store)
    elif not Path(place.partition("?")[0]).expanduser().exists():
        raise TrustError(
            f"there is no {place!r}",
            hint=f"is it written right? It was looked for from {Path.cwd()}",
        )
    elif path.name == NAME:
        _trust_settings(path, store)
    elif path.suffix == SUFFIX:
        _trust_journal(path, store)
    elif path.suffix == ".py":
        raise TrustError(
            f"{place!r} is code, which runs because you name it", hint="there is nothing to confirm"
        )
    else:
        asyncio.run(_trust_source(place, store))


def _trust_settings(path: Path, store: TrustStore) -> None:
    raw = read_bytes(path)
    held = parse_config(path, raw)  # one that makes no sense is not confirmed
    store.trust("settings", normalize_location(path), digest_of(raw))
    keys = (*held.general, *(f"profiles.{name}" for name in held.profiles))
    print(f"trusted: {escape_terminal_text(str(path))} ({escape_terminal_text(', '.join(keys))})")


class _Noted:
    """Confirms all that sources ask for, and notes it."""

    def __init__(self) -> None:
        self.asked: list[tuple[Kind, str, str]] = []

    def is_trusted(self, kind: Kind, where: str, digest: str) -> bool:
        if (kind, where, digest) not in self.asked:
            self.asked.append((kind, where, digest))
        return True


async def _trust_source(place: str, store: TrustStore) -> None:
    """Confirm what a document or a server says now, and make its definitions those that hold."""
    noted = _Noted()
    try:
        async with open_catalog([place], trust=noted) as catalog:
            if not noted.asked:
                raise TrustError(
                    f"{place!r} cannot be trusted by digest",
                    hint=(
                        f"a {NAME}, an OpenAPI document, an mcpServers file, a server's URL or a"
                        f" {SUFFIX} can be"
                    ),
                )
            found, count = catalog.accept(store), len(catalog)
    finally:
        for kind, where, digest in noted.asked:
            store.trust(kind, where, digest)
            print(f"trusted: {escape_terminal_text(where)}")
    for line in found:
        print(f"  {line}")
    print(
        f"  {count} tool{'s' * (count != 1)}, pinned as {'they are' if count != 1 else 'it is'} now"
    )


def _trust_journal(path: Path, store: TrustStore) -> None:
    meta, _ = read_journal(path, texts=False)
    store.trust("journal", *describe_origin(path, meta))
    print(f"trusted: {escape_terminal_text(str(path))}")
    for key in ("cwd", "tools", "model", "planner"):
        if said := meta["setup"].get(key):
            print(
                f"  {key}:"
                f" {escape_terminal_text(' '.join(map(str, said)) if isinstance(said, list) else str(said))}"
            )
