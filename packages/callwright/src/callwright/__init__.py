"""Callwright makes small and open language models use tools reliably.

::

    from callwright import Orchestrator, tool

    @tool
    def population(city: str) -> int:
        "How many people live in a city."
        ...

    run = Orchestrator([population]).run_sync("How many people live in Oslo?")
    print(run.answer.text)

Light names are here at once; those that need optional libraries are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from callwright.nouns.errors import (
    CallwrightError,
    CatalogError,
    ConfigError,
    EvidenceError,
    Failure,
    JournalError,
    MissingExtra,
    ModelError,
    PlanError,
    ToolError,
    TraceError,
    TrustError,
    Violation,
    WeightsError,
)
from callwright.nouns.limits import Budget, Limits
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.trace import Event, JsonlSink, MemorySink, Trace, read_jsonl
from callwright.nouns.types import (
    DESTRUCTIVE,
    READ,
    READ_LOCAL,
    WRITE,
    Answer,
    CheckedCall,
    Citation,
    Edit,
    Effects,
    Message,
    Reply,
    Skip,
    Statement,
    Tool,
    ToolCall,
    ToolOutput,
    ToolResult,
    Usage,
)

if TYPE_CHECKING:
    from callwright.agent.options import Interaction, Persistence, Safety, ToolSelection
    from callwright.agent.orchestrator import Orchestrator
    from callwright.agent.run import Run, TypedRun
    from callwright.agent.run_events import (
        AnswerDelta,
        AnswerRestarted,
        ApprovalGiven,
        CallFinished,
        CallRepaired,
        CallSkipped,
        CallStarted,
        HeldForApproval,
        QuestionAsked,
        RunEvent,
        RunFinished,
    )
    from callwright.agent.safety.consent import Proposal
    from callwright.models import open_model
    from callwright.nouns.protocols import NOT_DONE, call_key
    from callwright.planning import open_planner
    from callwright.repair.gate import Gate, Refusal
    from callwright.repair.refinement import refine
    from callwright.repair.result import Refinement
    from callwright.tools.catalog import Catalog, open_catalog
    from callwright.tools.lists.chat_messages import calls_to_wire, messages_from_wire
    from callwright.tools.lists.tools import tools_from_wire
    from callwright.tools.python.functions import tool

__version__ = "0.1.0"

_LATER = {
    "AnswerDelta": "callwright.agent.run_events",
    "AnswerRestarted": "callwright.agent.run_events",
    "ApprovalGiven": "callwright.agent.run_events",
    "CallFinished": "callwright.agent.run_events",
    "CallRepaired": "callwright.agent.run_events",
    "CallSkipped": "callwright.agent.run_events",
    "CallStarted": "callwright.agent.run_events",
    "Catalog": "callwright.tools.catalog",
    "Gate": "callwright.repair.gate",
    "HeldForApproval": "callwright.agent.run_events",
    "Interaction": "callwright.agent.options",
    "NOT_DONE": "callwright.nouns.protocols",
    "Orchestrator": "callwright.agent.orchestrator",
    "Persistence": "callwright.agent.options",
    "Proposal": "callwright.agent.safety.consent",
    "QuestionAsked": "callwright.agent.run_events",
    "Refinement": "callwright.repair.result",
    "Refusal": "callwright.repair.gate",
    "Run": "callwright.agent.run",
    "RunEvent": "callwright.agent.run_events",
    "RunFinished": "callwright.agent.run_events",
    "Safety": "callwright.agent.options",
    "ToolSelection": "callwright.agent.options",
    "TypedRun": "callwright.agent.run",
    "call_key": "callwright.nouns.protocols",
    "calls_to_wire": "callwright.tools.lists.chat_messages",
    "messages_from_wire": "callwright.tools.lists.chat_messages",
    "open_catalog": "callwright.tools.catalog",
    "open_model": "callwright.models",
    "open_planner": "callwright.planning",
    "refine": "callwright.repair.refinement",
    "tool": "callwright.tools.python.functions",
    "tools_from_wire": "callwright.tools.lists.tools",
}

__all__ = [
    "DESTRUCTIVE",
    "NOT_DONE",
    "READ",
    "READ_LOCAL",
    "WRITE",
    "Answer",
    "AnswerDelta",
    "AnswerRestarted",
    "ApprovalGiven",
    "Budget",
    "CallFinished",
    "CallRepaired",
    "CallSkipped",
    "CallStarted",
    "CallwrightError",
    "Catalog",
    "CatalogError",
    "CheckedCall",
    "Citation",
    "ConfigError",
    "Edit",
    "Effects",
    "Event",
    "EvidenceError",
    "Failure",
    "Gate",
    "HeldForApproval",
    "Interaction",
    "JournalError",
    "JsonlSink",
    "Limits",
    "MemorySink",
    "Message",
    "MissingExtra",
    "ModelError",
    "Orchestrator",
    "Persistence",
    "Plan",
    "PlanError",
    "Proposal",
    "QuestionAsked",
    "Refinement",
    "Refusal",
    "Reply",
    "Run",
    "RunEvent",
    "RunFinished",
    "Safety",
    "Skip",
    "Slot",
    "Statement",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolOutput",
    "ToolResult",
    "ToolSelection",
    "Trace",
    "TraceError",
    "TrustError",
    "TypedRun",
    "Usage",
    "Violation",
    "WeightsError",
    "call_key",
    "calls_to_wire",
    "messages_from_wire",
    "open_catalog",
    "open_model",
    "open_planner",
    "read_jsonl",
    "refine",
    "tool",
    "tools_from_wire",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        value = getattr(import_module(_LATER[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'callwright' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
