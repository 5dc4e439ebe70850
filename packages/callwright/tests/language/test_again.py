from __future__ import annotations

import pytest

from callwright.language.again import asks_again


@pytest.mark.parametrize(
    "text",
    [
        "Once more, please.",
        "Roll the dice twice.",
        "The same again!",
        "Noch einmal, bitte.",
        "Bestell bitte noch einmal drei Hämmer.",
        "Setze das zweimal auf die Liste.",
        "Noch zwei Hämmer, bitte.",
        "Otra vez, por favor.",
        "Pide otros tres martillos, por favor.",
        "Pon dos veces la manzana en la lista.",
        "再订三个锤子",
        "把苹果加入购物车两次",
        "اطلب ثلاث مطارق مرة أخرى",
        "ضع التفاحة في القائمة مرتين",
        "Another one, please",
        "Book another of the same.",
        "One more please",
        "Two more!",
        "Do it one more time.",
        "Can you send it again?",
        "A second one, please.",
        "Noch einen",
        "Noch so einen, bitte",
        "Eine weitere, bitte",
        "Otro más",
        "Otra más, por favor",
        "Uno más.",
        "Ponme otra, por favor",
        "再来一个",
        "再说一遍",
        "还要一个",
        "واحدة أخرى",
        "واحد آخر من فضلك",
        "أخرى، من فضلك",
    ],
)
def test_a_request_for_more_than_once_is_known_in_five_languages(text: str) -> None:
    assert asks_again(text) is True


@pytest.mark.parametrize(
    "text",
    [
        "When does it arrive?",
        "Wann kommt die Bestellung an?",
        "Einmal und niemals; manchmal auch heute, und diesmal für uns.",
        "¿Cuándo llega el pedido a la oficina?",
        "订单什么时候到？",
        "متى يصل الطلب إلى المكتب؟",
        "17",
        "Remind me to stretch twice a day.",
        "Erinnere mich zweimal am Tag ans Trinken.",
        "Recuérdame dos veces al día que beba agua.",
        "每天提醒我两次。",
        "ذكرني مرتين في اليوم بشرب الماء.",
        "Another day.",
        "What was that again?",
        "Wie war das noch mal?",
        "One more question.",
        "Two more questions",
        "One thing or another.",
        "What are the opening times?",
        "Give me a second.",
        "Noch eine Frage",
        "Noch eine kleine Frage",
        "Noch eine Minute.",
        "Danke, noch einen schönen Tag",
        "Otra pregunta, por favor.",
        "Quiero otro más barato",
        "Quiero el otro.",
        "谢谢，再见",
        "先查余额，再转账。",
        "到家以后再开灯。",
        "再过十分钟叫我。",
        "第二次会议是几点？",
        "أطفئ أنوار الممرات الآن من فضلك",
        "أنشئ اجتماعا متكررا كل اثنين",
        "هل من جديد؟",
    ],
)
def test_a_request_for_anything_once_is_none(text: str) -> None:
    assert asks_again(text) is False


@pytest.mark.parametrize(
    "text",
    [
        "Don't send it again.",
        "Please don't repeat it.",
        "Bitte nicht noch einmal bestellen.",
        "No lo pidas otra vez.",
        "不要重复下单。",
        "别再发了。",
        "لا ترسلها مرة أخرى.",
        'Send Ann "once more".',
    ],
)
def test_what_is_forbidden_or_quoted_is_not_asked_for_again(text: str) -> None:
    assert asks_again(text) is False


@pytest.mark.parametrize(
    "text", ["Commande trois marteaux pour le bureau, s'il vous plaît.", "ハンマーを三つ注文して"]
)
def test_what_cannot_be_read_is_not_known(text: str) -> None:
    assert asks_again(text) is None
