"""A calibrated limit on harm: the cut of a score below which a refiner's change is taken.

It is a JSON file that ``callwright train harm-bound`` writes. What it guarantees, and what it does
not, stands there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject, to_canonical_json
from callwright.repair.by_model.harm_score import LIKELIHOOD, Features, HarmScore

KIND, VERSION = "callwright harm bound", 1
CutName: TypeAlias = Literal["plain", "likelihood"]
"""``likelihood``: the score that also sees log-probabilities; ``plain``: the one that does not."""
_HINT = "write it again with callwright train harm-bound"


@dataclass(frozen=True, slots=True)
class Measured:
    """The refiner, the upstream, and the refiner's settings that a bound was measured with. The
    models are named as commands name them.
    """

    refiner: str
    upstream: str
    prompt: str
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Cut:
    """A score and its cut: a change is taken if its score is below ``threshold``.

    ``calls``: the right replies of the calibration, ``harms``: those that this cut would have let
    become wrong, ``upper``: the one-sided upper confidence bound of their share. ``helps`` of
    ``wrong`` replies that would have become right. ``source``: the rows that the weights were fitted on.
    """

    score: HarmScore
    threshold: float
    calls: int
    harms: int
    upper: float
    helps: int
    wrong: int
    source: str


@dataclass(frozen=True, slots=True)
class HarmBound:
    """``limit`` and ``confidence`` are those that the cuts keep; ``rows`` is the digest of the
    calibration's rows.
    """

    measured: Measured
    limit: float
    confidence: float
    rows: str
    cuts: Mapping[CutName, Cut]

    def choose_cut(self, features: Features) -> Cut:
        """Return the cut for a change: with log-probabilities where both sides have them."""
        likely = self.cuts.get("likelihood")
        if likely is not None and all(name in features for name in LIKELIHOOD):
            return likely
        return self.cuts["plain"]

    def explain_refusal(self, features: Features) -> str:
        """Return why a change is not taken; "" if it is."""
        cut = self.choose_cut(features)
        score = cut.score.rate(features)
        if score < cut.threshold:
            return ""
        told = ", ".join(cut.score.explain(features)) or "no feature"
        return f"The change's harm score {score:.3f} is not below {cut.threshold:.3f} ({told})."

    def explain_mismatch(self, used: Measured) -> str:
        """Return why this bound says nothing of what is in use; "" if it does."""
        mine, theirs = asdict(self.measured), asdict(used)
        told = [
            f"{name} {mine[name]!r}, and not {theirs[name] or 'unnamed'!r}"
            for name in mine
            if mine[name] != theirs[name] or not mine[name]
        ]
        if not told:
            return ""
        said = "; ".join(told)
        return f"The harm bound is not used, any objection counts: it was measured with {said}."


def serialize_bound(bound: HarmBound) -> str:
    """Return the file's text. It ends with the digest of all else."""
    told: JsonObject = {"kind": KIND, "version": VERSION, **asdict(bound)}
    told["digest"] = _digest(told)
    return to_canonical_json(told) + "\n"


def read_bound(path: Path) -> HarmBound:
    """Read a file. Raises ConfigError where it is none, or was changed since it was written."""
    try:
        told = parse(path.read_bytes())
    except (OSError, JsonError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", hint=_HINT) from None
    if not isinstance(told, dict) or told.get("kind") != KIND or told.get("version") != VERSION:
        raise ConfigError(f"{path} holds no harm bound of version {VERSION}", hint=_HINT)
    if told.pop("digest", None) != _digest(told):
        raise ConfigError(f"{path} was changed after its calibration", hint=_HINT)
    try:
        return _build_bound(told)
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{path} holds no harm bound: {error}", hint=_HINT) from None


def _build_bound(told: Mapping[str, Any]) -> HarmBound:
    cuts: dict[CutName, Cut] = {"plain": _build_cut(told["cuts"]["plain"])}
    if "likelihood" in told["cuts"]:
        cuts["likelihood"] = _build_cut(told["cuts"]["likelihood"])
    measured = Measured(**told["measured"])
    return HarmBound(measured, told["limit"], told["confidence"], told["rows"], cuts)


def _build_cut(told: Mapping[str, Any]) -> Cut:
    return Cut(**{**told, "score": HarmScore(**told["score"])})


def _digest(told: JsonObject) -> str:
    return "sha256:" + hashlib.sha256(to_canonical_json(told).encode()).hexdigest()
