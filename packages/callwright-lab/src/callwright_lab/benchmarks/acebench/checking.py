"""The suite's check of a normal row: are these the calls of gold?

Written anew after ``model_eval/checker.py`` of ACEBench, with what is peculiar to it, because its
table is made with it; :mod:`.agreement` compares the two row by row. What a reader would not
expect:

* numbers and booleans are checked by type alone, texts by containment of gold in the value once
  spaces, ``, . / - _ * ^`` and case are gone;
* an argument that gold does not name is wrong, also where the tool has it; one that gold names may
  be left out unless the tool requires it;
* a value of another type than the schema's is right where gold's value has that type;
* a parameter of a text type that is ``"true"`` or ``"false"`` is wrong;
* an error in the suite's own check counts as wrong here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from callwright_lab.benchmarks.acebench.reading import AceCall

_TYPES: Mapping[str, type] = {
    "string": str,
    "any": str,
    "integer": int,
    "int": int,
    "number": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "list": list,
    "objectArray": list,
    "list(string)": list,
    "list(enum)": list,
    "dict": dict,
    "object": dict,
    "enum": enumerate,  # as in the suite: a type that no value has
}
_NESTED = ("array", "tuple", "list(string)", "list(enum)", "object", "objectArray")
_IGNORED = re.compile(r"[ ,./\-_*^]")
_NUMBERED = re.compile(r"_\d+$")


class WrongCall(Exception):
    """A call is not gold's, or the suite cannot tell; the text says why."""


def check_calls(
    functions: Sequence[Mapping[str, Any]],
    calls: Sequence[AceCall],
    candidates: Sequence[Mapping[str, Any]],
) -> str:
    """Return why the calls match none of gold's candidates; empty where they match one."""
    reasons = []
    for gold in candidates:
        try:
            _check_candidate(functions, calls, gold)
        except WrongCall as wrong:
            reasons.append(str(wrong))
        except (TypeError, KeyError, AttributeError, IndexError) as error:
            return f"the check itself fails: {type(error).__name__}"  # the suite's run ends there
        else:
            return ""
    return (reasons or ["no gold"])[0]


def standardise_text(text: str) -> str:
    """A text as the suite compares texts."""
    return _IGNORED.sub("", text).lower().replace("'", '"')


def _check_candidate(
    functions: Sequence[Mapping[str, Any]], calls: Sequence[AceCall], gold: Mapping[str, Any]
) -> None:
    if len(calls) != len(gold):
        raise WrongCall(f"{len(calls)} calls where gold has {len(gold)}")
    names = {key: _NUMBERED.sub("", key) for key in gold}  # a tool called twice is numbered
    if Counter(name for call in calls for name in call) != Counter(names.values()):
        raise WrongCall("other tools than gold's")
    for key, name in names.items():
        described = next((f for f in functions if f["name"] in key), None)
        _find_match(described, [call for call in calls if name in call], gold[key])


def _find_match(
    described: Mapping[str, Any] | None, calls: Sequence[AceCall], gold: Mapping[str, Any]
) -> None:
    """Return if one of the calls is gold's; raise what is wrong with the last of them."""
    wrong = WrongCall("no call")
    for call in calls:
        try:
            return _check_call(described, call, gold)
        except WrongCall as found:
            wrong = found
    raise wrong


def _check_call(
    described: Mapping[str, Any] | None, call: AceCall, gold: Mapping[str, Any]
) -> None:
    if described is None:
        raise WrongCall("the tool is not described")
    given, schema = next(iter(call.values())), described["parameters"]
    if given == {} or schema == {}:
        if given == schema:
            return
        raise WrongCall("arguments on one side only")
    properties = schema["properties"]
    if gold == properties:
        return
    if gold == {} or described["name"] not in call:
        raise WrongCall(f"no arguments, or no call of {described['name']}")
    if missing := [name for name in schema["required"] if name not in given]:
        raise WrongCall(f"required: {missing[0]}")
    for name, value in given.items():
        if name not in properties or name not in gold:
            raise WrongCall(f"not in gold: {name}")
        _check_value(name, value, gold[name], properties[name])


def _check_value(name: str, value: Any, gold: Any, schema: Mapping[str, Any]) -> None:
    kind = schema["type"]
    expected = _TYPES[kind]
    nested = _TYPES[_get_item_type(kind, schema)] if kind in _NESTED else None
    value = list(value) if kind == "tuple" and type(value) is tuple else value
    value = float(value) if kind == "float" and type(value) is int else value
    if not _has_type(value, gold, expected, nested):
        raise WrongCall(f"type of {name}")
    if gold != "" and type(gold) is not expected:
        return  # the suite lets a value of gold's own type pass
    if expected is dict:
        _check_object(name, value, gold)
    elif expected is list and nested is dict:
        _check_objects(name, value, gold)
    elif not _has_value(value, gold, expected):
        raise WrongCall(f"value of {name}")


def _has_value(value: Any, gold: Any, expected: type) -> bool:
    """Return whether a text or a list is gold's. Numbers and booleans always are."""
    if expected is str:
        return standardise_text(gold) in standardise_text(value)
    return expected is not list or _standardise_items(value) == _standardise_items(gold)


def _get_item_type(kind: str, schema: Mapping[str, Any]) -> str:
    try:
        found: str = schema["items"]["type"]
        return found
    except (KeyError, TypeError):
        return next((name for name in ("string", "enum") if name in kind), "dict")


def _has_type(value: Any, gold: Any, expected: type, nested: type | None) -> bool:
    if value in ("true", "false"):
        value = value == "true"
    if type(value) is expected:
        if nested is None:
            return True
        # where gold is empty, no value has its type: the suite has noted an error by then
        return any(_have_types(value, item, nested) for item in gold)
    return gold != "" and (type(value) is type(gold) or bool(gold == value))


def _have_types(values: Any, gold: Any, nested: type) -> bool:
    """Return whether a list's items have the type of one item of gold; any do where that is no
    list.
    """
    return type(gold) is not list or all(_has_type(one, gold, nested, nested) for one in values)


def _check_object(name: str, value: Any, gold: Any) -> None:
    if not isinstance(value, dict) or len(value) != len(gold.keys()):
        raise WrongCall(f"value of {name}")
    for key, inner in value.items():
        if key not in gold:
            raise WrongCall(f"value of {name}: {key}")
        inner = {"true": True, "false": False}.get(inner, inner) if type(inner) is str else inner
        wanted = gold[key]
        if isinstance(wanted, dict):
            _check_object(name, inner, wanted)
        elif str(_standardise_one(wanted)) not in str(_standardise_one(inner)):
            raise WrongCall(f"value of {name}: {key}")


def _check_objects(name: str, value: Any, gold: Any) -> None:
    if len(value) != len(gold):
        raise WrongCall(f"value of {name}")
    for one, wanted in zip(value, gold, strict=True):
        _check_object(name, one, wanted)


def _standardise_one(value: Any) -> Any:
    return standardise_text(value) if type(value) is str else value


def _standardise_items(values: Any) -> list[Any]:
    return [_standardise_one(value) for value in values]
