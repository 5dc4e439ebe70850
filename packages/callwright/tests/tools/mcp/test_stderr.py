from __future__ import annotations

import asyncio
import os
import sys

from callwright.tools.mcp.stderr import keep_stderr


async def test_a_program_may_write_any_amount_and_its_last_words_are_kept() -> None:
    code = "import sys; sys.stderr.write('x' * 5_000_000); sys.stderr.write('no key\\n')"
    async with keep_stderr() as stderr:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-c", code, stderr=stderr.file
        )
        assert await process.wait() == 0
        told = stderr.read()
    assert told.endswith("no key")
    assert len(told) <= 1_500


async def test_nothing_was_written() -> None:
    async with keep_stderr() as stderr:
        assert stderr.read() == ""
        os.write(stderr.file.fileno(), b"\xffone")
        assert stderr.read() == "\ufffdone"
