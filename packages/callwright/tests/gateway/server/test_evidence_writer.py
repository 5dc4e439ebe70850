from __future__ import annotations

from pathlib import Path

from callwright.gateway.server.evidence_writer import EvidenceWriter
from callwright.gateway.session.call import CallEnd
from callwright.gateway.session.commands import Failed, Rejected, Returned, Told
from callwright.gateway.session.record import CallRecord
from callwright.nouns.errors import Failure
from callwright.nouns.types import JsonObject
from callwright.tools.evidence import EvidenceStore
from tests.gateway.session.offers import catalog

SUN: JsonObject = {"content": [{"type": "text", "text": "sun in Oslo"}]}


def end(number: int, told: Told) -> tuple[CallRecord, CallEnd]:
    (offer,) = catalog()
    record = CallRecord(str(number), offer.exposed, {}, sent={"city": "Oslo"})
    answer: JsonObject = told.result if isinstance(told, Returned) else {}
    return record, CallEnd(answer, record, offer, told)


async def test_what_calls_show_of_a_tool_is_kept_under_its_digest(tmp_path: Path) -> None:
    (offer,) = catalog()
    said: list[str] = []
    with EvidenceStore(tmp_path / "evidence.db") as store:
        writer = EvidenceWriter(store, said.append)
        writer.note(*end(1, Returned(SUN)))
        writer.note(*end(2, Failed(Failure("unavailable", "it is down"))))
        writer.note(*end(3, Rejected(-32602, "no")))
        writer.note(*end(4, Returned({"content": "no list"})))
        writer.note(CallRecord("5", "x", {}), None)
        await writer.flush()
        await writer.flush()
        health = store.health(offer.tool.digest)
    assert dict(health.counts or {}) == {"functional_success": 1, "execution_failure": 1}
    assert said == []


async def test_a_file_that_cannot_be_written_ends_nothing_and_is_said_once(tmp_path: Path) -> None:
    said: list[str] = []
    store = EvidenceStore(tmp_path / "evidence.db")
    writer = EvidenceWriter(store, said.append)
    with store:
        pass
    for number in range(2):
        writer.note(*end(number, Returned(SUN)))
        await writer.flush()
    assert len(said) == 1
    assert "nothing is learned" in said[0]
