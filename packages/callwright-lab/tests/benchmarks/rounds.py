"""The Python-call agent, scripted: one call a round, then its answer, in whichever form it is asked
for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import ToolCall
from callwright.parsing.formats.program import Round, write_round
from callwright.parsing.formats.pythonic import write_value

Script = Callable[[ChatRequest], Any]


def programs(
    calls: Iterable[Mapping[str, Any]], answer: str, otherwise: Script = lambda _: {}
) -> Script:
    """A scripted model's lines. ``calls``: ``tool`` and ``arguments`` each; ``otherwise``: what it
    says to questions that are not the Python-call agent's.
    """
    left = [ToolCall("", call["tool"], call["arguments"]) for call in calls]

    def line(request: ChatRequest) -> Any:
        if request.purpose != "code":
            return otherwise(request)
        made = [left.pop(0)] if left else []
        if request.schema is not None:
            shown = [{"function": call.tool, "arguments": call.arguments} for call in made]
            return {"thought": "", **({"calls": shown} if made else {"final_answer": answer})}
        code = "\n".join(f"print({call})" for call in write_value(made))
        return write_round(Round("I go on.", code=code) if made else Round("Done.", answer=answer))

    return line
