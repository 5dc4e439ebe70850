from __future__ import annotations

import asyncio
from typing import Any

from callwright.http import Egress, HttpClient
from callwright.models.probe import Memory
from callwright.models.write_record import WriteRecord, WriteRecords
from callwright.proxy.server.budget import Budget
from callwright.proxy.server.capability import FREE, Capability
from callwright.proxy.session.events import Probed
from tests.proxy.playbook import JSON, call, whole
from tests.proxy.upstream import Asked, Reply, upstream


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


class Counting:
    """An upstream whose probes wait for ``go`` and are then refused, or answered where
    ``works``.
    """

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.works = False
        self.asked = 0

    async def __call__(self, asked: Asked) -> Reply:
        self.asked += 1
        await self.go.wait()
        if not self.works:
            return Reply([b"{}"], status=503, headers=JSON)
        said = '{"zq": "k7"}' if "response_format" in asked.json else "I would switch it on."
        return Reply([whole(said)], headers=JSON)


async def test_many_requests_wait_for_one_probe_and_none_of_them_for_long(tmp_path: Any) -> None:
    slow = Counting()
    async with upstream(slow) as up, HttpClient(Egress.any()) as client:
        capability = Capability(
            up.url, client, memory=tmp_path / "m.json", budget=Budget(probe_wait_seconds=0.05)
        )
        async with capability.running():
            async with asyncio.timeout(20), asyncio.TaskGroup() as group:
                waiting = [group.create_task(capability.of("m", ())) for _ in range(50)]
            assert {task.result() for task in waiting} == {FREE}
            assert slow.asked == 1, "the probe goes on"
            slow.works = True
            slow.go.set()
            async with asyncio.timeout(20):
                while await capability.of("m", ()) == FREE:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            assert await capability.of("m", ()) == Probed(native=False, schema=True)
    assert slow.asked == 2, "one probe is two questions"


async def test_a_probe_that_failed_is_repeated_after_ever_longer_pauses(tmp_path: Any) -> None:
    now, times = 0.0, []
    slow = Counting()
    slow.go.set()
    async with upstream(slow) as up, HttpClient(Egress.any()) as client:
        budget = Budget(probe_wait_seconds=20)
        capability = Capability(
            up.url, client, memory=tmp_path / "m.json", budget=budget, clock=lambda: now
        )
        async with capability.running():
            for _ in range(50):
                before = slow.asked
                assert await capability.of("m", ()) == FREE
                if slow.asked > before:
                    times.append(now)
                now += 10.0
            assert times == [0.0, 30.0, 90.0, 210.0, 450.0]
            before = slow.asked
            await capability.of("m", (("authorization", "Bearer another"),))
            assert slow.asked > before, "another client's key may do"
            slow.works, now = True, now + 10_000
            assert await capability.of("m", ()) == Probed(native=False, schema=True)


async def test_what_is_remembered_of_models_is_bounded() -> None:
    async with HttpClient(Egress.any()) as client:
        capability = Capability("http://127.0.0.1:9/v1", client)
        assert await capability.of("m" * 1_000, ()) == FREE
        for number in range(1_000):
            capability.learned(f"m{number}", True)
        assert (await capability.of("m999", ())).schema
        assert not (await capability.of("m0", ())).schema


async def test_probes_under_way_at_shutdown_are_given_up(tmp_path: Any) -> None:
    slow = Counting()
    async with upstream(slow) as up, HttpClient(Egress.any()) as client:
        capability = Capability(
            up.url, client, memory=tmp_path / "m.json", budget=Budget(probe_wait_seconds=0.01)
        )
        async with asyncio.timeout(20), capability.running():
            assert await capability.of("m", ()) == FREE


async def test_what_was_learned_counts() -> None:
    async with HttpClient(Egress.any()) as client:
        capability = Capability("http://127.0.0.1:9/v1", client)
        capability.learned("m", False)
        assert (await capability.of("m", ())).schema is False
        known = Capability("http://127.0.0.1:9/v1", client, known=Probed(False, True))
        assert await known.of("m", ()) == Probed(False, True)


async def test_what_is_on_record_goes_with_the_capabilities_and_is_read_without_a_question(
    tmp_path: Any,
) -> None:
    memory = tmp_path / "m.json"
    async with upstream(native) as up, HttpClient(Egress.any()) as client:
        capability = Capability(up.url, client, memory=memory)
        assert await capability.of("m", (), asks=False) == FREE
        WriteRecords(up.url, Memory(memory)).put("m", WriteRecord(28, 29, "2026-11-24"))
        assert (await capability.of("m", (), asks=False)).is_trusted
        assert not up.asked
        found = await capability.of("m", ())
        assert found == Probed(native=True, schema=False, is_trusted=True)
        assert not (await capability.of("other", (), asks=False)).is_trusted
        WriteRecords(up.url, Memory(memory)).put("m", WriteRecord(9, 29, "2026-11-25"))
        assert await capability.of("m", ()) == Probed(native=True, schema=False)
