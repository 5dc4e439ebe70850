"""Programs that a model wrote: what they can do, what they cannot, and when they are ended."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from benchmarks.reliability.sandbox import SPARE, played, programs
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.agent.execution.sandbox import ProgramError, Ran, Sandbox, to_json_value
from callwright.nouns.errors import MissingExtra

LIMIT = 0.5


async def ran(
    *codes: str, returned: Any = None, most: int = 2, seconds: float = LIMIT
) -> tuple[list[Ran], list[Any]]:
    """Programs in one session, and the calls they made."""
    calls: list[Any] = []

    async def call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        calls.append((name, args, kwargs))
        if isinstance(returned, Exception):
            raise returned
        return returned(*args, **kwargs) if callable(returned) else returned

    async with Sandbox(seconds=seconds) as sandbox:
        return [await sandbox.run(code, ("find",), call, most) for code in codes], calls


async def test_a_program_calls_what_it_is_offered_and_prints_what_comes_back() -> None:
    (done,), calls = await ran(
        "x = find('Oslo', n=[1, {'a': None}])\nprint(x['rows'][0], len(x))", returned={"rows": [7]}
    )
    assert done == Ran("7 1\n")
    assert calls == [("find", ("Oslo",), {"n": [1, {"a": None}]})]


async def test_variables_and_functions_stay_for_the_next_program() -> None:
    done, _ = await ran("x = 4\ndef twice(n):\n    return 2 * n", "print(twice(x))")
    assert [one.printed for one in done] == ["", "8\n"]


async def test_an_error_is_told_with_its_line_and_what_was_printed_before_and_the_session_goes_on() -> (
    None
):
    done, _ = await ran("x = 1\nprint('so far')\nx['a']", "print(x)", "x = (")
    assert (done[0].printed, done[0].stop) == ("so far\n", "error")
    assert "line 3" in done[0].why
    assert "TypeError" in done[0].why
    assert done[1] == Ran("1\n")
    assert "SyntaxError" in done[2].why


async def test_no_more_calls_than_it_may_make_whatever_it_catches() -> None:
    done, calls = await ran(
        "find()\nfind()\nprint('two')\nfind()",
        "for _ in range(9):\n    try:\n        find()\n    except Exception as e:\n       "
        " print(e)",
    )
    assert (done[0].printed, done[0].stop) == ("two\n", "calls")
    assert "2 calls at most" in done[0].why
    assert len(calls) == 4
    assert done[1].printed.count("2 calls at most") == 7


async def test_what_a_call_raises_for_the_program_is_raised_there_and_anything_else_comes_through() -> (
    None
):
    done, _ = await ran(
        "try:\n    find()\nexcept KeyError as e:\n    print('got', e)",
        returned=ProgramError("KeyError", "no"),
    )
    assert done[0].printed.startswith("got")
    with pytest.raises(RuntimeError, match="ours"):
        await ran("try:\n    find()\nexcept Exception:\n    pass", returned=RuntimeError("ours"))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("other()", "the functions are: find"),
        ("print(find)", "not defined"),
        ("find(float('nan'))", "no number"),
        ("find(b'x')", "bytes"),
        ("find(10 ** 4000)", "integer"),
        ("class A: pass\nfind(A())", "no JSON value"),
        ("find('x' * 2_000_000)", "1000000 characters"),
        ("import socket", "ask a tool"),
        ("open('/etc/passwd')", "ask a tool"),
        ("import datetime\ndatetime.datetime.now()", "ask a tool"),
    ],
)
async def test_what_it_may_not_is_said_where_it_tried(code: str, said: str) -> None:
    (done,), calls = await ran(code)
    assert done.stop == "error"
    assert said in done.why
    assert calls == []


async def test_dates_sets_and_paths_are_handed_over_as_json() -> None:
    code = (
        "import datetime\nfrom pathlib import Path\nfind({2, 1}, (3,), datetime.date(2026, 1, 2),"
        " Path('/a'))"
    )
    _, calls = await ran(code)
    assert calls == [("find", ([1, 2], [3], "2026-01-02", "/a"), {})]


async def test_chance_is_the_same_every_time() -> None:
    code = (
        "import random\nprint(random.random(), random.randint(1, 10 ** 9), hash('x'), {'b', 'a',"
        " 'c'})"
    )
    assert (await ran(code))[0] == (await ran(code))[0]


@pytest.mark.parametrize(
    ("code", "stop"),
    [
        ("while True:\n    pass", "time"),
        (
            (
                "while True:\n    try:\n        while True:\n            pass\n    except"
                " BaseException:\n        pass"
            ),
            "time",
        ),
        ("x = 'a' * 10 ** 10", "memory"),
        ("while True:\n    print('x' * 1000)", "output"),
        ("while True:\n    try:\n        other()\n    except Exception:\n        pass", "crash"),
    ],
)
async def test_a_program_ends_at_its_limits_and_the_next_one_begins_anew_where_that_cost_its_session(
    code: str, stop: str
) -> None:
    began = time.perf_counter()
    done, _ = await ran("x = 1", code, "print('next')", "print(x)")
    assert time.perf_counter() - began < LIMIT + 5
    assert done[1].stop == stop
    assert done[2] == Ran("next\n")
    assert done[3].stop == ("" if stop == "output" else "error")


async def test_waiting_for_a_call_is_not_the_programs_time() -> None:
    async def slow(name: str, args: Any, kwargs: Any) -> Any:
        await asyncio.sleep(0.3)
        return 1

    async with Sandbox(seconds=0.2) as sandbox:
        assert await sandbox.run("print(find() + find())", ("find",), slow, 2) == Ran("2\n")


async def test_a_run_that_is_cancelled_leaves_no_worker_behind() -> None:
    async def never(name: str, args: Any, kwargs: Any) -> Any:
        await asyncio.Event().wait()

    async with Sandbox(seconds=LIMIT) as sandbox:
        for code in ("find()", "while True:\n    pass"):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await sandbox.run(code, ("find",), never, 2)
        assert await sandbox.run("print(1)", (), never, 2) == Ran("1\n")


def test_where_the_library_is_missing_nothing_runs_a_program_in_its_place() -> None:
    code = """
import asyncio, sys
sys.modules["pydantic_monty"] = None
from callwright.agent.execution.sandbox import Sandbox
asyncio.run(Sandbox().__aenter__())
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False
    )
    assert MissingExtra.__name__ in done.stderr
    assert "packages/callwright[code]'" in done.stderr


SLOW = ("time", "memory", "output")


async def test_no_hostile_program_touches_a_canary_or_stays_beyond_its_limit(
    tmp_path: Path,
) -> None:
    """The quick kinds whole, of the bombs every fourth; benchmarks/reliability/sandbox.py plays all
    of them.
    """
    cases = programs()
    assert len(cases) >= 300
    bombs = [case for case in cases if case["kind"] in SLOW]
    rows = await played(
        [*(c for c in cases if c["kind"] not in SLOW), *bombs[::4]], LIMIT, tmp_path
    )
    assert [(row["code"], row["touched"]) for row in rows if row["touched"]] == []
    assert [
        row["code"] for row in rows if row["seconds"] > LIMIT + SPARE and row["kind"] in SLOW
    ] == []


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(JSON)
def test_what_is_json_is_handed_over_as_it_is(value: Any) -> None:
    assert to_json_value(value) == value


@settings(max_examples=15)
@given(st.lists(JSON, min_size=1, max_size=5))
def test_any_result_goes_in_and_comes_back_as_it_was(values: list[Any]) -> None:
    async def back() -> list[Any]:
        left = [*values]
        seen: list[Any] = []

        async def call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            seen.extend(args)
            return left.pop(0) if name == "get" else None

        async with Sandbox(seconds=2) as sandbox:
            for _ in values:
                assert (await sandbox.run("put(get())", ("get", "put"), call, 2)).stop == ""
        return seen

    assert asyncio.run(back()) == values
