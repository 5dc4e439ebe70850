"""Lists of people and things, and how many they hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.language.listings import count_listed
from callwright.language.pack import PACKS


@pytest.mark.parametrize(
    ("code", "text", "count"),
    [
        ("en", "Pay for Ann, Bob and Carl.", 3),
        ("en", "Pay for Ann, Bob, and Carl.", 3),
        ("en", "Pay for me and two friends.", 3),
        ("en", "A table for me, my wife and our two kids, please.", 4),
        ("en", "A table for my wife, our two kids and me.", 4),
        ("en", "A table for my wife and me.", 2),
        ("de", "Einen Tisch für mich, meine Frau und unsere zwei Kinder.", 4),
        ("de", "Einen Tisch für meine Frau und mich.", 2),
        ("es", "Una mesa para mí, mi mujer y nuestros 2 hijos.", 4),
        ("es", "Una mesa para mi mujer y para mí.", 2),
        ("zh", "请为我、我太太和我们的两个孩子订一张桌子。", 4),
        ("zh", "请为我和我太太订一张桌子。", 2),
        ("ar", "احجز طاولة لي ولزوجتي من فضلك.", 2),
        ("ar", "احجز طاولة لآنا، بوب وكارل.", 3),
    ],
)
def test_members_of_a_list_are_counted_with_their_numbers(code: str, text: str, count: int) -> None:
    assert count in [*count_listed(text, code)]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "Turn the lamp off and close the door."),
        ("de", "Mach die Lampe aus und schließ die Tür."),
        ("es", "Apaga la lámpara y cierra la puerta."),
        ("zh", "请关灯和门。"),
        ("ar", "أطفئ المصباح وأغلق الباب."),
        ("en", "Book a table at Roma and tell me when it is done."),
        ("en", "Reserve a table and send me the confirmation."),
        ("de", "Buche einen Tisch im Roma und sag mir Bescheid."),
        ("es", "Reserva una mesa en el Roma y no preguntes para mí."),
        ("zh", "订一张桌子跟我说一声。"),
        ("ar", "احجز طاولة في مطعم وأرسل لي التأكيد."),
        ("ar", "احجز طاولة لي في مطعم واسع."),
        ("fr", "Moi, ma femme et Anne."),
    ],
)
def test_two_things_are_no_list_without_a_number_or_the_speaker(code: str, text: str) -> None:
    assert [*count_listed(text, code)] == []


@given(st.text(max_size=60), st.sampled_from(PACKS))
def test_any_text_is_counted(text: str, code: str) -> None:
    assert all(count > 1 for count in count_listed(text, code))


@pytest.mark.parametrize("text", ["aa, " * 30_000, "x" * 100_000, "a and " * 20_000])
def test_a_long_text_is_read_as_far_as_any_request_goes(text: str) -> None:
    assert len([*count_listed(text, "en")]) < 2_000
