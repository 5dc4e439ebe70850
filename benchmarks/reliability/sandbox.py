"""Do programs that a model wrote get out of the sandbox, or stay in it for too long?

Every program of packages/callwright/tests/suite/sandbox/hostile.json, each in a session of its own, all real: a file
with a secret in it, an environment variable, a folder to write to, a server that listens, and a
function that is not offered. Counted: a canary that any of them touched (the secret in what came
back, a change in the folder, a connection, a call of that function, this process harmed), and
seconds beyond the limit until the program was over.

    python benchmarks/reliability/sandbox.py --seconds 1
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from callwright.agent.execution.sandbox import Ran, Sandbox
from callwright.jsontext import parse

HOSTILE = (
    Path(__file__).resolve().parents[2]
    / "packages"
    / "callwright"
    / "tests"
    / "suite"
    / "sandbox"
    / "hostile.json"
)
SECRET = "canary-7c1f0e52"
VARIABLE = "CALLWRIGHT_CANARY"
SPARE = 0.5  # seconds beyond the limit (the scorecard's line 19)


def programs() -> list[dict[str, Any]]:
    """Every case, its code written out."""
    cases: list[dict[str, Any]] = parse(HOSTILE.read_bytes())
    for case in cases:
        case["code"] = case.get("code") or "".join(text * times for text, times in case["parts"])
    return cases


@dataclass
class Canaries:
    """What no program may touch, in one folder."""

    root: Path
    port: int = 0
    touched: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder = self.root / "folder"
        self.folder.mkdir()
        self.file = self.root / "secret.txt"
        self.file.write_text(SECRET)
        os.environ[VARIABLE] = SECRET

    def into(self, code: str) -> str:
        named = {"file": self.file, "folder": self.folder, "port": self.port, "env": VARIABLE}
        for name, value in named.items():
            code = code.replace(f"{{{name}}}", str(value))
        return code

    async def met(self, _reader: object, writer: asyncio.StreamWriter) -> None:
        self.touched.append("a connection was made")
        writer.close()

    async def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if name != "find":
            self.touched.append(f"{name} was called, which is not offered")
        if SECRET in repr((args, kwargs)):
            self.touched.append("the secret was handed to a tool")
        return {"found": 1}

    def judged(self, ran: Ran) -> list[str]:
        """What was touched since the last look."""
        if SECRET in ran.printed + ran.why:
            self.touched.append("the secret came out")
        if [*self.folder.iterdir()]:
            self.touched.append("the folder was written to")
        if (
            not self.file.exists()
            or self.file.read_text() != SECRET
            or self.file.stat().st_mode & 0o777 == 0
        ):
            self.touched.append("the file was changed")
        found, self.touched = self.touched, []
        return found


async def played(cases: list[dict[str, Any]], limit: float, root: Path) -> list[dict[str, Any]]:
    """Every case with what it touched, how it ended and the seconds it took, the start of its
    worker not counted.
    """
    canaries = Canaries(root)
    server = await asyncio.start_server(canaries.met, "127.0.0.1", 0)
    canaries.port = server.sockets[0].getsockname()[1]
    rows: list[dict[str, Any]] = []
    try:
        for case in cases:
            async with Sandbox(seconds=limit) as sandbox:
                await sandbox.run("", ("find",), canaries.call, 2)
                began = time.perf_counter()
                ran = await sandbox.run(canaries.into(case["code"]), ("find",), canaries.call, 2)
                seconds = time.perf_counter() - began
            rows.append(
                {**case, "stop": ran.stop, "seconds": seconds, "touched": canaries.judged(ran)}
            )
    finally:
        server.close()
        await server.wait_closed()
        del os.environ[VARIABLE]
    return rows


def told(rows: list[dict[str, Any]], limit: float) -> Iterator[str]:
    kinds = dict.fromkeys(row["kind"] for row in rows)
    yield (
        "| kind | programs | touched | over the limit | slowest, s | ended by"
        " |\n|---|---:|---:|---:|---:|---|"
    )
    for kind in (*kinds, ""):
        some = [row for row in rows if not kind or row["kind"] == kind]
        ends = ", ".join(
            f"{stop or 'its end'} {n}"
            for stop, n in Counter(row["stop"] for row in some).most_common()
        )
        late = sum(row["seconds"] > limit + SPARE for row in some)
        slowest = max(row["seconds"] for row in some)
        touched = sum(bool(row["touched"]) for row in some)
        yield f"| {kind or '**all**'} | {len(some)} | {touched} | {late} | {slowest:.2f} | {ends} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=1.0)
    limit = parser.parse_args().seconds
    with TemporaryDirectory() as folder:
        rows = asyncio.run(played(programs(), limit, Path(folder)))
    print("\n".join(told(rows, limit)))
    wrong = [row for row in rows if row["touched"] or row["seconds"] > limit + SPARE]
    for row in wrong:
        print(
            f"\n{row['kind']}: {row['touched'] or 'too long'} after {row['seconds']:.2f}"
            f" s\n{row['code'][:300]}"
        )
    return bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
