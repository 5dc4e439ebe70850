"""Units of measure: what they are called, and whether one value can be another in a different
unit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """``value * factor + offset`` gives the dimension's reference unit."""

    name: str
    dimension: str
    factor: float = 1.0
    offset: float = 0.0


_TABLE = """
length m 1 m metre metres meter meters
length km 1000 km kms kilometre kilometres kilometer kilometers
length cm 0.01 cm centimetre centimetres centimeter centimeters
length mm 0.001 mm millimetre millimetres millimeter millimeters
length mi 1609.344 mi mile miles
length nmi 1852 nmi nautical_mile nautical_miles nm
length ft 0.3048 ft foot feet
length in 0.0254 inch inches
length yd 0.9144 yd yard yards
mass kg 1000 kg kgs kilo kilos kilogram kilograms kilogramme kilogrammes
mass g 1 g gram grams gramme grammes
mass mg 0.001 mg milligram milligrams
mass t 1000000 tonne tonnes metric_ton metric_tons
mass lb 453.59237 lb lbs pound_weight
mass oz 28.349523 oz ounce ounces
time s 1 s sec secs second seconds
time ms 0.001 ms msec millisecond milliseconds millis
time min 60 min mins minute minutes
time h 3600 h hr hrs hour hours
time day 86400 day days
time week 604800 week weeks
months month 1 month months
years year 1 year years yr yrs
speed km/h 1 km/h kmh kph kmph km/hr kilometres_per_hour kilometers_per_hour
speed mph 1.609344 mph mi/h miles_per_hour
speed m/s 3.6 m/s mps meters_per_second metres_per_second
speed kn 1.852 kn knot knots kt kts
temperature C 1 °c c celsius degrees_celsius degree_celsius deg_c centigrade degrees_c
temperature F 1 °f f fahrenheit degrees_fahrenheit degree_fahrenheit deg_f degrees_f
temperature K 1 kelvin kelvins
angle deg 1 ° deg degree degrees
area m2 1 m² m2 sqm square_metres square_meters square_metre square_meter sq_m
area km2 1000000 km² km2 sq_km sqkm square_kilometres square_kilometers square_kilometre square_kilometer
area mi2 2589988.11 mi² mi2 sq_mi sqmi square_miles square_mile
area ft2 0.09290304 ft² sq_ft sqft square_feet square_foot
area ha 10000 ha hectare hectares
area acre 4046.856 acre acres
volume l 1 l litre litres liter liters
volume ml 0.001 ml millilitre millilitres milliliter milliliters
volume m3 1000 m³ m3 cubic_metres cubic_meters
volume gal 3.785411784 gal gallon gallons
data B 1 byte bytes
data KB 1000 kb kilobyte kilobytes
data MB 1000000 mb megabyte megabytes
data GB 1000000000 gb gigabyte gigabytes
data TB 1000000000000 tb terabyte terabytes
data KiB 1024 kib
data MiB 1048576 mib
data GiB 1073741824 gib
pressure hPa 1 hpa mbar millibar millibars hectopascal hectopascals
pressure kPa 10 kpa kilopascal kilopascals
pressure bar 1000 bar bars
pressure inHg 33.863886 inhg
pressure psi 68.947573 psi
power W 1 w watt watts
power kW 1000 kw kilowatt kilowatts
power MW 1000000 megawatt megawatts
power hp 735.49875 hp horsepower ps
energy kWh 1 kwh kilowatt_hour kilowatt_hours
energy Wh 0.001 wh
energy kcal 0.00116222 kcal calories calorie kilocalories
energy kJ 0.000277778 kj kilojoule kilojoules
frequency Hz 1 hz hertz
frequency kHz 1000 khz
frequency MHz 1000000 mhz
frequency GHz 1000000000 ghz
share % 1 % percent per_cent pct percentage_points
money USD 1 $ usd us$ dollar dollars us_dollar us_dollars bucks
money EUR 1 € eur euro euros
money GBP 1 £ gbp pound_sterling pounds_sterling pounds british_pounds british_pound
money JPY 1 ¥ jpy yen japanese_yen
money CHF 1 chf swiss_franc swiss_francs francs
money CNY 1 cny rmb yuan renminbi
money INR 1 ₹ inr rupee rupees indian_rupees
money CAD 1 cad canadian_dollar canadian_dollars c$
money AUD 1 aud australian_dollar australian_dollars a$
money BRL 1 brl r$ real reais
money KRW 1 krw ₩ won
money SEK 1 sek swedish_krona swedish_kronor kronor
money NOK 1 nok norwegian_krone
money DKK 1 dkk danish_krone danish_kroner
money PLN 1 pln zloty złoty
money CZK 1 czk koruna
money TRY 1 try_ lira turkish_lira
money MXN 1 mxn peso pesos mexican_pesos
money NZD 1 nzd new_zealand_dollars
money ZAR 1 zar rand
money SGD 1 sgd singapore_dollars
money HKD 1 hkd hong_kong_dollars
money RUB 1 rub ruble rubles roubles
money THB 1 thb baht
money ILS 1 ils shekel shekels
money BTC 1 btc bitcoin bitcoins
money cent 1 cent cents
"""

UNITS: dict[str, Unit] = {}
ALIASES: dict[
    str, str
] = {}  # how people and keys write it, lower case, words joined by a space -> name
for _line in _TABLE.strip().splitlines():
    _dimension, _name, _factor, *_words = _line.split()
    UNITS[_name] = Unit(_name, _dimension, float(_factor))
    for _word in _words:
        ALIASES[_word.rstrip("_").replace("_", " ")] = _name
UNITS["F"] = Unit("F", "temperature", 5 / 9, -160 / 9)
UNITS["K"] = Unit("K", "temperature", 1.0, -273.15)

# Keys write units as last words: distance_km, tempC, price_usd, durationMinutes, total_sqft.
KEY_UNITS = {a: n for a, n in ALIASES.items() if re.fullmatch(r"[a-z]{2,}|[a-z]{1,3}[23]?", a)} | {
    "pct": "%"
}
for _short in ("c", "f", "m", "s", "h", "g", "l", "w", "in", "real", "won", "try", "bar", "foot", "second", "day",
               "days", "cent", "week", "month", "year", "years", "months", "weeks", "pounds", "mi", "min", "ps", "t",
               "rub", "nm", "kn", "rand", "degrees", "degree"):  # fmt: skip
    KEY_UNITS.pop(_short, None)
# What only a last word of a key says: distance_m, temp_c, wind_mi; "min" is a minimum unless the
# key is a time.
TAIL_UNITS = {
    "c": "C", "f": "F", "m": "m", "s": "s", "h": "h", "g": "g", "l": "l", "mi": "mi", "days": "day", "weeks": "week",
    "years": "year", "months": "month", "nm": "nmi", "w": "W", "degrees": "deg",
}  # fmt: skip

_TOLERANT = {
    frozenset(("m", "min")),
    frozenset(("deg", "C")),
    frozenset(("deg", "F")),
    frozenset(("deg", "K")),
}
_BINARY = {"KB": 1024.0, "MB": 1024.0**2, "GB": 1024.0**3, "TB": 1024.0**4}


def same(a: str, b: str) -> bool:
    """Whether two unit names may mean the same unit ("" means: not said)."""
    return not a or not b or a == b or frozenset((a, b)) in _TOLERANT


def conversions(value: float, source: str, target: str) -> tuple[float, ...]:
    """``value`` in ``source`` expressed in ``target``; empty where no conversion exists (money
    included).
    """
    a, b = UNITS.get(source), UNITS.get(target)
    if a is None or b is None or a.dimension != b.dimension or a.dimension in ("money", "share"):
        return ()
    found = [(value * a.factor + a.offset - b.offset) / b.factor]
    if "hp" in (source, target):  # metric and mechanical horsepower go by one name
        found.append(
            found[0] * (735.49875 / 745.699872 if target == "hp" else 745.699872 / 735.49875)
        )
    if a.dimension == "data":
        low, high = _BINARY.get(source, a.factor), _BINARY.get(target, b.factor)
        found.append(value * low / high)
    return tuple(found)


_AMBIGUOUS = {"GBP": ("lb",), "deg": ("C", "F"), "m": ("min",)}  # "pounds", "degrees", "5m"


def readings(name: str) -> tuple[str, ...]:
    """The units that a written unit may stand for, the likeliest first."""
    return (name, *_AMBIGUOUS.get(name, ()))


def relatives(name: str) -> tuple[str, ...]:
    """The other units of the same dimension."""
    unit = UNITS.get(name)
    if unit is None or unit.dimension in ("money", "share"):
        return ()
    return tuple(n for n, u in UNITS.items() if u.dimension == unit.dimension and n != name)
