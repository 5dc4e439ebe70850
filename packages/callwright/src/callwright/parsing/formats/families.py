"""Every family that is read and written: what opens its calls, who reads them, how they are
written.

A family is added here: its markers and reader in ``_READERS`` (a family that only has other tags
gets a row in ``tagged.ENVELOPES`` instead), its row in ``DIALECTS``. See docs/dialects.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias

from callwright.nouns.types import ToolCall
from callwright.parsing.formats import (
    action,
    deepseek,
    fenced,
    gemma,
    harmony,
    marked,
    markup,
    mistral,
    program,
    pythonic,
    tagged,
    untagged,
)
from callwright.parsing.formats.registered import registered_dialects
from callwright.parsing.pieces import Dialect, Reading
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary

Reader: TypeAlias = Callable[[Scanner, ToolVocabulary, str], Reading]


def _json_writer(
    before: str, after: str, between: str = "", key: str = "arguments"
) -> Callable[[Sequence[ToolCall]], str]:
    """A writer of one JSON object a call, between these texts."""

    def write(calls: Sequence[ToolCall]) -> str:
        return between.join(
            f"{before}{_dump_json({'name': c.tool, key: c.arguments})}{after}" for c in calls
        )

    return write


def _write_toolrl(calls: Sequence[ToolCall]) -> str:
    lines = "\n".join(_dump_json({"name": c.tool, "parameters": c.arguments}) for c in calls)
    return f"<tool_call>\n{lines}\n</tool_call>"


def _write_fenced(calls: Sequence[ToolCall]) -> str:
    entries = [{"name": c.tool, "arguments": c.arguments} for c in calls]
    text = json.dumps(entries[0] if len(entries) == 1 else entries, ensure_ascii=False, indent=2)
    return f"```json\n{text}\n```"


def _write_smolagents(calls: Sequence[ToolCall]) -> str:
    return "\n".join(
        f"Action:\n{_dump_json({'name': c.tool, 'arguments': c.arguments})}" for c in calls
    )


def _dump_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


_ROWS = (
    Dialect(
        "hermes",
        '`<tool_call>{"name": N, "arguments": {…}}</tool_call>`',
        "Hermes 2/3, Qwen2.5, Qwen3 (vLLM, Ollama, BFCL)",
        _json_writer("<tool_call>\n", "\n</tool_call>", "\n"),
    ),
    Dialect(
        "qwen_xml",
        "`<tool_call><function=N><parameter=K>V</parameter></function></tool_call>`",
        "Qwen3-Coder, Nemotron 3, MiMo (vLLM, Ollama)",
        markup.write_qwen,
    ),
    Dialect(
        "glm",
        "`<tool_call>N<arg_key>K</arg_key><arg_value>V</arg_value></tool_call>`",
        "GLM-4.5 to 4.7 (SGLang, Ollama)",
        markup.write_glm,
    ),
    Dialect(
        "llama_json",
        '`{"name": N, "parameters": {…}}`, `<|python_tag|>` before it, several joined by `;`',
        "Llama 3.1 to 3.3 (vLLM, SGLang, BFCL)",
        _json_writer("", "", "; ", "parameters"),
    ),
    Dialect(
        "pythonic", "`[f(a='x', b=1), g()]`", "Llama 3.2 and 4, ToolACE (vLLM)", pythonic.write
    ),
    Dialect(
        "mistral",
        '`[TOOL_CALLS] [{"name": N, "arguments": {…}}]`',
        "Mistral to tokenizer v7 (mistral-common)",
        mistral.write_list,
    ),
    Dialect(
        "mistral_args",
        "`[TOOL_CALLS]N[ARGS]{…}`",
        "Mistral from tokenizer v11 (mistral-common)",
        mistral.write_args,
    ),
    Dialect(
        "deepseek",
        "`<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>N`, fenced JSON,"
        " `<｜tool▁call▁end｜>…`",
        "DeepSeek V3, R1, Cogito (Ollama)",
        deepseek.write_v3,
    ),
    Dialect(
        "deepseek_v31",
        "`<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>N<｜tool▁sep｜>{…}<｜tool▁call▁end｜>…`",
        "DeepSeek V3.1 (vLLM, SGLang)",
        deepseek.write_v31,
    ),
    Dialect(
        "dsml",
        '`<｜DSML｜function_calls><｜DSML｜invoke name="N"><｜DSML｜parameter name="K"'
        ' string="true|false">V…`',
        "DeepSeek V3.2 and later (SGLang)",
        markup.write_dsml,
    ),
    Dialect(
        "harmony",
        "`<|channel|>commentary to=functions.N <|constrain|>json<|message|>{…}<|call|>`",
        "gpt-oss (openai-harmony)",
        harmony.write,
    ),
    Dialect(
        "gemma",
        '`<|tool_call>call:N{key:<|"|>text<|"|>,n:1}<tool_call|>`',
        "Gemma 4 (Ollama)",
        gemma.write_gemma,
    ),
    Dialect(
        "functiongemma",
        "`<start_function_call>call:N{k:<escape>v<escape>}<end_function_call>`",
        "FunctionGemma (vLLM, Ollama, BFCL)",
        gemma.write_functiongemma,
    ),
    Dialect(
        "react",
        "`Action: N`, `Action Input: {…}`",
        "ReAct; RETO A.6, StableToolBench",
        action.write,
    ),
    Dialect(
        "smolagents",
        '`Action:` and `{"name": N, "arguments": {…}}`',
        "smolagents' prompts",
        _write_smolagents,
    ),
    Dialect(
        "fenced",
        "a JSON call, or a list of them, in a Markdown fence",
        "models asked with native tools (the field's issue threads)",
        _write_fenced,
    ),
    Dialect(
        "json",
        '`{"name": N, "arguments": {…}}` and its other spellings, bare',
        "the field's issue threads",
        _json_writer("", "", "\n"),
    ),
    Dialect(
        "toolmvr",
        "`<execute>` around a program, one `print(N(k='v'))` a line as a rule",
        "ToolBench-V and -R, models trained on them (Tool-MVR)",
        program.write,
    ),
    Dialect(
        "toolrl", "`<tool_call>` around one JSON object a line", "qiancheng0/ToolRL", _write_toolrl
    ),
)
_VERIFIED = frozenset(
    """hermes qwen_xml glm llama_json pythonic mistral mistral_args deepseek deepseek_v31 dsml harmony gemma
    functiongemma react smolagents fenced json toolrl granite granite_20b phi cohere internlm jamba olmo3 lfm2
    minimax kimi glimmer functionary functionary_v32 glaive invoke anthropic xlam
    llmcompiler""".split()
)  # by packages/callwright/tests/parsing/test_samples.py, which counts their upstreams' samples
OWN_DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {row.name: replace(row, verified=row.name in _VERIFIED) for row in (*_ROWS, *marked.ROWS)}
)


class _Dialects(Mapping[str, Dialect]):
    """The core's own families, then those that installed packages register, found at first use."""

    @cached_property
    def _rows(self) -> Mapping[str, Dialect]:
        return {**{row.name: row for row in registered_dialects()}, **OWN_DIALECTS}

    def __getitem__(self, name: str) -> Dialect:
        return OWN_DIALECTS.get(name) or self._rows[name]

    def __iter__(self) -> Iterator[str]:
        yield from OWN_DIALECTS
        yield from (name for name in self._rows if name not in OWN_DIALECTS)

    def __len__(self) -> int:
        return len(self._rows)


DIALECTS: Mapping[str, Dialect] = _Dialects()
_UNASKED = frozenset(name for name, row in OWN_DIALECTS.items() if not row.asked)

_JSON_FAMILIES = frozenset({"json", "llama_json"})
_READERS: tuple[tuple[frozenset[str], frozenset[str], Reader], ...] = (
    (frozenset({"mistral", "mistral_args"}), frozenset({mistral.MARKER}), mistral.read),
    (frozenset({"deepseek", "deepseek_v31"}), frozenset(deepseek.OPENS), deepseek.read),
    (frozenset({"harmony"}), frozenset(harmony.OPENS), harmony.read),
    (frozenset({"react", "smolagents"}), frozenset({action.MARKER}), action.read),
    (frozenset({"fenced"}), frozenset({fenced.MARKER}), fenced.read),
    (frozenset({"toolmvr"}), frozenset({program.MARKER}), program.read),
    (_JSON_FAMILIES, frozenset("{["), untagged.read_bare_json),
    (frozenset({"pythonic"}), frozenset("["), untagged.read_bare_json),
    *marked.READERS,
)
_STARTS: tuple[tuple[frozenset[str], frozenset[str], Reader], ...] = (
    (frozenset({"harmony"}), frozenset(harmony.STARTS), harmony.read),
)


def select_start_readers(dialects: frozenset[str] | None) -> dict[str, Reader]:
    """The same for markers that count only where the reply begins, because its prompt ended in the
    middle of them.
    """
    return {
        m: r
        for families, markers, r in _STARTS
        if dialects is None or families & dialects
        for m in markers
    }


def select_readers(dialects: frozenset[str] | None) -> dict[str, Reader]:
    """Marker -> who reads what it opens, for these families (None: all that need no asking). Raises
    ValueError for a family unknown.
    """
    if dialects is not None and (wrong := dialects - set(DIALECTS)):
        raise ValueError(
            f"no such dialect: {', '.join(sorted(wrong))}; there are {', '.join(DIALECTS)}"
        )
    wanted = _UNASKED if dialects is None else dialects
    read_by = wanted | {DIALECTS[name].reader for name in wanted - OWN_DIALECTS.keys()}
    readers: dict[str, Reader] = {}
    for families, markers, reader in _READERS:
        if families & read_by:
            readers |= dict.fromkeys(markers, reader)
    for marker, envelope in tagged.ENVELOPES.items():
        if wanted & set(envelope.families.values()):
            readers[marker] = tagged.read
    return readers


def write_calls(calls: Sequence[ToolCall], dialect: str, *, text: str = "") -> str:
    """The calls as a model of this family would write them, after ``text``. Raises ValueError for a
    family unknown.

    Reading the result with the tools' schemas gives the same names and arguments (ids are counted
    again).
    """
    if dialect not in DIALECTS:
        raise ValueError(f"no such dialect: {dialect}; there are {', '.join(DIALECTS)}")
    written = DIALECTS[dialect].write(calls) if calls else ""
    return f"{text}\n{written}" if text and written else text or written
