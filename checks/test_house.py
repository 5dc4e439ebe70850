"""The rules of the house that a machine can hold: structure, size, light imports, documentation
that exists.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest

import callwright
from callwright import prompts
from callwright.nouns import errors, limits, trace
from callwright_lab import prompts as lab_prompts
from trees import parse_modules

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {
    "callwright": ROOT / "packages" / "callwright",
    "callwright_lab": ROOT / "packages" / "callwright-lab",
}
SOURCES = {name: folder / "src" / name for name, folder in PACKAGES.items()}
MODULES = sorted(
    path
    for folder in SOURCES.values()
    for path in folder.rglob("*.py")
    if path.name not in ("__init__.py", "__main__.py")
)
HEAVY = (
    "torch",
    "numpy",
    "onnxruntime",
    "aiohttp",
    "starlette",
    "mcp",
    "pydantic",
    "jsonschema_rs",
    "typer",
    "rich",
)

# Modules tested through their room's own test file. The list may only shrink.
TESTED_WITH_THEIR_ROOM: dict[str, str] = {
    "callwright/agent/execution/executor.py": "agent/test_orchestrator.py",
    "callwright/agent/execution/invoke.py": "agent/test_orchestrator.py",
    "callwright/agent/questions.py": "agent/test_orchestrator.py",
    "callwright/agent/execution/job.py": "agent/test_orchestrator.py",
    "callwright/agent/strategies/strategy.py": "agent/test_orchestrator.py",
    "callwright/agent/strategies/react.py": "agent/test_orchestrator.py",
    "callwright/agent/strategies/second_pass.py": "agent/test_orchestrator.py",
    "callwright/cli/check.py": "cli/test_app.py",
    "callwright/cli/demo.py": "cli/test_app.py",
    "callwright/cli/offered.py": "cli/test_app.py",
    "callwright/cli/view.py": "cli/test_app.py",
    "callwright/cli/weights.py": "cli/test_app.py",
    "callwright_lab/cli/measure.py": "cli/test_lab_commands.py",
    "callwright_lab/cli/train.py": "cli/test_lab_commands.py",
}


def _named(module: Path) -> str:
    package = "callwright_lab" if SOURCES["callwright_lab"] in module.parents else "callwright"
    return str(module.relative_to(SOURCES[package].parent))


def _tests_of(module: str) -> Path:
    return PACKAGES[module.split("/", 1)[0]] / "tests"


def _test_of(module: str) -> Path:
    relative = Path(module.split("/", 1)[1])
    return _tests_of(module) / relative.with_name(f"test_{relative.name}")


@pytest.mark.parametrize("module", [_named(m) for m in MODULES])
def test_every_module_has_its_test(module: str) -> None:
    if module in TESTED_WITH_THEIR_ROOM:
        assert (_tests_of(module) / TESTED_WITH_THEIR_ROOM[module]).exists()
        assert not _test_of(module).exists(), f"{module} has its own test: take it off the list"
    else:
        assert _test_of(module).exists(), f"write {_test_of(module).relative_to(ROOT)}"


def test_the_core_s_tests_need_no_lab() -> None:
    """They name neither the lab nor a helper of its tests: ``start.py core`` runs them without."""
    tests = PACKAGES["callwright"] / "tests"
    named = re.compile(
        r"^\s*(?:from|import) (callwright_lab|tests)\b([\w.]*)(?: import (\w+))?", re.M
    )
    found = []
    for path in sorted(tests.rglob("*.py")):
        for package, rest, first in named.findall(path.read_text(encoding="utf-8")):
            place = tests.joinpath(*rest.split(".")[1:])
            names = (place.with_suffix(".py"), place / f"{first}.py", place / first)
            if package == "callwright_lab" or not any(name.exists() for name in names):
                found.append(f"{path.relative_to(tests)}: {package}{rest}")
    assert not found


Trees = Mapping[Path, ast.Module]


@pytest.fixture(scope="module")
def trees() -> Trees:
    return {
        path: tree for folder in SOURCES.values() for path, tree in parse_modules(folder).items()
    }


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """What stands below a node, but for expressions: most nodes are those, and no statement is
    inside one.
    """
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from _statements(child)


def test_nine_in_ten_functions_are_short_and_none_is_long(trees: Trees) -> None:
    lengths = []
    for module in MODULES:
        for node in _statements(trees[module]):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                lengths.append((node.end_lineno - node.lineno + 1, f"{module.name}:{node.name}"))
    lengths.sort(reverse=True)
    ninth = lengths[len(lengths) // 10][0]
    assert ninth <= 30, f"the 90th percentile is {ninth} lines; longest: {lengths[:8]}"
    assert lengths[0][0] <= 106, lengths[:5]


def test_no_room_is_called_after_nothing() -> None:
    empty = {"utils", "util", "helpers", "common", "base", "core", "manager", "misc"}
    assert not {p.stem for folder in SOURCES.values() for p in folder.rglob("*")} & empty


def _imports(node: ast.AST, in_functions: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements that run: without TYPE_CHECKING blocks, with or without those inside
    functions.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and _is_for_types(child.test):
            yield from _imports(ast.Module(child.orelse, []), in_functions)
        elif isinstance(child, ast.expr):
            continue  # no statement is inside one
        elif in_functions or not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _imports(child, in_functions)


def _is_for_types(test: ast.expr) -> bool:
    named = isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"
    return named or (isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING")


def _import_graph(folder: Path, trees: Trees, in_functions: bool) -> dict[str, set[str]]:
    """Module -> modules of its package that it names. ``from a import b`` names a.b if that is a
    module, else a.
    """
    paths = {}
    for path in (path for path in trees if folder in path.parents):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    graph: dict[str, set[str]] = {}
    for name, path in paths.items():
        graph[name] = set()
        for found in _imports(trees[path], in_functions):
            if isinstance(found, ast.Import):
                graph[name] |= {alias.name for alias in found.names}
                continue
            assert not found.level, f"{name} imports relatively: write the whole name"
            for alias in found.names:
                inner = f"{found.module}.{alias.name}"
                graph[name].add(inner if inner in paths else str(found.module))
        graph[name] &= set(paths)
    return graph


def _circle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found[::-1]
    return []


@pytest.mark.parametrize(
    "in_functions", [False, True], ids=["at-module-level", "inside-functions-too"]
)
def test_no_module_imports_in_a_circle(trees: Trees, in_functions: bool) -> None:
    graph = _import_graph(SOURCES["callwright"], trees, in_functions)
    graph |= _import_graph(SOURCES["callwright_lab"], trees, in_functions)
    assert "callwright.dataflow.flow" in graph["callwright.planning.features"], (
        "the graph lacks an import that is there"
    )
    circle = _circle(graph)
    assert not circle, " imports ".join(circle)


BROUGHT = {  # modules that a declared requirement brings, and which
    **dict.fromkeys(("anyio", "httpx2", "jwt", "mcp_types", "pydantic"), "mcp"),
    **dict.fromkeys(("idna", "yarl"), "aiohttp"),
    "pydantic_monty": "pydantic-monty",
}


def _requirements(project: Path) -> set[str]:
    """The names of what a package and its extras require."""
    said = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    lines = [*said["dependencies"], *chain(*said["optional-dependencies"].values())]
    return {_plain(re.split(r"[^\w.-]", line)[0]) for line in lines}


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_core_imports_only_what_it_declares(trees: Trees) -> None:
    """Also where a function imports it: the lab and the tests bring libraries that a user of the
    core does not have.
    """
    declared = _requirements(PACKAGES["callwright"] / "pyproject.toml")
    brought_by = {**packages_distributions(), **{name: [by] for name, by in BROUGHT.items()}}
    imported: dict[str, str] = {}
    for path in (path for path in trees if SOURCES["callwright"] in path.parents):
        for found in _imports(trees[path], in_functions=True):
            names = [alias.name for alias in found.names] if isinstance(found, ast.Import) else []
            imported |= {name.split(".")[0]: path.name for name in names or [str(found.module)]}
    foreign = {*imported} - {*sys.stdlib_module_names, "callwright"}
    undeclared = {
        name: imported[name]
        for name in foreign
        if not {_plain(by) for by in brought_by.get(name, [name])} & declared
    }
    assert not undeclared
    assert {*BROUGHT} <= foreign
    assert {*BROUGHT.values()} <= declared


def test_a_circle_of_imports_is_found(tmp_path: Path) -> None:
    room = tmp_path / "house" / "room"
    room.mkdir(parents=True)

    def circle(in_functions: bool) -> list[str]:
        return _circle(_import_graph(room.parent, parse_modules(room.parent), in_functions))

    (room.parent / "__init__.py").write_text("from house.room import top\n")
    (room / "__init__.py").write_text(
        "from house.room.top import value\n"
    )  # what it re-exports may stand on the rest
    (room / "top.py").write_text("from house.room import below\n\nvalue = below\n")
    (room / "below.py").write_text(
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from house.room import top\n"
    )
    assert circle(in_functions=True) == []
    (room / "below.py").write_text(
        "def late():\n    from house.room.top import value\n    return value\n"
    )
    assert circle(in_functions=False) == []
    assert set(circle(in_functions=True)) == {
        "house.room.top",
        "house.room.below",
    }
    (room / "below.py").write_text(
        "try:\n    import house.room.top\nexcept ImportError:\n    pass\n"
    )
    assert set(circle(in_functions=False)) == {
        "house.room.top",
        "house.room.below",
    }


def test_import_callwright_is_light() -> None:
    code = f"import sys, callwright; print([m for m in {HEAVY!r} if m in sys.modules])"
    out = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"


TESTS = (*(folder / "tests" for folder in PACKAGES.values()), ROOT / "checks")


def test_a_heavy_test_says_so_in_its_own_file() -> None:
    """A run of the heavy tests imports no file without the word (conftest.py)."""
    shared = [
        path
        for folder in TESTS
        for path in folder.rglob("*.py")
        if not path.name.startswith("test_") and "mark.heavy" in path.read_text(encoding="utf-8")
    ]
    assert not shared


def test_the_files_that_workers_begin_with_are_there() -> None:
    named = re.findall(r'"(test_\w+\.py)"', (ROOT / "conftest.py").read_text(encoding="utf-8"))
    assert len(named) > 5
    assert not {*named} - {path.name for folder in TESTS for path in folder.rglob("test_*.py")}


def _starts_of_python(text: str) -> Iterator[tuple[int, list[object]]]:
    """Command lines that begin with a Python: line and the words that are constants."""
    for node in ast.walk(ast.parse(text)):
        elts = node.elts if isinstance(node, ast.List | ast.Tuple) else []
        if elts and ast.unparse(elts[0]) in ("sys.executable", "str(PYTHON)", "str(python)"):
            yield node.lineno, [e.value for e in elts if isinstance(e, ast.Constant)]


def test_no_python_that_is_started_imports_from_the_working_folder() -> None:
    """``python -m`` and ``python -c`` put the working folder first on sys.path; -P and -I keep it
    off.
    """
    found, wrong = 0, []
    paths = [
        ROOT / "start.py",
        *(
            p
            for f in ("packages", "benchmarks", "examples", "checks")
            for p in (ROOT / f).rglob("*.py")
        ),
    ]
    for path in paths:
        text = path.read_text(encoding="utf-8")
        for line, words in (
            _starts_of_python(text)
            if "sys.executable" in text or "(PYTHON)" in text.upper()
            else ()
        ):
            if "-m" in words or "-c" in words:
                found += 1
                if not {"-P", "-I"} & set(words):
                    wrong.append(f"{path.relative_to(ROOT)}:{line}")
    for page in (*ROOT.glob("docs/*.md"), ROOT / "README.md", *(ROOT / "examples").rglob("*.json")):
        if '"args": ["-m"' in page.read_text(encoding="utf-8"):
            wrong.append(str(page.relative_to(ROOT)))
    assert found > 20
    assert not wrong, f"add -P to {wrong}"


def test_every_public_name_exists_and_nothing_else_is_public() -> None:
    for name in callwright.__all__:
        assert getattr(callwright, name) is not None
    assert sorted(callwright.__all__) == dir(callwright)
    with pytest.raises(AttributeError):
        callwright.nothing  # noqa: B018


def _docs() -> str:
    return "\n".join(
        p.read_text(encoding="utf-8")
        for p in [*ROOT.glob("docs/*.md"), *ROOT.glob("docs/cli/*.md"), ROOT / "README.md"]
    )


def test_every_error_kind_limit_prompt_and_event_is_documented() -> None:
    text = _docs()
    words = [cls.__name__ for cls in errors.CallwrightError.__subclasses__()]
    words += list(errors.ViolationKind.__args__) + list(errors.FailureKind.__args__)
    words += list(limits.Limits.__dataclass_fields__) + list(prompts.names()) + list(trace.KINDS)
    words += list(lab_prompts.names())
    missing = [word for word in words if f"`{word}`" not in text]
    assert not missing, f"not in docs/: {missing}"


def test_every_command_is_documented() -> None:
    from callwright.cli.app import app
    from callwright_lab.cli.measure import bench, train
    from callwright_lab.cli.verify import verify

    def names(typer_app: object, prefix: str) -> list[str]:
        return [
            f"{prefix} {c.name or c.callback.__name__}"  # type: ignore[union-attr]
            for c in typer_app.registered_commands  # type: ignore[attr-defined]
        ]

    groups = {"": app, " train": train, " bench": bench, " verify": verify}
    commands = [
        command for group, held in groups.items() for command in names(held, f"callwright{group}")
    ]
    text = _docs()
    assert not [c for c in commands if c not in text]


def test_the_changelog_has_a_section_for_the_version() -> None:
    assert re.search(
        rf"^## {re.escape(callwright.__version__)}\b",
        (ROOT / "CHANGELOG.md").read_text(),
        re.MULTILINE,
    )
