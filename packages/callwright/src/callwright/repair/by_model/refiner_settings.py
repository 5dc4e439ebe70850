"""The settings of a refiner, the same behind ``refine``, the proxy and the gateway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from callwright.nouns.errors import ConfigError
from callwright.repair.by_model.harm_bound import HarmBound, Measured

Prompt: TypeAlias = Literal["paper", "short"]
"""The paper's prompt (``refine``), or the one small refiners are trained with (``refiner_short``).
"""
MAX_TOKENS = 768
LONGEST = 4_096
"""The longest answer of the paper's refiner, its reasoning included (Tool-use Refiner, D.1)."""


@dataclass(frozen=True, slots=True)
class RefinerSettings:
    """The way a refiner is asked, and what of its answers counts.

    ``max_tokens``: of an answer with its reasoning, at most :data:`LONGEST`. ``refiner`` names the
    model, ``upstream`` the one whose calls it sees, as a calibration names them. ``bound`` is used
    where it was measured with both, with this prompt and this length. ``is_guarded`` False takes
    every answer that can be read, as the paper does. Raises ConfigError.
    """

    prompt: Prompt = "paper"
    max_tokens: int = MAX_TOKENS
    refiner: str = ""
    upstream: str = ""
    bound: HarmBound | None = None
    is_guarded: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.max_tokens <= LONGEST:
            raise ConfigError(
                f"a refiner's answer cannot have {self.max_tokens} tokens", hint=f"1 to {LONGEST}"
            )
        if self.bound is not None and not self.is_guarded:
            raise ConfigError(
                "without a guard no harm bound is kept", hint="leave one of the two out"
            )

    @property
    def measured(self) -> Measured:
        """Return what a bound must have been measured with."""
        return Measured(self.refiner, self.upstream, self.prompt, self.max_tokens)

    @property
    def bound_in_use(self) -> HarmBound | None:
        """Return the bound, if it was measured with what is in use."""
        return None if self.bound is None or self.explain_unused() else self.bound

    def explain_unused(self) -> str:
        """Return why the bound is not used; "" if it is, or there is none."""
        return "" if self.bound is None else self.bound.explain_mismatch(self.measured)
