from __future__ import annotations

from pathlib import Path

import pytest

from callwright import weights
from callwright.nouns.errors import WeightsError
from callwright.weights import Weight

from .conftest import sha256


def test_a_path_is_taken_as_it_is_and_an_unknown_name_is_an_error(tmp_path: Path) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(b"anything")
    assert weights.fetch(mine) == weights.fetch(str(mine)) == weights.find(mine) == mine
    with pytest.raises(WeightsError, match="no weight file 'nope'") as caught:
        weights.fetch("nope")
    assert "smollm2-135m" in caught.value.hint


def test_a_bundled_file_is_found_without_loading(cache: Path) -> None:
    source = Path(weights.__file__)
    data = source.read_bytes()
    bundled = Weight("code", "code.py", len(data), sha256(data), bundled="weights/__init__.py")
    assert weights.fetch(bundled) == source
    assert not cache.exists()
    assert not source.with_name("__init__.py.ok").exists()


def test_every_registered_file_is_pinned_and_its_parts_add_up() -> None:
    for name, weight in weights.REGISTRY.items():
        assert weight.name == name
        assert len(weight.sha256) == 64
        assert weight.hub or weight.parts
        assert sum(p.size for p in weight.parts) == weight.size
        assert all("==" in p.requirement and len(p.sha256) == 64 for p in weight.parts)
    assert len({w.filename for w in weights.REGISTRY.values()}) == len(weights.REGISTRY)
