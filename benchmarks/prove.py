"""Run a proof and keep its last figure with its commit: ``python3 start.py prove NAME``.

A proof is a command of ``proofs.toml``: a soak, fuzzing or a board that is too long for the tests.
Its output passes through. A proof that succeeds leaves one row in ``docs/results/proofs.jsonl``, in
the place of its last one: name, commit (with ``+`` where tracked files differed from it), date,
machine, seconds, command and the lines that are its figure. A proof that fails keeps nothing. Exit
status: that of the command; 2 for an unknown name.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
import tomllib
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from callwright.jsontext import parse, write

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ROWS = ROOT / "docs" / "results" / "proofs.jsonl"
MOST_LINES = 60  # of a figure


@dataclass(frozen=True)
class Proof:
    """One entry of proofs.toml; see the comment at its head."""

    name: str
    about: str
    command: tuple[str, ...]
    minutes: int
    keep: str = ""
    needs: tuple[str, ...] = ()

    @property
    def filled_command(self) -> list[str]:
        data = os.environ.get("CALLWRIGHT_DATA") or str(ROOT.parent / "shared" / "data")
        safe = (
            ["-P"] if self.command[0] == "-m" else []
        )  # a script needs its own folder, a module no working folder
        return [
            sys.executable,
            *safe,
            *(part.format(python=sys.executable, data=data) for part in self.command),
        ]

    def figure_of(self, lines: list[str]) -> list[str]:
        """The lines that state the result: those that match ``keep``, or the last one that is not
        empty.
        """
        said = [line.rstrip() for line in lines if line.strip()]
        if self.keep:
            said = [line for line in said if re.search(self.keep, line)]
            return said[:MOST_LINES]
        return said[-1:]


@dataclass(frozen=True)
class Row:
    """The last figure of a proof and where it comes from."""

    name: str
    commit: str
    date: str
    machine: str
    seconds: float
    command: str
    figure: list[str]


def read_proofs(path: Path = HERE / "proofs.toml") -> dict[str, Proof]:
    """Every proof by its name, in the order of the file."""
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: _proof(name, entry) for name, entry in found.items()}


def _proof(name: str, entry: dict[str, Any]) -> Proof:
    command, needs = tuple(entry["command"]), tuple(entry.get("needs", ()))
    return Proof(name, entry["about"], command, entry["minutes"], entry.get("keep", ""), needs)


def read_rows(path: Path = ROWS) -> dict[str, Row]:
    """The last row of each proof; none where the file is not there yet."""
    if not path.exists():
        return {}
    rows = [Row(**parse(line)) for line in path.read_bytes().splitlines()]
    return {row.name: row for row in rows}


def keep_row(row: Row, path: Path = ROWS) -> None:
    """Put a row in the place of its proof's last one, sorted by name."""
    rows = {**read_rows(path), row.name: row}
    text = b"".join(write(asdict(rows[name])) + b"\n" for name in sorted(rows))
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".part")
    aside.write_bytes(text)
    aside.replace(path)


def run_proof(proof: Proof) -> tuple[int, list[str], float]:
    """(exit status, lines of the output, seconds). What is printed passes through as it comes."""
    began, lines = time.monotonic(), []
    with subprocess.Popen(
        proof.filled_command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    return process.returncode, lines, time.monotonic() - began


def current_commit() -> str:
    """The short commit; ``+`` follows where tracked files outside docs/results differ. "unknown"
    outside a clone.
    """
    head = ["git", "rev-parse", "--short", "HEAD"]
    changed = ["git", "status", "--porcelain", "-uno", "--", ".", ":!docs/results"]
    try:
        commit, changes = (
            subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
            for asked in (head, changed)
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return commit.strip() + ("+" if changes.strip() else "")


def install(needs: tuple[str, ...]) -> None:
    if needs:
        subprocess.run(
            [sys.executable, "-P", "-m", "pip", "install", "--quiet", *needs], check=True
        )


def list_proofs(proofs: dict[str, Proof], rows: dict[str, Row]) -> str:
    """One paragraph a proof: what it shows, how long it takes, and its last figure with its
    commit.
    """
    parts = []
    for name, proof in proofs.items():
        last = rows.get(name)
        lines = [f"{name}  (about {proof.minutes} min)", f"    {proof.about}"]
        if last is not None:
            lines += [f"    last: {last.commit}, {last.date}, {last.machine}, {last.seconds:.0f} s"]
            lines += [f"      {line}" for line in last.figure[-3:]]
        parts.append("\n".join(lines))
    return "\n".join(parts)


def main(arguments: list[str]) -> int:
    proofs = read_proofs()
    if not arguments:
        print(list_proofs(proofs, read_rows()))
        return 0
    unknown = [name for name in arguments if name not in proofs]
    if unknown:
        print(
            f"There is no proof called {', '.join(unknown)}. There are: {', '.join(proofs)}",
            file=sys.stderr,
        )
        return 2
    for name in arguments:
        proof, commit = proofs[name], current_commit()
        install(proof.needs)
        code, lines, seconds = run_proof(proof)
        if code:
            print(f"{name} ended with status {code}: no figure is kept.", file=sys.stderr)
            return code
        machine = f"{os.cpu_count()} cores {platform.machine()}, Python {platform.python_version()}"
        date = datetime.now(UTC).strftime("%Y-%m-%d")
        command = " ".join(["python", *proof.command])
        keep_row(
            Row(name, commit, date, machine, round(seconds, 1), command, proof.figure_of(lines))
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
