"""The endpoints that the rows of a way ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.acebench.asking import DIRECT, PROXY, RAW
from callwright_lab.benchmarks.acebench.endpoints import Upstreams, open_endpoint, start_proxy
from tests.cli.endpoint import replying


async def test_raw_and_direct_rows_ask_the_upstream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLWRIGHT_API_KEY", "sk-test")
    told = Upstreams("http://127.0.0.1:1/v1", "m", proxy="http://127.0.0.1:2/v1")
    for way in (RAW, DIRECT):
        async with open_endpoint(way, told) as found:
            assert (found.url, found.key) == ("http://127.0.0.1:1/v1", "sk-test")
    async with open_endpoint(PROXY, told) as found:
        assert (found.url, found.key) == ("http://127.0.0.1:2/v1", "sk-test")
    monkeypatch.setenv("CALLWRIGHT_PROXY_KEY", "sk-proxy")
    async with open_endpoint(PROXY, told) as found:
        assert found.key == "sk-proxy"


def test_a_proxy_is_started_and_ended(tmp_path: Path) -> None:
    with replying(lambda asked: "hello") as url:
        log = tmp_path / "proxy.log"
        with start_proxy(Upstreams(url, "m", log=log)) as found:
            assert found.startswith("http://localhost:")
            assert found.endswith("/v1")
    assert "page:" in log.read_text()


def test_why_a_proxy_does_not_start_is_told() -> None:
    told = Upstreams("http://127.0.0.1:1/v1", proxy_options=["--guided", "sideways"])
    with pytest.raises(ConfigError, match="sideways"), start_proxy(told):
        pass


def test_a_way_without_anybody_to_ask_is_refused() -> None:
    Upstreams(model="local").check_ways([RAW, PROXY])
    Upstreams(model="local:model.gguf").check_ways([RAW])
    Upstreams("http://127.0.0.1:1/v1").check_ways([RAW])
    Upstreams(proxy="http://127.0.0.1:1/v1").check_ways([PROXY])
    for told in (Upstreams(), Upstreams(model="m"), Upstreams(proxy="http://127.0.0.1:1/v1")):
        with pytest.raises(ConfigError, match="nobody to ask"):
            told.check_ways([RAW, PROXY])
