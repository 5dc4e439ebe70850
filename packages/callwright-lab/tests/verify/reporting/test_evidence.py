"""What a page shows of a finding is what the stage found, from the finding alone where that
suffices.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from callwright.nouns.errors import ToolError
from callwright.nouns.types import READ_LOCAL, Tool
from callwright.testing import ScriptedModel
from callwright.tools.catalog import open_catalog
from callwright.tools.python.functions import tool
from callwright.viewer import Changes, Lines, Part, Table
from callwright_lab.transcripts import read_record
from callwright_lab.verify.apis import ApiVerifier, Watch
from callwright_lab.verify.budget import Meter
from callwright_lab.verify.dataset.rows import DatasetVerifier
from callwright_lab.verify.queries import QueryVerifier
from callwright_lab.verify.reporting import evidence
from callwright_lab.verify.requests import Asked
from callwright_lab.verify.sweep import Finding, Journal, run_sweep
from callwright_lab.verify.trajectories import Checked, TrajectoryVerifier
from tests.cli.test_verify_trajectories import CLEAR, END, TWICE, record


def tables(parts: Any) -> dict[str, Part]:
    return {part.title: part for part in parts}


async def test_a_tools_documentation_stands_beside_what_was_observed() -> None:
    @tool(effects=READ_LOCAL)
    def weather(city: str, days: int = 1) -> dict[str, object]:
        """Weather."""
        if days > 3:
            raise ToolError("days must be at most 3")
        return {"city": city}

    async with open_catalog([weather]) as catalog:
        watch = Watch(today=date(2026, 11, 22))
        verifier = ApiVerifier(catalog.tools, catalog.call, watch)
        made = await run_sweep(
            verifier.rows(), verifier.judge, Journal(None, {}), levels=verifier.levels
        )
        (finding,) = made.findings
        (shown,) = evidence.iter_documentation_parts(finding, catalog["weather"])
    assert isinstance(shown, Changes)
    rows = {change.where: change for change in shown.changes}
    assert rows["days: maximum"].after == "3"
    assert "it refused" in rows["days: maximum"].because
    calls = tables(evidence.iter_tool_evidence(finding))["Calls"]
    assert isinstance(calls, Table)
    assert {row[1] for row in calls.rows} == {
        "functional success",
        "parameter mismatch: tool_error",
    }


def test_drift_and_what_does_not_stand_are_told_and_reasons_are_named_alike() -> None:
    found = {
        "calls": [{"outcome": "execution_error", "kind": "auth", "proof": "403", "said": "403", "reply": None,
                   "arguments": {}}],
        "drift": ["asks for 'year', which is not documented", "asks for 'day', which is not documented"],
        "refused": ["made up"], "votes": {"a": "invalid", "b": ""},
        "stand_in": {"arguments": {}, "reply": "x" * 700, "simulated": "model"},
    }  # fmt: skip
    finding = Finding(False, "dead: auth", "403", found, "t")
    assert list(evidence.tool_reasons(finding)) == [
        "execution error: auth",
        "drift: asks for",
        "drift: asks for",
    ]
    (drift,) = evidence.iter_documentation_parts(finding, Tool("t"))
    assert isinstance(drift, Lines)
    parts = tables(evidence.iter_tool_evidence(finding))
    assert set(parts) == {
        "Calls",
        "What a model wrote and does not stand",
        "Who stands in for it",
        "Judges",
    }
    imitated = parts["Who stands in for it"]
    assert isinstance(imitated, Table)
    assert "(100 characters more)" in imitated.rows[0][1]


async def test_a_request_is_shown_with_rules_criteria_and_each_judges_words() -> None:
    said = {
        "explanation": "No day.",
        "decision": "Unsolvable",
        "rule": 2,
        "difficulty": 2,
        "quality_score": 3,
    }
    verifier = QueryVerifier({"a": ScriptedModel({"verify.query": said})})
    asked = Asked("q", "What is the weather in Oslo?", (Tool("weather", "Weather of a city."),))
    finding = await verifier.judge(asked, Meter())
    parts = tables(evidence.iter_request_evidence(finding, asked.query, ["weather"]))
    request, judges = parts["Request"], parts["Judges"]
    assert isinstance(request, Lines)
    assert request.text == "What is the weather in Oslo?\n\nTools: weather"
    assert isinstance(judges, Table)
    assert judges.rows == [["a", "Unsolvable", "3", "No day."]]
    assert "low difficulty" in list(evidence.request_reasons(finding))
    surely = await verifier.judge(Asked("q", "?", ()), Meter())
    assert "What the rules found" in tables(evidence.iter_request_evidence(surely, "?", []))
    assert any(reason.endswith("(certain)") for reason in evidence.request_reasons(surely))


async def checked(row: dict[str, Any], judge: Any = None) -> Finding:
    transcript = read_record(row)

    async def build(_: Meter) -> Any:
        return transcript.trajectory

    verifier = TrajectoryVerifier(
        {"a": ScriptedModel({"verify.trajectory": judge})} if judge else {}
    )
    return await verifier.judge(Checked(build, lambda _: row), Meter())


async def test_a_trajectory_is_shown_round_by_round_with_faults_and_votes() -> None:
    finding = await checked(TWICE)
    parts = tables(evidence.iter_trajectory_evidence(finding))
    done = parts["What was done"]
    assert isinstance(done, Lines)
    assert "Step 2" in done.text
    assert "Answer: The sky in Oslo is clear." in done.text
    assert "execution: repeated_call (proved)" in list(evidence.trajectory_reasons(finding))
    said = {"content": "No.", "answer_status": "Fail", "all_steps_validity": "no"}
    failed = await checked(record("good", CLEAR, ending=END), said)
    judges = tables(evidence.iter_trajectory_evidence(failed))["Judges"]
    assert isinstance(judges, Table)
    assert judges.rows == [["a", "Fail", "no", "No."]]
    assert "judged: Fail" in list(evidence.trajectory_reasons(failed))
    assert list(evidence.iter_record_evidence({"no": "record"})) == []


async def test_a_row_of_a_data_set_is_shown_with_its_findings() -> None:
    transcript = read_record(TWICE)
    finding = await DatasetVerifier([transcript]).judge((transcript, 0), Meter())
    parts = tables(evidence.iter_row_evidence(finding, transcript.trajectory))
    assert set(parts) == {"Findings", "The row"}
    assert list(evidence.row_reasons(finding)) == ["repeated_call (defect)"]
    judged = Finding(
        True, "", "", {"judges": {"a": {"specificity": False}}, "wanting": ["specificity"]}
    )
    (table,) = evidence.iter_row_evidence(judged, None)
    assert isinstance(table, Table)
    assert table.rows == [["a", "does not"]]
    assert list(evidence.row_reasons(judged)) == ["specificity (most judges)"]
