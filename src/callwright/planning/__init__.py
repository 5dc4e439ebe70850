"""Who runs after whom: planners that put every tool into a layer before anything runs."""

from __future__ import annotations

from callwright.errors import ConfigError
from callwright.protocols import Planner

PLANNERS = ("default", "edges", "layers", "schema", "mention", "all-in-one")


def default_planner() -> Planner:
    """The planner used when none is chosen: the shipped edge model."""
    from callwright.planning.edges import EdgePlanner

    return EdgePlanner()


def open_planner(spec: str | Planner | None = None, encoder: str | None = None) -> Planner:
    """A planner by name, or the given one. ``encoder`` is for ``layers`` (see callwright.encoders.open_encoder).

    Raises ConfigError for an unknown name and for an encoder that the planner would not use, MissingExtra where the
    encoder's library is missing.
    """
    if encoder is not None and spec != "layers" and (not isinstance(spec, str) or spec in PLANNERS):
        named = spec if isinstance(spec, str) else "default" if spec is None else spec.name
        raise ConfigError(
            f"the planner {named!r} reads no vectors: the encoder {encoder!r} would go unused",
            hint="take the planner that reads vectors (--planner layers), or leave --encoder out",
        )
    if spec is not None and not isinstance(spec, str):
        return spec
    if spec in (None, "default"):
        return default_planner()
    if spec == "layers":
        from callwright.encoders import open_encoder
        from callwright.planning.layers import LayerPredictor

        return LayerPredictor(open_encoder(encoder))
    if spec == "edges":
        from callwright.planning.edges import EdgePlanner

        return EdgePlanner()
    from callwright.planning.planner import AllInOnePlanner, MentionPlanner, SchemaPlanner

    simple: dict[str, type[Planner]] = {
        "schema": SchemaPlanner,
        "mention": MentionPlanner,
        "all-in-one": AllInOnePlanner,
    }
    if spec not in simple:
        raise ConfigError(f"there is no planner {spec!r}", hint="planners: " + ", ".join(PLANNERS))
    return simple[spec]()


__all__ = ["PLANNERS", "default_planner", "open_planner"]
