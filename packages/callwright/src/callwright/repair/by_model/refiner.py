"""The refiner: that of the paper (Tool-use Refiner, section 3.1 and Appendix A), as a
generator without I/O.

One question to any chat model, trained for it or not. Its answer replaces what the rules left only
if :mod:`callwright.repair.by_model.guard` has nothing against it: the gate accepts every call,
calls that were right are still there, no writing call is new or finished from a part, and every
value comes from somewhere. With a harm bound (:mod:`callwright.repair.by_model.harm_bound`) that was
measured with this model, a calibrated score decides where no hard objection does. Off by default: an
untrained model harms strong upstreams (paper, Appendix F), so measure it on yours first.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from callwright import prompts
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import (
    Json,
    JsonObject,
    Reply,
    Tool,
    ToolCall,
    to_canonical_json,
    to_json,
)
from callwright.nouns.wire_names import EditRules
from callwright.repair.by_model.guard import (
    SCORED,
    Objection,
    Upstream,
    find_objections,
    find_unreadable,
    key_by_call,
)
from callwright.repair.by_model.harm_score import measure_change
from callwright.repair.by_model.refiner_settings import MAX_TOKENS, Prompt, RefinerSettings
from callwright.repair.by_model.reply import RefinerReply, read_reply
from callwright.repair.by_model.result_names import find_relinked, keep_result_names
from callwright.repair.draft import AFTER_CALLS, Change, Draft, Drafts
from callwright.repair.location import NAME, REPLY, Location, in_arguments
from callwright.repair.ordering.references import find_call_references
from callwright.repair.ordering.sequence import order
from callwright.repair.pipeline import run_rules
from callwright.repair.result import Refinement, describe_call
from callwright.repair.rule import UNANSWERED, Need, Rule, Steps

Asking: TypeAlias = Generator[ChatRequest, Reply, Refinement]

RULE = EditRules.MODEL
NEEDS_MODEL: frozenset[Need] = frozenset({"schema", "conversation", "model"})
CONFIDENCE = threshold("callwright.repair", "model.confidence")
"""The confidence of what a model changed."""
_UPSTREAM_CHARS = 8_000

_FORMAT = (
    'Your output must strictly follow this format: <func_call>[{"name": "tool name", "arguments":'
    ' {"parameter name": "parameter content"}}]</func_call>. If the original instruction is'
    " correct, output it without any modification."
)
_CHAINED = (
    'Your output must strictly follow this format: <func_call>[{"name": "tool name", "arguments":'
    ' {"parameter name": "parameter content"}, "label": "name of its result"}]</func_call>. Calls'
    " stand in the order in which they must be made, and refer to the results of earlier calls as"
    " the original instruction does. If the original instruction is correct, output it without any"
    " modification."
)

FORMS = {
    "xlam": '<func_call>[{"name": NAME, "arguments": {KEY: VALUE}}]</func_call>',
    "nestools": (
        '<nested_function>[{"api_name": NAME, "parameters": {KEY: VALUE}, "responses": [LABEL]}]'
        "</nested_function>"
    ),
}
"""How the short prompt shows a format."""


def ask(
    source_text: str,
    calls: Sequence[ToolCall],
    tools: Sequence[Tool],
    query: str,
    reasoning: str = "",
    *,
    system: str = "",
    form: str = "",
    max_tokens: int = MAX_TOKENS,
    prompt: Prompt = "paper",
    settings: RefinerSettings | None = None,
) -> Asking:
    """Ask a model once to refine a reply; returns the calls as they should be sent on.

    ``source_text``: the upstream's reply as written; ``calls``: what was read from it and the rules
    made of it. They stay (reasons in ``abstained``) unless the model's answer passes the guard.
    Edits have the rule ``model``. ``form`` is the instruction about the answer's format (default:
    ``<func_call>``), the "minor modification during inference" of Appendix A; whatever it asks for
    is read. ``prompt``: the one the model was trained with. ``settings`` replace ``max_tokens`` and
    ``prompt``, and say what of the answer counts.
    """
    drafts = Drafts(calls, turn=AFTER_CALLS)
    up = Upstream(source_text, drafts.calls, tuple(tools), query, reasoning, system)
    context = RefinerContext(up, settings or RefinerSettings(prompt, max_tokens), form)
    yield from run_rules(MODEL_RULES, drafts, context)
    return Refinement(
        drafts.calls,
        edits=drafts.render_edits(),
        confidence=drafts.confidence,
        abstained=drafts.render_abstentions(),
    )


@dataclass(frozen=True, slots=True)
class RefinerContext:
    """The calls that a refiner is asked about, and the settings of :func:`ask`. Every call is put
    to it.
    """

    upstream: Upstream
    settings: RefinerSettings = field(default_factory=RefinerSettings)
    form: str = ""

    @property
    def has(self) -> frozenset[Need]:
        """The schemas, the conversation and a model."""
        return NEEDS_MODEL

    def is_right(self, _: Draft) -> bool:
        """No: the model looks at right calls as well."""
        return False

    def is_open(self, _: Draft) -> bool:
        """Yes, always."""
        return True


def ask_refiner(drafts: Drafts, context: RefinerContext) -> Steps:
    """Ask a model once, and take its answer where nothing speaks against it."""
    bound = context.settings.bound_in_use
    states_likelihood = bound is not None and "likelihood" in bound.cuts
    reply = yield build_request(context, states_likelihood=states_likelihood)
    if reply is UNANSWERED:
        return None
    return judge_reply(drafts, context.upstream, reply, context.settings)


def build_request(context: RefinerContext, *, states_likelihood: bool = False) -> ChatRequest:
    """The question by the settings; with ``states_likelihood`` also for log-probabilities."""
    up, settings = context.upstream, context.settings
    if settings.prompt == "short":
        made = build_short_question(up, settings.max_tokens)
    else:
        made = build_question(up, settings.max_tokens, context.form)
    return replace(made, logprobs=True) if states_likelihood else made


def build_question(up: Upstream, max_tokens: int = MAX_TOKENS, form: str = "") -> ChatRequest:
    """The paper's prompt (Appendix A) for one reply, the upstream's reasoning included.

    The tools are listed unless the system prompt already describes every one of them, as the
    paper's tasks do.
    """
    chained = bool(find_call_references(up.calls, up.tools, up.query))
    messages = prompts.render(
        "refine",
        system=up.system or "You can call tools.",
        tools="" if is_described_in(up.tools, up.system) else render_tools_json(up.tools),
        query=up.query,
        upstream=_render_upstream(up, chained),
        format=form or (_CHAINED if chained else _FORMAT),
    )
    return ChatRequest(messages, purpose="refine", max_tokens=max_tokens)


def build_short_question(up: Upstream, max_tokens: int = MAX_TOKENS) -> ChatRequest:
    """The short prompt for one reply: each tool on a line, the format, the request and the
    upstream's answer.
    """
    chained = bool(find_call_references(up.calls, up.tools, up.query))
    messages = prompts.render(
        "refiner_short",
        tools="\n".join(render_signature(t) for t in up.tools),
        form=FORMS["nestools" if chained else "xlam"],
        query=up.query,
        upstream=_render_upstream(up, chained),
    )
    return ChatRequest(messages, purpose="refine", max_tokens=max_tokens)


def render_signature(tool: Tool) -> str:
    """A tool on one line: ``name(required, optional?: type)`` and what it gives back, where that is
    known.
    """
    needed = tool.required
    parts = []
    for key, schema in tool.properties.items():
        kind = schema.get("type") if isinstance(schema, dict) else None
        parts.append(
            f"{key}{'' if key in needed else '?'}" + (f": {kind}" if isinstance(kind, str) else "")
        )
    results = list((tool.output_schema or {}).get("properties") or {})
    return f"{tool.name}({', '.join(parts)})" + (f" -> {', '.join(results)}" if results else "")


def is_described_in(tools: Sequence[Tool], text: str) -> bool:
    """Return True if a text names every tool and each of its parameters."""
    names = [name for tool in tools for name in (tool.name, *tool.properties)]
    return bool(names) and all(name in text for name in names)


def render_tools_json(tools: Sequence[Tool]) -> str:
    """The tools as a JSON list, as the sets the paper trains on describe them."""
    return to_canonical_json(
        [
            {"name": t.name, "description": t.description, "parameters": t.input_schema}
            for t in tools
        ]
    )


def _render_upstream(up: Upstream, chained: bool) -> str:
    said = up.text.strip()
    if not said:
        calls = [_render_call(c, chained) for c in up.calls]  # the name first, as models write them
        said = f"<func_call>{json.dumps(calls, ensure_ascii=False)}</func_call>"
    thought = f"<think>{up.reasoning.strip()}</think>\n" if up.reasoning.strip() else ""
    return (thought + said)[:_UPSTREAM_CHARS]


def _render_call(call: ToolCall, chained: bool) -> JsonObject:
    return {**describe_call(call), "label": call.id} if chained else describe_call(call)


class Proposal(NamedTuple):
    """A model's answer as a change, with the objections to it. ``change`` is None where it changes
    nothing, and where an objection is a limit.
    """

    change: Change | None
    objections: tuple[Objection, ...] = ()

    @property
    def is_limited(self) -> bool:
        """Return True if no score may let this pass."""
        return any(one.kind not in SCORED for one in self.objections)


def read_proposal(
    drafts: Drafts, up: Upstream, reply: Reply, *, is_guarded: bool = True
) -> Proposal:
    """Return the change that a model's reply proposes. Without a guard only what cannot be sent is
    objected to.
    """
    read = RefinerReply(reply.tool_calls) if reply.tool_calls else read_reply(reply.text, up.tools)
    if read.truncated or reply.finish_reason == "length":
        return Proposal(None, (Objection("none", "The model's answer stops in the middle."),))
    calls = read.calls
    if is_guarded:
        pairs = _pair_calls(up.calls, calls)
        calls = keep_result_names(up, calls, pairs)
        objections = [*find_objections(up, calls), *find_relinked(up, calls, pairs)]
    else:
        objections = find_unreadable(up, calls)
    found = Proposal(None, tuple(objections))
    if found.is_limited:
        return found
    made = order(calls, up.tools, query=up.query).calls
    chained = bool(find_call_references(made, up.tools, up.query))
    change = compare_calls(drafts, made, made if chained else _assign_ids(up.calls, made))
    return found._replace(change=change)


def judge_reply(
    drafts: Drafts, up: Upstream, reply: Reply, settings: RefinerSettings | None = None
) -> Change | None:
    """Return the refinement of the upstream's calls that follows from a model's reply."""
    settings = settings or RefinerSettings()
    found = read_proposal(drafts, up, reply, is_guarded=settings.is_guarded)
    bound = settings.bound_in_use
    if found.objections and (bound is None or found.is_limited):
        return _reject_refinement(
            [*(one.message for one in found.objections), settings.explain_unused()]
        )
    if found.change is None or bound is None:
        return found.change
    features = measure_change(
        up, drafts.order, found.change.edits, found.objections, reply.logprobs
    )
    refusal = bound.explain_refusal(features)
    return _reject_refinement([refusal]) if refusal else found.change


def _reject_refinement(reasons: Sequence[str]) -> Change:
    change = Change()
    for reason in filter(None, dict.fromkeys(reasons)):
        change.hint(Location(REPLY), f"model: {reason}")
    return change


def _assign_ids(before: Sequence[ToolCall], made: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """Calls that did not change stay the same objects, changed ones keep their id, and ids stay
    distinct.
    """
    pairs = {at: before[i] for i, at in _pair_calls(before, made).items()}
    used = {c.id for c in before}
    found: list[ToolCall] = []
    for n, call in enumerate(made):
        old = pairs.get(n)
        if old is None:
            number = next(
                k for k in range(len(made) + len(used) + 1) if f"call_{k + 1}" not in used
            )
            old = replace(call, id=f"call_{number + 1}" if call.id in used else call.id)
            used.add(old.id)
        found.append(old if key_by_call(old) == key_by_call(call) else replace(call, id=old.id))
    return tuple(found)


def compare_calls(
    drafts: Drafts, after: Sequence[ToolCall], named: Sequence[ToolCall] = ()
) -> Change | None:
    """The change (rule ``model``) that leads from the drafts to other calls; None where they are
    the same. ``named`` are those calls under the ids that they are to have.

    Calls are paired: equal ones first, then those of one tool in order, then the rest by place.
    """
    before, ids, named = drafts.calls, drafts.order, named or after
    pairs, change = _pair_calls(before, after), Change()
    for i, call in enumerate(before):
        at = pairs.get(i)
        if at is None:
            _list_edit(change, Location(ids[i]), to_json(call), None)
        else:
            _list_differences(change, ids[i], call, after[at])
    places = {at: ids[i] for i, at in pairs.items()}
    for n, call in enumerate(after):
        if n not in places:
            places[n] = drafts.new_id()
            _list_edit(change, Location(places[n]), None, to_json(call))
    moved = sorted(pairs, key=lambda i: pairs[i])
    if moved != sorted(moved):
        read_at = [drafts[id].origin for id in ids]
        was, now = ([read_at[i] for i in side] for side in (sorted(moved), moved))
        _list_edit(change, Location(REPLY), was, now)
    if not change.edits:
        return None
    change.order = [places[n] for n in range(len(after))]
    change.calls = {places[n]: call for n, call in enumerate(named)}
    return change


def _list_edit(change: Change, place: Location, before: Json, after: Json) -> None:
    change.list_edit(place, before, after, RULE, CONFIDENCE)


def _pair_calls(before: Sequence[ToolCall], after: Sequence[ToolCall]) -> dict[int, int]:
    pairs: dict[int, int] = {}
    for key in (key_by_call, _key_by_tool, _key_by_arguments, _key_by_place):
        for i, call in enumerate(before):
            if i not in pairs:
                free = (
                    n
                    for n, c in enumerate(after)
                    if n not in pairs.values() and key(c) == key(call)
                )
                at = next(free, None)
                if at is not None:
                    pairs[i] = at
    return pairs


def _key_by_tool(call: ToolCall) -> str:
    return call.tool


def _key_by_arguments(call: ToolCall) -> str:
    return to_canonical_json(call.arguments)


def _key_by_place(_: ToolCall) -> str:
    return ""


def _list_differences(change: Change, draft: int, a: ToolCall, b: ToolCall) -> None:
    if a.tool != b.tool:
        _list_edit(change, Location(draft, NAME), a.tool, b.tool)
    if not isinstance(a.arguments, dict) or not isinstance(b.arguments, dict):
        if a.arguments != b.arguments:
            _list_edit(change, in_arguments(draft), a.arguments, b.arguments)
        return
    for key in dict.fromkeys([*a.arguments, *b.arguments]):
        old, new = a.arguments.get(key), b.arguments.get(key)
        if to_canonical_json(old) != to_canonical_json(new) or (key in a.arguments) != (
            key in b.arguments
        ):
            _list_edit(change, in_arguments(draft, key), old, new)


MODEL_RULES: tuple[Rule[RefinerContext], ...] = (
    Rule("model", 500, ask_refiner, NEEDS_MODEL, turn=AFTER_CALLS),
)
"""The rule that asks the refiner."""
