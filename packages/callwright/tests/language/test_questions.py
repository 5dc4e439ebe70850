"""Which texts ask for something that is to be told."""

from __future__ import annotations

import pytest

from callwright.language.questions import asks_to_be_told


@pytest.mark.parametrize(
    "text",
    [
        "What was the id of the transfer to Ann?",
        "Wie lautet die Nummer der Überweisung?",
        "¿Cuál es el saldo de Ann ahora?",
        "现在Ann的余额是多少？",
        "ما هو رصيد Ann الآن؟",
    ],
)
def test_a_question_word_tells_that_something_is_to_be_told(text: str) -> None:
    assert asks_to_be_told(text)


@pytest.mark.parametrize(
    "text",
    [
        "Could you send it once more?",
        "Kannst du das noch einmal schicken?",
        "¿Puedes enviarlo otra vez?",
        "可以再发一次吗？",
        "هل يمكنك إرسالها مرة أخرى؟",
        "Do what I said.",
        "",
    ],
)
def test_other_texts_may_ask_for_a_deed(text: str) -> None:
    assert not asks_to_be_told(text)
