"""invoke: one cleared call becomes one result, whatever the world does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias
from uuid import UUID, uuid5

from callwright.agent.execution.deadlines import Deadlines
from callwright.agent.safety.clear import ClearedCall
from callwright.jsontext import is_deeper, write
from callwright.nouns.errors import Failure, ToolError
from callwright.nouns.protocols import CALL_KEY
from callwright.nouns.types import (
    CheckedCall,
    Json,
    JsonObject,
    ToolOutput,
    ToolResult,
    to_canonical_json,
)
from callwright.repair.empty_result import tell_done
from callwright.tools.python.raised import is_ended_from_outside

_KEYS = UUID(
    "6f3a2c1e-0c58-5b0e-9d5a-3f6f4a9d7c21"
)  # the name space of our idempotency keys (RFC 9562, version 5)

_DEEPEST = 200  # levels of a result

Caller: TypeAlias = Callable[[str, JsonObject], Awaitable[ToolOutput]]


async def invoke(
    call: ClearedCall,
    caller: Caller,
    *,
    timeout: float,
    max_bytes: int,
    attempt: int = 1,
    key: str = "",
    deadlines: Deadlines | None = None,
) -> ToolResult:
    """Run one cleared call. Never raises for what the tool or the network does; cancellation passes
    through. The tool gets its own copy of the arguments; a call whose arguments were changed after
    the gate checked them reaches no tool: that raises TypeError.

    ``key`` is what the tool's source sees as :data:`callwright.nouns.protocols.CALL_KEY`.
    ``deadlines``: of the calls that run beside this one.
    """
    if type(call) is not ClearedCall:
        raise TypeError("invoke() takes a ClearedCall only: pass a CheckedCall through clear()")
    arguments = call.take_arguments()
    CALL_KEY.set(key)
    started = time.monotonic()
    try:
        async with asyncio.timeout(timeout) if deadlines is None else deadlines.within(timeout):
            output = await caller(call.tool.name, arguments)
    except TimeoutError:
        output = ToolOutput(failure=_timed_out(call, timeout))
    except ToolError as exc:
        output = ToolOutput(failure=Failure("tool_error", str(exc), not_done=True))
    except asyncio.CancelledError as exc:
        if is_ended_from_outside(exc):
            raise
        output = ToolOutput(failure=Failure("crashed", "the tool cancelled its own call"))
    except Exception as exc:
        message = f"{type(exc).__name__}: {exc}"
        output = ToolOutput(failure=Failure("tool_error", message))
    content, failure = _limit_size(output.content, output.failure, max_bytes)
    if failure is None:
        content = tell_done(content, call.tool.effects)
    return ToolResult(
        id=call.id,
        tool=call.tool.name,
        arguments=call.arguments,
        content=content,
        failure=failure,
        seconds=time.monotonic() - started,
        slot=call.slot,
        attempt=attempt,
        simulated=output.simulated,
    )


def idempotency_key(run: str, call: CheckedCall) -> str:
    """The same for every attempt at this call of this run, before and after a crash; another for
    any other call.
    """
    told = to_canonical_json([run, call.id, call.tool.name, call.arguments])
    return str(uuid5(_KEYS, told.encode("utf-8", "backslashreplace").decode()))


def _timed_out(call: ClearedCall, timeout: float) -> Failure:
    return Failure(
        "timeout",
        f"{call.tool.name} gave no result within {timeout:g} s",
        retryable=True,
        outcome_unknown=True,
    )


def _limit_size(
    content: Json, failure: Failure | None, max_bytes: int
) -> tuple[Json, Failure | None]:
    """Refuse a result larger than the limit: half a JSON value would be a different value. One that
    is nested without end nobody could read.
    """
    if failure is not None or content is None:
        return content, failure
    if is_deeper(content, _DEEPEST):
        return None, Failure("too_large", f"the result is more than {_DEEPEST} levels deep")
    size = len(write(content))
    if size <= max_bytes:
        return content, None
    return None, Failure("too_large", f"the result has {size} bytes, the limit is {max_bytes}")
