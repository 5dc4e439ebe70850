"""The console blocks of the documentation: what a reader types, and what is shown of the output.

A block is run by ``test_docs_console.py`` unless a comment stands before it:

* ``<!-- not run: why -->``: it cannot run here, for this reason;
* ``<!-- run by: path -->``: the test in that file runs it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>not run|run by): (?P<why>[^>]*?) -->\n)?^```(?:console|bash|sh|shell)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Command:
    """One command as it is typed, with the lines that the page shows of its output."""

    typed: str
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    commands: tuple[Command, ...]
    mark: str = ""
    why: str = ""
    line: int = 0


@dataclass(slots=True)
class _Reading:
    """A block while it is read: what is typed so far, and whether it goes on."""

    typed: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    ending: str = ""

    def goes_on(self) -> bool:
        text = "\n".join(self.typed)
        quoted = re.sub(r"\\.", "", text)
        return bool(self.ending) or text.endswith("\\") or quoted.count("'") % 2 == 1


def read_blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            tuple(read_commands(found["text"])),
            found["mark"] or "",
            (found["why"] or "").strip(),
            text.count("\n", 0, found.start("text")),
        )
        for found in BLOCK.finditer(text)
    ]


def read_commands(text: str) -> list[Command]:
    """The commands of a block: lines behind ``$``, with the lines that continue or feed them."""
    found: list[_Reading] = []
    for line in text.splitlines():
        now = found[-1] if found else None
        if now and not now.shown and now.goes_on():
            now.typed.append(line)
            now.ending = "" if line == now.ending else now.ending
        elif line.startswith("$ "):
            fed = re.search(r"<<'?(\w+)'?", line)
            found.append(_Reading([line[2:]], ending=fed[1] if fed else ""))
        elif now:
            now.shown.append(line)
    return [Command("\n".join(one.typed), tuple(one.shown)) for one in found]


def list_missing(shown: tuple[str, ...], output: str) -> list[str]:
    """The shown lines that the output lacks, in this order. ``…`` stands for anything; spaces and
    tabs count as one.
    """
    lines = [" ".join(line.split()) for line in output.splitlines()]
    missing = []
    at = 0
    for line in shown:
        words = " ".join(line.split())
        if words in ("", "…"):
            continue
        pattern = re.compile(".*".join(re.escape(part.strip()) for part in words.split("…")))
        hit = next((i for i in range(at, len(lines)) if pattern.fullmatch(lines[i])), None)
        if hit is None:
            missing.append(line)
        else:
            at = hit + 1
    return missing
