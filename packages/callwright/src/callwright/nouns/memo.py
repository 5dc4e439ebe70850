"""Remembers the results of a function of a text: of many short texts, and of the last few long
ones or, where the results are small, of many under their digests.

Names and descriptions recur. The text of a message, or of a call that writes a file, does not.
Remembered like a name, it would pile up in a process that runs for months.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache, wraps
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")
LAST = 8  # long texts: the request and the values of the reply at hand


def cache_by_text(most: int, longest: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Decorates a pure function of one text: what it gives is remembered for the ``most`` last
    texts of at most ``longest`` characters, and for the ``LAST`` last longer ones.
    """

    def decorated(function: Callable[[str], T]) -> Callable[[str], T]:
        short, long = lru_cache(most)(function), lru_cache(LAST)(function)

        @wraps(function)
        def remembering(text: str) -> T:
            return short(text) if len(text) <= longest else long(text)

        return remembering

    return decorated


def cache_by_digest(most: int, longest: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Decorates a pure function that makes something small of one text: what it gives is remembered
    for the ``most`` last texts of at most ``longest`` characters, and for as many longer ones, the
    first of which goes first. Of those the digest is kept and never the text.

    The texts of a conversation come again with every turn.
    """

    def decorated(function: Callable[[str], T]) -> Callable[[str], T]:
        short = lru_cache(most)(function)
        made: OrderedDict[bytes, tuple[T]] = OrderedDict()

        @wraps(function)
        def remembering(text: str) -> T:
            if len(text) <= longest:
                return short(text)
            digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest()
            found = made.get(digest)
            if found is None:
                found = made[digest] = (function(text),)
                if len(made) > most:
                    made.popitem(last=False)
            return found[0]

        return remembering

    return decorated
