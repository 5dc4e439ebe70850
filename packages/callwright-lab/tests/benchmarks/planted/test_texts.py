"""What planted defects say."""

from __future__ import annotations

from callwright.nouns.errors import Failure
from callwright_lab.benchmarks.planted import texts


def test_every_class_has_several_ways_and_none_twice() -> None:
    listed = (
        texts.VAGUE,
        texts.PLACEHOLDERS,
        texts.BLANKS,
        texts.DATES,
        texts.RANGES,
        texts.QUESTIONS,
    )
    for some in (*listed, texts.ADMISSIONS, texts.UNHEARD):
        assert len(set(some)) == len(some) >= 6
    assert all(form.format(key="k", KEY="K", noun="n") for form in texts.PLACEHOLDERS)
    assert all("{}" in form for form in texts.VAGUE)
    assert not any(isinstance(value, Failure) for value in texts.FAILURES.values()), (
        "as tools return them"
    )
