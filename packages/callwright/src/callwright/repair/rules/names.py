"""Matches a name to an offered tool: the same name in another form, with a prefix, with a typo, or
by its meaning.

Each step is surer than the next, and a step with two candidates gives none. A name that differs by
a verb or a number means another tool: ``get_user`` is never ``set_user``, ``step_1`` never
``step_2``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import OSA

from callwright.dataflow.flow import STOP, VERBS, content_words, split_words
from callwright.language import ENGLISH
from callwright.language.tokens import split_identifier, squash_name
from callwright.nouns.memo import cache_by_text
from callwright.nouns.thresholds import threshold, threshold_group
from callwright.nouns.types import JsonObject, Tool
from callwright.nouns.wire_names import EditRule, EditRules
from callwright.repair.rules.sure_repairs import is_same_word

_KIND_OF = {word: kind for kind, listed in VERBS.items() for word in listed}
_WRAPPERS = ENGLISH.words("calls.wrappers")
_NEGATING = ENGLISH.words("calls.negating")
_OPPOSITES = frozenset(frozenset(row.split("/")) for row in ENGLISH.listed("calls.opposites"))


SPELLING, PREFIX, SLIP, MEANING = (
    EditRules.TOOL_SPELLING,
    EditRules.TOOL_PREFIX,
    EditRules.TOOL_SLIP,
    EditRules.TOOL_MEANING,
)
CONFIDENCE = {
    rule: threshold("callwright.repair", f"name_confidence.{rule}")
    for rule in (SPELLING, PREFIX, SLIP)
}
LEAST_MEANING = threshold("callwright.repair", "names.least_meaning")
LEAST_LEAD = threshold("callwright.repair", "names.least_lead")
_MEANING = threshold_group("callwright.repair", "name_meaning")
_LIKENESS = threshold_group("callwright.repair", "name_likeness")
_REQUEST = threshold_group("callwright.repair", "request_likeness")


@dataclass(frozen=True, slots=True)
class Match:
    """The tool that is meant, by which rule, how surely (0..1)."""

    tool: Tool
    rule: EditRule
    confidence: float


def match_name(
    name: str, arguments: JsonObject | str, tools: Sequence[Tool], query: str = ""
) -> tuple[Match | None, Match | None]:
    """(what the name means, the best candidate that is not sure enough or not allowed).

    By meaning only tools that are known not to write are picked: unknown effects count as writes.
    """
    for rule, alike in ((SPELLING, _is_same_name), (PREFIX, _is_prefixed), (PREFIX, _without_verb)):
        hits = [tool for tool in tools if alike(name, tool)]
        if rule == PREFIX and alike is _without_verb:
            hits = (
                hits
                if all(_has_matching_keys(arguments, t) and _is_harmless(t, query) for t in hits)
                else []
            )
        if len(hits) == 1:
            return Match(hits[0], rule, CONFIDENCE[rule]), None
        if hits:
            return None, Match(hits[0], rule, 1 / len(hits))
    hit = _find_slipped_name(name, tools)
    if hit is not None and not (_acts(hit) and _is_other_word(name, arguments, hit, tools, query)):
        return Match(hit, SLIP, CONFIDENCE[SLIP]), None
    return _match_by_meaning(name, arguments, tools, query)


def _acts(tool: Tool) -> bool:
    """Return True if a tool is declared to write, or may write and has a verb that changes things:
    a call of another name is then given to it only where nothing else can be meant.
    """
    return tool.effects.declares_write or bool(_strong_verbs(tool))


def _strong_verbs(tool: Tool) -> list[str]:
    verbs = split_identifier(tool.name) if tool.effects.may_write else ()
    return [w for w in verbs if _KIND_OF.get(w) in ("remove", "act", "change")]


def _is_other_word(
    name: str, arguments: JsonObject | str, tool: Tool, tools: Sequence[Tool], query: str
) -> bool:
    """Return True if a word of the name is no slip of the tool's: it is more than a letter away, or
    the request, the call's keys or the tools say it too.
    """
    own = split_words(tool.name)
    more = {w for w in split_words(name) if not any(is_same_word(w, x) for x in own)}
    keys = arguments if isinstance(arguments, dict) else ()
    told = (f"{one.name} {one.description} {' '.join(one.properties)}" for one in tools)
    said = {*split_words(" ".join((query, *keys, *told)))}
    return bool(more & said) or any(min(OSA.distance(w, x) for x in own) > 1 for w in more)


def _match_by_meaning(
    name: str, arguments: JsonObject | str, tools: Sequence[Tool], query: str
) -> tuple[Match | None, Match | None]:
    keys = tuple(arguments) if isinstance(arguments, dict) else ()
    ranked = sorted(
        ((score_likeness(name, keys, query, t), -i) for i, t in enumerate(tools)), reverse=True
    )
    if not ranked or ranked[0][0] <= 0:
        return None, None
    score, place = ranked[0]
    lead = score - (ranked[1][0] if len(ranked) > 1 else 0.0)
    tool = tools[-place]
    sure = score >= LEAST_MEANING and lead >= LEAST_LEAD
    found = Match(tool, MEANING, confidence_of(score, lead))
    return (found, None) if sure and not tool.effects.may_write else (None, found)


def confidence_of(score: float, lead: float) -> float:
    """The confidence of a tool, by its likeness and the lead over the next tool."""
    sure = _MEANING["of_score"] * score + min(lead, _MEANING["most_lead"]) + _MEANING["start"]
    return round(min(_MEANING["most"], max(0.0, sure)), 3)


def _is_same_name(name: str, tool: Tool) -> bool:
    found = squash_name(name)
    return bool(found) and found == squash_name(tool.name)


def _is_prefixed(name: str, tool: Tool) -> bool:
    """One name is the other with a namespace before it or a word that says nothing after it."""
    given, own = split_identifier(name), split_identifier(tool.name)
    if not given or not own or given == own:
        return False
    if len(given) > len(own):  # functions.get_weather, get_weather_tool, weather.get_weather
        is_strict = _acts(tool) and not _cut_at_separator(tool.name, name)
        return _is_harmless_extra(given, own, is_strict)
    lost = own[: len(own) - len(given)]
    if (
        own[len(lost) :] == given and len("".join(given)) >= 4
    ):  # a namespace lost; a lost verb would be another tool
        namespace = not any(w in _KIND_OF for w in lost)
        return namespace or _cut_at_separator(name, tool.name)
    return (
        own[: len(given)] == given
        and set(own[len(given) :]) <= _WRAPPERS
        and len("".join(given)) >= 4
    )


def _without_verb(name: str, tool: Tool) -> bool:
    """``weather`` for ``get_weather``: the tool's name without the verb before it."""
    given, own = split_identifier(name), split_identifier(tool.name)
    lost = own[: len(own) - len(given)]
    return bool(lost) and own[len(lost) :] == given and len("".join(given)) >= 2


def _has_matching_keys(arguments: JsonObject | str, tool: Tool) -> bool:
    """Return True if the keys are the tool's. The arguments then make up for the missing parts of
    the name.
    """
    if not isinstance(arguments, dict):
        return False
    own = {squash_name(k) for k in tool.properties}
    given = {squash_name(k) for k in arguments}
    return given <= own and {squash_name(k) for k in tool.required} <= given


def _is_harmless(tool: Tool, query: str) -> bool:
    """A verb that takes away is only supplied to tools that read, or where the request says it; one
    that acts or changes also where the request has another verb of its kind.
    """
    strong = _strong_verbs(tool)
    if not strong:
        return True
    asked = set(split_words(query.lower())) | set(split_identifier(query.lower()))
    kinds = {_KIND_OF[w] for w in asked if w in _KIND_OF}
    return all(w in asked or (_KIND_OF[w] != "remove" and _KIND_OF[w] in kinds) for w in strong)


def _is_harmless_extra(given: tuple[str, ...], own: tuple[str, ...], is_strict: bool) -> bool:
    """Return True if the words around a tool's name say nothing of what it does. ``is_strict``:
    before it only those that never do, and no namespace: ``undo_delete_file`` is another tool.
    """
    for at in range(len(given) - len(own) + 1):
        if given[at : at + len(own)] == own:
            before, after = given[:at], given[at + len(own) :]
            nothing_after = all(w in _WRAPPERS or w.isdigit() for w in after)
            versions = [w for w in after if w.isdigit()]
            plain_before = not any(w in _KIND_OF and w not in own for w in before)
            plain_before = _WRAPPERS.issuperset(before) if is_strict else plain_before
            return nothing_after and plain_before and (not versions or "v" in after)
    return False


def _cut_at_separator(name: str, whole: str) -> bool:
    """``predict`` of ``investment.predict``: what is lost ends with a dot, colon, slash or double
    underscore.
    """
    lost = whole[: len(whole) - len(name)] if whole.lower().endswith(name.lower()) else ""
    return lost.endswith((".", ":", "/", "__", "::"))


def _find_slipped_name(name: str, tools: Sequence[Tool]) -> Tool | None:
    """The one tool whose name is a small typing slip away, with no other nearly as near."""
    given = squash_name(name)
    if len(given) < 5:
        return None
    near = sorted(
        (OSA.distance(given, squash_name(t.name), score_cutoff=5), i) for i, t in enumerate(tools)
    )
    if not near or near[0][0] > allowed_slips(len(given)):
        return None
    if len(near) > 1 and near[1][0] <= near[0][0] + 1:
        return None
    tool = tools[near[0][1]]
    return tool if slip_of_words(split_identifier(name), split_identifier(tool.name)) else None


def allowed_slips(length: int) -> int:
    """Letters that may be wrong in a name of this many letters."""
    return 1 + (length >= 9) + (length >= 18)


def slip_of_words(given: Sequence[str], own: Sequence[str]) -> bool:
    """Return True if two names differ by typos only, not by a number, a verb or an opposite."""
    if [w for w in given if w.isdigit()] != [w for w in own if w.isdigit()]:
        return False
    if len(given) != len(own):
        return squash_name("".join(given))[:3] == squash_name("".join(own))[:3]
    for a, b in zip(given, own, strict=True):
        if a != b and ((a in _KIND_OF and b in _KIND_OF) or frozenset((a, b)) in _OPPOSITES):
            return False
        if a != b and (a.endswith(b) or b.endswith(a)) and {a[:2], b[:2]} & _NEGATING:
            return False
        if a != b and a[2:] == b[2:] and {a[:2], b[:2]} <= _NEGATING:
            return False
        if a != b and min(len(a), len(b)) < 4 and OSA.distance(a, b) > 1:
            return False
    return True


def score_likeness(name: str, keys: Iterable[str], query: str, tool: Tool) -> float:
    """Return the fit of name, keys and request to a tool, 0..1. What nothing is known of does not
    count.
    """
    called = _score_overlap(
        _extract_meaning(name), _extract_meaning(tool.name), content_words(tool.description)
    )
    keyed = _keys_fit(tuple(keys), tool)
    asked = score_request(query, tool)
    parts = [
        (_LIKENESS["name"], called),
        (_LIKENESS["keys"], keyed),
        (_LIKENESS["request"], asked),
    ]
    known = [(w, s) for w, s in parts if s >= 0]
    return sum(w * s for w, s in known) / sum(w for w, _ in known)


@cache_by_text(most=16_384, longest=128)
def _extract_meaning(name: str) -> frozenset[str]:
    """A name's words, verbs of one kind alike ("fetch" = "get")."""
    return frozenset(
        "verb:" + _KIND_OF[w] if w in _KIND_OF else w for w in split_words(name) if w not in STOP
    )


def _score_overlap(given: frozenset[str], own: frozenset[str], about: frozenset[str]) -> float:
    """Words in common; a word that only the description has counts less. Verbs of another kind
    count against.
    """
    if not given or not own:
        return 0.0
    described = {("verb:" + _KIND_OF[w] if w in _KIND_OF else w) for w in about}
    shared = len(given & own) + _LIKENESS["described_word"] * len((given - own) & described)
    clash = {w for w in given if w.startswith("verb:")} and {
        w for w in own if w.startswith("verb:")
    }
    if clash and not {w for w in given & own if w.startswith("verb:")}:
        shared -= _LIKENESS["other_verb"]
    return max(0.0, shared / max(len(given), _LIKENESS["unsaid_word"] * len(own), 1))


def _keys_fit(keys: Collection[str], tool: Tool) -> float:
    """Share of given keys that the tool has, and of its required keys that are given; -1 where
    nothing tells.
    """
    properties = {squash_name(k) for k in tool.properties}
    given = {squash_name(k) for k in keys}
    if not given and not properties:
        return -1.0
    if not given or not properties:
        return 0.0 if given or tool.required else -1.0
    known = len(given & properties) / len(given)
    required = {squash_name(k) for k in tool.required}
    covered = len(given & required) / len(required) if required else known
    share = _LIKENESS["known_keys"]
    return share * known + (1.0 - share) * covered


def score_request(query: str, tool: Tool) -> float:
    """Return how much a request speaks of a tool, 0..1, by the words of its name and description;
    -1 if it cannot be determined.
    """
    return score_request_words(content_words(query[-4_000:]), tool) if query else -1.0


def score_request_words(asked: frozenset[str], tool: Tool) -> float:
    """:func:`score_request` where the request's words are known; -1 where nothing tells."""
    own, about = telling_words(tool.name, tool.description)
    if not own and not about:
        return -1.0
    named = len(own & asked) / len(own) if own else 0.0
    described = len(about & asked) / len(about) if about else 0.0
    return min(1.0, _REQUEST["name"] * named + _REQUEST["description"] * described)


@lru_cache(maxsize=4_096)
def telling_words(name: str, description: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words that tell a tool from others: of its name, verbs aside, and of its description
    beyond those.
    """
    own = frozenset(w for w in split_words(name) if w not in STOP and w not in _KIND_OF)
    return own, content_words(description) - own
