from __future__ import annotations

from tests.proxy.playbook import SEND, USER, WEATHER, body

from callwright.proxy.context import Toolsets, read
from callwright.proxy.settings import Settings


def test_a_tool_list_is_read_once() -> None:
    toolsets = Toolsets(1)
    first = toolsets.get([WEATHER])
    assert toolsets.get([dict(WEATHER)]) is first
    assert first.names == {"get_weather"}
    assert toolsets.get([SEND]) is not first
    assert toolsets.get([WEATHER]) is not first, "only so many are kept"


def test_tools_without_annotations_count_as_writing() -> None:
    (tool,) = Toolsets().get([WEATHER]).tools
    assert tool.effects.may_write


def test_what_offers_no_tools_or_wants_several_answers_is_not_read() -> None:
    for more in ({"tools": []}, {"n": 2}, {"messages": "x"}, {"tools": [{"type": "web_search"}]}):
        assert read({**body(), **more}, b"", Toolsets(), Settings()) is None


def test_a_context_knows_what_was_asked_for() -> None:
    found = read(body(tool_choice="required", parallel_tool_calls=False), b"x", Toolsets(), Settings(reasks=2))
    assert found is not None
    assert found.demanded
    assert not found.parallel
    assert found.query == USER["content"]
    assert [found.grant() for _ in range(3)] == [True, True, False]


def test_a_named_tool_that_was_not_offered_is_the_upstreams_business() -> None:
    chosen = {"type": "function", "function": {"name": "other"}}
    found = read(body(tool_choice=chosen), b"x", Toolsets(), Settings())
    assert found is not None
    assert (found.choice, found.named) == ("auto", "")
