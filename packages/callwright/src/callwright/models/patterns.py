"""Regular expressions that every decoder's grammar understands: a small, safe part of
ECMA-262's.
"""

from __future__ import annotations

import re

MAX_PATTERN = 200  # characters
MAX_REPEAT = 256  # product of all counted repetitions: grammars write them out

_TOKEN = re.compile(
    r"(?P<class>\[\^?(?:\\[dws.\-/+*?()\[\]{}|^$]|[^\[\]\\\"&~\x00-\x1f\x7f-\x9f\ud800-\udfff])+\])"
    r"|(?P<set>\\[dwsDWS])"
    r"|(?P<escaped>\\[.\-/+*?()\[\]{}|^$])"
    r"|(?P<open>\((?:\?:|(?!\?)))"
    r"|(?P<close>\))"
    r"|(?P<or>\|)"
    r"|(?P<times>[?*+]|\{\d{1,3}(?:,\d{0,3})?\})"
    r"|(?P<literal>[^\\\[\](){}|?*+^$\"\x00-\x1f\x7f-\x9f\ud800-\udfff])"
)
_OUTSIDE = {
    "\\d": "[0-9]",
    "\\w": "[A-Za-z0-9_]",
    "\\s": " ",
    "\\D": "[^0-9]",
    "\\W": "[^A-Za-z0-9_]",
    "\\S": "[^ ]",
}
_INSIDE = {"\\d": "0-9", "\\w": "A-Za-z0-9_", "\\s": " "}
_MEMBER = re.compile(r"(\\.|[^\\])(?:-(\\.|[^\\]))?", re.DOTALL)
_REPEATABLE = frozenset({"class", "set", "escaped", "close", "literal"})
_OPENING = frozenset({"", "open", "or"})


def plain_pattern(pattern: object) -> str | None:
    """The pattern in a spelling that Rust's regex, GBNF converters and ECMA-262 read alike, or
    None.

    Only patterns anchored at both ends are taken: an unanchored one says too little to steer a
    decoder. Classes such as ``\\d`` are written out (some engines take them for all of Unicode).
    """
    if not isinstance(pattern, str) or len(pattern) > MAX_PATTERN:
        return None
    if not pattern.startswith("^") or not pattern.endswith("$"):
        return None
    body = _rewrite_pattern(pattern[1:-1])
    return None if body is None else f"^{body}$"


def _rewrite_pattern(body: str) -> str | None:
    """The body token by token; None at the first thing outside the subset."""
    out: list[str] = []
    depth, product, position, before = 0, 1, 0, ""
    while position < len(body):
        match = _TOKEN.match(body, position)
        if match is None or match.lastgroup is None:
            return None
        kind, position = match.lastgroup, match.end()
        product *= _count_repeats(match.group()) if kind == "times" else 1
        text = _spell_token(kind, match.group())
        if not text or product > MAX_REPEAT or not _may_follow(kind, before, depth):
            return None
        depth += (kind == "open") - (kind == "close")
        out.append(text)
        before = kind
    return "".join(out) if depth == 0 and before not in _OPENING else None


def _may_follow(kind: str, before: str, depth: int) -> bool:
    """Something must be there to repeat; no alternative is empty; no alternative escapes the
    anchors.
    """
    if kind == "times":
        return before in _REPEATABLE
    if kind in ("or", "close"):
        return depth > 0 and before not in _OPENING
    return True


def _spell_token(kind: str, text: str) -> str:
    if kind == "open":
        return "("
    if kind == "set":
        return _OUTSIDE[text]
    return _rewrite_class(text) if kind == "class" else text


def _rewrite_class(text: str) -> str:
    """A character class with its sets written out; "" when it makes no sense ("[z-a]",
    "[\\d-x]").
    """
    negated = text.startswith("[^")
    out = ["[^" if negated else "["]
    inner = text[2 if negated else 1 : -1]
    for match in _MEMBER.finditer(inner):
        low, high = match.groups()
        if low in _INSIDE:
            if high is not None:
                return ""
            out.append(_INSIDE[low])
        elif high is None:
            out.append("\\-" if low == "-" else low)
        elif high in _INSIDE or low[-1] > high[-1]:
            return ""
        else:
            out.append(f"{low}-{high}")
    return "".join(out) + "]"


def _count_repeats(text: str) -> int:
    """Return the maximum number of times that a quantifier writes out the item before it. {3,} is
    three and a star.
    """
    if text in "?*+":
        return 1
    low, _, high = text[1:-1].partition(",")
    if high and int(high) < int(low):
        return MAX_REPEAT + 1
    return max(1, int(high or low))
