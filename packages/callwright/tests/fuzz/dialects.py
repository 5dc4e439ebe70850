"""Fuzzing the parser of replies: ``python tests/fuzz/dialects.py -runs=100000`` (atheris;
libFuzzer's options; add ``-len_control=0 -max_len=600`` for long replies from the start).

``python tests/fuzz/dialects.py --blind 1000000 [seed]`` makes random inputs, ten times as fast.

Each input is one reply, built from markers, scraps of JSON and raw bytes, and cut into pieces.
Checked: nothing is raised, nothing is lost, cut and whole are the same, what stops is no object,
and no reply takes longer than a second.
"""

from __future__ import annotations

import contextlib
import random
import sys
import time
from itertools import pairwise

import atheris

BLIND = "--blind" in sys.argv
with (
    contextlib.nullcontext()
    if BLIND
    else atheris.instrument_imports(include=["callwright.parsing", "callwright.jsontext"])
):
    from callwright.nouns.types import Tool, ToolCall
    from callwright.parsing import DIALECTS, CallPiece, Parser, TextPiece, write_calls

TOOLS = (
    Tool(
        "f",
        input_schema={
            "type": "object",
            "properties": {"a": {"type": "string"}, "n": {"type": "integer"}},
        },
    ),
    Tool(
        "get_weather",
        input_schema={"type": "object", "properties": {"city": {"type": "string"}, "x": {}}},
    ),
    Tool("Find (it)!", input_schema={"type": "object", "properties": {"a": {"type": "string"}}}),
)
_CALLS = [
    ToolCall("1", "f", {"a": 'x"}</tool_call>', "n": 1}),
    ToolCall("2", "get_weather", {"city": "Rome", "x": [{}]}),
    ToolCall("3", "Find (it)!", {}),
]
_WHOLE = [write_calls(_CALLS, name) for name in DIALECTS]
_SCRAPS = sorted(
    {w[i : i + n] for w in _WHOLE for n in (1, 7, 16, 40) for i in range(0, len(w), 5)}
)
SECONDS = 1.0


def reply(data: atheris.FuzzedDataProvider) -> str:
    parts: list[str] = []
    for _ in range(data.ConsumeIntInRange(0, 24)):
        kind = data.ConsumeIntInRange(0, 9)
        if kind < 5:
            parts.append(_SCRAPS[data.ConsumeIntInRange(0, len(_SCRAPS) - 1)])
        elif kind < 7:
            whole = _WHOLE[data.ConsumeIntInRange(0, len(_WHOLE) - 1)]
            start = data.ConsumeIntInRange(0, len(whole))
            parts.append(whole[start : data.ConsumeIntInRange(start, len(whole))])
        elif kind < 9:
            parts.append(data.ConsumeUnicodeNoSurrogates(data.ConsumeIntInRange(0, 8)))
        else:
            parts.append(
                _SCRAPS[data.ConsumeIntInRange(0, len(_SCRAPS) - 1)] * data.ConsumeIntInRange(1, 64)
            )
    return "".join(parts)


def pieces(text: str, cuts: list[int], unknown: bool) -> list[TextPiece | CallPiece]:
    parser = Parser(TOOLS, unknown=unknown)
    places = [0, *sorted(cuts), len(text)]
    found = [p for a, b in pairwise(places) for p in parser.feed(text[a:b])] + parser.close()
    merged: list[TextPiece | CallPiece] = []
    for piece in found:
        last = merged[-1] if merged else None
        if (
            isinstance(piece, TextPiece)
            and isinstance(last, TextPiece)
            and last.reasoning == piece.reasoning
        ):
            merged[-1] = TextPiece(last.text + piece.text, last.reasoning)
        else:
            merged.append(piece)
    return merged


def one_input(raw: bytes) -> None:
    data = atheris.FuzzedDataProvider(raw)
    cuts = [data.ConsumeIntInRange(0, 2000) for _ in range(data.ConsumeIntInRange(0, 4))]
    unknown = data.ConsumeBool()
    text = reply(data)
    started = time.process_time()
    whole = pieces(text, [], unknown)
    if time.process_time() - started > SECONDS:
        raise AssertionError(f"slow: {text!r}")
    if "".join(p.text if isinstance(p, TextPiece) else p.raw for p in whole) != text:
        raise AssertionError(f"text lost: {text!r} became {whole}")
    for piece in whole:
        if (
            isinstance(piece, CallPiece)
            and piece.truncated
            and not isinstance(piece.call.arguments, str)
        ):
            raise AssertionError(f"completed: {text!r} became {piece}")
    places = [c % (len(text) + 1) for c in cuts]
    for at in (
        (places, list(range(len(text)))) if raw[-1:] < b"\x20" else (places,)
    ):  # by characters now and then
        if pieces(text, at, unknown) != whole:
            raise AssertionError(f"cut at {at[:8]} is not the same: {text!r}")


def blind(runs: int, seed: int = 0) -> None:
    """This many random inputs. An input of number i has the seed i, so that it can be had again."""
    started = time.monotonic()
    for i in range(seed, seed + runs):
        source = random.Random(i)
        one_input(source.randbytes(source.choice((16, 64, 256))))
        if i % 10_000 == 9_999:
            sys.stdout.write(f"{i + 1 - seed} inputs, {time.monotonic() - started:.0f} s\n")
            sys.stdout.flush()
    sys.stdout.write(f"done: {runs} inputs from seed {seed}, {time.monotonic() - started:.0f} s\n")


if __name__ == "__main__":
    if BLIND:
        blind(*(int(a) for a in sys.argv[2:]))
    else:
        atheris.Setup(sys.argv, one_input)
        atheris.Fuzz()
