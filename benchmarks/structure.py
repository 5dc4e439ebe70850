"""Print figures of the code's structure: ``python benchmarks/structure.py [--trace] [--json]
[--list FIGURE]``.

Needs the standard library alone. Static figures are read from the source: statements are nodes of
the syntax tree, not lines. Dynamic figures come from tracing stored inputs (``--trace``, needs the
installed package): a query through a run, and replies through the proxy's session. A *return* is a
call into a room that was left before. ``--list`` FIGURE names the places behind a figure. Rooms are
the folders and modules directly below a package.

*English words* are those of collections of words (lists, texts that are split, keys of tables) and
of regular expressions, outside ``language`` and ``features_v1``. Names that a program and not a
person defines are no words of a language, and three rules tell them apart:

1. what stands in ``Literal[…]`` or is a part of such a type that the module names, and the fields of
   one class that the module names, ``__slots__`` among them;
2. in an expression, what stands inside a tag (``<|im_start|>``), and the entries of a vocabulary
   that it is built from (``ENGLISH.expression("…")``);
3. a vocabulary of ``protocol_words.toml``: it names its source (a specification, or where we define
   it) and the modules that may use it. All words of a list must be in one vocabulary. A vocabulary
   holds no word and no module that does not need it; ``checks/test_structure.py`` tests that.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
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
WORD = re.compile(r"[a-z]{2,}", re.I)
PLAIN = re.compile(r"[a-z]+( [a-z]+)*")
NOT_WORDS = re.compile(r"\\.|\[[^\]]*\]|\(\?(?:P?<\w+>|P=\w+|<?[=!]|:|[a-z]+\))")
TAG = re.compile(r"<[^<>]*>")
COLLECTION = ast.List | ast.Tuple | ast.Set | ast.Dict
PROTOCOL_WORDS = Path(__file__).with_name("protocol_words.toml")
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


@lru_cache(maxsize=1)
def nodes_of(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Every node of a module. Seven figures ask for those of one module after another."""
    return tuple(ast.walk(tree))


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
        statements[lab, room] += sum(isinstance(node, ast.stmt) for node in nodes_of(tree))
        rows = text.splitlines()
        lines += len(rows)
        long_lines += sum(len(row) > 100 for row in rows)
        functions += _functions(figures, tree, place)
        _classes(figures, tree, place)
        _names(figures, tree, place)
        if not lab and room not in WORD_ROOMS and "features_v1" not in path.parts:
            _words(figures, tree, path, packages()[package])
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
    for node in nodes_of(tree):
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
    for node in nodes_of(tree):
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
    for node in nodes_of(tree):
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and node.name in OLD_NAMES
        ):
            figures.count("identifiers of the old dictionary", f"{place}:{node.lineno} {node.name}")


@dataclass(frozen=True)
class Vocabulary:
    """Names that a specification, or a part of this program, defines, and who may use them."""

    name: str
    source: str
    places: tuple[str, ...]
    words: frozenset[str]


@cache
def read_vocabularies() -> tuple[Vocabulary, ...]:
    """The vocabularies of ``protocol_words.toml``. ``places`` are paths inside the core."""
    rows = tomllib.loads(PROTOCOL_WORDS.read_text(encoding="utf-8"))["vocabulary"]
    return tuple(
        Vocabulary(r["name"], r["source"], tuple(r["places"]), frozenset(r["words"].split()))
        for r in rows
    )


@dataclass(frozen=True)
class WordList:
    """The words of one collection or expression, and the line where it stands."""

    line: int
    words: tuple[str, ...]

    @property
    def parts(self) -> frozenset[str]:
        """The single words, lower case."""
        return frozenset(part for word in self.words for part in word.lower().split())


@cache
def _read_definitions() -> dict[str, frozenset[str]]:
    """Name -> the fields of the class, or the members of the ``Literal``, that has it."""
    found: dict[str, frozenset[str]] = {}
    for _, _, _, tree, _ in modules():
        for node in nodes_of(tree):
            if isinstance(node, ast.ClassDef):
                fields = [item.target for item in node.body if isinstance(item, ast.AnnAssign)]
                names = {target.id for target in fields if isinstance(target, ast.Name)}
                found[node.name] = found.get(node.name, frozenset()) | names
            elif isinstance(node, ast.Assign | ast.AnnAssign) and (value := node.value):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                if isinstance(target, ast.Name) and (members := _list_members(value)):
                    found[target.id] = members
    return found


def _list_members(value: ast.expr) -> frozenset[str]:
    """The texts of a ``Literal[…]``; none where it is something else."""
    if not (isinstance(value, ast.Subscript) and ast.unparse(value.value) == "Literal"):
        return frozenset()
    return frozenset(_iter_texts(value.slice))


def _iter_texts(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value


def count_words(tree: ast.Module, place: str) -> tuple[list[WordList], Counter[tuple[str, str]]]:
    """The lists of English words of a module whose path inside the core is ``place``; and how often
    each vocabulary explains one of its words: (vocabulary, word) -> lists.
    """
    definitions = _read_definitions()
    named = {node.id for node in nodes_of(tree) if isinstance(node, ast.Name)}
    own = [definitions[name] for name in named if name in definitions]
    left: list[WordList] = []
    explained: Counter[tuple[str, str]] = Counter()
    for listed in _iter_word_lists(tree):
        if any(listed.parts <= names for names in own):
            continue
        fit = [v for v in read_vocabularies() if place in v.places and listed.parts <= v.words]
        if not fit:
            left.append(listed)
        for vocabulary in fit[:1]:
            explained.update((vocabulary.name, part) for part in listed.parts)
    return left, explained


def _iter_word_lists(tree: ast.Module) -> Iterator[WordList]:
    """Every collection of words and every expression with words, types and slots left out."""
    types = [node for node in nodes_of(tree) if isinstance(node, ast.expr) and _list_members(node)]
    slots = [
        node.value
        for node in nodes_of(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__slots__"
    ]
    passed = {inner for node in (*types, *slots) for inner in ast.walk(node)}
    for node in nodes_of(tree):
        if node in passed:
            continue
        if isinstance(node, COLLECTION):
            yield from _read_collection(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from _read_call(node, node.func)


def _read_collection(node: ast.List | ast.Tuple | ast.Set | ast.Dict) -> Iterator[WordList]:
    """A collection of at least four words, and of nothing else; of a table of constants its
    keys.
    """
    items = node.keys if isinstance(node, ast.Dict) else node.elts
    if isinstance(node, ast.Dict) and not all(_is_constant(value) for value in node.values):
        return
    texts = [e.value for e in items if isinstance(e, ast.Constant) and isinstance(e.value, str)]
    if len(items) >= 4 and len(texts) == len(items) and all(map(PLAIN.fullmatch, texts)):
        yield WordList(node.lineno, tuple(texts))


def _is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return all(map(_is_constant, node.elts))
    return isinstance(node, ast.Constant)


def _read_call(node: ast.Call, called: ast.Attribute) -> Iterator[WordList]:
    """The words of a text that is split, or of an expression with at least three."""
    of = called.value
    if called.attr == "split" and isinstance(of, ast.Constant) and isinstance(of.value, str):
        if words := WORD.findall(of.value):
            yield WordList(node.lineno, tuple(words))
    elif isinstance(of, ast.Name) and of.id == "re":
        entries = {
            text
            for inner in ast.walk(node)
            if isinstance(inner, ast.Call) and ast.unparse(inner.func).startswith("ENGLISH.")
            for text in _iter_texts(inner)
        }
        text = " ".join(text for text in _iter_texts(node) if text not in entries)
        words = WORD.findall(TAG.sub(" ", NOT_WORDS.sub(" ", text)))
        if len(words) >= 3:
            yield WordList(node.lineno, tuple(words))


def _words(figures: Figures, tree: ast.Module, path: Path, package: Path) -> None:
    """English words in collections of words and in regular expressions: one place each."""
    for listed in count_words(tree, path.relative_to(package).as_posix())[0]:
        for word in listed.words:
            where = f"{path.relative_to(ROOT)}:{listed.line} {word}"
            figures.count("English words in lists and expressions", where)


def _notation(figures: Figures, tree: ast.Module, place: str) -> None:
    for node in nodes_of(tree):
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
