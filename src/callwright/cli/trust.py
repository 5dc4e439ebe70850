"""``callwright trust``: what came from elsewhere is confirmed by its digest, listed, and confirmed no longer."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from callwright.cli.config import NAME, checked, content
from callwright.errors import TrustError
from callwright.execution.journal import SUFFIX, confirmable, read
from callwright.trust import TrustStore, digest_of, location, printable

_SHORT = 12  # digits of a digest that a list shows


def trust_all(places: Sequence[str]) -> int:
    """Confirm each place as it is now. Raises CallwrightError for one that cannot be confirmed."""
    store = TrustStore()
    for place in places:
        _trust(place, store)
    return 0


def distrust(places: Sequence[str]) -> int:
    """Forget what was confirmed of each place. 1 where nothing was."""
    store = TrustStore()
    unknown = 0
    for place in places:
        gone = store.distrust(location(place))
        unknown += not gone
        print(f"{'trusted no longer' if gone else 'was not trusted'}: {printable(place)}")
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
        print(f"{one.kind:<9} {day}  {one.digest[:_SHORT]}\n  {printable(one.where)}")
    for source, count in pinned.items():
        print(f"pinned    {count} definitions\n  {printable(source)}")
    if not (confirmed or pinned):
        print("nothing is trusted yet", file=sys.stderr)
    return 0


def _trust(place: str, store: TrustStore) -> None:
    path = Path(place).expanduser()
    if "://" not in place and path.name == NAME and path.is_file():
        raw = content(path)
        held = checked(path, raw)  # one that makes no sense is not confirmed
        store.trust("settings", location(path), digest_of(raw))
        keys = (*held.general, *(f"profiles.{name}" for name in held.profiles))
        print(f"trusted: {printable(str(path))} ({printable(', '.join(keys))})")
        return
    if "://" not in place and path.suffix == SUFFIX and path.is_file():
        _trust_journal(path, store)
        return
    if "://" not in place and not path.exists():
        raise TrustError(f"there is no {place!r}", hint=f"is it written right? It was looked for from {Path.cwd()}")
    raise TrustError(
        f"{place!r} is nothing that can be confirmed",
        hint=f"a {NAME} that was found can be: callwright trust {shlex.quote(NAME)}",
    )


def _trust_journal(path: Path, store: TrustStore) -> None:
    meta, _ = read(path, texts=False)
    store.trust("journal", *confirmable(path, meta))
    print(f"trusted: {printable(str(path))}")
    for key in ("cwd", "tools", "model", "planner"):
        if said := meta["setup"].get(key):
            print(f"  {key}: {printable(' '.join(map(str, said)) if isinstance(said, list) else str(said))}")
