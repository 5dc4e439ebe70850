"""Models for the write cases: one that does every job right, and ones with a habit."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from callwright.cli.doctor.endpoint import Answered
from callwright.cli.doctor.write_cases import Call, WriteCase, read_cases
from callwright.nouns.types import ToolCall

CASES = {case.said[-1]: case for case in read_cases()[1]}
MAIL = Call("send_message", {"to": "nobody@example.org"})


class Worker:
    """``habits``: "repeats" (the first write twice), "invents" (a mail in small talk), "guesses" (a
    mail where a value is missing), "misses" (no write at all), "silent" (no answer in words),
    "written" (calls left in the text), "endless" (reads for ever).
    """

    def __init__(self, *habits: str, only: Collection[str] = ()) -> None:
        self.habits, self.only = set(habits), only

    async def ask(self, messages: list[Any], **_more: Any) -> Answered:
        """Answer as the doctor's endpoint does."""
        text, calls = self.answer(messages)
        return Answered(text=text, calls=tuple(calls))

    def answer(self, messages: list[Any]) -> tuple[str, list[ToolCall]]:
        case, done = _read_conversation(messages)
        habits = self.habits if not self.only or case.name in self.only else set()
        if "endless" in habits:
            return "", [ToolCall(f"r{done}", "get_product", {"code": "A-100"})]
        wanted = self._choose_writes(case, habits)
        if "written" in habits and wanted:
            return f"<tool_call>{json.dumps(_write(wanted[0]))}</tool_call>", []
        if done < len(wanted):
            one = wanted[done]
            given = {**one.arguments, "text": "x"} if one.tool == "send_message" else one.arguments
            return "", [ToolCall(f"w{done}", one.tool, given)]
        return "" if "silent" in habits else f"Very well. {' '.join(case.says)}", []

    def _choose_writes(self, case: WriteCase, habits: set[str]) -> list[Call]:
        wanted = [] if "misses" in habits else [*case.writes]
        if "repeats" in habits and wanted:
            wanted.append(wanted[0])
        is_invited = case.talk or case.name.startswith("missing")
        if ("invents" in habits and case.talk) or ("guesses" in habits and is_invited):
            wanted.append(MAIL)
        return wanted


def _write(call: Call) -> dict[str, Any]:
    return {"name": call.tool, "arguments": call.arguments}


def _read_conversation(messages: list[Any]) -> tuple[WriteCase, int]:
    """The case, and the number of calls since the user last spoke."""
    last = max(n for n, message in enumerate(messages) if message["role"] == "user")
    done = sum(message["role"] == "tool" for message in messages[last:])
    return CASES[messages[last]["content"]], done
