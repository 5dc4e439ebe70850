"""What the client is sent: heads, pieces, errors in its own API, and the end."""

from __future__ import annotations

import json

from callwright.nouns.errors import Failure
from callwright.proxy.apis.adapters import FRONTS
from callwright.proxy.session.events import Finish, Log, SendBody, SendHead, UpstreamHead
from callwright.proxy.session.phases.transaction import Transaction
from callwright.proxy.session.record import Record
from callwright.proxy.session.settings import Settings

LENGTH = ("content-length", "9")


def begun() -> Transaction:
    return Transaction(record=Record("t1", ""), settings=Settings())


def test_a_length_holds_only_where_the_body_passes_as_it_came() -> None:
    head = UpstreamHead(200, dict([LENGTH]), ("a=1", "b=2"))
    cookies = (("set-cookie", "a=1"), ("set-cookie", "b=2"))
    for is_unchanged, headers in ((True, (LENGTH, *cookies)), (False, cookies)):
        made = begun()
        made.send_head(head, is_unchanged=is_unchanged)
        assert made.commands == [SendHead(200, headers)]
        assert made.progress.head_sent


def test_a_failure_before_the_head_is_an_error_of_the_clients_api() -> None:
    made = begun()
    made.front = FRONTS["/v1/messages"]
    made.fail(Failure("timeout", "too late"))
    head, body, *rest = made.commands
    assert isinstance(head, SendHead)
    assert isinstance(body, SendBody)
    assert head.status == 504
    assert json.loads(body.data)["type"] == "error"
    assert rest == [Finish(), Log(made.record)]


def test_a_failure_within_a_body_shows_that_it_broke_off() -> None:
    made = begun()
    made.progress.head_sent = True
    made.fail(Failure("unavailable", "gone"))
    assert made.commands == [Finish(broken=True), Log(made.record)]
    made = begun()
    made.progress.head_sent = made.stream = True
    made.fail(Failure("unavailable", "gone"))
    assert b"gone" in b"".join(c.data for c in made.commands if isinstance(c, SendBody))
    assert made.commands[-1] == Finish()
