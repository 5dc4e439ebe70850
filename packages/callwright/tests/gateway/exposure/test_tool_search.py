from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from callwright.gateway.exposure.meta_tools import Search
from callwright.gateway.exposure.tool_search import ToolSearch, open_search_encoder
from callwright.gateway.session.catalog import GatewayCatalog
from callwright.tools.evidence import compute_rate
from tests.gateway.exposure.offered import make_catalog

TOOLS = {
    "mail__send_mail": "Send a mail to somebody",
    "post__send_mail": "Send a mail to somebody",
    "weather__get_forecast": "The forecast of the weather at a place",
    "bank__transfer_money": "Transfer money to an account",
}


def offers(without: str = "", **changed: str) -> GatewayCatalog:
    rows = [(*name.split("__"), text) for name, text in (TOOLS | changed).items()]
    return make_catalog([(server, name, text) for server, name, text in rows if server != without])


def names(found: Sequence[Any]) -> list[str]:
    return [one.name for one in found]


def test_the_tool_that_fits_comes_first_with_its_definition() -> None:
    search = ToolSearch()
    search.update(offers())
    found = search.find(Search("what will the weather be tomorrow"))
    assert found[0].name == "weather__get_forecast"
    assert found[0].definition["inputSchema"] == {"type": "object"}
    assert found[0].note == ""


def test_a_tool_that_keeps_failing_comes_last_and_says_so() -> None:
    rates = {offers().offers["mail__send_mail"].tool.digest: compute_rate(0.0, 3.0)}
    search = ToolSearch(lambda: rates)
    search.update(offers())
    found = search.find(Search("send a mail"))
    assert names(found)[0] == "post__send_mail"
    assert names(found)[-1] == "mail__send_mail"
    assert "failed" in found[-1].note
    rates.clear()  # it works again, and nothing is known of it: the next search knows
    assert all(not one.note for one in search.find(Search("send a mail")))


def test_a_server_can_be_named() -> None:
    search = ToolSearch()
    search.update(offers())
    assert names(search.find(Search("send a mail", server="post"))) == ["post__send_mail"]
    assert search.find(Search("send a mail", server="nobody")) == []


def test_tools_that_are_gone_are_found_no_longer_and_changed_ones_anew() -> None:
    search = ToolSearch()
    search.update(offers())
    search.update(offers("mail", bank__transfer_money="Brew a pot of coffee"))
    assert "mail__send_mail" not in names(search.find(Search("send a mail")))
    assert names(search.find(Search("brew coffee")))[0] == "bank__transfer_money"
    assert len(search) == 3


class Meaning:
    """Vectors by hand: letters are near mails."""

    name, width = "by-hand", 2

    def encode(self, texts: Sequence[str]) -> Any:
        near = [("letter" in text.lower() or "mail" in text.lower()) for text in texts]
        return np.array([[1.0, 0.0] if is_near else [0.0, 1.0] for is_near in near], np.float32)


def test_vectors_are_used_once_they_are_made_and_not_for_other_tools() -> None:
    search = ToolSearch(encoder=Meaning())
    search.update(offers())
    assert not search.find(Search("dispatch letter"))
    search.encode()
    assert names(search.find(Search("dispatch letter")))[0] == "mail__send_mail"
    search.update(offers(bank__transfer_money="Dispatch a letter"))
    assert names(search.find(Search("letter"))) == ["bank__transfer_money"]
    search.encode()
    found = names(search.find(Search("letter")))
    assert set(found) >= {"bank__transfer_money", "mail__send_mail"}


def test_without_weights_at_hand_nothing_is_fetched(monkeypatch: Any, tmp_path: Any) -> None:
    monkeypatch.setenv("CALLWRIGHT_CACHE", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CALLWRIGHT_WEIGHTS", raising=False)
    assert open_search_encoder() is None
