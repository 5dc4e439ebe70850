"""Python functions as tools: schema from signature, annotations and docstring; called in a thread
or awaited.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import inspect
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin, overload

from callwright.nouns.errors import CallwrightError, CatalogError, Failure
from callwright.nouns.protocols import NotDone
from callwright.nouns.types import UNKNOWN, Effects, JsonObject, Tool, ToolOutput
from callwright.tools.python.annotations import (
    FORMS,
    NoJsonForm,
    SchemaWriter,
    describe,
    is_described,
    schema_of,
    with_default,
)
from callwright.tools.python.conversion import NotConvertible, dump_result, load_value
from callwright.tools.python.docstrings import Docstring, parse_docstring
from callwright.tools.python.raised import Ended, failure_of, is_ended_from_outside
from callwright.tools.python.shapes import hints_of
from callwright.tools.python.signatures import (
    add_fields,
    get_default,
    is_field,
    make_default,
    read_signature,
    skip_partials,
)

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
_MARK = "__callwright_tool__"
_MESSAGE_CHARS = 500
_NAME = re.compile(r"[^\W\d][\w.\-:/]{0,127}")


@dataclass(frozen=True, slots=True)
class Declaration:
    """Declarations of ``@tool`` about a function. Empty fields are read from the function
    itself.
    """

    name: str = ""
    description: str = ""
    effects: Effects = UNKNOWN
    output_schema: JsonObject | None = None
    outcome: Callable[..., Any] | None = None
    compensates: str = ""


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    *,
    name: str = ...,
    description: str = ...,
    effects: Effects = ...,
    output_schema: JsonObject | None = ...,
    outcome: Callable[..., Any] | None = ...,
    compensates: str = ...,
) -> Callable[[F], F]: ...
def tool(
    function: F | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    effects: Effects = UNKNOWN,
    output_schema: JsonObject | None = None,
    outcome: Callable[..., Any] | None = None,
    compensates: str = "",
) -> F | Callable[[F], F]:
    """Mark a function as a tool. The function itself stays as it is and can be called as before.

    ``effects``: say ``effects=READ`` for what only reads. A tool that declares none is called
    without approval, unless its name or description says that it deletes or overwrites; after a
    final result, an equal call is not made again in that turn. ``outcome``: after a crash, asked
    what became of a call: ``outcome(key, **arguments)``, plain or async, with the idempotency key
    that ran as :data:`callwright.nouns.protocols.CALL_KEY`. It returns the call's result if the
    call took effect, ``NOT_DONE`` if it surely did not, None if it cannot tell. ``compensates``:
    the name of the tool of which this one undoes calls; answers mention it, and nobody calls it
    unasked. Raises CatalogError for effects of another type, a name that no model can call, and
    what is no function.
    """
    if name and _NAME.fullmatch(name) is None:
        raise CatalogError(
            f"no model can call a tool of the name {name!r}",
            hint="use letters, digits, _ - . : and /, a letter first, at most 128 in all",
        )
    if not isinstance(effects, Effects):
        raise CatalogError(
            f"effects={effects!r} of a tool are no Effects",
            hint="from callwright import READ, WRITE: READ for what only reads",
        )

    def mark(marked: F) -> F:
        declared = Declaration(name, description, effects, output_schema, outcome, compensates)
        target = marked.__func__ if isinstance(marked, staticmethod | classmethod) else marked
        try:
            setattr(target, _MARK, declared)
        except (AttributeError, TypeError):
            raise CatalogError(
                f"@tool cannot mark {marked!r}",
                hint=(
                    "name what you declare, as in @tool(name='search', effects=READ), and put it"
                    " above a def; a method is marked in its class"
                ),
            ) from None
        return marked

    return mark(function) if function is not None else mark


@dataclass(frozen=True)
class FunctionTool:
    """A function with its tool. ``run`` never raises for what the function does."""

    tool: Tool
    function: Callable[..., Any]
    signature: inspect.Signature
    hints: dict[str, Any] = field(default_factory=dict)
    outcome: Callable[..., Any] | None = None
    bound: dict[str, Any] = field(default_factory=dict, repr=False)  # by partials: may be secret

    async def ask(self, key: str, arguments: JsonObject) -> ToolOutput | NotDone | None:
        """Return the outcome of a call; None if the function cannot tell, or fails."""
        if self.outcome is None:
            return None
        arguments = self.bound | arguments
        try:
            if _is_async(self.outcome):
                found = await self.outcome(key, **arguments)
            else:
                found = await run_in_thread(functools.partial(self.outcome, key, **arguments))
            return (
                found
                if found is None or isinstance(found, ToolOutput | NotDone)
                else ToolOutput(dump_result(found))
            )
        except Exception:  # a question that fails leaves the call in doubt
            return None

    async def run(self, arguments: JsonObject) -> ToolOutput:
        """Call the function. What returned counts as done: a result without a JSON form is kept as
        its text.
        """
        try:
            bound = self._bind(arguments)
        except (ValueError, TypeError) as error:
            said = f"the arguments do not fit: {error}"
            return ToolOutput(failure=Failure("tool_error", said[:_MESSAGE_CHARS], not_done=True))
        try:
            return await self._call(bound)
        except BaseException as error:  # it may raise anything: the world's failure
            if is_ended_from_outside(error):
                raise
            return ToolOutput(failure=failure_of(error, self.function, arguments))

    async def _call(self, bound: inspect.BoundArguments) -> ToolOutput:
        """The result of a plain function is written in the function's thread: values that are made
        while they are asked for (a generator, the rows of a query) may block, or know no other.
        """
        call = functools.partial(self.function, *bound.args, **bound.kwargs)
        if _is_async(self.function):
            return _write_output(await call())
        made = await run_in_thread(lambda: _write_unless_async(call()))
        if isinstance(made, ToolOutput):
            return made
        if inspect.isasyncgen(made):
            return _write_output([item async for item in made])
        return _write_output(await made)

    def _bind(self, arguments: JsonObject) -> inspect.BoundArguments:
        placed: list[tuple[Any, bool]] = []  # by position: the value, and whether it was given
        named: dict[str, Any] = {}
        rest: list[Any] = []  # of *args
        left = dict(arguments)
        parameters = self.signature.parameters.values()
        spreads = any(p.kind is p.VAR_POSITIONAL and left.get(p.name) for p in parameters)
        for parameter in parameters:
            if parameter.kind is parameter.VAR_KEYWORD:
                further = [key for key in left if key not in self.bound]
                named |= {key: self._load(parameter.name, key, left.pop(key)) for key in further}
                continue
            given = parameter.name in left
            value = (
                self._load(parameter.name, parameter.name, left.pop(parameter.name))
                if given
                else make_default(parameter)
            )
            if parameter.kind is parameter.VAR_POSITIONAL:
                rest = value if given else []
                continue
            if value is parameter.empty:
                raise NotConvertible(f"{parameter.name!r} is missing")
            given = given or is_field(parameter.default)
            if parameter.kind is parameter.POSITIONAL_ONLY or (
                spreads and parameter.kind < parameter.VAR_POSITIONAL
            ):
                placed.append((value, given))
            elif given:
                named[parameter.name] = value
        if left:
            raise NotConvertible(f"unknown argument {', '.join(map(repr, left))}")
        while placed and not spreads and not placed[-1][1]:
            placed.pop()
        return self.signature.bind(*(value for value, _ in placed), *rest, **named)

    def _load(self, parameter: str, key: str, value: Any) -> Any:
        if value is None and get_default(self.signature.parameters[parameter]) is None:
            return None
        try:
            hint = self.hints.get(parameter, Any)
            if self.signature.parameters[parameter].kind is inspect.Parameter.VAR_POSITIONAL:
                hint = list[hint]  # type: ignore[valid-type]
            return load_value(hint, value)
        except ValueError as error:
            raise NotConvertible(f"{key!r}: {error}") from None


async def run_in_thread(work: Callable[[], T]) -> T:
    """Run a blocking function in a thread of its own, with this context.

    Unlike ``asyncio.to_thread`` it does not keep the process from ending: after Ctrl-C nobody waits
    for a tool that blocks, and any number of them can block at once. What is no Exception comes as
    :class:`Ended`: in the event loop it would end the process.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def set_outcome(result: T | None, error: Exception | None) -> None:
        if not done.done():
            done.set_exception(error) if error is not None else done.set_result(cast("T", result))

    def run() -> None:
        result: T | None = None
        error: Exception | None = None
        try:
            result = context.run(work)
        except StopIteration as stop:  # a future cannot carry it
            error = RuntimeError(f"StopIteration: {stop.value}")
        except Exception as raised:
            error = raised
        except BaseException as raised:
            error = Ended(raised)
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits any more
            loop.call_soon_threadsafe(set_outcome, result, error)

    threading.Thread(target=run, name="callwright-tool", daemon=True).start()
    return await done


def tool_from_function(function: Callable[..., Any], *, source: str = "") -> FunctionTool:
    """Read a function's signature, annotations and docstring. Raises CatalogError naming what has
    no JSON form.
    """
    declared = _find_declaration(function)
    name = declared.name or _name_of(function)
    about = parse_docstring(inspect.getdoc(skip_partials(function, "__doc__")))
    try:
        signature, bound = read_signature(function)
        hints = add_fields(signature, hints_of(_find_annotated(function)))
        made = Tool(
            name=name,
            description=declared.description or about.summary,
            input_schema=_input_schema(signature, hints, about),
            output_schema=declared.output_schema or _output_schema(hints, about),
            effects=declared.effects,
            source=source,
            compensates=declared.compensates,
        )
    except CatalogError as error:
        raise CatalogError(f"function {name!r}: {error.message}", hint=error.hint) from None
    return FunctionTool(made, function, signature, hints, declared.outcome, bound)


def functions_of(module: ModuleType) -> tuple[Callable[..., Any], ...]:
    """The functions marked with ``@tool``; where none is, the public functions that the module
    itself defines.
    """
    values = list(vars(module).values())
    marked = tuple(
        dict.fromkeys(
            v for v in values if callable(v) and isinstance(vars_of(v).get(_MARK), Declaration)
        )
    )
    if marked:
        return marked
    listed = getattr(module, "__all__", None)
    names = listed if listed is not None else [n for n in vars(module) if not n.startswith("_")]
    found = [getattr(module, name, None) for name in names]
    return tuple(f for f in found if inspect.isfunction(f) and f.__module__ == module.__name__)


def vars_of(value: Any) -> dict[str, Any]:
    """``vars()`` that is empty for what has none."""
    found = getattr(value, "__dict__", {})
    return dict(found)


class FunctionSource:
    """Functions of this process as a tool source."""

    def __init__(self, functions: Iterable[Callable[..., Any]], *, name: str = "python") -> None:
        self._name = name
        self._functions = tuple(functions)
        self._tools: dict[str, FunctionTool] = {}
        self.problems: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self._name

    async def open(self) -> Sequence[Tool]:
        """The functions as tools. One that cannot be a tool is left out, its reason in
        ``problems``; where none can be, that is a CatalogError.
        """
        made: list[FunctionTool] = []
        errors: list[CatalogError] = []
        for function in self._functions:
            try:
                made.append(tool_from_function(function, source=self._name))
            except CatalogError as error:
                errors.append(error)
        if errors and not made:
            raise errors[0]
        self.problems = tuple(
            f"{self._name}: {error.message} (left out; {error.hint})" for error in errors
        )
        self._tools = {m.tool.name: m for m in made}
        if len(self._tools) < len(made):
            names = [m.tool.name for m in made]
            twice = sorted({n for n in names if names.count(n) > 1})
            raise CatalogError(
                f"{self._name}: two functions are called {twice[0]!r}",
                hint="name one with @tool(name=…)",
            )
        return tuple(m.tool for m in made)

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        found = self._tools.get(tool.name)
        if found is None:
            raise CallwrightError(
                f"{self._name} has no function {tool.name!r}", hint="open() the source first"
            )
        return await found.run(arguments)

    async def outcome(
        self, tool: Tool, arguments: JsonObject, key: str
    ) -> ToolOutput | NotDone | None:
        found = self._tools.get(tool.name)
        return await found.ask(key, arguments) if found else None

    def place(self, tool: Tool) -> str:
        """The function's code: one that was repaired is another."""
        found = self._tools.get(tool.name)
        try:
            return inspect.getsource(inspect.unwrap(skip_partials(found.function))) if found else ""
        except (OSError, TypeError):  # made by a program, or in C
            return ""

    async def aclose(self) -> None:
        """Nothing is held."""


def _find_declaration(function: Any) -> Declaration:
    """The mark of a function, of what it wraps, or of what is behind a partial."""
    while function is not None:
        found = getattr(function, _MARK, None)
        if isinstance(found, Declaration):
            return found
        is_partial = isinstance(function, functools.partial)
        function = function.func if is_partial else getattr(function, "__wrapped__", None)
    return Declaration()


def _write_unless_async(result: Any) -> Any:
    """The output of a function; what only an event loop can ask for stays as it is."""
    later = inspect.isasyncgen(result) or inspect.isawaitable(result)
    return result if later else _write_output(result)


def _write_output(result: Any) -> ToolOutput:
    if isinstance(result, ToolOutput):
        return replace(result, content=dump_result(result.content))
    return ToolOutput(dump_result(result))


def _is_async(function: Any) -> bool:
    function = skip_partials(function)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        type(function).__call__
    )


def _find_annotated(function: Any) -> Any:
    """Return the object that holds the annotations: behind partials, and in ``__call__`` of
    callable objects.
    """
    function = skip_partials(function)
    if inspect.isfunction(function) or inspect.ismethod(function):
        return inspect.unwrap(function)
    return function.__init__ if inspect.isclass(function) else type(function).__call__


def _name_of(function: Any) -> str:
    function = skip_partials(function, "__name__")
    name = getattr(function, "__name__", "")
    if name == "<lambda>":
        raise CatalogError(
            "a lambda has no name to call it by", hint="use def, or tool(name=…)(lambda …)"
        )
    return name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(function).__name__).lower()


def _input_schema(
    signature: inspect.Signature, hints: dict[str, Any], about: Docstring
) -> JsonObject:
    properties: JsonObject = {}
    writer = SchemaWriter()
    required: list[str] = []
    extra: JsonObject | bool = False
    for parameter in signature.parameters.values():
        schema = _parameter_schema(parameter, hints, writer)
        if parameter.kind is parameter.VAR_POSITIONAL:
            schema = {"type": "array", "items": schema}
        if parameter.kind is parameter.VAR_KEYWORD:
            extra = schema or True
            continue
        text = about.parameters.get(parameter.name)
        if text and not is_described(hints.get(parameter.name)):
            describe(schema, text)
        properties[parameter.name] = schema
        if (
            get_default(parameter) is parameter.empty
            and parameter.kind is not parameter.VAR_POSITIONAL
        ):
            required.append(parameter.name)
    made: JsonObject = {"type": "object", "properties": properties}
    made |= {"required": required} if required else {}
    made["additionalProperties"] = extra
    return {**made, "$defs": writer.defs} if writer.defs else made


def _parameter_schema(
    parameter: inspect.Parameter, hints: dict[str, Any], writer: SchemaWriter
) -> JsonObject:
    annotation = hints.get(parameter.name, Any)
    try:
        schema = writer.schema(
            annotation | None if _lacks_none(annotation, parameter) else annotation
        )
    except NoJsonForm as error:
        raise CatalogError(
            f"parameter {parameter.name!r}: {error.message}", hint=error.hint
        ) from None
    return with_default(schema, get_default(parameter))


def _lacks_none(annotation: Any, parameter: inspect.Parameter) -> bool:
    """``x: int = None`` takes null, whatever it says."""
    plain = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    return get_default(parameter) is None and isinstance(plain, type)


def _output_schema(hints: dict[str, Any], about: Docstring) -> JsonObject | None:
    """The return annotation's schema; none where nothing is annotated or JSON cannot carry it."""
    if hints.get("return", Any) is Any:
        return None
    try:
        schema = schema_of(hints["return"])
    except NoJsonForm:
        return None
    if not schema:
        return None
    if about.returns and schema.get("description") in FORMS:
        describe(schema, about.returns)
    return schema
