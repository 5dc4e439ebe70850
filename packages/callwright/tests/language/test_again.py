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
    ],
)
def test_a_request_for_anything_once_is_none(text: str) -> None:
    assert asks_again(text) is False


@pytest.mark.parametrize(
    "text", ["Commande trois marteaux pour le bureau, s'il vous plaît.", "ハンマーを三つ注文して"]
)
def test_what_cannot_be_read_is_not_known(text: str) -> None:
    assert asks_again(text) is None
