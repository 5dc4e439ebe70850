from __future__ import annotations

import gc
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.types import Json, Tool
from callwright.schema.compiled import BadSchema, compile_schema, compiled_for, is_valid_instance

DRAFTS = {
    "draft2020-12": ("https://json-schema.org/draft/2020-12/schema", 1257),
    "draft7": ("http://json-schema.org/draft-07/schema#", 913),
}


@pytest.fixture
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> socket.socket:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def remotes(suite: Path, draft: str) -> dict[str, Json]:
    """The suite's remote schemas by URI; those of other drafts are left out."""
    root = suite / "remotes"
    drafts = {
        p.name
        for p in root.iterdir()
        if p.is_dir() and (p.name.startswith("draft") or p.name == "v1")
    }
    return {
        f"http://localhost:1234/{file.relative_to(root).as_posix()}": json.loads(
            file.read_text(encoding="utf-8")
        )
        for file in root.rglob("*.json")
        if file.relative_to(root).parts[0] not in drafts - {draft}
    }


def suite_cases(suite: Path, draft: str, dialect: str) -> Iterator[tuple[str, Json, Json, bool]]:
    for file in sorted(
        (suite / "tests" / draft).glob("*.json")
    ):  # optional/ and format/ are other folders
        for group in json.loads(file.read_text(encoding="utf-8")):
            schema = group["schema"]
            if isinstance(schema, dict):
                schema = {"$schema": dialect, **schema}
            for case in group["tests"]:
                yield (
                    f"{file.name}: {group['description']}: {case['description']}",
                    schema,
                    case["data"],
                    case["valid"],
                )


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_official_suite_passes_whole_without_a_socket(
    schema_suite: Path, draft: str, no_sockets: None
) -> None:
    dialect, count = DRAFTS[draft]
    registry = remotes(schema_suite, draft)
    wrong, seen = [], 0
    for name, schema, instance, valid in suite_cases(schema_suite, draft, dialect):
        seen += 1
        if is_valid_instance(schema, instance, registry=registry) is not valid:
            wrong.append(name)
    assert wrong == []
    assert seen == count or (seen > count and "CALLWRIGHT_SCHEMA_SUITE" in os.environ)


def test_no_connection_is_made_for_a_remote_reference() -> None:
    """jsonschema-rs is native code: a listening socket that nobody visits is the proof, not a
    patched module.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        with pytest.raises(BadSchema):
            compile_schema({"$ref": f"http://127.0.0.1:{port}/schema.json"})
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.parametrize("reference", ["file:///etc/passwd", "https://example.org/x", "other.json"])
def test_a_reference_outside_the_schema_is_refused(reference: str) -> None:
    with pytest.raises(BadSchema):
        compile_schema({"$ref": reference})


def test_formats_are_asserted_by_default_and_annotations_in_validate() -> None:
    assert not compile_schema({"type": "string", "format": "date"}).accepts("yesterday")
    assert is_valid_instance({"type": "string", "format": "date"}, "yesterday")
    assert not is_valid_instance({"type": "string", "format": "date"}, "yesterday", formats=True)


def test_the_draft_named_is_the_draft_used() -> None:
    listed = {"items": [{"type": "integer"}], "additionalItems": False}
    assert not is_valid_instance(
        {"$schema": "http://json-schema.org/draft-07/schema#", **listed}, [1, 2]
    )
    assert not is_valid_instance({"prefixItems": [{"type": "integer"}], "items": False}, [1, 2])


@pytest.mark.parametrize(
    "schema",
    [
        5,
        None,
        "object",
        {"type": "nope"},
        {"properties": 5},
        {"pattern": "("},
        {"$schema": "http://example.org/unknown"},
        {"$ref": "#/$defs/missing"},
    ],
)
def test_what_is_no_schema_is_bad_schema_and_not_a_crash(schema: Any) -> None:
    with pytest.raises(BadSchema):
        compile_schema(schema)


def laughs(steps: int) -> Json:
    defs: dict[str, Json] = {
        f"a{i}": {"allOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(steps)
    }
    return {"$ref": "#/$defs/a0", "$defs": {**defs, f"a{steps}": {"type": "integer"}}}


def nested(keyword: str, levels: int) -> Json:
    schema: Json = {}
    for _ in range(levels):
        schema = {keyword: schema}
    return schema


HOSTILE: dict[str, tuple[Json, Json]] = {
    "references that multiply": (laughs(40), 5),
    "recursion that multiplies": (
        {"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}},
        json.loads('{"a":' * 60 + "1" + "}" * 60),
    ),
    "multiplying through anchors": (
        {
            "$anchor": "x",
            "properties": {"a": {"anyOf": [{"$ref": "#x"}, {"$ref": "#x"}, {"$ref": "#x"}]}},
        },
        json.loads('{"a":' * 60 + "1" + "}" * 60),
    ),
    "backtracking pattern": ({"pattern": r"^(a+)+$"}, "a" * 5_000 + "!"),
    "backtracking with a reference": ({"pattern": r"^(a|a|aa)*\1$"}, "a" * 5_000 + "!"),
    "look-around": ({"pattern": r"^(?=(a+)+b)(a*)*$"}, "a" * 5_000),
    "pattern that explodes when compiled": (
        {"pattern": r"((((a{1,100}){1,100}){1,100}){1,100})"},
        "a",
    ),
    "deep": (nested("not", 5_000), 1),
    "wide": ({"properties": {f"k{i}": {"type": "string"} for i in range(60_000)}}, {}),
    "long chain": (
        {
            "$ref": "#/$defs/0",
            "$defs": {str(i): {"$ref": f"#/$defs/{i + 1}"} for i in range(10_000)} | {"10000": {}},
        },
        1,
    ),
    "itself": ({"$ref": "#"}, 1),
    "circle": (
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        1,
    ),
    "deep value": (
        {"properties": {"a": {"$ref": "#"}}},
        json.loads('{"a":' * 900 + "1" + "}" * 900),
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_schema_is_decided_within_250_ms(name: str) -> None:
    schema, value = HOSTILE[name]
    gc.collect()  # the garbage of thousands of tests is not the schema's doing,
    started = time.thread_time()  # nor are other people's load and other threads
    try:
        decided = compile_schema(schema).accepts(value)
    except BadSchema:
        decided = False
    assert time.thread_time() - started < 0.25
    assert decided in (True, False)


def test_an_honest_recursive_schema_keeps_its_depth() -> None:
    tree = {
        "$ref": "#/$defs/n",
        "$defs": {"n": {"properties": {"kids": {"items": {"$ref": "#/$defs/n"}}}}},
    }
    compiled = compile_schema(tree)
    value: Json = {}
    for _ in range(60):
        value = {"kids": [value]}
    assert compiled.accepts(value)


def test_values_that_json_cannot_say_are_not_accepted() -> None:
    compiled = compile_schema({"type": "object"})
    assert not compiled.accepts({1: 2})
    assert not compiled.accepts(b"x")


def test_a_compiled_schema_is_shared_between_equal_tools() -> None:
    schema = {"type": "object", "properties": {"shared": {"type": "string"}}}
    assert compiled_for(Tool("a", input_schema=schema)) is compiled_for(
        Tool("b", input_schema=dict(schema))
    )


def test_of_a_tools_schema_what_is_no_schema_asserts_nothing() -> None:
    tool = Tool(
        "bad", input_schema={"properties": {"n": {"type": "integer"}, "x": {"type": "nope"}}}
    )
    for _ in range(2):
        compiled = compiled_for(tool)
        assert compiled.accepts({"n": 1, "x": 2})
        assert not compiled.accepts({"n": "1", "x": 2})
        assert [place.partition(":")[0] for place in compiled.unasserted] == ["#/properties/x/type"]


def test_nodes_walk_references_and_keys_with_slashes() -> None:
    compiled = compile_schema(
        {"properties": {"a/b": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "integer"}}}
    )
    node = compiled.root.property("a/b")
    assert node is not None
    assert node.pointer == "#/properties/a~1b"
    assert node.resolved().schema == {"type": "integer"}
    assert node.accepts(5)
    assert not node.accepts("5")


def test_compiling_needs_no_event_loop_or_network_module() -> None:
    code = (
        "import sys, callwright.repair; print([m for m in ('aiohttp','asyncio','numpy','ssl') if m"
        " in sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"


def test_a_value_deeper_than_can_be_checked_is_held_against_the_rest_of_the_schema() -> None:
    schema = {
        "properties": {"n": {"type": "integer"}, "a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}},
    }
    deep: Json = {"n": 1}
    for _ in range(60):
        deep = {"a": deep}
    compiled = compile_schema(schema)
    assert compiled.accepts({**deep, "n": 1})
    assert compiled.unasserted_of({**deep, "n": 1})
    assert not compiled.accepts({**deep, "n": "1"})
    assert not compiled.unasserted_of({"n": 1})


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": "(?=a)a*a*a*a*b"}, "a" * 1_000_000),
        ({"items": {"enum": [{"a": i} for i in range(4_000)]}}, [{"a": -1}] * 50_000),
        ({"items": {"anyOf": [{"minimum": i} for i in range(4_000)]}}, [-1] * 50_000),
    ],
    ids=[
        "a pattern that looks around",
        "options compared one by one",
        "alternatives of many items",
    ],
)
def test_checking_a_large_value_takes_a_bounded_time(schema: Json, value: Json) -> None:
    compiled = compile_schema(schema)
    started = time.process_time()
    compiled.accepts(value)
    assert time.process_time() - started < 1
    assert compiled.unasserted_of(value)
