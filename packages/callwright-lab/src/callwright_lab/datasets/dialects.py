"""Text formats that only one data set is written in, for ``callwright.formats``."""

from __future__ import annotations

import json
from collections.abc import Sequence

from callwright.nouns.types import ToolCall
from callwright.parsing.formats import pythonic
from callwright.parsing.pieces import Dialect


def write_nestful(calls: Sequence[ToolCall]) -> str:
    """NESTFUL names what a call returns; a call without a label gets ``$var`` and its number."""
    return _dumps(
        [
            {"name": c.tool, "arguments": c.arguments, "label": c.slot or f"$var{i}"}
            for i, c in enumerate(calls, 1)
        ]
    )


def write_nestools(calls: Sequence[ToolCall]) -> str:
    """NesTools names what a call returns; a call without a label gets ``API_call_`` and its
    number.
    """
    return _dumps(
        [
            {"api_name": c.tool, "parameters": c.arguments, "responses": c.slot or f"API_call_{i}"}
            for i, c in enumerate(calls)
        ]
    )


def write_refinetoolbench(calls: Sequence[ToolCall]) -> str:
    """RefineToolBench's words for names and arguments."""
    return _dumps([{"api_name": c.tool, "parameters": c.arguments} for c in calls])


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


DIALECTS = (
    Dialect(
        "nestful",
        '`[{"name": N, "arguments": {…}, "label": "$var1"}, …]`',
        "IBM/NESTFUL",
        write_nestful,
        verified=True,
        reader="json",
        labels=True,
    ),
    Dialect(
        "api_bank",
        "`[N(k='v')]` amid text",
        "API-Bank (DAMO-ConvAI)",
        pythonic.write,
        verified=True,
        reads_as="pythonic",
        reader="pythonic",
    ),
    Dialect(
        "nestools",
        '`[{"api_name": N, "parameters": {…}, "responses": "API_call_0"}, …]`',
        "NesTools (hhan1018)",
        write_nestools,
        verified=True,
        reads_as="nestful",
        reader="json",
    ),
    Dialect(
        "refinetoolbench",
        '`{"api_name": N, "parameters": {…}}`',
        "RefineToolBench (Tool-MVR)",
        write_refinetoolbench,
        reads_as="json",
        reader="json",
    ),
)
"""What ``callwright.formats`` registers. ``verified``: tests/parsing/test_samples.py of the core
counts their samples.
"""
