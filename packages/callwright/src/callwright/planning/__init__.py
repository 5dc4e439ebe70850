"""Opens planners, which put tools into an order before anything runs."""

from __future__ import annotations

from callwright.nouns.errors import ConfigError
from callwright.nouns.protocols import Planner

PLANNERS = (
    "default",
    "edges",
    "edges-encoder",
    "graph",
    "graph-connected",
    "layers",
    "schema",
    "mention",
    "all-in-one",
)

_DAG = "dag:"  # before a model: asked for steps, as the strategy dag asks
_MODELS = (
    "http://",
    "https://",
    "openai:",
    "local:",
)  # a language model that plans, as open_model takes it
READ_VECTORS = ("edges-encoder", "layers")


def default_planner() -> Planner:
    """The planner used when none is chosen: the shipped edge model."""
    from callwright.planning.edges import EdgePlanner

    return EdgePlanner()


def open_planner(spec: str | Planner | None = None, encoder: str | None = None) -> Planner:
    """A planner by name, a language model by its address (``http://host/v1#model``), or the given
    one.

    ``encoder`` is for those of :data:`READ_VECTORS` (see open_encoder).

    Raises ConfigError for an unknown name and for an encoder that the planner would not use,
    MissingExtra where the encoder's library is missing.
    """
    if (
        encoder is not None
        and spec not in READ_VECTORS
        and (not isinstance(spec, str) or spec in PLANNERS)
    ):
        named = spec if isinstance(spec, str) else getattr(spec, "name", "default")
        reading = " or ".join(f"--planner {name}" for name in READ_VECTORS)
        raise ConfigError(
            f"the planner {named!r} reads no vectors: the encoder {encoder!r} would go unused",
            hint=f"take a planner that reads vectors ({reading}), or leave --encoder out",
        )
    if spec is not None and not isinstance(spec, str):
        return spec
    if spec in (None, "default", "edges"):
        return default_planner()
    if spec == "layers":
        from callwright.models.encoders import open_encoder
        from callwright.planning.layers import LayerPredictor

        return LayerPredictor(open_encoder(encoder))
    if spec == "edges-encoder":
        from callwright.models.encoders import open_encoder
        from callwright.planning.edges import WITH_ENCODER, EdgePlanner, open_model

        return EdgePlanner(open_model(WITH_ENCODER, open_encoder(encoder)))
    if spec.removeprefix(_DAG).startswith(_MODELS):
        from callwright.planning.trained import TrainedPlanner

        dag, model = spec.startswith(_DAG), spec.removeprefix(_DAG)
        return TrainedPlanner(model, "steps" if dag else "arrows")
    if spec in ("graph", "graph-connected"):
        from callwright.planning.graph import GraphPlanner

        return GraphPlanner(connected=spec == "graph-connected")
    from callwright.planning.planner import AllInOnePlanner, MentionPlanner, SchemaPlanner

    simple: dict[str, type[Planner]] = {
        "schema": SchemaPlanner,
        "mention": MentionPlanner,
        "all-in-one": AllInOnePlanner,
    }
    if spec not in simple:
        raise ConfigError(
            f"there is no planner {spec!r}",
            hint="planners: "
            + ", ".join(PLANNERS)
            + "; or a model that plans: http://host/v1#model, dag:local:",
        )
    return simple[spec]()


__all__ = ["PLANNERS", "default_planner", "open_planner"]
