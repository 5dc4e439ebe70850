"""Executes the actions that a learner proposes, under the rules of tool probing or with a simulator
in the tools' place.
"""

from __future__ import annotations

from dataclasses import replace

from callwright.agent.execution.invoke import Caller, invoke
from callwright.agent.probing.attempt import MAY_BE_TRIED, explain_untriable
from callwright.agent.probing.pacing import Pacer
from callwright.agent.probing.policy import TrialPolicy
from callwright.agent.safety.clear import ClearanceState, Denied, clear
from callwright.nouns.errors import Failure
from callwright.nouns.redaction import redact_secrets, select_redactable
from callwright.nouns.types import (
    CheckedCall,
    Json,
    JsonObject,
    ToolResult,
    get_public_fields,
    to_json,
)
from callwright_lab.verify.budget import Meter
from callwright_lab.verify.mock_tools import StandIn


class Trying:
    """Makes calls. ``caller`` is None where no tool is at hand; ``stand_in`` answers for what may
    not be called.

    Nothing that may write is called unless ``policy.sandbox`` says that its changes are thrown
    away. What came of a call is on record with the row that made it, and is not made again by a
    sweep that goes on.
    """

    def __init__(
        self,
        caller: Caller | None,
        policy: TrialPolicy,
        stand_in: StandIn | None = None,
        *,
        secrets: tuple[str, ...] = (),
    ) -> None:
        self._caller, self._policy, self._stand_in = caller, policy, stand_in
        self._pacer = Pacer(policy)
        self._secrets = select_redactable(secrets)

    async def call(self, call: CheckedCall, query: str, meter: Meter) -> ToolResult:
        """The result; it has failed with ``not_executable`` where nobody may carry it out. Raises
        BudgetSpent, InDoubt, and ModelError where the stand-in's model cannot be asked.
        """
        why = (
            "no tool is at hand"
            if self._caller is None
            else explain_untriable(call.tool, self._policy)
        )
        if self._caller is not None and not why:
            return await self._made(call, self._caller, meter)
        if self._stand_in is None:
            return ToolResult(
                call.id, call.tool.name, call.arguments, failure=Failure("not_executable", why)
            )
        output = await self._stand_in.answer(call.tool, call.arguments, meter, query)
        return ToolResult(
            call.id, call.tool.name, call.arguments, **get_public_fields(output), slot=call.slot
        )

    async def _made(self, call: CheckedCall, caller: Caller, meter: Meter) -> ToolResult:
        """The call carried out, or what came of it when it was."""
        meter.call(known=meter.knows_call(call.tool.name, call.arguments))
        policy = self._policy
        cleared = clear(call, ClearanceState(consent=MAY_BE_TRIED))
        if isinstance(cleared, Denied):
            failure = Failure("not_executable", cleared.reason)
            return ToolResult(call.id, call.tool.name, call.arguments, failure=failure)

        async def make() -> Json:
            async with self._pacer.turn(call.tool):
                result = await invoke(
                    cleared, caller, timeout=policy.tool_seconds, max_bytes=policy.result_bytes
                )
            return to_json(self._without_secrets(result))

        return replace(
            _parse_result(await meter.made(call.tool, call.arguments, make)),
            id=call.id,
            slot=call.slot,
        )

    def _without_secrets(self, result: ToolResult) -> ToolResult:
        failure = result.failure
        if failure is not None:
            said, more = (
                redact_secrets(failure.message, self._secrets),
                redact_secrets(failure.detail, self._secrets),
            )
            failure = replace(failure, message=said, detail=more)
        return replace(
            result, content=redact_secrets(result.content, self._secrets), failure=failure
        )


def _parse_result(told: JsonObject) -> ToolResult:
    failure = told["failure"]
    return ToolResult(**{**told, "failure": failure and Failure(**failure)})
