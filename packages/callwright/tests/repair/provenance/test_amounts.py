"""Numbers that follow from what was said and came back, and numbers that do not."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import WRITE, Json, JsonObject, Message, Tool, ToolResult
from callwright.repair.provenance.amounts import Amounts, read_minutes
from callwright.repair.provenance.invention import find_inventions
from callwright.repair.provenance.sources import ProvenanceIndex

TODAY = "You are an assistant. Today is 2026-03-10."
NUMBER: JsonObject = {"type": "number"}


def tool(key: str, part: JsonObject, about: str = "Does something.") -> Tool:
    schema = {"type": "object", "properties": {key: part}, "required": [key]}
    return Tool("do", about, schema, effects=WRITE)


def is_held(
    key: str, value: float, said: str, *results: Json, part: JsonObject = NUMBER, **more: Any
) -> bool:
    returned = [ToolResult(f"r{place}", "g", {}, one) for place, one in enumerate(results)]
    system = Message("system", more.pop("system", TODAY))
    known = ProvenanceIndex(said, [system], returned)
    return bool(find_inventions({key: value}, tool(key, part, **more), known, [said]))


@pytest.mark.parametrize("amount", [25, 100, 350, 600, 1200, 5_000, 18_250, 50_000])
@pytest.mark.parametrize(
    "said",
    [
        "Please send 50 euros to Ann.",
        "Überweise bitte 50 Euro an Ann für das Essen.",
        "Envía a Ann los 50 euros que le debo, por favor.",
        "请转50欧元给Ann。",
        "أرسل ٥٠ يورو إلى Ann من فضلك",
    ],
)
def test_a_multiple_that_nobody_named_is_held(said: str, amount: int) -> None:
    assert is_held("amount", amount, said)
    assert not is_held("amount", 50, said)


@pytest.mark.parametrize("amount", [3, 10, 20, 26, 30, 100, 300, 1000, 2016, 2026])
@pytest.mark.parametrize(
    ("system", "said"),
    [
        (TODAY, "Please send Ann the money that I owe her."),
        ("Today is Tuesday, March 10, 2026.", "Please send Ann the money that I owe her."),
        ("Heute ist Dienstag, der 10. März 2026.", "Überweise Ann bitte das Geld für das Essen."),
        ("Hoy es martes, 10 de marzo de 2026.", "Envía a Ann el dinero que le debo, por favor."),
        ("今天是2026年3月10日。", "请把我欠Ann的钱转给她。"),
        ("اليوم هو 2026-03-10.", "من فضلك حوّل إلى Ann المال الذي أدين لها به."),
    ],
)
def test_no_amount_is_made_of_the_date(system: str, said: str, amount: int) -> None:
    assert is_held("amount", amount, said, system=system)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("year", 2026, "Write the report for this year."),
        ("birth_year", 2014, "Add my son Max, who is 12 years old."),
        ("age", 36, "Add my son Max, born on 1990-01-12, please."),
        ("nights", 3, "Book it from 2026-04-07 to 2026-04-10 for us."),
        ("hour", 7, "Set the alarm for 7:30."),
        ("monat", 3, "Erstelle den Bericht für den Monat."),
        ("minutes", 90, "Book the room from 10:15 to 11:45 for us."),
        ("duration", 90, "Book the room from 10:15 to 11:45 for us."),
        ("minutes", 120, "Put it from 3 to 5 pm into my calendar."),
        ("hour", 15, "Set the alarm for 3 pm."),
        ("closes", 23, "A restaurant that opens until 11 PM."),
        ("month", 7, "The report of July, please."),
    ],
)
def test_dates_and_times_count_where_the_schema_speaks_of_days_or_hours(
    key: str, value: int, said: str
) -> None:
    assert not is_held(key, value, said)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("length_mm", 120, "Make the rod 12 cm long please."),
        ("length_mm", 50.8, "Make the rod 2 in long please."),
        ("length", 50.8, "Make the rod 2 inches long please."),
        ("celsius", 20, "Set the bedroom to 68 degrees Fahrenheit."),
        ("celsius", 22.2, "Set the bedroom to 72 °F please."),
        ("distance_km", 4.83, "I ran 3 miles today, please log it."),
        ("weight_kg", 81.65, "I weigh 180 pounds today, please log it."),
        ("weight_kg", 82, "I weigh 180 pounds today, please log it."),
        ("memory", 2048, "Give it 2 GB of memory, please."),
        ("timeout", 2000, "Stop it after two seconds, please."),
        ("seconds", 5400, "Set a timer for 1 hour 30 minutes please."),
        ("seconds", 5400, "Set a timer for an hour and a half please."),
        ("seconds", 150, "Set a timer for 2:30 minutes please."),
        ("seconds", 5400, "Stelle bitte einen Timer auf anderthalb Stunden."),
        ("seconds", 2700, "Pon un temporizador de tres cuartos de hora, por favor."),
        ("seconds", 5400, "请设置一个半小时的计时器。"),
        ("seconds", 5400, "اضبط المؤقت على ساعة ونصف من فضلك"),
        ("minutes_before", 1440, "Remind me of the call the day before."),
        ("rate", 0.15, "Gib bitte 15 Prozent Rabatt auf alles."),
        ("percent", 50, "Set the volume to half."),
        ("amount_cents", 1299, "Charge Ann 12.99 euros."),
        ("amount", 0.99, "Charge Ann 99 cents for the card."),
        ("months", 12, "Make the contract last for a year."),
    ],
)
def test_a_unit_is_converted_where_text_and_schema_name_it(
    key: str, value: float, said: str
) -> None:
    assert not is_held(key, value, said)
    assert is_held(key, value + 3.17, said)


def test_a_unit_of_the_schema_is_the_only_one_of_its_kind() -> None:
    said = "Make the rod 12 cm long please."
    assert not is_held("length", 0.12, said)
    assert is_held("length_mm", 0.12, said)
    about = {**NUMBER, "description": "Longitud en milímetros."}
    assert is_held("largo", 0.12, said, part=about)
    assert not is_held("largo", 120, said, part=about)
    assert not is_held("size", 120, said, about="Sets the length in millimetres.")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (33.33, "The dinner cost 100, we were three people. Send Ann my share."),
        (92, "The dinner cost 80 euros. Send Ann that plus 15 % tip."),
        (92, "Das Essen kostete 80 Euro. Überweise Ann das plus 15 Prozent Trinkgeld."),
        (92, "La cena costó 80 euros. Envía a Ann eso más un 15 por ciento."),
        (92, "晚饭80元，请把它加15%小费转给Ann。"),
        (92, "كلف العشاء 80 يورو. حوّل إلى Ann ذلك مع إكرامية 15 بالمائة"),
        (10.5, "Send Ann the money for coffee (3.20), cake (4.50) and tea (2.80)."),
        (39.5, "Send Ann the money for 3 tickets at 12.50 each plus a fee of 2 euros."),
        (39.5, "Überweise Ann das Geld für 3 Karten zu je 12,50 plus 2 Euro Gebühr."),
        (389.7, "Invoice Acme for 3 chairs at 49.90 and 2 tables at 120."),
        (40, "Pay Ann 20 for the cake and 20 for the tea."),
        (25, "Send Ann half of the 50 euros."),
        (100, "Send Ann double the 50 euros."),
        (25, "Überweise Ann bitte die Hälfte der 50 Euro."),
        (100, "Envía a Ann el doble de los 50 euros."),
        (100, "把50元的两倍转给Ann。"),
        (9600, "Pay Ann the rent of 800 a month for a year."),
        (1200, "Send Ann 1.2k euros."),
        (3_000_000, "Überweise Ann bitte 3 Mio Euro."),
        (1250.5, "Überweise Ann bitte 1.250,50 Euro."),
        (3, "Pay for me and two friends."),
        (3, "Pay for Ann, Bob and Carl."),
        (4, "Zahle für Ann, Bob, Carl und Dora, bitte."),
    ],
)
def test_what_follows_from_a_message_is_known(value: float, said: str) -> None:
    assert not is_held("amount", value, said)
    assert is_held("amount", value + 17.31, said)


@pytest.mark.parametrize(
    ("value", "said", "made_up"),
    [
        (0.5, "Charge Ann 50¢ for the card please.", (0.05, 5, 500)),
        (12.5, "Please send 12€50 to Ann for the food.", (12.05, 125, 1250)),
        (12.5, "Please send 12 dollars and 50 cents to Ann for the food.", (12.05, 125)),
        (12.5, "Please send twelve dollars and fifty cents to Ann for the food.", (12.05, 125)),
        (12.5, "Bezahl bitte 12 Euro 50 an Ann für das Essen.", (12.05, 125)),
        (1250.5, "请转一千二百五十元五角给Ann。", (1250.05, 12505)),
        (12.56, "请转十二元五角六分给Ann。", (12.506, 1256)),
        (12.06, "请转十二元零六分给Ann。", (12.6, 126)),
        (3.5, "请转三块五给Ann。", (3.05, 35)),
        (1.5, "请转一块五给Ann。", (1.05, 15)),
        (0.5, "请转五毛钱给Ann。", (0.05, 50)),
        (12.5, "请转12元5角给Ann。", (12.05, 125)),
        (1000, "Please send 1e3 tokens to Ann for the food.", (100, 10_000)),
        (2_500_000, "Please set the limit of the account to 2.5E6.", (250_000, 25_000_000)),
        (0.001, "Please set the limit of the account to 1e-3.", (0.01, 0.0001)),
    ],
)
def test_an_amount_in_two_units_or_with_an_exponent_is_read(
    value: float, said: str, made_up: tuple[float, ...]
) -> None:
    assert not is_held("amount", value, said)
    assert all(is_held("amount", other, said) for other in made_up)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1000, "Please order the item A-1e3 of the catalogue for the man in the shop."),
        (1000, "Please order the item 1e3-f7 of the catalogue for the man in the shop."),
        (12.5, "Please give 12 vouchers of $50 to the man in the shop."),
        (0.05, "请设置五分钟的计时器。"),
    ],
)
def test_what_only_looks_like_such_an_amount_is_none(value: float, said: str) -> None:
    assert is_held("amount", value, said)


@pytest.mark.parametrize(
    ("value", "result"),
    [
        (190, {"gross": 200, "discount_percent": 5}),
        (210, {"gross": 200, "surcharge": 0.05}),
        (12.5, [{"price": 10.5}, {"price": 12.9}, {"price": 14.1}]),
        (71.86, [{"a": 40.5}, {"a": 33.1}, {"a": 20.25}, {"a": 11.11}]),
        (105.8, [{"a": 40.5}, {"a": 33.1}, {"a": 20.25}, {"a": 11.95}]),
        (40, {"offset": 20, "limit": 20}),
        (1234.56, {"amount_cents": 123_456}),
        (1234.56, "Rechnung R-7: Gesamtbetrag 1.234,56 EUR"),
    ],
)
def test_what_follows_from_results_is_known(value: float, result: Json) -> None:
    said = "Pay Ann what it comes to, please."
    assert not is_held("amount", value, said, result)
    assert is_held("amount", value + 17.31, said, result)
    assert is_held("amount", value, said)


ITEM = {"type": "object", "properties": {"n": NUMBER, "price": NUMBER}, "required": ["n", "price"]}
INVOICE = Tool(
    "invoice",
    "Makes an invoice.",
    {
        "type": "object",
        "properties": {"items": {"type": "array", "items": ITEM}, "total": NUMBER},
        "required": ["items", "total"],
    },
    effects=WRITE,
)


def test_the_total_of_the_calls_own_items_is_known_as_far_as_they_are() -> None:
    said = "Invoice Acme for 3 chairs, then also 2 tables, and 4 lamps."
    prices: Json = [{"price": 49.9}, {"price": 120}, {"price": 17.25}]
    known = ProvenanceIndex(said, results=[ToolResult("r1", "prices", {}, prices)])
    items = [{"n": 3, "price": 49.9}, {"n": 2, "price": 120}, {"n": 4, "price": 17.25}]

    def held(total: float, first: float = 49.9) -> list[str]:
        call: JsonObject = {"items": [{**items[0], "price": first}, *items[1:]], "total": total}
        return [one.path for one in find_inventions(call, INVOICE, known, [said])]

    assert held(458.7) == []
    assert held(478.7) == ["/total"]
    assert held(542.1, first=77.7) == ["/items/0/price", "/total"]


@pytest.mark.parametrize(
    ("said", "hour", "minute"),
    [
        ("Set the alarm to half past six, please.", 6, 30),
        ("Set the alarm for a quarter to four, please.", 3, 45),
        ("Stell den Wecker bitte auf halb sieben.", 6, 30),
        ("Stell den Wecker bitte auf Viertel nach drei.", 3, 15),
        ("Pon el despertador a las seis y media, por favor.", 6, 30),
        ("请把闹钟设在三点一刻。", 3, 15),
        ("اضبط المنبه على السادسة والنصف من فضلك.", 6, 30),
    ],
)
def test_a_time_in_words_gives_its_hour_and_its_minute(said: str, hour: int, minute: int) -> None:
    assert not is_held("hour", hour, said)
    assert not is_held("hour", hour + 12, said)
    assert not is_held("minute", minute, said)
    assert is_held("minute", minute + 7, said)
    time: JsonObject = {"type": "string", "format": "time"}
    call = {"at": f"{hour:02}:{minute:02}"}
    known = ProvenanceIndex(said)
    assert not find_inventions(call, tool("at", time), known, [said])
    wrong = {"at": f"{hour:02}:{minute - 5:02}"}
    assert find_inventions(wrong, tool("at", time), known, [said])


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ("Raise the price by 5 to 20 euros.", (5, 20)),
        ("Set the price at 10 to 20 dollars.", (10, 20)),
        ("Raise the limit by five to ten.", (5, 10)),
        ("A table for ten to twelve, please.", (10, 12)),
        ("Bestell bitte zehn vor drei Uhr nachmittags.", (10,)),
        ("Bestell bitte zwei Paar Socken für Anna.", (2, 4)),
        ("Set the heating to twenty point five degrees.", (20.5,)),
        ("请把温度调到二十点五度。", (20.5,)),
    ],
)
def test_a_number_that_may_be_one_of_a_time_is_still_said(
    said: str, values: tuple[float, ...]
) -> None:
    assert not any(is_held("amount", value, said) for value in values)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Double the quantity of my order, please.", 24),
        ("Halve the quantity of my order, please.", 6),
        ("Verdopple bitte die Menge, die ich für das Büro bestellt habe.", 24),
        ("Ich möchte doppelt so viele wie in der letzten Bestellung.", 24),
        ("Duplica la cantidad del pedido, por favor.", 24),
        ("请把订单的数量翻倍。", 24),
        ("请订购上次的两倍。", 24),
        ("请把订单的数量减半。", 6),
        ("ضاعف كمية الطلب من فضلك.", 24),
    ],
)
def test_a_multiple_of_a_result_is_known_where_it_was_named(said: str, value: int) -> None:
    assert not is_held("quantity", value, said, {"quantity": 12})
    assert is_held("quantity", 60, said, {"quantity": 12})
    assert is_held("quantity", value, said.partition(" ")[2] or "请改订单。", {"quantity": 15})


@pytest.mark.parametrize(
    ("said", "people"),
    [
        ("Book a table for 3 couples at Roma.", 6),
        ("A table for me, my wife and our two kids, please.", 4),
        ("Einen Tisch für mich, meine Frau und unsere zwei Kinder bitte.", 4),
        ("Una mesa para mí, mi mujer y nuestros dos hijos, por favor.", 4),
        ("请为我、我太太和我们的两个孩子订一张桌子。", 4),
        ("请为3对夫妻订一张桌子。", 6),
        ("احجز طاولة لي ولزوجتي من فضلك.", 2),
    ],
)
def test_people_who_are_listed_are_counted(said: str, people: int) -> None:
    assert not is_held("people", people, said)
    assert is_held("people", people + 5, said)


def test_a_part_of_a_range_is_known_by_its_end() -> None:
    volume = {"type": "integer", "minimum": 0, "maximum": 80}
    assert not is_held("volume", 40, "Set the volume to half please.", part=volume)
    assert is_held("volume", 30, "Set the volume to half please.", part=volume)


TALKS: list[tuple[str, Json]] = [
    ("Please send Ann the money that I owe her.", None),
    ("Please send 50 euros to Ann for the order A-100.", None),
    ("Send Ann the money for coffee (3.20), cake (4.50) and tea (2.80).", None),
    ("Send Ann the money for 3 tickets at 12.50 each plus a fee of 2 euros.", None),
    ("Please pay Ann for 2 hours and 30 minutes of work at 40 euros an hour.", None),
    ("Überweise Ann bitte 1.250,50 Euro für die 3 Stühle.", None),
    ("Transfiere a Ann 80 euros por la cena más un 15 por ciento de propina.", None),
    ("请给Ann转账200元，她工作了一个半小时。", None),
    ("حوّل إلى Ann مبلغ ٢٠٠ يورو مقابل ساعة ونصف من العمل", None),
    ("Pay Ann the bills.", [{"amount": 40.5}, {"amount": 33.1}, {"amount": 20.25}]),
    ("Order as much as is needed.", {"sku": "A-100", "stock": 284, "min": 500, "price": 3.35}),
]


@pytest.mark.parametrize(
    ("draw", "most"),
    [
        (lambda rng: rng.randint(2, 100), 0.11),
        (lambda rng: rng.randint(2, 1000), 0.02),
        (lambda rng: round(rng.uniform(1, 1000), 2), 0.002),
    ],
)
def test_few_numbers_follow_by_chance(draw: Any, most: float) -> None:
    """Of numbers drawn at random. Before factors were bound to units, five times as many did."""
    rng, drawn, passed = random.Random(7), 0, 0
    for said, result in TALKS:
        results = [result] if result is not None else []
        values = {draw(rng) for _ in range(120)}
        drawn += len(values)
        passed += sum(not is_held("amount", value, said, *results) for value in values)
    assert passed <= most * drawn


@given(st.integers(2, 10**6), st.sampled_from(["", "{} is what it costs.", "On 2026-03-12: {}."]))
def test_a_stated_number_holds_and_no_number_breaks_the_judge(number: int, form: str) -> None:
    amounts = Amounts(ProvenanceIndex(form.format(number)), [form.format(number)])
    root = tool("amount", NUMBER)
    from callwright.schema.compiled import compiled_for

    node = compiled_for(root).root.property("amount")
    assert node is not None
    assert amounts.holds(float(number), "amount", node) or not form
    assert amounts.holds(number / 7, "amount", node) in (True, False)


def test_clocks_are_read_in_minutes() -> None:
    assert (read_minutes("9:30"), read_minutes("14")) == (570, 840)
