"""The layer network as a numpy forward pass: RETO section 3.2, Eq. (1)-(9). No tensor library at
inference.

Letters in shape comments: B batch, T tools, S = 1 + T tokens (query first), D width of the text
encoder, W width of the network (the paper's d'), H heads, K = L - 1 thresholds, F tool features, P
pair features.

Nothing depends on the order of the tools: there is no positional encoding, so permuting tools
permutes the output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeAlias

import numpy as np

from callwright.nouns.errors import WeightsError
from callwright.nouns.types import Tool

Array: TypeAlias = np.ndarray[Any, Any]

EPSILON = 1e-5  # of every LayerNorm


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a network. The defaults are the paper's (A.1) on the 384-wide MiniLM encoder.

    ``hidden`` is the feed-forward width, on which the paper is silent. ``tool_features`` and
    ``pair_features`` are 0 for the paper's text-only network.
    """

    encoder_width: int = 384  # d
    width: int = 256  # d'
    heads: int = 8
    blocks: int = 2
    hidden: int = 1024
    layers: int = 5  # L
    tool_features: int = 0
    pair_features: int = 0

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not a multiple of {self.heads} heads")
        if self.layers < 2:
            raise ValueError(f"an ordinal output needs at least 2 layers, not {self.layers}")

    def to_dict(self) -> dict[str, int]:
        return asdict(self)

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Shape:
        """Raises WeightsError if a size is missing or not a number."""
        try:
            return cls(**{f.name: int(row[f.name]) for f in fields(cls)})
        except (KeyError, TypeError, ValueError) as exc:
            raise WeightsError(f"the card does not describe a layer network: {exc!r}") from exc

    def parameters(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every array of the network; training and inference share these
        names.
        """
        w, d = self.width, self.encoder_width
        found: dict[str, tuple[int, ...]] = {}
        for side in ("query", "tools"):
            found |= {
                f"{side}.project": (w, d),
                f"{side}.norm.gain": (w,),
                f"{side}.norm.bias": (w,),
            }
        if self.tool_features:
            found |= {f"features.{k}": (self.tool_features,) for k in ("mean", "scale")}
            found["features.project"] = (w, self.tool_features)
        if self.pair_features:
            found |= {f"pairs.{k}": (self.pair_features,) for k in ("mean", "scale")}
        for i in range(self.blocks):
            found |= {f"blocks.{i}.{name}": shape for name, shape in self._block().items()}
        return found | {"rank.weight": (w,), "rank.bias": (self.layers - 1,)}

    def _block(self) -> dict[str, tuple[int, ...]]:
        w, h = self.width, self.hidden
        found: dict[str, tuple[int, ...]] = {
            "attend.weight": (3 * w, w),
            "attend.bias": (3 * w,),
            "merge.weight": (w, w),
            "merge.bias": (w,),
            "norm1.gain": (w,),
            "norm1.bias": (w,),
            "expand.weight": (h, w),
            "expand.bias": (h,),
            "contract.weight": (w, h),
            "contract.bias": (w,),
            "norm2.gain": (w,),
            "norm2.bias": (w,),
        }
        return found | (
            {"pairs.weight": (self.heads, self.pair_features)} if self.pair_features else {}
        )


class Network:
    """A trained layer network. ``weights`` maps each name of ``Shape.parameters()`` to an array of
    that shape.
    """

    def __init__(self, shape: Shape, weights: Mapping[str, Array]) -> None:
        wanted = shape.parameters()
        for name, size in wanted.items():
            found = weights.get(name)
            if found is None or found.shape != size:
                is_what = "missing" if found is None else f"of shape {found.shape}"
                raise WeightsError(f"weight {name!r} should have shape {size} and is {is_what}")
        self.shape = shape
        self.weights = {
            name: np.ascontiguousarray(weights[name], dtype=np.float32) for name in wanted
        }

    def __call__(
        self,
        query: Array,
        tools: Array,
        mask: Array | None = None,
        features: Array | None = None,
        pairs: Array | None = None,
    ) -> Array:
        """Eq. (3)-(8): P(l > k) of every tool, float32 of shape (B, T, K).

        ``query`` (B, D) and ``tools`` (B, T, D) are encoder vectors, ``mask`` (B, T) is False on
        padding. A network with features also takes ``features`` (B, T, F) and ``pairs`` (B, T, T,
        P), where ``pairs[b, i, j]`` describes tool i looking at tool j.
        """
        ones = np.ones(tools.shape[:2], bool) if mask is None else mask
        tokens = self._project(query, tools, features)  # B S W
        bias = self._bias(ones)
        known = self._standardised("pairs", pairs)
        for i in range(self.shape.blocks):
            tokens = self._block(i, tokens, bias, known)
        score = tokens[:, 1:] @ self.weights["rank.weight"]  # B T, Eq. (7)
        return sigmoid(score[..., None] + self.weights["rank.bias"])  # B T K, Eq. (8)

    def _project(self, query: Array, tools: Array, features: Array | None) -> Array:
        """Eq. (3)-(5): separate projections of query and tools, joined into one sequence (B, S,
        W).
        """
        w = self.weights
        drawn = tools.astype(np.float32) @ w["tools.project"].T
        known = self._standardised("features", features)
        if known is not None:
            drawn = drawn + known @ w["features.project"].T
        z_query = relu(self._norm("query.norm", query.astype(np.float32) @ w["query.project"].T))
        z_tools = relu(self._norm("tools.norm", drawn))
        return np.concatenate([z_query[:, None], z_tools], axis=1)

    def _standardised(self, name: str, found: Array | None) -> Array | None:
        """Features as they were seen in training: mean 0, deviation 1. None for a network without
        them.
        """
        if f"{name}.mean" not in self.weights:
            return None
        if found is None:
            raise ValueError(f"this network was trained with {name}: pass them")
        out: Array = (found.astype(np.float32) - self.weights[f"{name}.mean"]) / self.weights[
            f"{name}.scale"
        ]
        return out

    def _bias(self, mask: Array) -> Array:
        """Additive attention bias (B, 1, 1, S) that hides padding. The query is always seen."""
        seen = np.concatenate([np.ones((len(mask), 1), bool), mask], axis=1)
        return np.where(seen, np.float32(0), np.float32(-1e9))[:, None, None, :]

    def _block(self, i: int, x: Array, bias: Array, pairs: Array | None) -> Array:
        """One post-norm encoder layer (Vaswani et al., 2017), ReLU in the feed-forward part."""
        name = f"blocks.{i}."
        x = self._norm(name + "norm1", x + self._attend(name, x, bias, pairs))
        wide = relu(self._linear(name + "expand", x))
        return self._norm(name + "norm2", x + self._linear(name + "contract", wide))

    def _attend(self, name: str, x: Array, bias: Array, pairs: Array | None) -> Array:
        b, s, w = x.shape
        h = self.shape.heads
        parts = (
            self._linear(name + "attend", x).reshape(b, s, 3, h, w // h).transpose(2, 0, 3, 1, 4)
        )
        q, k, v = parts  # each B H S W/H
        scores = q @ k.swapaxes(-1, -2) / np.float32(np.sqrt(w // h)) + bias  # B H S S
        if pairs is not None:
            scores[:, :, 1:, 1:] += (pairs @ self.weights[name + "pairs.weight"].T).transpose(
                0, 3, 1, 2
            )
        mixed = (softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(b, s, w)
        return self._linear(name + "merge", mixed)

    def _linear(self, name: str, x: Array) -> Array:
        out: Array = x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]
        return out

    def _norm(self, name: str, x: Array) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + np.float32(EPSILON))
        out: Array = scaled * self.weights[name + ".gain"] + self.weights[name + ".bias"]
        return out


def decode_layers(cumulative: Array) -> Array:
    """Eq. (9): the layer is the number of thresholds exceeded. (…, K) -> (…) of int."""
    out: Array = (cumulative > 0.5).sum(-1)
    return out


def compute_probabilities(cumulative: Array) -> Array:
    """P(l = k) from P(l > k): (…, K) -> (…, K + 1), non-negative, summing to 1.

    Eq. (8) does not force the biases to fall with k; where they do not, the running minimum is
    taken.
    """
    falling = np.minimum.accumulate(cumulative, axis=-1)
    edge = np.ones((*falling.shape[:-1], 1), falling.dtype)
    out: Array = np.concatenate([edge, falling], -1) - np.concatenate([falling, edge * 0], -1)
    return out


def render_document(tool: Tool, outputs: bool = False) -> str:
    """doc(t) of Eq. (2): name, description and parameter schema as one text for the encoder.

    Encoders cut long texts, so what tells tools apart stands first: name, description, required
    parameters. ``outputs`` adds the names of the output schema, the paper's "optionally other
    metadata when available".
    """
    names = sorted(tool.properties, key=lambda name: name not in tool.required)
    parts = [
        _render_parameter(name, tool.properties[name], name in tool.required) for name in names
    ]
    text = f"{tool.name}: {tool.description.strip()}\nParameters: {'; '.join(parts) or 'none'}"
    if not outputs:
        return text
    found = (tool.output_schema or {}).get("properties")
    given = (
        [_render_parameter(name, spec, False) for name, spec in found.items()]
        if isinstance(found, dict)
        else []
    )
    return f"{text}\nReturns: {'; '.join(given) or 'unknown'}"


def _render_parameter(name: str, schema: Any, required: bool) -> str:
    row = schema if isinstance(schema, dict) else {}
    kind = row.get("type", "any")
    kind = "|".join(map(str, kind)) if isinstance(kind, list) else str(kind)
    about = str(row.get("description") or "").strip()
    return f"{name} ({kind}{', required' if required else ''}){': ' + about if about else ''}"


def relu(x: Array) -> Array:
    out: Array = np.maximum(x, np.float32(0))
    return out


def sigmoid(x: Array) -> Array:
    out: Array = 1.0 / (1.0 + np.exp(-np.clip(x, -60, 60)))
    return out


def softmax(x: Array) -> Array:
    """Over the last axis."""
    grown = np.exp(x - x.max(-1, keepdims=True))
    out: Array = grown / grown.sum(-1, keepdims=True)
    return out
