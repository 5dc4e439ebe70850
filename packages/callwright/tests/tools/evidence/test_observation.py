"""What a call shows of a tool, and what it only shows of the request."""

from __future__ import annotations

import pytest

from callwright.tools.evidence import UNDOCUMENTED, Observation, Outcome, make_excerpt


@pytest.mark.parametrize(
    ("outcome", "kind", "counts"),
    [
        ("functional_success", "", True),
        ("execution_failure", "timeout", True),
        ("execution_failure", "auth", True),
        ("execution_failure", "rate_limit", False),
        ("semantic_mismatch", "empty", True),
        ("semantic_mismatch", "irrelevant", False),
        ("parameter_mismatch", "tool_error", False),
        ("parameter_mismatch", UNDOCUMENTED, True),
    ],
)
def test_what_is_the_tools_doing_counts_and_what_is_the_requests_does_not(
    outcome: Outcome, kind: str, counts: bool
) -> None:
    assert Observation("t", "d", outcome, kind=kind).of_tool is counts
    assert not Observation("t", "d", outcome, kind=kind, simulated=True).of_tool


def test_an_excerpt_has_lost_its_secrets_before_it_is_cut() -> None:
    text = "x" * 8 + "s3cr3t-value"
    assert "s3cr3t" not in make_excerpt(text, ["s3cr3t-value"], most=16)
    assert make_excerpt({"access_token": "abc", "n": 1}) == '{"access_token":"[secret]","n":1}'
    assert len(make_excerpt("y" * 5000)) == 1000
