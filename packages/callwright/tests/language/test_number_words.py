"""Numbers in words: what is spelled is read back, in five languages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.language.number_words import (
    NUMBER_PACKS,
    number_languages,
    number_words,
    read_number_signs,
    read_number_words,
)

ENGLISH = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
).split()
ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
GERMAN = (
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn"
    " sechzehn siebzehn achtzehn neunzehn"
).split()
GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
SPANISH = (
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince"
    " dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro"
    " veinticinco veintiséis veintisiete veintiocho veintinueve"
).split()
SPANISH_TENS = "treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()
SPANISH_HUNDREDS = (
    "ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos"
    " novecientos"
).split()
ARABIC = "صفر واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة".split()
ARABIC_TENS = "عشرون ثلاثون أربعون خمسون ستون سبعون ثمانون تسعون".split()
CHINESE = "零一二三四五六七八九"


def spell_english(n: int) -> str:
    if n < 20:
        return ENGLISH[n]
    if n < 100:
        return ENGLISH_TENS[n // 10 - 2] + (f"-{ENGLISH[n % 10]}" if n % 10 else "")
    for scale, name in ((10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if n >= scale:
            rest = f" {spell_english(n % scale)}" if n % scale else ""
            return f"{spell_english(n // scale)} {name}{rest}"
    raise AssertionError(n)


def spell_german(n: int) -> str:
    if n < 20:
        return GERMAN[n]
    if n < 100:
        tens = GERMAN_TENS[n // 10 - 2]
        ones = {1: "ein"}.get(n % 10, GERMAN[n % 10])
        return f"{ones}und{tens}" if n % 10 else tens
    for scale, name in ((1000, "tausend"), (100, "hundert")):
        if n >= scale:
            many = {1: "ein"}.get(n // scale, spell_german(n // scale))
            return many + name + (spell_german(n % scale) if n % scale else "")
    raise AssertionError(n)


def spell_spanish(n: int) -> str:
    if n < 30:
        return SPANISH[n]
    if n < 100:
        return SPANISH_TENS[n // 10 - 3] + (f" y {SPANISH[n % 10]}" if n % 10 else "")
    if n == 100:
        return "cien"
    if n < 1000:
        rest = f" {spell_spanish(n % 100)}" if n % 100 else ""
        return SPANISH_HUNDREDS[n // 100 - 1] + rest
    many = f"{spell_spanish(n // 1000)} mil" if n >= 2000 else "mil"
    return many + (f" {spell_spanish(n % 1000)}" if n % 1000 else "")


def spell_chinese(n: int) -> str:
    if n < 10:
        return CHINESE[n]
    for scale, name in ((10**8, "亿"), (10**4, "万"), (1000, "千"), (100, "百"), (10, "十")):
        if n >= scale:
            rest = n % scale
            keeps = "零" if rest and rest < scale // 10 else ""
            many = "" if 10 <= n < 20 else spell_chinese(n // scale)
            return many + name + (keeps + spell_chinese(rest) if rest else "")
    raise AssertionError(n)


def spell_arabic(n: int) -> str:
    if n <= 10:
        return ARABIC[n]
    if n < 20:
        return f"{({1: 'أحد', 2: 'اثنا'}).get(n - 10, ARABIC[n - 10])} عشر"
    if n < 100:
        tens = ARABIC_TENS[n // 10 - 2]
        return f"{ARABIC[n % 10]} و{tens}" if n % 10 else tens
    many = {1: "مائة", 2: "مائتان"}.get(n // 100, f"{ARABIC[n // 100]} مائة")
    return many + (f" و{spell_arabic(n % 100)}" if n % 100 else "")


SPELLERS: dict[str, tuple[Callable[[int], str], int]] = {
    "en": (spell_english, 10**9 - 1),
    "de": (spell_german, 999_999),
    "es": (spell_spanish, 999_999),
    "zh": (spell_chinese, 10**9 - 1),
    "ar": (spell_arabic, 999),
}


@pytest.mark.parametrize("code", NUMBER_PACKS)
def test_every_number_to_a_thousand_is_read_back(code: str) -> None:
    spell, most = SPELLERS[code]
    for n in [0, *range(2, min(1000, most) + 1)]:
        assert n in read_number_words(spell(n), [code]), spell(n)


@pytest.mark.parametrize("code", NUMBER_PACKS)
@given(data=st.data())
def test_any_number_is_read_back_among_other_words(code: str, data: st.DataObject) -> None:
    spell, most = SPELLERS[code]
    n = data.draw(st.integers(2, most))
    assert n in read_number_words(f"A-100: {spell(n)}. OK", [code])


@pytest.mark.parametrize("code", NUMBER_PACKS)
@given(data=st.data())
def test_a_compound_is_not_read_as_its_last_part(code: str, data: st.DataObject) -> None:
    n = data.draw(st.sampled_from([m for m in range(21, 100) if m % 10]))
    assert n % 10 not in read_number_words(SPELLERS[code][0](n), [code])


@pytest.mark.parametrize(
    ("code", "text", "value"),
    [
        ("en", "four dozen lamps", 48),
        ("en", "half a dozen", 6),
        ("en", "two and a half dozen", 30),
        ("en", "a hundred and five", 105),
        ("en", "2 dozen", 24),
        ("en", "twice", 2),
        ("de", "vier Dutzend Lampen", 48),
        ("de", "ein halbes Dutzend", 6),
        ("de", "zweimal am Tag", 2),
        ("de", "ein Vierertisch", 4),
        ("de", "2,5 Millionen", 2_500_000),
        ("de", "anderthalb Stunden", 1.5),
        ("de", "am dritten Tag", 3),
        ("es", "cuatro docenas", 48),
        ("es", "media docena", 6),
        ("es", "un millón doscientos mil", 1_200_000),
        ("es", "la tercera página", 3),
        ("es", "DOS PERSONAS", 2),
        ("zh", "三十六盏台灯", 36),
        ("zh", "两打", 24),
        ("zh", "半打", 6),
        ("zh", "3万元", 30_000),
        ("zh", "二〇二六年", 2026),
        ("zh", "两百五", 250),
        ("zh", "伍佰圆", 500),
        ("ar", "ستة وثلاثين مصباحا", 36),
        ("ar", "أربع دزينات", 48),
        ("ar", "نصف دزينة", 6),
        ("ar", "اطلب قطعتين", 2),
        ("ar", "بخمسة دولارات", 5),
        ("ar", "ثلاثة آلاف وخمسمائة", 3500),
        ("en", "three couples", 6),
        ("en", "3 couples", 6),
        ("en", "halve it", 0.5),
        ("de", "drei Ehepaare", 6),
        ("de", "das Doppelte", 2),
        ("de", "verdopple es", 2),
        ("de", "verdreifache es", 3),
        ("es", "3 matrimonios", 6),
        ("es", "duplica la cantidad", 2),
        ("es", "triplica la cantidad", 3),
        ("zh", "3对夫妻", 6),
        ("zh", "数量翻倍", 2),
        ("zh", "翻一番", 2),
        ("zh", "减半", 0.5),
        ("ar", "3 أزواج", 6),
        ("ar", "ضاعف الكمية", 2),
        ("de", "zwei Paar Socken", 2),
        ("de", "zwei Paar Socken", 4),
        ("es", "tres parejas de guantes", 3),
        ("zh", "买三对耳环", 3),
        ("en", "twenty point five degrees", 20.5),
        ("en", "one point two five", 1.25),
        ("de", "zwanzig Komma fünf Grad", 20.5),
        ("de", "zwei Komma fünfundzwanzig", 2.25),
        ("es", "veinte coma cinco grados", 20.5),
        ("zh", "温度调到二十点五度", 20.5),
        ("zh", "零点二五", 0.25),
        ("ar", "عشرين فاصلة خمسة", 20.5),
        ("ar", "خمسين بالمئة", 50),
        ("ar", "الحادية عشرة", 11),
        ("de", "auf einundzwanzigeinhalb Grad", 21.5),
        ("zh", "一刻钟后叫我", 15),
    ],
)
def test_everyday_forms_are_read(code: str, text: str, value: float) -> None:
    assert value in read_number_words(text, [code])


@pytest.mark.parametrize(
    ("code", "text", "values"),
    [
        ("en", "a table for two at eight", {2, 8}),
        ("de", "für zwei Personen um acht", {2, 8}),
        ("es", "dos personas a las ocho", {2, 8}),
        ("en", "two, three", {2, 3}),
        ("de", "Bestelle eine Lampe", set()),
        ("es", "Pide una lámpara", set()),
        ("zh", "查一下天气", set()),
        ("ar", "اطلب مصباح واحد", set()),
        ("ar", "كمية الطلب", set()),  # no hundred
        ("en", "three dozen", {36}),
        ("en", "the point is that two came", {2}),
        ("zh", "早一点提醒我", set()),
    ],
)
def test_numbers_are_kept_apart_and_an_article_is_none(
    code: str, text: str, values: set[float]
) -> None:
    assert read_number_words(text, [code]) == values


def test_other_numerals_say_their_value() -> None:
    assert read_number_signs("½ Ⅳ ②") == {0.5, 4, 2}
    assert read_number_signs("三十 and 5") == {30}
    assert not read_number_signs("plain 5")


@pytest.mark.parametrize(
    ("text", "otherwise", "codes"),
    [
        ("Reserva una mesa para dos personas a las ocho.", "", ("es",)),
        ("vier", "de", ("de",)),
        ("vier", "", ("de", "en", "es")),
        ("دو نفر", "", ("ar",)),
        ("42", "", ()),
    ],
)
def test_the_words_are_those_of_the_text_or_of_the_conversation(
    text: str, otherwise: str, codes: tuple[str, ...]
) -> None:
    assert number_languages(text, otherwise) == codes


@pytest.mark.parametrize(
    ("text", "value"), [("Compra dos docenas de huevos", 24), ("dos mil quinientos euros", 2500)]
)
def test_a_number_word_that_is_a_function_word_of_another_language_is_read(
    text: str, value: float
) -> None:
    assert value in read_number_words(text, number_languages(text))


def test_a_language_without_number_words_has_none() -> None:
    assert number_words("fr") is None
    assert not read_number_words("deux", ["fr"])


@given(st.text(max_size=60), st.sampled_from(NUMBER_PACKS))
def test_any_text_can_be_read(text: str, code: str) -> None:
    assert all(value >= 0 for value in read_number_words(text, [code]))
