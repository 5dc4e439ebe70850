from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.errors import CatalogError
from callwright.tools.openapi.document import (
    Notation,
    Unusable,
    clean_value,
    document_from_text,
    document_of,
    notation_of,
    read_file,
)

YAML = """
openapi: 3.0.3
info: {title: T, version: 2020-01-01}
paths:
  /a:
    get:
      responses:
        200: {description: ok}
    x-other: 1
"""


def test_yaml_reads_as_json_would() -> None:
    document = document_from_text(YAML, "test")
    assert document.root["info"]["version"] == "2020-01-01"
    assert [(m, p) for m, p, _, _ in document.operations()] == [("get", "/a")]
    assert list(document.root["paths"]["/a"]["get"]["responses"]) == ["200"]


def test_openapi_3_2_has_a_query_and_operations_of_other_methods() -> None:
    text = """
openapi: 3.2.0
paths:
  /a:
    query: {operationId: search}
    additionalOperations: {PURGE: {operationId: purge}}
"""
    found = [(m, o["operationId"]) for m, _, _, o in document_from_text(text, "test").operations()]
    assert found == [("query", "search"), ("purge", "purge")]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no OpenAPI document"),
        ("[]", "holds no OpenAPI document"),
        ("{", "is not JSON"),
        ("a: b: c", "neither JSON nor YAML"),
        ("swagger: '2.0'\npaths: {}", "Swagger 2.0"),
        ("openapi: 3.3.0\npaths: {}", "OpenAPI 3.3.0"),
        ("paths: {}", "no version"),
        ("openapi: 3.0.0", "no paths"),
        ("!!python/object/apply:os.system [id]", "neither JSON nor YAML"),
    ],
)
def test_what_is_no_openapi_document_is_refused_saying_what_it_is(text: str, says: str) -> None:
    with pytest.raises(CatalogError, match=says):
        document_from_text(text, "test")


@pytest.mark.parametrize("notation", ["json", "yaml", ""])
@pytest.mark.parametrize(
    "text",
    [
        "openapi: 3.0.0\npaths: {}\nx: " + "[" * 100_000 + "]" * 100_000,
        "openapi: 3.0.0\npaths: {}\nx:\n" + "".join(" " * n + "a:\n" for n in range(1, 1_500)),
        "openapi: 3.0.0\npaths: {}\nx:\n  " + "- " * 50_000,
        '{"openapi":"3.0.0","paths":{},"x":' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"openapi":"3.0.0","paths":{},"x":' + "[" * 500 + "]" * 500 + "}",
        "[" * 100_000,
        "{" * 100_000,
    ],
)
def test_no_depth_ends_the_process(text: str, notation: Notation) -> None:
    start = time.process_time()
    with pytest.raises(CatalogError) as error:
        document_from_text(text, "test", notation)
    assert len(error.value.message) < 500
    assert time.process_time() - start < 2


def test_text_that_is_broken_json_is_not_read_as_yaml() -> None:
    text = '{"openapi": "3.0.0", "paths": {},}'
    for notation in ("json", ""):
        with pytest.raises(CatalogError, match="is not JSON"):
            document_from_text(text, "test", notation)
    assert document_from_text(text, "test", "yaml").root["paths"] == {}
    with pytest.raises(CatalogError, match="is not JSON"):
        document_from_text("openapi: 3.0.0", "test", "json")


@pytest.mark.parametrize(
    ("name", "content_type", "notation"),
    [
        ("a.JSON", "", "json"),
        ("a.yml", "", "yaml"),
        ("a.yaml", "application/json; charset=utf-8", "json"),
        ("a", "application/vnd.oai.openapi+json", "json"),
        ("a", "application/x-yaml", "yaml"),
        ("a", "text/plain", ""),
    ],
)
def test_a_name_or_a_content_type_states_the_notation(
    name: str, content_type: str, notation: str
) -> None:
    assert notation_of(name, content_type) == notation


def test_yaml_that_unfolds_without_end_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(CatalogError, match="too large"):
        document_from_text("openapi: 3.0.0\npaths: {}\n" + "\n".join(lines), "bomb")


def test_merge_keys_that_unfold_without_end_are_refused_at_once() -> None:
    lines = ["m0: &m0 {a: 1, b: 2}"]
    lines += [
        f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}], k{n}: 1}}" for n in range(1, 40)
    ]
    start = time.process_time()
    with pytest.raises(CatalogError, match=r"too large: .* aliases and merge keys"):
        document_from_text("openapi: 3.0.0\npaths: {}\n" + "\n".join(lines), "bomb")
    assert time.process_time() - start < 1


def test_a_document_that_holds_itself_is_refused() -> None:
    root: dict[str, Any] = {"openapi": "3.0.0", "paths": {}}
    root["x"] = root
    with pytest.raises(CatalogError, match="too large"):
        clean_value(root)


def test_references_resolve_with_their_escapes_and_never_leave() -> None:
    document = document_of(
        {"openapi": "3.0.0", "paths": {"/a/{b}": {"get": {"x": 1}}}, "l": [5]}, "test"
    )
    assert document.lookup("#/paths/~1a~1{b}/get") == {"x": 1}
    assert document.lookup("#/l/0") == 5
    for reference in ("file:///etc/passwd", "http://127.0.0.1/", "x.json#/a", "#/l/9", "#/none"):
        with pytest.raises(Unusable):
            document.lookup(reference)


def test_a_reference_in_a_circle_is_refused() -> None:
    document = document_of(
        {"openapi": "3.0.0", "paths": {}, "a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}}, "test"
    )
    with pytest.raises(Unusable, match="leads back"):
        document.resolved({"$ref": "#/a"})


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="nowhere"):
        read_file(tmp_path / "nowhere.json")
    (tmp_path / "b.json").write_bytes(b"\xff\xfe")
    with pytest.raises(CatalogError, match="UTF-8"):
        read_file(tmp_path / "b.json")
