#!/usr/bin/env python3
"""From a fresh clone to a working Callwright, with nothing but Python 3.11+ and a package index.

    python3 start.py             set everything up and run the main job on the embedded model
    python3 start.py test        set everything up and run the checks and the tests (a quarter of an hour on two cores)
    python3 start.py test -m heavy     only the heavier tests, which CI adds
    python3 start.py prove       list soaks, fuzzing and boards with their last figures
    python3 start.py prove NAME  set everything up and run one; its figure is kept in docs/results
    python3 start.py core        the core without the lab: its own environment, and the core's tests in it
    python3 start.py build       build sdist and wheel of both packages into ./dist
    python3 start.py docs        the documentation as a site, in build/site; every link is checked
    python3 start.py setup       set everything up, run nothing

Everything goes into ./.venv (``core``: ./.venv-core, ``build``: ./.venv-build, ``docs``:
./.venv-docs); a second start reuses it. Arguments after ``build`` are those of
release_packages.py. Arguments after ``test`` and ``core`` are given to pytest.
``CALLWRIGHT_TEST_WITH`` names further requirements for ``test``: "torch scikit-learn" for the tests
of training.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONSTRAINTS = HERE / "constraints.txt"
COMMANDS = ("demo", "setup", "test", "core", "prove", "build", "docs")
GROUPS = {
    "test": "dev",
    "prove": "dev",
    "core": "test",
    "build": "build",
    "docs": "docs",
}  # dependency groups of pyproject.toml
LAB = {
    "callwright": "all,desk",
    "callwright-lab": "",
}  # packages of this repository, with their extras
CORE = {"callwright": "all,desk"}
CORE_TESTS = "packages/callwright/tests"
# More processes than two cores have: much of the tests' time is waiting. The tests of one file share
# its fixtures, and conftest.py says which file comes first.
WORKERS = ["-n", "3", "--dist", "loadfile", "--no-loadscope-reorder"]


def main(arguments: list[str]) -> int:
    command = arguments[0] if arguments else "demo"
    if command not in COMMANDS:
        print(__doc__)
        return 2
    if sys.version_info < (3, 11):  # noqa: UP036 - this file is also started by older ones
        print(
            f"Callwright needs Python 3.11 or newer; this is {sys.version.split()[0]}. Try:"
            " python3.12 start.py"
        )
        return 2
    rest = arguments[1:]
    if command == "build":
        python = set_up(HERE / ".venv-build", {}, GROUPS[command])
        return run([str(python), "-P", str(HERE / "release_packages.py"), *rest])
    if command == "core":
        python = set_up(HERE / ".venv-core", CORE, GROUPS[command])
        if names_files(rest):
            return run([*pytest(python), *rest])
        return run([*pytest(python), *WORKERS, CORE_TESTS, *rest])
    if command == "docs":
        python = set_up(HERE / ".venv-docs", {}, GROUPS[command])
        return run([str(python), str(HERE / "checks" / "docs_site.py")])
    python = set_up(HERE / ".venv", LAB, GROUPS.get(command, ""))
    if command == "demo":
        return run([str(python), "-P", "-m", "callwright", "demo", *rest])
    if command == "prove":
        return run([str(python), str(HERE / "benchmarks" / "prove.py"), *rest])
    return test(python, rest) if command == "test" else 0


def test(python: Path, arguments: list[str]) -> int:
    """Lint and floors, then the tests, and beside them the types: each must pass. With pytest
    arguments, only the tests run.
    """
    more = os.environ.get("CALLWRIGHT_TEST_WITH", "").split()
    if more:
        pip(python, "install", *more, "--constraint", str(CONSTRAINTS), label=" ".join(more))
    workers = [] if "-n" in arguments or names_files(arguments) else WORKERS
    tests = [*pytest(python), *workers, *arguments]
    if arguments:
        return run(tests)
    checks = [
        [str(python), "-P", "-m", "ruff", "check", "."],
        [str(python), "-P", "-m", "ruff", "format", "--check", "."],
        [str(python.with_name("lint-imports"))],
    ]
    for check in checks:
        announce(check)
        if code := run(check):
            return code
    return run_beside([str(python), "-P", "-m", "mypy"], tests)


def run_beside(long: list[str], tests: list[str]) -> int:
    """Run one command while another runs, whose output is shown after it. Return the first status
    that is not zero.
    """
    with tempfile.TemporaryFile("w+") as said:
        with subprocess.Popen(long, cwd=HERE, stdout=said, stderr=subprocess.STDOUT) as beside:
            try:
                code = run(tests)
            except KeyboardInterrupt:
                beside.terminate()
                raise
        announce(long)
        said.seek(0)
        print(said.read(), end="", flush=True)
    return code or beside.returncode


def announce(command: list[str]) -> None:
    name, *rest = command
    print("$", Path(name).name, *rest, flush=True)


def pytest(python: Path) -> list[str]:
    return [str(python), "-P", "-m", "pytest"]


def names_files(arguments: list[str]) -> bool:
    """Whether pytest is told which files or folders to run."""
    words = (word.split("::")[0] for word in arguments if not word.startswith("-"))
    return any(Path(word).exists() for word in words)


def set_up(folder: Path, packages: dict[str, str], group: str) -> Path:
    """The Python of an environment in which these packages are installed as they lie here, with
    what a dependency group lists. Does nothing if exactly this was done before.
    """
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        print(f"Creating a virtual environment in {folder.name} …", flush=True)
        venv.EnvBuilder(with_pip=True).create(folder)
    stamp = folder / f".callwright-{group or 'use'}"
    files = [
        HERE / "pyproject.toml",
        CONSTRAINTS,
        *(HERE / "packages" / name / "pyproject.toml" for name in packages),
    ]
    wanted = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    pip(python, "install", "--upgrade", "pip", label="pip")
    places = [
        f"{HERE / 'packages' / name}" + (f"[{extras}]" if extras else "")
        for name, extras in packages.items()
    ]
    listed = ["--group", f"{HERE / 'pyproject.toml'}:{group}"] if group else []
    editable = [word for place in places for word in ("--editable", place)]
    constrained = ["--constraint", str(CONSTRAINTS)]
    pip(python, "install", *editable, *listed, *constrained, label=" ".join(packages) or group)
    stamp.write_text(wanted)
    return python


def pip(python: Path, *arguments: str, label: str) -> None:
    """Run pip and show its progress as one moving line; on failure show all that it said."""
    command = [
        str(python),
        "-P",
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--no-input",
        *arguments,
    ]
    started, lines, seen = time.monotonic(), [], 0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=HERE
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            word = line.split(maxsplit=1)[0] if line.strip() else ""
            seen += word in ("Collecting", "Downloading", "Using", "Installing", "Building")
            if word in (
                "Collecting",
                "Downloading",
                "Using",
                "Installing",
                "Building",
                "Successfully",
            ):
                show(label, seen, line.strip(), time.monotonic() - started)
    print(flush=True)
    if process.returncode:
        sys.stdout.writelines(lines[-30:])
        raise SystemExit(
            f"pip could not install {label} (see above). Check the connection and start again."
        )


def show(label: str, seen: int, line: str, seconds: float) -> None:
    """A bar that fills ever more slowly: pip does not say beforehand how much there is to do."""
    width = 24
    filled = int(width * seen / (seen + 30))
    text = f"Installing {label} [{'#' * filled}{'.' * (width - filled)}] {seconds:4.0f} s  {line}"
    if sys.stdout.isatty():
        columns = os.get_terminal_size().columns
        print("\r" + text[: columns - 1].ljust(columns - 1), end="", flush=True)
    elif line.startswith(("Installing", "Successfully")):
        print(text[:160], flush=True)


def run(command: list[str]) -> int:
    return subprocess.run(command, cwd=HERE, check=False).returncode


if __name__ == "__main__":
    try:
        raise SystemExit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        raise SystemExit("\nStopped. Start again to go on where this ended.") from None
