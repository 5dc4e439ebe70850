from __future__ import annotations

import pytest

from callwright.language.times import count_times


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("Deposit 5 EUR twice.", 2),
        ("Deposit 5 EUR 3 times.", 3),
        ("Deposit 5 EUR again.", 1),
        ("Please deposit the same once more.", 1),
        ("Zahle bitte dreimal 5 Euro ein.", 3),
        ("Und jetzt noch einmal denselben Betrag, bitte.", 1),
        ("Ingresa 5 euros dos veces en la cuenta.", 2),
        ("Ingresa 5 euros otra vez en la cuenta.", 1),
        ("请存入5欧元两次。", 2),
        ("请再存入5欧元。", 1),
        ("أودع 5 يورو مرتين في الحساب.", 2),
        ("أودع 5 يورو مرة أخرى في الحساب.", 1),
        ("ঢাকায় দুইবার পাঠান।", None),
        ("Remind me to stretch twice a day.", 1),
        ("Remind me to stretch three times daily, please.", 1),
        ("Order twice as much as last time.", 1),
        ("Deposit 5 EUR, but not twice.", 1),
        ("Deposit 5 EUR 3 times in a row.", 3),
        ("Erinnere mich zweimal am Tag ans Trinken.", 1),
        ("Erinnere mich 3 mal pro Woche an die Blumen.", 1),
        ("Recuérdame dos veces al día que beba agua.", 1),
        ("Ingresa 5 euros dos veces por favor en la cuenta.", 2),
        ("每天提醒我两次。", 1),
        ("每天3次提醒我喝水。", 1),
        ("取消第三次会议。", 1),
        ("把这120次交易发给安。", 1),
        ("ذكرني مرتين في اليوم بشرب الماء.", 1),
    ],
)
def test_times_are_counted_and_again_is_none(text: str, times: int | None) -> None:
    assert count_times(text) == times
