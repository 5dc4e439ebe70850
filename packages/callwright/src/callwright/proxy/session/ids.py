"""Ids of calls that the proxy wrote. They are all it ever knows of a conversation's past.

Nine letters and digits, because Mistral's templates take nothing else and everybody takes that:
``cw``, then ``p`` for a call parsed from text or edited, or ``r`` for one that cost a question to
the upstream, then six of a digest.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

_OURS = re.compile(r"cw[pr][0-9a-z]{6}")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def make_call_id(seed: bytes, index: int, *, asked: bool) -> str:
    """The id of the call at ``index`` of the answer to the request that ``seed`` stands for: always
    the same one.
    """
    number = int.from_bytes(
        hashlib.blake2b(b"%d:%b" % (index, seed), digest_size=8).digest(), "big"
    )
    text = ""
    for _ in range(6):
        number, digit = divmod(number, 36)
        text += _DIGITS[digit]
    return f"cw{'r' if asked else 'p'}{text}"


def compute_seed(body: bytes) -> bytes:
    """Return the seed of the ids of one request's calls."""
    return hashlib.blake2b(body, digest_size=16).digest()


def has_question_id(ids: Iterable[str]) -> bool:
    """Return True if any of these calls of one message cost a question."""
    return any(_OURS.fullmatch(i) is not None and i[2] == "r" for i in ids)
