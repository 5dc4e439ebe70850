"""What a date or a number in a text says by itself."""

from __future__ import annotations

import datetime as dt

from callwright.language.protocol import WrittenDate, WrittenNumber


def test_a_date_is_a_day_only_where_all_of_it_was_written() -> None:
    assert WrittenDate((0, 1), 3, 3, 2026).to_date() == dt.date(2026, 3, 3)
    assert WrittenDate((0, 1), 3, 3).to_date() is None
    assert WrittenDate((0, 1), 2, 31, 2026).to_date() is None


def test_a_number_has_no_unit_unless_one_is_written() -> None:
    assert WrittenNumber(3.0, (0, 1)).unit == ""
