"""Words for the user: what an answer says in words, and where it says none after results.

After results an answer without calls is the last that the user sees. It has no words where it is
empty, an empty JSON value, or JSON that only repeats what results and calls hold. A client that
asks for JSON gets JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from callwright.agent.fold import LOST
from callwright.jsontext import JsonError, parse, parse_lenient
from callwright.nouns.types import Edit, Json, JsonObject, iter_scalars
from callwright.nouns.wire_names import EditRules
from callwright.parsing import CallPiece, Parser, Piece, TextPiece
from callwright.parsing.leftovers import LeftoverFilter, Part, remove_leftovers
from callwright.proxy.session.context import Context
from callwright.tools.lists import chat_messages as chat

CONTENT = "/content"
OTHER_MEANS = ("refusal", "audio")  # by which an answer says something
_TOKEN = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
_FENCED = re.compile(r"\s*```\w*\s*(.*?)\s*```\s*\Z", re.S)
_MARKS_ONLY = re.compile(r"[\s{}\[\]()<>`\"',:;]*\Z")
_HEAD = 80  # characters in which it shows whether a text may be JSON
_MAY_BE_DATA = re.compile(
    r"`{1,2}\Z|```\w*\s*\Z"
    r"|(?:```\w*\s*)?(?:\{\s*(?:\Z|[\"'}])|\[\s*(?:\Z|[\[{\"'\]]))"
)
_STEP = re.compile(r"[\"{}\[\]]")
_IN_STRING = re.compile(r"[\"\\]")
_AFTER = re.compile(r"\s*(?:`{1,3}\s*)?\Z")


def is_after_results(context: Context) -> bool:
    """Return True if results came since the user last spoke, so that an answer without calls is
    about them. What a client adds by itself behind results is no word of the user.
    """
    messages = [message for message in context.body["messages"] if isinstance(message, dict)]
    roles = ["tool" if _is_lost(message) else message.get("role") for message in messages]
    if roles[-1:] == ["tool"]:
        return True
    return "tool" in roles and roles[-1] != "assistant" and bool(context.state.results)


def _is_lost(message: JsonObject) -> bool:
    """Return True for a result without its call, told in the user's turn."""
    is_users = message.get("role") == "user"
    return is_users and chat.content_text(message.get("content")).startswith(LOST)


def is_named(token: str, context: Context) -> bool:
    """Return True if somebody else than the model wrote this control token in the conversation."""
    found = _TOKEN.match(token)
    word = (found[0] if found else token).lower()
    return any(word in text.lower() for text in _read_texts(context, "assistant"))


def _read_texts(context: Context, *left_out: str) -> Iterable[str]:
    for message in context.body["messages"]:
        if isinstance(message, dict) and message.get("role") not in left_out:
            yield chat.content_text(message.get("content"))


def clean_text(text: str, context: Context) -> tuple[str, list[Edit]]:
    """A text of the model without leftovers of a chat template, and what was removed."""
    shown, removed = remove_leftovers(text, lambda token: is_named(token, context))
    return shown, list_removed(removed)


def list_removed(removed: Iterable[str]) -> list[Edit]:
    """Edits for what was removed from the answer's text."""
    return [Edit(CONTENT, text, None, EditRules.TEMPLATE_TOKEN) for text in removed]


def is_wordless(text: str, context: Context) -> bool:
    """Return True if a text after results tells the user nothing: it is empty, or JSON that nobody
    asked for and that is empty or holds nothing but what results and calls hold.
    """
    if wants_json(context.body.get("response_format")):
        return False
    if not text.strip():
        return True
    data = (None,) if _MARKS_ONLY.match(text) else _read_data(text)
    if data is None:
        return False
    leaves = _list_leaves(data[0])
    if not leaves:
        return not _speaks_of_json(context, "assistant", "tool", "system", "developer")
    return not _speaks_of_json(context, "assistant", "tool") and leaves <= _list_known(context)


def _read_data(text: str) -> tuple[Json] | None:
    """The JSON list, object or null that a text is, in a fence or not; None where it is none."""
    fenced = _FENCED.match(text)
    bare = (fenced[1] if fenced else text).strip()
    if bare == "null":
        return (None,)
    if bare[:1] + bare[-1:] not in ("{}", "[]"):
        return None
    try:
        found = parse_lenient(bare)
    except JsonError:
        return None
    is_data = isinstance(found.value, dict | list) and not found.truncated and not found.is_mark
    return (found.value,) if is_data else None


def wants_json(response_format: Json) -> bool:
    """Return True if this ``response_format`` asks for JSON."""
    kind = response_format.get("type") if isinstance(response_format, dict) else None
    return kind not in (None, "text")


def _speaks_of_json(context: Context, *left_out: str) -> bool:
    return any("json" in text.lower() for text in _read_texts(context, *left_out))


def _list_known(context: Context) -> set[str]:
    """All values that results and the arguments of calls hold, as texts."""
    known: set[str] = set()
    for message in context.messages:
        if message.role == "tool":
            known |= _list_leaves(_read_json(message.content))
        for call in message.tool_calls:
            known |= {call.tool, *_list_leaves(call.arguments)}
    return known


def _list_leaves(value: Json) -> set[str]:
    """The values of a JSON value as texts, those of JSON inside a text too; empty ones left out."""
    leaves: set[str] = set()
    for leaf in iter_scalars(value):
        inner = _read_json(leaf) if isinstance(leaf, str) else leaf
        if isinstance(inner, dict | list):
            leaves |= _list_leaves(inner)
        elif leaf is not None:
            is_whole = isinstance(leaf, float) and leaf.is_integer()
            leaves.add(str(int(leaf) if is_whole else leaf).strip())
    return leaves - {""}


def _read_json(text: str) -> Json:
    try:
        return parse(text)
    except JsonError:
        return text


def _may_be_data(head: str) -> bool:
    """Return True if a text that begins like this may be JSON alone."""
    is_open = "null".startswith(head.rstrip()) or _MARKS_ONLY.match(head) is not None
    return is_open or _MAY_BE_DATA.match(head) is not None


class WordsWatch:
    """Watches an answer's text as it comes, while it may still be without words.

    ``held_from``: the place from which the text may be JSON alone and waits; None: nothing waits.
    Whitespace goes on, and so does everything once it is clear that there are words.
    """

    def __init__(self) -> None:
        self.held_from: int | None = None
        self.has_words = False
        self._head = ""
        self._depth = 0
        self._is_open = self._is_closed = self._is_in_string = self._is_escaped = False
        self._tail = ""

    def feed(self, text: str, place: int) -> None:
        """More text, which begins at this place of the answer."""
        if self.has_words:
            return
        if self.held_from is None:
            blank = len(text) - len(text.lstrip())
            if blank == len(text):
                return
            self.held_from, text = place + blank, text[blank:]
        if len(self._head) < _HEAD:
            self._head += text[: _HEAD - len(self._head)]
            if not _may_be_data(self._head):
                return self.let_go()
        self._scan(text)

    def let_go(self) -> None:
        """The text waits no longer."""
        self.has_words, self.held_from = True, None

    def _scan(self, text: str) -> None:
        at = 0
        while not self._is_closed:
            if self._is_escaped and at < len(text):
                self._is_escaped, at = False, at + 1
            found = (_IN_STRING if self._is_in_string else _STEP).search(text, at)
            if found is None:
                return
            at = found.end()
            self._see(found[0])
        self._tail += text[at:]
        is_blank = _MARKS_ONLY.match(self._head) and _MARKS_ONLY.match(self._tail)
        if not is_blank and not _AFTER.match(self._tail):
            self.let_go()

    def _see(self, char: str) -> None:
        if char == "\\":
            self._is_escaped = True
        elif char == '"':
            self._is_in_string = not self._is_in_string
        else:
            self._depth += 1 if char in "{[" else -1
            self._is_closed = self._depth <= 0


class LiveWords:
    """A reply that was asked for in words, as it comes: its text without calls and leftovers.

    ``said``: what has been given so far. Nothing is, before it is clear that there are words.
    """

    def __init__(self, context: Context) -> None:
        self.said = ""
        self._text = ""
        self._read = 0
        self._parser = Parser(context.toolset.offer)
        self._filter = LeftoverFilter(lambda token: is_named(token, context))
        self._watch = WordsWatch()

    def read(self, reply: str) -> str:
        """Return what has become certain since the last time. ``reply`` is all of it so far."""
        self._take(self._parser.feed(reply[self._read :]))
        self._read = len(reply)
        if not self._watch.has_words:
            return ""
        new = self._text.rstrip()[len(self.said) :]
        self.said += new
        return new

    def close(self, reply: str) -> str:
        """The whole text, which begins with what has been given."""
        self._take(self._parser.feed(reply[self._read :]))
        self._take(self._parser.close())
        self._place(self._filter.flush())
        return self._text.rstrip()

    def _take(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            if isinstance(piece, TextPiece) and not piece.reasoning:
                self._place(self._filter.feed(piece.text))
                continue
            self._place(self._filter.flush())
            if isinstance(piece, CallPiece) and piece.truncated:
                self._place([Part(piece.raw)])

    def _place(self, parts: Iterable[Part]) -> None:
        for part in parts:
            if not part.is_removed:
                text = part.text if self._text else part.text.lstrip()
                self._watch.feed(text, len(self._text))
                self._text += text
