"""``callwright train layers``: each kind of layer model has its own command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module

from callwright.nouns.errors import ConfigError

_KINDS: Mapping[str, str] = {
    "edges": "edges.edges",
    "graph": "edges.graph",
    "complextool": "edges.complextool",
    "network": "layers.command",
}
_HINT = "edges, graph, network or complextool"


def main(arguments: Sequence[str]) -> int:
    """``--model edges`` (default), ``graph``, ``network``; ``complextool`` measures. The rest goes
    to its command. Raises ConfigError for another kind.
    """
    rest = list(arguments)
    kind = "edges"
    if "--model" in rest:
        at = rest.index("--model")
        if at + 1 >= len(rest):
            raise ConfigError("--model needs a value", hint=_HINT)
        kind = rest[at + 1]
        del rest[at : at + 2]
    if kind not in _KINDS:
        raise ConfigError(f"there is no layer model {kind!r}", hint=_HINT)
    module = import_module(f"callwright_lab.training.{_KINDS[kind]}")
    return module.main(rest) or 0
