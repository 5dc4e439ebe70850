"""Converts an exception of a function into a failure: it refused its values, or it broke in its own
code.

The class of an exception decides this for Python's own classes. A function raises ``ValueError``
for a wrong value; with ``NameError`` or ``SystemExit`` it never got as far as judging one. If a
class leaves it open, a message that names an argument or its value concerns that argument.
"""

from __future__ import annotations

import asyncio
import builtins
import json
import re
import signal
import threading
from collections.abc import Callable
from typing import Any

from callwright.nouns.errors import Failure, FailureKind, ToolError
from callwright.nouns.types import JsonObject, iter_scalars
from callwright.tools.python.signatures import skip_partials

_MESSAGE_CHARS = 500
_REFUSING = (ValueError, AssertionError)
_OF_NUMBERS = (ArithmeticError, IndexError)  # what a number can bring about that is out of range
_NEVER = (RecursionError, MemoryError, AttributeError, ImportError, SystemError)


class Ended(Exception):
    """A function in a thread was ended by what is no Exception (``SystemExit``,
    ``KeyboardInterrupt``): no key was pressed in a thread, and nobody but the function may be ended
    by it.
    """

    def __init__(self, by: BaseException) -> None:
        super().__init__(str(by))
        self.by = by


def failure_of(
    error: BaseException, function: Callable[..., Any], arguments: JsonObject
) -> Failure:
    """The failure that an exception of ``function``, called with ``arguments``, is: "tool_error"
    where it may be about these, else "crashed". The traceback is nobody's business. A group of
    exceptions, as a ``TaskGroup`` raises it, is all that it holds; nothing was done only if each of
    these says so.
    """
    raised = error.by if isinstance(error, Ended) else error
    if isinstance(raised, BaseExceptionGroup):
        found = [failure_of(one, function, arguments) for one in raised.exceptions]
        kind: FailureKind = (
            "tool_error" if any(one.kind == "tool_error" for one in found) else "crashed"
        )
        said = "; ".join(dict.fromkeys(one.message for one in found))
        return Failure(kind, said[:_MESSAGE_CHARS], not_done=all(one.not_done for one in found))
    if isinstance(raised, ToolError):
        return Failure(
            "tool_error",
            (str(raised) or "the tool refused the call")[:_MESSAGE_CHARS],
            not_done=True,
        )
    name = type(raised).__name__
    message = f"{name}: {raised}" if str(raised) else name
    kind = "tool_error" if _is_refusal(raised, function, arguments) else "crashed"
    return Failure(kind, message[:_MESSAGE_CHARS])


def is_ended_from_outside(error: BaseException) -> bool:
    """Return True if an exception only passes through a function: its task is cancelled, its
    coroutine is closed, or the user pressed Ctrl-C. A ``CancelledError`` in a task that nobody
    cancels is the function's own, as that of a task inside it is.
    """
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is None or task.cancelling() > 0
    return isinstance(error, GeneratorExit) or is_interrupt(error)


def is_interrupt(error: BaseException) -> bool:
    """Return True if the user pressed Ctrl-C, rather than the function raising the same exception.
    Signals reach only the main thread, through a handler. The handler stands in the traceback
    unless it is Python's own.
    """
    if (
        not isinstance(error, KeyboardInterrupt)
        or threading.current_thread() is not threading.main_thread()
    ):
        return False
    handler: Any = skip_partials(signal.getsignal(signal.SIGINT))
    if handler is signal.default_int_handler:
        return True  # it leaves no trace: better stopped once too often than not at all
    code = getattr(handler, "__code__", None)
    place = error.__traceback__
    while place is not None and place.tb_frame.f_code is not code:
        place = place.tb_next
    return place is not None


def _is_refusal(error: BaseException, function: Callable[..., Any], arguments: JsonObject) -> bool:
    """Return True if an exception may concern the values of the call. There must be values, and the
    kind of exception must be one that judges them.
    """
    if not arguments or not isinstance(error, Exception) or isinstance(error, _NEVER):
        return False
    if isinstance(error, json.JSONDecodeError | SyntaxError | NameError):  # of a text that was read
        return _is_of_text(error, arguments)
    if isinstance(error, _REFUSING) or _is_its_own(type(error), function):
        return True
    if isinstance(error, _OF_NUMBERS) and any(
        isinstance(value, int | float) for value in iter_scalars(arguments)
    ):
        return True
    return _names_any(str(error), arguments)


def _is_its_own(kind: type[BaseException], function: Callable[..., Any]) -> bool:
    """Return True if the exception class belongs to this function: it is defined in the same
    package, not in a library.
    """
    function = skip_partials(function)
    home = getattr(function, "__module__", None) or type(function).__module__
    return (
        kind.__module__ != builtins.__name__
        and kind.__module__.partition(".")[0] == home.partition(".")[0]
    )


def _is_of_text(
    error: json.JSONDecodeError | SyntaxError | NameError, arguments: JsonObject
) -> bool:
    """Return True if the text that could not be read as JSON or as a program stands in an
    argument.
    """
    if isinstance(error, NameError):
        read = error.name or ""
    else:
        read = (error.doc if isinstance(error, json.JSONDecodeError) else error.text) or ""
    return bool(read.strip()) and any(
        isinstance(v, str) and read.strip() in v for v in iter_scalars(arguments)
    )


def _names_any(said: str, arguments: JsonObject) -> bool:
    """Return True if a message names an argument or a value of the call, as a whole word."""
    values = (
        str(value)
        for value in iter_scalars(arguments)
        if not isinstance(value, bool) and value is not None
    )
    names = [*arguments, *(value for value in values if value.strip())]
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said, re.I) for name in names)
