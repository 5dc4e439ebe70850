"""What a function raised, as a failure: it refused the values that it was given, or it broke down
over its own code.

Python says which by the class of an exception, and only for its own classes: ``ValueError`` is what
a function raises that was given a wrong value, whoever broke off with ``NameError`` or
``SystemExit`` never got as far as judging one. Where a class leaves it open, a message that names
an argument or its value is about that.
"""

from __future__ import annotations

import builtins
import functools
import json
import re
import signal
import threading
from collections.abc import Callable
from typing import Any

from callwright.nouns.errors import Failure, FailureKind, ToolError
from callwright.nouns.types import JsonObject, scalars

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
    where it may be about these, else "crashed". The traceback is nobody's business.
    """
    raised = error.by if isinstance(error, Ended) else error
    if isinstance(raised, ToolError):
        return Failure(
            "tool_error",
            (str(raised) or "the tool refused the call")[:_MESSAGE_CHARS],
            not_done=True,
        )
    name = type(raised).__name__
    message = f"{name}: {raised}" if str(raised) else name
    kind: FailureKind = "tool_error" if _is_refusal(raised, function, arguments) else "crashed"
    return Failure(kind, message[:_MESSAGE_CHARS])


def is_interrupt(error: BaseException) -> bool:
    """Whether somebody pressed Ctrl-C, and not the function raised the same: signals come to the
    main thread alone, and there through a handler, which stands in the traceback unless it is
    Python's own.
    """
    if (
        not isinstance(error, KeyboardInterrupt)
        or threading.current_thread() is not threading.main_thread()
    ):
        return False
    handler: Any = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        return True  # it leaves no trace: better stopped once too often than not at all
    while isinstance(handler, functools.partial):
        handler = handler.func
    code = getattr(handler, "__code__", None)
    place = error.__traceback__
    while place is not None and place.tb_frame.f_code is not code:
        place = place.tb_next
    return place is not None


def _is_refusal(error: BaseException, function: Callable[..., Any], arguments: JsonObject) -> bool:
    """Whether an exception may be about the values: there must be some, and its kind must be one
    that judges them.
    """
    if not arguments or not isinstance(error, Exception) or isinstance(error, _NEVER):
        return False
    if isinstance(error, json.JSONDecodeError | SyntaxError | NameError):  # of a text that was read
        return _is_of_text(error, arguments)
    if isinstance(error, _REFUSING) or _is_its_own(type(error), function):
        return True
    if isinstance(error, _OF_NUMBERS) and any(
        isinstance(value, int | float) for value in scalars(arguments)
    ):
        return True
    return _names_any(str(error), arguments)


def _is_its_own(kind: type[BaseException], function: Callable[..., Any]) -> bool:
    """Whether the class was made for what this function has to say: defined where it is, not in a
    library.
    """
    while isinstance(function, functools.partial):
        function = function.func
    home = getattr(function, "__module__", None) or type(function).__module__
    return (
        kind.__module__ != builtins.__name__
        and kind.__module__.partition(".")[0] == home.partition(".")[0]
    )


def _is_of_text(
    error: json.JSONDecodeError | SyntaxError | NameError, arguments: JsonObject
) -> bool:
    """Whether what could not be read as JSON, or as a program, stands in a text of the call."""
    if isinstance(error, NameError):
        read = error.name or ""
    else:
        read = (error.doc if isinstance(error, json.JSONDecodeError) else error.text) or ""
    return bool(read.strip()) and any(
        isinstance(v, str) and read.strip() in v for v in scalars(arguments)
    )


def _names_any(said: str, arguments: JsonObject) -> bool:
    """Whether a message names an argument or a value of the call, as a whole word."""
    values = (
        str(value)
        for value in scalars(arguments)
        if not isinstance(value, bool) and value is not None
    )
    names = [*arguments, *(value for value in values if value.strip())]
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said, re.I) for name in names)
