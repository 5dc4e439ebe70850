"""The options of a refiner, for ``refine``, ``proxy`` and ``gateway``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from callwright.cli.refiner import RefinerSetup


@dataclass(frozen=True, slots=True)
class RefinerOptions:
    """A model that repairs calls, and what of its answers counts."""

    refiner: Annotated[
        str,
        typer.Option(
            "--refiner", help="Also ask this model to repair replies (local:PATH, URL#MODEL)."
        ),
    ] = ""
    refiner_prompt: Annotated[
        str,
        typer.Option(
            help="The refiner's prompt: paper, or short for small ones.",
            autocompletion=lambda: ["paper", "short"],
        ),
    ] = "paper"
    refiner_tokens: Annotated[
        int,
        typer.Option(
            "--refiner-tokens",
            min=1,
            max=4096,
            help="Length of the refiner's answer, its reasoning included; the paper's: 4096.",
        ),
    ] = 768
    harm_bound: Annotated[
        Path | None,
        typer.Option(
            "--harm-bound",
            help="Take the refiner's changes by this calibration (train harm-bound); otherwise any"
            " objection counts.",
        ),
    ] = None
    upstream_model: Annotated[
        str,
        typer.Option(
            "--upstream-model", help="Whose replies these are, as the calibration names it."
        ),
    ] = ""
    no_guard: Annotated[
        bool,
        typer.Option(
            "--no-guard",
            help="As in the paper: take every answer that names offered tools. It harms right"
            " calls, and may add writes.",
        ),
    ] = False

    def to_setup(self) -> RefinerSetup:
        """The refiner that the options name."""
        from callwright.cli.refiner import RefinerSetup

        return RefinerSetup(
            self.refiner,
            self.refiner_prompt,
            self.refiner_tokens,
            self.upstream_model,
            str(self.harm_bound) if self.harm_bound else "",
            not self.no_guard,
        )


@dataclass(frozen=True, slots=True)
class ServedRefinerOptions(RefinerOptions):
    """The same where a server has guards of its own, of which ``--no-guard`` might speak."""

    no_guard: Annotated[
        bool,
        typer.Option(
            "--no-refiner-guard",
            help="As in the paper: take every answer of the refiner that names offered tools. It"
            " harms right calls, and may add writes.",
        ),
    ] = False
