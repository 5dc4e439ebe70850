from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.tools.python.docstrings import parse_docstring

GOOGLE = """Weather of a city.

    Real measurements, not
    forecasts.

    Args:
        city (str): where,
            in English
        days: how many: at most 7
        **more: passed on

    Returns:
        dict: degrees by day

    Raises:
        ValueError: never
    """

NUMPY = """Weather of a city.

    Real measurements, not
    forecasts.

    Parameters
    ----------
    city : str
        where,
        in English
    days, more : int, optional
        how many: at most 7

    Returns
    -------
    dict
        degrees by day

    Examples
    --------
    >>> weather("Rome")
    """

REST = """Weather of a city.

    Real measurements, not
    forecasts.

    :param str city: where,
        in English
    :param days: how many: at most 7
    :type days: int
    :returns: degrees by day
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, REST], ids=["google", "numpy", "rest"])
def test_every_style_says_the_same(text: str) -> None:
    found = parse_docstring(text)
    assert found.summary == "Weather of a city.\n\nReal measurements, not forecasts."
    assert found.parameters["city"] == "where, in English"
    assert found.parameters["days"] == "how many: at most 7"
    assert found.returns == "degrees by day"


def test_further_names_are_read() -> None:
    assert parse_docstring(GOOGLE).parameters["more"] == "passed on"
    assert parse_docstring(NUMPY).parameters["more"] == "how many: at most 7"


@pytest.mark.parametrize("text", [None, "", "   \n  "])
def test_nothing_is_nothing(text: str | None) -> None:
    found = parse_docstring(text)
    assert (found.summary, found.parameters, found.returns) == ("", {}, "")


def test_prose_that_only_looks_like_a_section_stays_prose() -> None:
    found = parse_docstring("Counts.\n\nNumbers: one, two.\nTwo things matter: size and\ncolour.")
    assert found.summary == "Counts.\n\nNumbers: one, two. Two things matter: size and colour."


@given(st.text(max_size=300))
def test_any_text_is_read_without_failing(text: str) -> None:
    parse_docstring(text)
