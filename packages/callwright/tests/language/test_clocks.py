"""Times of day as people say them, in five languages."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.language.clocks import MOST_CLOCKS, find_clocks
from callwright.language.pack import PACKS


@pytest.mark.parametrize(
    ("language", "text", "said", "hour", "minute"),
    [
        ("de", "Yoga beginnt um 18 Uhr.", "18 Uhr", 18, 0),
        ("de", "Sie geht um 17 Uhr 48 unter.", "17 Uhr 48", 17, 48),
        ("de", "um 18 Uhr 30 Gäste", "18 Uhr", 18, 0),
        ("de", "ab 8.15 Uhr", "8.15 Uhr", 8, 15),
        ("de", "um sechs Uhr abends", "sechs Uhr abends", 18, 0),
        ("de", "um 12 Uhr nachts", "12 Uhr nachts", 0, 0),
        ("de", "um halb acht abends", "halb acht abends", 19, 30),
        ("de", "von 9 bis 17.30 Uhr", "9", 9, 0),
        ("es", "a las 18 horas", "18 horas", 18, 0),
        ("es", "a las 5:48 de la tarde", "5:48 de la tarde", 17, 48),
        ("es", "a las seis y media de la tarde", "seis y media de la tarde", 18, 30),
        ("es", "a las 12 de la noche", "12 de la noche", 0, 0),
        ("es", "a las 6:00 p. m.", "6:00 p. m.", 18, 0),
        ("es", "abre de 9 a 20 horas", "9", 9, 0),
        ("zh", "瑜伽在下午6点", "下午6点", 18, 0),
        ("zh", "18点30分开始", "18点30分", 18, 30),
        ("zh", "下午六点半开始", "下午六点半", 18, 30),
        ("zh", "中午12点40分到达", "中午12点40分", 12, 40),
        ("zh", "晚上12点", "晚上12点", 0, 0),
        ("zh", "下午5:48", "下午5:48", 17, 48),
        ("ar", "الساعة 6 مساءً", "6 مساءً", 18, 0),
        ("ar", "الساعة السادسة مساءً", "السادسة مساءً", 18, 0),
        ("ar", "الساعة السابعة والنصف صباحًا", "السابعة والنصف صباحًا", 7, 30),
        ("ar", "الساعة 12:40 ظهرًا", "12:40 ظهرًا", 12, 40),
        ("ar", "6:00 م", "6:00 م", 18, 0),
        ("ar", "في الثامنة مساء", "الثامنة مساء", 20, 0),
        ("ar", "الساعة الثانية عشرة ظهرا", "الثانية عشرة ظهرا", 12, 0),
        ("ar", "الساعة الحادية عشرة ليلا", "الحادية عشرة ليلا", 23, 0),
        ("ar", "الساعة ٧:٣٠ مساء", "٧:٣٠ مساء", 19, 30),
        ("en", "Move it to 3.30pm", "3.30pm", 15, 30),
        ("en", "at 6 o'clock in the evening", "6 o'clock in the evening", 18, 0),
        ("en", "at six in the evening", "six in the evening", 18, 0),
        ("en", "at half past two in the afternoon", "half past two in the afternoon", 14, 30),
    ],
)
def test_a_time_is_read_with_its_part_of_the_day(
    language: str, text: str, said: str, hour: int, minute: int
) -> None:
    found = find_clocks(text, language)[0]
    assert text[slice(*found.span)] == said
    assert (found.hour, found.minute, found.either) == (hour, minute, False)


@pytest.mark.parametrize(
    ("language", "text", "hour", "minute"),
    [
        ("de", "um halb sieben", 6, 30),
        ("en", "at a quarter to three", 2, 45),
        ("en", "at 6 o'clock", 6, 0),
        ("en", "from 6 to 7:30 pm", 6, 0),
        ("es", "a las seis y cuarto", 6, 15),
        ("zh", "在6点", 6, 0),
        ("ar", "الساعة 6", 6, 0),
        ("en", "at half seven", 7, 30),
        ("en", "the alarm for ten to seven, please", 6, 50),
        ("en", "at twenty-five past five", 5, 25),
        ("de", "um halb eins", 0, 30),
        ("de", "auf viertel vier", 3, 15),
        ("de", "auf dreiviertel vier", 3, 45),
        ("de", "um fünf vor halb sieben", 6, 25),
        ("de", "um zehn nach acht", 8, 10),
        ("es", "a la una y media", 1, 30),
        ("es", "a las siete menos diez", 6, 50),
        ("es", "a las cinco y veinte", 5, 20),
        ("zh", "在三点三刻", 3, 45),
        ("zh", "差一刻四点", 3, 45),
        ("zh", "七点差十分", 6, 50),
        ("zh", "五点二十分", 5, 20),
        ("ar", "على السادسة والنصف", 6, 30),
        ("ar", "في الرابعة إلا ربعا", 3, 45),
        ("ar", "الساعة السابعة إلا عشر دقائق", 6, 50),
        ("ar", "في الخامسة والثلث", 5, 20),
    ],
)
def test_without_a_part_of_the_day_either_may_be_meant(
    language: str, text: str, hour: int, minute: int
) -> None:
    found = find_clocks(text, language)[0]
    assert (found.hour, found.minute, found.either) == (hour, minute, True)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Es ist halb so groß und dauert 18 Stunden."),
        ("es", "Ayudó a las 3 personas de 2 a 3 horas; abre las 24 horas."),
        ("zh", "有以下3点建议，需要12小时"),
        ("zh", "请早一点提醒我"),
        ("de", "Er kauft eine Uhr."),
        ("ar", "بعد ساعة واحدة"),
        ("ar", "12 كيلومترًا في الساعة وتغرب الشمس"),
        ("en", "There were 6 in the morning and 5 in the evening."),
        ("en", "Open from ten to seven, a table for five to seven people, half two-liter jugs."),
        ("en", "A table for ten to twelve, please."),
        ("en", "Raise the price by 5 to 20 euros, or set it at 10 to 20 dollars."),
        ("en", "Raise the limit by five to ten."),
        ("en", "Cut the dose to half 10 mg."),
        ("de", "Bestell zehn vor drei Tagen und fünf nach zwei Wochen."),
        ("de", "Nimm drei viertel sechs Liter."),
        ("fr", "à 18 heures"),
        ("ar", "الاثنين مساء"),
        ("ar", "الليلة مساء"),
        ("en", "at 3.5pmol"),
    ],
)
def test_what_is_no_time_of_day_is_none(language: str, text: str) -> None:
    assert find_clocks(text, language) == []


@given(st.text(max_size=80), st.sampled_from(PACKS))
def test_any_text_is_read_as_times_of_a_day_that_do_not_overlap(text: str, language: str) -> None:
    found = find_clocks(text, language)
    assert all(0 <= (m.hour or 0) < 24 and 0 <= (m.minute or 0) < 60 for m in found)
    assert all(a.span[1] <= b.span[0] for a, b in itertools.pairwise(found))


def test_a_long_text_is_read_as_far_as_any_sentence_goes() -> None:
    assert len(find_clocks("下午6点" * 20_000, "zh")) == MOST_CLOCKS
