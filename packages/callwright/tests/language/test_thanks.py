"""Messages that only thank, in five languages, and messages that also ask for something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.language.thanks import is_only_greeting, is_only_thanks

THANKS = [
    "Thank you!",
    "Great, thanks a lot 🙂",
    "Vielen Dank!",
    "Super, danke dir.",
    "Perfecto, muchas gracias.",
    "¡Mil gracias!",
    "谢谢!",
    "太好了,非常感谢您的帮助。",
    "شكرًا جزيلاً لك.",
    "ممتاز، شكرا",
    "That was quick, thanks!",
    "Thanks, that’s all. Have a nice day!",
    "No worries, thanks.",
    "Danke, einen schönen Tag noch",
    "Alles klar, danke",
    "Got it, thanks for the info!",
    "Vielen lieben Dank für die schnelle Hilfe",
    "Gracias por avisar, entendido.",
    "明白了，谢谢啦",
    "تمام، شكرا على المعلومات",
    "حسنا شكرا",
    "Danke, das ging ja schnell! Bis bald.",
    "Gracias, que tengas un buen día",
    "¡Qué rápido! Muchas gracias, eso es todo.",
    "谢谢，祝你愉快",
    "谢谢，辛苦了！真快！",
    "شكرا، يوما سعيدا",
    "شكرًا لك، هذا كل شيء، مع السلامة",
]
MORE = [
    "",
    "ok",
    "Perfect.",
    "Thanks, send it again.",
    "Thanks. And the other one?",
    "Thank you 2 times",
    "Danke, und jetzt noch die Mail an Anna.",
    "Gracias, mándalo otra vez.",
    "谢谢,再发一次",
    "شكرا، أرسلها مرة أخرى",
    "Thanks?",
    "Tack så mycket",
    "Have a nice day",
    "That was quick.",
    "Thanks, quick!",
    "Thanks, this evening",
    "Thanks, take care of it",
    "Thanks, that's all wrong",
    "Danke, schnell!",
    "Danke, trotzdem!",
    "Danke, tausend",
    "Danke, morgen",
    "Gracias, rápido",
    "Gracias, mañana",
    "谢谢，快",
    "谢谢，就这样发",
    "شكرا، بسرعة",
    "شكرا، غدا",
]


@pytest.mark.parametrize("text", THANKS)
def test_thanks_alone_ask_for_nothing(text: str) -> None:
    assert is_only_thanks(text)


@pytest.mark.parametrize("text", MORE)
def test_what_says_more_or_cannot_be_read_is_no_mere_thanks(text: str) -> None:
    assert not is_only_thanks(text)


@given(st.sampled_from(THANKS), st.from_regex(r"[a-z]{12}", fullmatch=True))
def test_one_word_that_is_not_known_is_enough_to_abstain(text: str, word: str) -> None:
    assert not is_only_thanks(f"{text} {word}")


@given(st.text())
def test_any_text_can_be_asked_about(text: str) -> None:
    assert isinstance(is_only_thanks(text), bool)


GREETINGS = [
    "Hi",
    "Good morning! How are you?",
    "Hello, how's it going?",
    "Guten Morgen! Wie geht es dir heute?",
    "Hello! Have a nice day.",
    "Hey, what's up?",
    "你好，在吗？",
    "Hallo zusammen",
    "¡Hola! ¿Qué tal el día?",
    "Buenos días",
    "你好！今天过得怎么样？",
    "早上好",
    "صباح الخير! كيف حالك؟",
    "السلام عليكم",
]
NO_GREETINGS = [
    "",
    "How are you?",
    "Good.",
    "Hello, what is the weather today?",
    "Hi, my day please",
    "Morgen?",
    "Guten Morgen, was steht heute an?",
    "Hola, ¿cuánto cuesta la pieza?",
    "你好，请查余额",
    "مرحبا، كم رصيدي؟",
    "Hi 5",
]


@pytest.mark.parametrize("text", GREETINGS)
def test_a_greeting_alone_asks_for_nothing(text: str) -> None:
    assert is_only_greeting(text)
    assert not is_only_thanks(text)


@pytest.mark.parametrize("text", NO_GREETINGS)
def test_a_greeting_with_a_request_asks_for_something(text: str) -> None:
    assert not is_only_greeting(text)
