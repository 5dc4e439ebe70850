"""Counts what a text lists: "Ann, Bob and Carl", "me, my wife and our two kids", "我和我太太"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from callwright.language.number_words import read_number_words
from callwright.language.pack import PACKS
from callwright.language.phrases import WITHOUT_SPACES
from callwright.language.vocabulary import Vocabulary

_LONGEST = 4_000  # characters of a text that are read
_WORDS = r"[^\s,،.;]+(?:\s[^\s,،.;]+){0,2}"
_SIGNS = r"[^\s,、，.;。；]{1,8}"
_FIGURE = re.compile(r"(?<![\d.,])\d{1,2}(?![\d.,])")
_MOST = 12  # members of a list, and things that one of them counts


def count_listed(text: str, code: str) -> Iterator[float]:
    """Yield how many things the lists of a text in a language hold. A member counts the number that
    it says, else one. Two make a list only where one says a number or is the speaker, as in "Ann
    and me" and not in "and tell me"; none is read in a language without a pack.
    """
    if code not in PACKS:
        return
    for found in _compile_list(code).finditer(text[:_LONGEST]):
        members = re.split("[,،、，]", found["members"])
        counts = [_read_count(one, code) for one in (*members, found["last"])]
        is_told = len(members) > 1 or _is_speaker(members[0], found["last"], code)
        yield from (float(len(counts)),) if is_told else ()
        yield from (sum(counts),) if is_told or counts[-1] > 1 else ()


@cache
def _compile_list(code: str) -> re.Pattern[str]:
    member, start = (_SIGNS, "") if code in WITHOUT_SPACES else (_WORDS, r"(?<![^\s,،])")
    joiner = Vocabulary(code).expression("number_words_more.listed")
    more = rf"(?:[,،、，]\s*{member}){{0,{_MOST}}}"
    return re.compile(
        rf"{start}(?P<members>{member}{more}){joiner}(?P<last>{member})", re.IGNORECASE
    )


def _is_speaker(member: str, last: str, code: str) -> bool:
    """Return True if the speaker ends a list's only member before the joiner, or begins the last."""
    speaker = Vocabulary(code).pattern("number_words_more.speaker")
    ends = (found.end() == len(member) for found in speaker.finditer(member))
    return any(ends) or speaker.match(last) is not None


def _read_count(member: str, code: str) -> float:
    """The number of things that a member says, 1 where it says none."""
    said = read_number_words(member, [code]) | {*map(float, _FIGURE.findall(member))}
    return max((n for n in said if 1 < n <= _MOST), default=1.0)
