"""Python files and modules -> the functions, tools and sources they hold."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from callwright.nouns.errors import CatalogError


def load_file(path: Path) -> ModuleType:
    """Run a Python file as a module of its own. Its folder can be imported from meanwhile."""
    path = path.resolve()
    name = f"_callwright_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CatalogError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # annotations are resolved through sys.modules
    try:
        with _prepend_import_path(path.parent):
            spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise _build_import_error(str(path), error) from error
    return module


def load_module(name: str) -> ModuleType:
    """Import a module, the working directory included. Raises CatalogError naming what is
    missing.
    """
    try:
        with _prepend_import_path(Path.cwd()):
            return importlib.import_module(name)
    except Exception as error:
        raise _build_import_error(name, error) from error


def get_attribute(module: ModuleType, path: str, spec: str) -> Any:
    """``module.a.b`` for ``path`` "a.b"."""
    found: Any = module
    for part in path.split("."):
        if not hasattr(found, part):
            names = ", ".join(n for n in vars(module) if not n.startswith("_"))
            raise CatalogError(f"{spec}: there is no {path!r}", hint=f"it holds: {names[:300]}")
        found = getattr(found, part)
    return found


def _build_import_error(what: str, error: Exception) -> CatalogError:
    if isinstance(error, CatalogError):
        return error
    missing = isinstance(error, ModuleNotFoundError)
    hint = f"fix it there: {_find_error_place(error)}"
    if missing and isinstance(error, ImportError):
        hint = f"pip install the package that holds {error.name!r}"
    return CatalogError(f"{what} cannot be imported: {type(error).__name__}: {error}", hint=hint)


def _find_error_place(error: Exception) -> str:
    """The file and the line that an import stopped at."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}"
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{last.filename}, line {last.lineno}"


@contextmanager
def _prepend_import_path(folder: Path) -> Iterator[None]:
    """``folder`` first on the import path, for the length of the block."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))
