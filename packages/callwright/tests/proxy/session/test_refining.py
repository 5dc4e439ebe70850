from __future__ import annotations

import subprocess
import sys

import pytest

from callwright.nouns.types import ToolCall
from callwright.proxy.session.context import Toolsets, read_context
from callwright.proxy.session.refining import UNASKED, repair_answer
from callwright.proxy.session.settings import Settings
from callwright.repair.rules import duplicate_calls as surplus
from tests.proxy.playbook import body

CONTEXT = read_context(body(), b"x", Toolsets(), Settings())
assert CONTEXT is not None


def test_each_call_is_traced_to_the_one_it_came_from() -> None:
    assert CONTEXT is not None
    right = ToolCall("x", "get_weather", {"city": "Paris"})
    made = repair_answer(
        [right, right, ToolCall("y", "Get_Weather", {"city": "Paris", "days": 2})], CONTEXT
    )
    assert [(draft.call.tool, draft.origin) for draft in made] == [
        ("get_weather", 0),
        ("get_weather", 2),
    ]
    assert len(made.render_edits()) >= 2


def test_no_calls_stay_no_calls() -> None:
    assert CONTEXT is not None
    assert repair_answer([], CONTEXT).calls == ()


def test_the_rule_of_unasked_calls_is_the_refiners() -> None:
    assert UNASKED == surplus.UNASKED


def test_a_call_that_is_plainly_right_loads_no_refiner() -> None:
    code = (
        "import sys\nfrom callwright.cli.proxy import serve\nfrom callwright.proxy.session.refining"
        " import repair_answer\nfrom callwright.proxy.session.context import Toolsets, read_context\nfrom"
        " callwright.proxy.session.settings import Settings\nfrom callwright.nouns.types import"
        " ToolCall\ntool = {'type': 'function', 'function': {'name': 'f', 'parameters':"
        " {'properties': {'a': {}}}}}\nasked = {'messages': [{'role': 'user', 'content': 'call f of"
        " 3'}], 'tools': [tool]}\nmade = repair_answer([ToolCall('c', 'f', {'a': 3})], read_context(asked, b'x',"
        " Toolsets(), Settings()))\nassert made.calls\nheavy = ('rapidfuzz', 'numpy',"
        " 'callwright.repair.refinement', 'callwright.dataflow.flow', 'typer', 'pydantic',"
        " 'starlette')\nprint([m for m in heavy if m in sys.modules])\n"
    )
    said = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert said.stdout.strip() == "[]"


@pytest.mark.parametrize("shows", [True, False])
def test_beside_an_image_no_call_goes_for_its_values(shows: bool) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ=="}}
    text = {"type": "text", "text": "Hi."}
    asked = body(messages=[{"role": "user", "content": [text, image] if shows else "Hi."}])
    context = read_context(asked, b"x", Toolsets(), Settings())
    assert context is not None
    context.native = False
    calls = [ToolCall("c1", "get_weather", {"city": "Turku", "days": 2})]
    for leave_out in (False, True):
        made = repair_answer(calls, context, leave_out=leave_out)
        assert [call.arguments for call in made.calls] == [one.arguments for one in calls][:shows]
