"""Requests to do something more than once, or once more, in any language with an expression for it."""

from __future__ import annotations

from callwright.language.detect import is_foreign, language_of
from callwright.language.pack import PACKS, pack
from callwright.language.times import read_asked


def asks_again(text: str) -> bool | None:
    """Return True if a text asks for something more than once, or once more, in a clause that does
    not forbid it. A rate is none: "twice a day". None where it is in a language in which that
    cannot be read; a text of no known language is read in all of them.
    """
    code = language_of(text)
    packs = [pack(one) for one in ([code] if code else PACKS)]
    asked = read_asked(text)
    said = [one.says("calls.again", asked) for one in packs if one is not None]
    if True in said:
        return True
    is_read = False in said and (bool(code) or not is_foreign(text))
    return False if is_read else None
