"""The runs that are recorded: a strategy, a request, and what the model says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from golden import names
from golden.world import World

QUERY = (
    "Book a room at the airport of Oslo for Ann, note her at the north desk, bill her, "
    "and say how many people live there."
)
CANCEL = "Cancel the orders B1 and B2."
ORDER = "What is the status of Ann's order, and where is its depot?"
TOOLS = ("find_airport", "book", "note", "bill", "population")
LAYERS = (["find_airport"], ["book", "note", "bill"], ["population"])
SAID = {"statements": [{"text": "7 people live at OSL.", "results": ["r5"]}], "missing": []}
NOTHING: dict[str, Any] = {"statements": [], "missing": []}
END = {"thought": "", "action": {"tool": "finish", "reason": "done"}}
NO_CALL = {**END, "useful": ["none"], "reason": "done"}
BACK = {"thought": "", "action": {"tool": "give_up_and_restart", "reason": "a dead end"}}


@dataclass(frozen=True)
class Scenario:
    """One run. ``script`` is what the model says while the run is recorded, by purpose.

    ``killed_at``: the process ends at the first event of this kind, and a second one goes on.
    ``approve`` answers who asks for approval, by tool argument.
    """

    strategy: str
    script: Any
    query: str = QUERY
    only: tuple[str, ...] = TOOLS
    layers: tuple[list[str], ...] = LAYERS
    plan: names.Plan | None = None
    unstable: tuple[str, ...] = ()
    killed_at: str = ""
    approve: Callable[[Any], bool] | None = None
    json: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)

    def setup(self, world: World, model: Any, **options: Any) -> names.Orchestrator:
        """Return what runs it, with a model that answers by this function or script."""
        script = model if callable(model) else in_order(model)
        asked = names.ScriptedModel(script, capabilities=names.Capabilities(json_schema=self.json))
        strategy = names.Given(self.plan) if self.plan is not None else self.strategy
        given = {
            "strategy": strategy,
            "only": None if "shortlist" in self.options else self.only,
            "planner": names.FixedPlan(*self.layers),
            "today": lambda: date(2026, 1, 2),
            **self.options,
        }
        return names.orchestrator(world.tools(), asked, **{**given, **options})


def in_order(script: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Return a model that gives the answers to each purpose in order, and then makes no call."""
    left = {key: [*said] if isinstance(said, list) else said for key, said in script.items()}

    def answer(request: Any) -> Any:
        said = left.get(request.purpose, left.get("*"))
        if not isinstance(said, list):
            return said
        return said.pop(0) if said else NO_CALL

    return answer


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """Return a call as a model writes it."""
    return {"tool": name, "arguments": arguments}


def act(name: str, **arguments: Any) -> dict[str, Any]:
    """Return one turn of an agent that makes one call a turn."""
    return {"thought": "next", "action": call(name, **arguments)}


def step(number: int, tool: str, *after: int, **arguments: Any) -> dict[str, Any]:
    """Return one step of a plan as a model writes it."""
    return {"step": number, "tool": tool, "after": [*after], "arguments": arguments}


def program(code: str) -> str:
    """Return one turn of an agent that writes programs."""
    return f"<thought>I call.</thought>\n<execute>\n```python\n{code}\n```\n</execute>"


def final(text: str) -> str:
    """Return the last turn of an agent that writes programs."""
    return f"<thought>Done.</thought>\n<final_answer>{text}</final_answer>"


FIND, COUNT = call("find_airport", city="Oslo"), call("population", iata="OSL")
WRITES = [
    call("book", iata="OSL", guest="Ann"),
    call("note", desk="roof", guest="Ann"),
    call("bill", guest="Ann"),
]
MENDED = {"desk": "north", "guest": "Ann"}
LAYERED: dict[str, Any] = {
    "select": {"needed": [*TOOLS]},
    "bind": [{"calls": [FIND]}, {"calls": WRITES}, {"calls": [COUNT]}],
    "repair": MENDED,
    "*": SAID,
}


def reflected(name: str, **arguments: Any) -> dict[str, Any]:
    """Return a reflection with the call that is right."""
    made = [{"name": name, "arguments": arguments}]
    return {"analysis": "the value is wrong", "strategy": "take a known one", "tool_calls": made}


STEPS = [
    step(1, "find_airport", city="Oslo"),
    step(2, "book", 1, iata="${1.iata}", guest="Ann"),
    step(3, "note", desk="roof", guest="Ann"),
    step(4, "bill", 2, guest="Ann"),
    step(5, "population", 1, iata="${1.iata}"),
]
PLANNED = {"plan": [{"steps": STEPS}], "repair": MENDED, "*": SAID}
TEXT_PLAN = (
    '1. find_airport(city="Oslo")\n2. book(iata=$1.iata, guest="Ann")\n'
    '3. note(desk="north", guest="Ann")\n4. bill(guest="Ann")\n'
    "5. population(iata=$1.iata)\n6. join()\n"
)
PROGRAMS = [
    program("a = find_airport(city='Olso')\nprint(a)"),
    program("a = find_airport(city='Oslo')\nprint(book(iata=a['iata'], guest='Ann'))"),
    program("print(note(desk='north', guest='Ann'))\nprint(bill(guest='Ann'))\nprint(1 / 0)"),
    program("print(population(iata=a['iata'])['people'])"),
    final("7 people live there."),
]


def ordering(request: names.ChatRequest) -> Any:
    """Answer by what is shown: the model of the run whose first lookup proves to be out of date."""
    text = request.messages[-1].content
    if request.purpose == "select":
        return {"needed": ["find_order", "order_depot", "order_status"]}
    if request.purpose.startswith("answer"):
        said = "It is shipped from hall 15." if "shipped" in text else "The order is in hall 12."
        return {"statements": [{"text": said, "results": ["r6", "r5"]}], "missing": []}
    if request.purpose == "repair":
        return {"tool_calls": []}
    shown = names.offered_tools(request)
    known = "O15" if '"O15"' in text else "O12"
    if "find_order" in shown:
        return {"calls": [call("find_order", customer="Ann")]}
    made = [call(n, order_id=known) for n in ("order_depot", "order_status") if n in shown]
    return {"calls": made} if made else {"useful": ["none"], "reason": "nothing to call"}


def shortlisted(request: names.ChatRequest) -> Any:
    """Answer by what is shown: the model of the run that is shown a few tools of many."""
    text = request.messages[-1].content
    if request.purpose == "select":
        return {"needed": [name for name in TOOLS if f"- {name}:" in text]}
    if request.purpose.startswith("answer"):
        return NOTHING
    shown = names.offered_tools(request)
    known = {"find_airport": FIND, "population": COUNT}
    made = [one for name, one in known.items() if name in shown]
    return {"calls": made} if made else {"useful": ["none"], "reason": "nothing to call"}


OPEN_PLAN = names.Plan(
    (
        names.Slot("airport", "find_airport", arguments={"city": "Oslo"}),
        names.Slot(
            "room", "book", frozenset({"airport"}), arguments={"iata": "${?}", "guest": "Ann"}
        ),
        names.Slot(
            "people", "population", frozenset({"airport"}), arguments={"iata": "${airport.iata}"}
        ),
    )
)

SCENARIOS: dict[str, Scenario] = {
    "layered": Scenario("layered", LAYERED),
    "layered-second-pass": Scenario("layered-second-pass", LAYERED),
    "layered+reflect": Scenario(
        "layered+reflect", {**LAYERED, "reflect": reflected("note", desk="north", guest="Ann")}
    ),
    "layered-error": Scenario(
        "layered",
        {
            **LAYERED,
            "bind": [{"calls": [call("find_airport", city="Olso")]}, *LAYERED["bind"][1:]],
            "repair": [{"city": "Oslo"}, MENDED],
        },
    ),
    "layered-doubt": Scenario(
        "layered",
        {
            **LAYERED,
            "bind": [{"calls": [FIND]}, {"calls": [call("book", iata="OSL", guest="Late")]}],
            "*": NOTHING,
        },
        query="Book a room at the airport of Oslo for Late.",
        only=("find_airport", "book"),
        layers=(["find_airport"], ["book"]),
    ),
    "layered-retry": Scenario(
        "layered",
        {
            "select": {"needed": ["bill"]},
            "bind": [{"calls": [call("bill", guest="Ann")]}],
            "*": NOTHING,
        },
        query="Bill Ann.",
        only=("bill", "population"),
        layers=(["bill"],),
        unstable=("bill",),
        options={"limits": names.Limits(tool_seconds=0.05)},
    ),
    "layered-approval": Scenario(
        "layered",
        {
            "select": {"needed": ["cancel_order"]},
            "bind": [
                {
                    "calls": [
                        call("cancel_order", order_id="B1"),
                        call("cancel_order", order_id="B2"),
                    ]
                }
            ],
            "*": NOTHING,
        },
        query=CANCEL,
        only=("cancel_order", "population"),
        layers=(["cancel_order"],),
        approve=lambda asked: bool(asked.call.arguments["order_id"] == "B1"),
    ),
    "layered-killed": Scenario("layered", LAYERED, killed_at="intent"),
    "layered-limit": Scenario(
        "layered", LAYERED, options={"limits": names.Limits(model_calls=4, repairs=0)}
    ),
    "layered-stale": Scenario(
        "layered",
        ordering,
        query=ORDER,
        only=("find_order", "order_depot", "order_status"),
        layers=(["find_order"], ["order_depot"], ["order_status"]),
    ),
    "layered-shortlist": Scenario(
        "layered",
        shortlisted,
        query="Find the airport of Oslo.",
        layers=(["find_airport"], ["population"]),
        options={"shortlist": 3, "trials": "read-only", "retrieval": "lexical"},
    ),
    "dag": Scenario("dag", PLANNED),
    "edges": Scenario(
        "edges", PLANNED, layers=(["find_airport", "note"], ["book"], ["bill", "population"])
    ),
    "compiler": Scenario(
        "compiler",
        {
            "plan": [TEXT_PLAN],
            "join": ["Finish"],
            "*": 'Action: Finish\nAction Input: {"final_answer": "7 people [r5]"}',
        },
        json=False,
    ),
    "react": Scenario(
        "react",
        {
            "bind": [
                act("find_airport", city="Oslo"),
                act("book", iata="OSL", guest="Ann"),
                act("book", iata="OSL", guest="Ann"),
                act("note", desk="roof", guest="Ann"),
                act("bill", guest="Ann"),
                act("population", iata="OSL"),
                END,
            ],
            "repair": MENDED,
            "*": SAID,
        },
    ),
    "dfsdt": Scenario(
        "dfsdt",
        {
            "bind": [
                act("find_airport", city="Rome"),
                BACK,
                act("find_airport", city="Oslo"),
                act("book", iata="OSL", guest="Ann"),
                act("population", iata="OSL"),
                END,
            ],
            "*": NOTHING,
        },
        options={"sandbox": True},
    ),
    "code": Scenario("code", {"code": PROGRAMS, "repair": "{}"}, json=False),
    "toolmvr": Scenario("toolmvr", {"code": PROGRAMS, "repair": "{}"}, json=False),
    "given": Scenario(
        "given",
        {"bind": [{"calls": [call("book", iata="OSL", guest="Ann")]}], "*": NOTHING},
        plan=OPEN_PLAN,
        options={"freeze": "plan", "may_fill": {"book.iata": ["find_airport"]}},
    ),
    "react-no-repair": Scenario(
        "react-no-repair",
        {
            "bind": [
                act("find_airport", city="Oslo"),
                act("book", iata="OSL", guest="Ann"),
                act("note", desk="roof"),
                END,
            ],
            "*": "7 people live there.",
        },
    ),
}
