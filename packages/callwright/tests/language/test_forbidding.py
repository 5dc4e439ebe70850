"""Clauses of requests that forbid something, or leave it out."""

from __future__ import annotations

import time

import pytest

from callwright.language.forbidding import remove_forbidding, split_clauses


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
        ("Pay the gas bill, don't bother with the water bill.", "don't bother with the water bill"),
        ("Don't worry about the water bill, pay the gas.", "Don't worry about the water bill"),
        ("Don't rush to pay the water bill.", "Don't rush to pay the water bill"),
        ("Do not disturb Ann.", "Do not disturb Ann"),
        ("Pay every bill but the one that is due last.", "but the one that is due last"),
        ("Bezahl den Strom, nicht die Wasserrechnung.", "nicht die Wasserrechnung"),
        ("Bezahl das Gas, aber bezahl das Wasser nicht.", "aber bezahl das Wasser nicht"),
        ("Bezahl nicht die Wasserrechnung.", "Bezahl nicht die Wasserrechnung"),
        ("Bezahl das Gas, das Wasser noch nicht.", "das Wasser noch nicht"),
        ("Auf keinen Fall das Wasser bezahlen.", "Auf keinen Fall das Wasser bezahlen"),
        ("Paga la luz y no me pagues el agua.", "y no me pagues el agua"),
        ("Paga la luz, tampoco pagues el agua.", "tampoco pagues el agua"),
        ("La factura del agua no la pagues.", "La factura del agua no la pagues"),
        ("Paga la de la luz, no la del agua.", "no la del agua"),
        ("麻烦别付水费。", "麻烦别付水费"),
        ("من فضلك لا تدفع فاتورة الماء.", "من فضلك لا تدفع فاتورة الماء"),
        ("No crees el evento.", "No crees el evento"),
        ("别急着付水费。", "别急着付水费"),
        ("请勿打扰张三。", "请勿打扰张三"),
        ("除了水费都付了。", "除了水费都付了"),
        ("订特别的菜，除了香菜。", "除了香菜"),
        ("لا تخفض الحرارة.", "لا تخفض الحرارة"),
        ("لا تشغل المصباح.", "لا تشغل المصباح"),
        ("لا تقلق بشأن فاتورة الماء.", "لا تقلق بشأن فاتورة الماء"),
        ("لا تهتم بفاتورة الماء.", "لا تهتم بفاتورة الماء"),
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


@pytest.mark.parametrize(
    "text",
    [
        "Don't worry, book it.",
        "No worries.",
        "Don't worry just book the Ritz",
        "Don't bother asking, just send it.",
        "Don't bother asking me about the water bill, pay it.",
        "Don't take too long with the water bill.",
        "Don't be shy.",
        "Don't be late with the water bill.",
        "Mach dir keine Sorgen, und zögere nicht, sie zu bezahlen.",
        "Bezahl das Gas, und vergiss nicht das Wasser.",
        "Warte nicht zu lange.",
        "No te preocupes, resérvalo.",
        "No tengas prisa.",
        "No dudes en reservar el Ritz.",
        "No lo olvides.",
        "No tardes en pagar el agua.",
        "别担心",
        "别客气",
        "不用担心",
        "别担心直接订希尔顿酒店",
        "不要着急，先付水费。",
        "别太晚付水费。",
        "لا تقلق.",
        "لا تتردد في حجز الطاولة.",
        "لا تتأخر في دفع فاتورة الماء.",
        "لا تشغل بالك.",
        "لا تكن خجولا.",
        "Das Licht geht nicht.",
        "Mach ich das nicht?",
        "Stell einen Timer, der nicht zu lange läuft.",
        "¿No tienes la factura del agua?",
        "No la encuentro.",
        "提醒我不要抽烟。",
        "告诉小王不要等我。",
    ],
)
def test_a_clause_that_reassures_or_tells_a_way_forbids_nothing(text: str) -> None:
    assert split_clauses(text).forbidden == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Pay all bills, don't leave out the water bill.", "water bill"),
        ("Don't fail to pay the water bill.", "water bill"),
        ("Pay nothing but the water bill.", "water bill"),
        ("Don't pay anything except the water bill.", "water bill"),
        ("Last but not least the water bill.", "water bill"),
        ("Pay the bill, but not before Monday.", "Monday"),
        ("Not sure if the hall lamp is on, switch it off.", "hall lamp"),
        ("I wanted to wait, but the water bill is due, pay it.", "water bill"),
        ("Set the heating to 20, but the kitchen to 22.", "kitchen"),
        ("I like red, but my wife needs the blue one, order it.", "blue one"),
        ("I like red but my wife wants the blue one, order it.", "blue one"),
        ("But the kitchen stays warm, please.", "kitchen"),
        ("Don't know if the lamp is on, switch it off.", "lamp"),
        ("Dimm das Licht bis auf 10 Prozent.", "Prozent"),
        ("Guarda el informe a salvo en la carpeta Ana.", "Ana"),
        ("Apart from milk, add bread too.", "milk"),
        ("Turn on do not disturb mode.", "mode"),
        ("Don't we have a meeting with Ann?", "Ann"),
        ("Bezahl nichts außer der Wasserrechnung.", "Wasserrechnung"),
        ("Bezahl das Wasser, aber nicht vor Montag.", "Montag"),
        ("Nicht das Wasser vergessen!", "Wasser"),
        ("Außer Milch brauche ich auch Brot.", "Milch"),
        ("Ich mach Licht, aber die Lampe im Flur brennt nicht.", "Lampe im Flur"),
        ("Paga al menos la factura del agua.", "la factura del agua"),
        ("No pagues nada excepto el agua.", "el agua"),
        ("No dejes de pagar el agua.", "agua"),
        ("Reserva mesa, pero no antes del martes.", "martes"),
        ("除了水费，什么都别付。", "水费"),
        ("什么都别付，除了水费。", "水费"),
        ("除了牛奶，还要买面包。", "牛奶"),
        ("把不要的文件删了。", "文件"),
        ("打开请勿打扰模式。", "模式"),
        ("别名改成小王。", "小王"),
        ("勿忘付水费。", "水费"),
        ("لا تدفع إلا فاتورة الماء.", "فاتورة الماء"),
        ("لا تعمل الطابعة، افتح تذكرة.", "الطابعة"),
        ("لا تزال الفاتورة غير مدفوعة، ادفعها.", "الفاتورة"),
        ("في الساعة السابعة إلا خمس دقائق.", "دقائق"),
    ],
)
def test_words_that_only_seem_to_forbid_leave_out_nothing(text: str, name: str) -> None:
    found = split_clauses(text)
    assert not any(name in clause for clause in found.forbidden)
    assert any(name in clause for clause in found.others)


@pytest.mark.parametrize(
    "sign", ["«", "“", "„", "「", "‘ ", "apart from ", "除了", "别", "außer. ", "don't pay any "]
)
def test_signs_that_open_and_never_close_are_read_in_linear_time(sign: str) -> None:
    start = time.perf_counter()
    split_clauses(sign * 30_000)
    assert time.perf_counter() - start < 5


def test_no_word_is_lost() -> None:
    text = "Pay A and B, but not C"
    found = split_clauses(text)
    assert " ".join([*found.others, *found.forbidden]).split() == text.replace(",", "").split()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Pay the water bill, but not the electricity bill.", "Pay the water bill"),
        ("Bezahl den Strom, aber die Versicherung noch nicht.", "Bezahl den Strom"),
        ("Paga el agua, pero no pagues la luz. Gracias.", "Paga el agua"),
        ("只付水费，电费先不要付。", "只付水费"),
        ("Switch the hall off.", "Switch the hall off."),
        ("Do not pay it.", "Do not pay it."),
        ("Add 'not now' to the list.", "Add 'not now' to the list."),
    ],
)
def test_what_a_request_forbids_can_be_removed(text: str, left: str) -> None:
    assert remove_forbidding(text).startswith(left)
    assert len(remove_forbidding(text)) <= len(left) + len(" , . Gracias.")
