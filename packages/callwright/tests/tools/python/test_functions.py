from __future__ import annotations

import asyncio
import datetime
import enum
import functools
import inspect
import threading
import types
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import jsonschema_rs
import pytest

from callwright.nouns.errors import CatalogError, Failure, ToolError
from callwright.nouns.protocols import CALL_KEY, call_key
from callwright.nouns.types import DESTRUCTIVE, READ, ToolOutput
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


async def test_a_result_without_a_json_form_is_a_failure() -> None:
    def odd() -> Any:
        return object()

    assert "cannot be written as JSON" in failed(await run(odd))


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
