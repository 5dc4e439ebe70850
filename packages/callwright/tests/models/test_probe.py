from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callwright.models.probe import Memory, capabilities_of
from callwright.nouns.errors import ModelError
from callwright.nouns.protocols import Capabilities


def saying(text: str, *calls: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": text, "tool_calls": list(calls)}}]}


LAMP = {"id": "1", "function": {"name": "switch_lamp", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("schema", "native", "mode"),
    [
        (saying('{"zq": "k7"}'), saying("ok"), "schema"),
        (saying("hello"), saying("", LAMP), "native"),
        (saying("hello"), saying("ok"), "text"),
        (None, None, "text"),
    ],
)
async def test_what_comes_back_decides_not_what_is_promised(
    schema: Any, native: Any, mode: str
) -> None:
    async def ask(body: dict[str, Any]) -> dict[str, Any]:
        answer = (
            schema if "response_format" in body else native if "tools" in body else saying("hello")
        )
        if answer is None:
            raise ModelError("no", status=400)
        return dict(answer)

    found = await capabilities_of(ask, 4096)
    assert (found.mode, found.context, found.origin) == (mode, 4096, "probed")


@pytest.mark.parametrize("status", [401, 429, None])
async def test_an_endpoint_that_cannot_be_asked_is_an_error_not_a_finding(
    status: int | None,
) -> None:
    async def ask(_: dict[str, Any]) -> dict[str, Any]:
        raise ModelError("no", status=status)

    with pytest.raises(ModelError):
        await capabilities_of(ask, 4096)


def test_what_was_found_is_remembered_and_a_broken_memory_only_forgets(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "deep" / "endpoints.json")
    assert memory.get("a", 1) is None
    memory.put("a", Capabilities(True, False))
    memory.put("b", Capabilities(False, True))
    assert memory.get("a", 99) == Capabilities(True, False, 99, "probed")
    memory.path.write_text("{broken")
    assert memory.get("a", 1) is None
    memory.put("a", Capabilities(True, True))
    assert memory.get("a", 1) == Capabilities(True, True, 1, "probed")
    memory.forget()
    assert memory.get("a", 1) is None
