"""Probes an endpoint for the doctor, and explains each outcome to the user."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Literal

from callwright.cli.doctor.endpoint import MAX_TOKENS, Answered, Ask, build_tool
from callwright.nouns.types import JsonObject, ToolCall
from callwright.parsing import parse_calls, write_calls
from callwright.proxy.session.answers.sse import json_object
from callwright.repair.refinement import refine
from callwright.tools.lists import chat_messages as chat

Verdict = Literal["good", "mended", "setting", "unclear", "bad"]

ARGUMENTS: JsonObject = {"room": "kitchen", "on": True}
LAMP = build_tool(
    "switch_lamp", "Switches a lamp on or off.", room={"type": "string"}, on={"type": "boolean"}
)
BELL = build_tool("ring_bell", "Rings the bell of a door.", door={"type": "string"})
OFFER = chat.read_tools([LAMP, BELL]).tools
ONE = 'Call switch_lamp with room "kitchen" and on true.'
TWO = 'Call switch_lamp twice, with room "hall" and with room "kitchen", on true both times.'
SCHEMA = {
    "type": "object",
    "properties": {"zq": {"enum": ["k7"]}},
    "required": ["zq"],
    "additionalProperties": False,
}
FORMATS = (
    "hermes",
    "qwen_xml",
    "glm",
    "llama_json",
    "pythonic",
    "mistral",
    "deepseek",
    "harmony",
    "fenced",
    "react",
)
FIRST, MIDDLE = "heliotrope", "periwinkle"
_REPEAT = "Repeat the text below exactly, sign by sign, and say nothing else.\n\n"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was tried. ``verdict``: good; repaired (by the proxy); setting (the user can
    change it); unclear (the model did not do what would have shown it); bad (nothing helps but
    another model or server).
    """

    about: str
    verdict: Verdict
    said: str
    advice: str = ""


async def iter_findings(ask: Ask, plain: Answered, *, context: int) -> AsyncIterator[Finding]:
    """Every probe in turn. ``plain``: the answer to "Say hello."; ``context``: the tokens of a long
    prompt.
    """
    native = await probe_tool_calls(ask)
    yield native
    yield await probe_streaming(ask)
    yield await probe_several_calls(ask)
    for found in await probe_choices(ask):
        yield found
    yield await probe_results(ask)
    by_schema = await probe_schemas(ask)
    yield by_schema
    yield judge_guided(native, by_schema)
    yield await probe_formats(ask)
    yield judge_thinking(plain)
    yield await probe_long_context(ask, plain, context)


async def probe_tool_calls(ask: Ask) -> Finding:
    """One call, answer in one piece."""
    return _judge_calls("tool calls", await ask(ONE, tools=[LAMP, BELL]))


async def probe_streaming(ask: Ask) -> Finding:
    """The same, streamed: many servers parse calls only in answers that are whole."""
    about = "streamed calls"
    found = await ask(ONE, tools=[LAMP, BELL], stream=True)
    if not found.problem and not found.pieces:
        return Finding(
            about, "bad", "no events came: the endpoint does not stream", "ask without stream"
        )
    if not found.problem and not found.finish:
        return Finding(
            about,
            "bad",
            "the stream ends without a finish_reason",
            "the server cuts its streams off",
        )
    return _judge_calls(about, found)


def _judge_calls(about: str, found: Answered) -> Finding:
    if found.problem:
        advice = "the proxy asks by schema instead, or else without the tools"
        return Finding(
            about, "mended", f"requests with tools are refused ({found.problem})", advice
        )
    if found.calls:
        return _judge_native(about, found)
    repaired = refine(found.text_or_reasoning, OFFER, query=ONE)
    if [(c.tool, c.arguments) for c in repaired.calls] == [("switch_lamp", ARGUMENTS)]:
        where = "text" if found.text else "reasoning"
        said = f"the call is left in the {where}, in the format {repaired.dialect}"
        rules = sorted({e.rule for e in repaired.edits})
        return Finding(
            about, "mended", said + (f", and wrong in itself ({', '.join(rules)})" if rules else "")
        )
    if repaired.calls:
        return Finding(
            about,
            "bad",
            f"a wrong call came back: {_shorten_text(found.text_or_reasoning)}",
            "a larger model",
        )
    return Finding(
        about,
        "bad",
        f"no call came back: {_shorten_text(found.text_or_reasoning)}",
        "a model that was trained on tools",
    )


def _judge_native(about: str, found: Answered) -> Finding:
    call, *more = found.calls
    right = (call.tool, call.arguments) == ("switch_lamp", ARGUMENTS) and not more
    if right and found.sound and found.finish == "tool_calls":
        return Finding(about, "good", "native calls arrive as calls")
    if right and found.sound:
        return Finding(
            about, "mended", f"calls arrive with finish_reason {found.finish or 'missing'}"
        )
    if right:
        return Finding(
            about,
            "mended",
            "calls come without an id, with a wrong index, or arguments that are no text",
        )
    repaired = refine(list(found.calls), OFFER, query=ONE)
    rules = ", ".join(sorted({e.rule for e in repaired.edits}))
    if [(c.tool, c.arguments) for c in repaired.calls] == [("switch_lamp", ARGUMENTS)]:
        return Finding(about, "mended", f"calls arrive wrong in themselves ({rules})")
    given = ", ".join(f"{c.tool} {c.arguments}" for c in found.calls)
    return Finding(
        about, "bad", f"a wrong call came back: {_shorten_text(given)}", "a larger model"
    )


async def probe_several_calls(ask: Ask) -> Finding:
    """Two calls in one answer."""
    about = "two calls at once"
    found = await ask(TWO, tools=[LAMP, BELL])
    if len(found.calls) == 2:
        return Finding(about, "good", "both arrive")
    left = refine(found.text_or_reasoning, OFFER, query=TWO).calls if not found.problem else ()
    if len(left) + len(found.calls) >= 2:
        return Finding(
            about, "mended", f"{len(found.calls)} arrive as calls, {len(left)} are left in the text"
        )
    return Finding(about, "unclear", found.problem or "the model made one call, or none")


async def probe_choices(ask: Ask) -> list[Finding]:
    """Test the effect of ``tool_choice`` and ``parallel_tool_calls``, in cases where the model
    would do otherwise.
    """
    both = [LAMP, BELL]
    required = await ask("What is two plus two?", tools=both, tool_choice="required")
    bell = {"type": "function", "function": {"name": "ring_bell"}}
    named = await ask(ONE, tools=both, tool_choice=bell)
    none = await ask(ONE, tools=both, tool_choice="none")
    single = await ask(TWO, tools=both, parallel_tool_calls=False)
    again = "the proxy asks once more, saying what is wanted"
    return [
        _judge_honoured("tool_choice required", bool(required.calls), required, again),
        _judge_honoured(
            "tool_choice by name", {c.tool for c in named.calls} == {"ring_bell"}, named, again
        ),
        _judge_honoured("tool_choice none", not none.calls, none, "the proxy drops such calls"),
        _judge_honoured(
            "parallel_tool_calls false",
            _count_calls(single) <= 1,
            single,
            "the proxy passes on one call",
        ),
    ]


def _count_calls(found: Answered) -> int:
    """Return the number of calls in an answer, native or in the text."""
    return len(found.calls) or (
        0 if found.problem else len(refine(found.text_or_reasoning, OFFER, query=TWO).calls)
    )


def _judge_honoured(about: str, good: bool, found: Answered, advice: str) -> Finding:
    if good and not found.problem:
        return Finding(about, "good", "honoured")
    said = f"refused ({found.problem})" if found.problem else "ignored"
    return Finding(about, "mended", said, advice)


async def probe_results(ask: Ask) -> Finding:
    """Test that the model understands a conversation with a call and its result, which all agents
    send.
    """
    about = "results of tools"
    made = {
        "id": "call00001",
        "type": "function",
        "function": {"name": "read_meter", "arguments": "{}"},
    }
    turns = [
        {"role": "user", "content": "What does the meter show? Read it, then tell me the number."},
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": "call00001", "content": '{"shows": 7431}'},
    ]
    found = await ask(turns, tools=[build_tool("read_meter", "Reads the meter.")])
    if found.problem:
        advice = (
            "give it a chat template with tools (llama.cpp: --jinja, vLLM: --chat-template FILE)"
        )
        return Finding(
            about, "setting", f"a conversation with a result is refused ({found.problem})", advice
        )
    if "7431" in found.text_or_reasoning.replace(",", ""):
        return Finding(about, "good", "the model is shown them")
    advice = "if it never uses results: is there a chat template with tools? (llama.cpp: --jinja)"
    return Finding(
        about,
        "unclear",
        f"the result was not used: {_shorten_text(found.text_or_reasoning)}",
        advice,
    )


async def probe_schemas(ask: Ask) -> Finding:
    """The modes of ``response_format``, asked for where the model would answer in a word."""
    text = 'Reply with the single word: hello. (In JSON: {"word": "hello"}.)'
    named = {"name": "probe", "schema": SCHEMA, "strict": True}
    strict = await ask(text, response_format={"type": "json_schema", "json_schema": named})
    loose = await ask(text, response_format={"type": "json_object"})
    obeyed = json_object(strict.text.encode()) == {"zq": "k7"}
    by_schema = _describe_obedience(obeyed, strict)
    by_object = _describe_obedience(_is_object(loose), loose)
    said = f"json_schema {by_schema}, json_object {by_object}"
    if obeyed:
        return Finding("schema modes", "good", said)
    advice = (
        "servers with a grammar engine follow schemas: llama.cpp, vLLM, Ollama, LM Studio, in"
        " recent versions"
    )
    return Finding("schema modes", "setting", said, advice)


def _describe_obedience(obeyed: bool, found: Answered) -> str:
    if found.problem:
        return f"refused ({found.problem})"
    if obeyed:
        return "followed"
    return "ignored"


def _is_object(found: Answered) -> bool:
    return json_object(found.text.encode()) is not None


def judge_guided(native: Finding, by_schema: Finding) -> Finding:
    """Return the finding about ``callwright proxy --guided auto`` that follows from the two
    others.
    """
    about = "guided mode"
    if native.verdict == "good":
        return Finding(about, "good", "not needed, native calls work")
    if by_schema.verdict != "good":
        return Finding(
            about, "setting", "not possible without json_schema: calls are read from the text"
        )
    return Finding(
        about,
        "mended",
        "native calls do not work: the engine leads by schema",
        "--guided text reads calls from the text first, --guided off never asks by schema",
    )


async def probe_formats(ask: Ask) -> Finding:
    """Test the server's treatment of calls in the formats of the model families, when the model
    writes them.
    """
    sorted_out: dict[str, list[str]] = {
        "read by the server": [],
        "left in the text": [],
        "garbled": [],
        "": [],
    }
    for dialect in FORMATS:
        sample = write_calls([ToolCall("c1", "switch_lamp", ARGUMENTS)], dialect)
        sorted_out[_classify_outcome(await ask(_REPEAT + sample, tools=[LAMP, BELL]))].append(
            dialect
        )
    said = "; ".join(
        f"{what}: {', '.join(names)}" for what, names in sorted_out.items() if what and names
    )
    untold = f"; not repeated by the model: {', '.join(sorted_out[''])}" if sorted_out[""] else ""
    about = "formats of calls"
    if sorted_out["garbled"]:
        advice = (
            "the server eats their marks: vLLM skip_special_tokens false, llama.cpp --special, or"
            " another parser"
        )
        return Finding(about, "setting", said + untold, advice)
    if sorted_out["left in the text"]:
        return Finding(about, "mended", said + untold)
    return Finding(about, "good" if said else "unclear", (said + untold).removeprefix("; "))


def _classify_outcome(found: Answered) -> str:
    """Return the form in which a repeated call arrived; empty if the model did not repeat it."""
    right = ("switch_lamp", ARGUMENTS)
    if [(c.tool, c.arguments) for c in found.calls] == [right]:
        return "read by the server"
    parsed = parse_calls(found.text_or_reasoning, OFFER)
    if [(c.tool, c.arguments) for c in refine(list(parsed.calls), OFFER).calls] == [right]:
        return "left in the text"
    tried = "switch_lamp" in found.text_or_reasoning and "kitchen" in found.text_or_reasoning
    return "garbled" if tried or found.calls else ""


def judge_thinking(plain: Answered) -> Finding:
    """Return the finding about the place of the model's thoughts in a plain answer."""
    if "<think>" in plain.text or "</think>" in plain.text:
        advice = (
            "start the server with its reasoning parser (vLLM: --reasoning-parser NAME, llama.cpp:"
            " --reasoning-format auto, LM Studio: 'separate reasoning_content' in its settings,"
            " Ollama: think)"
        )
        return Finding("thinking", "setting", "<think> is left in the text", advice)
    if plain.reasoning and not plain.text and plain.finish == "length":
        advice = (
            "raise max_tokens, or switch thinking off (chat_template_kwargs: {enable_thinking:"
            " false})"
        )
        return Finding(
            "thinking", "setting", f"it used up all {MAX_TOKENS} tokens of an answer", advice
        )
    if plain.reasoning and not plain.text:
        advice = (
            "the server takes the answer for a thought: start it without a reasoning parser, or"
            " with this model's own (vLLM: --reasoning-parser, llama.cpp: --reasoning-format none)"
        )
        return Finding("thinking", "setting", "the answer stays in reasoning_content", advice)
    said = "kept apart in reasoning_content" if plain.reasoning else "none left in the text"
    return Finding("thinking", "good", said)


async def probe_long_context(ask: Ask, plain: Answered, tokens: int) -> Finding:
    """Test whether a long prompt is cut silently: two words are hidden in it, and its tokens
    counted.
    """
    about = "long context"
    few, many = 200, max(400, tokens // 4)
    short, long = await ask(_build_long_prompt(few)), await ask(_build_long_prompt(many))
    if long.problem:
        return Finding(about, "good", f"too long a prompt is refused clearly ({long.problem[:90]})")
    each = (short.prompt_tokens - plain.prompt_tokens) / few
    expected = round(plain.prompt_tokens + each * many)
    advice = (
        "open the window: Ollama OLLAMA_CONTEXT_LENGTH=32768 (or num_ctx), llama.cpp -c 32768, LM"
        " Studio 'Context Length' when the model is loaded, vLLM --max-model-len"
    )
    if plain.prompt_tokens and 0 < long.prompt_tokens < 0.8 * expected:
        said = (
            f"a prompt of about {expected:,} tokens was cut to {long.prompt_tokens:,} without a"
            " word"
        )
        return Finding(about, "setting", said, advice)
    missing = [word for word in (FIRST, MIDDLE) if word not in long.text_or_reasoning.lower()]
    size = f"{long.prompt_tokens or tokens:,} tokens"
    if not missing:
        return Finding(about, "good", f"{size} were read whole")
    if any(word not in short.text_or_reasoning.lower() for word in (FIRST, MIDDLE)):
        return Finding(
            about, "unclear", f"{size}: the model does not find the words in a short prompt either"
        )
    part = "beginning" if FIRST in missing else "middle"
    return Finding(
        about, "setting", f"the {part} of a prompt of {size} was not seen, or not used", advice
    )


def _build_long_prompt(items: int) -> str:
    half = items // 2
    first, second = (
        " ".join(f"item{10_000 + n}" for n in part) for part in (range(half), range(half, items))
    )
    asked = "Above, two passwords were given. Reply with the two passwords and nothing else."
    return (
        f"The first password is {FIRST}.\n\n{first}\n\nThe second password is"
        f" {MIDDLE}.\n\n{second}\n\n{asked}"
    )


def _shorten_text(text: Any) -> str:
    line = " ".join(str(text).split())
    return repr(line if len(line) <= 90 else line[:90] + "…")
