"""Programs that a model wrote, run where they reach nothing but the functions they are given.

Monty (``pydantic-monty``, extra ``code``), a Python interpreter of its own in a worker process: no
file, network, environment, clock, subprocess or module of this process exists in it, and what it
asks of the host is refused here. There is no other way to run such a program: where the library is
missing, nothing is run. Variables stay from one program to the next until a limit of time or memory
ends one; then the worker is thrown away with all of them.
"""

from __future__ import annotations

import asyncio
import datetime
import decimal
import math
import re
from collections.abc import Awaitable, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from types import TracebackType
from typing import Any, Literal, TypeAlias, cast

from callwright.nouns.errors import ConfigError, MissingExtra
from callwright.nouns.installation import render_library_hint
from callwright.nouns.types import Json, to_canonical_json

Stop = Literal[
    "",  # it ran to its end
    "error",  # an exception that it did not catch, or no Python at all
    "calls",  # more calls than it may make
    "time",  # it ran longer than it may
    "memory",  # it took more memory than it may
    "output",  # it printed more than it may
    "crash",  # its worker died, or was ended since it asked for far too much
]
LOST: frozenset[Stop] = frozenset({"time", "memory", "crash"})
"""What ends a program and all that its session knew."""

Call: TypeAlias = Callable[[str, tuple[Json, ...], dict[str, Json]], Awaitable[Json]]
"""A call of the program: function, arguments by position, arguments by name; what it returns goes
back into it, a ProgramError it raises is raised there.
"""

# seconds that the interpreter has to end a program itself, before its process is killed
_GRACE = 0.2
# seconds for a worker to come up, or to take a turn that no limit of its own ends
_STARTED_IN = 20.0
_DEPTH = 200  # of calls of functions
_ASKED = 200  # names looked up and calls made, also those that are refused
_NESTED = 60  # brackets in an argument
_BITS = 1_024  # of an integer
_PARAMETERS = 256  # of one call
_ARGUMENTS = 1_000_000  # characters of the arguments of one call, as JSON
_CODE = 100_000  # characters of one program
_FILE = re.compile(r'File "<[^">]*>", ')
_REFUSED = "the sandbox has no files, network, clock, environment or modules: ask a tool"


@dataclass(frozen=True, slots=True)
class Ran:
    """Result of one program: its output, and the reason, for its author, why it stopped early."""

    printed: str = ""
    stop: Stop = ""
    why: str = ""


class ProgramError(Exception):
    """Raised by a call, or here, to be raised again inside of the program: an exception of this
    type of Python's.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class _Broken(Exception):
    """The interpreter could not go on with a program."""


def require_sandbox() -> Any:
    """The library that runs programs. Raises MissingExtra where it is missing: nothing runs them in
    its place.
    """
    try:
        import pydantic_monty
    except ImportError:
        raise MissingExtra("running programs that a model wrote", "code") from None
    return pydantic_monty


class Sandbox:
    """One session: an async context manager that owns its worker process.

    ``seconds`` are those that a program itself computes (what it waits for calls is not counted),
    ``memory`` bytes of its heap, ``chars`` of what it prints. Entering raises MissingExtra where
    Monty is not installed.
    """

    def __init__(
        self, *, seconds: float = 2.0, memory: int = 64 << 20, chars: int = 20_000
    ) -> None:
        self._seconds, self._memory, self._chars = seconds, memory, chars
        self._thread = ThreadPoolExecutor(
            1, thread_name_prefix="sandbox"
        )  # Monty's asyncio face aborts at exit
        self._session: Any = None
        self._pool: Any = None

    async def __aenter__(self) -> Sandbox:
        self._monty = require_sandbox()
        pool = self._monty.Monty(
            max_processes=1,
            max_checkouts_per_worker=1,
            request_timeout=self._seconds + _STARTED_IN,
            feed_duration_limit_grace=_GRACE,
        )
        try:
            self._pool = await self._apart(pool.__enter__)
        except (OSError, RuntimeError) as exc:
            self._thread.shutdown(wait=False)
            install = render_library_hint("--force-reinstall", "pydantic-monty-runtime")
            hint = f"name its binary in MONTY_BIN, or: {install}"
            raise ConfigError(f"the sandbox cannot be started: {exc}", hint=hint) from exc
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        await self._throw_away()
        await self._apart(self._pool.__exit__, None, None, None)
        self._thread.shutdown(wait=False)

    async def run(self, code: str, functions: Collection[str], call: Call, most: int) -> Ran:
        """Run one program. Its calls of ``functions`` are handed to ``call``, ``most`` of them at
        most.

        Whatever the program does is in the Ran; what ``call`` raises comes through, and the session
        is lost.
        """
        if len(code) > _CODE:
            return Ran("", "error", f"the program is longer than {_CODE} characters")
        printed = self._monty.CollectString(max_bytes=4 * self._chars)
        feed = _Feed(self._monty, functions, call, most)
        try:
            session = await self._open()
            snapshot = await self._turn(partial(session.feed_start, code, print_callback=printed))
            while not isinstance(snapshot, self._monty.MontyComplete):
                if feed.asked >= _ASKED:
                    await self._throw_away()
                    return self._ended(
                        printed.output, "crash", f"it asked for more than {_ASKED} names and calls"
                    )
                answer = await feed.answered(snapshot)
                snapshot = await self._turn(answer)
        except (self._monty.MontyError, _Broken) as error:
            stop, why = self._why(error, feed)
            if stop in LOST:
                await self._throw_away()
            return self._ended(printed.output, stop, why)
        except BaseException:
            await self._throw_away()
            raise
        return self._ended(printed.output, "", "")

    def _ended(self, printed: str, stop: Stop, why: str) -> Ran:
        if len(printed) > self._chars:
            return Ran(
                printed[: self._chars],
                stop or "output",
                why or f"it printed over {self._chars} characters",
            )
        return Ran(printed, stop, why)

    async def _open(self) -> Any:
        if self._session is None:
            # no clock, and chance is the same every time: a program that is run again does what it
            # did
            policy = {
                "datetime": "call_host",
                "sleep": "zero",
                "process_time": "zero",
                "random_start": {"seed": 0},
            }
            limits = {
                "max_feed_duration_secs": self._seconds,
                "max_memory": self._memory,
                "max_recursion_depth": _DEPTH,
                "max_suspensions": 1_000_000,  # counted here, for each program
                "max_total_sleep_secs": 0.0,
            }
            checkout = self._pool.checkout(limits=limits, os_policy=policy)
            self._session = await self._apart(checkout.__enter__)
        return self._session

    async def _throw_away(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await self._apart(session.__exit__, None, None, None)

    async def _turn(self, work: Callable[[], Any]) -> Any:
        """A turn of a program. What the library raises that is none of its own errors is the
        program's doing.
        """
        try:
            return await self._apart(work)
        except self._monty.MontyError:
            raise
        except Exception as exc:
            raise _Broken(f"{type(exc).__name__}: {exc}") from exc

    async def _apart(self, work: Callable[..., Any], *given: Any) -> Any:
        """One turn of the worker, waited for in a thread: one at a time, each bounded by the
        limits.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *given)

    def _why(self, error: Any, feed: _Feed) -> tuple[Stop, str]:
        """Return the reason for which Monty's error ended the program."""
        if isinstance(error, self._monty.MontyCrashedError):
            if error.timed_out:
                return "time", f"it ran longer than {self._seconds:g} seconds"
            return "crash", "its worker died"
        said = str(error)
        if isinstance(error, _Broken):
            return "crash", _shorten_traceback(said)
        if "time limit exceeded" in said:
            return "time", f"it ran longer than {self._seconds:g} seconds"
        if "memory limit exceeded" in said:
            if f"> {4 * self._chars} bytes" in said:
                return "output", f"it printed over {self._chars} characters"
            return "memory", f"it took more than {self._memory >> 20} MB of memory"
        shown = error.display() if hasattr(error, "display") else said
        return ("calls" if feed.refused else "error"), _shorten_traceback(shown)


class _Feed:
    """Answers what one program asks of the host."""

    def __init__(self, monty: Any, functions: Collection[str], call: Call, most: int) -> None:
        self._monty, self._functions, self._call, self._most = monty, functions, call, most
        self._made = 0
        self.asked = 0
        self.refused = False  # a call more than it may make

    async def answered(self, snapshot: Any) -> Callable[[], Any]:
        """Return the function that continues the program; it gives the program's next request, or
        its end.
        """
        self.asked += 1
        if isinstance(snapshot, self._monty.NameLookupSnapshot):
            return cast(
                "Callable[[], Any]", snapshot.resume
            )  # a NameError: functions are called, not passed on
        if isinstance(snapshot, self._monty.FutureSnapshot):
            plainly = {
                "exc_type": "RuntimeError",
                "message": "call the functions plainly, without await",
            }
            return partial(snapshot.resume, dict.fromkeys(snapshot.pending_call_ids, plainly))
        try:
            value = await self._value(snapshot)
        except ProgramError as no:
            return partial(snapshot.resume, {"exc_type": no.kind, "message": str(no)})
        return partial(self._returned, snapshot, value)

    def _returned(self, snapshot: Any, value: Json) -> Any:
        try:
            return snapshot.resume({"return_value": value})
        except (
            self._monty.MontyConversionError,
            UnicodeError,
        ) as exc:  # nothing was sent: it still waits
            return snapshot.resume(
                {"exc_type": "ValueError", "message": f"the result cannot be read: {exc}"}
            )

    async def _value(self, snapshot: Any) -> Json:
        if snapshot.is_os_function:
            raise ProgramError("PermissionError", _REFUSED)
        name = snapshot.function_name
        if name not in self._functions:
            known = ", ".join(sorted(self._functions)[:40])
            raise ProgramError(
                "NameError", f"name '{name}' is not defined; the functions are: {known}"
            )
        if self._made >= self._most:
            self.refused = True
            raise ProgramError(
                "RuntimeError",
                f"a program may make {self._most} calls at most: go on in the next one",
            )
        try:
            given, named = snapshot.args, snapshot.kwargs  # each is made when it is asked for
            if len(given) + len(named) > _PARAMETERS:
                raise ValueError(f"more than {_PARAMETERS} arguments")
            args = tuple(to_json_value(value) for value in given)
            kwargs = {str(key): to_json_value(value) for key, value in named.items()}
            if len(to_canonical_json([args, kwargs])) > _ARGUMENTS:
                raise ValueError(f"the arguments take more than {_ARGUMENTS} characters")
        except (ValueError, OverflowError, RecursionError) as exc:
            raise ProgramError("TypeError", f"{name}: {exc}") from None
        self._made += 1
        return await self._call(name, args, kwargs)


def to_json_value(value: Any, depth: int = 0) -> Json:
    """Return a program's value as JSON. Raises ValueError if it is none."""
    if depth > _NESTED:
        raise ValueError("an argument is nested too deeply")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > _BITS:
            raise ValueError("an integer is longer than JSON's readers take")
        return int(value)
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            raise ValueError("a text holds half a character")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is no number that JSON has")
        return value
    if isinstance(value, list | tuple | set | frozenset):
        made = [to_json_value(inner, depth + 1) for inner in value]
        return sorted(made, key=repr) if isinstance(value, set | frozenset) else made
    if isinstance(value, dict):
        return {str(key): to_json_value(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, PurePath | decimal.Decimal):
        return str(value)
    raise ValueError(f"an argument is a {type(value).__name__}, which is no JSON value")


def _shorten_traceback(text: str, most: int = 1_500) -> str:
    """A traceback without its middle, and without names of files that there are not."""
    text = _FILE.sub("", text)
    return text if len(text) <= most else f"{text[: most // 3]}\n…\n{text[-most * 2 // 3 :]}"
