"""Tasks that repair alone cannot solve, with and without each way of recovery (docs/concepts.md).

``python benchmarks/reliability/recovery.py`` asks a scripted model that calls what is in view as
soon as it has the values, makes up a code it lacks from the request, and states what the last
result says; ``--model local`` (or any other spec) asks a real one. Twelve tasks: three that need
the lookup again, three a substitute, three another order, and three in which nothing fails, to
count what recovery costs where it is not needed. A task is solved if the answer holds the right
value and none of the wrong ones.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from callwright import Orchestrator, Run
from callwright.agent.strategies import Layered
from callwright.agent.strategies.recovery import WAYS
from callwright.models import open_model
from callwright.nouns.errors import Failure
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import ToolOutput
from callwright.testing import FakeTool, FixedPlan, ScriptedModel, fake_source, in_order

TEXT, NUMBER = {"type": "string"}, {"type": "number"}
DEAD = Failure("auth", "401 Unauthorized: the key has expired", status=401)
GONE = Failure("unavailable", "503 Service Unavailable", status=503)


@dataclass(frozen=True)
class Task:
    """One task. ``takes``: tool -> argument -> what the scripted model gives: a text, or a field of
    a result.
    """

    id: str
    needs: str
    query: str
    tools: Callable[[], list[FakeTool]]
    layers: tuple[list[str], ...]
    takes: Mapping[str, Mapping[str, str]]
    states: str  # the field that the answer states
    right: str
    wrong: tuple[str, ...] = field(default=())


def returns(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


def known(values: Mapping[str, Any], what: str) -> Callable[..., Any]:
    """A tool that knows some values of its one argument and refuses the others."""

    def look(**arguments: Any) -> Any:
        [given] = arguments.values()
        if given in values:
            return values[given]
        return ToolOutput(failure=Failure("tool_error", f"there is no {what} {given!r}"))

    return look


def found_by(name: str, about: str, given: str, key: str, *values: str) -> FakeTool:
    """A lookup that gives one value after the other."""
    outputs = in_order(*({key: value} for value in values)) if len(values) > 1 else {key: values[0]}
    return FakeTool(
        name, {given: TEXT}, output=outputs, description=about, output_schema=returns(**{key: TEXT})
    )


def fact(
    name: str, about: str, given: str, key: str, values: Mapping[str, Any], what: str
) -> FakeTool:
    answers = {code: {key: value} for code, value in values.items()}
    return FakeTool(name, {given: TEXT}, output=known(answers, what), description=about)


def twin(name: str, about: str, given: str, key: str, output: Any) -> FakeTool:
    schema = returns(**{key: NUMBER})
    return FakeTool(name, {given: TEXT}, output=output, description=about, output_schema=schema)


TASKS = [
    Task(
        "moved-order",
        "retry",
        "What is the status of the order of Ann Berg?",
        lambda: [
            found_by(
                "find_order",
                "Finds the order of a customer.",
                "customer",
                "order_id",
                "O-12",
                "O-15",
            ),
            fact(
                "order_status",
                "The status of an order.",
                "order_id",
                "status",
                {"O-15": "shipped"},
                "order",
            ),
        ],
        (["find_order"], ["order_status"]),
        {"find_order": {"customer": "Ann Berg"}, "order_status": {"order_id": "@order_id"}},
        "status",
        "shipped",
    ),
    Task(
        "session-expired",
        "retry",
        "Which room is the talk 'Layers' in?",
        lambda: [
            found_by(
                "find_talk",
                "Finds a talk by its title.",
                "title",
                "talk_id",
                "talk-881",
                "talk-912",
            ),
            fact(
                "talk_room",
                "The room of a talk.",
                "talk_id",
                "room",
                {"talk-912": "Aula 3"},
                "talk",
            ),
        ],
        (["find_talk"], ["talk_room"]),
        {"find_talk": {"title": "Layers"}, "talk_room": {"talk_id": "@talk_id"}},
        "room",
        "Aula 3",
    ),
    Task(
        "stale-chain",
        "retry",
        "What does the parcel to Bodil Lund weigh, and in which depot is it?",
        lambda: [
            found_by(
                "find_parcel",
                "Finds the parcel to somebody.",
                "receiver",
                "parcel_id",
                "P-100",
                "P-200",
            ),
            fact(
                "parcel_depot",
                "The depot of a parcel.",
                "parcel_id",
                "depot",
                {"P-100": "Bergen", "P-200": "Narvik"},
                "parcel",
            ),
            fact(
                "parcel_weight",
                "The weight of a parcel.",
                "parcel_id",
                "weight",
                {"P-200": "3.4 kg"},
                "parcel",
            ),
        ],
        (["find_parcel"], ["parcel_depot"], ["parcel_weight"]),
        {
            "find_parcel": {"receiver": "Bodil Lund"},
            "parcel_depot": {"parcel_id": "@parcel_id"},
            "parcel_weight": {"parcel_id": "@parcel_id"},
        },
        "weight,depot",
        "3.4 kg",
        ("Bergen",),
    ),
    Task(
        "dead-rate",
        "substitute",
        "What is the exchange rate of NOK?",
        lambda: [
            twin("bank_rate", "The exchange rate of a currency.", "currency", "rate", DEAD),
            twin(
                "market_rate",
                "The market's exchange rate of a currency.",
                "currency",
                "rate",
                {"rate": 11.37},
            ),
            fact(
                "currency_name",
                "The name of a currency.",
                "currency",
                "name",
                {"NOK": "krone"},
                "currency",
            ),
        ],
        (["bank_rate"],),
        {name: {"currency": "NOK"} for name in ("bank_rate", "market_rate")},
        "rate",
        "11.37",
    ),
    Task(
        "dead-weather",
        "substitute",
        "How warm is it in Oslo?",
        lambda: [
            twin("weather_now", "The present temperature of a city.", "city", "celsius", GONE),
            twin(
                "current_weather",
                "The measured temperature of a city.",
                "city_name",
                "celsius",
                {"celsius": 4},
            ),
        ],
        (["weather_now"],),
        {"weather_now": {"city": "Oslo"}, "current_weather": {"city_name": "Oslo"}},
        "celsius",
        "4",
    ),
    Task(
        "dead-in-a-chain",
        "substitute",
        "Which gate does the train of Ann Berg leave from?",
        lambda: [
            FakeTool(
                "find_train",
                {"passenger": TEXT},
                output=DEAD,
                description="Finds the train of a passenger.",
                output_schema=returns(train_id=TEXT),
            ),
            found_by(
                "lookup_train", "Finds the train of a passenger.", "passenger", "train_id", "T-77"
            ),
            fact(
                "train_gate", "The gate of a train.", "train_id", "gate", {"T-77": "B12"}, "train"
            ),
        ],
        (["find_train"], ["train_gate"]),
        {
            "find_train": {"passenger": "Ann Berg"},
            "lookup_train": {"passenger": "Ann Berg"},
            "train_gate": {"train_id": "@train_id"},
        },
        "gate",
        "B12",
    ),
    *(
        Task(
            f"too-early-{thing}",
            "replan",
            f"What is the fee for {thing} {name}?",
            lambda thing=thing, code=code, fee=fee: [  # type: ignore[misc]
                fact(
                    f"{thing}_zone",
                    f"The zone of a {thing}.",
                    f"{thing}_code",
                    "zone",
                    {code: "Z5"},
                    thing,
                ),
                found_by(
                    f"find_{thing}", f"Finds the code of a {thing}.", "name", f"{thing}_code", code
                ),
                fact("zone_fee", "The fee of a zone.", "zone", "fee", {"Z5": fee}, "zone"),
            ],
            ([f"{thing}_zone"], ["zone_fee"], [f"find_{thing}"]),
            {
                f"{thing}_zone": {f"{thing}_code": f"@{thing}_code|{name}"},
                f"find_{thing}": {"name": name},
                "zone_fee": {"zone": "@zone"},
            },
            "fee",
            str(fee),
        )
        for thing, name, code, fee in (
            ("airport", "Gardermoen", "ENGM", 70),
            ("harbour", "Hurtigruten", "NOBGO", 45),
            ("station", "Majorstuen", "ST-9", 38),
        )
    ),
    *(
        Task(
            f"fine-{number}",
            "nothing",
            f"What is the fee for airport {name}?",
            lambda code=code, fee=fee: [  # type: ignore[misc]
                found_by(
                    "find_airport", "Finds the code of an airport.", "name", "airport_code", code
                ),
                fact(
                    "airport_zone",
                    "The zone of an airport.",
                    "airport_code",
                    "zone",
                    {code: "Z5"},
                    "airport",
                ),
                fact("zone_fee", "The fee of a zone.", "zone", "fee", {"Z5": fee}, "zone"),
            ],
            (["find_airport"], ["airport_zone"], ["zone_fee"]),
            {
                "find_airport": {"name": name},
                "airport_zone": {"airport_code": "@airport_code"},
                "zone_fee": {"zone": "@zone"},
            },
            "fee",
            str(fee),
        )
        for number, (name, code, fee) in enumerate(
            (("Alta", "ENAT", 31), ("Vigra", "ENAL", 52), ("Evenes", "ENEV", 64))
        )
    ),
]


def scripted(task: Task) -> ScriptedModel:
    def reply(request: ChatRequest) -> Any:
        text = request.messages[-1].content
        if request.purpose == "select":
            return {"needed": [name for layer in task.layers for name in layer]}
        if request.purpose == "repair":
            return {"tool_calls": []}
        results = _fields(text)
        if request.purpose.startswith("answer"):
            facts = [(key, results[key]) for key in task.states.split(",") if key in results]
            made = [{"text": f"The {key} is {value}.", "results": []} for key, value in facts]
            return {"statements": made, "missing": [] if made else [task.states]}
        shown = re.findall(r"^- (\w+)\(", text.partition("Tools allowed this step")[2], re.M)
        calls = []
        for name in (name for name in shown if name in task.takes):
            given = {key: _value(said, results) for key, said in task.takes[name].items()}
            if all(value is not None for value in given.values()):
                calls.append({"tool": name, "arguments": given})
        return {"calls": calls} if calls else {"useful": ["none"], "reason": "a value is missing"}

    return ScriptedModel(reply)


def _fields(text: str) -> dict[str, str]:
    """The last value of every field that a result holds: what stands after the arrow."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        _, arrow, body = line.partition(" -> ")
        if arrow and not body.startswith("FAILED"):
            found |= dict(re.findall(r'"(\w+)":"?([^",}]+)', body))
    return found


def _value(said: str, results: Mapping[str, str]) -> str | None:
    if not said.startswith("@"):
        return said
    key, _, guess = said[1:].partition("|")
    return results.get(key, guess or None)


async def solve(task: Task, ways: tuple[str, ...], model: Any) -> Run:
    setup = Orchestrator(
        [fake_source(*task.tools())],
        model=model or scripted(task),
        planner=FixedPlan(*task.layers),
        strategy=Layered(recover=ways),
    )
    return await setup.run(task.query)


def solved(task: Task, run: Run) -> bool:
    text = run.answer.text.partition("Missing:")[0]
    return (
        task.right in text
        and not any(value in text for value in task.wrong)
        and "not confirmed" not in text
    )


async def main() -> int:
    asked = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    asked.add_argument("--model", default="", help="a model spec; without it the scripted model")
    asked.add_argument("--tasks", default="", help="names with commas between; all without it")
    given = asked.parse_args()
    model = open_model(given.model) if given.model else None
    settings = {
        "all": WAYS,
        **{f"no {way}": tuple(w for w in WAYS if w != way) for way in WAYS},
        "none": (),
    }
    if model is not None:
        settings = {"all": WAYS, "none": ()}
    totals = {name: [0, 0, 0, 0] for name in settings}
    chosen = [task for task in TASKS if not given.tasks or task.id in given.tasks.split(",")]
    for task in chosen:
        row = []
        for name, ways in settings.items():
            run = await solve(task, ways, model)
            good = solved(task, run)
            spent = (good, run.cost.model_calls, run.cost.calls, run.cost.repairs["recovery"])
            totals[name] = [a + b for a, b in zip(totals[name], spent, strict=True)]
            row.append(
                f"{name}: {'yes' if good else 'no':<3} {run.cost.model_calls} asked,"
                f" {run.cost.calls} called"
            )
        print(f"{task.id:<20} needs {task.needs:<11}" + " | ".join(row), flush=True)
    print()
    for name, (right, questions, calls, taken) in totals.items():
        print(
            f"{name:<14} solved {right}/{len(chosen)}, {questions} questions, {calls} calls, "
            f"{taken} steps of recovery"
        )
    if model is not None:
        await model.aclose()
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
