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

from callwright.errors import (
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
    Violation,
    WeightsError,
)
from callwright.limits import Budget, Limits
from callwright.plan import Plan, Slot
from callwright.trace import Event, JsonlSink, MemorySink, Trace, read_jsonl
from callwright.types import (
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
    from callwright.catalog import Catalog, open_catalog, tool
    from callwright.gate import Gate, Refusal
    from callwright.models import open_model
    from callwright.orchestrator import Orchestrator, Run
    from callwright.planning import open_planner
    from callwright.protocols import NOT_DONE, call_key
    from callwright.refine import Refinement, refine

__version__ = "0.1.0"

_LATER = {
    "NOT_DONE": "callwright.protocols",
    "Catalog": "callwright.catalog",
    "Gate": "callwright.gate",
    "Orchestrator": "callwright.orchestrator",
    "Refinement": "callwright.refine",
    "Refusal": "callwright.gate",
    "Run": "callwright.orchestrator",
    "call_key": "callwright.protocols",
    "open_catalog": "callwright.catalog",
    "open_model": "callwright.models",
    "open_planner": "callwright.planning",
    "tool": "callwright.catalog",
}

__all__ = [
    "DESTRUCTIVE",
    "NOT_DONE",
    "READ",
    "READ_LOCAL",
    "WRITE",
    "Answer",
    "Budget",
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
    "JournalError",
    "JsonlSink",
    "Limits",
    "MemorySink",
    "Message",
    "MissingExtra",
    "ModelError",
    "Orchestrator",
    "Plan",
    "PlanError",
    "Refinement",
    "Refusal",
    "Reply",
    "Run",
    "Skip",
    "Slot",
    "Statement",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolOutput",
    "ToolResult",
    "Trace",
    "TraceError",
    "Usage",
    "Violation",
    "WeightsError",
    "call_key",
    "open_catalog",
    "open_model",
    "open_planner",
    "read_jsonl",
    "refine",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name == "refine":  # the room itself, which can be called: it takes this name when it is imported
        return import_module("callwright.refine")
    if name in _LATER:
        value = getattr(import_module(_LATER[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'callwright' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
