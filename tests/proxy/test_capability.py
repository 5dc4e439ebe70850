from __future__ import annotations

from typing import Any

from tests.proxy.playbook import JSON, call, whole
from tests.proxy.upstream import Asked, Reply, upstream

from callwright.http import Egress, HttpClient
from callwright.proxy.capability import FREE, Capability
from callwright.proxy.events import Probed


def native(asked: Asked) -> Reply:
    calls = [call("switch_lamp", {"on": True})] if "tools" in asked.json else []
    return Reply([whole("hello", calls)], headers=JSON)


async def test_an_upstream_is_probed_once_with_the_clients_key(tmp_path: Any) -> None:
    async with upstream(native) as up, HttpClient(Egress.any()) as client:
        capability = Capability(up.url, client, memory=tmp_path / "m.json")
        headers = (("authorization", "Bearer sk-1"),)
        assert await capability.of("m", headers) == Probed(native=True, schema=False)
        count = len(up.asked)
        await capability.of("m", headers)
        assert len(up.asked) == count
    assert {a.headers["authorization"] for a in up.asked} == {"Bearer sk-1"}


async def test_an_upstream_that_cannot_be_asked_is_used_as_it_is(tmp_path: Any) -> None:
    async with HttpClient(Egress.any()) as client:
        capability = Capability("http://127.0.0.1:9/v1", client, memory=tmp_path / "m.json")
        assert await capability.of("m", ()) == FREE


async def test_what_was_learned_counts() -> None:
    async with HttpClient(Egress.any()) as client:
        capability = Capability("http://127.0.0.1:9/v1", client)
        capability.learned("m", False)
        assert (await capability.of("m", ())).schema is False
        known = Capability("http://127.0.0.1:9/v1", client, known=Probed(False, True))
        assert await known.of("m", ()) == Probed(False, True)


async def test_a_call_left_in_the_text_is_seen_and_words_or_a_refusal_are_not(tmp_path: Any) -> None:
    written = '{"name": "switch_lamp", "arguments": {"on": true}}'
    for number, (said, expected) in enumerate(((written, True), ("I would switch it on.", False), ("", False))):

        def answer(asked: Asked, said: str = said) -> Reply:
            if "response_format" in asked.json:
                return Reply([whole('{"zq": "k7"}')], headers=JSON)
            if "tools" in asked.json and not said:
                return Reply([b"{}"], status=400, headers=JSON)
            return Reply([whole(said)], headers=JSON)

        async with upstream(answer) as up, HttpClient(Egress.any()) as client:
            found = await Capability(up.url, client, memory=tmp_path / f"{number}.json").of("m", ())
        assert found == Probed(native=False, schema=True, written=expected)
