"""Signatures of functions as a caller may still fill them.

What ``functools.partial`` binds is no parameter any more: it stands in no schema, and no caller
replaces it. A default of pydantic's ``Field`` is read as ``Annotated[T, Field(…)]`` is.
"""

from __future__ import annotations

import functools
import inspect
from typing import Annotated, Any

from callwright.nouns.errors import CatalogError
from callwright.tools.python.shapes import NOTHING


def skip_partials(function: Any, attribute: str = "") -> Any:
    """The function behind partials, or the first partial that has an attribute of its own."""
    while isinstance(function, functools.partial) and attribute not in vars(function):
        function = function.func
    return function


def read_signature(function: Any) -> tuple[inspect.Signature, dict[str, Any]]:
    """The parameters that may still be given, and the arguments that partials bind, by name.
    Raises CatalogError where there is no signature.
    """
    try:
        base, args, keywords = _collect_bound(function)
        whole = inspect.signature(base)
        if not args and not keywords:
            return whole, {}
        left = inspect.signature(functools.partial(base, *args, **keywords))
    except (ValueError, TypeError) as error:
        raise CatalogError(
            f"its signature cannot be read: {error}", hint="wrap it in a Python function"
        ) from None
    placed = [p.name for p in whole.parameters.values() if p.kind < p.VAR_POSITIONAL]
    open_ = [p for p in left.parameters.values() if p.name not in keywords]
    return left.replace(parameters=open_), dict(zip(placed, args, strict=False)) | keywords


def _collect_bound(function: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The function behind all partials, also those that a wrapper wraps, and what they bind."""
    args: tuple[Any, ...] = ()
    keywords: dict[str, Any] = {}
    while isinstance(inner := inspect.unwrap(function, stop=_ends_chain), functools.partial):
        args, keywords, function = inner.args + args, inner.keywords | keywords, inner.func
    return function, args, keywords


def _ends_chain(function: Any) -> bool:
    """A partial's ``__wrapped__`` knows nothing of what the partial binds."""
    return isinstance(function, functools.partial) or hasattr(function, "__signature__")


def is_field(default: Any) -> bool:
    """Return True if a default is pydantic's ``Field(…)``. Its class is known by its shape."""
    return hasattr(default, "is_required") and hasattr(default, "get_default")


def get_default(parameter: inspect.Parameter) -> Any:
    """The default that a schema may state: ``empty`` for what is required, ``NOTHING`` for what is
    made anew for each call.
    """
    default = parameter.default
    if not is_field(default):
        return default
    if default.is_required():
        return parameter.empty
    return NOTHING if default.default_factory is not None else default.default


def make_default(parameter: inspect.Parameter) -> Any:
    """The value that a call has for a parameter that is not given; ``empty`` if it needs one."""
    default = parameter.default
    if not is_field(default) or default.is_required():
        return get_default(parameter)
    return default.get_default(call_default_factory=True)


def add_fields(signature: inspect.Signature, hints: dict[str, Any]) -> dict[str, Any]:
    """The hints, with each ``Field`` that stands as a default in the hint of its parameter."""
    annotated: Any = Annotated
    return hints | {
        p.name: annotated[hints.get(p.name, Any), p.default]
        for p in signature.parameters.values()
        if is_field(p.default)
    }
