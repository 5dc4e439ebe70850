"""CPU seconds per megabyte of large replies, 1 MB and 10 MB of each kind: ``python
tests/fuzz/large_replies.py``.

Reading is linear if the last column is the same for both sizes.
"""

from __future__ import annotations

import sys
import time

from callwright.nouns.types import Tool
from callwright.parsing import Parser

TOOLS = (Tool("f"), Tool("get_weather"))
CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>\n'
KINDS = {
    "prose": ("The quick brown fox, as far as we know.\n", ""),
    "data that is no call": ('{"a": [1, 2, {"b": "x"}]} ', ""),
    "braces": ("{", ""),
    "tags left open": ("<tool_call>{", ""),
    "many calls": (CALL, ""),
    "one call": ("x y, ", '<tool_call>{"name": "f", "arguments": {"a": "'),
}


def seconds(text: str, step: int) -> float:
    parser = Parser(TOOLS)
    started = time.process_time()
    for at in range(0, len(text), step):
        parser.feed(text[at : at + step])
    parser.close()
    return time.process_time() - started


if __name__ == "__main__":
    for name, (scrap, before) in KINDS.items():
        for size in (1_000_000, 10_000_000):
            text = before + scrap * (size // len(scrap)) + ('"}}</tool_call>' if before else "")
            spent = seconds(text, 4096)
            sys.stdout.write(
                f"{name:22} {len(text) / 1e6:5.1f} MB {spent:7.2f} s {spent * 1e6 / len(text):.3f}"
                " s/MB\n"
            )
            sys.stdout.flush()
