"""Compile CLDR's spelled-out numbers into the number words of language packs: ``python
benchmarks/number_words.py FOLDER``.

``FOLDER`` is the package ``cldr-rbnf`` of the Unicode Consortium (rule-based number formats as
JSON), unpacked. For every language of :data:`RULES` the rules spell numbers; each word that stands
alone for a number is kept with its value, and each word that multiplies with its factor. The result
is ``number_words.toml`` of the pack; what CLDR does not hold (dozens, halves, forms of everyday
language) stands in ``number_words_more.toml`` and is written by hand.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from callwright.jsontext import parse

ROOT = Path(__file__).resolve().parent.parent
LANGUAGE = ROOT / "packages" / "callwright" / "src" / "callwright" / "language"
RULES = {  # language -> its rule sets of cardinal numbers, and of ordinal numbers
    "ar": (
        ("%spellout-numbering", "%spellout-cardinal-feminine", "%spellout-cardinal-masculine"),
        ("%spellout-ordinal-feminine", "%spellout-ordinal-masculine"),
    ),
    "de": (
        ("%spellout-numbering", *(f"%spellout-cardinal-{form}" for form in ("masculine", "feminine", *"nrsm"))),
        ("%spellout-ordinal", *(f"%spellout-ordinal-{form}" for form in "nrsm")),
    ),
    "en": (("%spellout-cardinal",), ()),
    # the English ordinals stand in ``numbers.count_words``, which leaves out those that list wishes
    "es": (
        ("%spellout-numbering", "%spellout-cardinal-masculine", "%spellout-cardinal-feminine"),
        (
            "%spellout-ordinal-masculine",
            "%spellout-ordinal-masculine-adjective",
            "%spellout-ordinal-masculine-plural",
            "%spellout-ordinal-feminine",
            "%spellout-ordinal-feminine-plural",
        ),
    ),
    "zh": (("%spellout-numbering", "%spellout-cardinal", "%spellout-cardinal-financial"), ()),
}  # fmt: skip
WHOLE = (*range(100), *range(100, 1000, 100))  # numbers that may be one word
ORDINALS = (*range(1, 32), *range(40, 101, 10))
LARGEST = 10**12
SIGNS = range(100)  # of Chinese: what is one sign
_PART = re.compile(r"←([^←]*)←|→([^→]*)→(?:→)?|=([^=]*)=|\[([^\]]*)\]")


class Rules:
    """The rule sets of one language (Unicode Technical Standard 35, part 3)."""

    def __init__(self, rule_sets: Mapping[str, Any]) -> None:
        self._sets = {
            name: sorted(_read_rule(base, body) for base, body in rules if _is_plain(base))
            for name, rules in rule_sets.items()
            if name.startswith("%")
        }

    def spell(self, number: int, name: str) -> str:
        """A number by a rule set, without soft hyphens."""
        base, radix, body = self._rule_for(number, name)
        return self._fill(body, number, _divisor(base, radix), name).replace("\u00ad", "")

    def scales(self, name: str) -> dict[str, int]:
        """Words that multiply what stands before them -> their factor."""
        found = {}
        for base, radix, body in self._sets[name]:
            divisor = _divisor(base, radix)
            before, arrow, after = body.rpartition("←")
            words = re.sub(r"\[.*|→.*", "", after).replace("\u00ad", "").split()
            if divisor <= LARGEST and before and arrow and len(words) == 1:
                found[words[0].lower()] = divisor
        return found

    def _rule_for(self, number: int, name: str) -> tuple[int, int, str]:
        return [rule for rule in self._sets[name] if rule[0] <= number][-1]

    def _fill(self, body: str, number: int, divisor: int, name: str) -> str:
        def replace(found: re.Match[str]) -> str:
            left, right, same, optional = found.groups()
            if optional is not None:
                return self._fill(optional, number, divisor, name) if number % divisor else ""
            value = number if same is not None else number // divisor
            value = number % divisor if right is not None else value
            rule = left or right or same or name
            return self.spell(value, rule if rule.startswith("%") else name)

        return _PART.sub(replace, body)


def _is_plain(base: str) -> bool:
    return re.fullmatch(r"\d+(/\d+)?", base) is not None


def _read_rule(base: str, body: str) -> tuple[int, int, str]:
    value, _, radix = base.partition("/")
    return int(value), int(radix or 10), body.removesuffix(";").removeprefix("'")


def _divisor(base: int, radix: int) -> int:
    divisor = 1
    while divisor * radix <= base:
        divisor *= radix
    return divisor


def main(argv: Sequence[str]) -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path, help="the unpacked package cldr-rbnf")
    folder: Path = arguments.parse_args(argv).folder
    version = parse((folder / "package.json").read_bytes())["version"]
    for code in RULES:
        found = parse((folder / "rbnf" / f"{code}.json").read_bytes())
        compile_language(code, Rules(found["rbnf"]["rbnf"]["SpelloutRules"]), version)
    return 0


def compile_language(code: str, rules: Rules, version: str) -> None:
    """Write the number words of one language."""
    cardinals, ordinals = RULES[code]
    source = f"CLDR {version}, rule-based number formats (package cldr-rbnf)"
    scales = {word: n for name in cardinals for word, n in rules.scales(name).items()}
    numbers = _list_words(rules, cardinals, WHOLE, scales)
    if code == "zh":
        numbers = {sign: n for sign, n in numbers.items() if len(sign) == 1}
    tables = [_table("numbers", source, numbers), _table("scales", source, scales)]
    if ordinals:
        tables.append(
            _table(
                "ordinals", source, _list_words(rules, ordinals, ORDINALS, {**scales, **numbers})
            )
        )
    (LANGUAGE / code / "number_words.toml").write_text("\n".join(tables), encoding="utf-8")


def _list_words(
    rules: Rules, names: Sequence[str], values: Sequence[int], known: Mapping[str, int]
) -> dict[str, int]:
    """Every number that is one word by one of these rule sets, less those that are known."""
    found: dict[str, int] = {}
    for name in names:
        for value in values:
            word = rules.spell(value, name).strip().lower()
            if word and " " not in word and "-" not in word and word not in known:
                found.setdefault(word, value)
    return found


def _table(name: str, source: str, rows: Mapping[str, int]) -> str:
    lines = [f"[{name}]", f'source = "{source}"', "", f"[{name}.table]"]
    ordered = sorted(rows.items(), key=lambda row: (row[1], row[0]))
    lines += [f"{json.dumps(word, ensure_ascii=False)} = {value}" for word, value in ordered]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
