"""Invented people and the invented countries they were born in: questions about them cannot be
answered from memory.

Everything follows from the lists below by counting, so the same number always means the same
person.
"""

from __future__ import annotations

from dataclasses import dataclass

_FIRST = (
    "Alma Borin Cezara Dovid Elske Farun Gisla Hadrin Ilvara Joren Katla Lomir Mirela Naveed Odalys"
    " Perrin".split()
)
_LAST = (
    "Averin Brandlow Castero Dalmark Estvane Fenwhistle Grolvik Haldanor Istrate Jorvane Kessling"
    " Lunmark".split()
)
_MONTHS = (
    "January February March April May June July August September October November December".split()
)
_TRADES = (
    "novelist",
    "cellist",
    "fencer",
    "painter",
    "astronomer",
    "film director",
    "chess player",
    "botanist",
)


@dataclass(frozen=True, slots=True)
class Country:
    """``names``: in Japanese, Spanish, Russian, Estonian and Urdu. Latitude and longitude are
    rounded.
    """

    name: str
    capital: str
    currency: str
    currency_short: str
    currency_symbol: str
    calling_code: str
    domain: str
    ccn3: str
    latitude: int
    longitude: int
    names: tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    trade: str
    town: str
    country: Country
    day: int
    month: str
    year: int

    @property
    def birthdate(self) -> str:
        return f"{self.month} {self.day}, {self.year}"


COUNTRIES = (
    Country("Velmark", "Sundholm", "velmark krona", "VMK", "vk", "+971-1", ".vm", "901", 61, 12,
            ("ヴェルマーク", "Velmarca", "Вельмарк", "Velmarki", "ویلمارک")),
    Country("Ostrania", "Brezova", "ostranian lev", "OSL", "ol", "+971-2", ".os", "902", 44, 26,
            ("オストラニア", "Ostrania la Vieja", "Острания", "Ostraania", "اوسترانیا")),
    Country("Qasmira", "Tel Anwar", "qasmiri dinar", "QSD", "qd", "+971-3", ".qs", "903", 33, 47,
            ("カスミラ", "Casmira", "Касмира", "Kasmiira", "قاسمیرہ")),
    Country("Pelagia", "Port Merrin", "pelagian crown", "PLC", "pc", "+971-4", ".pg", "904", -12, 96,
            ("ペラギア", "Pelagia del Sur", "Пелагия", "Pelaagia", "پلاگیا")),
    Country("Tavira Norte", "Sao Teles", "taviran escudo", "TVE", "te", "+971-5", ".tv5", "905", 8, -31,
            ("北タヴィラ", "Tavira del Norte", "Северная Тавира", "Põhja-Tavira", "شمالی تاویرا")),
    Country("Hjorland", "Eskifell", "hjorlandic mark", "HJM", "hm", "+971-6", ".hj", "906", 66, -19,
            ("ヒョルランド", "Hiorlandia", "Хьорланд", "Hjorimaa", "ہیورلینڈ")),
    Country("Sambele", "Kitumba", "sambele shilling", "SBS", "ss", "+971-7", ".sb7", "907", -4, 29,
            ("サンベレ", "Sambelia", "Самбеле", "Sambeele", "سامبیلے")),
    Country("Lirien", "Aurelune", "lirien franc", "LRF", "lf", "+971-8", ".lr", "908", 47, 3,
            ("リリアン", "Liriana", "Лириен", "Liriaania", "لیرین")),
)  # fmt: skip
_TOWNS = (
    "Old Ferry",
    "Saint Orla",
    "Millhaven",
    "Upper Drova",
    "Karsa",
    "Bellwater",
    "Nine Elms",
    "Tolven",
)
PEOPLE = len(_FIRST) * len(_LAST)


def make_person(number: int) -> Person:
    """The person of this number; numbers beyond :data:`PEOPLE` begin again."""
    first, last = _FIRST[number % len(_FIRST)], _LAST[number // len(_FIRST) % len(_LAST)]
    mixed = (number * 37 + 11) % 9973
    return Person(
        name=f"{first} {last}",
        trade=_TRADES[mixed % len(_TRADES)],
        town=_TOWNS[mixed // 3 % len(_TOWNS)],
        country=COUNTRIES[mixed // 5 % len(COUNTRIES)],
        day=1 + mixed % 28,
        month=_MONTHS[mixed % 12],
        year=1902 + mixed % 88,
    )
