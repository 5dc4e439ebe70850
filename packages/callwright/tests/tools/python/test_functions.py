from __future__ import annotations

import asyncio
import datetime
import enum
import functools
import inspect
import math
import threading
import types
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import jsonschema_rs
import pydantic
import pytest

from callwright import CheckedCall, Gate, Orchestrator
from callwright.agent.today import is_day_parameter
from callwright.nouns.errors import CatalogError, Failure, ToolError
from callwright.nouns.protocols import CALL_KEY, call_key
from callwright.nouns.types import DESTRUCTIVE, READ, WRITE, ToolCall, ToolOutput
from callwright.planning.dag import plan_schema
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.provenance.value_judge import ValueJudge
from callwright.schema.compiled import compiled_for
from callwright.testing import ScriptedModel
from callwright.tools.catalog import open_catalog
from callwright.tools.python.functions import (
    FunctionSource,
    functions_of,
    tool,
    tool_from_function,
)


class Unit(enum.Enum):
    CELSIUS = "C"
    FAHRENHEIT = "F"


@dataclass
class Weather:
    degrees: float
    day: datetime.date


@tool(effects=READ)
def weather(
    city: str,
    day: datetime.date,
    unit: Unit = Unit.CELSIUS,
    detail: Literal["low", "high"] | None = None,
) -> Weather:
    """Weather of a city on one day.

    Args:
        city: name in English
        day: which day, UTC
        unit: of the answer

    Returns:
        what was measured
    """
    assert isinstance(day, datetime.date)
    assert isinstance(unit, Unit)
    return Weather(20.0 if city else 0.0, day)


async def run(function: Any, **arguments: Any) -> ToolOutput:
    return await tool_from_function(function).run(arguments)


def failed(output: ToolOutput) -> str:
    assert output.failure is not None
    assert output.failure.kind in ("tool_error", "crashed")
    assert output.content is None
    return output.failure.message


def test_signature_annotations_and_docstring_become_the_tool() -> None:
    made = tool_from_function(weather, source="desk").tool
    assert (made.name, made.description) == ("weather", "Weather of a city on one day.")
    assert (made.effects, made.source) == (READ, "desk")
    assert made.input_schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "name in English"},
            "day": {"type": "string", "format": "date", "description": "which day, UTC"},
            "unit": {
                "type": "string",
                "enum": ["C", "F"],
                "default": "C",
                "description": "of the answer",
            },
            "detail": {"type": ["string", "null"], "enum": ["low", "high", None]},
        },
        "required": ["city", "day"],
        "additionalProperties": False,
    }
    assert made.output_schema is not None
    assert made.output_schema["description"] == "what was measured"
    assert set(made.output_schema["properties"]) == {"degrees", "day"}


def test_the_decorator_leaves_the_function_and_names_what_it_says() -> None:
    @tool(name="add_up", description="Sum.", output_schema={"type": "integer", "minimum": 0})
    def add(a: int, b: int) -> int:
        """Another description."""
        return a + b

    assert add(1, 2) == 3
    made = tool_from_function(add).tool
    assert (made.name, made.description) == ("add_up", "Sum.")
    assert made.output_schema == {"type": "integer", "minimum": 0}
    assert made.effects == DESTRUCTIVE  # unknown effects count as the worst

    @tool
    def bare() -> None:
        """Marked without words."""

    assert tool_from_function(bare).tool.description == "Marked without words."


def test_the_annotations_description_comes_before_the_docstrings() -> None:
    def f(a: Annotated[int, "from the annotation"], b: int) -> None:
        """F.

        Args:
            a: from the docstring
            b: from the docstring
        """

    properties = tool_from_function(f).tool.properties
    assert properties["a"]["description"] == "from the annotation"
    assert properties["b"]["description"] == "from the docstring"


def test_unannotated_parameters_take_anything_and_none_defaults_take_null() -> None:
    def f(a, b: int = None, *, c=3): ...  # type: ignore[no-untyped-def,assignment]  # noqa: RUF013

    made = tool_from_function(f).tool
    assert made.properties == {"a": {}, "b": {"type": ["integer", "null"]}, "c": {"default": 3}}
    assert made.required == ("a",)
    assert made.output_schema is None


async def test_arguments_are_converted_and_results_are_json() -> None:
    output = await run(weather, city="Rome", day="2026-01-02", unit="F")
    assert output == ToolOutput({"degrees": 20.0, "day": "2026-01-02"})


async def test_sync_functions_leave_the_event_loop_and_async_ones_stay() -> None:
    def sync() -> str:
        return threading.current_thread().name

    async def native() -> str:
        return threading.current_thread().name

    main = threading.current_thread().name
    assert (await run(sync)).content != main
    assert (await run(native)).content == main
    assert (await run(functools.partial(native))).content == main


async def test_functions_that_block_do_not_wait_for_each_other_and_see_their_call_key() -> None:
    barrier = threading.Barrier(40)  # more than a pool of threads would hold

    def together() -> str:
        barrier.wait(30)
        return call_key()

    token = CALL_KEY.set("key-1")
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run(together)) for _ in range(40)]
    CALL_KEY.reset(token)
    assert [t.result().content for t in tasks] == ["key-1"] * 40


async def test_a_function_that_stops_an_iteration_is_a_failure() -> None:
    def stop() -> None:
        raise StopIteration("done")

    output = await run(stop)
    assert output.failure is not None
    assert "StopIteration" in output.failure.message


async def test_a_tool_error_reaches_the_model_as_it_was_written() -> None:
    def refuse() -> None:
        raise ToolError("there is no such city")

    assert failed(await run(refuse)) == "there is no such city"


async def test_any_other_exception_is_named_without_its_traceback() -> None:
    def broken(a: int) -> float:
        return 1 / a

    message = failed(await run(broken, a=0))
    assert message == "ZeroDivisionError: division by zero"
    assert "Traceback" not in message


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"city": "Rome"},
        {"city": "Rome", "day": "soon"},
        {"city": 1, "day": "2026-01-02"},
        {"city": "R", "day": "2026-01-02", "x": 1},
    ],
)
async def test_arguments_that_do_not_fit_never_run_the_function(arguments: dict[str, Any]) -> None:
    assert failed(await run(weather, **arguments)).startswith("the arguments do not fit")


async def test_a_tool_that_exits_or_answers_for_itself_is_heard() -> None:
    def leave() -> None:
        raise SystemExit(2)

    def answer() -> ToolOutput:
        return ToolOutput(failure=Failure("rate_limit", "later", retryable=True))

    assert failed(await run(leave)) == "SystemExit: 2"
    assert await run(answer) == answer()


class Order:
    """Has no JSON form."""

    def __init__(self, title: str) -> None:
        self.title = title

    def __str__(self) -> str:
        return f"order of {self.title}"


class Anonymous:
    """Has neither a JSON form nor a text."""


@pytest.mark.parametrize("made", [Order("Dune"), Anonymous()])
async def test_a_write_whose_result_has_no_json_form_is_done_once(made: Any) -> None:
    """It counted as not done, and the call was repaired and made again."""
    done: list[int] = []

    @tool(effects=WRITE)
    def order_book(title: str, copies: int = 1) -> Any:
        """Order a book."""
        done.append(copies)
        return made

    said = {"statements": [{"text": "It is ordered.", "results": ["r1"]}], "missing": []}
    model = ScriptedModel(
        {
            "bind": {"calls": [{"tool": "order_book", "arguments": {"title": "Dune"}}]},
            "repair": {"arguments": {"title": "Dune", "copies": 2}},
            "*": said,
        }
    )
    run = await Orchestrator([order_book], model=model).run("Order the book Dune")
    assert done == [1]
    assert [(r.ok, r.failure) for r in run.results] == [(True, None)]
    assert run.in_doubt == ()
    assert "repair" not in [request.purpose for request in model.requests]


async def test_a_result_without_a_json_form_is_kept_as_its_text() -> None:
    def order(title: str) -> Any:
        return {"order": Order(title), "copies": 1}

    assert (await run(order, title="Dune")).content == {"order": "order of Dune", "copies": 1}


async def test_a_function_that_fails_while_its_result_is_written_is_a_failure() -> None:
    """The values are asked for after the function returned; what it did stays in doubt."""

    def rows() -> Iterator[int]:
        yield 1
        raise RuntimeError("the connection broke")

    output = await run(rows)
    assert failed(output) == "RuntimeError: the connection broke"
    assert output.failure is not None
    assert not output.failure.not_done


async def test_values_are_asked_for_in_the_thread_of_the_function() -> None:
    """A generator that blocks stopped every other call, and no time limit ended it. A query's rows
    can only be read in the thread that asked for them.
    """

    def threads() -> Iterator[str]:
        yield threading.current_thread().name

    assert (await run(threads)).content == ["callwright-tool"]


async def test_what_a_tool_answers_for_itself_is_json_too() -> None:
    def answer() -> ToolOutput:
        return ToolOutput({"day": datetime.date(2026, 1, 2), 7: math.nan})  # type: ignore[dict-item]

    assert (await run(answer)).content == {"day": "2026-01-02", "7": None}


async def test_an_async_generator_is_collected_as_a_plain_one_is() -> None:
    async def rows() -> AsyncIterator[int]:
        yield 1
        yield 2

    assert (await run(rows)).content == [1, 2]


async def test_arguments_that_do_not_fit_leave_no_doubt() -> None:
    output = await run(weather, city="Rome", day="soon")
    assert output.failure is not None
    assert output.failure.not_done


@tool(effects=DESTRUCTIVE)
def hand_over(tenant: str, name: str, api_key: str = "none") -> str:
    """Hand an account over.

    Args:
        name: whose account
    """
    return f"{tenant} {name} {api_key}"


class Accounts:
    @tool(effects=DESTRUCTIVE)
    @staticmethod
    def close(name: str) -> str:
        """Close an account."""
        return name

    @tool(effects=READ)
    @classmethod
    def count(cls, name: str) -> int:
        """Count accounts."""
        return len(name)


def test_a_partial_is_declared_as_the_function_behind_it() -> None:
    made = tool_from_function(functools.partial(hand_over, "acme", api_key="secret"))
    assert (made.tool.name, made.tool.effects) == ("hand_over", DESTRUCTIVE)
    assert made.tool.effects.declared
    assert made.tool.description == "Hand an account over."
    assert made.tool.properties == {"name": {"type": "string", "description": "whose account"}}
    assert made.tool.required == ("name",)
    assert "secret" not in str(made.tool)


def test_a_partial_may_be_declared_itself() -> None:
    part = tool(name="hand_over_acme", effects=READ)(functools.partial(hand_over, "acme"))
    assert tool_from_function(part).tool.name == "hand_over_acme"
    assert tool_from_function(part).tool.effects == READ

    @functools.wraps(part)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return part(*args, **kwargs)

    @functools.wraps(functools.partial(hand_over, "acme"))
    def plain(*args: Any, **kwargs: Any) -> Any:
        return hand_over("acme", *args, **kwargs)

    assert tool_from_function(wrapped).tool.name == "hand_over_acme"
    assert tool_from_function(functools.partial(plain, api_key="k")).tool.effects == DESTRUCTIVE


async def test_no_caller_replaces_what_a_partial_binds() -> None:
    part = functools.partial(hand_over, api_key="secret", tenant="acme")
    assert (await run(part, name="Ann")).content == "acme Ann secret"
    assert "unknown argument 'tenant'" in failed(await run(part, name="Ann", tenant="evil"))

    def send(text: str, **headers: str) -> Any:
        return {"text": text, **headers}

    part = functools.partial(send, api_key="secret")
    assert (await run(part, text="hi", lang="de")).content == {
        "text": "hi",
        "lang": "de",
        "api_key": "secret",
    }
    assert "unknown argument 'api_key'" in failed(await run(part, text="hi", api_key="mine"))


async def test_the_outcome_of_a_partial_is_asked_for_with_what_it_binds() -> None:
    def find(key: str, tenant: str, name: str) -> str:
        return f"{key} {tenant} {name}"

    @tool(effects=DESTRUCTIVE, outcome=find)
    def close(tenant: str, name: str) -> str:
        return f"{tenant} {name}"

    made = tool_from_function(functools.partial(close, "acme"))
    assert await made.ask("k1", {"name": "Ann"}) == ToolOutput("k1 acme Ann")


async def test_a_destructive_partial_needs_approval() -> None:
    """Its declaration was lost, and it ran unasked."""
    done: list[str] = []

    @tool(effects=DESTRUCTIVE)
    def close(tenant: str, name: str) -> str:
        """Close an account."""
        done.append(f"{tenant} {name}")
        return "ok"

    model = ScriptedModel(
        {
            "bind": {"calls": [{"tool": "close", "arguments": {"name": "Ann"}}]},
            "*": {"statements": [], "missing": []},
        }
    )
    for function in (functools.partial(close, "acme"), Accounts.close):
        run = await Orchestrator([function], model=model).run("Close the account of Ann")
        assert (done, run.results) == ([], ())


def test_a_mark_above_a_static_or_class_method_counts() -> None:
    made = [tool_from_function(one).tool for one in (Accounts.close, Accounts.count)]
    assert [(one.name, one.effects) for one in made] == [("close", DESTRUCTIVE), ("count", READ)]
    assert Accounts.close("Ann") == "Ann"


def test_the_code_of_a_partial_is_that_of_its_function() -> None:
    async def place(function: Any) -> str:
        source = FunctionSource([function])
        (offered,) = await source.open()
        return source.place(offered)

    found = [asyncio.run(place(one)) for one in (hand_over, functools.partial(hand_over, "acme"))]
    assert found[0] == found[1] != ""


async def test_a_moment_arrives_as_it_was_said() -> None:
    def plan(when: datetime.datetime, alarm: datetime.time, who: set[str]) -> str:
        return repr((when, alarm, sorted(who)))

    gate = Gate([tool_from_function(plan).tool])
    given = {"when": "2026-05-01T10:00:00", "alarm": "9:00", "who": ["Ann", "Ann"]}
    checked = gate.check(ToolCall("1", "plan", given))
    assert isinstance(checked, CheckedCall)
    assert not checked.edits
    found = await run(plan, **checked.arguments)
    assert found.content == repr(
        (datetime.datetime(2026, 5, 1, 10, 0), datetime.time(9, 0), ["Ann"])
    )
    refused = gate.check(ToolCall("1", "plan", {**given, "when": "tomorrow"}))
    assert not isinstance(refused, CheckedCall)
    assert "YYYY-MM-DDTHH:MM" in refused.message


@pytest.mark.parametrize("value", ["2031-02-17T10:00:00Z", "2031-02-17T10:00", "2031-02-17"])
def test_an_invented_moment_is_known_as_one(value: str) -> None:
    """A moment has no format of its own any more; its day is judged as before."""

    @tool(effects=WRITE)
    def plan(when: datetime.datetime) -> None: ...

    made = tool_from_function(plan).tool
    node = compiled_for(made).root.property("when")
    assert node is not None
    for said, holds in (("Plan the meeting", False), (f"Plan it on {value[:10]}", True)):
        judge = ValueJudge(ProvenanceIndex("", [said]), [said], tool=made)
        assert judge.holds("when", value, node) is holds
    assert is_day_parameter(made)


def test_a_plan_may_give_a_moment_by_reference() -> None:
    def plan(when: datetime.datetime, alarm: datetime.time) -> None: ...

    schema = plan_schema([tool_from_function(plan).tool])
    steps = schema["properties"]["steps"]["items"]["anyOf"]
    given = {"when": "${1.start}", "alarm": "${1.alarm}"}
    arguments = steps[0]["properties"]["arguments"]
    assert jsonschema_rs.is_valid(arguments, given)


def test_a_field_as_a_default_describes_its_parameter() -> None:
    def mail(
        to: str = pydantic.Field(description="whom", pattern="@"),
        copies: int = pydantic.Field(1, ge=1, le=9),
        tags: list[str] = pydantic.Field(default_factory=list, description="tags"),
        note: str = pydantic.Field(None, max_length=5),  # type: ignore[assignment]
    ) -> None:
        """Send a mail.

        Args:
            to: to whom
            copies: how many
        """

    made = tool_from_function(mail).tool
    assert made.required == ("to",)
    assert made.properties == {
        "to": {"type": "string", "description": "whom", "pattern": "@"},
        "copies": {
            "type": "integer",
            "minimum": 1,
            "maximum": 9,
            "default": 1,
            "description": "how many",
        },
        "tags": {"type": "array", "items": {"type": "string"}, "description": "tags"},
        "note": {"type": ["string", "null"], "maxLength": 5},
    }


async def test_a_call_gets_the_value_of_a_field_and_never_the_field() -> None:
    def mail(
        to: str = pydantic.Field(description="whom"),
        copies: int = pydantic.Field(1, ge=1),
        tags: list[str] = pydantic.Field(default_factory=list),
        note: str = pydantic.Field(None),  # type: ignore[assignment]
        /,
        day: datetime.date = pydantic.Field(datetime.date(2026, 1, 2)),
    ) -> Any:
        tags.append("sent")
        return [to, copies, tags, note, day]

    for _ in range(2):
        assert (await run(mail, to="Ann")).content == ["Ann", 1, ["sent"], None, "2026-01-02"]
    given = await run(mail, to="Ann", copies=2, tags=["a"], note=None, day="2026-01-03")
    assert given.content == ["Ann", 2, ["a", "sent"], None, "2026-01-03"]
    assert "'to' is missing" in failed(await run(mail, copies=2))

    def named(to: str = pydantic.Field(description="whom")) -> str:
        return to

    assert "'to'" in failed(await run(named))


async def test_positional_only_and_further_keywords_are_bound() -> None:
    def f(a: int, /, b: int = 2, **more: datetime.date) -> Any:
        return [a, b, {k: type(v).__name__ for k, v in more.items()}]

    made = tool_from_function(f).tool
    assert made.input_schema["additionalProperties"] == {"type": "string", "format": "date"}
    assert (await run(f, a=1, d="2026-01-02")).content == [1, 2, {"d": "date"}]


async def test_methods_and_callable_objects_are_tools_too() -> None:
    class Counter:
        def __init__(self) -> None:
            self.count = 0

        def add(self, by: int) -> int:
            """Count on."""
            self.count += by
            return self.count

        def __call__(self, by: int) -> int:
            return self.add(by)

    counter = Counter()
    assert tool_from_function(counter.add).tool.required == ("by",)
    assert (await run(counter.add, by=2)).content == 2
    assert tool_from_function(counter).tool.name == "counter"
    assert (await run(counter, by=2)).content == 4


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda a: a, "lambda has no name"),
        (lambda *numbers: numbers, "lambda has no name"),
        (dict.update, "signature cannot be read"),
    ],
)
def test_what_cannot_be_a_tool_is_refused(function: Any, said: str) -> None:
    with pytest.raises(CatalogError, match=said):
        tool_from_function(function)


def test_a_parameter_without_a_json_form_is_named() -> None:
    def f(a: int, connection: threading.Thread) -> None: ...

    with pytest.raises(
        CatalogError, match="function 'f': parameter 'connection': Thread has no JSON form"
    ):
        tool_from_function(f)

    def g(*connections: threading.Thread) -> None: ...

    with pytest.raises(CatalogError, match="'connections': Thread has no JSON form"):
        tool_from_function(g)


def test_a_module_offers_what_is_marked_or_else_what_is_public() -> None:
    module = types.ModuleType("desk")
    code = "import os\nfrom json import dumps\ndef a(): ...\ndef _b(): ...\ndef c(): ..."
    exec(compile(code, "desk", "exec"), vars(module))
    assert [f.__name__ for f in functions_of(module)] == ["a", "c"]
    tool(vars(module)["c"])
    assert [f.__name__ for f in functions_of(module)] == ["c"]


async def test_a_source_refuses_two_functions_of_one_name() -> None:
    def other() -> None: ...

    other.__name__ = "weather"
    with pytest.raises(CatalogError, match="two functions are called 'weather'"):
        await FunctionSource([weather, other]).open()


async def test_a_source_offers_and_calls_its_functions() -> None:
    source = FunctionSource([weather], name="desk")
    (offered,) = await source.open()
    assert offered.source == "desk"
    jsonschema_rs.meta.validate(offered.input_schema)
    output = await source.call(offered, {"city": "Rome", "day": "2026-01-02"})
    assert output.content["degrees"] == 20.0
    await source.aclose()
    assert not inspect.iscoroutinefunction(weather)


def spread(a: int, b: int = 2, *rest: float, c: str = "c", **more: bool) -> list[Any]:
    return [a, b, list(rest), c, more]


def unreadable(day: datetime.Missing) -> None:  # type: ignore[name-defined]
    """Its annotation names what the module does not hold."""


def placed(a: int = 1, b: int = 2, /, c: int = 3) -> list[int]:
    return [a, b, c]


@pytest.mark.parametrize(
    ("function", "arguments", "result"),
    [
        (spread, {"a": 1}, [1, 2, [], "c", {}]),
        (spread, {"a": 1, "rest": []}, [1, 2, [], "c", {}]),
        (spread, {"a": 1, "rest": [1.5, 2]}, [1, 2, [1.5, 2.0], "c", {}]),
        (
            spread,
            {"rest": [1.5], "b": 5, "c": "d", "a": 4, "x": True},
            [4, 5, [1.5], "d", {"x": True}],
        ),
        (placed, {"b": 5}, [1, 5, 3]),
        (placed, {"c": 5}, [1, 2, 5]),
        (placed, {"a": 7, "c": 5}, [7, 2, 5]),
    ],
)
async def test_arguments_reach_their_parameters_however_python_takes_them(
    function: Any, arguments: Any, result: Any
) -> None:
    output = await tool_from_function(function).run(arguments)
    assert (output.failure, output.content) == (None, result)


async def test_a_missing_argument_or_a_wrong_item_is_refused() -> None:
    made = tool_from_function(spread)
    assert made.tool.input_schema["properties"]["rest"] == {
        "type": "array",
        "items": {"type": "number"},
    }
    assert made.tool.required == ("a",)
    for arguments in ({"rest": [1]}, {"a": 1, "rest": ["x"]}, {"a": 1, "rest": 5}):
        assert (await made.run(arguments)).failure is not None


async def test_a_function_that_cannot_be_a_tool_costs_only_itself() -> None:
    def odd(connection: threading.Thread) -> None: ...

    source = FunctionSource([odd, spread, lambda x: x], name="desk")
    assert [tool.name for tool in await source.open()] == ["spread"]
    assert len(source.problems) == 2
    assert "desk: function 'odd': parameter 'connection'" in source.problems[0]
    with pytest.raises(CatalogError, match="'connection'"):
        await FunctionSource([odd]).open()


async def test_what_cannot_be_a_tool_is_a_problem_of_the_catalog() -> None:
    def odd(connection: threading.Thread) -> None: ...

    async with open_catalog(FunctionSource([spread, odd, unreadable])) as catalog:
        assert [tool.name for tool in catalog] == ["spread"]
        one, other = catalog.problems
    assert "function 'odd': parameter 'connection': Thread has no JSON form" in one
    assert "function 'unreadable': an annotation of 'unreadable' cannot be resolved" in other


async def test_two_functions_of_one_name_in_one_source_are_named() -> None:
    second = tool(name="spread")(functools.partial(placed))
    with pytest.raises(CatalogError, match="two functions are called 'spread'"):
        await FunctionSource([spread, second]).open()
    both = FunctionSource([spread, second])
    async with open_catalog([both, placed], strict=False) as catalog:
        assert [tool.name for tool in catalog] == ["placed"]
        assert "two functions are called 'spread'" in catalog.problems[0]


@pytest.mark.parametrize("marked", ["search", READ, 5, len, "x".upper, threading.Lock()])
def test_what_is_no_function_is_refused_where_it_is_marked(marked: Any) -> None:
    """LangChain's ``@tool("search")`` ended in an AttributeError of a str."""
    with pytest.raises(CatalogError, match="@tool cannot mark") as error:
        tool(marked)
    assert "@tool(name='search'" in error.value.hint


@pytest.mark.parametrize("name", ["bad name!", "9lives", "a" * 129, " ", "weather\n"])
def test_a_name_that_no_model_can_call_is_refused(name: str) -> None:
    with pytest.raises(CatalogError, match="no model can call"):
        tool(name=name)
    tool(name="weather.v2:of-city/now")


def test_a_function_may_say_what_it_undoes() -> None:
    @tool(compensates="book_room")
    def cancel_room(booking: str) -> str:
        return booking

    def book_room(guest: str) -> str:
        return guest

    made = [tool_from_function(one).tool.compensates for one in (cancel_room, book_room)]
    assert made == ["book_room", ""]


def test_effects_of_another_type_are_an_error_where_they_are_written() -> None:
    """``effects="read"`` ended a run with an AttributeError."""
    with pytest.raises(CatalogError, match="effects='read' of a tool are no Effects"):
        tool(effects="read")  # type: ignore[call-overload]
