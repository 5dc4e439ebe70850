"""The second wave of families: mostly other markers around shapes that are read already. Rows and
writers, and the few readers that the tables of tags cannot say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TypeAlias

from callwright.nouns.types import ToolCall
from callwright.parsing.body import Body
from callwright.parsing.formats import (
    bracketed,
    functionary,
    glaive,
    kimi,
    numbered,
    pythonic,
    untagged,
)
from callwright.parsing.formats.typed import format_value, written_key
from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.pieces import Block, Dialect, Reading, Writer
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary

_FUNCTOOLS = "functools["
_ENDS = MarkerSet(["<|end|>", "<|im_end|>"])

Reader: TypeAlias = Callable[[Scanner, ToolVocabulary, str], Reading]


def read_functools(tape: Scanner, offer: ToolVocabulary, marker: str) -> Reading:
    """Phi's ``functools[{…}]``. The word is Python's, too: only a list of offered calls right
    behind it counts.
    """
    tape.at += len(marker) - 1
    body = Body(tape, offer, _ENDS)
    if not (yield from body.read()) or body.kind not in ("list", "lines"):
        return None
    return Block("phi", body.calls) if all(offer.calls(c.tool) for c in body.calls) else None


def _make_list_writer(
    before: str, after: str = "", name: str = "name", arguments: str = "arguments"
) -> Writer:
    """A writer of one JSON list between two markers."""

    def write(calls: Sequence[ToolCall]) -> str:
        return before + _dump_json([{name: c.tool, arguments: c.arguments} for c in calls]) + after

    return write


def _make_object_writer(
    before: str, after: str, between: str, arguments: str = "arguments"
) -> Writer:
    """A writer of one JSON object a call, each between two markers."""

    def write(calls: Sequence[ToolCall]) -> str:
        return between.join(
            before + _dump_json({"name": c.tool, arguments: c.arguments}) + after for c in calls
        )

    return write


def _make_python_writer(before: str, after: str, between: str = ", ") -> Writer:
    """A writer of Python calls between two markers."""

    def write(calls: Sequence[ToolCall]) -> str:
        return before + between.join(pythonic.write_value(calls)) + after

    return write


def _make_invoke_writer(outer: str, prefix: str = "") -> Writer:
    """A writer of ``<invoke name="N"><parameter name="K">V</parameter></invoke>`` in an outer tag,
    tags prefixed.
    """

    def write(calls: Sequence[ToolCall]) -> str:
        return (
            f"<{outer}>\n" + "\n".join(_format_invoke(c, prefix) for c in calls) + f"\n</{outer}>"
        )

    return write


def _format_invoke(call: ToolCall, prefix: str) -> str:
    given = call.arguments if isinstance(call.arguments, dict) else {}
    tag = f"{prefix}parameter"
    lines = [
        f'<{tag} name="{written_key(key)}">{_frame_value(format_value(value))}</{tag}>\n'
        for key, value in given.items()
    ]
    return f'<{prefix}invoke name="{call.tool}">\n{"".join(lines)}</{prefix}invoke>'


def _frame_value(text: str) -> str:
    """Readers take one line break before and after a value for the template's own."""
    return f"\n{text}\n" if text[:1] == "\n" else text


def _write_cohere(calls: Sequence[ToolCall]) -> str:
    entries = [
        {"tool_call_id": str(i), "tool_name": c.tool, "parameters": c.arguments}
        for i, c in enumerate(calls)
    ]
    lines = ",\n".join(f"    {_dump_json(entry)}" for entry in entries)
    return f"<|START_ACTION|>[\n{lines}\n]<|END_ACTION|>"


def _write_anthropic(calls: Sequence[ToolCall]) -> str:
    blocks = [{"type": "tool_use", "id": c.id, "name": c.tool, "input": c.arguments} for c in calls]
    return _dump_json(blocks[0] if len(blocks) == 1 else blocks)


def _write_glimmer(calls: Sequence[ToolCall]) -> str:
    write = _make_invoke_writer("atem:function_calls", "atem:")
    return "<|eom|><|start|>assistant".join(f" to={c.tool}<|message|>{write([c])}" for c in calls)


def _dump_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


ROWS = (
    Dialect(
        "granite",
        '`<|tool_call|>[{"name": N, "arguments": {…}}]`, `<tool_call>[…]`',
        "Granite 3 (vLLM, BFCL)",
        _make_list_writer("<|tool_call|>"),
    ),
    Dialect(
        "granite_20b",
        '`<function_call> {"name": N, "arguments": {…}}`, `no_function` for none',
        "Granite 20B FC (vLLM, BFCL)",
        _make_object_writer("<function_call> ", "", "\n"),
    ),
    Dialect(
        "phi",
        '`functools[{"name": N, "arguments": {…}}]`, `<|tool_call|>[…]<|/tool_call|>`',
        "Phi-4-mini (vLLM, BFCL)",
        _make_list_writer("functools"),
    ),
    Dialect(
        "cohere",
        '`<|START_ACTION|>[{"tool_call_id": "0", "tool_name": N, "parameters":'
        " {…}}]<|END_ACTION|>`",
        "Command A, R7B (llama.cpp, Ollama)",
        _write_cohere,
    ),
    Dialect(
        "internlm",
        '`<|action_start|><|plugin|>{"name": N, "parameters": {…}}<|action_end|>`',
        "InternLM2, Intern-S1 (InternLM, vLLM)",
        _make_object_writer("<|action_start|><|plugin|>\n", "<|action_end|>", "\n", "parameters"),
    ),
    Dialect(
        "jamba",
        '`<tool_calls>[{"name": N, "arguments": {…}}]</tool_calls>`',
        "Jamba, Hunyuan A13B (vLLM)",
        _make_list_writer("<tool_calls>", "</tool_calls>"),
    ),
    Dialect(
        "olmo3",
        "`<function_calls>` around one `f(a='x')` a line",
        "Olmo 3 (vLLM, Ollama)",
        _make_python_writer("<function_calls>", "</function_calls>", "\n"),
    ),
    Dialect(
        "lfm2",
        "`<|tool_call_start|>[f(a='x')]<|tool_call_end|>`",
        "LFM2 (llama.cpp, Ollama)",
        _make_python_writer("<|tool_call_start|>[", "]<|tool_call_end|>"),
    ),
    Dialect(
        "minimax",
        '`<minimax:tool_call><invoke name="N"><parameter'
        ' name="K">V</parameter></invoke></minimax:tool_call>`',
        "MiniMax M2 (llama.cpp, SGLang)",
        _make_invoke_writer("minimax:tool_call"),
    ),
    Dialect(
        "kimi",
        "`<|tool_calls_section_begin|><|tool_call_begin|>functions.N:0<|tool_call_argument_begin|>{…}<|tool_call_end|>…`",
        "Kimi K2 (llama.cpp, vLLM)",
        kimi.write,
    ),
    Dialect(
        "glimmer",
        "` to=N<|message|><atem:function_calls><atem:invoke"
        ' name="N">…</atem:invoke></atem:function_calls>`',
        "Muse Glimmer (llama.cpp, Ollama)",
        _write_glimmer,
    ),
    Dialect(
        "functionary",
        "`<function=N>{…}</function>`",
        "Functionary 3.1 (MeetKai, llama.cpp)",
        functionary.write_v31,
    ),
    Dialect(
        "functionary_v32",
        "`>>>N` and `{…}` on the next line",
        "Functionary 3.2 (MeetKai, llama.cpp)",
        functionary.write,
    ),
    Dialect(
        "glaive",
        '`<functioncall> {"name": N, "arguments": \'{…}\'}`',
        "Glaive's data set",
        glaive.write,
    ),
    Dialect(
        "invoke",
        '`<function_calls><invoke name="N"><parameter'
        ' name="K">V</parameter></invoke></function_calls>`',
        "Anthropic's text habit (the field's issue threads)",
        _make_invoke_writer("function_calls"),
    ),
    Dialect(
        "anthropic",
        '`{"type": "tool_use", "id": …, "name": N, "input": {…}}` as text',
        "Anthropic's blocks (its SDK and documentation)",
        _write_anthropic,
        reads_as="json",
    ),
    Dialect(
        "xlam",
        '`[{"name": N, "arguments": {…}}]`, bare, fenced or tagged',
        "xLAM, Hammer (vLLM, MadeAgents)",
        _make_list_writer(""),
        reads_as="json",
    ),
    Dialect(
        "toolace",
        "`[N(k='v'), …]`, names with spaces",
        "ToolACE's data set",
        pythonic.write,
        reads_as="pythonic",
    ),
    Dialect(
        "llmcompiler",
        "`1. f(a='x')`, one numbered call a line",
        "LLMCompiler (SqueezeAILab)",
        numbered.write,
        asked=True,
    ),
    Dialect(
        "lmstudio",
        '`[TOOL_REQUEST]{"name": N, "arguments": {…}}[END_TOOL_REQUEST]`',
        "LM Studio's default format for models without one (its documentation)",
        _make_object_writer("[TOOL_REQUEST]", "[END_TOOL_REQUEST]", "\n"),
    ),
    Dialect(
        "bracket",
        "`[TOOL: N text]`, `[TOOL: N] {…} [/TOOL]`",
        "strix#1138, METATRON's prompt",
        bracketed.write,
    ),
)

READERS: tuple[tuple[frozenset[str], frozenset[str], Reader], ...] = (
    (frozenset({"phi"}), frozenset({_FUNCTOOLS}), read_functools),
    (frozenset({"kimi"}), frozenset(kimi.OPENS), kimi.read),
    (frozenset({"functionary_v32"}), frozenset({functionary.MARKER}), functionary.read),
    (frozenset({"glaive"}), frozenset({glaive.MARKER}), glaive.read),
    (frozenset({"bracket"}), frozenset({bracketed.MARKER}), bracketed.read),
    (frozenset({"llmcompiler"}), frozenset(numbered.OPENS), numbered.read),
    (frozenset({"anthropic", "xlam"}), frozenset("{["), untagged.read_bare_json),
    (frozenset({"toolace"}), frozenset("["), untagged.read_bare_json),
)
