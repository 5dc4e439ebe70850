"""Units and currencies. Data: pint's unit definitions (BSD); the European Central Bank's euro
reference rates.
"""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from math import fsum
from typing import TYPE_CHECKING, Annotated, TypedDict

from currency_converter import CurrencyConverter, RateNotFoundError  # type: ignore[import-untyped]

from callwright.nouns.errors import ToolError

from .daylight import Day, parse_day

if TYPE_CHECKING:
    import pint

SOURCE = "European Central Bank, euro foreign exchange reference rates"
Code = Annotated[str, "ISO code of a currency, three letters"]


class Converted(TypedDict):
    value: float
    unit: str


class Rate(TypedDict):
    base: str
    quote: str
    rate: float
    date: str
    source: str


class Money(TypedDict):
    amount: float
    currency: str
    rate_date: str
    source: str


class Currencies(TypedDict):
    currencies: list[str]


class RateChange(TypedDict):
    base: str
    quote: str
    start_rate: float
    end_rate: float
    percent: float


class Share(TypedDict):
    percent: float


class Part(TypedDict):
    amount_each: float


class Sum(TypedDict):
    total: float


@cache
def _units() -> pint.UnitRegistry[float]:
    import pint

    return pint.UnitRegistry(autoconvert_offset_to_baseunit=True)


@cache
def _rates() -> CurrencyConverter:
    return CurrencyConverter()


def convert_units(
    value: float,
    from_unit: Annotated[str, "such as kilometer, feet, degC"],
    to_unit: Annotated[str, "such as nautical_mile, meter, degF"],
) -> Converted:
    """Convert a number from one unit of measurement to another. Not for currencies."""
    units = _units()
    try:
        found = units.Quantity(value, _unit(from_unit)).to(_unit(to_unit))
    except (
        Exception
    ) as exc:  # pint raises its own, tokenizer's and arithmetic errors for bad unit names
        raise ToolError(f"cannot convert {from_unit!r} to {to_unit!r}: {exc}") from exc
    return Converted(value=float(f"{found.magnitude:.7g}"), unit=to_unit)


def exchange_rate(base: Code, quote: Code, date: Day) -> Rate:
    """How much of the quote currency one unit of the base currency was worth on a date."""
    rate, day = _rate(base, quote, date)
    return Rate(
        base=base.upper(), quote=quote.upper(), rate=float(f"{rate:.6g}"), date=day, source=SOURCE
    )


def convert_currency(amount: float, from_currency: Code, to_currency: Code, date: Day) -> Money:
    """Convert an amount of money at the reference rate of a date."""
    rate, day = _rate(from_currency, to_currency, date)
    return Money(
        amount=round(amount * rate, 2), currency=to_currency.upper(), rate_date=day, source=SOURCE
    )


def add_up(amounts: list[float]) -> Sum:
    """Add numbers, such as amounts in one currency."""
    return Sum(total=round(fsum(amounts), 6))


def list_currencies() -> Currencies:
    """The codes of all currencies that rates are published for."""
    return Currencies(currencies=sorted(_rates().currencies))


def rate_change(base: Code, quote: Code, start: Day, end: Day) -> RateChange:
    """By how many per cent a currency gained or lost against another between two dates."""
    before, after = _rate(base, quote, start)[0], _rate(base, quote, end)[0]
    return RateChange(
        base=base.upper(),
        quote=quote.upper(),
        start_rate=float(f"{before:.6g}"),
        end_rate=float(f"{after:.6g}"),
        percent=round(100 * (after / before - 1), 2),
    )


def percent_of(part: float, whole: float) -> Share:
    """How many per cent of the whole a part is."""
    if whole == 0:
        raise ToolError("the whole must not be zero")
    return Share(percent=round(100 * part / whole, 2))


def split_amount(amount: float, people: int) -> Part:
    """An amount divided by a number of people."""
    if people < 1:
        raise ToolError("people must be at least 1")
    return Part(amount_each=round(amount / people, 2))


def _unit(text: str) -> str:
    """Names as people write them: "nautical miles" is nautical_mile to pint."""
    words = text.strip().replace("°", "deg")
    return "_".join(words.split()) if words.replace(" ", "").isalpha() else words


def _rate(base: str, quote: str, date: str) -> tuple[float, str]:
    """The rate of the date, or of the last day before it with a rate (weekends, bank holidays)."""
    day, table = parse_day(date), _rates()
    for code in (base, quote):
        if code.strip().upper() not in table.currencies:
            raise ToolError(f"the European Central Bank publishes no rate for {code!r}")
    for back in range(8):
        tried = day - timedelta(back)
        try:
            return table.convert(
                1, base.strip().upper(), quote.strip().upper(), date=tried
            ), tried.isoformat()
        except RateNotFoundError:
            continue
    raise ToolError(f"no rate for {base} and {quote} on {date} or in the week before it")
