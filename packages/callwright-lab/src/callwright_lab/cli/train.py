"""``callwright train``: each kind of weights has its own script with ``main(arguments)``."""

from __future__ import annotations

from collections.abc import Sequence

from callwright.nouns.errors import ConfigError


def train_layers(arguments: Sequence[str]) -> int:
    """``--model edges`` (default), ``graph``, ``network``; ``complextool`` measures. The rest goes
    to its script.
    """
    rest = list(arguments)
    kind = "edges"
    if "--model" in rest:
        at = rest.index("--model")
        if at + 1 >= len(rest):
            raise ConfigError("--model needs a value", hint="edges, graph, network or complextool")
        kind = rest[at + 1]
        del rest[at : at + 2]
    if kind == "edges":
        from callwright_lab.training.edges.edges import main as train_edges

        return train_edges(rest) or 0
    if kind == "graph":
        from callwright_lab.training.edges.graph import main as train_graph

        return train_graph(rest) or 0
    if kind == "complextool":
        from callwright_lab.training.edges.complextool import main as measure_complextool

        return measure_complextool(rest) or 0
    if kind == "network":
        from callwright_lab.training.layers.command import main as train_network

        return train_network(rest) or 0
    raise ConfigError(
        f"there is no layer model {kind!r}", hint="edges, graph, network or complextool"
    )
