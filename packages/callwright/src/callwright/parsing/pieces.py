"""Defines the pieces that a parser emits: plain text, calls found in it, and the content of one
block.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

from callwright.nouns.types import JsonObject, ToolCall

T = TypeVar("T")
Steps: TypeAlias = Generator[
    None, None, T
]  # stops wherever more text is needed, returns what was read


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Text that is no call, unchanged. ``reasoning``: it stands inside ``<think>`` or its like,
    tags included. ``closes``: it ends reasoning that the prompt began, so all before it was that.
    """

    text: str
    reasoning: bool = False
    closes: bool = False


@dataclass(frozen=True, slots=True)
class CallPiece:
    """One call. ``call.arguments`` is an object, or the raw text where it cannot be read as one.

    ``raw`` is the text of the whole block; where a block holds several calls the first carries it
    and the others "": the texts and raws of all pieces, in order, are the input again. ``problems``
    lists what was wrong and repaired or left. ``truncated``: the text stopped inside the arguments,
    which are then raw text and never completed. ``reasoning``: it stands inside ``<think>`` or its
    like, where a model also writes what it does not do; it counts where the reply says no more.
    """

    call: ToolCall
    raw: str
    dialect: str
    problems: tuple[str, ...] = ()
    truncated: bool = False
    reasoning: bool = False


Piece: TypeAlias = TextPiece | CallPiece


def get_raw(piece: Piece) -> str:
    """Return the text of the reply that a piece is."""
    return piece.raw if isinstance(piece, CallPiece) else piece.text


def drop_thoughts(
    pieces: Sequence[Piece], is_said: Callable[[str], object] = str.strip
) -> list[Piece]:
    """The pieces of a whole reply, in which a call inside its reasoning is reasoning if the reply
    says anything beside that: what a model considered it has not decided. ``is_said`` judges the
    text beside reasoning.
    """
    ends = (n for n, piece in enumerate(pieces) if isinstance(piece, TextPiece) and piece.closes)
    end = next(ends, -1)
    marked = [
        replace(piece, reasoning=True) if n < end else piece for n, piece in enumerate(pieces)
    ]
    outside = [p for p in marked if not p.reasoning]
    text = "".join(p.text for p in outside if isinstance(p, TextPiece))
    if all(isinstance(p, TextPiece) for p in outside) and not is_said(text):
        return [*marked]
    return [
        TextPiece(get_raw(p), reasoning=True) if isinstance(p, CallPiece) and p.reasoning else p
        for p in marked
    ]


@dataclass(slots=True)
class Meant:
    """A call as a reader found it, before it has an id. ``slot`` is the label that it bears for
    what it returns.
    """

    tool: str
    arguments: JsonObject | str
    problems: list[str] = field(default_factory=list)
    truncated: bool = False
    slot: str = ""


@dataclass(slots=True)
class Block:
    """Text that one reader consumed. Without calls it is plain text (``reason``: the model's reason
    for calling nothing).
    """

    dialect: str
    calls: list[Meant] = field(default_factory=list)
    reason: str = ""
    raw: str = ""  # the text of the block, kept where there are no calls


class Data:
    """Said by a reader of a bracketed value that is no call: until it closes, nothing in it is one
    either.
    """


DATA = Data()
Reading: TypeAlias = Steps["Block | Data | None"]  # None: no call begins here

Writer: TypeAlias = Callable[[Sequence[ToolCall]], str]


@dataclass(frozen=True, slots=True)
class Dialect:
    """A family: how its calls look, where that is known from, and whether samples of its upstream
    are tested.

    ``reads_as``: its shape is another family's, under whose name its calls are reported. ``asked``:
    it is read only where ``Parser`` is asked for it by name, because prose looks the same. Of a
    registered one ``reader`` names the family whose reader reads it, and ``labels`` says that JSON
    lists whose calls name what they return are reported under its name.
    """

    name: str
    shape: str
    source: str
    write: Writer
    verified: bool = False
    reads_as: str = ""
    asked: bool = False
    reader: str = ""
    labels: bool = False
