"""Is a statement what the results say? Checked claim by claim: value, unit, whose it is and what it
is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from callwright.grounding.absence import check_absence
from callwright.grounding.assertion import check_name_pairs, check_states, check_truths
from callwright.grounding.binding import (
    Bound,
    anchors_of,
    bind_figure,
    is_conflicting,
    key_concepts,
)
from callwright.grounding.claims import Claims, claims_of
from callwright.grounding.derived import derive_value
from callwright.grounding.facts import Facts, Figure, Leaf
from callwright.grounding.grounding_result import (
    NOWHERE,
    GroundingResult,
    describe_leaf,
    record_problem,
    render_value,
)
from callwright.grounding.lexicon import COMPARISON, COURTESY, LIMITATION
from callwright.grounding.matching import (
    figures_for,
    is_close,
    is_same_hour,
    same_moment,
    same_number,
    weekday_fits,
    weekday_told,
)
from callwright.grounding.quantity import Moment, Number, Span, find_moments
from callwright.grounding.wording import check_wording
from callwright.grounding.words import find_concepts, stem_word
from callwright.language.tokens import split_tokens
from callwright.nouns.types import Citation

LONGEST = 1_000  # characters of one statement that are read


def check_statement(text: str, facts: Facts, cited: Sequence[str] = ()) -> GroundingResult:
    """Check one statement. ``cited`` are the results it names: looked at first, then all the
    others.

    Of a statement in another language than English only the values are checked: numbers, dates and
    identifiers. Its words, its capital letters and what it denies say nothing that could be read.
    """
    if COURTESY.search(text) and not any(c.isdigit() for c in text):
        return GroundingResult("unchecked")
    claims = claims_of(text[:LONGEST], facts)
    verdict = GroundingResult("supported")
    leaves: list[Leaf] = []
    for number in claims.numbers:
        _check_number(number, claims, facts, cited, verdict, leaves)
    for moment in claims.moments:
        _check_moment(moment, claims, facts, cited, verdict, leaves)
    for span, word in claims.identifiers:
        _check_identifier(word, span, claims, facts, verdict)
    for _, name in claims.names:
        _check_name(name, facts, verdict)
    if claims.readable:
        check_truths(claims, facts, verdict, leaves)
        check_name_pairs(claims, facts, verdict)
        check_states(claims, facts, verdict)
        check_wording(claims, facts, verdict, leaves)
    check_absence(claims, facts, verdict, leaves)
    verdict.citations = _build_citations(claims, facts, cited, leaves)
    if verdict.problems:
        verdict.support = "unsupported"
    elif LIMITATION.search(text):
        verdict.support = "limitation"
    elif not verdict.checked and not verdict.citations:
        verdict.support = "unchecked"
    return verdict


def _check_number(
    n: Number,
    claims: Claims,
    facts: Facts,
    cited: Sequence[str],
    verdict: GroundingResult,
    leaves: list[Leaf],
) -> None:
    verdict.checked += 1
    found = figures_for(n, facts, claims)
    as_stated = [f for f, how in found if how == "same"]
    bound = (
        bind_figure(as_stated, n, claims, facts, cited)
        if 0 < len(as_stated) < len(found)
        else Bound()
    )
    if bound.figure is None:  # no result holds it in this unit
        bound = bind_figure([f for f, _ in found], n, claims, facts, cited)
    if bound.figure is not None:
        leaves.append(bound.figure.leaf)
        if any(how == "converted" for f, how in found if f is bound.figure):
            verdict.derived.append(
                f"{claims.text[slice(*n.span)]} is {render_value(bound.figure)} converted"
            )
        return
    if not n.value and n.hedge in ("over", "under"):  # nothing else tells the sign of a value
        return record_problem(claims.text, bound, verdict, n)
    if _is_comparison(bound, n, claims) or _is_in_date(n, claims, facts, cited, leaves):
        return
    if not bound.rival and _is_given(n, facts):
        return
    how = derive_value(n, claims, facts)
    if how is not None:
        verdict.derived.append(how.text)
        leaves.extend(how.leaves)
        return
    if facts.cut and facts.stands(claims.text[slice(*n.digits)].replace(",", "")):
        return
    record_problem(claims.text, bound, verdict, n)


def _is_in_date(
    n: Number, claims: Claims, facts: Facts, cited: Sequence[str], leaves: list[Leaf]
) -> bool:
    """ "Released in 2017", "on the 14th" and "14 to 17 March" where whole dates stand; "the 2nd"
    also of a list.
    """
    month = next((m.month for m in claims.moments if m.day and _is_beside(n, m, claims)), None)
    beside, is_year = claims.text[max(0, n.span[0] - 4) : n.span[1] + 3], 1000 <= n.value <= 2200
    place = claims.speaks_of("statements.ordinal", beside)
    if n.unit or n.word or n.step != 1 or n.value > 2200 or not (place or month or is_year):
        return False
    day = None if is_year else int(n.value)
    moment = Moment(n.span, int(n.value) if is_year else None, month if day else None, day)
    same = [(f, f.moment) for f in _find_same(moment, facts)]
    dated = [f for f, m in same if m and (m.year if is_year else m.day) is not None]
    bound = bind_figure(dated, moment, claims, facts, cited)
    if bound.figure is not None:
        leaves.append(bound.figure.leaf)
    return bound.figure is not None or (
        place and any(1 <= n.value <= length for length, _ in facts.lists)
    )


_JOINT = re.compile(r"\W*(?:[^\W_]+\W+){0,3}\Z")  # "th, 15th and "
_FARTHEST = 14  # characters between two days of one month


def _is_beside(n: Number, m: Moment, claims: Claims) -> bool:
    """Return True if little stands between a number and a day: "14 to 17 March"."""
    (_, start), (end, _) = sorted((n.span, m.span))
    between = claims.text[start:end]
    return len(between) <= _FARTHEST and _JOINT.match(between) is not None


def _is_comparison(bound: Bound, n: Number, claims: Claims) -> bool:
    """ "5,100 mAh vs. 4,700": the other record's value, told beside the right one."""
    if bound.rival is None or bound.taken is None or bound.rival.leaf.key != bound.taken.leaf.key:
        return False
    rival = bound.rival
    told = any(same_number(m, rival) for m in claims.numbers if m is not n)
    return told and claims.announces(COMPARISON)


def _is_given(n: Number, facts: Facts) -> bool:
    """Return True if the request holds a number, or a call was made with it."""
    return any(
        (q.unit == n.unit and is_close(n, q.value)) or (not n.unit and q.value == n.value)
        for q in facts.query_numbers
    ) or any(is_close(n, v) for v in facts.argument_numbers)


def _check_moment(
    m: Moment,
    claims: Claims,
    facts: Facts,
    cited: Sequence[str],
    verdict: GroundingResult,
    leaves: list[Leaf],
) -> None:
    verdict.checked += 1
    stated = claims.text[slice(*m.span)]
    if not weekday_fits(m):
        verdict.problems.append(f"{stated} is not that day of the week")
        return
    same = _find_same(m, facts)
    bound = bind_figure(same, m, claims, facts, cited)
    figure = bound.figure or (same[0] if same and not claims.readable else None)
    if figure is not None:  # of other languages it is not known what belongs to what
        leaves.append(figure.leaf)
        return
    if parts := _find_day_and_time(m, facts) or _find_hour(m, claims, facts, cited):
        leaves.extend(parts)
        return
    undisputed = bound.rival is None or bound.taken is None
    if undisputed and (
        any(_is_asked_moment(m, q) for q in facts.query_moments) or _moment_in_arguments(m, facts)
    ):
        return
    way = derive_value(m, claims, facts)
    if way is not None:
        verdict.derived.append(way.text)
        leaves.extend(way.leaves)
        return
    record_problem(claims.text, bound, verdict, m)


def _find_same(m: Moment, facts: Facts) -> list[Figure]:
    return [f for f in facts.moment_figures if same_moment(m, f, facts.offsets)]


def _find_day_and_time(m: Moment, facts: Facts) -> tuple[Leaf, ...]:
    """The day and the time of a moment, where one record holds them in two fields; () if none
    does."""
    if not (m.has_date and m.has_time):
        return ()
    day = replace(m, hour=None, minute=None, second=None, offset=None)
    time = replace(m, year=None, month=None, day=None, weekday=None, swapped=False)
    days = {(f.leaf.result, f.leaf.record): f.leaf for f in _find_same(day, facts)}
    times = (f.leaf for f in _find_same(time, facts))
    found = ((days.get((leaf.result, leaf.record)), leaf) for leaf in times)
    return next(((one, leaf) for one, leaf in found if one is not None), ())


def _find_hour(m: Moment, claims: Claims, facts: Facts, cited: Sequence[str]) -> tuple[Leaf, ...]:
    """The field that holds a full hour as a plain number: ``"closes": 18``; () if none does."""
    if m.hour is None or m.minute or m.has_date:
        return ()
    number = Number(float(m.hour), 1.0, m.span, m.span)
    bare = [
        f
        for f in facts.between(m.hour, m.hour)
        if not any(map(str.isalpha, str(f.leaf.value)))
        and (not claims.readable or key_concepts(f.leaf.key) & claims.attributes)
    ]
    bound = bind_figure(bare, number, claims, facts, cited)
    return (bound.figure.leaf,) if bound.figure is not None else ()


def _is_asked_moment(m: Moment, asked: Moment) -> bool:
    pairs = ((m.year, asked.year), (m.month, asked.month), (m.day, asked.day),
             (m.minute, asked.minute), (m.weekday, weekday_told(asked)))  # fmt: skip
    return is_same_hour(m, asked) and all(a is None or a == b for a, b in pairs)


def _moment_in_arguments(m: Moment, facts: Facts) -> bool:
    values = (value for result in facts.results for value in result.arguments.values())
    texts = (value for value in values if isinstance(value, str) and len(value) < 200)
    if m.hour in facts.argument_numbers and not m.minute and not m.has_date:
        return True
    return any(_is_asked_moment(m, asked) for text in texts for asked in find_moments(text))


def _check_identifier(
    word: str, span: Span, claims: Claims, facts: Facts, verdict: GroundingResult
) -> None:
    verdict.checked += 1
    squeezed = "".join(split_tokens(word))
    zone = re.fullmatch(r"(?:UTC|GMT)([+\-−])(\d{1,2})(?::?(\d{2}))?", word)
    if (
        zone
        and (int(zone[2]) * 60 + int(zone[3] or 0)) * (1 if zone[1] == "+" else -1) in facts.offsets
    ):
        return
    if squeezed in facts.squeezed:
        homes = facts.texts_by_value.get(squeezed, ())
        anchors = anchors_of(claims, span)
        subject = [m.span for m in claims.mentions[:1]] == [span]
        is_told = claims.readable and not subject  # elsewhere nobody knows what joins two names
        if homes and is_told and all(is_conflicting(h, anchors, facts, h.key) for h in homes):
            verdict.problems.append(f"{word} is {describe_leaf(homes[0])}")
        return
    verdict.problems.append(f"{word} {NOWHERE}")


def _check_name(name: str, facts: Facts, verdict: GroundingResult) -> None:
    verdict.checked += 1
    unknown = [w for w in split_tokens(name) if not _is_known_word(w, facts)]
    if unknown:
        verdict.problems.append(f"{name} {NOWHERE}")


def _is_known_word(word: str, facts: Facts) -> bool:
    if word in facts.vocabulary or len(word) < 2 or word == "s":
        return True
    return stem_word(word) in facts.vocabulary or any(c in facts.vocabulary for c in find_concepts(word)) or (
        len(word) >= 4 and word in facts.squeezed
    )  # fmt: skip


def _build_citations(
    claims: Claims, facts: Facts, cited: Sequence[str], leaves: Iterable[Leaf]
) -> tuple[Citation, ...]:
    made = [Citation(leaf.result, facts.quote(leaf)) for leaf in leaves]
    if not made:
        made = _cite_by_identifiers(claims, facts) or _cite_by_words(claims, facts, cited)
    return tuple(dict.fromkeys(made))[:8]


def _cite_by_identifiers(claims: Claims, facts: Facts) -> list[Citation]:
    """Return citations for the names of files, hosts and things in the statement."""
    made = []
    for _, word in claims.identifiers:
        squeezed = "".join(split_tokens(word))
        texts = (leaf for leaf in facts.leaves[:4000] if isinstance(leaf.value, str))
        home = next(
            (leaf for leaf in texts if squeezed in "".join(split_tokens(leaf.part or leaf.value))),
            None,
        )
        if home is not None:
            made.append(Citation(home.result, facts.quote(home)))
    return made


def _cite_by_words(claims: Claims, facts: Facts, cited: Sequence[str]) -> list[Citation]:
    """No number to point at: the text leaves whose words the statement uses."""
    said = " " + " ".join(split_tokens(claims.text)) + " "
    for leaf in facts.leaves[:4000]:
        value = leaf.value
        if isinstance(value, str) and 2 < len(value) <= 80 and (not cited or leaf.result in cited):
            words = " ".join(split_tokens(value))
            if words and f" {words} " in said:
                return [Citation(leaf.result, facts.quote(leaf))]
    return [Citation(r, "") for r in cited if r in facts.texts]
