"""Draws the pictures of the README from real requests.

    python checks/draw_pictures.py            write docs/pictures
    python checks/draw_pictures.py --check    list the pictures that are not what it would draw

``proxy.svg`` is one request through ``callwright proxy`` before ``examples/proxy/small_model.py``,
as the proxy's own page has it. ``gateway.svg`` is one call of the official MCP client through
``callwright gateway``. ``run.svg`` is what ``callwright run`` prints before a scripted endpoint. Ids and
durations differ from run to run, tokens with every word of a prompt: they are left out.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import Request, urlopen

from scripted_endpoint import start_endpoint

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "pictures"
ASKED = {
    "model": "small-drift",
    "messages": [{"role": "user", "content": 'Weather in "Paris" for a day?'}],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                    "required": ["city", "days"],
                },
            },
        }
    ],
}
ROOMS = '''from callwright import tool
from callwright.nouns.types import READ


@tool(effects=READ)
def find_room(day: str, seats: int) -> str:
    """Find a free room."""
    return f"Fjord is free on {day} and seats {seats + 4}."
'''
WRONG = {"Seats": "8", "day": "2026-12-01"}
QUESTION = "How many hammers are there?"
MY_TOOLS = re.compile(
    r"```python\n(from callwright import READ_LOCAL, ToolError, tool\n.*?)```", re.DOTALL
)

VARYING = re.compile(r":? ?\d+ tokens in, \d+ out, [\d.]+ s|, \d+ \+ \d+ tokens, [\d.]+ s")
LINE, CHARACTER, MARGIN = 20, 8.4, 16
STYLE = """<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d6e2e8; white-space: pre }
.title { fill: #7fd1c7; font-weight: bold } .wrong { fill: #f2a488 } .right { fill: #9fdc8c }
.dim { fill: #8ba0aa } .box { fill: #17252c; stroke: #35505b } .page { fill: #0f1a1f }
</style>"""


def main(arguments: Sequence[str]) -> int:
    drawn = draw_pictures()
    if "--check" in arguments:
        stale = list_stale(drawn)
        print("\n".join(stale))
        return bool(stale)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in drawn.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


def draw_pictures() -> dict[str, str]:
    """File name -> SVG of every picture."""
    return {
        "proxy.svg": draw_request(record_request()),
        "gateway.svg": draw_boxes(record_gateway_call(), "One call through the MCP gateway"),
        "run.svg": draw_lines(record_run(), "In a terminal: a run with one tool of your own"),
    }


def list_stale(drawn: dict[str, str]) -> list[str]:
    """The names of pictures that are missing or not as drawn."""
    return [
        name
        for name, text in drawn.items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]


@contextmanager
def running(words: Sequence[str], folder: Path) -> Iterator[str]:
    """A program that prints its address first; the address. It ends with the block."""
    process = subprocess.Popen(
        [sys.executable, "-P", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=own_environment(folder),
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://(?:localhost|127\.0\.0\.1):\d+", line)
        if found is None:
            raise RuntimeError(f"{' '.join(words)} printed no address: {line}")
        yield found[0]
    finally:
        process.terminate()  # an interrupt is ignored below a shell that runs in the background
        process.communicate()


def own_environment(folder: Path) -> dict[str, str]:
    """The environment with settings, state and cache of its own in a folder."""
    places = {f"XDG_{kind}_HOME": str(folder) for kind in ("CACHE", "STATE", "CONFIG")}
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CALLWRIGHT_")}
    return {**kept, **places, "COLUMNS": "100", "NO_COLOR": "1"}


def record_request() -> dict[str, Any]:
    """What the proxy's page says of one request."""
    model = str(ROOT / "examples" / "proxy" / "small_model.py")
    with TemporaryDirectory() as name:
        folder = Path(name)
        with running([model, "--port", "0"], folder) as upstream:
            proxy = ["-m", "callwright", "proxy", "--upstream", f"{upstream}/v1", "--port", "0"]
            with running(proxy, folder) as address:
                body = json.dumps(ASKED).encode()
                urlopen(Request(f"{address}/v1/chat/completions", body)).read()
                (record,) = json.load(urlopen(f"{address}/callwright/requests.json"))
    return dict(record)


def record_gateway_call() -> list[tuple[str, list[str], str]]:
    """The boxes of one call: what the client sends, what the gateway changes, what it returns."""
    from mcp import Client, StdioServerParameters

    async def call(folder: Path) -> Any:
        started = StdioServerParameters(
            command=sys.executable,
            args=["-P", "-m", "callwright", "gateway", "--servers", str(folder / "mcp.json")],
            env=own_environment(folder),
        )
        async with Client(started) as client:
            (tool,) = (await client.list_tools()).tools
            return tool.name, await client.call_tool(tool.name, WRONG)

    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rooms.py").write_text(ROOMS, encoding="utf-8")
        servers = {"mcpServers": {"rooms": {"python": str(folder / "rooms.py")}}}
        (folder / "mcp.json").write_text(json.dumps(servers), encoding="utf-8")
        tool, result = asyncio.run(call(folder))
    edits = result.meta["callwright/gateway"]["edits"]
    return [
        ("called: what the agent's model sends", [write_call({"tool": tool, "arguments": WRONG})], "wrong"),
        ("edits: each with its rule, also in _meta", [write_edit(edit) for edit in edits], "dim"),
        ("returned: what the tool says", [part.text for part in result.content], "right"),
    ]  # fmt: skip


def record_run() -> list[str]:
    """The lines that a run with the tutorial's tool prints, without durations."""
    tutorial = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    found = MY_TOOLS.search(tutorial)
    assert found is not None, "docs/tutorial.md defines no tool"
    server = start_endpoint()
    try:
        with TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "my_tools.py").write_text(found[1], encoding="utf-8")
            model = f"http://127.0.0.1:{server.server_port}/v1#scripted"
            words = [
                "run",
                QUESTION,
                "--tools",
                "my_tools.py",
                "--model",
                model,
                "--mode",
                "schema",
            ]
            done = subprocess.run(
                [sys.executable, "-P", "-m", "callwright", *words],
                cwd=folder,
                env=own_environment(folder),
                capture_output=True,
                text=True,
                check=True,
            )
    finally:
        server.shutdown()
        server.server_close()
    told = [VARYING.sub("", line) for line in done.stderr.splitlines()]
    return [f'$ callwright run "{QUESTION}" --tools my_tools.py', *told, "", done.stdout.strip()]


def draw_request(record: dict[str, Any]) -> str:
    """The record of a request as four boxes: raw, parsed, edits, sent."""
    (parsed,), (sent,) = record["parsed"], record["sent"]
    boxes = [
        ("raw: what the model wrote", record["raw"].splitlines(), "wrong"),
        (f"parsed: format {record['dialect']}", [write_call(parsed)], ""),
        ("edits: each with its rule", [write_edit(edit) for edit in record["edits"]], "dim"),
        ("sent: what the client gets", [write_call(sent)], "right"),
    ]
    return draw_boxes(boxes, "One request through the proxy")


def draw_boxes(boxes: Sequence[tuple[str, list[str], str]], title: str) -> str:
    """Boxes of lines, one above the other, each with its title and the kind of its lines."""
    wide = max(len(line) for _, lines, _ in boxes for line in lines) * CHARACTER + 4 * MARGIN
    parts, top = [], float(MARGIN)
    for name, lines, kind in boxes:
        if parts:
            parts.append(f'<text x="{2.5 * MARGIN:g}" y="{top - 3:g}" class="title">↓</text>')
        tall = (len(lines) + 1) * LINE + MARGIN
        parts.append(
            f'<rect class="box" x="{MARGIN}" y="{top:g}" width="{wide - 2 * MARGIN:g}"'
            f' height="{tall}" rx="8"/>'
        )
        parts += write_lines([(name, "title"), *((line, kind) for line in lines)], top)
        top += tall + LINE
    return frame(parts, wide, top - LINE + MARGIN, title)


def draw_lines(lines: Sequence[str], title: str) -> str:
    """Lines as a terminal shows them; commands, edits and answers stand out."""
    kinds = [
        "title" if line.startswith("$")
        else "wrong" if " edit " in line
        else "right" if "✓" in line or at == len(lines) - 1
        else ""
        for at, line in enumerate(lines)
    ]  # fmt: skip
    wide = max(map(len, lines)) * CHARACTER + 4 * MARGIN
    parts = write_lines(list(zip(lines, kinds, strict=True)), 0)
    return frame(parts, wide, len(lines) * LINE + 2 * MARGIN, title)


def write_lines(lines: Sequence[tuple[str, str]], top: float) -> list[str]:
    return [
        f'<text x="{2 * MARGIN}" y="{top + MARGIN + 8 + at * LINE:g}"'
        + (f' class="{kind}"' if kind else "")
        + f">{escape(line, quote=False)}</text>"
        for at, (line, kind) in enumerate(lines)
    ]


def frame(parts: Sequence[str], wide: float, tall: float, title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {tall:g}"'
        f' width="{wide:g}" role="img">\n<title>{escape(title)}</title>\n{STYLE}\n'
        f'<rect class="page" width="100%" height="100%" rx="10"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def write_call(call: dict[str, Any]) -> str:
    arguments = ", ".join(f"{key}={json.dumps(one)}" for key, one in call["arguments"].items())
    return f"{call['tool']}({arguments})"


def write_edit(edit: dict[str, Any]) -> str:
    before, after = json.dumps(edit["before"]), json.dumps(edit["after"])
    return f"{edit['rule']}: {before} → {after}  ({edit['path']})"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
