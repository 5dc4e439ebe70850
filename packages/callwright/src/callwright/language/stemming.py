"""Words without their endings, so that two forms of one word meet; tables of endings, no
dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping

LEAST = 3  # letters that must remain


def strip_ending(word: str, endings: Mapping[str, str], doubled: str = "") -> str:
    """The word with the first ending of the table that fits replaced; where none fits, the word.

    Nothing is taken off where fewer than ``LEAST`` letters would remain, nor an ending that is one
    letter of ``doubled`` where the letter before it is the same.
    """
    for end, instead in endings.items():
        if not word.endswith(end) or len(word) - len(end) < LEAST:
            continue
        if end in doubled and len(end) == 1 and word.endswith(end * 2):
            continue
        return word[: -len(end)] + instead
    return word


def strip_last_letters(stem: str, above: int, kept: str, mute: str) -> str:
    """The stem without the second of two equal letters at its end, unless they are of ``kept``, and
    without a letter of ``mute`` there; each only where it has more than ``above`` letters.
    """
    if len(stem) > above and stem[-1] == stem[-2] and stem[-1] not in kept:
        stem = stem[:-1]
    return stem[:-1] if len(stem) > above and stem[-1] in mute else stem
