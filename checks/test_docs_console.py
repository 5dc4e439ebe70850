"""Every console block of the documentation runs as it is written, or says why it does not."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from docs_console import Block, Command, list_missing, read_blocks, read_commands
from draw_pictures import MY_TOOLS, own_environment
from scripted_endpoint import start_endpoint

ROOT = Path(__file__).resolve().parent.parent
WORLD = Path(__file__).resolve().parent / "docs_world"
RECORDS = {"lab.md", "lab-answer.md", "lab-calls.md", "lab-parts.md", "benchmarks.md", "papers.md"}
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if p.name not in RECORDS),
]
BLOCKS = [
    pytest.param(block, page, id=f"{page.name}-{block.line}")
    for page in PAGES
    for block in read_blocks(page)
    if block.commands
]
REASONS = [one for one in BLOCKS if one.values[0].mark]
RUN = [page for page in PAGES if any(b.commands and not b.mark for b in read_blocks(page))]


def run_session(commands: list[Command], folder: Path, port: int) -> list[tuple[int, str]]:
    """Type the commands into one shell, with our Python and the scripted endpoint as the model. The
    status and the output of each.
    """
    ports = {number: str(free_port()) for number in ("9000", "8787")}
    typed = re.sub(
        r"\b(9000|8787)\b",
        lambda found: ports[found[0]],
        "\n".join(
            f"printf '\\n@@begin\\n'; true\n{one.typed}\nprintf '\\n@@end %d\\n' $?"
            for one in commands
        ),
    ).replace("callwright proxy ", f"callwright proxy --port {ports['8787']} ")
    environment = {
        **own_environment(folder / ".home"),
        "CALLWRIGHT_MODEL": f"http://127.0.0.1:{port}/v1#scripted",
        "CALLWRIGHT_MODE": "schema",
        "PATH": os.pathsep.join((str(folder / ".bin"), os.environ["PATH"])),
    }
    done = subprocess.run(
        ["bash", "-c", f"exec 2>&1\ntrap 'kill $(jobs -p) 2>/dev/null' EXIT\n{typed}\n"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    parts = re.findall(r"^@@begin\n(.*?)^@@end (\d+)$", done.stdout, re.DOTALL | re.MULTILINE)
    assert len(parts) == len(commands), done.stdout
    return [(int(status), said) for said, status in parts]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port: int = held.getsockname()[1]
    return port


def furnish(folder: Path) -> None:
    """The files that the pages speak of."""
    for file in WORLD.iterdir():
        shutil.copy(file, folder)
    (folder / "examples").symlink_to(ROOT / "examples")
    found = MY_TOOLS.search((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"))
    assert found is not None
    (folder / "my_tools.py").write_text(found[1], encoding="utf-8")
    (folder / ".bin").mkdir()
    for name, words in (("callwright", "-P -m callwright"), ("python", "")):
        program = folder / ".bin" / name
        program.write_text(f"#!/bin/sh\nexec '{sys.executable}' {words} \"$@\"\n")
        program.chmod(0o755)


@pytest.mark.skipif(
    not (shutil.which("bash") and shutil.which("curl")), reason="needs bash and curl"
)
@pytest.mark.parametrize("page", RUN, ids=lambda p: p.name)
def test_what_a_page_has_the_reader_type_does_what_it_shows(page: Path, tmp_path: Path) -> None:
    furnish(tmp_path)
    commands = [one for block in read_blocks(page) if not block.mark for one in block.commands]
    server = start_endpoint()
    try:
        answers = run_session(commands, tmp_path, server.server_port)
    finally:
        server.shutdown()
        server.server_close()
    for command, (status, output) in zip(commands, answers, strict=True):
        said = f"{page.name}: $ {command.typed}\n{output}"
        assert status == 0, said
        assert list_missing(command.shown, output) == [], said


@pytest.mark.parametrize(("block", "page"), REASONS)
def test_a_block_that_is_not_run_says_why_or_by_whom(block: Block, page: Path) -> None:
    if block.mark == "run by":
        text = (ROOT / block.why).read_text(encoding="utf-8")
        assert str(page.relative_to(ROOT)) in text, f"{block.why} does not read {page.name}"
    else:
        assert len(block.why.split()) >= 3


def test_every_block_of_commands_is_a_console_block() -> None:
    """Otherwise a test that reads console blocks would miss it."""
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
        assert not re.findall(r"^ {4,}(?:\$ |callwright |pip )", text, re.M), page.name


def test_commands_are_read_with_what_feeds_them_and_what_is_shown() -> None:
    read = read_commands("$ a 'one\ntwo' \\\n  three\nout\n$ cat <<END\nx\nEND\ny\n# no command\n")
    assert read == [
        Command("a 'one\ntwo' \\\n  three", ("out",)),
        Command("cat <<END\nx\nEND", ("y", "# no command")),
    ]


def test_shown_lines_are_looked_for_in_order() -> None:
    assert list_missing(("a …", "…", "c"), "a  1\nb\nc") == []
    assert list_missing(("c", "a …"), "a 1\nc") == ["a …"]
