from __future__ import annotations

from typing import Any

import pytest

from callwright.proxy.counters import Counters
from callwright.proxy.pages import pages
from callwright.proxy.record import Record


async def got(path: str) -> tuple[int, bytes]:
    counters = Counters(5)
    counters.add(Record("r1", "/v1/messages"))
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b"", "root_path": ""}
    await pages(counters, "http://h/v1")(scope, receive, send)
    return sent[0]["status"], b"".join(m.get("body", b"") for m in sent[1:])


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/healthz", b'"status":"ok"'),
        ("/metrics", b"callwright_requests_total"),
        ("/callwright", b"r1"),
        ("/callwright/requests.json", b'"id":"r1"'),
    ],
)
async def test_each_page_says_what_it_is_for(path: str, said: bytes) -> None:
    status, body = await got(path)
    assert status == 200
    assert said in body
