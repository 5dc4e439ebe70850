"""The ways in which a tool of the broken-tools benchmark is broken, after GRETEL's Table 4, and
which tools are.

Every kind is really carried out by the server behind the tool; nobody is told. What Table 4 names:
parameter mismatch (missing mandatory parameter, wrong schema), semantic mismatch (empty reply,
stale description, decoy twin, a plausible answer about another thing), execution failure
(authentication, server error, a documented endpoint that is not there).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from callwright.nouns.types import Json, JsonObject, compute_digest

Kind = Literal[
    "missing_parameter", "wrong_schema", "empty", "stale", "decoy", "elsewhere", "auth",
    "server_error", "gone",
]  # fmt: skip
Shares = Mapping[str, tuple[int, tuple[Kind, ...]]]
SHARES: Shares = {
    "parameter_mismatch": (42, ("missing_parameter", "wrong_schema")),
    "semantic_mismatch": (25, ("empty", "stale", "decoy", "elsewhere")),
    "execution_failure": (18, ("auth", "server_error", "gone")),
}
"""Table 4: per cent of trials, and the kinds among which a class is shared out alike."""

SETS: Mapping[str, Shares] = {
    "1": {**SHARES, "semantic_mismatch": (25, ("empty", "stale", "decoy"))},
    "2": SHARES,
}
"""The sets of breakages. Figures of before 2026-11-27 are of the first, whose broken tools never
answer well-formed and about another thing.
"""

RATES = (0, 15, 30, 50)
SEED = "callwright broken tools 1"

_WANTED = (
    ("carrier_code", "Code of your contract carrier."),
    ("account_id", "Id of the customer account that is charged."),
    ("tenant", "Id of your organisation's tenant."),
    ("licence_number", "Number of your data licence."),
    ("terminal_id", "Id of the terminal that asks."),
    ("project_number", "Number of the project the request belongs to."),
)
_UNSAID = ("geohash", "wmo_code", "locale_id", "uic_number", "region_key", "dataset_version")
_EMPTY: tuple[Json, ...] = ({"results": [], "count": 0}, {"data": None}, [], {"items": []}, {})
_STALE: tuple[Json, ...] = (
    {
        "message": "This resource has moved to v3. See the migration guide.",
        "documentation_url": "/docs/v3",
    },
    {"notice": "Data collection for this product ended in 2019.", "records": []},
    {
        "status": "ok",
        "changelog": ["2.0: endpoint removed, use the bulk export"],
        "next_release": "unknown",
    },
)
_DECOY: tuple[Json, ...] = (
    {"horoscope": "A good day for long walks.", "lucky_number": 7, "sign": "Libra"},
    {"quote": "Well begun is half done.", "by": "Aristotle", "category": "proverbs"},
    {"fact": "Honey never spoils when it is sealed.", "source": "trivia", "likes": 211},
    {"joke": "Why did the scarecrow win a prize? He was outstanding in his field.", "rating": 3},
)
_ELSEWHERE: tuple[Json, ...] = (
    {"name": "Springfield", "population": 58_210, "region": "Hampden", "updated": "2026-10-02"},
    {"title": "Quarterly summary", "author": "R. Okafor", "pages": 14, "status": "published"},
    {"results": [{"name": "Larkfield Station", "lines": 3, "opened": 1911}], "count": 1},
)
_AUTH = (
    (401, "Invalid API key."),
    (403, "You are not subscribed to this API."),
    (401, "Missing bearer token."),
)
_ERRORS = ((500, "Internal server error"), (503, "Service unavailable"), (502, "Bad gateway"))


@dataclass(frozen=True, slots=True)
class Breakage:
    """One way in which a tool is broken. ``variant`` selects one of the forms in which servers show
    it.
    """

    kind: Kind
    variant: int

    @property
    def outcome(self) -> str:
        """The class of Table 4."""
        return next(name for name, (_, kinds) in SHARES.items() if self.kind in kinds)

    @property
    def answers_elsewhere(self) -> bool:
        """Return True if the tool answers as documented, and about another thing than it was asked
        for. Servers that can make up such an answer do; of others :meth:`reply` is one.
        """
        return self.kind == "elsewhere"

    @property
    def documented(self) -> tuple[str, JsonObject] | None:
        """A parameter that the documentation demands on top: its name and schema."""
        if self.kind != "missing_parameter":
            return None
        name, about = _WANTED[self.variant % len(_WANTED)]
        return name, {"type": "string", "description": about}

    def reply(self) -> tuple[int, Json]:
        """Status and body, whatever was asked: no argument that a request could give repairs it."""
        at = self.variant
        match self.kind:
            case "missing_parameter":
                return 400, {"error": {"message": f"unknown {_WANTED[at % len(_WANTED)][0]}"}}
            case "wrong_schema":
                name = _UNSAID[at % len(_UNSAID)]
                return 422, {
                    "detail": [{"loc": ["query", name], "msg": "field required", "type": "missing"}]
                }
            case "empty":
                return 200, _EMPTY[at % len(_EMPTY)]
            case "stale":
                return 200, _STALE[at % len(_STALE)]
            case "decoy":
                return 200, _DECOY[at % len(_DECOY)]
            case "elsewhere":
                return 200, _ELSEWHERE[at % len(_ELSEWHERE)]
            case "auth":
                status, said = _AUTH[at % len(_AUTH)]
            case "server_error":
                status, said = _ERRORS[at % len(_ERRORS)]
            case "gone":
                status, said = 404, "The requested endpoint does not exist."
        return status, {"message": said}


def choose_broken_tools(
    families: Mapping[str, Sequence[str]], rate: int, shares: Shares = SHARES
) -> dict[str, Breakage]:
    """Return the broken tools and their breakages at a rate (per cent of the tools that have a
    twin), of a set's kinds.

    The sets grow with the rate; of every family one tool stays intact. They depend on names alone,
    so they are fixed before anything is ranked. The kinds keep Table 4's shares at every rate, as
    far as whole tools allow.
    """
    family_of = {
        tool: family for family, tools in families.items() if len(tools) > 1 for tool in tools
    }
    order = sorted(family_of, key=lambda tool: compute_digest([SEED, tool]))
    left = {family: len(tools) - 1 for family, tools in families.items()}
    chosen: list[str] = []
    for tool in order:
        if left[family_of[tool]] > 0:
            left[family_of[tool]] -= 1
            chosen.append(tool)
    wanted = round(len(order) * rate / 100)
    return {
        tool: Breakage(*_choose_kind(place, shares)) for place, tool in enumerate(chosen[:wanted])
    }


def _choose_kind(place: int, shares: Shares) -> tuple[Kind, int]:
    """The kind of the n-th broken tool: at every n the class that lags most behind its share
    (largest remainder).
    """
    total = sum(share for share, _ in shares.values())
    given = dict.fromkeys(shares, 0)
    for n in range(place + 1):
        name = max(shares, key=lambda each: (n + 1) * shares[each][0] / total - given[each])
        given[name] += 1
    kinds = shares[name][1]
    turn = given[name] - 1
    return kinds[turn % len(kinds)], turn // len(kinds)
