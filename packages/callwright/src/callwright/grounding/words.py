"""Words as the checker compares them: folded, stemmed, and grouped where a key and a sentence say
the same thing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_TOKEN = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def fold(text: str) -> str:
    """Lower case, accents removed."""
    if text.isascii():
        return text.lower()
    return "".join(
        c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)
    ).casefold()


def tokens(text: str) -> list[str]:
    return _TOKEN.findall(fold(text))


def key_tokens(key: str) -> list[str]:
    """The words of a key: ``totalPassengers``, ``total_passengers`` and ``total-passengers`` are
    the same.
    """
    return tokens(_CAMEL.sub(" ", key))


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A light English stem: enough to join arrive, arrives, arrival; not a dictionary."""
    if len(word) <= 3 or not word.isascii():
        return word
    for end, keep in (("ies", "y"), ("sses", "ss"), ("ations", "ate"), ("ation", "ate"), ("ings", ""), ("ing", ""),
                      ("edly", ""), ("ied", "y"), ("ed", ""), ("ement", "e"), ("ments", ""), ("ment", ""), ("ness",
                      ""),
                      ("ally", "al"), ("ly", ""), ("ers", "er"), ("als", "al"), ("es", "e"), ("s", "")):  # fmt: skip
        if (
            word.endswith(end)
            and len(word) - len(end) >= 3
            and not (end == "s" and word.endswith("ss"))
        ):
            word = word[: len(word) - len(end)] + keep
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


# One line: words that name the same attribute, the concept first. Keys and statements are both read
# through it.
_CONCEPTS = """
population people inhabitant inhabitants resident residents populous citizens live lives living populated home
departure depart departs departing departed leave leaves leaving takeoff
departure origin start starts etd takes_off off dep from
arrival arrive arrives arriving arrived land lands landing destination eta reach reaches gets_in touches arr
duration length lasts last long takes take elapsed runtime travel_time runs
distance far away apart km kilometer kilometre mile miles separated
price cost costs priced fare amount fee charge charged sells rate paid pay pays spend buy worth expensive cheap
temperature temp degrees warm cold hot celsius fahrenheit thermometer mercury
humidity humid moisture
wind windspeed gust winds blowing breeze
elevation altitude height tall high above sits
area size surface covers spans extends square
rating rated score stars scored rates vote_average
votes voters vote_count reviews reviewers ratings
name called named title known titled
stargazers stars starred
hq headquarters headquartered based
dst daylight saving savings
ip address host
parcel package shipment
margin share
sunrise rises dawn rise sun_up
sunset sets dusk set sun_down
timezone zone tz offset
currency money
founded established founding founding_year created since foundation opened inception
release released releases premiere premiered came_out launch launched published
birth born birthday
death died
speed fast velocity quick
weight weighs weigh mass heavy
count number total quantity sum how_many
email mail address
phone telephone call tel
capacity seats seat holds hold capacities
stock available inventory quantity units left
revenue sales turnover income margin earned earnings
profit net gain margin
budget
open opening opens hours
close closing closes closed
lowest low minimum min least
highest high maximum max peak
mean average avg typical
author writer written wrote by
director directed directs
holiday holidays celebrated observed
age old aged years
width wide
depth deep
salary wage earns pay paid
country nation
language spoken speak
status state
forecast expected outlook
precipitation rain rainfall snow
pressure barometer
visibility
weekday day
followers follow following_count subscribers
views viewed watched
likes liked
downloads downloaded
gdp economy
tax vat
discount off reduction reduced
employees staff workers
stops stopovers layovers changes connections
goals scored
wins win won victories victory
losses loss lost lose defeats
used use uses using occupied taken
platform track
gate
terminal
floor storey stories level
bedrooms bedroom beds
year
latitude lat
longitude lon lng
"""
_GROUPS: dict[str, frozenset[str]] = {}
for _line in _CONCEPTS.strip().splitlines():
    _head, *_others = _line.split()
    for _word in (_head, *_others):
        _stem = stem(_word)
        _GROUPS[_stem] = _GROUPS.get(_stem, frozenset()) | {"=" + _head}

_NOT_ATTRIBUTES = {stem(w) for w in (
    "the a an of in on at to for and or is are was were be has have had its it this that with by as from data result "
    "results response value values item items info list object payload body content output json get fetch search "
    "find "
    "lookup query api tool for_ per not there which will your you"
).split()}  # fmt: skip


@lru_cache(maxsize=20_000)
def concepts(word: str) -> frozenset[str]:
    """What a word may name: its stem and the attribute concepts it belongs to."""
    root = stem(word)
    if root not in _GROUPS:  # cheaper, warmest
        bare = re.sub(r"(?:i?er|i?est)$", "", word)
        root = next(
            (r for r in (stem(bare), stem(bare + "e"), bare[:-1]) if bare != word and r in _GROUPS),
            root,
        )
    if root in _NOT_ATTRIBUTES or len(root) < 2:
        return _GROUPS.get(root, frozenset())
    return _GROUPS.get(root, frozenset()) | {root}


def all_concepts(words: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for word in words:
        found |= concepts(word)
    return frozenset(found)
