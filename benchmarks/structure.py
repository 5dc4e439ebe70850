"""Print figures of the code's structure: ``python benchmarks/structure.py [--trace] [--json]
[--list FIGURE]``.

Needs the standard library alone. Static figures are read from the source: statements are nodes of
the syntax tree, not lines. Dynamic figures come from tracing stored inputs (``--trace``, needs the
installed package): a query through a run, and replies through the proxy's session. A *return* is a
call into a room that was left before. ``--list`` FIGURE names the places behind a figure. Rooms are
the folders and modules directly below a package.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LAB_ROOMS = frozenset(
    {"benchmarks", "explore", "training", "transcripts", "verify"}
)  # while they share a package
WORD_ROOMS = ("language",)  # where words of a language may stand
EVIDENCE = re.compile(r"\b(Edit|Change|OverlayChange|Diagnostic|Violation|Warning|Note)\b")
LISTED = re.compile(r"^(list|tuple|Sequence|set|frozenset)\[")
DATA_SETS = re.compile(
    r"tool_?bench|nes_?tools?|seal_?tools|api_?bank|nestful|bfcl|ace_?bench|tool_?ace|rlla|ultra_?tool",
    re.I,
)
WORD = re.compile(r"[a-z]{2,}")
OLD_NAMES = frozenset(
    """Course Shared settle Settled Settling mend Mending ladder rung One Ruled Ordered _Draft _Work Renamed Situation
    Talk Sources ghost takers alike keeping whole fronts is_hollow stand_in echoes surplus abstained patient held
    postponed came made_good outlived leave sharpen Tape Offer Marks Reserve trials trying told said shown written
    laid Verdicts Verdict in_a_sentence""".split()
)


@dataclass
class Figures:
    """The figures by name, and behind each the places it was counted at."""

    values: dict[str, float] = field(default_factory=dict)
    places: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def count(self, figure: str, place: str) -> None:
        self.places[figure].append(place)


def packages() -> dict[str, Path]:
    """Name -> folder of every package of this repository."""
    found = [*ROOT.glob("src/*/__init__.py"), *ROOT.glob("packages/*/src/*/__init__.py")]
    return {path.parent.name: path.parent for path in found}


def modules() -> Iterator[tuple[str, str, Path, ast.Module, str]]:
    """(package, room, path, tree, text) of every module."""
    for name, folder in sorted(packages().items()):
        for path in sorted(folder.rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            first = path.relative_to(folder).parts[0].removesuffix(".py")
            yield name, first, path, ast.parse(text), text


def is_lab(package: str, room: str) -> bool:
    return package.endswith("_lab") or room in LAB_ROOMS


def measure() -> Figures:
    """Every static figure."""
    figures = Figures()
    statements: Counter[tuple[bool, str]] = Counter()
    folders: Counter[Path] = Counter()
    functions: list[tuple[str, str]] = []
    lines = long_lines = 0
    for package, room, path, tree, text in modules():
        place = str(path.relative_to(ROOT))
        folders[path.parent] += 1
        lab = is_lab(package, room)
        statements[lab, room] += sum(isinstance(node, ast.stmt) for node in ast.walk(tree))
        rows = text.splitlines()
        lines += len(rows)
        long_lines += sum(len(row) > 100 for row in rows)
        functions += _functions(figures, tree, place)
        _classes(figures, tree, place)
        _names(figures, tree, place)
        if not lab and room not in WORD_ROOMS and "features_v1" not in path.parts:
            _words(figures, tree, place)
            _notation(figures, tree, place)
    _summarise(figures, statements, folders)
    one_word = [place for place, name in functions if "_" not in name.strip("_")]
    figures.places["one-word function names, %"] = one_word
    figures.values["one-word function names, %"] = round(
        100 * len(one_word) / max(1, len(functions)), 1
    )
    figures.values["lines over 100 columns, %"] = round(100 * long_lines / max(1, lines), 1)
    for name in (
        "classes that list edits, changes or diagnostics",
        "functions of more than 10 parameters",
        "options as a Mapping or **kwargs",
        "classes of more than 14 fields",
        "English words in lists and expressions",
        "data-set notation in the runtime",
        "identifiers of the old dictionary",
    ):
        figures.values[name] = len(figures.places[name])
    return figures


def _summarise(
    figures: Figures, statements: Counter[tuple[bool, str]], folders: Counter[Path]
) -> None:
    core = {room: n for (lab, room), n in statements.items() if not lab}
    total = sum(core.values())
    largest = max(core, key=core.__getitem__)
    figures.values["statements, core"] = total
    figures.values["statements, all"] = sum(statements.values())
    figures.values["largest room of the core, %"] = round(100 * core[largest] / total, 1)
    figures.places["largest room of the core, %"] = [
        f"{room} {n}" for room, n in Counter(core).most_common(8)
    ]
    figures.values["files in the fullest folder"] = max(folders.values())
    figures.places["files in the fullest folder"] = [
        f"{path.relative_to(ROOT)} {n}" for path, n in folders.most_common(12)
    ]
    top = {room for room in core if any((folder / room).is_dir() for folder in packages().values())}
    figures.values["folders at the top"] = len(top)
    figures.values["modules at the top"] = (
        len(core) - len(top) - ("__init__" in core) - ("__main__" in core)
    )


def _functions(figures: Figures, tree: ast.Module, place: str) -> list[tuple[str, str]]:
    """(place, name) of every module-level function that is no test hook; counts parameters on the
    way.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs]
            where = f"{place}:{node.lineno} {node.name}"
            if len(parameters) > 10:
                figures.count(
                    "functions of more than 10 parameters", f"{where} ({len(parameters)})"
                )
            loose = [
                p.arg
                for p in parameters
                if re.fullmatch(r"options|settings|given", p.arg) and _is_mapping(p)
            ]
            if loose or (given.kwarg and given.kwarg.arg in ("options", "settings")):
                figures.count("options as a Mapping or **kwargs", where)
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [(f"{place}:{node.lineno} {node.name}", node.name) for node in found]


def _is_mapping(parameter: ast.arg) -> bool:
    return parameter.annotation is not None and ast.unparse(parameter.annotation).startswith(
        ("Mapping[", "dict[")
    )


def _classes(figures: Figures, tree: ast.Module, place: str) -> None:
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        fields = [item for item in node.body if isinstance(item, ast.AnnAssign)]
        where = f"{place}:{node.lineno} {node.name}"
        kinds = [ast.unparse(item.annotation) for item in fields]
        if any(LISTED.match(kind) and EVIDENCE.search(kind) for kind in kinds):
            figures.count("classes that list edits, changes or diagnostics", where)
        if len(fields) > 14:
            figures.count("classes of more than 14 fields", f"{where} ({len(fields)})")


def _names(figures: Figures, tree: ast.Module, place: str) -> None:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and node.name in OLD_NAMES
        ):
            figures.count("identifiers of the old dictionary", f"{place}:{node.lineno} {node.name}")


def _words(figures: Figures, tree: ast.Module, place: str) -> None:
    """English words in collections of words and in regular expressions: one place each."""
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple | ast.Set) and len(node.elts) >= 4:
            texts = [
                e.value
                for e in node.elts
                if isinstance(e, ast.Constant) and isinstance(e.value, str)
            ]
            words = [t for t in texts if re.fullmatch(r"[a-z]+( [a-z]+)*", t)]
            if len(words) == len(node.elts):
                _count_words(figures, place, node, words)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            value = node.func.value
            if (
                node.func.attr == "split"
                and isinstance(value, ast.Constant)
                and isinstance(value.value, str)
            ):
                _count_words(figures, place, node, WORD.findall(value.value))
            elif node.func.attr == "compile" and ast.unparse(value) == "re":
                texts = [
                    c.value
                    for c in ast.walk(node)
                    if isinstance(c, ast.Constant) and isinstance(c.value, str)
                ]
                words = WORD.findall(re.sub(r"\\.|\[[^\]]*\]|\(\?P?<?\w*>?", " ", " ".join(texts)))
                if len(words) >= 3:
                    _count_words(figures, place, node, words)


def _count_words(figures: Figures, place: str, node: ast.expr, words: list[str]) -> None:
    for word in words:
        figures.count("English words in lists and expressions", f"{place}:{node.lineno} {word}")


def _notation(figures: Figures, tree: ast.Module, place: str) -> None:
    for node in ast.walk(tree):
        name = (
            getattr(node, "name", None) or getattr(node, "id", None) or getattr(node, "attr", None)
        )
        if isinstance(name, str) and DATA_SETS.search(name):
            figures.count(
                "data-set notation in the runtime", f"{place}:{getattr(node, 'lineno', 0)} {name}"
            )


# tracing


def rooms_entered(work: Callable[[], object]) -> list[str]:
    """The rooms in the order in which calls entered them while ``work`` ran, repeats in a row
    once.
    """
    entered: list[str] = []
    roots = {str(folder) + "/": name for name, folder in packages().items()}
    known: dict[str, str] = {}

    def room_of(file: str) -> str:
        if file not in known:
            root = next((r for r in roots if file.startswith(r)), None)
            known[file] = file[len(root) :].split("/")[0].removesuffix(".py") if root else ""
        return known[file]

    def profile(frame: FrameType, event: str, _argument: Any) -> None:
        if (
            event == "call"
            and (room := room_of(frame.f_code.co_filename))
            and entered[-1:] != [room]
        ):
            entered.append(room)

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return entered


def returns(entered: list[str]) -> int:
    """How often a room was entered that had been left before."""
    return len(entered) - len(set(entered))


def trace(figures: Figures) -> None:
    """The dynamic figures, over the stored inputs of ``structure_inputs.py``."""
    sys.path.insert(0, str(Path(__file__).parent))
    import structure_inputs

    for name, work in structure_inputs.WORKS.items():
        work()  # what is made once a process is not counted
        entered = rooms_entered(work)
        figures.values[f"returns to a room: {name}"] = returns(entered)
        figures.places[f"returns to a room: {name}"] = [
            f"{room} {n}" for room, n in Counter(entered).most_common()
        ]


def main(arguments: list[str]) -> int:
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("--json", action="store_true", help="one object: figure -> value")
    asked.add_argument("--trace", action="store_true", help="also trace the stored inputs")
    asked.add_argument(
        "--list", metavar="FIGURE", help="the places behind the figures whose name holds FIGURE"
    )
    given = asked.parse_args(arguments)
    figures = measure()
    if given.trace:
        trace(figures)
    if given.list:
        for name, places in figures.places.items():
            if given.list in name:
                print(f"{name}: {len(places)}", *places, sep="\n  ")
        return 0
    if given.json:
        print(json.dumps(figures.values, indent=1))
        return 0
    for name, value in figures.values.items():
        print(f"{name:<52}{value:>10g}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
