"""The formats against the libraries that their upstreams keep: they write and we read, we write and
they read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.types import Tool, ToolCall
from callwright.parsing import CallPiece, Parser, TextPiece, write_calls

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_weather", {"city": "São Paulo", "unit": "celsius"}),
    ("list_files", {}),
    (
        "set_alarm",
        {
            "hour": 7,
            "volume": 0.5,
            "repeat": True,
            "days": ["mon", None],
            "sound": {"name": "[ARGS]"},
        },
    ),
    ("write_note", {"title": 'Zoë\'s "list" 🎉', "body": "1 < 2 & 3\nC:\\tmp [x] {y} <|call|>"}),
]
TOOLS = [Tool(name) for name, _ in CALLS]


def read(text: str) -> tuple[list[tuple[str, Any]], str]:
    parser = Parser(TOOLS)
    pieces = [*parser.feed(text), *parser.close()]
    for piece in pieces:
        if isinstance(piece, CallPiece):
            assert not piece.problems
    return (
        [(p.call.tool, p.call.arguments) for p in pieces if isinstance(p, CallPiece)],
        "".join(p.text for p in pieces if isinstance(p, TextPiece)),
    )


@pytest.fixture(scope="module")
def tekken() -> dict[str, Any]:
    common = pytest.importorskip("mistral_common")
    file = Path(common.__file__).parent / "data" / "tekken_240911.json"
    vocabulary: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    size = 2_000  # its first tokens are enough to write anything, and load at once
    vocabulary["vocab"] = vocabulary["vocab"][:size]
    specials = vocabulary["config"]["default_num_special_tokens"]
    vocabulary["config"] |= {"num_vocab_tokens": size, "default_vocab_size": size + specials}
    return vocabulary


@pytest.mark.parametrize("version", ["v3", "v7", "v11", "v13"])
def test_what_mistral_common_writes_is_read(
    version: str, tekken: dict[str, Any], tmp_path: Path
) -> None:
    """One vocabulary, declared to be of each version that writes calls another way."""
    from mistral_common.protocol.instruct.messages import AssistantMessage
    from mistral_common.protocol.instruct.tool_calls import FunctionCall
    from mistral_common.protocol.instruct.tool_calls import ToolCall as Upstream
    from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    vocabulary = {**tekken, "config": {**tekken["config"], "version": version}}
    if version != "v3":
        names = [t["token_str"] for t in Tekkenizer.DEPRECATED_SPECIAL_TOKENS]
        names += [n for n in ("[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]") if n not in names]
        vocabulary["special_tokens"] = [
            {"rank": i, "token_str": n, "is_control": True} for i, n in enumerate(names)
        ]
    file = tmp_path / "tekken.json"
    file.write_text(json.dumps(vocabulary), encoding="utf-8")
    tokenizer: Any = MistralTokenizer.from_file(str(file)).instruct_tokenizer
    calls = [
        Upstream(
            id=f"call{i:05}", function=FunctionCall(name=name, arguments=json.dumps(arguments))
        )
        for i, (name, arguments) in enumerate(CALLS)
    ]
    tokens = tokenizer._encode_tool_calls_in_assistant_message(AssistantMessage(tool_calls=calls))
    text = tokenizer.decode(tokens, special_token_policy=SpecialTokenPolicy.KEEP)
    assert text.startswith("[TOOL_CALLS]")
    assert read(text) == (CALLS, "")


def _harmony() -> Any:
    harmony = pytest.importorskip("openai_harmony")
    try:
        return harmony, harmony.load_harmony_encoding(harmony.HarmonyEncodingName.HARMONY_GPT_OSS)
    except harmony.HarmonyError:
        pytest.skip(
            "openai-harmony downloads its vocabulary; TIKTOKEN_ENCODINGS_BASE may name a folder"
            " that has it"
        )


def test_what_openai_harmony_writes_is_read() -> None:
    harmony, encoding = _harmony()
    messages = [
        harmony.Message.from_role_and_content(harmony.Role.ASSISTANT, "I look.").with_channel(
            "analysis"
        )
    ]
    for name, arguments in CALLS:
        message = harmony.Message.from_role_and_content(
            harmony.Role.ASSISTANT, json.dumps(arguments)
        )
        message = message.with_channel("commentary").with_recipient(f"functions.{name}")
        messages.append(message.with_content_type("<|constrain|>json"))
    text = encoding.decode_utf8(
        [token for message in messages for token in encoding.render(message)]
    )
    calls, rest = read(text)
    assert calls == CALLS
    assert rest == "<|start|>assistant<|channel|>analysis<|message|>I look.<|end|>"


def test_what_we_write_openai_harmony_reads() -> None:
    harmony, encoding = _harmony()
    written = write_calls(
        [ToolCall(str(i), name, given) for i, (name, given) in enumerate(CALLS[:3])], "harmony"
    )
    tokens = encoding.encode(written, allowed_special="all")
    found = encoding.parse_messages_from_completion_tokens(tokens, harmony.Role.ASSISTANT)
    assert [(m.recipient, m.channel, json.loads(m.content[0].text)) for m in found] == [
        (f"functions.{name}", "commentary", given) for name, given in CALLS[:3]
    ]


def test_anthropics_blocks_go_both_ways() -> None:
    types = pytest.importorskip("anthropic.types")
    for name, given in CALLS:
        block = types.ToolUseBlock(id="toolu_1", name=name, input=given, type="tool_use")
        assert read(block.to_json()) == ([(name, given)], "")
        back = types.ToolUseBlock.model_validate_json(
            write_calls([ToolCall("toolu_1", name, given)], "anthropic")
        )
        assert (back.id, back.name, back.input) == ("toolu_1", name, given)
