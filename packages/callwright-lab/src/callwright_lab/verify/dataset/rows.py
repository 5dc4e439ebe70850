"""The rows of a data set as a sweep judges them: the rules first, then the models that were
given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, get_args

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
        self._first: dict[str, str] = {}
        for transcript in transcripts:
            self._first.setdefault(transcript.trajectory.key, make_transcript_key(transcript))
        self._counts = Counter(t.trajectory.key for t in transcripts)

    def rows(self) -> list[Row[Transcript]]:
        return [Row(t.trajectory.id, make_transcript_key(t), t) for t in self._transcripts]

    async def judge(self, transcript: Transcript, meter: Meter) -> Finding:
        """One row by rule, and by the models where there are any."""
        found = [*find_defects(transcript), *self._repeated(transcript)]
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

    def _repeated(self, transcript: Transcript) -> list[Defect]:
        """Another row asks the same of the same tools: a finding of the later ones."""
        asked = transcript.trajectory.key
        if self._counts[asked] < 2 or self._first[asked] == make_transcript_key(transcript):
            return []
        return [
            Defect("repeated_request", f"{self._counts[asked]} rows ask this of the same tools")
        ]

    async def _opinions(self, transcript: Transcript, meter: Meter) -> dict[str, dict[str, bool]]:
        if not self._judges:
            return {}
        polls = await poll_judges(
            self._judges,
            lambda constrained, seat: ask_opinion(transcript.trajectory, constrained, seat),
            meter.metered,
        )
        return {name: {str(c): holds for c, holds in said.items()} for name, said in polls.items()}


def make_transcript_key(transcript: Transcript) -> str:
    """Return the key of a row's finding, from everything that its record contains."""
    return make_row_key(
        transcript.trajectory, sorted(transcript.context), sorted(transcript.cut), transcript.format
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
