"""The test kit, for our own tests and for yours: no network, no weights, no waiting.

* :class:`ScriptedModel` answers what you wrote down and records what it was asked;
  :func:`offered_tools` says which tools a question allows.
* :class:`FakeTool` and :func:`fake_source` are tools with scripted results, failures and delays.
* :class:`FixedPlan` is a planner with one answer.
* :class:`FaultySource` and :class:`FaultyModel` make chosen calls of anything real go wrong.

::

    from callwright.testing import FakeTool, ScriptedModel, fake_source

    weather = FakeTool("weather", {"city": {"type": "string"}}, output={"celsius": 21})
    model = ScriptedModel({"bind": [{"calls": [{"tool": "weather", "arguments": {"city": "Oslo"}}]}]})
    source = fake_source(weather)
    ...
    assert weather.calls == [{"city": "Oslo"}]
"""

from callwright.testing.faults import (
    LOST,
    RATE_LIMITED,
    TIMED_OUT,
    UNAUTHORIZED,
    UNAVAILABLE,
    Fault,
    FaultyModel,
    FaultySource,
    cut_off,
    wrapped,
)
from callwright.testing.model import ScriptedModel, offered_tools
from callwright.testing.planner import FixedPlan
from callwright.testing.tools import FakeSource, FakeTool, fake_source, in_order

__all__ = [
    "LOST",
    "RATE_LIMITED",
    "TIMED_OUT",
    "UNAUTHORIZED",
    "UNAVAILABLE",
    "FakeSource",
    "FakeTool",
    "Fault",
    "FaultyModel",
    "FaultySource",
    "FixedPlan",
    "ScriptedModel",
    "cut_off",
    "fake_source",
    "in_order",
    "offered_tools",
    "wrapped",
]
