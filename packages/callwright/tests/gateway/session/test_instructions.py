from __future__ import annotations

from callwright.gateway.session.instructions import render_instructions
from tests.gateway.session.offers import policy


def test_servers_hidden_tools_and_what_trusted_servers_tell() -> None:
    told = render_instructions(
        [policy("time"), policy("bare", prefix=""), policy("git", prefix="git_")],
        "300 more tools are found with search_tools.",
        {"time": "Ask for zones.", "quiet": "  "},
    )
    assert "time__… of time" in told
    assert "git_… of git" in told
    assert "bare" not in told
    assert "300 more tools" in told
    assert "time: Ask for zones." in told
    assert "quiet" not in told
    long = render_instructions([], "", {"a": "x" * 10_000})
    assert len(long) < 2_100
    assert render_instructions([], "", {}) == ""
