"""The rows of a data set as a sweep judges them: the rules first, then the models that were
given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, get_args

from callwright.nouns.protocols import ChatModel
from callwright.nouns.types import to_json
from callwright_lab.transcripts import Transcript
from callwright_lab.verify.budget import Meter
from callwright_lab.verify.committee import poll_judges
from callwright_lab.verify.dataset.account import Defect, DefectKind
from callwright_lab.verify.dataset.judge import ask_opinion
from callwright_lab.verify.dataset.precision import is_defect
from callwright_lab.verify.dataset.rules import CALLS, QUERY, Judged, find_defects
from callwright_lab.verify.sweep import Finding, Row, make_row_key

Listed: TypeAlias = tuple[Transcript, int]
"""A transcript, and what :func:`count_repeats` tells of it."""


class DatasetVerifier:
    """Judges transcripts. A row with a defect is dropped; with ``strict`` also one with a
    suspicion, or that most of the ``judges`` find wanting.
    """

    def __init__(
        self,
        transcripts: Sequence[Transcript],
        *,
        judges: Mapping[str, ChatModel] | None = None,
        strict: bool = False,
    ) -> None:
        self._transcripts = transcripts
        self._judges = judges or {}
        self._strict = strict

    def rows(self) -> list[Row[Listed]]:
        """A row for every transcript, with what the others say of it."""
        repeats = count_repeats(self._transcripts)
        return [
            Row(t.trajectory.id, make_transcript_key(t, times), (t, times))
            for t, times in zip(self._transcripts, repeats, strict=True)
        ]

    async def judge(self, listed: Listed, meter: Meter) -> Finding:
        """One row by rule, and by the models where there are any."""
        transcript, times = listed
        found = [*find_defects(transcript)]
        if times:
            found.append(Defect("repeated_request", f"{times} rows ask this of the same tools"))
        opinions = await self._opinions(transcript, meter)
        wanting = [c for c in (*QUERY, *CALLS) if _is_majority_against(opinions, c)]
        told = {
            "findings": [
                {**to_json(d), "level": "defect" if is_defect(d.kind) else "suspicion"}
                for d in found
            ],
            **({"judges": opinions, "wanting": wanting} if opinions else {}),
        }
        against = next(
            (d for d in found if is_defect(d.kind)), found[0] if found and self._strict else None
        )
        if against is not None:
            return Finding(False, against.kind, against.reason, told)
        if wanting and self._strict:
            return Finding(False, f"judged: {wanting[0]}", "most judges find it wanting", told)
        return Finding(
            True, "suspicion" if found or wanting else "", found[0].reason if found else "", told
        )

    async def _opinions(self, transcript: Transcript, meter: Meter) -> dict[str, dict[str, bool]]:
        if not self._judges:
            return {}
        polls = await poll_judges(
            self._judges,
            lambda constrained, seat: ask_opinion(transcript.trajectory, constrained, seat),
            meter.metered,
        )
        return {name: {str(c): holds for c, holds in said.items()} for name, said in polls.items()}


def count_repeats(transcripts: Sequence[Transcript]) -> list[int]:
    """For each transcript how many ask the same of the same tools, where an earlier one does; else
    0.
    """
    asked = [transcript.trajectory.key for transcript in transcripts]
    counts = Counter(asked)
    first = {key: at for at, key in reversed([*enumerate(asked)])}
    return [counts[key] if first[key] < at else 0 for at, key in enumerate(asked)]


def make_transcript_key(transcript: Transcript, times: int = 0) -> str:
    """Return the key of a row's finding, from everything that its record contains, and from how
    often it was asked before (:func:`count_repeats`): a journal serves many data sets.
    """
    return make_row_key(
        transcript.trajectory,
        sorted(transcript.context),
        sorted(transcript.cut),
        transcript.format,
        *([times] if times else []),
    )


def parse_judged(finding: Finding) -> Judged:
    """The row of a sweep's finding, with what the rules found."""
    kinds = get_args(DefectKind)
    told: list[dict[str, Any]] = finding.found.get("findings", [])
    return Judged(
        finding.id,
        tuple(
            Defect(d["kind"], d["reason"], d["step"], d["call"]) for d in told if d["kind"] in kinds
        ),
    )


def _is_majority_against(opinions: Mapping[str, Mapping[str, bool]], criterion: str) -> bool:
    """Return True if more judges reject the criterion than confirm it."""
    votes = [said[criterion] for said in opinions.values() if criterion in said]
    return votes.count(False) > votes.count(True)
