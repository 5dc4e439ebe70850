from __future__ import annotations

from pathlib import Path

import pytest

from callwright import weights
from callwright.nouns.errors import WeightsError

from .conftest import DATA, HALF, HUBBED, TOKEN, Hub, sha256


def test_a_file_comes_from_the_hub_whole_and_is_then_in_the_cache(
    hub_server: Hub, cache: Path
) -> None:
    steps: list[tuple[int, int, str]] = []
    assert weights.find(HUBBED) is None
    path = weights.fetch(HUBBED, lambda *step: steps.append(step))
    assert path == cache / "thing.bin"
    assert path.read_bytes() == DATA
    assert steps[-1][:2] == (len(DATA), len(DATA))
    asked = len(hub_server.asked)
    assert weights.fetch(HUBBED) == weights.find(HUBBED) == path
    assert len(hub_server.asked) == asked


def test_a_download_that_nobody_watches_is_announced_with_its_size(
    hub_server: Hub, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    weights.fetch(HUBBED)
    (said,) = (record.getMessage() for record in caplog.records if record.name == "callwright")
    assert said == f"fetching {HUBBED.name} once: {len(DATA) / 1e6:.1f} MB to {cache}"
    caplog.clear()
    weights.fetch(HUBBED)
    assert not caplog.records, "it is here"


def test_a_broken_transfer_goes_on_where_it_stopped(hub_server: Hub) -> None:
    hub_server.break_after = HALF
    assert weights.fetch(HUBBED).read_bytes() == DATA
    ranges = [r for method, path, r in hub_server.asked if path == "/blob" and method == "GET"]
    assert len(ranges) == 2
    assert ranges[0] == ""
    assert ranges[1].startswith("bytes=")
    assert ranges[1] != "bytes=0-"


def test_a_download_given_up_is_continued_by_the_next_call(hub_server: Hub, cache: Path) -> None:
    class Enough(Exception):
        pass

    def stop(done: int, total: int, label: str) -> None:
        raise Enough

    with pytest.raises(Enough):
        weights.fetch(HUBBED, stop)
    there = (cache / "thing.bin.part").stat().st_size
    assert 0 < there < len(DATA)
    assert weights.find(HUBBED) is None
    assert weights.fetch(HUBBED).read_bytes() == DATA
    assert hub_server.asked[-1][2] == f"bytes={there}-"


def test_a_server_without_ranges_starts_over(hub_server: Hub) -> None:
    hub_server.break_after, hub_server.ranges = HALF, False
    assert weights.fetch(HUBBED).read_bytes() == DATA


def test_another_file_is_refused_before_a_byte_of_it_is_loaded(hub_server: Hub) -> None:
    hub_server.etag = "0" * 64
    with pytest.raises(WeightsError, match="could not be loaded") as caught:
        weights.fetch(HUBBED)
    assert "pinned" in str(caught.value)
    assert all(path != "/blob" for _, path, _ in hub_server.asked)


@pytest.mark.parametrize(
    "data", [DATA[:-1] + b"!", DATA + b"more", DATA[:HALF]], ids=["other", "longer", "shorter"]
)
def test_wrong_bytes_under_the_right_digest_are_never_taken(
    hub_server: Hub, cache: Path, data: bytes
) -> None:
    hub_server.data, hub_server.etag = data, sha256(DATA)
    with pytest.raises(WeightsError, match="could not be loaded"):
        weights.fetch(HUBBED)
    assert weights.find(HUBBED) is None
    hub_server.data = DATA
    assert weights.fetch(HUBBED).read_bytes() == DATA


def test_the_token_goes_to_the_hub_and_not_to_its_storage(
    hub_server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    weights.fetch(HUBBED)
    assert hub_server.tokens["/org/repo/resolve/main/thing.bin"] == f"Bearer {TOKEN}"
    assert hub_server.tokens["/blob"] == ""


def test_errors_name_the_reason_and_not_the_token(
    hub_server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    hub_server.status = 403
    with pytest.raises(WeightsError) as caught:
        weights.fetch(HUBBED)
    assert "403" in str(caught.value)
    assert TOKEN not in str(caught.value)


def test_a_hub_that_does_not_answer_is_remembered_and_offline_means_offline(
    hub_server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(WeightsError, match="could not be loaded") as caught:
        weights.fetch(HUBBED)
    assert "HF_HUB_OFFLINE" in str(caught.value)
    assert hub_server.asked == []
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    for _ in range(2):
        with pytest.raises(WeightsError) as caught:
            weights.fetch(HUBBED)
        assert "no model hub at http://127.0.0.1:9" in str(caught.value)
