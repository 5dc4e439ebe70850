"""What a learner wants to do, carried out: under the rules of trials, or by a simulator in the tools' place."""

from __future__ import annotations

from dataclasses import replace

from callwright.errors import Failure
from callwright.execution.invoke import Caller, invoke
from callwright.execution.simulate import Simulator
from callwright.redaction import in_every_form, redacted
from callwright.trials.attempt import may_be_tried
from callwright.trials.pacing import Pacer
from callwright.trials.policy import TrialPolicy
from callwright.types import CheckedCall, ToolResult
from callwright.verify.budget import Meter


class Trying:
    """Makes calls. ``caller`` is None where no tool is at hand; ``simulator`` answers for what may not be called.

    ``asks``: the simulator asks a model for what is not on record. Nothing that may write is called unless
    ``policy.sandbox`` says that its changes are thrown away.
    """

    def __init__(
        self,
        caller: Caller | None,
        policy: TrialPolicy,
        simulator: Simulator | None = None,
        *,
        asks: bool = False,
        secrets: tuple[str, ...] = (),
    ) -> None:
        self._caller, self._policy, self._simulator, self._asks = caller, policy, simulator, asks
        self._pacer = Pacer(policy)
        self._secrets = in_every_form(secrets)

    async def call(self, call: CheckedCall, query: str, meter: Meter) -> ToolResult:
        """The result; it has failed with ``not_executable`` where nobody may carry it out. Raises BudgetSpent, and
        ModelError where the simulator's model cannot be asked."""
        why = "no tool is at hand" if self._caller is None else may_be_tried(call.tool, self._policy)
        if self._caller is not None and not why:
            meter.call()
            async with self._pacer.turn(call.tool):
                result = await invoke(
                    call,
                    self._caller,
                    timeout=self._policy.tool_seconds,
                    max_bytes=self._policy.result_bytes,
                )
            return self._without_secrets(result)
        if self._simulator is None:
            return ToolResult(call.id, call.tool.name, call.arguments, failure=Failure("not_executable", why))
        if self._asks and self._simulator.recorded.find(call.tool, call.arguments) is None:
            meter.model_call()
        return await self._simulator.simulate(call, call.tool, query)

    def _without_secrets(self, result: ToolResult) -> ToolResult:
        failure = result.failure
        if failure is not None:
            said, more = redacted(failure.message, self._secrets), redacted(failure.detail, self._secrets)
            failure = replace(failure, message=said, detail=more)
        return replace(result, content=redacted(result.content, self._secrets), failure=failure)
