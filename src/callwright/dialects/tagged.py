"""Families that put tags around their calls: one table and one reader, since what is inside varies freely."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from callwright.dialects.body import Body
from callwright.dialects.marks import Marks, marks
from callwright.dialects.markup import OPENS
from callwright.dialects.offer import Offer
from callwright.dialects.pieces import Block, Steps
from callwright.dialects.tape import Tape

ATEM = "<atem:function_calls>"
NO_CLOSE = "the closing tag is missing"
NOTHING = "no_function"  # Granite's name for calling nothing
_SURPLUS = frozenset("}])\"',;.`")
_NS = ("｜DSML｜", "|DSML|")


@dataclass(frozen=True, slots=True)
class Envelope:
    """Closing tags, and the family by what stands inside (``Body.kind``); "" for everything else."""

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
    **{f"<{ns}{t}>": Envelope((f"</{ns}{t}>",), _CALLS) for ns in _NS for t in ("function_calls", "tool_calls")},
    "<|tool_call>": Envelope(("<tool_call|>", "<|tool_call|>"), {"": "gemma"}),
    "<start_function_call>": Envelope(("<end_function_call>",), {"": "functiongemma"}),
    "<|tool_call|>": Envelope(("<|/tool_call|>", *_END), {"": "granite"}, open_ended=True),
    "<function_call>": Envelope(("</function_call>",), {"": "granite_20b"}, open_ended=True),
    "<|START_ACTION|>": Envelope(("<|END_ACTION|>",), {"": "cohere"}),
    **{f"<|action_start|>{s}<|plugin|>": Envelope(("<|action_end|>",), {"": "internlm"}) for s in ("", " ", "\n")},
    "<minimax:tool_call>": Envelope(("</minimax:tool_call>",), {"": "minimax"}),
    ATEM: Envelope(("</atem:function_calls>",), {"": "glimmer"}),
    "<|tool_call_start|>": Envelope(("<|tool_call_end|>",), {"": "lfm2"}),
    "<|python_tag|>": Envelope(("<|eom_id|>", "<|eot_id|>"), {"": "llama_json", "python": "pythonic"}),
    "<|python_start|>": Envelope(("<|python_end|>",), {"": "pythonic"}),
    **{tag: Envelope((*_END, "</function_calls>"), _MARKUP) for tag in OPENS},  # the outer tag forgotten
}


def read(tape: Tape, offer: Offer, marker: str) -> Steps[Block | None]:
    """The calls between a tag and its closing tag, which is forgiven where the calls are complete without it."""
    envelope = ENVELOPES[marker]
    closes = marks(frozenset(envelope.closes))
    if marker not in OPENS:
        tape.at += len(marker)
    body = Body(tape, offer, closes)
    if not (yield from body.read()) or not body.calls:
        return None
    family = envelope.families.get(body.kind, envelope.families[""])
    may_lack = envelope.open_ended or family == "granite" or marker in OPENS
    if not (yield from _closed(tape, closes)) and not body.calls[-1].truncated and not may_lack:
        body.calls[-1].problems.append(NO_CLOSE)
    if len(body.calls) == 1 and body.calls[0].tool == NOTHING and NOTHING not in offer.tools:
        return Block(family, reason=NOTHING)
    return Block(family, body.calls)


def _closed(tape: Tape, closes: Marks) -> Steps[bool]:
    """Takes the closing tag, and brackets or quotes that stand before it and close nothing."""
    if (yield from tape.closing(closes)):
        return True
    ahead = yield from tape.glance()
    if ahead < 0 or tape.text[tape.at + ahead] not in _SURPLUS:
        return False
    between = yield from tape.ahead(closes, 64)
    if between and re.match(r"[\s}\])\"',;.`]*<", between):
        tape.at += len(between)
        return True
    return False
