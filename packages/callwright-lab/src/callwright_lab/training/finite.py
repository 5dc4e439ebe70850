"""Keeps learned weights finite: a step whose gradients are not is left out."""

from __future__ import annotations

from typing import Any

from callwright.nouns.errors import ConfigError, MissingExtra
from callwright_lab.training.progress import print_progress

try:
    import torch
    from accelerate.utils import gather_object
    from transformers import TrainerCallback
except ImportError:
    raise MissingExtra("training a language model", "train", "callwright-lab") from None

MOST = 10
"""Steps left out one after the other that end a run."""


class FiniteSteps(TrainerCallback):  # type: ignore[misc]
    """Leaves out each step in which a gradient is infinite or no number. Weights, moments and the
    checkpoints stay as the step before left them. ``left_out`` counts such steps.

    After :data:`MOST` of them in a row ConfigError is raised. DeepSpeed keeps its gradients to
    itself and looks after them itself.
    """

    def __init__(self) -> None:
        self.left_out = 0
        self._in_a_row = 0

    def on_pre_optimizer_step(
        self, _args: Any, state: Any, _control: Any, model: Any = None, **_: Any
    ) -> None:
        learned = [p for p in model.parameters() if p.grad is not None]
        if not any(gather_object([not _is_finite(learned)])):
            self._in_a_row = 0
            return
        self.left_out += 1
        self._in_a_row += 1
        step = state.global_step + 1
        if self._in_a_row >= MOST:
            raise ConfigError(
                f"the gradients of {MOST} steps up to step {step} are not finite",
                hint="lower the rate or try --no-bf16; the last checkpoint can be gone on from",
            )
        print_progress(f"step {step} was left out: its gradients are not finite")
        for weight in learned:
            weight.grad = None


def avoid_cudnn_attention() -> None:
    """Compute attention by PyTorch's other kernels where there is CUDA. On Hopper cards cuDNN's
    gives gradients that are no numbers for masked rows of some lengths (PyTorch 2.11 and later,
    pytorch/pytorch#196678).
    """
    if torch.cuda.is_available():
        torch.backends.cuda.enable_cudnn_sdp(False)


def _is_finite(learned: list[Any]) -> bool:
    found = [torch.isfinite(weight.grad).all() for weight in learned]
    return not found or bool(torch.stack([one.to(found[0].device) for one in found]).all())
