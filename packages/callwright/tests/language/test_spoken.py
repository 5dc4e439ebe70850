from __future__ import annotations

import pytest

from callwright.language.detect import guess_language
from callwright.language.pack import PACKS
from callwright.language.spoken import guess_spoken, load_phrases, name_language, name_spoken


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("Which one is left?", "en"),
        ("Storniere die Bestellung O-5001.", "de"),
        ("Pide 3 piezas de C-330 y 50 de D-415.", "es"),
        ("请订购 6 件 A-100。", "zh"),
        ("اطلب 9 قطع من A-100.", "ar"),
        ("Закажи 9 штук A-100.", "ru"),
        ("Wat is er morgen op de agenda?", "nl"),
        ("Compra dos docenas de huevos", "es"),
        ("Reserva una mesa para dos", "es"),
        ("un par de minutos", "es"),
        ("O saldo dos clientes não está na lista.", "pt"),
        ("Envoyez-moi le rapport par courriel.", "fr"),
        ("O-5001", ""),
        ("", ""),
    ],
)
def test_a_short_request_is_answered_in_its_likeliest_language(said: str, code: str) -> None:
    assert guess_spoken(said) == code


def test_a_message_that_tells_nothing_is_answered_as_the_ones_before() -> None:
    earlier = ["What is in stock?", "¿Cuántas piezas hay de A-100?", "A-100"]
    assert guess_spoken("12", earlier) == "es"
    assert guess_spoken("12, bitte an mich.", earlier) == "de"


def test_of_equally_likely_languages_only_a_preferred_one_is_guessed() -> None:
    text = "Ingresa 75 euros en la cuenta petty."
    assert guess_language(text) == ""
    assert guess_language(text, PACKS) == "es"
    assert guess_language(text, ("es", "fr")) == ""


def test_languages_are_named_in_english() -> None:
    assert [name_language(code) for code in ("ar", "zh", "")] == ["Arabic", "Chinese", ""]


def test_every_language_has_every_phrase() -> None:
    english = load_phrases("en")
    for code in PACKS:
        phrases = load_phrases(code)
        assert phrases.keys() == english.keys()
        assert all(text.strip() for text in phrases.values())
    assert load_phrases("fi") == english


def test_the_language_of_an_answer_has_a_name_even_where_nothing_tells_it() -> None:
    assert name_spoken("Wie ist das Wetter morgen in Oslo?") == "German"
    assert name_spoken("123") == "the language of the user"
    assert name_spoken("123", ["Wie ist das Wetter morgen in Oslo?"]) == "German"
