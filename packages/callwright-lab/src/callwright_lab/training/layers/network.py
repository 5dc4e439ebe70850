"""The layer network in PyTorch, for training only: equations and names of
:mod:`callwright.planning.network`.

Letters in shape comments as there: B batch, T tools, S = 1 + T, D encoder width, W network width, H
heads, K = L - 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from callwright.nouns.errors import MissingExtra
from callwright.planning.network import EPSILON, Array, Shape

try:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional as F
except ImportError:
    raise MissingExtra("training the layer predictor", "train", "callwright-lab") from None

if TYPE_CHECKING:
    from callwright_lab.training.layers.tensors import Batch

Balance = Literal["class", "threshold", "none"]


class LayerModel(nn.Module):
    """Logits of P(l > k), Eq. (3)-(8). Parameters carry the names of ``Shape.parameters()``, dots
    as double bars.
    """

    def __init__(self, shape: Shape, dropout: float = 0.1) -> None:
        super().__init__()
        self.shape = shape
        self.dropout = dropout
        for name, size in shape.parameters().items():
            if name.endswith((".mean", ".scale")):
                self.register_buffer(
                    _flatten_name(name), torch.full(size, float(name.endswith("scale")))
                )
            else:
                self.register_parameter(
                    _flatten_name(name), nn.Parameter(_initialize_tensor(name, size))
                )

    def forward(self, batch: Batch) -> Tensor:
        """Logits (B, T, K); what stands on padding means nothing."""
        bias = torch.zeros(batch.mask.shape[0], 1, 1, 1 + batch.mask.shape[1])
        bias[:, 0, 0, 1:].masked_fill_(~batch.mask, -1e9)
        x = self._project(batch)  # B S W
        pairs = self._standardised("pairs", batch.pairs) if self.shape.pair_features else None
        for i in range(self.shape.blocks):
            x = self._block(f"blocks.{i}.", x, bias, pairs)
        score = x[:, 1:] @ self._w("rank.weight")  # B T
        return score[..., None] + self._w("rank.bias")

    def arrays(self) -> dict[str, Array]:
        """The weights by the names the numpy network knows, float32."""
        return {name: self._w(name).detach().numpy().copy() for name in self.shape.parameters()}

    def load_arrays(self, arrays: Mapping[str, Array]) -> None:
        """Take over weights by the names the numpy network knows."""
        self.load_state_dict(
            {
                _flatten_name(name): torch.from_numpy(np.array(found))
                for name, found in arrays.items()
            }
        )

    def _project(self, batch: Batch) -> Tensor:
        drawn = batch.tools @ self._w("tools.project").T
        if self.shape.tool_features:
            drawn = (
                drawn
                + self._standardised("features", batch.features) @ self._w("features.project").T
            )
        z_query = F.relu(self._norm("query.norm", batch.query @ self._w("query.project").T))
        z_tools = F.relu(self._norm("tools.norm", drawn))
        return torch.cat([z_query[:, None], z_tools], dim=1)

    def _standardised(self, name: str, found: Tensor | None) -> Tensor:
        assert found is not None, f"a network with {name} needs a batch with them"
        return (found - self._w(f"{name}.mean")) / self._w(f"{name}.scale")

    def _block(self, name: str, x: Tensor, bias: Tensor, pairs: Tensor | None) -> Tensor:
        x = self._norm(name + "norm1", x + self._drop(self._attend(name, x, bias, pairs)))
        wide = self._drop(F.relu(self._linear(name + "expand", x)))
        return self._norm(name + "norm2", x + self._drop(self._linear(name + "contract", wide)))

    def _attend(self, name: str, x: Tensor, bias: Tensor, pairs: Tensor | None) -> Tensor:
        b, s, w = x.shape
        h = self.shape.heads
        parts = self._linear(name + "attend", x).view(b, s, 3, h, w // h).permute(2, 0, 3, 1, 4)
        q, k, v = parts.unbind(0)  # each B H S W/H
        scores = q @ k.transpose(-1, -2) / math.sqrt(w // h) + bias  # B H S S
        if pairs is not None:
            drawn = (pairs @ self._w(name + "pairs.weight").T).permute(0, 3, 1, 2)  # B H T T
            scores = scores + F.pad(drawn, (1, 0, 1, 0))
        mixed = self._drop(scores.softmax(-1)) @ v
        return self._linear(name + "merge", mixed.transpose(1, 2).reshape(b, s, w))

    def _linear(self, name: str, x: Tensor) -> Tensor:
        return F.linear(x, self._w(name + ".weight"), self._w(name + ".bias"))

    def _norm(self, name: str, x: Tensor) -> Tensor:
        return F.layer_norm(
            x, (self.shape.width,), self._w(name + ".gain"), self._w(name + ".bias"), EPSILON
        )

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training)

    def _w(self, name: str) -> Tensor:
        return cast("Tensor", getattr(self, _flatten_name(name)))


def layer_loss(logits: Tensor, batch: Batch, weights: Tensor) -> Tensor:
    """Eq. (10): weighted BCE over gold tools and thresholds, a scalar.

    ``logits`` (B, T, K); ``weights`` (2, K) are lambda_k for labels 0 and 1. Padding and tools that
    the answer never calls count for nothing; a true layer past K counts as K.
    """
    above = batch.layers[..., None] > torch.arange(logits.shape[-1])  # B T K, the cumulative labels
    each = F.binary_cross_entropy_with_logits(logits, above.float(), reduction="none")
    balanced = each * torch.where(above, weights[1], weights[0])
    share = batch.gold * batch.weight[:, None]  # B T
    return (balanced.sum(-1) * share).sum() / share.sum().clamp(min=1e-6)


def threshold_weights(layers: Array, count: int, balance: Balance, limit: float = 10.0) -> Array:
    """lambda_k of Eq. (10) for labels 0 and 1: float32 (2, count), from the layers of all gold
    training tools.

    ``class``: both labels of a threshold weigh the same in sum. ``threshold``: one weight per
    threshold, the square root of its larger class (CORAL, Cao et al., 2020, Eq. 6). ``none``: 1. No
    weight exceeds ``limit``.
    """
    above = layers[:, None] > np.arange(count)  # n K
    ones = above.sum(0).astype(np.float64)
    total = float(max(1, len(layers)))
    if balance == "none":
        return np.ones((2, count), np.float32)
    if balance == "threshold":
        larger = np.sqrt(np.maximum(ones, total - ones))
        return np.repeat(larger[None] / larger.max(), 2, axis=0).astype(np.float32)
    sizes = np.stack([total - ones, ones])
    capped: Array = np.minimum(total / (2 * np.maximum(sizes, 1)), limit).astype(np.float32)
    return capped


def _flatten_name(name: str) -> str:
    return name.replace(".", "__")


def _initialize_tensor(name: str, size: tuple[int, ...]) -> Tensor:
    """Xavier for matrices, ones for gains, zeros for biases; pair features start without
    influence.
    """
    if name.endswith("pairs.weight") or name.endswith("bias"):
        return torch.zeros(size)
    if name.endswith("gain"):
        return torch.ones(size)
    drawn = torch.empty(size if len(size) > 1 else (1, *size))
    return nn.init.xavier_uniform_(drawn).view(size)
