"""Clauses of requests that forbid something, or leave it out."""

from __future__ import annotations

import time

import pytest

from callwright.language.forbidding import split_clauses


@pytest.mark.parametrize(
    ("text", "forbidden"),
    [
        ("Pay the electricity bill, but not the water bill.", "but not the water bill"),
        ("Pay the water bill and not the gas bill.", "and not the gas bill"),
        ("Switch off all lamps except the one in the hall.", "except the one in the hall"),
        ("Don't pay the water bill yet, just the gas.", "Don't pay the water bill yet"),
        ("Bezahl den Strom, aber das Wasser noch nicht.", "aber das Wasser noch nicht"),
        ("Lösch alle Listen bis auf die für Montag.", "bis auf die für Montag"),
        ("Paga todas las facturas menos la del seguro.", "menos la del seguro"),
        ("Paga la luz, pero no pagues el agua.", "pero no pagues el agua"),
        ("只付水费，电费先不要付。", "电费先不要付"),
        ("只付水费，请别付电费。", "请别付电费"),
        ("لا تطفئ مصباح المطبخ، أطفئ مصباح الممر فقط.", "لا تطفئ مصباح المطبخ"),
    ],
)
def test_the_clause_that_forbids_is_found(text: str, forbidden: str) -> None:
    assert [one.strip() for one in split_clauses(text).forbidden] == [forbidden]


@pytest.mark.parametrize(
    "text",
    [
        "Don't forget to pay the water bill.",
        "Why not pay the water bill?",
        "Pay the bill that is not paid yet.",
        "Pay not only the water bill but also the gas.",
        "Vergiss nicht, das Wasser zu bezahlen.",
        "Bezahl die Rechnung, die noch nicht bezahlt ist.",
        "Warum nicht gleich bezahlen?",
        "Paga la factura que no está pagada.",
        "No olvides pagar el agua.",
        "¿Por qué no pagas el agua?",
        "别忘了付电费。",
        "请特别注意电费。",
        "请订一栋别墅。",
        "性别：女。",
        "请识别这张图片。",
        "要不要订个桌子？",
        "请把告别派对加到日历里，不要紧。",
        "لا تنس دفع فاتورة الماء.",
        "في الساعة السابعة إلا ربعا.",
        "افتح تذكرة بعنوان «الطابعة لا تعمل».",
        "The hall lamp does not work, open a ticket.",
        "Open a ticket: 'do not touch'.",
        "Der Drucker geht nicht, mach ein Ticket auf.",
        "Ya no hace falta el pedido de bisagras.",
        "La impresora no funciona, abre una incidencia.",
        "الطابعة لا تعمل، افتح تذكرة.",
        "打印机不工作了，请开一张工单。",
        "",
    ],
)
def test_other_texts_forbid_nothing(text: str) -> None:
    assert split_clauses(text).forbidden == ()


@pytest.mark.parametrize("sign", ["«", "“", "„", "「", "‘ "])
def test_signs_that_open_and_never_close_are_read_in_linear_time(sign: str) -> None:
    start = time.perf_counter()
    assert split_clauses(sign * 30_000).forbidden == ()
    assert time.perf_counter() - start < 5


def test_no_word_is_lost() -> None:
    text = "Pay A and B, but not C"
    found = split_clauses(text)
    assert " ".join([*found.others, *found.forbidden]).split() == text.replace(",", "").split()
