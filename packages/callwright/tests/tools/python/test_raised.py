"""Exceptions of functions: which are about the values, and which show that the function is
broken.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from callwright.nouns.errors import ToolError
from callwright.tools.python.functions import tool_from_function
from callwright.tools.python.raised import failure_of


class NoSuchCity(Exception):
    """What a tool's author calls it."""


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        return error


def _evaluated(text: str) -> Any:
    try:
        return eval(text, {})
    except (SyntaxError, NameError) as error:
        return error


CITY = {"city": "London"}


@pytest.mark.parametrize(
    ("error", "arguments", "kind"),
    [
        (ValueError("unknown city"), CITY, "tool_error"),
        (ValueError("nothing is as it should be"), {}, "crashed"),
        (UnicodeError("not ASCII"), CITY, "tool_error"),
        (ToolError("nobody is logged in"), {}, "tool_error"),
        (NoSuchCity(), CITY, "tool_error"),
        (sqlite3.OperationalError("no such table: cities"), CITY, "crashed"),
        (sqlite3.OperationalError("no such column: London"), CITY, "tool_error"),
        (KeyError("London"), CITY, "tool_error"),
        (KeyError("results"), CITY, "crashed"),
        (IndexError("list index out of range"), {"place": 7}, "tool_error"),
        (IndexError("list index out of range"), CITY, "crashed"),
        (ZeroDivisionError("division by zero"), {"by": 0}, "tool_error"),
        (FileNotFoundError(2, "No such file", "city.txt"), {"path": "city.txt"}, "tool_error"),
        (ConnectionRefusedError(111, "Connection refused"), CITY, "crashed"),
        (RuntimeError("boom"), CITY, "crashed"),
        (RuntimeError("the city is not on the map"), CITY, "tool_error"),
        (Exception("boom"), CITY, "crashed"),
        (TypeError("unsupported operand type(s) for +: 'int' and 'str'"), CITY, "crashed"),
        (AttributeError("'NoneType' object has no attribute 'city'"), CITY, "crashed"),
        (NotImplementedError(), CITY, "crashed"),
        (RecursionError("maximum recursion depth exceeded"), CITY, "crashed"),
        (SystemExit("unknown city: London"), CITY, "crashed"),
        (KeyboardInterrupt(), CITY, "crashed"),
        (_read("<html>"), CITY, "crashed"),
        (_read("<html>"), {"text": "<html>"}, "tool_error"),
        (_evaluated("London calling"), {"expression": "London calling"}, "tool_error"),
        (_evaluated("tariff"), {"expression": "2 * tariff"}, "tool_error"),
        (_evaluated("tariff"), CITY, "crashed"),
    ],
)  # fmt: skip
def test_an_exception_is_about_the_values_or_shows_that_the_function_is_broken(
    error: BaseException, arguments: dict[str, Any], kind: str
) -> None:
    made = failure_of(error, weather, arguments)
    assert made.kind == kind, made.message
    assert not made.retryable


def weather() -> None:
    """The tool of which the exceptions are."""


def interrupts() -> NoReturn:
    raise KeyboardInterrupt


async def interrupts_the_loop() -> NoReturn:
    raise KeyboardInterrupt


def ends_the_task() -> NoReturn:
    raise asyncio.CancelledError


async def ends_its_own_task() -> NoReturn:
    raise asyncio.CancelledError


class Stopped(BaseException):
    """A library's own way out."""


async def leaves() -> NoReturn:
    raise Stopped


def recurses(depth: int = 0) -> int:
    return recurses(depth + 1)


@pytest.mark.parametrize(
    "function",
    [interrupts, interrupts_the_loop, ends_the_task, ends_its_own_task, leaves, recurses],
)
def test_what_a_function_raises_ends_nothing_but_its_call(function: Callable[..., Any]) -> None:
    made = asyncio.run(tool_from_function(function).run({}))
    assert made.failure is not None
    assert made.failure.kind == "crashed"


async def test_a_cancelled_call_ends_with_its_task() -> None:
    begun = asyncio.Event()

    async def waits() -> None:
        begun.set()
        await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(tool_from_function(waits).run({}))
        await begun.wait()
        task.cancel()
    assert task.cancelled()


@pytest.mark.parametrize("handler", ["asyncio", "python"])
def test_ctrl_c_in_the_middle_of_a_function_ends_the_run(handler: str) -> None:
    """Signals come to the main thread: the loop's handler lets the first pass as a cancellation and
    raises at the second; Python's own raises at once.
    """

    async def slow() -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    async def run() -> None:
        if handler == "python":
            signal.signal(signal.SIGINT, signal.default_int_handler)
        await tool_from_function(slow).run({})

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(run())
    finally:
        signal.signal(signal.SIGINT, before)


def fails_in_a_group(*causes: BaseException) -> Callable[..., Any]:
    async def look_up(city: str) -> str:
        async def fail(cause: BaseException) -> None:
            raise cause

        async with asyncio.TaskGroup() as outer, asyncio.TaskGroup() as inner:
            for cause in causes:
                inner.create_task(fail(cause))
            outer.create_task(asyncio.sleep(0))
        return city

    return look_up


@pytest.mark.parametrize(
    ("causes", "kind", "said", "not_done"),
    [
        ([ToolError("no such city")], "tool_error", "no such city", True),
        ([ValueError("no such city")], "tool_error", "ValueError: no such city", False),
        ([ToolError("a"), ToolError("b")], "tool_error", "a; b", True),
        (
            [AttributeError("a"), ToolError("b")],
            "tool_error",
            "AttributeError: a; b",
            False,
        ),
        ([AttributeError("a"), AttributeError("a")], "crashed", "AttributeError: a", False),
    ],
)
async def test_a_group_of_exceptions_is_what_it_holds(
    causes: list[Exception], kind: str, said: str, not_done: bool
) -> None:
    made = await tool_from_function(fails_in_a_group(*causes)).run({"city": "Oslo"})
    assert made.failure is not None
    assert (made.failure.kind, made.failure.message, made.failure.not_done) == (
        kind,
        said,
        not_done,
    )
