"""The programs of docs/typescript.md, run by Node with the packages from npm, between the real proxy
and a model that writes its calls into the text.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from callwright.proxy.session.settings import Settings
from tests.peers import installed, node, run
from tests.places import DOCS
from tests.proxy.playbook import JSON, text_stream, whole
from tests.proxy.upstream import Asked, Reply, proxy, upstream

PAGE = (DOCS / "typescript.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"^## ([^\n]*)\n\n```ts\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
TESTED = {
    "openai": "6.49.0",
    "ai": "6.0.326",
    "@ai-sdk/openai-compatible": "2.0.92",
    "langchain": "1.5.14",
    "@langchain/openai": "1.5.8",
    "@anthropic-ai/sdk": "1.13.0",
    "zod": "4.6.7",
}
CALL = '<tool_call>\n{"name": "getWeather", "arguments": {"City": "Paris"}}\n</tool_call>'
ANSWER = "It rains in Paris, so take a coat."


def install(folder: Path) -> None:
    _, npm = node()
    pinned = [f"{name}@{version}" for name, version in TESTED.items()]
    run(*npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", *pinned)


@pytest.fixture(scope="module")
def packages() -> Path:
    return installed("typescript", str(sorted(TESTED.items())), install)


def answers(asked: Asked) -> Reply:
    """A call in the text, with another spelling of tool and argument; words after the result."""
    has_result = any(message["role"] == "tool" for message in asked.json["messages"])
    pieces = ("It rains in Paris, ", "so take a coat.") if has_result else (CALL[:30], CALL[30:])
    if asked.json.get("stream"):
        return Reply([text_stream(*pieces)])
    return Reply([whole("".join(pieces))], headers=JSON)


async def run_program(program: str, packages: Path, folder: Path) -> str:
    """The output of a program, as a module beside the packages."""
    (folder / "node_modules").symlink_to(packages / "node_modules")
    path = folder / "program.mjs"
    path.write_text(program, encoding="utf-8")
    started = await asyncio.create_subprocess_exec(
        node()[0],
        str(path),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(120):
        out, err = await started.communicate()
    assert started.returncode == 0, err.decode()
    return out.decode()


@pytest.mark.parametrize("client", PROGRAMS)
async def test_a_program_of_the_page_runs_its_tool_and_streams_the_answer(
    client: str, packages: Path, tmp_path: Path
) -> None:
    async with (
        upstream(answers) as up,
        proxy(up.url, Settings(guided="off")) as (address, made),
    ):
        program = PROGRAMS[client].replace("http://localhost:8787", address)
        said = await run_program(program, packages, tmp_path)
    assert said.strip() == ANSWER
    first, second = (asked.json for asked in up.asked)
    assert first["stream"] is True
    results = [m["content"] for m in second["messages"] if m["role"] == "tool"]
    assert "It rains in Paris." in str(results)
    edited = [one for one in made.counters.records if one.outcome == "edited"]
    assert [one.sent[0].arguments for one in edited] == [{"city": "Paris"}]


def test_the_page_names_what_was_tested() -> None:
    assert len(PROGRAMS) == 4
    for name, version in TESTED.items():
        assert name == "zod" or (f"`{name}`" in PAGE and version in PAGE)
        assert name in PAGE.split("npm install", 1)[1].split("\n", 1)[0]
