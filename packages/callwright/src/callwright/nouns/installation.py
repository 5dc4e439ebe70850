"""The shell command that installs something where this process runs, for hints of errors.

A command depends on two things: where Callwright came from (a clone, a wheel, a repository, an
index) and what installs into this environment (pip, uv, pipx). Both are read when a hint is needed.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from importlib.metadata import Distribution

CORE = "callwright"
LAB = "callwright-lab"
_PACKAGE = Path(__file__).resolve().parents[1]  # the folder ``callwright`` that runs
_WHEEL = "-py3-none-any.whl"
_IMAGE = (
    "CALLWRIGHT_IMAGE_EXTRAS"  # set by the Dockerfile: the extras that the image was built with
)


class ShellCommand(str):
    """One command for a shell. It is shown on one line, so that it can be copied."""

    __slots__ = ()


def render_install_hint(extra: str = "", package: str = CORE) -> str:
    """The command that installs this extra of this package here.

    Where the file that the package came from is gone, the hint also says to put it back. Where the
    environment is one that ``uvx`` made for one command, the command runs Callwright with the extra;
    in the container image, it builds the image with the extra, in a clone.
    """
    if _IMAGE in os.environ and package == CORE:
        return _render_image(extra or "all")
    requirements, missing = _list_requirements(extra, package)
    if _is_ephemeral():
        command = _render_single_run(requirements, package)
    else:
        command = ShellCommand(f"{_render_installer()} {_join(requirements)}")
    if missing is None:
        return command
    return f"put {missing.name} into {missing.parent}, then: {command}"


def render_library_hint(*arguments: str) -> ShellCommand:
    """The command that installs libraries of others here: arguments of ``pip install``. In the
    container image, the one that builds it with all libraries.
    """
    if _IMAGE in os.environ:
        return _render_image("all")
    return ShellCommand(f"{_render_installer()} {_join(arguments)}")


def render_upgrade_hint() -> str:
    """The command that brings a newer Callwright, or for a file what to install."""
    clone = find_clone()
    if clone is not None:
        return ShellCommand(f"git -C {_join([str(clone)])} pull")
    if _read_origin(CORE) is None:
        return render_library_hint("--upgrade", CORE)
    return "install a newer version from where this one came from"


def find_clone() -> Path | None:
    """The root of the repository that this package runs from, or None if it is installed."""
    root = _PACKAGE.parents[min(3, len(_PACKAGE.parents) - 1)]
    return root if (root / "packages" / CORE / "pyproject.toml").is_file() else None


def _list_requirements(extra: str, package: str) -> tuple[list[str], Path | None]:
    """Arguments of ``pip install``, and the file that they need and that is not there."""
    clone = find_clone()
    if clone is not None:
        core = ["-e", str(clone / "packages" / CORE)]
        if package == CORE:
            return [core[0], _add_extra(core[1], extra)], None
        return [*core, "-e", _add_extra(str(clone / "packages" / package), extra)], None
    origin = _read_origin(package)
    if origin is None and package != CORE and _find_distribution(package) is None:
        origin = _guess_origin(package)
    if origin is None:
        version = _read_version()
        pin = f"=={version}" if version else ""
        return [f"{_add_extra(package, extra)}{pin}"], None
    return _read_requirement(origin, extra, package)


def _read_requirement(
    origin: Mapping[str, Any], extra: str, package: str
) -> tuple[list[str], Path | None]:
    """The same for a package with this ``direct_url.json`` (PEP 610)."""
    url = str(origin.get("url", ""))
    named = _add_extra(package, extra)
    if urlsplit(url).scheme == "file" and "vcs_info" not in origin:
        path = _read_path(url)
        editable = ["-e"] if origin.get("dir_info", {}).get("editable") else []
        requirement = [*editable, _add_extra(str(path), extra)]
        return requirement, None if path.exists() else path
    part = f"#subdirectory={origin['subdirectory']}" if origin.get("subdirectory") else ""
    vcs = origin.get("vcs_info", {})
    if vcs:
        return [f"{named} @ {vcs.get('vcs')}+{url}@{vcs.get('commit_id')}{part}"], None
    return [f"{named} @ {url}{part}"], None


def _guess_origin(package: str) -> Mapping[str, Any] | None:
    """Where a package that is not installed is expected: beside the file or folder of the core."""
    origin = _read_origin(CORE)
    if origin is None:
        return None
    url = str(origin.get("url", ""))
    if "archive_info" in origin:
        name = f"{package.replace('-', '_')}-{_read_version()}{_WHEEL}"
        return {**origin, "url": f"{url.rpartition('/')[0]}/{name}"}
    if "vcs_info" in origin:
        return {**origin, "subdirectory": f"packages/{package}"}
    return {**origin, "url": f"{url.rpartition('/')[0]}/{package}"}


def _render_single_run(requirements: Sequence[str], package: str) -> ShellCommand:
    """The command that runs Callwright in an environment with these requirements."""
    if package == CORE:
        words = ["--from", requirements[-1]]
    else:
        core, _ = _list_requirements("", CORE)
        words = ["--from", core[-1], "--with", requirements[-1]]
    return ShellCommand(f"uvx {_join(words)} callwright …")


def _render_image(extra: str) -> ShellCommand:
    extras = [*filter(None, os.environ[_IMAGE].split(",")), extra]
    named = ",".join(dict.fromkeys(extras))
    return ShellCommand(f"docker build --build-arg EXTRAS={named} --tag callwright .")


def _render_installer() -> str:
    """The program that installs into the environment of this Python, up to its arguments."""
    from importlib.util import find_spec

    python, beside = sys.executable, shutil.which("pip")
    if Path(sys.prefix, "pipx_metadata.json").is_file():
        return "pipx runpip callwright install"
    if find_spec("pip") is not None:
        if beside is not None and Path(beside).parent == Path(python).parent:
            return "pip install"
        return f"{_join([python])} -m pip install"
    if shutil.which("uv") is not None:
        return f"uv pip install --python {_join([python])}"
    return f"{_join([python])} -m ensurepip && {_join([python])} -m pip install"


def _is_ephemeral() -> bool:
    """True in an environment that ``uvx`` keeps in its cache."""
    parts = Path(sys.prefix).parts
    return any(part.startswith(("archive-v", "environments-v")) for part in parts)


def _add_extra(requirement: str, extra: str) -> str:
    return f"{requirement}[{extra}]" if extra else requirement


def _join(words: Sequence[str]) -> str:
    if os.name != "nt":
        return shlex.join(words)
    from subprocess import list2cmdline

    return list2cmdline(words)


def _read_path(url: str) -> Path:
    path = unquote(urlsplit(url).path)
    return Path(path.lstrip("/") if os.name == "nt" else path)


def _read_origin(package: str) -> Mapping[str, Any] | None:
    """The package's ``direct_url.json``; None for one of an index, and one that is not there."""
    found = _find_distribution(package)
    text = found.read_text("direct_url.json") if found is not None else None
    return json.loads(text) if text else None  # written by the installer: PEP 610


def _read_version() -> str:
    found = _find_distribution(CORE)
    return found.version if found is not None else ""


def _find_distribution(package: str) -> Distribution | None:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return distribution(package)
    except PackageNotFoundError:
        return None
