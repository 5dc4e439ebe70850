"""The reflection of a row: what was wrong, as the feedback says it, and what to do about it (B.4,
Table 19).

By a model, or by rule from the failure's words and the tool's documentation. The right call itself
is the verified one; nobody is asked to write it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from callwright.agent.render import render_signatures
from callwright.jsontext import JsonError, parse_lenient
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.trajectory import Step
from callwright.nouns.types import Json, JsonObject, Reply, Tool, ToolCall, to_canonical_json
from callwright.parsing.formats.pythonic import write_value
from callwright.schema.normalize import closed_object
from callwright_lab import prompts
from callwright_lab.reflection.row import Reflected
from callwright_lab.reflection.syntax import collect_literals
from callwright_lab.reflection.thoughts import describe_origins

_SHOWN = 600  # characters of one result
_DOCUMENTED = 200
_VALUE = 80
_TOKENS = 400
_MOST_KEYS = 4


def reflect_by_rule(row: Reflected) -> str:
    """Analysis and strategy from what the failure, the documentation and the rounds before say:
    what was wrong, what is called now, and where its values come from.
    """
    return " ".join((*_iter_analysis_sentences(row), *_iter_strategy_sentences(row)))


def build_reflection_request(row: Reflected, *, schema: bool) -> ChatRequest:
    """Table 19's question, without the reflection and with the right call as its reference."""
    messages = prompts.render(
        "reflection",
        tools=escape_delimiters(render_signatures(row.before.tools)),
        query=escape_delimiters(row.before.query),
        before=escape_delimiters(
            "\n".join(_render_round(n, step) for n, step in enumerate(row.before.steps, 1))
        )
        or "(nothing yet)",
        wrong=escape_delimiters(_render_round(len(row.before.steps) + 1, row.wrong)),
        right=row.program or "\n".join(write_value(row.right)),
    )
    wanted = closed_object(analysis=_TEXT, strategy=_TEXT) if schema else None
    return ChatRequest(messages, purpose="reflection", schema=wanted, max_tokens=_TOKENS)


def escape_delimiters(text: str) -> str:
    """A text that cannot end the part of a prompt which is data."""
    return text.replace("===", "= = =")


_TEXT: JsonObject = {"type": "string", "minLength": 1, "maxLength": 500}


def parse_reflection(reply: Reply) -> str:
    """The reflection; "" where the reply holds none, or stops in the middle."""
    try:
        found = parse_lenient(reply.text)
    except JsonError:
        return ""
    said = found.value if isinstance(found.value, dict) and not found.truncated else {}
    parts = [said.get(name) for name in ("analysis", "strategy")]
    texts = [" ".join(part.split()) for part in parts if isinstance(part, str)]
    return " ".join(texts) if len(texts) == 2 and all(texts) else ""


def render_feedback(step: Step) -> str:
    """Return the feedback of a round as the model sees it: the output of its program, the failure
    messages, or the beginning of each result.
    """
    if step.code and step.shown:
        return step.shown
    texts = [
        r.failure.message if r.failure is not None else _shorten_value(r.content, _SHOWN)
        for r in step.results
    ]
    return "\n".join(texts) or step.shown


def _render_round(number: int, step: Step) -> str:
    calls = step.code or "\n".join(_render_call(call) for call in step.calls)
    thought = f"Thought: {step.thought}\n" if step.thought else ""
    came = render_feedback(step)
    if len(came) > _SHOWN:  # of a program's the end says why it stopped
        came = (
            f"{came[:_SHOWN]}…"
            if not step.code
            else f"{came[: _SHOWN // 2]} … {came[-_SHOWN // 2 :]}"
        )
    return f"Round {number}\n{thought}Call: {calls}\nFeedback: {came}"


def _render_call(call: ToolCall) -> str:
    return (
        write_value([call])[0]
        if isinstance(call.arguments, dict)
        else f"{call.tool}({call.arguments})"
    )


def _iter_analysis_sentences(row: Reflected) -> Iterator[str]:
    pair, failure = _pair_wrong_and_right(row), _find_visible_failure(row.wrong)
    if pair is None or (failure is None and row.kind == "calling" and row.wrong.code):
        yield f"The program stopped: {_end_sentence(_find_traceback_end(row.wrong.shown))}"
        return
    wrong, right = pair
    if failure is not None:
        said = failure.split(" Tools: ")[0]  # which tools there are stands in the documentation
        yield f"The call of {wrong.tool} failed: {_end_sentence(_shorten_value(said, _SHOWN))}"
    elif row.error == "nothing found":
        yield (
            f"The call of {wrong.tool} was carried out and found nothing: its arguments miss what"
            " is asked for."
        )
    elif _make_call_key(wrong) in map(_make_call_key, row.before.calls):
        yield (
            f"{wrong.tool} was called so before and returned this: once more brings the task no"
            " further."
        )
    else:
        yield (
            f"The call of {wrong.tool} was carried out, but what came back does not give what the"
            " request asks for."
        )
    if wrong.tool != right.tool:
        tool = row.before.tool(right.tool)
        about = (
            _end_sentence(_shorten_value(tool.description, _DOCUMENTED))
            if tool is not None and tool.description
            else ""
        )
        yield f"The tool for this is {right.tool}{': ' + about if about else '.'}"
    elif not row.program:
        yield from _iter_differences(wrong, right, row.before.tool(right.tool))


def _find_visible_failure(step: Step) -> str | None:
    """The failure of a round as the caller saw it; None where it saw none."""
    failure = next(
        (r.failure for r in step.results if r.failure is not None and r.failure.kind != "empty"),
        None,
    )
    return (
        failure.message
        if failure is not None and is_message_visible(step, failure.message)
        else None
    )


def is_message_visible(step: Step, message: str) -> bool:
    """Return True if the caller saw this message in a round. The results of a program's calls are
    seen only if the program prints them.
    """
    if not (step.code and step.shown):
        return True
    return any(
        form in step.shown
        for form in (message, repr(message)[1:-1], to_canonical_json(message)[1:-1])
    )


def _find_traceback_end(shown: str) -> str:
    """Return the last line of a traceback."""
    return next((line for line in reversed(shown.splitlines()) if line.strip()), "it says no more")


def _iter_differences(wrong: ToolCall, right: ToolCall, tool: Tool | None) -> Iterator[str]:
    """Yield sentences about each wrong argument, with what the documentation says of it."""
    given, wanted = _get_arguments(wrong), _get_arguments(right)
    if given == wanted:
        yield "Nothing of the call itself was wrong."
    for key in _find_changed_keys(wrong, right)[:_MOST_KEYS]:
        what = "was missing" if key not in given else f"was {_shorten_value(given[key], _VALUE)}"
        yield f"The argument {key} {what}{_quote_documentation(key, tool)}."
    for key in [k for k in given if k not in wanted][:_MOST_KEYS]:
        yield f"The argument {key} does not belong in this call."


def _quote_documentation(key: str, tool: Tool | None) -> str:
    part = tool.properties.get(key) if tool is not None else None
    about = part.get("description") if isinstance(part, dict) else None
    if not isinstance(about, str) or not about.strip():
        return ""
    return f"; the documentation says of it: {_shorten_value(about, _DOCUMENTED).rstrip('.')}"


def _iter_strategy_sentences(row: Reflected) -> Iterator[str]:
    if row.program:
        yield f"I call {', and then '.join(_describe_computed_call(call, row.program) for call in row.right)}."
        return
    wrong, right = _pair_wrong_and_right(row) or (None, row.right[0])
    if wrong is not None and _make_call_key(wrong) == _make_call_key(right):
        yield f"I call {right.tool} once more."
        return
    again = wrong if wrong is not None and wrong.tool == right.tool else None
    given = _get_arguments(right)
    told = ", ".join(f"{key} = {_shorten_value(value, _VALUE)}" for key, value in given.items())
    verb = "I call it again" if again else f"I call {right.tool}"
    yield f"{verb} with {told}." if told else f"{verb} without arguments."
    new = {key: given[key] for key in _find_changed_keys(again, right)} if again else given
    if come := describe_origins(row.before, len(row.before.steps), right, new):
        yield come.replace("`", "")  # names stand bare here


def _get_arguments(call: ToolCall) -> JsonObject:
    return call.arguments if isinstance(call.arguments, dict) else {}


def _find_changed_keys(wrong: ToolCall, right: ToolCall) -> list[str]:
    """The arguments of the right call that the wrong one lacks, or has otherwise."""
    given, wanted = _get_arguments(wrong), _get_arguments(right)
    return [
        k
        for k in wanted
        if k not in given or to_canonical_json(given[k]) != to_canonical_json(wanted[k])
    ]


def _make_call_key(call: ToolCall) -> str:
    return to_canonical_json([call.tool, call.arguments])


def _describe_computed_call(call: ToolCall, program: str) -> str:
    """A call of a program in words: what it says itself, and what it takes from what came
    before.
    """
    said, given = collect_literals(program), _get_arguments(call)
    told = [
        f"{key} = {_shorten_value(v, _VALUE)}"
        for key, v in given.items()
        if to_canonical_json(v) in said
    ]
    taken = [key for key, v in given.items() if to_canonical_json(v) not in said]
    told += [f"{' and '.join(taken)} taken from what came before"] if taken else []
    return f"{call.tool} with {', '.join(told)}" if told else f"{call.tool} without arguments"


def _pair_wrong_and_right(row: Reflected) -> tuple[ToolCall, ToolCall] | None:
    """The call that went wrong and the right one: the first that is unlike, of the same tool where
    there is one. None where nothing was called.
    """
    if not row.wrong.calls:
        return None
    right = set(map(_make_call_key, row.right))
    ill = {r.id for r in row.wrong.results if not r.ok}
    calls: Sequence[ToolCall] = [c for c in row.wrong.calls if c.id in ill] or [
        c for c in row.wrong.calls if _make_call_key(c) not in right
    ]
    wrong = calls[0] if calls else row.wrong.calls[0]
    return wrong, next((c for c in row.right if c.tool == wrong.tool), row.right[0])


def _end_sentence(text: str) -> str:
    return text if text[-1:] in (".", "!", "?", "…") else f"{text}."


def _shorten_value(value: Json, most: int) -> str:
    text = " ".join((value if isinstance(value, str) else to_canonical_json(value)).split())
    return text if len(text) <= most else text[: most - 1].rsplit(" ", 1)[0] + "…"
