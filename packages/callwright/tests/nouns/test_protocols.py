"""The seams hold what their page says: at least two classes of ours stand behind every protocol."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns import protocols
from callwright.nouns.protocols import Capabilities, ChatRequest
from callwright.nouns.types import Message

SOURCE = Path(protocols.__file__).parent.parent
PROTOCOLS = [
    c for c in vars(protocols).values() if inspect.isclass(c) and c.__module__ == protocols.__name__
]
PROTOCOLS = [c for c in PROTOCOLS if getattr(c, "_is_protocol", False)]

Signature = tuple[
    bool, tuple[str, ...]
]  # whether it is async; the parameters that a caller may give


class Class:
    """One class as it is written: its bases, its attributes, and its methods with their
    parameters.
    """

    def __init__(self, node: ast.ClassDef, module: str) -> None:
        self.name = f"{module}.{node.name}"
        self.bases = [b.id for b in node.bases if isinstance(b, ast.Name)]
        self.attributes: set[str] = set()
        self.methods: dict[str, Signature] = {}
        self.needed: dict[str, int] = {}
        for statement in node.body:
            self._read(statement)

    def _read(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            self.attributes.add(statement.target.id)
        elif isinstance(statement, ast.Assign):
            self.attributes |= {t.id for t in statement.targets if isinstance(t, ast.Name)}
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            if any(
                isinstance(d, ast.Name) and d.id == "property" for d in statement.decorator_list
            ):
                self.attributes.add(statement.name)
                return
            given = tuple(a.arg for a in statement.args.args[1:])
            self.methods[statement.name] = (isinstance(statement, ast.AsyncFunctionDef), given)
            keywords = sum(default is None for default in statement.args.kw_defaults)
            self.needed[statement.name] = len(given) - len(statement.args.defaults) + keywords
            if statement.name == "__init__":
                self.attributes |= set(_assigned(statement))


def _assigned(function: ast.AST) -> Iterator[str]:
    """``self.x = …`` and ``self.x: T = …`` anywhere in a method."""
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


@cache
def read_classes() -> dict[str, Class]:
    """The classes of the package. Read by the first test that asks: not by each worker."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        if path.name == "protocols.py":
            continue
        module = str(path.relative_to(SOURCE).with_suffix("")).replace("/", ".")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found[f"{module}.{node.name}"] = Class(node, module)
    return found


def _inherited(made: Class) -> Iterator[Class]:
    yield made
    for base in made.bases:
        for other in read_classes().values():
            if other.name.rpartition(".")[2] == base and other is not made:
                yield from _inherited(other)


def _stands_behind(made: Class, protocol: type) -> bool:
    """Every attribute is there; every method takes what the protocol's does, by the same names, and
    needs no more.
    """
    family = list(_inherited(made))
    for name, member in vars(protocol).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            if not any(name in c.attributes for c in family):
                return False
            continue
        owner = next((c for c in family if name in c.methods), None)
        if owner is None:
            return False
        parameters = list(inspect.signature(member).parameters.values())[1:]
        waits, given = owner.methods[name]
        wanted = tuple(p.name for p in parameters)
        required = sum(p.default is p.empty for p in parameters)
        if waits != inspect.iscoroutinefunction(member) or given[: len(wanted)] != wanted:
            return False
        if owner.needed[name] > required:
            return False
    return True


def implementations(protocol: type) -> set[str]:
    return {
        c.name.rpartition(".")[2] for c in read_classes().values() if _stands_behind(c, protocol)
    }


def test_the_seams_are_those_that_the_house_knows() -> None:
    names = {
        "ChatModel",
        "ToolSource",
        "Askable",
        "Confirmable",
        "Confirmations",
        "Encoder",
        "Planner",
        "SizedModel",
    }
    assert {p.__name__ for p in PROTOCOLS} == names


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.__name__)
def test_every_protocol_has_at_least_two_implementations(protocol: type) -> None:
    assert len(implementations(protocol)) >= 2


@pytest.mark.parametrize(
    ("protocol", "names"),
    [
        (protocols.ChatModel, {"LocalModel", "OpenAIModel", "ScriptedModel", "FaultyModel"}),
        (
            protocols.ToolSource,
            {
                "FunctionSource",
                "OpenAPISource",
                "MCPSource",
                "ListSource",
                "FakeSource",
            },
        ),
        (protocols.Encoder, {"OnnxEncoder", "SentenceEncoder", "EndpointEncoder", "CachedEncoder"}),
        (protocols.Planner, {"LayerPredictor", "EdgePlanner", "SchemaPlanner", "MentionPlanner"}),
    ],
)
def test_the_classes_made_for_a_seam_fit_it(protocol: type, names: set[str]) -> None:
    missing = names - implementations(protocol)
    assert not missing, f"{missing} no longer fit {protocol.__name__}"


RIGHT = {
    "name": "name = 'm'",
    "capabilities": "async def capabilities(self): ...",
    "complete": "async def complete(self, request, watch=None): ...",
    "aclose": "async def aclose(self): ...",
}


def _model(**changed: str) -> Class:
    lines = [line for line in {**RIGHT, **changed}.values() if line]
    (node,) = ast.parse("class Model:\n    " + "\n    ".join(lines)).body
    assert isinstance(node, ast.ClassDef)
    return Class(node, "made")


@pytest.mark.parametrize(
    "changed",
    [
        {"complete": "def complete(self, request, watch=None): ..."},  # not async
        {"complete": "async def complete(self, question, watch=None): ..."},  # another name
        {"complete": "async def complete(self, request): ..."},  # takes less
        {"complete": "async def complete(self, request, watch): ..."},  # needs more
        {"complete": ""},
        {"name": ""},
        {"capabilities": "async def capabilities(self, again): ..."},
    ],
    ids=str,
)
def test_a_class_that_differs_does_not_pass_for_an_implementation(changed: dict[str, str]) -> None:
    assert _stands_behind(_model(), protocols.ChatModel)
    assert not _stands_behind(_model(**changed), protocols.ChatModel)


@pytest.mark.parametrize(
    ("native", "schema", "mode"),
    [
        (False, False, "text"),
        (True, False, "native"),
        (False, True, "schema"),
        (True, True, "schema"),
    ],
)
def test_what_cannot_be_malformed_is_asked_for_first(native: bool, schema: bool, mode: str) -> None:
    assert Capabilities(native_tools=native, json_schema=schema).mode == mode


def test_an_endpoint_that_promises_nothing_is_asked_in_text() -> None:
    assert Capabilities().mode == "text"


def test_a_question_is_a_value_that_asks_for_the_same_answer_each_time() -> None:
    def ask(**more: Any) -> ChatRequest:
        return ChatRequest((Message("user", "hi"),), **more)

    assert ask() == ask()
    assert ask() != ask(seed=1)
    assert (ask().temperature, ask().seed) == (0.0, 0)
    with pytest.raises(AttributeError):
        ask().seed = 2  # type: ignore[misc]


def test_the_page_of_seams_loads_no_array_library() -> None:
    code = "import sys, callwright.nouns.protocols; print('numpy' in sys.modules)"
    out = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "False"
