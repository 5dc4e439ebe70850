"""Defines the errors, in three kinds.

* :class:`Violation` - the *model's* mistake: a value, returned by the gate, shown to the model or
  the user.
* :class:`Failure` - the *world's* mistake (a tool, a server, a timeout): a value, carried by a
  ``ToolResult``.
* :class:`CallwrightError` - the *developer's* mistake or an unusable setup: raised, with a hint
  what to do::

    CallwrightError
    ├── CatalogError      a tool source cannot be read
    ├── ModelError        the language model cannot be asked
    ├── PlanError         a plan is not a plan (cycle, unknown tool, dangling dependency)
    ├── WeightsError      a weight file is missing, cut short or not the pinned one
    ├── ConfigError       a setting, file or flag makes no sense
    ├── TraceError        a trace file cannot be read or written
    ├── JournalError      a run's journal cannot be read, written or resumed
    ├── EvidenceError     what is known of tools cannot be read or kept
    ├── TrustError        something is not trusted, or is not what it was when it was
    └── MissingExtra      an optional library is not installed

``ToolError`` is not in the tree: tool authors raise it to tell the *model* something.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from callwright.nouns.installation import render_install_hint

ViolationKind = Literal[
    "unknown_tool",  # no such tool in view
    "not_json",  # arguments are text that is not a JSON object
    "truncated",  # arguments stop in the middle: never completed by guessing
    "schema",  # the input schema refuses the arguments (see `keyword`)
    "ungrounded",  # an identifier that nothing seen so far contains
    "unsourced",  # an optional value that nothing seen so far supports
    "unasserted",  # a part of the tool's own schema that cannot be asserted (a note: no call is refused for it)
]


@dataclass(frozen=True, slots=True)
class Violation:
    """One reason why a call was refused. ``path`` is a JSON Pointer (RFC 6901) into the
    arguments.
    """

    kind: ViolationKind
    message: str
    path: str = ""
    keyword: str = ""
    expected: Any = None
    got: Any = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "path": self.path,
            "keyword": self.keyword,
            "message": self.message,
            "expected": self.expected,
            "got": self.got,
        }


FailureKind = Literal[
    "tool_error",  # the tool said no: an exception, MCP isError, an HTTP 4xx about the request
    "crashed",  # the tool broke down over its own code: an exception that is about no argument
    "error_payload",  # status 200, but the body says it failed
    "empty",  # a result with nothing in it
    "auth",  # 401, 403, missing credential
    "rate_limit",  # 429
    "unavailable",  # 5xx, refused or broken connection
    "timeout",
    "too_large",
    "egress",  # the address may not be reached
    "not_executable",  # the tool is known by its schema only
    "cancelled",
]


REFUSED_STATUSES = frozenset(
    {400, 401, 403, 404, 405, 407, 410, 411, 412, 413, 414, 415, 417, 421, 422}
    | {425, 426, 428, 429, 431, 451}
)
"""Statuses that say that a request was not carried out (RFC 9110 section 15.5; RFC 6585; RFC 8470
for 425). Not among them: 408 and 409, which are also answered for a request that went through, and
every 5xx: a gateway answers 503, with Retry-After or without, for a server that has done the work.
"""


@dataclass(frozen=True, slots=True)
class Failure:
    """The outside world did not do what it was asked.

    ``retryable``: the same call may succeed later. ``not_done``: the source knows that the call did
    nothing (it never left, or was refused before anything was done). ``outcome_unknown``: the
    request may have taken effect, so a call that may write must not be repeated unless it is
    idempotent; :mod:`callwright.repair.outcome` sets it for writes.
    """

    kind: FailureKind
    message: str
    retryable: bool = False
    outcome_unknown: bool = False
    status: int | None = None
    detail: Any = None
    not_done: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "message": self.message,
            "retryable": self.retryable,
            "outcome_unknown": self.outcome_unknown,
            "status": self.status,
            "detail": self.detail,
            "not_done": self.not_done,
        }


class CallwrightError(Exception):
    """Base of everything Callwright raises. ``hint`` says what to do next; it is part of
    ``str(error)``.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class CatalogError(CallwrightError):
    """A tool source cannot be read."""


class ModelError(CallwrightError):
    """The language model cannot be asked, or its server answered nonsense. ``retryable`` as for
    failures.
    """

    def __init__(
        self, message: str, *, hint: str = "", status: int | None = None, retryable: bool = False
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retryable = retryable


class PlanError(CallwrightError):
    """A plan is not a plan."""


class WeightsError(CallwrightError):
    """A weight file is missing, cut short, or not the one whose sha256 is pinned."""


class ConfigError(CallwrightError):
    """A setting, file or flag makes no sense."""


class TraceError(CallwrightError):
    """A trace file cannot be read or written."""


class JournalError(CallwrightError):
    """A run's journal cannot be read or written, or the run cannot be resumed from it as it was."""


class EvidenceError(CallwrightError):
    """The evidence about tools cannot be read or kept."""


class TrustError(CallwrightError):
    """Something that came from elsewhere is not trusted, or is not what it was when the user
    confirmed it.
    """


class MissingExtra(CallwrightError):
    """An optional library is not installed: one of this extra of this package. The hint is the
    command that installs it here.
    """

    def __init__(self, what: str, extra: str, package: str = "callwright") -> None:
        super().__init__(
            f"{what} needs an optional library that is not installed",
            hint=render_install_hint(extra, package),
        )
        self.extra = extra


class ToolError(Exception):
    """Raised by the author of a tool to tell the model what was wrong with the call; becomes a
    Failure.
    """


def build_read_error(path: Path, error: OSError | UnicodeDecodeError) -> ConfigError:
    """Return an error that says why a named file cannot be read, and what to do next."""
    if isinstance(error, UnicodeDecodeError):
        return ConfigError(
            f"cannot read {path}: it is no UTF-8 text ({error.reason})", hint="save it as UTF-8"
        )
    hint = "may this user read it?"
    if isinstance(error, FileNotFoundError):
        hint = f"is it written right? It was looked for from {Path.cwd()}"
    elif isinstance(error, IsADirectoryError):
        hint = "it is a folder: name a file in it"
    return ConfigError(f"cannot read {path}: {error.strerror}", hint=hint)


@contextmanager
def convert_errors(error: type[CallwrightError], what: str, *, hint: str = "") -> Iterator[None]:
    """Turn any foreign exception inside the block into ``error``, naming the boundary it
    crossed.
    """
    try:
        yield
    except (CallwrightError, ToolError):
        raise
    except Exception as exc:
        raise error(f"{what}: {type(exc).__name__}: {exc}", hint=hint) from exc
