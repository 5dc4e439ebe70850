"""Defects put into rows of tool-use data by program, one class at a time: how many of them are
found?

Each class of :data:`callwright_lab.verify.dataset.account.DefectKind` has a planter. It does what
the class means, in several ways that were written from the class's meaning and not from its rule,
so that a rule is held to more than what it was made for.
``benchmarks/reliability/defect_recall.py`` plants them into data sets and counts. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from callwright.nouns.types import Json, to_canonical_json
from callwright_lab.benchmarks.planted.endings import ENDINGS
from callwright_lab.benchmarks.planted.rows import (
    GONE,
    Made,
    Others,
    Place,
    Planter,
    change_call,
    iter_places,
    replace_members,
)
from callwright_lab.benchmarks.planted.texts import (
    BLANKS,
    DATES,
    EXTRAS,
    PLACEHOLDERS,
    RANGES,
    VAGUE,
)
from callwright_lab.transcripts import Transcript
from callwright_lab.verify.dataset.account import DefectKind


@dataclass(frozen=True, slots=True)
class Planted:
    """A row with one defect. ``how`` names the way it was put in."""

    kind: DefectKind
    transcript: Transcript
    how: str


def plant_defect(kind: DefectKind, row: Transcript, rng: Random, others: Others) -> Planted | None:
    """The row with one defect of the class; None where it cannot have one. ``others`` lend values
    and results.
    """
    made = PLANTERS[kind](row, rng, others)
    return None if made is None else Planted(kind, *made)


def _pick_place(rng: Random, places: Iterator[Place]) -> Place | None:
    found = list(places)
    return rng.choice(found) if found else None


def _make_noun(key: str) -> str:
    return " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key).replace("_", " ").lower().split()[-2:])


def _plant_unnamed_value(row: Transcript, rng: Random, _: Others) -> Made:
    query = row.trajectory.query
    found = _pick_place(
        rng,
        (
            p
            for p in iter_places(row)
            if isinstance(p[3], str) and len(p[3]) > 2 and query.count(p[3]) == 1
        ),
    )
    if found is None:
        return None
    at, number, key, value = found
    how, noun = rng.choice(VAGUE), _make_noun(key)
    asked = query.replace(str(value), how.format(noun), 1)
    return replace_members(change_call(row, at, number, {key: noun}), query=asked), how


def _plant_placeholder(row: Transcript, rng: Random, _: Others) -> Made:
    found = _pick_place(rng, (p for p in iter_places(row) if isinstance(p[3], str)))
    if found is None:
        return None
    at, number, key, _value = found
    how = rng.choice(PLACEHOLDERS)
    return (
        change_call(
            row, at, number, {key: how.format(key=key, KEY=key.upper(), noun=_make_noun(key))}
        ),
        how,
    )


def _plant_broken_query(row: Transcript, rng: Random, _: Others) -> Made:
    query, how = row.trajectory.query.strip(), rng.choice(("cut", "quotation", "blank"))
    words = query.split()
    if len(words) < 6:
        return None
    if how == "cut":
        return (
            replace_members(
                row,
                query=" ".join(words[: rng.randint(len(words) // 2, len(words) - 2)]).rstrip(".?!"),
            ),
            how,
        )
    at = rng.randrange(2, len(words) - 1)
    if how == "quotation":
        words[at] = f'"{words[at]}'
    else:
        words[at] = how = rng.choice(BLANKS)
    return replace_members(row, query=" ".join(words)), how


def _plant_impossible_query(row: Transcript, rng: Random, _: Others) -> Made:
    how = rng.choice((*DATES, *RANGES))
    said = f"It is about {how}." if how in DATES else f"The time is {how}."
    return replace_members(row, query=f"{row.trajectory.query.strip()} {said}"), how


def _plant_duplicate_query(row: Transcript, rng: Random, _: Others) -> Made:
    how = rng.choice(
        (
            "letter for letter",
            "in capitals",
            "with more space",
            "tools in another order",
            "no full stop",
        )
    )
    query, tools = row.trajectory.query, row.trajectory.tools
    if how == "tools in another order" and len(tools) < 2:
        return None
    made = {
        "in capitals": query.upper(),
        "with more space": query.replace(" ", "  ", 3) + " ",
        "no full stop": query.rstrip(" .?!"),
    }.get(how, query)
    if made == query and how in ("with more space", "no full stop"):
        return None
    tools = tools[::-1] if how == "tools in another order" else tools
    return replace_members(row, query=made, tools=tools, id=f"{row.trajectory.id} again"), how


def _is_gold(row: Transcript) -> bool:
    return not row.trajectory.results and not row.cut and row.trajectory.answer is None


def _not_offered(row: Transcript, rng: Random, _: Others) -> Made:
    if not _is_gold(row) or not row.trajectory.calls:
        return None
    gone = rng.choice(row.trajectory.calls).tool
    left = tuple(tool for tool in row.trajectory.tools if tool.name != gone)
    return (replace_members(row, tools=left), "taken from the list") if left else None


def _unknown_tool(row: Transcript, rng: Random, _: Others) -> Made:
    found = None if _is_gold(row) else _pick_place(rng, iter_places(row))
    if found is None:
        return None
    at, number, *_rest = found
    name = row.trajectory.steps[at].calls[number].tool
    how = rng.choice(("suffix", "typing error", "prefix", "letter case"))
    made = {
        "suffix": f"{name}_v2",
        "typing error": name[:2] + name[3:],
        "prefix": f"functions_{name}",
        "letter case": name.upper() if name.upper() != name else name.lower(),
    }[how]
    return change_call(row, at, number, {}, made), how


def _replace_character(character: str, rng: Random) -> str:
    """Another digit for a digit, another letter for a letter, else the same character."""
    if character.isdigit():
        return str(rng.randint(1, 9))
    if not character.isalpha():
        return character
    return rng.choice("BCDFGHKMPRSTVXZ" if character.isupper() else "bcdfghkmprstvxz")


def _missing_input(row: Transcript, rng: Random, _: Others) -> Made:
    found = _pick_place(rng, (p for p in iter_places(row) if p[2] in _get_required(row, p)))
    if found is None or row.format == "api-bank":  # its prompts do not say what is required
        return None
    return change_call(row, *found[:2], {found[2]: GONE}), "left out"


def _get_required(row: Transcript, place: Place) -> Sequence[str]:
    tool = row.trajectory.tool(row.trajectory.steps[place[0]].calls[place[1]].tool)
    return tool.required if tool else ()


def _unknown_argument(row: Transcript, rng: Random, _: Others) -> Made:
    found = _pick_place(rng, iter_places(row))
    if found is None:
        return None
    at, number, key, value = found
    tool = row.trajectory.tool(row.trajectory.steps[at].calls[number].tool)
    if tool is None or rng.random() < 0.5:
        extra, given = rng.choice(
            [e for e in EXTRAS if tool is None or e[0] not in tool.properties]
        )
        return change_call(row, at, number, {extra: given}), "one more"
    return change_call(row, at, number, {key: GONE, f"the_{key}": value}), "another name"


_NOT: Mapping[str, Sequence[Json]] = {
    "integer": ("several", [1, 2], 2.5), "number": ("a few", {"value": 1}), "boolean": ("maybe", 7),
    "array": ({"item": 1}, 3), "object": ("nothing in particular", [1]), "string": ([["a"], ["b"]], {"text": "a"}),
}  # fmt: skip


def _wrong_value(row: Transcript, rng: Random, _: Others) -> Made:
    options = []
    for at, number, key, value in iter_places(row):
        tool = row.trajectory.tool(row.trajectory.steps[at].calls[number].tool)
        part = tool.properties.get(key) if tool else None
        if not isinstance(part, dict) or (isinstance(value, str) and "API_call" in value):
            continue
        if part.get("enum"):
            options.append((at, number, key, "another_one", "no option"))
        elif (
            isinstance(kind := part.get("type"), str) and kind in _NOT
        ):  # it may be a list of types
            options.append((at, number, key, rng.choice(list(_NOT[kind])), f"no {kind}"))
    if not options:
        return None
    at, number, key, value, how = rng.choice(options)
    return change_call(row, at, number, {key: value}), how


_TIME = re.compile(
    r"\d|day|week|month|year|today|tomorrow|yesterday|tonight|now|date|time|recent|latest|current|next|last|"
    r"(?:jan|febr)uary|march|april|may|june|july|august|(?:sept|nov|dec)ember|october|season|christmas|easter",
    re.I,
)


def _plant_guessed_day(row: Transcript, rng: Random, _: Others) -> Made:
    options = []
    for at, step in enumerate(row.trajectory.steps):
        for number, call in enumerate(step.calls):
            tool = row.trajectory.tool(call.tool)
            keys = [
                k
                for k in (tool.properties if tool else ())
                if re.search(r"date|day\b|_on\Z", k, re.I)
            ]
            options += [(at, number, key) for key in keys if at not in row.cut]
    if not options or _TIME.search(row.trajectory.query):
        return None
    at, number, key = rng.choice(options)
    how = rng.choice(("2024-06-15", "15/06/2024", "June 15, 2024"))
    return change_call(row, at, number, {key: how}), how


_IDENTIFIER = re.compile(
    r"(?:\b|_|[a-z])(?:id|ids|uuid|code|token|key|slug|isbn|sku|reference)\Z", re.I
)


def _other_identifier(row: Transcript, rng: Random, _: Others) -> Made:
    found = _pick_place(
        rng,
        (
            p
            for p in iter_places(row)
            if _IDENTIFIER.search(p[2])
            and isinstance(p[3], str | int)
            and len(str(p[3])) > 2
            and "API_" not in str(p[3])
        ),
    )
    if found is None:
        return None
    at, number, key, value = found
    made = "".join(_replace_character(c, rng) for c in str(value))
    if (
        made
        in to_canonical_json([r.content for r in row.trajectory.results]) + row.trajectory.query
    ):
        return None
    if str(value).isdigit():
        how = "digits"
    elif str(value).isalpha():
        how = "letters"
    else:
        how = "both"
    return change_call(row, at, number, {key: int(made) if isinstance(value, int) else made}), how


def _other_value(row: Transcript, rng: Random, others: Others) -> Made:
    def free(place: Place) -> bool:
        value = place[3]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return (
            bool(number or (isinstance(value, str) and value))
            and not _IDENTIFIER.search(place[2])
            and "API_" not in str(value)
        )

    found = _pick_place(rng, filter(free, iter_places(row)))
    if found is None:
        return None
    at, number, key, value = found
    if isinstance(value, int | float):
        made: Json = type(value)(
            value
            + rng.choice((1, -1)) * rng.randint(11, 99) * max(1, 10 ** (len(str(int(value))) - 2))
        )
        return change_call(row, at, number, {key: made}), "number"
    known = f"{row.trajectory.query} {to_canonical_json([r.content for r in row.trajectory.results])}".lower()
    name = row.trajectory.steps[at].calls[number].tool
    same = [
        v for t in others for *_p, k, v in iter_places(t)
        if k == key and isinstance(v, str) and v and "API_" not in v and v.lower() not in known
    ]  # fmt: skip
    tool = row.trajectory.tool(name)
    part = tool.properties.get(key) if tool else None
    if not same or (isinstance(part, dict) and part.get("enum")):
        return None
    made = rng.choice(same)
    if re.search(r"\d", made):
        how = "date or number as text"
    elif made[:1].isupper():
        how = "name"
    else:
        how = "word"
    return change_call(row, at, number, {key: made}), how


def _plant_dangling_reference(row: Transcript, rng: Random, _: Others) -> Made:
    label = re.compile(r"API_call_(\d+)")
    found = _pick_place(
        rng, (p for p in iter_places(row) if isinstance(p[3], str) and label.search(p[3]))
    )
    if found is None or not _is_gold(row):
        return None
    at, number, key, value = found
    how = rng.choice(("of no call", "of a later call"))
    later = len(row.trajectory.steps) + 40 if how == "of no call" else _own_label(row, at)
    if later is None:
        return None
    return change_call(row, at, number, {key: label.sub(f"API_call_{later}", str(value))}), how


def _own_label(row: Transcript, at: int) -> int | None:
    """The number of a label that this very call, or a later one, makes."""
    shown = re.findall(r"API_call_(\d+)", " ".join(s.shown for s in row.trajectory.steps[at:]))
    return int(shown[-1]) if shown else None


PLANTERS: Mapping[DefectKind, Planter] = {
    **ENDINGS,
    "unnamed_value": _plant_unnamed_value,
    "placeholder": _plant_placeholder,
    "broken_request": _plant_broken_query,
    "impossible_date": _plant_impossible_query,
    "repeated_request": _plant_duplicate_query,
    "tool_not_offered": _not_offered,
    "unknown_tool": _unknown_tool,
    "missing_input": _missing_input,
    "unknown_argument": _unknown_argument,
    "wrong_value": _wrong_value,
    "identifier_from_nowhere": _other_identifier,
    "value_from_nowhere": _other_value,
    "day_from_nowhere": _plant_guessed_day,
    "dangling_reference": _plant_dangling_reference,
}
"""By class: how it is put into a row."""
