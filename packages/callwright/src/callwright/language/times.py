"""Counts how often a request asks for something: "twice", "dreimal", "5 veces", "两次"."""

from __future__ import annotations

from functools import lru_cache

from callwright.language.detect import is_foreign, language_of
from callwright.language.forbidding import split_clauses
from callwright.language.pack import PACKS, Pack
from callwright.language.phrases import find_phrases
from callwright.language.vocabulary import Vocabulary

_TABLE, _WRITTEN = "calls.times", "calls.times_written"


@lru_cache(maxsize=256)  # of one request it is asked for every call
def count_times(text: str) -> int | None:
    """Return the largest number of times that a text names, 1 where it names none, but for clauses
    that forbid something and rates. None where it is in a language in which that cannot be read; a
    text of no known language is read in all of them.
    """
    code, asked = language_of(text), read_asked(text)
    known = [one for one in ([code] if code in PACKS else PACKS) if Vocabulary(one).has(_TABLE)]
    found = max((_count_in(asked, one) for one in known), default=1)
    if found > 1:
        return found
    is_read = code in known or (not code and not is_foreign(text))
    return 1 if is_read else None


def read_asked(text: str) -> str:
    """The clauses of a text that do not forbid something, one a line, without rates and places in
    an order: "twice a day" tells how often something happens, not how often it is asked for.
    """
    asked = "\n".join(split_clauses(text).others)
    for one in PACKS:
        asked = Pack(one).without("calls.rates", asked)
    return asked


def _count_in(text: str, code: str) -> int:
    vocabulary = Vocabulary(code)
    table = vocabulary.table(_TABLE)
    said = (int(table[phrase]) for phrase in find_phrases(text.casefold(), table, code))
    figures = (int(n) for n in vocabulary.pattern(_WRITTEN).findall(text))
    return max((*said, *figures), default=1)
