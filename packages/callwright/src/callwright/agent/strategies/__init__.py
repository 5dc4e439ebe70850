"""Ways from a query to results: one interface, one executor, one accounting, so that comparisons
are fair.
"""

from __future__ import annotations

from callwright.agent.execution.job import Job
from callwright.agent.safety.freeze import Level
from callwright.agent.strategies.ablations import (
    CodeAsWritten,
    CodeUnchecked,
    DFSDTAsWritten,
    DFSDTUnchecked,
    ReActAsWritten,
    ReActUnchecked,
    ToolMVRAsWritten,
    ToolMVRUnchecked,
    WithoutRecovery,
    WithoutRepair,
    WithoutSketch,
)
from callwright.agent.strategies.code import Code, ToolMVR
from callwright.agent.strategies.compiler import Compiler
from callwright.agent.strategies.dag import DAG, Edges, Given
from callwright.agent.strategies.dfsdt import DFSDT
from callwright.agent.strategies.guided import Guided
from callwright.agent.strategies.layered import Layered
from callwright.agent.strategies.react import ReAct
from callwright.agent.strategies.reflecting import REFLECT, Reflecting, wrap_with_repair
from callwright.agent.strategies.strategy import Strategy
from callwright.nouns.errors import ConfigError
from callwright.nouns.wire_names import current_literal
from callwright.schema.violations import suggest_name

STRATEGIES: dict[str, type[Strategy]] = {
    "layered": Layered,
    "guided": Guided,
    "dag": DAG,
    "edges": Edges,
    "compiler": Compiler,
    "react": ReAct,
    "dfsdt": DFSDT,
    "code": Code,
    "toolmvr": ToolMVR,
    "given": Given,
    "layered-no-sketch": WithoutSketch,
    "layered-no-repair": WithoutRepair,
    "layered-no-recovery": WithoutRecovery,
    "react-no-repair": ReActAsWritten,
    "dfsdt-no-repair": DFSDTAsWritten,
    "code-no-repair": CodeAsWritten,
    "toolmvr-no-repair": ToolMVRAsWritten,
    "react-no-gate": ReActUnchecked,
    "dfsdt-no-gate": DFSDTUnchecked,
    "code-no-gate": CodeUnchecked,
    "toolmvr-no-gate": ToolMVRUnchecked,
}


def open_strategy(spec: str | Strategy) -> Strategy:
    """A strategy by name, or the given one; ``NAME+reflect`` and ``NAME+reflect-after`` are the
    same strategy with another repair (:mod:`~callwright.agent.strategies.reflecting`). The name of
    a strategy that is no more opens the one that took its place. Raises ConfigError for an unknown
    name, and for a repair of a strategy that is there to have none.
    """
    if not isinstance(spec, str):
        return spec
    name, _, repair = current_literal("strategies", spec).partition("+")
    if name not in STRATEGIES or (repair not in REFLECT if "+" in spec else repair):
        known = f"strategies: {', '.join(STRATEGIES)}; each also with +{' or +'.join(REFLECT)}"
        hint = suggest_name(name, STRATEGIES) + known
        raise ConfigError(f"there is no strategy {spec!r}", hint=hint)
    made = STRATEGIES[name]()
    if repair and hasattr(made, "prepare"):
        raise ConfigError(
            f"the strategy {name} repairs no calls, so +{repair} cannot be added",
            hint=f"--strategy {name}",
        )
    return wrap_with_repair(made, REFLECT[repair]) if repair else made


def require_freezable(strategy: Strategy, level: Level) -> Level:
    """The level, if this strategy has a plan that can be frozen so before any tool is called.
    Raises ConfigError.
    """
    if level and level not in getattr(strategy, "freezes", ()):
        able = ", ".join(
            name for name, made in STRATEGIES.items() if level in getattr(made, "freezes", ())
        )
        raise ConfigError(
            f"--freeze {level} is not supported by the strategy {strategy.name}",
            hint=(
                "it needs a strategy that plans before it calls:"
                f" {able or 'levels are plan and arguments'}"
            ),
        )
    return level


__all__ = [
    "DAG",
    "DFSDT",
    "REFLECT",
    "STRATEGIES",
    "Code",
    "CodeAsWritten",
    "CodeUnchecked",
    "Compiler",
    "DFSDTAsWritten",
    "DFSDTUnchecked",
    "Edges",
    "Given",
    "Guided",
    "Job",
    "Layered",
    "ReAct",
    "ReActAsWritten",
    "ReActUnchecked",
    "Reflecting",
    "Strategy",
    "ToolMVR",
    "ToolMVRAsWritten",
    "ToolMVRUnchecked",
    "WithoutRecovery",
    "WithoutRepair",
    "WithoutSketch",
    "open_strategy",
    "require_freezable",
    "wrap_with_repair",
]
