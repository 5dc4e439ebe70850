"""Families that put tags around their calls: one table and one reader, since what is inside varies
freely.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from callwright.parsing.body import Body
from callwright.parsing.formats.markup import OPENS, PAIR, Markup
from callwright.parsing.marker_set import MarkerSet, get_marker_set
from callwright.parsing.pieces import Block, Meant, Steps
from callwright.parsing.scanner import CONTEXT, Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary

ATEM = "<atem:function_calls>"
NO_CLOSE = "the closing tag is missing"
NOTHING = "no_function"  # Granite's name for calling nothing
_SURPLUS = frozenset("}])\"',;.`")
_LAST_WORD = re.compile(r"[\n>]([\w.\-:/]+)\s*\Z")
_DOUBLED = frozenset(
    {"<tool_call|>"}
)  # looked for only where it is known to happen: looking waits for more text
_NS = ("｜DSML｜", "|DSML|")


@dataclass(frozen=True, slots=True)
class Envelope:
    """Closing tags, and the family by what stands inside (``Body.kind``); "" for everything
    else.
    """

    closes: tuple[str, ...]
    families: Mapping[str, str] = field(default_factory=dict)
    open_ended: bool = False  # the family itself writes no closing tag


_TOOL_CALL = {
    "": "hermes",
    "lines": "toolrl",
    "list": "granite",
    "markup": "qwen_xml",
    "function_json": "qwen_xml",
    "pairs": "glm",
    "invoke": "invoke",
    "recipient": "harmony",
    "python": "pythonic",
    "gemma": "gemma",
}
_MARKUP = {"": "qwen_xml", "invoke": "invoke", "dsml": "dsml", "function_json": "functionary"}
_CALLS = {"": "invoke", "dsml": "dsml", "markup": "qwen_xml", "python": "olmo3"}
_CALLS |= dict.fromkeys(("json", "lines", "list"), "jamba")
_END = ("</tool_call>",)

ENVELOPES: dict[str, Envelope] = {
    "<tool_call>": Envelope(_END, _TOOL_CALL),
    "<tool_calls>": Envelope(("</tool_calls>",), _CALLS),
    "<function_calls>": Envelope(("</function_calls>",), _CALLS),
    **{
        f"<{ns}{t}>": Envelope((f"</{ns}{t}>",), _CALLS)
        for ns in _NS
        for t in ("function_calls", "tool_calls")
    },
    "<|tool_call>": Envelope(("<tool_call|>", "<|tool_call|>"), {"": "gemma"}),
    "<start_function_call>": Envelope(("<end_function_call>",), {"": "functiongemma"}),
    "<|tool_call|>": Envelope(("<|/tool_call|>", *_END), {"": "granite"}, open_ended=True),
    "<function_call>": Envelope(("</function_call>",), {"": "granite_20b"}, open_ended=True),
    "<|START_ACTION|>": Envelope(("<|END_ACTION|>",), {"": "cohere"}),
    **{
        f"<|action_start|>{s}<|plugin|>": Envelope(("<|action_end|>",), {"": "internlm"})
        for s in ("", " ", "\n")
    },
    "<minimax:tool_call>": Envelope(("</minimax:tool_call>",), {"": "minimax"}),
    ATEM: Envelope(("</atem:function_calls>",), {"": "glimmer"}),
    "<|tool_call_start|>": Envelope(("<|tool_call_end|>",), {"": "lfm2"}),
    "<|python_tag|>": Envelope(
        ("<|eom_id|>", "<|eot_id|>"), {"": "llama_json", "python": "pythonic"}
    ),
    "[TOOL_REQUEST]": Envelope(("[END_TOOL_REQUEST]",), {"": "lmstudio"}),
    "<|python_start|>": Envelope(("<|python_end|>",), {"": "pythonic"}),
    **{
        tag: Envelope((*_END, "</function_calls>"), _MARKUP) for tag in OPENS
    },  # the outer tag forgotten
    PAIR: Envelope(_END, {"": "glm"}),  # and the name lost with it, or run into the text before
}


def read(tape: Scanner, offer: ToolVocabulary, marker: str) -> Steps[Block | None]:
    """The calls between a tag and its closing tag, which is forgiven where the calls are complete
    without it.
    """
    envelope = ENVELOPES[marker]
    closes = get_marker_set(frozenset(envelope.closes))
    if marker == PAIR:
        return (yield from _take_pairs(tape, offer, closes))
    if marker not in OPENS:
        tape.at += len(marker)
    body = Body(tape, offer, closes)
    if not (yield from body.read()) or not body.calls:
        return None
    family = envelope.families.get(body.kind, envelope.families[""])
    may_lack = envelope.open_ended or family == "granite" or marker in OPENS
    if (
        not (yield from _take_closing_tag(tape, closes, body.calls[-1]))
        and not body.calls[-1].truncated
        and not may_lack
    ):
        body.calls[-1].problems.append(NO_CLOSE)
    if len(body.calls) == 1 and body.calls[0].tool == NOTHING and NOTHING not in offer.tools:
        return Block(family, reason=NOTHING)
    return Block(family, body.calls)


def _take_pairs(tape: Scanner, offer: ToolVocabulary, closes: MarkerSet) -> Steps[Block | None]:
    """GLM's pairs without the tag before the name, which has flown on as text: the last word before
    them.
    """
    name = _LAST_WORD.search(tape.text, max(0, tape.at - CONTEXT), tape.at)
    if name is None or not offer.calls(name[1]):
        return None
    calls = yield from Markup(tape, offer, closes).pairs(name[1])
    calls[-1].problems.append("the opening tag is missing")
    yield from tape.closing(closes)
    return Block("glm", calls)


def _take_closing_tag(tape: Scanner, closes: MarkerSet, last: Meant) -> Steps[bool]:
    """Takes the closing tag, one that some write twice, and brackets or quotes before it that close
    nothing.
    """
    if found := (yield from tape.closing(closes)):
        if found in _DOUBLED and (yield from tape.marker(get_marker_set(frozenset({found})))):
            tape.at += len(found)
            last.problems.append("the closing tag twice")
        return True
    ahead = yield from tape.glance()
    if ahead < 0 or tape.text[tape.at + ahead] not in _SURPLUS:
        return False
    between = yield from tape.ahead(closes, 64)
    if between and re.match(r"[\s}\])\"',;.`]*[<\[]", between):
        tape.at += len(between)
        last.problems.append("surplus brackets before the closing tag")
        return True
    return False
