"""Parameters that are left to the caller: behind partials, and with pydantic's defaults."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import pytest
from pydantic import Field

from callwright.nouns.errors import CatalogError
from callwright.tools.python.shapes import NOTHING
from callwright.tools.python.signatures import (
    add_fields,
    get_default,
    is_field,
    make_default,
    read_signature,
    skip_partials,
)


def send(tenant: str, text: str, *more: str, api_key: str = "none", **headers: str) -> str:
    return f"{tenant} {text} {more} {api_key} {headers}"


def wrap(function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def renamed(part: Any) -> Any:
    return functools.update_wrapper(part, send)


@pytest.mark.parametrize(
    ("function", "left", "bound"),
    [
        (send, ["tenant", "text", "more", "api_key", "headers"], {}),
        (
            functools.partial(send, "acme"),
            ["text", "more", "api_key", "headers"],
            {"tenant": "acme"},
        ),
        (
            functools.partial(send, api_key="k", lang="de"),
            ["tenant", "text", "more", "headers"],
            {"api_key": "k", "lang": "de"},
        ),
        (functools.partial(send, text="hi"), ["tenant", "api_key", "headers"], {"text": "hi"}),
        (
            functools.partial(renamed(functools.partial(send, api_key="k")), "acme", api_key="l"),
            ["text", "more", "headers"],
            {"tenant": "acme", "api_key": "l"},
        ),
        (
            wrap(functools.partial(wrap(send), "acme")),
            ["text", "more", "api_key", "headers"],
            {"tenant": "acme"},
        ),
    ],
)
def test_what_partials_bind_is_no_parameter(
    function: Any, left: list[str], bound: dict[str, Any]
) -> None:
    signature, found = read_signature(function)
    assert (list(signature.parameters), found) == (left, bound)


def test_a_partial_that_cannot_be_called_is_refused() -> None:
    def one(a: int) -> int:
        return a

    with pytest.raises(CatalogError, match="signature cannot be read"):
        read_signature(functools.partial(one, 1, 2))  # type: ignore[call-arg]
    with pytest.raises(CatalogError, match="signature cannot be read"):
        read_signature(dict.update)


def test_the_first_partial_with_a_name_of_its_own_counts() -> None:
    inner = functools.partial(send, "acme")
    assert skip_partials(functools.partial(inner, text="hi")) is send
    inner.__name__ = "send_to_acme"  # type: ignore[attr-defined]
    assert skip_partials(functools.partial(inner, text="hi"), "__name__") is inner


def test_fields_as_defaults_are_read_as_pydantic_reads_them() -> None:
    def f(
        a: str = Field(description="a"),
        b: list[int] = Field(default_factory=list),
        c: int = Field(3, ge=1),
        d: int = 4,
    ) -> None: ...

    signature = inspect.signature(f)
    a, b, c, d = signature.parameters.values()
    assert [is_field(p.default) for p in (a, b, c, d)] == [True, True, True, False]
    assert [get_default(p) for p in (a, b, c, d)] == [a.empty, NOTHING, 3, 4]
    assert [make_default(p) for p in (a, b, c, d)] == [a.empty, [], 3, 4]
    assert make_default(b) is not make_default(b)
    hints = add_fields(signature, {"c": int, "d": int})
    assert hints["c"].__metadata__ == (c.default,)
    assert hints["d"] is int
