"""Guided questions are the proxy's own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Message, Tool
from callwright_lab.benchmarks.refine.bfcl import Bfcl
from callwright_lab.benchmarks.refine.guided import build_guided_request
from callwright_lab.benchmarks.refine.task import Task

TOOL = Tool(
    "f", "F.", {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
)
TASK = Task(
    "1", "bfcl", "parallel", (Message("system", "Be brief."), Message("user", "Both!")), (TOOL,)
)


def test_a_chat_with_native_tools_keeps_its_system_prompt_behind_the_instructions() -> None:
    made = build_guided_request(Bfcl(()), TASK)
    assert made.tools == ()
    assert made.schema is not None
    texts = "\n".join(m.content for m in made.messages)
    assert "Be brief." in texts
    assert '"calls"' in texts
    assert made.messages[-1] == Message("user", "Both!")


def test_a_task_without_tools_cannot_be_asked_so() -> None:
    with pytest.raises(ConfigError, match="offers no tools"):
        build_guided_request(Bfcl(()), replace(TASK, tools=()))
