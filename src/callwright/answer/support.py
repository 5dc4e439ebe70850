"""Is a statement what the results say? Checked claim by claim: value, unit, whose it is and what it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from callwright.answer.binding import Bound, anchors_of, bind, conflicts
from callwright.answer.claims import Claims, claims_of, content_words
from callwright.answer.derived import derive
from callwright.answer.facts import Facts, Figure, Leaf
from callwright.answer.lexicon import COMPARISON, COURTESY, EXTREMES, JUDGEMENT, LIMITATION, OPPOSITES
from callwright.answer.matching import close, figures_for, offsets_in, same_moment, same_number, weekday_fits
from callwright.answer.quantity import Moment, Number, Span, moment_order
from callwright.answer.words import concepts, key_tokens, stem, tokens
from callwright.types import Citation, Support


@dataclass(frozen=True, slots=True)
class Fix:
    """What a wrong value should be: replace ``span`` of the statement by ``text``."""

    span: Span
    before: str
    text: str
    leaf: Leaf


@dataclass
class Verdict:
    """What the check of one statement found. ``fixes`` holds a replacement for every problem that has exactly one."""

    support: Support
    problems: list[str] = field(default_factory=list)
    citations: tuple[Citation, ...] = ()
    fixes: list[Fix] = field(default_factory=list)
    derived: list[str] = field(default_factory=list)
    checked: int = 0  # claims that were looked up

    @property
    def mendable(self) -> bool:
        return bool(self.problems) and len(self.fixes) == len(self.problems)


LONGEST = 1_000  # characters of one statement that are read


def check(text: str, facts: Facts, cited: Sequence[str] = ()) -> Verdict:
    """Check one statement. ``cited`` are the results it names: looked at first, then all the others."""
    if COURTESY.search(text) and not any(c.isdigit() for c in text):
        return Verdict("unchecked")
    claims = claims_of(text[:LONGEST], facts)
    verdict = Verdict("supported")
    leaves: list[Leaf] = []
    for number in claims.numbers:
        _number(number, claims, facts, cited, verdict, leaves)
    for moment in claims.moments:
        _moment(moment, claims, facts, cited, verdict, leaves)
    for span, word in claims.identifiers:
        _identifier(word, span, claims, facts, verdict)
    for _, name in claims.names:
        _name(name, facts, verdict)
    _truths(claims, facts, verdict, leaves)
    _pairs(claims, facts, verdict)
    _states(claims, facts, verdict)
    _words(claims, facts, verdict, leaves)
    verdict.citations = _citations(claims, facts, cited, leaves)
    if verdict.problems:
        verdict.support = "unsupported"
    elif LIMITATION.search(text):
        verdict.support = "limitation"
    elif not verdict.checked and not verdict.citations:
        verdict.support = "unchecked"
    return verdict


def _number(
    n: Number, claims: Claims, facts: Facts, cited: Sequence[str], verdict: Verdict, leaves: list[Leaf]
) -> None:
    verdict.checked += 1
    found = figures_for(n, facts, claims.text)
    bound = bind([f for f, _ in found], n, claims, facts, cited)
    if bound.figure is not None:
        leaves.append(bound.figure.leaf)
        if any(how == "converted" for f, how in found if f is bound.figure):
            verdict.derived.append(f"{claims.text[slice(*n.span)]} is {_shown(bound.figure)} converted")
        return
    if _compared(bound, n, claims) or _year(n, claims, facts, cited, leaves):
        return
    if any(q.unit == n.unit and close(n, q.value) for q in facts.query_numbers) and not bound.rival:
        return
    if _in_arguments(n, facts) and not bound.rival:
        return
    if _at_query_unit(n, facts) and not bound.rival:
        return
    how = derive(n, claims, facts)
    if how is not None:
        verdict.derived.append(how.text)
        leaves.extend(how.leaves)
        return
    if facts.cut and facts.stands(claims.text[slice(*n.digits)].replace(",", "")):
        return
    _refuse(claims.text[slice(*n.span)], bound, verdict, n)


def _year(n: Number, claims: Claims, facts: Facts, cited: Sequence[str], leaves: list[Leaf]) -> bool:
    """ "Released in 2017" where a whole date stands."""
    if n.unit or n.word or n.step != 1 or not 1000 <= n.value <= 2200:
        return False
    moment = Moment(n.span, year=int(n.value))
    dated = [f for f in facts.moment_figures if f.moment is not None and f.moment.year == moment.year]
    bound = bind(dated, moment, claims, facts, cited)
    if bound.figure is not None:
        leaves.append(bound.figure.leaf)
    return bound.figure is not None


def _compared(bound: Bound, n: Number, claims: Claims) -> bool:
    """ "5,100 mAh vs. 4,700": the other record's value, told beside the right one."""
    if bound.rival is None or bound.taken is None or bound.rival.leaf.key != bound.taken.leaf.key:
        return False
    rival = bound.rival
    told = any(same_number(m, rival) for m in claims.numbers if m is not n)
    return told and bool(COMPARISON.search(claims.text))


def _in_arguments(n: Number, facts: Facts) -> bool:
    return any(close(n, v) for v in _argument_numbers(facts))


def _argument_numbers(facts: Facts) -> list[float]:
    found: list[float] = []
    for result in facts.results:
        for value in result.arguments.values():
            if (isinstance(value, int | float) and not isinstance(value, bool)) or (
                isinstance(value, str) and value.replace(".", "", 1).lstrip("-").isdigit() and len(value) < 300
            ):
                found.append(float(value))
    return found


def _at_query_unit(n: Number, facts: Facts) -> bool:
    return not n.unit and any(q.value == n.value for q in facts.query_numbers)


def _refuse(stated: str, bound: Bound, verdict: Verdict, claim: Number | Moment) -> None:
    if bound.rival is None:
        verdict.problems.append(f"{stated} stands in no result")
        return
    right = _shown(bound.rival)
    if bound.taken is not None:
        verdict.problems.append(f"{stated} is {_about(bound.taken.leaf)}; {_about(bound.rival.leaf)} is {right}")
    else:
        verdict.problems.append(f"{stated} stands in no result; {_about(bound.rival.leaf)} is {right}")
    text = _rewritten(claim, bound.rival)
    if bound.only and text:
        verdict.fixes.append(Fix(_replaced(claim), stated, text, bound.rival.leaf))


def _about(leaf: Leaf) -> str:
    return f"{leaf.result} {leaf.where}" if leaf.path else leaf.result


def _shown(figure: Figure) -> str:
    value = figure.leaf.part or figure.leaf.value
    text = value if isinstance(value, str) else format(value, ",") if isinstance(value, int | float) else str(value)
    unit = figure.leaf.unit
    return f"{text[:80]} {unit}".rstrip() if not isinstance(value, str) else text[:80]


def _replaced(claim: Number | Moment) -> Span:
    return claim.span


def _rewritten(claim: Number | Moment, figure: Figure) -> str:
    """The right value as the statement may say it: with the result's own digits and unit."""
    value = figure.leaf.value
    if isinstance(claim, Moment) or figure.number is None:
        return value if isinstance(value, str) and len(value) <= 40 and not figure.leaf.part else ""
    if figure.leaf.part or (isinstance(value, str) and len(value) > 24):
        return ""
    digits = (
        value
        if isinstance(value, str)
        else f"{value:,}"
        if isinstance(value, int) and value >= 10_000
        else str(value)
    )
    if isinstance(value, str) and figure.number.span != (0, len(value)):
        return value if figure.number.span[0] <= 1 and not value.isalpha() else ""
    unit = figure.unit or claim.unit
    return _with_unit(digits, unit)


_WRITTEN = {"C": "°C", "F": "°F", "deg": "°", "h": "hours", "min": "minutes", "s": "seconds", "day": "days"}


def _with_unit(digits: str, unit: str) -> str:
    if not unit:
        return digits
    if unit == "%":
        return f"{digits}%"
    return f"{digits} {_WRITTEN.get(unit, unit)}"


def _moment(
    m: Moment, claims: Claims, facts: Facts, cited: Sequence[str], verdict: Verdict, leaves: list[Leaf]
) -> None:
    verdict.checked += 1
    stated = claims.text[slice(*m.span)]
    if not weekday_fits(m):
        verdict.problems.append(f"{stated} is not that day of the week")
        return
    found = [(f, how) for f in facts.moment_figures if (how := same_moment(m, f, offsets_in_cached(facts)))]
    bound = bind([f for f, _ in found], m, claims, facts, cited)
    if bound.figure is not None:
        leaves.append(bound.figure.leaf)
        return
    if bound.rival is None or bound.taken is None:  # noqa: SIM102
        if any(_same_asked(m, q) for q in facts.query_moments) or _moment_in_arguments(m, facts):
            return
    way = derive(m, claims, facts)
    if way is not None:
        verdict.derived.append(way.text)
        leaves.extend(way.leaves)
        return
    _refuse(stated, bound, verdict, m)


def offsets_in_cached(facts: Facts) -> tuple[int, ...]:
    if facts.offsets is None:
        facts.offsets = offsets_in(facts)
    return facts.offsets


def _same_asked(m: Moment, asked: Moment) -> bool:
    pairs = ((m.year, asked.year), (m.month, asked.month), (m.day, asked.day), (m.hour, asked.hour),
             (m.minute, asked.minute), (m.weekday, asked.weekday))  # fmt: skip
    return all(a is None or a == b for a, b in pairs)


def _moment_in_arguments(m: Moment, facts: Facts) -> bool:
    from callwright.answer.quantity import moments

    return any(
        _same_asked(m, other)
        for result in facts.results
        for value in result.arguments.values()
        if isinstance(value, str) and len(value) < 200
        for other in moments(value)
    )


def _identifier(word: str, span: Span, claims: Claims, facts: Facts, verdict: Verdict) -> None:
    verdict.checked += 1
    squeezed = "".join(tokens(word))
    zone = re.fullmatch(r"(?:UTC|GMT)([+\-−])(\d{1,2})(?::?(\d{2}))?", word)
    if zone and (int(zone[2]) * 60 + int(zone[3] or 0)) * (1 if zone[1] == "+" else -1) in offsets_in_cached(facts):
        return
    if squeezed in facts.squeezed:
        homes = facts.texts_by_value.get(squeezed, ())
        anchors = anchors_of(claims, span)
        subject = [m.span for m in claims.mentions[:1]] == [span]
        if homes and not subject and all(conflicts(leaf, anchors, facts) for leaf in homes):
            verdict.problems.append(f"{word} is {_about(homes[0])}")
        return
    verdict.problems.append(f"{word} stands in no result")


def _name(name: str, facts: Facts, verdict: Verdict) -> None:
    verdict.checked += 1
    unknown = [w for w in tokens(name) if not _known(w, facts)]
    if unknown:
        verdict.problems.append(f"{name} stands in no result")


def _known(word: str, facts: Facts) -> bool:
    if word in facts.vocabulary or len(word) < 2 or word == "s":
        return True
    return stem(word) in facts.vocabulary or any(c in facts.vocabulary for c in concepts(word)) or (
        len(word) >= 4 and word in facts.squeezed
    )  # fmt: skip


def _truths(claims: Claims, facts: Facts, verdict: Verdict, leaves: list[Leaf]) -> None:
    """Yes and no: a statement must not deny what a result affirms, nor affirm what it denies."""
    if not facts.switches or _MANY.search(claims.text):
        return
    for clause in claims.clauses:
        words = frozenset(stem(w) for w in tokens(claims.text[slice(*clause.span)]))
        mentions = [m for m in claims.mentions if clause.span[0] <= m.span[0] < clause.span[1]]
        for key, switches in facts.switches.items():
            said = _switch_words(key)
            if not said or not said <= words:
                continue
            meant = [s for s in switches if any(m.labels & s.labels for m in mentions)]
            meant = meant or (switches if len(switches) == 1 and not mentions else [])
            if len(meant) == 1:
                leaves.append(meant[0])
                denied = clause.negated or bool(_FALSE.match(claims.text, clause.span[1]))
                if meant[0].value is denied:
                    verdict.problems.append(f"{_about(meant[0])} is {str(meant[0].value).lower()}")


_FALSE = re.compile(r"\W*(?:false|no|off|not)\b", re.IGNORECASE)
_MANY = re.compile(r"\b(?:all|both|none|neither|only|either|any|whether|if|except)\b", re.IGNORECASE)


@lru_cache(maxsize=4096)
def _switch_words(key: str) -> frozenset[str]:
    plain = (
        "is",
        "has",
        "can",
        "are",
        "was",
        "flag",
        "in",
        "success",
        "status",
        "ok",
        "error",
        "valid",
        "result",
        "found",
    )
    return frozenset(stem(w) for w in key_tokens(key) if w not in plain)


def _states(claims: Claims, facts: Facts, verdict: Verdict) -> None:
    """ "It is down" where the only state that stands in the results is "up"."""
    for m in _STATE.finditer(claims.text):
        word = m[1].lower()
        against = OPPOSITES[word]
        if word not in facts.vocabulary and against in facts.texts_by_value:
            verdict.problems.append(f"{_about(facts.texts_by_value[against][0])} is {against}")


_STATE = re.compile(
    rf"\b(?:is|are|was|were|be|currently|seems|appears)\s+(?:now\s+)?({'|'.join(OPPOSITES)})\b", re.IGNORECASE
)


def _pairs(claims: Claims, facts: Facts, verdict: Verdict) -> None:
    """Two names joined in one clause must stand in one record, where records of their kinds exist: "Almar is in Bergen"."""  # noqa: E501
    for clause in claims.clauses:
        inside = [m for m in claims.mentions if clause.span[0] <= m.span[0] < clause.span[1]]
        if len(inside) != 2 or any(label[0] in "@#" for m in inside for label in m.labels):
            continue
        one, two = inside
        kinds = facts.kinds(one.labels), facts.kinds(two.labels)
        if kinds[0] & kinds[1] or not kinds[0] or not kinds[1] or "text" in kinds[0] | kinds[1]:
            continue
        homes = [leaf for leaf in facts.leaves[:4000] if leaf.labels & one.labels]
        if not homes or any(leaf.labels & two.labels for leaf in homes):
            continue
        others = {x for leaf in homes for x in leaf.labels if facts.kinds(frozenset((x,))) & kinds[1]}
        if len(others) == 1:
            stated = claims.text[slice(*two.span)]
            verdict.problems.append(
                f"{stated} does not stand with {claims.text[slice(*one.span)]}; {next(iter(others))} does"
            )


def _words(claims: Claims, facts: Facts, verdict: Verdict, leaves: Sequence[Leaf]) -> None:
    """Judgements and content words that nothing known contains."""
    carried, unknown = content_words(claims, facts)
    judged = [w for w in tokens(claims.text) if w in JUDGEMENT and not _word_known(w, facts)]
    judged = [w for w in judged if not _borne_out(w, claims, verdict, leaves, facts)]
    hard = claims.numbers or claims.moments
    together = _together(claims, leaves)
    if judged and not LIMITATION.search(claims.text):
        verdict.problems.append("no result says: " + ", ".join(dict.fromkeys(judged)))
        return
    if hard or not carried or LIMITATION.search(claims.text):
        return
    if len(unknown) > together and len(unknown) / len(carried) > 0.5:
        verdict.problems.append("no result says: " + ", ".join(dict.fromkeys(unknown)))


def _together(claims: Claims, leaves: Sequence[Leaf]) -> int:
    """How many unknown words are forgiven: one where two names of the same record are joined ("based in")."""
    named = [m.labels for m in claims.mentions]
    return 1 if any(a and b and not a & b for i, a in enumerate(named) for b in named[i + 1 :]) or leaves else 0


def _borne_out(word: str, claims: Claims, verdict: Verdict, leaves: Sequence[Leaf], facts: Facts) -> bool:
    """A comparison that the numbers bear out: the cheapest is the lowest of its column; a difference was computed."""
    if word not in EXTREMES:
        return False
    if verdict.derived and not word.endswith("est"):
        return True
    meant = (
        leaves
        or [f.leaf for f in facts.figures[:4000] if any(m.labels & f.leaf.labels for m in claims.mentions)][:40]
    )
    return any(_extreme(leaf, EXTREMES[word], facts) for leaf in meant)


def _extreme(leaf: Leaf, ends: str, facts: Facts) -> bool:
    """Whether a leaf's value is the lowest or highest of its column: of its own result's, else of all."""
    column = [f for f in facts.keys.get(leaf.key, ()) if f.leaf.result == leaf.result]
    column = column if len({f.leaf.path for f in column}) > 1 else facts.keys.get(leaf.key, [])
    values = [(_order(f), f.leaf is leaf) for f in column]
    own = [v for v, mine in values if mine]
    if not own or len(values) < 2:
        return False
    every = [v for v, _ in values]
    return ("max" in ends and own[0] == max(every)) or ("min" in ends and own[0] == min(every))


def _order(figure: Figure) -> float:
    return figure.number.value if figure.number is not None else moment_order(figure.moment or Moment((0, 0)))


def _word_known(word: str, facts: Facts) -> bool:
    return word in facts.vocabulary or stem(word) in facts.vocabulary or facts.knows(word)


def _citations(claims: Claims, facts: Facts, cited: Sequence[str], leaves: Iterable[Leaf]) -> tuple[Citation, ...]:
    made = [Citation(leaf.result, facts.quote(leaf)) for leaf in leaves]
    if not made:
        made = _by_words(claims, facts, cited)
    return tuple(dict.fromkeys(made))[:8]


def _by_words(claims: Claims, facts: Facts, cited: Sequence[str]) -> list[Citation]:
    """No number to point at: the text leaves whose words the statement uses."""
    said = " " + " ".join(tokens(claims.text)) + " "
    for leaf in facts.leaves[:4000]:
        value = leaf.value
        if isinstance(value, str) and 2 < len(value) <= 80 and (not cited or leaf.result in cited):
            words = " ".join(tokens(value))
            if words and f" {words} " in said:
                return [Citation(leaf.result, facts.quote(leaf))]
    return [Citation(r, "") for r in cited if r in facts.texts]
