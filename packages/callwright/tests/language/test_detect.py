"""The language of a text is told by its script and function words, or not at all."""

from __future__ import annotations

import pytest

from callwright.language.detect import is_foreign, language_of, script_of

TEXTS = {
    "en": ("What is the weather in Oslo tomorrow?", "Delete the note about milk", "It is 12 °C in Oslo."),
    "de": (
        "Wie ist das Wetter morgen in Oslo?",
        "Lösche die Notiz über Milch",
        "Die Fahrt dauert 3 Stunden und 20 Minuten.",
    ),
    "es": ("¿Qué tiempo hará mañana en Oslo?", "Borra la nota sobre la leche", "¿Me das un ejemplo de la suma de dos?"),
    "zh": ("明天奥斯陆的天气怎么样？", "删除关于牛奶的笔记"),
    "ja": ("明日のオスロの天気は？",),
    "ru": ("Какая погода завтра в Осло?",),
    "ar": ("ما هو الطقس في أوسلو غدا؟", "اطلب ستة وثلاثين مصباحا"),
    "": ("میز برای دو نفر رزرو کن", "دو نفر", "دو", "42 km", "OSL BER 2026-05-03", "", "Wetter Oslo"),
}  # fmt: skip
SAMPLES = [(code, text) for code, texts in TEXTS.items() for text in texts]


@pytest.mark.parametrize(("code", "text"), SAMPLES)
def test_a_text_is_of_its_language_or_of_none(code: str, text: str) -> None:
    assert language_of(text) == code


@pytest.mark.parametrize(("code", "text"), SAMPLES)
def test_only_a_text_that_is_surely_of_another_language_is_foreign(code: str, text: str) -> None:
    assert is_foreign(text) == (code not in ("en", "") or script_of(text) == "Arab")


@pytest.mark.parametrize(
    ("text", "script"),
    [("Oslo 天", "Latn"), ("天気は", "Kana"), ("날씨", "Hang"), ("الطقس", "Arab"), ("12 !", "")],
)
def test_the_script_of_a_text_is_that_of_most_of_its_letters(text: str, script: str) -> None:
    assert script_of(text) == script


def test_a_name_in_another_language_does_not_make_a_request_foreign() -> None:
    assert language_of("Play the song La vie en rose for me and turn it up") == "en"
    assert language_of('Translate "¿Qué hora es?" to English, please, for me') != "es"
