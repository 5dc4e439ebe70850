"""Days of which certainly nobody spoke."""

from __future__ import annotations

import time
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import Json, Message, ToolResult
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.provenance.unsaid_days import UnsaidDays, find_todays, speaks_of_days

TODAY = date(2026, 11, 23)
SYSTEM = "You help in the office. Today is Monday, 2026-11-23."
NO_DAY = [
    "Book a table at Roma for 4 people.",
    "Put a meeting with Ann in the calendar.",
    "Please move the hairdresser to another day.",
    "Verschieb bitte den Friseur auf einen anderen Tag.",
    "Cambia la cita de la peluquería a otro día, por favor.",
    "请把理发预约改到另一天。",
    "انقل موعد الحلاق إلى يوم آخر من فضلك.",
    "Please add a dentist appointment to my calendar.",
    "Buche bitte einen Tisch im Roma mit Blick auf den Hafen.",
    "Trag bitte einen Termin mit Ann in den Kalender ein.",
    "Reserva una mesa en el restaurante Roma con vistas.",
    "Crea un evento con Ana en el calendario, por favor.",
    "请在罗马餐厅订一张桌子。",
    "请把和安娜的会议加到日历里。",
    "احجز طاولة في مطعم روما على الشرفة.",
    "أضف اجتماعا مع آنا إلى التقويم.",
]
SOME_DAY = [
    "Book the next available table at Roma.",
    "Book a table at Roma as soon as possible.",
    "Book a table this weekend at Roma.",
    "Move the hairdresser to another day of next week, please.",
    "Verschieb den Friseur auf einen anderen Tag, am besten Freitag.",
    "Book a table tonight at Roma.",
    "Enter Christmas with Ann in the calendar.",
    "Add Easter to my calendar please.",
    "Book a table for us after the fair.",
    "Enter a meeting with Ann when she is back.",
    "Put a call with Ann in the calendar at 10:00.",
    "Meet Ann at 8 pm in Roma, add it to the calendar.",
    "You choose for me, and book a table at Roma.",
    "Enter the meeting by EOD with Ann and me.",
    "Create a test event for me and for Ann.",
    "Put it in the calendar on the 26th with Ann.",
    "Put it in the calendar for 26/11 with Ann.",
    "Put it in the calendar in 3 with Ann and me.",
    "Trag Weihnachten in den Kalender ein, bitte.",
    "Buche bitte baldmöglichst einen Tisch im Roma für uns.",
    "Trag den Muttertag in den Kalender ein.",
    "Trag das Treffen wieder ein wie immer.",
    "Reserva una mesa en el Roma lo antes posible, por favor.",
    "Apunta la cena de Nochebuena en el calendario.",
    "Reserva una mesa para esta noche en el Roma.",
    "Apunta la reunión a finales de mes en el calendario.",
    "请尽快在罗马餐厅订一张桌子。",
    "请把五一聚会加到日历里。",
    "请订今晚的桌子。",
    "有空的时候帮我订一张桌子。",
    "احجز طاولة الليلة في مطعم روما.",
    "احجز طاولة بكرة في مطعم روما.",
    "أضف عيد ميلاد آنا إلى التقويم.",
]
PHRASES = {  # language -> (request, what may mean a day)
    "en": (
        "Put a meeting with Ann in the calendar, {}.",
        "the day after tomorrow|in two days|in a week|next Friday|on Friday|on the 5th"
        "|5 May|May 5th|in June|at noon|this afternoon|by the end of the month"
        "|after Easter|before Christmas|on New Year's Eve|in three nights|within 48 hours"
        "|over the weekend|mid-December|in early spring|for Black Friday|on Boxing Day"
        "|Thanksgiving dinner|whenever suits|any date is fine|pick one|asap|right away"
        "|immediately|first thing|the earliest slot|later|soon|once I am back"
        "|after the conference|for the fair|at the gala|as usual|same as before|again"
        "|a.m. on 3/4|2026|Q3|EOM|fortnightly|yesterday|last week|since Monday"
        "|until Tuesday|midweek|payday|Mother's Day|for my birthday|our anniversary"
        "|during the holidays|at 8pm|at 14:00|lunchtime|for breakfast",
    ),
    "de": (
        "Trag bitte einen Termin mit Ann in den Kalender ein, {}.",
        "morgen|übermorgen|heute|heute Abend|am Freitag|nächste Woche|in zwei Wochen"
        "|Anfang Juni|Mitte Mai|Ende des Monats|zum Quartalsende|über Ostern"
        "|nach Pfingsten|an Heiligabend|zu Silvester|am 5.|am Fünften um 8 Uhr"
        "|sobald wie möglich|schnellstmöglich|demnächst|bald|sofort|zeitnah|am Wochenende"
        "|werktags|feiertags|am Muttertag|zum Geburtstag|vor der Messe|nach der Konferenz"
        "|irgendwann|egal wann|wie immer|wie üblich|noch einmal|erneut|mittags|nachts"
        "|in 48 Stunden|diese Woche|dieses Jahr|im Sommer|zum Winter|in den Ferien"
        "|nach dem Urlaub|freier Termin|wähle einen",
    ),
    "es": (
        "Crea un evento con Ana en el calendario, {}.",
        "mañana|pasado mañana|hoy|esta noche|el viernes|la próxima semana|en dos semanas"
        "|a principios de junio|a mediados de mayo|fin de mes|el trimestre"
        "|después de Pascua|en Nochebuena|en Nochevieja|el día 5|a las ocho"
        "|lo antes posible|cuanto antes|enseguida|pronto|fin de semana"
        "|laborable antes del lunes|el Día de la Madre|para mi cumpleaños"
        "|antes de la feria|cuando quieras|como siempre|otra vez|de nuevo|al mediodía"
        "|en 48 horas|este año|en verano|en vacaciones|cualquier fecha|elige tú|el puente"
        "|san Juan|la boda",
    ),
    "zh": (
        "请把和安娜的会议加到日历里，{}。",
        "明天|后天|今天|今晚|周五|下周|两周后|六月初|五月中旬|月底|季度末|春节后|除夕|元旦|5号|八点|尽快|马上|立刻|周末|母亲节|生日|展会前|随时"
        "|随便哪天|老样子|再一次|中午|48小时内|今年|夏天|暑假|任选一个|国庆|五一|礼拜天|下午|早上|一会儿之后|过几天",
    ),
    "ar": (
        "أضف اجتماعا مع آنا إلى التقويم، {}.",
        "غدا|بعد غد|اليوم|الليلة|يوم الجمعة|الأسبوع القادم|بعد أسبوعين|أول يونيو"
        "|منتصف مايو|نهاية الشهر|بعد العيد|في رمضان|رأس السنة|الساعة الثامنة|في أقرب وقت"
        "|فورا|حالا|قريبا|عطلة نهاية الأسبوع|عيد الأم|عيد ميلادي|قبل المعرض|بعد المؤتمر"
        "|متى شئت|كالمعتاد|مرة أخرى|ظهرا|مساء|خلال 48 ساعة|هذا العام|في الصيف|في الإجازة"
        "|اختر أنت|أي موعد|لاحقا|صباحا|بكرة",
    ),
}
UNREAD = [
    "Prenota un tavolo da Roma per domani sera.",
    "Réserve une table chez Roma pour demain.",
    "Boek een tafel bij Roma voor morgen.",
    "Zarezerwuj stolik w Romie na jutro.",
    "Bestill et bord på Roma i morgen.",
    "Varaa pöytä Romasta huomiselle.",
    "Reserva una taula a Roma per demà.",
    "明日ローマのテーブルを予約して",
    "Забронируй стол в Риме на завтра.",
]


def unsaid(
    said: list[str],
    others: tuple[Message, ...] = (),
    results: tuple[Json, ...] = (),
    system: str = SYSTEM,
    today: date | None = None,
) -> UnsaidDays:
    users = [Message("user", text) for text in said]
    back = [ToolResult(f"r{n}", "g", {}, content) for n, content in enumerate(results)]
    known = ProvenanceIndex(
        said[-1], [Message("system", system), *users[:-1], *others, users[-1]], back, today=today
    )
    days = {TODAY} if "2026-11-23" in system else set()
    return UnsaidDays(known, said, days, days)


@pytest.mark.parametrize("said", NO_DAY)
def test_a_day_of_which_nobody_spoke_is_unsaid_in_five_languages(said: str) -> None:
    for day in (date(2026, 11, 24), date(2026, 12, 20), date(2026, 3, 5), date(2031, 7, 8)):
        assert unsaid([said]).is_unsaid(day, "The day, YYYY-MM-DD")
    assert not unsaid([said]).is_unsaid(TODAY, "")


@pytest.mark.parametrize("said", [*SOME_DAY, *UNREAD])
def test_whatever_could_mean_a_day_or_cannot_be_read_speaks_for_it(said: str) -> None:
    assert not unsaid([said]).is_unsaid(date(2026, 11, 26), "")


@pytest.mark.parametrize("code", PHRASES)
def test_every_phrase_that_may_mean_a_day_speaks_for_it(code: str) -> None:
    request, phrases = PHRASES[code]
    day = date(2027, 7, 22)  # no number of the phrases leads to it
    assert unsaid([request.format("Ann")]).is_unsaid(day, "")
    held = [p for p in phrases.split("|") if unsaid([request.format(p)]).is_unsaid(day, "")]
    assert not held


def test_a_number_that_leads_to_the_day_speaks_for_it() -> None:
    said = ["Book a table at Roma for 4 people."]
    for day in (date(2026, 12, 4), date(2026, 11, 27), date(2026, 12, 21)):
        assert not unsaid(said).is_unsaid(day, "")


def test_earlier_turns_replies_and_results_speak_of_days_too() -> None:
    said, day = ["Put a meeting with Ann in the calendar."], date(2026, 11, 26)
    more = [*said, "That is fine for me."]
    assert unsaid(more).is_unsaid(day, "")
    assert not unsaid(["Thursday suits me and Ann.", *said]).is_unsaid(day, "")
    offer = Message("assistant", "Shall I take Thursday?")
    assert not unsaid(more, (offer,)).is_unsaid(day, "")
    assert not unsaid(said, results=({"lead_time": "3 days"},)).is_unsaid(day, "")
    assert not unsaid(said, results=({"open": "Thursday"},)).is_unsaid(day, "")
    assert unsaid(said, results=({"name": "Ann", "room": 7},)).is_unsaid(day, "")


@pytest.mark.parametrize(
    "rule",
    ["Meetings are entered three days ahead.", "Without a day use the next Thursday."],
)
def test_instructions_and_documentation_may_give_a_day(rule: str) -> None:
    said, day = ["Put a meeting with Ann in the calendar."], date(2026, 11, 26)
    assert not unsaid(said, system=f"{SYSTEM} {rule}").is_unsaid(day, "")
    for about in ("The day, by default tomorrow", "Sonst der nächste Werktag", "默认明天"):
        assert not unsaid(said).is_unsaid(day, about)


@pytest.mark.parametrize(
    "system",
    [
        "Current date: 2026-11-23",
        "Heute ist 2026-11-23.",
        "Hoy es 2026-11-23.",
        "今天是2026-11-23。",
        "اليوم 2026-11-23.",
    ],
)
def test_today_is_known_from_a_sentence_or_the_clock(system: str) -> None:
    said, day = ["Put a meeting with Ann in the calendar."], date(2026, 11, 26)
    assert unsaid(said, system=system).is_unsaid(day, "")
    assert unsaid(said, system="Help.", today=TODAY).is_unsaid(day, "")
    assert not unsaid(said, system="Help.").is_unsaid(day, "")
    assert not unsaid(said, system="The offer is of 2026-11-23.").is_unsaid(day, "")


@pytest.mark.parametrize(
    ("said", "day", "is_far"),
    [
        ("Book a table at Roma for 4 people.", date(2031, 7, 4), True),
        ("Book a table at Roma on the 4th for Ann and me.", date(2031, 7, 4), True),
        ("Book a table at Roma on the 4th for Ann and me.", date(2026, 12, 4), False),
        ("Book a table at Roma on July 4 for Ann and me.", date(2031, 7, 4), False),
        ("Book a table at Roma on 4/7 for Ann and me.", date(2031, 7, 4), False),
        ("Book a table at Roma on the 4th in 2031 for me.", date(2031, 7, 4), False),
        ("Book a table at Roma on the 4th, in five years.", date(2031, 7, 4), False),
        ("Buche uns einen Tisch im Roma am 4., bitte.", date(2031, 7, 4), True),
        ("Zarezerwuj stolik w Romie na 4 osoby.", date(2031, 7, 4), False),  # cannot be read
    ],
)
def test_a_day_is_too_far_where_neither_its_month_nor_its_year_was_said(
    said: str, day: date, is_far: bool
) -> None:
    assert unsaid([said]).is_too_far(day) is is_far
    assert not unsaid([said], system="Help.").is_too_far(day)  # no day is known


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("Book a table for Christmas Eve.", date(2026, 12, 24)),
        ("Enter it for the first Tuesday in June.", date(2027, 6, 1)),
        ("Trag das Treffen zu Ostern ein.", date(2027, 3, 28)),
        ("Apunta la cena de Semana Santa en el calendario.", date(2027, 3, 27)),
        ("请把春节聚会加到日历里。", date(2027, 2, 6)),
        ("أضف حفل عيد الفطر إلى التقويم.", date(2027, 3, 10)),
    ],
)
def test_a_season_or_a_month_may_mean_a_day_within_a_year(said: str, day: date) -> None:
    assert unsaid([said]).may_be_yearly(day)
    assert not unsaid([said]).may_be_yearly(day + timedelta(days=3 * 365))
    assert not unsaid(["Book a table at Roma, please."]).may_be_yearly(day)


@given(st.text(max_size=60), st.dates())
def test_any_text_and_day_can_be_judged(said: str, day: date) -> None:
    found = unsaid([said])
    assert found.is_unsaid(day, said) in (True, False)
    assert found.is_too_far(day) in (True, False)
    assert found.may_be_yearly(day) in (True, False)


def test_a_sentence_tells_which_day_it_is() -> None:
    texts = [
        "Today is 2026-03-10. Closed on 2026-03-20.",
        "Heute ist der 2026-03-11.",
        "2026-03-12",
    ]
    assert find_todays(texts) == {date(2026, 3, 10), date(2026, 3, 11)}


def test_a_documentation_may_speak_of_days() -> None:
    for about in ("birth year", "nights", "age", "Anzahl der Tage", "fecha", "天数", "عدد الأيام"):
        assert speaks_of_days(about), about
    for about in ("amount", "Betrag in Euro", "importe", "金额", "المبلغ"):
        assert not speaks_of_days(about), about


def time_unsaid(said: str, about: str = "", *results: Json) -> bool:
    returned = [ToolResult(f"r{n}", "g", {}, one) for n, one in enumerate(results)]
    known = ProvenanceIndex(said, [Message("system", SYSTEM)], returned)
    return UnsaidDays(known, [said], [TODAY], [TODAY]).is_time_unsaid(about)


def test_a_time_may_be_told_by_a_clock_a_word_or_the_documentation() -> None:
    said = "Put a meeting with Ann in the calendar tomorrow."
    assert time_unsaid(said, "The start.", {"free": True})
    assert not time_unsaid(f"{said[:-1]} morning.")
    assert not time_unsaid(said, "", {"free": "09:00"})
    assert not time_unsaid(said, "At 9 if it is not given.")
    assert not time_unsaid(said, "The next free one.")
    assert not time_unsaid("Wpisz spotkanie na jutro do kalendarza.")


REMINDER = "Add a reminder. The day, YYYY-MM-DD"
NAMES = "add reminder date"
AHEAD = [
    NAMES,
    "remind date",
    "create calendar event day",
    "calendar create event start",
    "book table date",
    "move appointment new date",
    "add task due date",
    "termin eintragen datum",
    "tisch reservieren datum",
    "crear recordatorio fecha",
    "添加提醒 日期",
    "اضافة تذكير التاريخ",
]
NOT_AHEAD = [  # names, documentation, and a request that has today without a word
    ("cancel meeting date", "Cancel a meeting.", "Cancel the meeting with Ann."),
    ("send email date", "Send an email about an event.", "Send Ann the agenda."),
    ("pay bill payment date", "Pay an amount due.", "Pay the electricity bill."),
    ("order product order date", "Order; delivery is due later.", "Order two filters."),
    ("add fee booking date", "Add a fee for a reminder.", "Add 5 euros of fee to the account."),
    ("send payment reminder date", "Send a reminder.", "Send Miller a payment reminder."),
    ("reserve meeting room date", "Reserve a meeting room.", "Find us a meeting room."),
    ("lend book date", "The due date follows.", "Lend 'Dune' to Ann."),
    ("book ride date", "The driver gets a reminder.", "Get me a ride to the station."),
    ("set alarm date", "Set an alarm.", "Set an alarm, please."),
]
STAMPED = [
    "Log a run.",
    "Record an expense.",
    "Create an invoice. due date",
    "Track an event.",
    "Trägt eine Ausgabe ins Haushaltsbuch ein.",
    "Registra un evento.",
    "记录一次活动。",
    "يسجل موعدا.",
    "Add a reminder. Today, unless given.",
    "Add an event to the audit trail.",
]
NOT_TODAY = [
    "Add a reminder about the plants.",
    "Add a reminder to renew the insurance.",
    "Book a table at Roma for 4 people.",
    "Please reserve a table for two with a view.",
    "Put a meeting with Ann in the calendar.",
    "Erinnere mich an die Pflanzen, bitte.",
    "Buche bitte einen Tisch im Roma mit Blick auf den Hafen.",
    "Leg bitte eine Aufgabe an: neue Filter kaufen.",
    "Ich hätte gern einen Tisch für vier Personen.",
    "Añade un recordatorio sobre las plantas, por favor.",
    "Recuérdame que riegue las plantas.",
    "Quiero una mesa de cuatro personas en el Roma.",
    "添加一个关于植物的提醒。",
    "提醒我给银行打电话。",
    "我想订一张四人桌。",
    "أضف تذكيرا بالنباتات.",
    "ذكرني بالاتصال بالبنك.",
    "احجز طاولة في مطعم روما على الشرفة.",
]
TODAY_MEANT = [
    "Book a table at Roma tonight for four.",
    "Remind me at 6 to call mom.",
    "Remind me at six to take the pizza out.",
    "Remind me in 20 minutes to check the oven.",
    "Set an alarm for 6.",
    "Dinner for two at Roma, 8ish.",
    "Put in my calendar that I watered the plants.",
    "Get us a table, we are waiting outside.",
    "Block my calendar, I'm sick.",
    "Remind me to stretch in 2h.",
    "Remind me to stretch in 2 hrs.",
    "Remind me to check the oven in ten.",
    "Remind me to buy milk on my way home.",
    "Remind me to put the bins out at bedtime.",
    "Remind me to water the plants this second.",
    "Set a reminder for seven thirty, please.",
    "Set a reminder for 7 please.",
    "Table for four at Roma, half seven.",
    "I'm at Roma and need a table for four.",
    "We're in front of Roma, get us a table for four.",
    "The kitchen is on fire, add an event.",
    "Add to the calendar that I broke my leg.",
    "Put the standup on my calendar, it's in progress.",
    "Add a task: call the bank. It can't wait.",
    "Add a task with high priority: call the bank.",
    "Mein Zahn schmerzt, mach einen Termin beim Arzt.",
    "Wir sind im Roma, bestell uns einen Tisch.",
    "Trag in den Kalender ein: ich laufe einen Marathon.",
    "Estamos en el Roma, pide una mesa.",
    "Apunta en el calendario que corrí un rato.",
    "我们在罗马餐厅门口，订一张桌子。",
    "Erinnere mich auf dem Heimweg an die Milch.",
    "Erinner mich in zehn an den Ofen.",
    "Trag in den Kalender ein, dass Ann lacht.",
    "Mach bitte einen Termin, es brennt in der Küche.",
    "Apunta una urgencia en el calendario: se quema la cocina.",
    "到家提醒我倒垃圾。",
    "饭后提醒我吃药。",
    "厨房着火，加个日程。",
    "ذكرني في طريقي إلى البيت بشراء الحليب.",
    "أضف إلى التقويم أن الثلج يتساقط.",
    "نشعر بالجوع، احجز طاولة في مطعم روما.",
    "Remind me to lock the door before I go to bed.",
    "Add a task: return the parcel by close of business.",
    "Ich brauche jetzt einen Tisch im Roma.",
    "Erinnere mich um acht an die Wäsche.",
    "Erinner mich in zehn Minuten an den Ofen.",
    "Tisch für zwei im Roma, halb acht bitte.",
    "Trag für 17 Uhr ein Treffen mit Ben ein.",
    "Trag ein, dass ich beim Zahnarzt war.",
    "Erinnere mich nachher daran, die Katze zu füttern.",
    "Recuérdame a las seis que llame a mi madre.",
    "Avísame en media hora para apagar el horno.",
    "Mesa para dos en el Roma a eso de las nueve.",
    "Apunta en el calendario que he regado las plantas.",
    "Estamos llegando al Roma, pide una mesa.",
    "六点提醒我给妈妈打电话。",
    "二十分钟后提醒我关火。",
    "待会儿提醒我收衣服。",
    "睡觉前提醒我锁门。",
    "在日历里记下我给植物浇过水了。",
    "新任务：下班前把报告发给老板。",
    "ذكرني في السادسة أن أتصل بأمي.",
    "ذكرني بعد عشرين دقيقة أن أطفئ الفرن.",
    "احجز طاولة الليلة في مطعم روما.",
    "أضف إلى التقويم أنني سقيت النباتات.",
    "Przypomnij mi o roślinach.",  # cannot be read
]


@pytest.mark.parametrize("said", NOT_TODAY)
def test_today_is_unsaid_of_what_is_to_come_where_nobody_spoke_of_a_day(said: str) -> None:
    assert unsaid([said]).is_unsaid(TODAY, REMINDER, NAMES)
    assert unsaid([said], system="Help.", today=TODAY).is_unsaid(TODAY, REMINDER, NAMES)
    assert not unsaid([said], system="Help.").is_unsaid(TODAY, REMINDER, NAMES)


@pytest.mark.parametrize(
    "said", [*TODAY_MEANT, *UNREAD, *(one for one in SOME_DAY if " in 3 " not in one)]
)
def test_a_time_a_word_for_now_and_what_was_done_mean_today(said: str) -> None:
    assert not unsaid([said]).is_unsaid(TODAY, REMINDER, NAMES)


def test_only_what_is_to_come_has_a_day_of_its_own() -> None:
    said = ["Please do it with the plants for Ann."]
    for names in AHEAD:
        assert unsaid(said).is_unsaid(TODAY, "Add an entry.", names), names
        for about in STAMPED:
            assert not unsaid(said).is_unsaid(TODAY, about, names), about
    assert not unsaid(said).is_unsaid(TODAY, REMINDER)
    for names, about, request in NOT_AHEAD:
        assert not unsaid([request]).is_unsaid(TODAY, about, names), names


def test_a_clause_of_an_english_question_names_a_day_and_a_question_word_does_not() -> None:
    day = date(2026, 11, 28)
    assert not unsaid(["When Ann comes, could you book a table at Roma?"]).is_unsaid(day, "")
    assert unsaid(["When is the meeting with Ann and Bob?"]).is_unsaid(day, "")


@pytest.mark.parametrize("text", ["1" * 30_000, "1a_" * 10_000, "a" * 30_000, "٣" * 30_000])
def test_a_long_row_of_signs_is_read_in_time_that_grows_with_it(text: str) -> None:
    start = time.perf_counter()
    unsaid([f"Add a reminder about {text}."]).is_unsaid(TODAY, text, NAMES)
    assert time.perf_counter() - start < 10


def test_whoever_speaks_of_a_day_or_a_result_gives_today() -> None:
    said = ["Add a reminder about the plants.", "Please do it, and tell Ann of it."]
    reply = (Message("assistant", "Shall I set it for today?"),)
    assert unsaid(said).is_unsaid(TODAY, REMINDER, NAMES)
    assert not unsaid(said, reply).is_unsaid(TODAY, REMINDER, NAMES)
    assert not unsaid(said, results=({"free": "2026-11-23"},)).is_unsaid(TODAY, REMINDER, NAMES)
    assert not unsaid([f"{said[0]} 2026-11-23"]).is_unsaid(TODAY, REMINDER, NAMES)


@pytest.mark.parametrize(
    "system",
    [
        "Heute ist Montag, der 23. November 2026. Hilf im Haushalt.",
        "Hoy es lunes, 23 de noviembre de 2026. Ayudas en casa.",
        "今天是2026年11月23日。你是家庭助手。",
        "اليوم هو الاثنين 2026-11-23. أنت مساعد في المنزل.",
    ],
)
def test_today_is_told_in_five_languages(system: str) -> None:
    assert find_todays([system]) == {TODAY}
    assert unsaid([NOT_TODAY[0]], system=system).is_unsaid(TODAY, REMINDER, NAMES)


@pytest.mark.parametrize(
    "free", ["Monday", "Mon 18:15", "today", "heute", "hoy", "今天", "星期一", "اليوم"]
)
def test_a_result_speaks_of_today_in_words(free: str) -> None:
    said = "Add a reminder about the plants."
    assert not unsaid([said], results=({"free": free},)).is_unsaid(TODAY, REMINDER, NAMES)
    assert unsaid([said], results=({"name": "Ann"},)).is_unsaid(TODAY, REMINDER, NAMES)


@pytest.mark.parametrize(("due", "expected"), [("2026-12-20", True), (str(TODAY), False)])
def test_of_what_came_back_only_today_means_today(due: str, expected: bool) -> None:
    said = "ذكّرني بتجديد جواز السفر."
    sources = ProvenanceIndex(said, days=[TODAY], today=TODAY)
    bills = [{"name": name, "due": due} for name in ("الماء", "الإنترنت")]  # holds a word for now
    sources.add_result(ToolResult("r1", "list_bills", {}, bills))
    days = UnsaidDays(sources, [said], [TODAY, date.fromisoformat(due)], [])
    assert days.is_nowhere(TODAY, "The day, YYYY-MM-DD") is expected
