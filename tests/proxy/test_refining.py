from __future__ import annotations

import subprocess
import sys

from tests.proxy.playbook import body

from callwright.proxy.context import Toolsets, read
from callwright.proxy.refining import UNASKED, refined
from callwright.proxy.settings import Settings
from callwright.refine import surplus
from callwright.types import ToolCall

CONTEXT = read(body(), b"x", Toolsets(), Settings())
assert CONTEXT is not None


def test_each_call_is_traced_to_the_one_it_came_from() -> None:
    assert CONTEXT is not None
    right = ToolCall("x", "get_weather", {"city": "Paris"})
    made = refined([right, right, ToolCall("y", "Get_Weather", {"city": "Paris", "days": 2})], CONTEXT)
    assert [(c.tool, o) for c, o in zip(made.calls, made.origin, strict=True)] == [
        ("get_weather", 0),
        ("get_weather", 2),
    ]
    assert len(made.edits) >= 2


def test_no_calls_stay_no_calls() -> None:
    assert CONTEXT is not None
    assert refined([], CONTEXT).calls == ()


def test_the_rule_of_unasked_calls_is_the_refiners() -> None:
    assert UNASKED == surplus.UNASKED


def test_a_call_that_is_plainly_right_loads_no_refiner() -> None:
    code = (
        "import sys\n"
        "from callwright.cli.proxy import serve\n"
        "from callwright.proxy.refining import refined\n"
        "from callwright.proxy.context import Toolsets, read\n"
        "from callwright.proxy.settings import Settings\n"
        "from callwright.types import ToolCall\n"
        "tool = {'type': 'function', 'function': {'name': 'f', 'parameters': {'properties': {'a': {}}}}}\n"
        "asked = {'messages': [{'role': 'user', 'content': 'call f of 3'}], 'tools': [tool]}\n"
        "made = refined([ToolCall('c', 'f', {'a': 3})], read(asked, b'x', Toolsets(), Settings()))\n"
        "assert made.calls\n"
        "heavy = ('rapidfuzz', 'numpy', 'callwright.refine', 'callwright.flow', 'typer', 'pydantic', 'starlette')\n"
        "print([m for m in heavy if m in sys.modules])\n"
    )
    said = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.strip() == "[]"
