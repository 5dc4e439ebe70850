"""The cases of ``differential.py``: what two versions are asked, and how the results are judged.

Made by the tree that the script lies in, once, so that both versions get the same.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from random import Random
from typing import TypeAlias

from callwright.models.chat import messages_out, tool_out
from callwright.nouns.types import JsonObject, Message, Tool, ToolCall, to_json
from callwright.parsing import DIALECTS, write_calls
from callwright_lab.benchmarks.harm.bench import (
    NATIVE,
    compare_calls,
    find_valid_calls,
    sample_cases,
)
from callwright_lab.benchmarks.harm.gold import GoldCase, all_cases
from callwright_lab.benchmarks.harm.prose import Prose, prose_replies
from callwright_lab.benchmarks.refine.api_bank import ApiBank
from callwright_lab.benchmarks.refine.bfcl import Bfcl, unpack_folder
from callwright_lab.benchmarks.refine.corrupt import (
    Tally,
    build_reply,
    count_reading,
    gold_tasks,
    iter_corruptions,
)
from callwright_lab.benchmarks.refine.replies import Pair, read_replies
from callwright_lab.benchmarks.refine.task import Examination, Found, Task
from callwright_lab.datasets.sources import data_root
from callwright_lab.training.refiner.corruption import KINDS, Corrupted

Result: TypeAlias = JsonObject
Spoiled: TypeAlias = tuple[Task, Corrupted]
Scorers: TypeAlias = Mapping[str, Examination]
Judge: TypeAlias = Callable[[Result], Counter[str]]
FORMS = (NATIVE, *(name for name, row in DIALECTS.items() if not row.asked))
SPOILED_CALLS = 1000  # of a kind, as in the published table
RIGHT_CALLS = 5300  # of which 5,082 are lawful
PROXY_CALLS = 100  # of a kind
PROSE = 1000


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to repair. ``label`` is its class in the tables; ``asked`` what the worker gets."""

    id: str
    label: str
    mode: str
    tools: tuple[Tool, ...]
    asked: JsonObject
    judge: Judge | None = None


Make: TypeAlias = Callable[[], Case]
"""Makes a case when it is wanted: a sample does not pay for what it leaves out."""


@dataclass(frozen=True, slots=True)
class Section:
    """Cases that one line of the summary is about."""

    name: str
    makes: Iterable[Make]


# ---------------------------------------------------------------- refine and gate


def refine_case(
    id: str,
    label: str,
    tools: tuple[Tool, ...],
    reply: str | JsonObject | Sequence[ToolCall],
    query: str = "",
    messages: Sequence[Message] = (),
    judge: Judge | None = None,
) -> Case:
    """A reply for the refiner: a text, a message, or calls."""
    sent = reply if isinstance(reply, str | dict) else to_json(list(reply))
    asked = {"reply": sent, "query": query, "messages": to_json(list(messages))}
    return Case(id, label, "refine", tools, asked, judge)


def gate_case(
    id: str,
    label: str,
    tools: tuple[Tool, ...],
    calls: Sequence[ToolCall],
    judge: Judge | None = None,
) -> Case:
    """Calls for the gate, which sees their arguments only."""
    return Case(id, label, "gate", tools, {"reply": to_json(list(calls))}, judge)


def spoiled_makes(pairs: Iterable[Spoiled], scorer: Examination) -> Iterator[Make]:
    """Spoiled replies for the refiner."""
    for task, spoiled in pairs:
        yield partial(_spoiled, task, spoiled, scorer)


def _spoiled(task: Task, spoiled: Corrupted, scorer: Examination) -> Case:
    message = build_reply(task, spoiled, ours=True).message
    reply = message if message.get("tool_calls") else str(message.get("content") or "")
    judge = partial(judge_spoiled, (task, spoiled), scorer)
    return refine_case(task.id, spoiled.kind, task.tools, reply, task.query, task.messages, judge)


def spoiled_gate_makes(pairs: Iterable[Spoiled], scorer: Examination) -> Iterator[Make]:
    """The calls of the kinds that spoil calls, not their text, for the gate."""
    for task, spoiled in pairs:
        if spoiled.level == "calls":
            judge = partial(judge_spoiled, (task, spoiled), scorer)
            yield partial(gate_case, task.id, spoiled.kind, task.tools, spoiled.calls, judge)


def right_makes(gold: Iterable[GoldCase], forms: Sequence[str] = FORMS) -> Iterator[Make]:
    """Right calls in every form, for the refiner."""
    for case in gold:
        legal: list[bool] = []  # filled by the first of its forms that is wanted
        for form in forms:
            yield partial(_right, case, form, legal)


def _right(case: GoldCase, form: str, legal: list[bool]) -> Case:
    legal += [] if legal else find_valid_calls(case)
    reply = case.calls if form == NATIVE else write_calls(case.calls, form)
    judge = partial(judge_right, case, legal)
    return refine_case(case.id, form, case.tools, reply, case.query, case.messages, judge)


def right_gate_makes(gold: Iterable[GoldCase]) -> Iterator[Make]:
    """Right calls for the gate: alike or not is all that is asked, for some hold references."""
    for case in gold:
        yield partial(gate_case, case.id, case.source, case.tools, case.calls)


def prose_makes(replies: Iterable[Prose]) -> Iterator[Make]:
    """Replies that call nothing, for the refiner."""
    for prose in replies:
        judge = partial(judge_prose, prose.text)
        yield partial(refine_case, prose.id, "prose", prose.tools, prose.text, judge=judge)


def recorded_makes(pairs: Iterable[Pair], scorers: Scorers) -> Iterator[Make]:
    """Recorded replies of models, for the refiner."""
    for task, reply in pairs:
        native = reply.message.get("tool_calls")
        judge = partial(judge_recorded, task, scorers[task.set])
        yield partial(
            refine_case,
            task.id,
            f"recorded {task.set}",
            task.tools,
            reply.message if native else reply.text,
            task.query,
            task.messages,
            judge,
        )


# ---------------------------------------------------------------- the proxy


@dataclass(frozen=True, slots=True)
class Variant:
    """How a client and an upstream behave."""

    name: str
    stream: bool
    guided: str
    native: bool = True  # whether native calls work there; else they are written as text
    cut: bool = False  # whether the stream arrives in pieces that begin and end anywhere


VARIANTS = (
    Variant("whole", False, "off"),
    Variant("streamed", True, "off"),
    Variant("streamed, cut anywhere", True, "off", cut=True),
    Variant("streamed, guided auto", True, "auto", native=False),
    Variant("whole, guided on", False, "on", native=False),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an upstream says: the message, or its deltas; ``schema`` where a schema is asked for."""

    message: JsonObject
    deltas: Sequence[JsonObject]
    schema: str


def proxy_case(
    id: str,
    variant: Variant,
    tools: tuple[Tool, ...],
    messages: Sequence[Message],
    answer: Answer,
    judge: Judge | None = None,
    label: str = "",
) -> Case:
    """One request through the proxy. A second question gets an empty answer, or one by schema."""
    body = {
        "model": "m",
        "messages": messages_out(messages),
        "tools": [tool_out(tool) for tool in tools],
        "stream": variant.stream,
    }
    asked = {
        "came": answer.message,  # for people
        "path": "/v1/chat/completions",
        "body": body,
        "settings": {"guided": variant.guided},
        "probed": {"native": variant.native, "schema": True},
        "upstream": script_of(answer, variant),
    }
    return Case(f"{id} {label}".strip(), variant.name, "proxy", tools, asked, judge)


def script_of(answer: Answer, variant: Variant) -> JsonObject:
    """What the upstream answers to the request itself, to a schema, and to any other question."""
    free = streamed(answer.deltas) if variant.stream else whole(answer.message)
    if variant.cut:
        sent = "".join(free["pieces"])
        free["pieces"] = list(_pieces(sent, Random(sent), 200))
    schema = whole({"role": "assistant", "content": answer.schema})
    return {"free": free, "schema": schema, "again": whole({"role": "assistant", "content": ""})}


def whole(message: JsonObject) -> JsonObject:
    """A completion in one piece."""
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    return {"type": "application/json", "pieces": [json.dumps(body)]}


def streamed(deltas: Sequence[JsonObject]) -> JsonObject:
    """A completion as events, one a piece."""
    called = any(delta.get("tool_calls") for delta in deltas)
    pieces = [_event(delta, None) for delta in deltas]
    pieces.append(_event({}, "tool_calls" if called else "stop"))
    return {"type": "text/event-stream", "pieces": [*pieces, "data: [DONE]\n\n"]}


def _event(delta: JsonObject, finish: str | None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"


def deltas_of(message: JsonObject, seed: str) -> list[JsonObject]:
    """A message as a server streams it: text and arguments in pieces of a seed's lengths."""
    drawn = Random(seed)
    text = message.get("content") or ""
    made: list[JsonObject] = [{"role": "assistant", "content": ""}]
    made += [{"content": piece} for piece in _pieces(text, drawn)]
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        opened = {"name": function["name"], "arguments": ""}
        first = {"index": index, "id": call["id"], "type": "function", "function": opened}
        made.append({"tool_calls": [first]})
        for piece in _pieces(function["arguments"], drawn):
            made.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    return made


def _pieces(text: str, drawn: Random, longest: int = 24) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = start + drawn.randint(1, longest)
        yield text[start:end]
        start = end


def by_schema(calls: Sequence[ToolCall], query: str) -> str:
    """What an upstream answers that is held to the schema of guided mode."""
    if not calls:
        return json.dumps({"no_call": "nothing is asked for"})
    named = [{"name": call.tool, "arguments": call.arguments} for call in calls]
    return json.dumps({"wishes": [query[:100]], "calls": named})


def proxy_spoiled_makes(pairs: Iterable[Spoiled], scorer: Examination) -> Iterator[Make]:
    """Spoiled replies through every variant of the proxy."""
    for task, spoiled in pairs:
        for variant in VARIANTS:
            yield partial(_proxy_spoiled, task, spoiled, scorer, variant)


def _proxy_spoiled(task: Task, spoiled: Corrupted, scorer: Examination, variant: Variant) -> Case:
    message = build_reply(task, spoiled, ours=True).message
    if spoiled.deltas:
        deltas: Sequence[JsonObject] = spoiled.deltas
    elif spoiled.pieces:
        deltas = [{"content": piece} for piece in spoiled.pieces]
    else:
        deltas = deltas_of(message, f"{task.id} {spoiled.kind}")
    calls = spoiled.calls if spoiled.level == "calls" else spoiled.expected
    answer = Answer(message, deltas, by_schema(calls, task.query))
    judge = partial(judge_spoiled, (task, spoiled), scorer)
    return proxy_case(task.id, variant, task.tools, task.messages, answer, judge, spoiled.kind)


def proxy_right_makes(tasks: Iterable[Task], forms: Sequence[str] = FORMS) -> Iterator[Make]:
    """Right calls through every variant of the proxy, each task in one form, the forms in turn."""
    for task, form in zip(tasks, cycle(forms)):
        for variant in VARIANTS:
            yield partial(_proxy_right, task, form, variant)


def _proxy_right(task: Task, form: str, variant: Variant) -> Case:
    gold = GoldCase(task.id, task.set, task.query, task.tools, task.gold, task.messages)
    if form == NATIVE:
        message = messages_out([Message("assistant", "", tool_calls=task.gold)])[0]
    else:
        message = {"role": "assistant", "content": write_calls(task.gold, form)}
    answer = Answer(message, deltas_of(message, task.id), by_schema(task.gold, task.query))
    judge = partial(judge_right, gold, [True] * len(task.gold))
    return proxy_case(task.id, variant, task.tools, task.messages, answer, judge, form)


def proxy_prose_makes(replies: Iterable[Prose]) -> Iterator[Make]:
    """Replies that call nothing through every variant of the proxy."""
    for prose in replies:
        for variant in VARIANTS:
            yield partial(_proxy_prose, prose, variant)


def _proxy_prose(prose: Prose, variant: Variant) -> Case:
    message = {"role": "assistant", "content": prose.text}
    answer = Answer(message, deltas_of(message, prose.id), by_schema((), ""))
    judge = partial(judge_prose, prose.text)
    said = (Message("user", "What did you find?"),)
    return proxy_case(prose.id, variant, prose.tools, said, answer, judge)


def proxy_recorded_makes(pairs: Iterable[Pair], scorers: Scorers) -> Iterator[Make]:
    """Recorded replies through every variant of the proxy."""
    for task, reply in pairs:
        said = reply.message
        answer = Answer(said, deltas_of(said, task.id), by_schema(task.gold, task.query))
        judge = partial(judge_recorded, task, scorers[task.set])
        make = partial(proxy_case, task.id, judge=judge, label=task.set)
        for variant in VARIANTS:
            yield partial(make, variant, task.tools, task.messages, answer)


# ---------------------------------------------------------------- judging


def found_of(result: Result) -> Found:
    """A worker's result as the scorers take it."""
    calls = tuple(ToolCall(id, tool, arguments) for id, tool, arguments in result["calls"])
    return Found(calls, abstained=tuple(result["said"]))


def judge_spoiled(pair: Spoiled, scorer: Examination, result: Result) -> Counter[str]:
    """Repaired, reported, or wrong without a word."""
    task, spoiled = pair
    tally = Tally()
    count_reading(tally, scorer, task, spoiled, found_of(result))
    return Counter(
        {
            "answerable": tally.answerable,
            "repaired": tally.repaired,
            "wrong without a word": tally.unrepaired,
            "unanswerable": tally.lost,
            "reported": tally.reported,
            "made up without a word": tally.silent,
        }
    )


def judge_right(case: GoldCase, legal: Sequence[bool], result: Result) -> Counter[str]:
    """Right calls, and those among them that are not as they were."""
    count, _ = compare_calls(case, legal, found_of(result).calls)
    return Counter({"right calls": count.calls, "harmed": count.harmed})


def judge_prose(text: str, result: Result) -> Counter[str]:
    """Whether prose came through as it was."""
    changed = bool(result["calls"]) or result["text"].strip() != text.strip()
    return Counter({"prose": 1, "taken for calls": int(changed)})


def judge_recorded(task: Task, scorer: Examination, result: Result) -> Counter[str]:
    """The score of the reply's own data set."""
    right = scorer.score(task, found_of(result)).right
    return Counter({"recorded": 1, "right after repair": int(right)})


# ---------------------------------------------------------------- corpora


def bfcl_pairs(tasks: Sequence[Task], count: int) -> Iterator[Spoiled]:
    for kind in KINDS:
        yield from iter_corruptions(tasks, kind, count)


def spoiled_sections() -> Iterator[Section]:
    """BFCL's gold calls, spoiled in every known way."""
    tasks, scorer = gold_tasks(), Bfcl(())
    pairs = bfcl_pairs(tasks, SPOILED_CALLS)
    yield Section("spoiled, refine", spoiled_makes(pairs, scorer))
    pairs = bfcl_pairs(tasks, SPOILED_CALLS)
    yield Section("spoiled, gate", spoiled_gate_makes(pairs, scorer))


def right_sections() -> Iterator[Section]:
    """Calls that are right, from every data set with gold calls."""
    gold = sample_cases(_gold(), RIGHT_CALLS)
    yield Section("right, refine", right_makes(gold))
    yield Section("right, gate", right_gate_makes(gold))


def replies_sections() -> Iterator[Section]:
    """Replies through the proxy's session; prose and recorded replies through the refiner too."""
    tasks, scorer = gold_tasks(), Bfcl(())
    prose = prose_replies(_gold(), data_root(), PROSE)
    scorers: dict[str, Examination] = {"bfcl": Bfcl(), "api_bank": ApiBank()}
    files = sorted((data_root() / "upstream_outputs").glob("*.jsonl"))
    recorded = [pair for path in files for pair in read_replies(path, scorers)]
    pairs = bfcl_pairs(tasks, PROXY_CALLS)
    yield Section("spoiled, proxy", proxy_spoiled_makes(pairs, scorer))
    yield Section("right, proxy", proxy_right_makes(tasks))
    yield Section("prose, refine", prose_makes(prose))
    yield Section("prose, proxy", proxy_prose_makes(prose))
    yield Section("recorded, refine", recorded_makes(recorded, scorers))
    yield Section("recorded, proxy", proxy_recorded_makes(recorded, scorers))


def _gold() -> list[GoldCase]:
    return all_cases(data_root(), Path(unpack_folder()) / "bfcl_eval" / "data")


CORPORA: Mapping[str, Callable[[], Iterator[Section]]] = {
    "spoiled": spoiled_sections,
    "right": right_sections,
    "replies": replies_sections,
}
