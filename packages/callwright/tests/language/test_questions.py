"""Which texts ask for something that is to be told."""

from __future__ import annotations

import pytest

from callwright.language.questions import (
    asks_only,
    asks_to_be_told,
    only_asks_to_be_told,
    remove_question_words,
    remove_questions,
    split_sentences,
)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It is 5 p.m. in Oslo. Shall I?", ["It is 5 p.m. in Oslo.", "Shall I?"]),
        ("余额是5。要转账吗？好", ["余额是5。", "要转账吗？", "好"]),
        ("one line\nand another", ["one line\nand another"]),
        (" ", []),
    ],
)
def test_a_text_is_split_into_sentences(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


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
        "How about adding milk?",
        "Why don't you cancel it?",
        "When Anna arrives, could you turn on the lamp?",
        "Wie besprochen, kannst du das löschen?",
        "Wie wäre es mit Milch?",
        "Como te dije ¿puedes borrarlo?",
        "¿Por qué no lo borras?",
        "你能帮我订几张票吗？",
        "请问可以订多少张？",
        "من فضلك هل يمكنك إرسالها؟",
    ],
)
def test_other_texts_may_ask_for_a_deed(text: str) -> None:
    assert not asks_to_be_told(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which lamps are on?", True),
        ("Woran wolltest du mich am Samstag erinnern?", True),
        ("¿Qué lámparas están apagadas?", True),
        ("现在家里哪些灯开着？", True),
        ("كم درجة الحرارة في الحمام الآن؟", True),
        ("How much is 3.5 kg?", True),
        ("Wie warm ist es gerade im Wohnzimmer?", True),
        ("Wie wär's mit Milch?", False),
        ("What is on the list? How much of it is left?", True),
        ("保险的账单是多少钱？什么时候到期？", True),
        ("What is on the list? Put butter on it.", False),
        ("What is on the list? Could you put butter on it?", False),
        ("Which lamps are on? Switch them off.", False),
        ("哪些灯开着？请把它们关掉。", False),
        ("Tell me: which lamps are on?", False),
        ("Could you switch the lamp on?", False),
        ("How soon can you send Ann the file?", False),
        ("What do you say we book a table?", False),
        ("How do you feel about booking a table?", False),
        ("Wann kannst du Ann anrufen?", False),
        ("Wieso reservierst du nicht einfach einen Tisch?", False),
        ("¿Cuándo puedes llamar a Ana?", False),
        ("要不要订个桌子什么的？", False),
        ("能不能给谁都发一份？", False),
        ("ماذا لو حجزت طاولة؟", False),
        ("متى يمكنك حجز طاولة لي؟", False),
        ("At what time is the meeting?", True),
        ("In which room is Ann?", True),
        ("What do I have at 3 p.m. tomorrow?", True),
        ("Hi! What's on my calendar today?", True),
        ("Thanks! When does it arrive?", True),
        ("Whats the weather tomorrow?", True),
        ("Um wie viel Uhr ist das Meeting?", True),
        ("Bis wann muss ich zahlen?", True),
        ("Danke! Wann kommt die Bestellung?", True),
        ("¿A qué hora es la reunión?", True),
        ("¿Para cuándo es el pago?", True),
        ("¿Por qué sigue encendida la luz?", True),
        ("¡Hola! ¿Qué tengo hoy?", True),
        ("Cuanto cuesta la pieza?", True),
        ("今天星期几？", True),
        ("明天天气怎么样？", True),
        ("洗衣机还要多久？", True),
        ("谢谢！什么时候到？", True),
        ("في أي ساعة الاجتماع؟", True),
        ("من أين أتصل؟", True),
        ("شكرا! متى تصل؟", True),
        ("لماذا لا يزال الضوء مضاء؟", True),
        ("When my sister Ann comes home could you open the door?", False),
        ("When the movie starts please dim the lights?", False),
        ("What's the balance and could you pay the bill?", False),
        ("Was wondering if you could book a table?", False),
        ("How does a table at 8 sound?", False),
        ("Why haven't you paid the bill?", False),
        ("At what time can you call Ann?", False),
        ("Hello! Book a table?", False),
        ("Wie klingt ein Tisch um acht?", False),
        ("Wann können Sie mir einen Tisch reservieren?", False),
        ("Um wie viel Uhr kannst du Anna anrufen?", False),
        ("Warum hast du die Rechnung noch nicht bezahlt?", False),
        ("Welche Lampen sind an und kannst du sie ausschalten?", False),
        ("¿Qué te parecería una mesa a las ocho?", False),
        ("¿Qué dices si reservamos?", False),
        ("¿A qué hora me puedes llamar?", False),
        ("¿Qué lámparas están encendidas y puedes apagarlas?", False),
        ("¿Qué tal el viernes?", False),
        ("Was ist mit Freitag?", False),
        ("什么时候能订？", False),
        ("订个桌子怎么样？", False),
        ("为什么还没付水费？", False),
        ("给我订点什么吃的？", False),
        ("随便点些什么吧？", False),
        ("على ما اتفقنا احجز الطاولة؟", False),
        ("ماذا عن حجز طاولة؟", False),
        ("كم تذكرة يمكنك حجزها؟", False),
        ("في أي ساعة يمكنك الاتصال بآن؟", False),
        ("ما الرصيد وهل يمكنك دفع الفاتورة؟", False),
    ],
)
def test_a_question_alone_asks_for_no_deed(text: str, expected: bool) -> None:
    assert only_asks_to_be_told(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When is it?", "is it?"),
        ("¿Cuándo es?", "es?"),
        ("预约是什么时候？", "预约是 ？"),
        ("Tell me when.", "Tell me when."),
        ("By when is it due?", "is it due?"),
        ("¿Para cuándo es?", "es?"),
        ("When Ann comes, could you go?", "When Ann comes, could you go?"),
        ("Wann ist der Termin, den ich habe?", "ist der Termin, den ich habe?"),
        ("Come at 8. When is that?", "Come at 8.  is that?"),
    ],
)
def test_the_words_that_ask_are_removed_from_questions_only(text: str, expected: str) -> None:
    assert remove_question_words(text).split() == expected.split()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Which songs are in Sport? And add 'Blue Sky'.", "And add 'Blue Sky'."),
        ("Leg 'Sonntag' an. Welche Lieder sind in Sport?", "Leg 'Sonntag' an."),
        ("Apaga la luz. ¿Qué lámparas hay?", "Apaga la luz."),
        ("哪些灯开着？把走廊的灯关掉。", "把走廊的灯关掉。"),
        ("ما الأغاني الموجودة؟ أضف 'Blue Sky'.", "أضف 'Blue Sky'."),
        ("Which songs are in Sport?", "Which songs are in Sport?"),
        ("Could you add it? Which one is new?", "Could you add it?"),
        ("", ""),
    ],
)
def test_questions_for_something_that_is_to_be_told_can_be_removed(text: str, left: str) -> None:
    assert remove_questions(text) == left


@pytest.mark.parametrize("text", ["Thanks! Could you send it?", "¡Hola! ¿Puedes enviarlo?"])
def test_a_greeting_or_thanks_beside_a_question_asks_for_nothing(text: str) -> None:
    assert asks_only(text)
    assert asks_only("Hello, how are you?")
    assert not asks_only("Thanks!")
