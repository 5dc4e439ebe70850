"""Calls whose parameters stand in tags of their own: Qwen's, DeepSeek's and Anthropic's, and GLM's
pairs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from callwright.jsontext import JsonError
from callwright.nouns.types import JsonObject, ToolCall
from callwright.parsing import names
from callwright.parsing.formats.typed import (
    format_value,
    read_key,
    read_typed_value,
    unescape_markers,
    written_key,
)
from callwright.parsing.marker_set import MarkerSet, get_marker_set
from callwright.parsing.pieces import Meant, Steps
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary, named_tool
from callwright.parsing.values import STOPPED, read_arguments

PAIR = "<arg_key>"
_NS = ("", "｜DSML｜", "|DSML|", "minimax:", "antml:", "atem:")
_NAMED = r"""(?:\s*=\s*|\s+name\s*=\s*)["']?(?P<name>[^"'<>]{0,1024}?)["']?"""
_PREFIX = r"(?:｜DSML｜|\|DSML\||\w+:)?"
_CALL = re.compile(rf"<{_PREFIX}(?:function|invoke){_NAMED}\s*>")
_PARAMETER = re.compile(
    rf"""<{_PREFIX}parameter{_NAMED}(?:\s+string\s*=\s*["']?(?P<text>true|false)["']?)?\s*>"""
)
_CALL_END = re.compile(rf"</{_PREFIX}(?:function|invoke)>")
_TAG_END = MarkerSet([">"])
_KEY_ENDS = MarkerSet(["</arg_key>", "<arg_value>", "\n"])
_PARAMETER_ENDS = [f"</{ns}parameter>" for ns in _NS] + ["</arg_value>"]
_CALL_ENDS = [f"</{ns}{tag}>" for ns in _NS for tag in ("function", "invoke")]
_PARAMETERS = [f"<{ns}parameter{c}" for ns in _NS for c in "= "] + [PAIR]
_CALLS = [f"<{ns}{tag}" for ns in _NS for tag in ("function=", "function name=", "invoke name=")]
_BETWEEN, _ENDS, _VALUE = (
    MarkerSet([*_CALLS, *_CALL_ENDS]),
    MarkerSet(_CALL_ENDS),
    MarkerSet(["<arg_value>"]),
)
_OPENINGS = MarkerSet([f"{c}{q}" for c in _CALLS for q in ("", "'", '"')])
_AFTER_NAME = MarkerSet([">", "'>", '">', " >"])
OPENS = frozenset(_CALLS)
NAMELESS = frozenset(f"<parameter{c}" for c in ("=", " name="))
_MAX_TAG = 1152  # a name of 1,024 characters and what stands around it
NO_NAME = "the tool's name is missing"
NO_TAG = "a closing tag is missing"


@dataclass(slots=True)
class _Call:
    """A call while its tags are read. ``tag`` is its opening, to find its text again if it
    stops.
    """

    name: str
    tag: str
    properties: JsonObject
    arguments: JsonObject = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    truncated: bool = False


class Markup:
    """Reads calls in tags up to one of ``closes`` (not taken). The tools' schemas give texts their
    types.
    """

    def __init__(self, tape: Scanner, offer: ToolVocabulary, closes: MarkerSet) -> None:
        self._tape, self._offer = tape, offer
        self._after_call = get_marker_set(frozenset([*closes.words, *_CALLS]))
        self._after_value = get_marker_set(
            frozenset([*closes.words, *_CALLS, *_CALL_ENDS, *_PARAMETERS])
        )
        self._ends = get_marker_set(
            frozenset([*closes.words, *_CALL_ENDS, *_PARAMETERS, *_PARAMETER_ENDS])
        )
        self._closes = closes
        self._found: list[Meant] = []
        self.kind = "markup"

    def calls(self, nameless: bool = False) -> Steps[list[Meant]]:
        """``<function=N>`` or ``<invoke name="N">`` and so on, one after the other. ``nameless``:
        the opening of the first is missing, its parameters come at once.
        """
        call = _Call("", "", {}, problems=[NO_NAME]) if nameless else None
        while (yield from self._next_is_tag(call is None)):
            tag, name = yield from self._tag()
            if name:
                self._done(call, [NO_TAG])
                call = self._opened(name, tag)
                if (yield from self._tape.space()) == "{":
                    yield from self._json(call)
                    call = None
            elif call is not None and (_PARAMETER.fullmatch(tag) or tag == PAIR):
                yield from self._parameter(call, tag)
                if call.truncated:
                    break
            elif _CALL_END.fullmatch(tag):
                self._tape.at += len(tag)
                self._done(call, [], closed=True)
                call = None
            else:
                break
        self._done(call, [NO_TAG])
        return self._found

    def _tag(self) -> Steps[tuple[str, str]]:
        """The tag that begins here, not taken; and the name of the call that it opens, "" where it
        opens none.
        """
        quoted = (yield from self._tape.marker(_OPENINGS)) if self._offer.odd is not None else ""
        for opening in dict.fromkeys((quoted, quoted.rstrip("\"'"))) if quoted else ():
            name = yield from names.find_name(self._tape, self._offer, _AFTER_NAME, len(opening))
            if name:
                end = yield from self._tape.marker(_AFTER_NAME, len(opening) + len(name))
                return f"{opening}{name}{end}", name
        tag = yield from self._tape.ahead(_TAG_END, _MAX_TAG)
        opened = _CALL.fullmatch(tag)
        return tag, named_tool(opened["name"], self._offer.tools) if opened else ""

    def pairs(self, name: str) -> Steps[list[Meant]]:
        """GLM's ``<arg_key>K</arg_key><arg_value>V</arg_value>`` after the name, which is read
        already.
        """
        self.kind = "pairs"
        call = _Call(name, "", self._offer.schema(name))
        while (yield from self._next_is_tag(False)) and not call.truncated:
            if (yield from self._tape.ahead(_TAG_END, _MAX_TAG)) != PAIR:
                break
            yield from self._parameter(call, PAIR)
        self._done(call, [])
        return self._found

    def _opened(self, name: str, tag: str) -> _Call:
        if "invoke" in tag:
            self.kind = "dsml" if "DSML" in tag else "invoke"
        self._tape.at += len(tag)
        return _Call(name, tag, self._offer.schema(name))

    def _next_is_tag(self, between: bool) -> Steps[bool]:
        """Return True if a tag comes next that does not close the enclosing block of the calls.
        Between calls, spaces are consumed only if another call follows.
        """
        if between:
            spaces = yield from self._tape.glance()
            if spaces < 0 or not (yield from self._tape.marker(_BETWEEN, spaces)):
                return False
        if (yield from self._tape.space()) != "<":
            return False
        return not (yield from self._tape.marker(self._closes))

    def _json(self, call: _Call) -> Steps[None]:
        """``<function=N>{…}</function>``: JSON where tags are expected (Functionary 3.1, Llama 3.1
        with tags).
        """
        self.kind = "function_json"
        text, closed = yield from self._tape.value(
            get_marker_set(frozenset([*_CALL_ENDS, *self._closes.words]))
        )
        meant = read_arguments(call.name, text, closed, self._offer, at_end=self._at_end())
        self._found.append(meant)
        if not (yield from self._tape.closing(_ENDS)):
            meant.problems.append(NO_TAG)

    def _at_end(self) -> bool:
        """Return True if the text ends here, or inside the tag that begins here."""
        rest = self._tape.text[self._tape.at : self._tape.at + _MAX_TAG + 1]
        inside = len(rest) <= _MAX_TAG and ">" not in rest and rest.lstrip()[:1] in ("", "<")
        return self._tape.ended and inside

    def _done(self, call: _Call | None, problems: list[str], closed: bool = False) -> None:
        if call is None:
            return
        if (
            not closed
            and self._at_end()
            and not (call.properties and call.properties.keys() <= call.arguments.keys())
        ):
            call.truncated = True  # more parameters may have been about to come
        if call.truncated:
            self._tape.at = len(self._tape.text)
            raw = self._tape.raw()
            at = (
                raw.rfind(call.tag) + len(call.tag)
                if call.tag
                else max(raw.find(PAIR), raw.find("<parameter"), 0)
            )
            self._found.append(
                Meant(call.name, raw[at:], [*call.problems, STOPPED], truncated=True)
            )
        else:
            self._found.append(Meant(call.name, call.arguments, [*call.problems, *problems]))

    def _parameter(self, call: _Call, tag: str) -> Steps[None]:
        self._tape.at += len(tag)
        named = _PARAMETER.fullmatch(tag)
        if named:
            key, flag = read_key(named["name"], call.properties), named["text"] or ""
        else:
            key, flag = (yield from self._key(call)), ""
        text = yield from self._value(call)
        if call.truncated:
            return
        if key in call.arguments:
            call.problems.append(f"parameter {key} given twice")
        text = unescape_markers(_strip_line_breaks(text))
        call.arguments[key] = self._typed(call, key, text, flag)

    def _key(self, call: _Call) -> Steps[str]:
        key, end = yield from self._tape.until(_KEY_ENDS, _MAX_TAG)
        if end == "</arg_key>":
            self._tape.at += len(end)
        else:
            call.problems.append(NO_TAG)
        if not (yield from self._tape.closing(_VALUE)):
            if self._at_end():
                call.truncated = True
            call.problems.append("an opening tag is missing")
        return read_key(key, call.properties)

    def _typed(self, call: _Call, key: str, text: str, flag: str) -> object:
        if flag == "true":
            return text
        if flag == "false":
            try:
                return self._offer.strict(text)
            except JsonError:
                call.problems.append(f"parameter {key} is not the JSON that it is marked as")
        if text == "null" and self._offer.names_null(call.name, key):
            return None
        value, problem = read_typed_value(text, call.properties.get(key), self._offer)
        if problem:
            call.problems.append(f"{key}: {problem}")
        return value

    def _value(self, call: _Call) -> Steps[str]:
        """The text of a value. A tag inside it ends it only where what follows could follow a
        value.
        """
        parts: list[str] = []
        while True:
            text, word = yield from self._tape.until(self._ends)
            parts.append(text)
            if not word:
                call.truncated = True
                break
            if word in _PARAMETER_ENDS:
                if (yield from self._followed(len(word), self._after_value)):
                    self._tape.at += len(word)
                    break
            elif word in _PARAMETERS:
                if (yield from self._is_next_parameter(call, text)):
                    call.problems.append(NO_TAG)
                    break
            elif (yield from self._followed(len(word), self._after_call)):
                call.problems.append(NO_TAG)
                break
            parts.append(word)
            self._tape.at += len(word)
        return "".join(parts)

    def _followed(self, length: int, marks: MarkerSet) -> Steps[bool]:
        spaces = yield from self._tape.glance(length)
        return spaces < 0 or bool((yield from self._tape.marker(marks, length + spaces)))

    def _is_next_parameter(self, call: _Call, before: str) -> Steps[bool]:
        """Return True if a parameter's opening tag inside a value shows that the closing tag was
        forgotten. The tag stands on a line of its own and names a declared parameter without a
        value.
        """
        if not before.endswith("\n") and before:
            return False
        tag = yield from self._tape.ahead(_TAG_END, _MAX_TAG)
        named = _PARAMETER.fullmatch(tag)
        if named is None:
            return tag == PAIR
        key = read_key(named["name"], call.properties)
        return key in call.properties and key not in call.arguments


def _strip_line_breaks(text: str) -> str:
    """Templates put a line break before and after a value: one of each is not the value's own."""
    if text[:1] == "\n":
        text = text[1:]
        return text[:-1] if text[-1:] == "\n" else text
    return text


def write_qwen(calls: Sequence[ToolCall]) -> str:
    return "\n".join(
        f"<tool_call>\n<function={c.tool}>\n"
        + "".join(
            f"<parameter={written_key(k)}>\n{format_value(v)}\n</parameter>\n"
            for k, v in get_argument_object(c).items()
        )
        + "</function>\n</tool_call>"
        for c in calls
    )


def write_glm(calls: Sequence[ToolCall]) -> str:
    return "\n".join(
        f"<tool_call>{c.tool}\n{_format_pairs(get_argument_object(c))}</tool_call>" for c in calls
    )


def _format_pairs(arguments: JsonObject) -> str:
    return "".join(
        f"<arg_key>{written_key(k)}</arg_key>\n<arg_value>{_pad_line_breaks(format_value(v))}</arg_value>\n"
        for k, v in arguments.items()
    )


def write_dsml(calls: Sequence[ToolCall]) -> str:
    return f"<｜DSML｜function_calls>\n{''.join(_format_dsml_call(c) for c in calls)}</｜DSML｜function_calls>"


def _format_dsml_call(call: ToolCall) -> str:
    lines = []
    for key, value in get_argument_object(call).items():
        flag = "true" if isinstance(value, str) else "false"
        tag = f'<｜DSML｜parameter name="{written_key(key)}" string="{flag}">'
        lines.append(f"{tag}{_pad_line_breaks(format_value(value))}</｜DSML｜parameter>\n")
    return f'<｜DSML｜invoke name="{call.tool}">\n{"".join(lines)}</｜DSML｜invoke>\n'


def _pad_line_breaks(text: str) -> str:
    """A value that begins or ends with a line break gets one more on both sides: readers take one
    of each away.
    """
    return f"\n{text}\n" if text[:1] == "\n" or text[-1:] == "\n" else text


def get_argument_object(call: ToolCall) -> JsonObject:
    return call.arguments if isinstance(call.arguments, dict) else {}
