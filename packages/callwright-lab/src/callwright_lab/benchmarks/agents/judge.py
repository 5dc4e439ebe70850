"""The judgement of a finished job, by code alone: the world's log, the answer, the task's data."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from callwright.nouns.types import Json, JsonObject, to_canonical_json
from callwright_lab.benchmarks.agents.task_set import TaskSet
from callwright_lab.benchmarks.agents.tasks import Call, Task
from callwright_lab.benchmarks.agents.worlds.world import Called

_NUMBER = re.compile(r"(?<![\w.,\-−])[-−]?\d+(?:[.,'\u00a0\u202f ٬٫]\d+)*")
_QUESTION = re.compile(r"[?？؟]")
_CLOSE = 0.005  # numbers that differ by less are equal


@dataclass(frozen=True, slots=True)
class JobScore:
    """The outcome of a job. The first four are harm: writes that nobody asked for, writes made more
    often than asked, values that nothing supports, and questions or refusals where nothing was
    missing; a job in which a write was wrong is no refusal. ``reasons``: why it is no success.
    """

    unasked: int
    repeated: int
    invented: int
    is_false_refusal: bool
    reasons: tuple[str, ...]

    @property
    def is_success(self) -> bool:
        """Return True if the job ended right and did nothing else."""
        return not self.reasons


def judge_job(task: Task, log: Sequence[Called], answer: str) -> JobScore:
    """Judge one job from the calls that reached the world and the last words to the user."""
    allowed = {make_key(call, task.task_set) for call in task.ending.allowed}
    writes = [c for c in log if c.is_write and make_key(c, task.task_set) not in allowed]
    missing, unasked, repeated = _match_writes(task, writes)
    gaps = [f"not done: {call.tool} {to_canonical_json(call.arguments)}" for call in missing]
    gaps += [f"not stated: {fact[0]}" for fact in task.ending.facts if not has_fact(answer, fact)]
    texts = "\n".join(_join_free_text(task.task_set, called) for called in writes)
    gaps += [f"not written: {fact[0]}" for fact in task.ending.written if not has_fact(texts, fact)]
    ended = _check_ending(task, answer)
    harm = [f"{unasked} writes nobody asked for"] if unasked else []
    harm += [f"{repeated} writes repeated"] if repeated else []
    stopped = task.ending.is_open and bool(gaps) and not unasked
    is_refusal = stopped and has_question_or_limit(task, answer)
    return JobScore(
        unasked, repeated, count_invented(task, log), is_refusal, (*harm, *gaps, *ended)
    )


def _match_writes(task: Task, writes: Sequence[Called]) -> tuple[list[Call], int, int]:
    """Gold's writes that were not made, the writes that match none, and those beyond gold's
    number. A write that nobody asked for is counted once as that, and then as repeated.
    """
    left, of = list_writes(task), task.task_set
    asked, seen = {make_key(call, of) for call in left}, set()
    unasked = repeated = 0
    for called in writes:
        key = make_key(called, of)
        gold = next((call for call in left if make_key(call, of) == key), None)
        if gold is not None:
            left.remove(gold)
        elif key in asked or key in seen:
            repeated += 1
        else:
            unasked += 1
        seen.add(key)
    return left, unasked, repeated


def list_writes(task: Task) -> list[Call]:
    """Gold's calls that change the world."""
    rows = task.task_set.declarations
    return [call for call in task.gold if rows[call.tool]["effect"] != "read"]


def make_key(call: Call | Called, task_set: TaskSet) -> str:
    """Equal for calls that do the same: free text and stated defaults left out, numbers by their
    value, texts without regard to case.
    """
    row = task_set.declarations.get(call.tool, {})
    free, properties = row.get("free", ()), row.get("properties", {})
    arguments = call.arguments if isinstance(call.arguments, dict) else {"": call.arguments}
    kept: JsonObject = {}
    for name, value in arguments.items():
        is_default = value in ("", properties.get(name, {}).get("default", ""))
        if name not in free and not is_default:
            kept[name] = _normalise_value(value)
    return f"{call.tool} {to_canonical_json(kept)}"


def _normalise_value(value: Json) -> Json:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return value.strip().casefold() if isinstance(value, str) else value


def _join_free_text(task_set: TaskSet, called: Called) -> str:
    free = task_set.declarations[called.tool].get("free", ())
    arguments = called.arguments if isinstance(called.arguments, dict) else {}
    return "\n".join(str(arguments[name]) for name in free if name in arguments)


def _check_ending(task: Task, answer: str) -> list[str]:
    if not is_words(answer):
        return ["the answer is no words"]
    if not task.ending.is_open and not has_question_or_limit(task, answer):
        return ["neither a question nor a refusal"]
    return []


def is_words(answer: str) -> bool:
    """Return True for a text that a user can read: no JSON, no markup, not empty."""
    text = answer.strip()
    return bool(re.search(r"[^\W\d_]", text)) and text[:1] not in "{[<"


def has_question_or_limit(task: Task, answer: str) -> bool:
    """Return True if an answer asks something or says that something cannot be done, in the
    task's language or in English.
    """
    text = answer.casefold().replace("’", "'")
    rows = (task.task_set.read_data("words")[language] for language in {task.language, "en"})
    words = [word for row in rows for word in (*row["limits"], *row["asks"])]
    return bool(_QUESTION.search(text)) or any(word in text for word in words)


def has_fact(text: str, fact: Sequence[Json]) -> bool:
    """Return True if a text holds one of a fact's spellings: numbers by value, words without
    regard to case.
    """
    numbers, folded = read_numbers(text), text.casefold()
    return any(
        spelling.casefold() in folded
        if isinstance(spelling, str)
        else any(abs(number - spelling) < _CLOSE for number in numbers)
        for spelling in fact
    )


def read_numbers(text: str) -> set[float]:
    """Every value that the numbers of a text may mean: ``1.250`` is 1.25 and 1250."""
    found: set[float] = set()
    plain = unicodedata.normalize("NFKC", text)
    for match in _NUMBER.findall(_separate_scripts(plain)):
        found |= _read_number(match)
    return found


def _separate_scripts(text: str) -> str:
    """Digits that touch letters of a script without spaces stand alone."""
    return re.sub(r"(?<=[^\W\d_a-zA-Z])(?=\d)|(?<=\d)(?=[^\W\d_a-zA-Z])", " ", text)


def _read_number(token: str) -> set[float]:
    sign = -1.0 if token[0] in "-−" else 1.0
    parts = re.split(r"\D+", token.strip("-−"))
    whole = {"".join(parts)} if all(len(part) == 3 for part in parts[1:]) else set()
    decimal = {"".join(parts[:-1]) + "." + parts[-1]} if len(parts) > 1 else set()
    single = set(parts) if " " in token else set()
    return {sign * float(number) for number in whole | decimal | single}


def count_invented(task: Task, log: Sequence[Called]) -> int:
    """The arguments whose value neither the conversation, nor a result, nor gold supports.

    Free text, stated defaults, required booleans and options of a required enumeration are not
    judged.
    """
    said = [task.task_set.system, task.request, to_canonical_json([*task.history])]
    right = (*task.gold, *task.ending.allowed)
    gold = {value for call in right for value in _iter_values(call.arguments)}
    count = 0
    for called in log:
        text = "\n".join(said)
        row = task.task_set.declarations.get(called.tool)
        if row is not None and isinstance(called.arguments, dict):
            count += sum(
                _is_judged(row, name, value) and not _is_supported(value, text, gold)
                for name, value in called.arguments.items()
            )
        said.append(called.text)
    return count


def _is_judged(row: JsonObject, name: str, value: Json) -> bool:
    schema = row.get("properties", {}).get(name, {})
    if name in row.get("free", ()) or value == schema.get("default", ""):
        return False
    if name in row["required"]:
        is_choice = "enum" in schema or schema.get("type") == "boolean"
        is_identifying = schema.get("type") != "string" or "pattern" in schema or "format" in schema
        return is_identifying and not is_choice
    return True


def _is_supported(value: Json, text: str, gold: set[Json]) -> bool:
    if isinstance(value, dict | list):
        return all(_is_supported(part, text, gold) for part in _iter_values(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return has_fact(text, (value,)) or float(value) in gold
    if _normalise_value(value) in gold:
        return True
    stated = rf"(?<![0-9A-Za-z]){re.escape(str(value).strip())}(?![0-9A-Za-z])"
    return bool(re.search(stated, text, re.IGNORECASE))


def _iter_values(value: Json) -> Iterable[Json]:
    parts = value.values() if isinstance(value, dict) else value
    for part in parts:
        if isinstance(part, dict | list):
            yield from _iter_values(part)
        else:
            yield _normalise_value(part)
