from __future__ import annotations

from callwright.gateway.session.policy import ServerPolicy


def test_a_tool_exists_where_it_is_allowed_and_not_denied() -> None:
    policy = ServerPolicy(name="git", allow=["git_*"], deny=["git_push"], pinned=["git_log"])
    assert policy.explain_hidden("git_log") == ""
    assert "deny" in policy.explain_hidden("git_push")
    assert "allow" in policy.explain_hidden("rm")
    assert policy.is_pinned("git_log")
    assert not policy.is_pinned("git_diff")
    assert ServerPolicy(name="any").explain_hidden("rm") == ""
    assert [*ServerPolicy(name="any", deny=["rm*"]).list_idle(["get"])]
