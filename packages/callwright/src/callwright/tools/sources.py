"""Resolves the places of tools that a user may name into tool sources."""

from __future__ import annotations

import codecs
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from callwright.nouns.errors import CatalogError
from callwright.nouns.protocols import ToolSource
from callwright.nouns.types import Tool
from callwright.tools.lists.json_document import BrokenDocument, json_value, read_bytes
from callwright.tools.lists.source import ListSource
from callwright.tools.lists.tool_documents import (
    DocumentFormat,
    format_of_document,
    registered_formats,
)
from callwright.tools.overlay import Overlay, is_overlay
from callwright.tools.overlays import OverlaySource
from callwright.tools.python.functions import FunctionSource, functions_of
from callwright.tools.python.modules import get_attribute, load_file, load_module
from callwright.tools.servers import HINT as SERVER_FORMS
from callwright.tools.trust import digest_of, normalize_location

if TYPE_CHECKING:
    from callwright.tools.openapi.source import OpenAPIOptions


SourceSpec: TypeAlias = (
    "str | Path | ModuleType | Tool | ToolSource | Callable[..., Any] | Mapping[str, Any]"
)

FORMS = """a tool source is one of
  pkg.module or pkg.module:attr        Python functions: those in TOOLS, or marked with @tool, or all public ones
  file.py or file.py:attr              the same, from a file
  folder                               holding tools.py, mcp.json, tools.json, openapi.json/.yaml, or
                                       tool documents in a registered format
  file.json, file.yaml                 an OpenAPI or Swagger 2.0 document, an mcpServers configuration, a list
                                       of tools (OpenAI, Anthropic, MCP …), a document in a registered format, or an
                                       overlay of verify apis, which says more of the tools of the other sources
  https://…                            an OpenAPI or Swagger 2.0 document
  …?base_url=…&include=…&allow=…       options behind an OpenAPI document, percent-encoded: base_url, server, name,
                                       timeout; include, exclude, allow, files, credential=scheme:VARIABLE and
                                       variable=name:value may be repeated. A URL's own query stands before
                                       another "?": https://host/doc?v=2?include=tag:pets
  mcp+https://…, mcp+http://…          an MCP server (streamable HTTP)
  in Python also: a function, a module, a Tool, a ToolSource, a description as a dict"""

_MODULE = re.compile(r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(:[A-Za-z_][\w.]*)?$")
_OPTION_KEYS = (
    "base_url",
    "server",
    "name",
    "timeout",
    "include",
    "exclude",
    "allow",
    "credential",
    "variable",
    "files",
)
_LISTS = ("include", "exclude", "allow", "files")
_TABLES = {"credential": "credentials", "variable": "server_variables"}
_FOLDER_FILES = (
    "tools.py",
    "mcp.json",
    "tools.json",
    "openapi.json",
    "openapi.yaml",
    "openapi.yml",
)
_DOCUMENTS = (".json", ".jsonl", ".yaml", ".yml")


def sources_of(spec: SourceSpec) -> list[ToolSource]:
    """The tool sources that one spec names, not yet opened. Raises CatalogError with the forms that
    exist.
    """
    if isinstance(spec, str):
        return _of_text(spec.strip())
    if isinstance(spec, Path):
        return _of_path(spec, str(spec))
    if isinstance(spec, ModuleType):
        return _of_module(spec, spec.__name__)
    return _of_object(spec, "")


def _of_text(spec: str) -> list[ToolSource]:
    if spec.startswith(("mcp+http://", "mcp+https://")):
        from callwright.tools.mcp.source import MCPSource

        return [MCPSource.http(spec.removeprefix("mcp+"))]
    if spec.startswith(("http://", "https://")):
        url, _, options = spec.rpartition("?") if "?" in spec else (spec, "", "")
        return [_open_openapi(url, _openapi_options(options, url))]
    if "?" in spec and not Path(spec).expanduser().exists():
        return _of_file_with_options(spec)
    path, colon, name = spec.rpartition(":")
    if colon and path.endswith(".py"):
        return _of_object(
            get_attribute(load_file(_require_file(path)), name, spec), Path(path).stem
        )
    if Path(spec).expanduser().exists():
        return _of_path(Path(spec).expanduser(), spec)
    if _MODULE.match(spec) and not spec.endswith((*_DOCUMENTS, ".py")):
        return _of_module_name(spec)
    if spec.endswith((*_DOCUMENTS, ".py")) or "/" in spec:
        raise CatalogError(f"there is no {spec!r}", hint=_make_path_hint())
    raise CatalogError(f"{spec!r} is no tool source", hint=FORMS)


def _of_file_with_options(spec: str) -> list[ToolSource]:
    path, _, options = spec.rpartition("?")
    source, *others = _of_path(_require_file(path), path)
    if others or not _is_openapi(source):
        raise CatalogError(
            f"{path!r} is no OpenAPI document, and only those take options behind a '?'", hint=FORMS
        )
    return [_open_openapi(_require_file(path), _openapi_options(options, path))]


def _openapi_options(text: str, document: str) -> OpenAPIOptions:
    """Return the options behind the ``?`` of a spec, for OpenAPISource. ``+`` is read as a plus
    sign."""
    from callwright.tools.openapi.source import OpenAPIOptions

    given: dict[str, Any] = {}
    document = document.partition("?")[0]  # its own query may hold secrets
    for part in filter(None, text.split("&")):
        key, equals, raw = part.partition("=")
        value = unquote(raw)
        if key not in _OPTION_KEYS or not equals or not value:
            said = f"{key!r} has no value" if key in _OPTION_KEYS else f"there is no option {key!r}"
            hint = (
                f"the options are {', '.join(_OPTION_KEYS)}; behind a URL's own query stands"
                " another '?'"
            )
            raise CatalogError(f"{document!r}: {said}", hint=hint)
        if key in _LISTS:
            given.setdefault(key, []).append(value)
        elif key in _TABLES:
            name, colon, inner = value.partition(":")
            if not (name and colon and inner):
                raise CatalogError(f"{document!r}: {key} must be name:value")
            given.setdefault(_TABLES[key], {})[name] = inner
        elif key in given:
            raise CatalogError(f"{document!r}: the option {key!r} stands there twice")
        else:
            given[key] = _parse_option(key, value, document)
    return OpenAPIOptions(**given)


def _parse_option(key: str, value: str, document: str) -> str | int | float:
    if key == "server" and value.isdecimal():
        return int(value)
    if key != "timeout":
        return value
    if not re.fullmatch(r"\d{1,6}(\.\d{1,3})?", value) or float(value) == 0:
        raise CatalogError(f"{document!r}: timeout must be a number of seconds, not {value!r}")
    return float(value)


def _make_path_hint() -> str:
    return f"is it written right? It was looked for from {Path.cwd()}"


def _require_file(path: str) -> Path:
    found = Path(path).expanduser()
    if not found.is_file():
        raise CatalogError(f"there is no file {path!r}", hint=_make_path_hint())
    return found


def _of_module_name(spec: str) -> list[ToolSource]:
    name, _, inner = spec.partition(":")
    try:
        module = load_module(name)
    except CatalogError as error:
        cause = error.__cause__
        if isinstance(cause, ModuleNotFoundError) and cause.name == name.partition(".")[0]:
            raise CatalogError(
                f"{spec!r} is neither a file nor a module that can be imported", hint=FORMS
            ) from None
        raise
    short = name.rpartition(".")[2]
    return (
        _of_object(get_attribute(module, inner, spec), short)
        if inner
        else _of_module(module, short)
    )


def _of_path(path: Path, spec: str) -> list[ToolSource]:
    if path.is_dir():
        found = [
            source
            for name in _FOLDER_FILES
            if (path / name).exists()
            for source in _of_path(path / name, spec)
        ]
        if not found and (form := _format_of_folder(path)):
            return [form.read_folder(path)]
        if not found:
            raise CatalogError(
                f"the folder {spec!r} holds none of {', '.join(_FOLDER_FILES)}", hint=FORMS
            )
        return found
    if path.suffix == ".py":
        name = path.parent.resolve().name if path.name == "tools.py" else path.stem
        return _of_module(load_file(path), name)
    if path.suffix not in _DOCUMENTS:
        raise CatalogError(f"{spec!r} is no document of tools", hint=FORMS)
    return _of_document(path)


def _format_of_folder(folder: Path) -> DocumentFormat | None:
    """The registered format of the first JSON files in a folder or in its subfolders; None if they
    are in none.
    """
    files = (path for pattern in ("*.json", "*/*.json") for path in sorted(folder.glob(pattern)))
    for path in islice(files, 5):
        try:
            if form := format_of_document(_read_json(path), registered_formats()):
                return form
        except CatalogError:  # not JSON: the source itself will say so
            continue
    return None


def _of_document(path: Path) -> list[ToolSource]:
    if path.suffix in (".yaml", ".yml"):
        return [_open_openapi(path)]
    raw = _read_json(path)
    if is_overlay(raw):
        return [OverlaySource(Overlay.of_json(raw, path.name))]
    try:
        return _of_json(raw, path)
    except CatalogError as error:
        raise BrokenDocument(f"{path}: {error.message}", hint=error.hint) from None


def _of_json(raw: Any, path: Path) -> list[ToolSource]:
    if isinstance(raw, Mapping):
        if "openapi" in raw or "swagger" in raw:
            return [_open_openapi(path)]
        servers = raw.get("mcpServers", raw.get("servers"))
        if isinstance(servers, Mapping):
            from callwright.tools.mcp.source import sources_from_config

            file = (normalize_location(path), digest_of(dict(raw)))
            return list(sources_from_config(servers, folder=path.parent, file=file))
        if "mcpServers" in raw:
            raise CatalogError("mcpServers must be an object of servers by name", hint=SERVER_FORMS)
        if form := format_of_document(raw, registered_formats()):
            return [form.read_document(raw, path.stem)]
    return [ListSource.read(raw, name=path.stem)]


def _read_json(path: Path) -> Any:
    text = read_bytes(path).removeprefix(codecs.BOM_UTF8)
    if path.suffix != ".jsonl":
        return json_value(text, str(path))
    lines = enumerate(text.split(b"\n"), 1)
    return [json_value(line, f"{path}, line {number},") for number, line in lines if line.strip()]


def _open_openapi(document: str | Path, options: OpenAPIOptions | None = None) -> ToolSource:
    from callwright.tools.openapi.source import OpenAPISource

    source: ToolSource = OpenAPISource(document, options)
    return source


def _is_openapi(source: ToolSource) -> bool:
    from callwright.tools.openapi.source import OpenAPISource

    return isinstance(source, OpenAPISource)


def _of_module(module: ModuleType, name: str) -> list[ToolSource]:
    listed = getattr(module, "TOOLS", None)
    if isinstance(listed, Sequence) and listed:
        return _of_object(listed, name)
    functions = functions_of(module)
    if not functions:
        raise CatalogError(
            f"{name}: the module holds no tool",
            hint="mark functions with @tool, or list them in TOOLS",
        )
    return [FunctionSource(functions, name=name)]


def _of_object(value: Any, name: str) -> list[ToolSource]:
    if isinstance(value, Overlay):
        return [OverlaySource(value)]
    if isinstance(value, Tool):
        return [ListSource([value], name=value.source or "list")]
    if _is_source(value):
        return [value]
    if isinstance(value, ModuleType):
        return _of_module(value, value.__name__.rpartition(".")[2])
    if isinstance(value, str | Path):
        return sources_of(value)
    if isinstance(value, Mapping) or (
        isinstance(value, Sequence) and value and isinstance(value[0], Mapping)
    ):
        return [ListSource.read(value, name=name or "list")]
    if isinstance(value, Sequence):
        functions = [item for item in value if _is_function(item)]
        others = [
            source for item in value if not _is_function(item) for source in _of_object(item, name)
        ]
        return [
            *(
                [FunctionSource(functions, name=name or _get_module_name(functions[0]))]
                if functions
                else []
            ),
            *others,
        ]
    if callable(value):
        return [FunctionSource([value], name=name or _get_module_name(value))]
    raise CatalogError(f"a {type(value).__name__} is no tool source", hint=FORMS)


def _get_module_name(function: Any) -> str:
    """The module a function stands in, as the name of its source; of a partial, its function's."""
    while isinstance(function, partial):
        function = function.func
    module = inspect.getmodule(function)
    name = getattr(module, "__name__", "") or getattr(function, "__module__", "") or "python"
    return "python" if name == "__main__" else name.rpartition(".")[2]


def _is_function(value: Any) -> bool:
    return callable(value) and not _is_source(value) and not isinstance(value, Tool | ModuleType)


def _is_source(value: Any) -> bool:
    return not isinstance(value, type) and all(
        callable(getattr(value, m, None)) for m in ("open", "call", "aclose")
    )
