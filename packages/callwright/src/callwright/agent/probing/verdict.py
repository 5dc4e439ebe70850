"""Judges the reply of a tool by the four outcomes of GRETEL (Table 4), each with its proof.

Failed calls are read by :func:`callwright.repair.diagnose` (a status of 200 with an error inside is
an error). This module adds the semantic mismatch: the tool answered, but nothing in the reply
serves the request. The rules are conservative. A reply is called empty only if it holds nothing. It
is called irrelevant only in three cases. It contradicts the request, is no document of its kind, or
shares not one word with request, tool and arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from callwright.agent.probing.values import is_readable
from callwright.dataflow.flow import content_words, split_words
from callwright.language import ENGLISH
from callwright.language.tokens import squash_text
from callwright.nouns.errors import Failure
from callwright.nouns.types import (
    Json,
    JsonObject,
    Tool,
    ToolResult,
    iter_scalars,
    to_canonical_json,
)
from callwright.repair.diagnose import Diagnosis, diagnose
from callwright.repair.empty_result import is_empty_result
from callwright.tools.evidence import UNDOCUMENTED, Observation, Outcome, make_excerpt

_DEAD = ENGLISH.pattern("errors.dead")
_PAGE = ENGLISH.pattern("errors.page")
_WELL = ENGLISH.pattern("errors.good_status")
_WEB = ENGLISH.words("parameters.web")
_DEVIATES = 2  # declared members of which a reply must have one
_ENOUGH = 12  # words of a reply from which "not one in common" says something
_MOST_WORDS = 400  # of a reply that are looked at


@dataclass(frozen=True, slots=True)
class ProbeVerdict:
    """``outcome`` is None where nothing was learned. ``kind`` as in an Observation, ``proof`` one
    line for people.

    ``blames_arguments``: other arguments might fare better. ``transient``: the same call might,
    later.
    """

    outcome: Outcome | None
    kind: str = ""
    proof: str = ""
    blames_arguments: bool = False
    transient: bool = False
    failure: Failure | None = None


def judge_result(result: ToolResult, tool: Tool, query: str) -> ProbeVerdict:
    """Read a result as evidence of whether the tool serves this request."""
    diagnosis = diagnose(result, tool)
    failure = diagnosis.failure
    if failure is None:
        return _judge_content(result, tool, query)
    if failure.kind in ("cancelled", "not_executable"):
        return ProbeVerdict(
            None,
            failure.kind,
            f"could not be tried: {_join_lines(failure.message)}",
            failure=failure,
        )
    if failure.kind == "empty":
        return ProbeVerdict(
            "semantic_mismatch", "empty", "executed, and returned nothing", True, failure=failure
        )
    proof = _join_lines(failure.message)
    status = (
        f"HTTP {failure.status}: " if failure.status and str(failure.status) not in proof else ""
    )
    blames = diagnosis.points_at_arguments and not _is_missing_address(failure)
    if result.failure is None:  # status 200, and an error inside
        outcome: Outcome = (
            "semantic_mismatch" if failure.kind == "error_payload" else "execution_failure"
        )
        said = f"answered, and the answer is an error: {proof}"
        return ProbeVerdict(outcome, failure.kind, said, blames, is_transient(failure), failure)
    if blames and failure.kind != "crashed":
        kind = UNDOCUMENTED if _is_undocumented(diagnosis, tool) else failure.kind
        return ProbeVerdict(
            "parameter_mismatch", kind, f"refused the call: {status}{proof}", True, failure=failure
        )
    said = f"failed ({failure.kind.replace('_', ' ')}): {status}{proof}"
    return ProbeVerdict(
        "execution_failure", failure.kind, said, blames, is_transient(failure), failure
    )


def build_observation(result: ToolResult, tool: Tool, query: str) -> Observation | None:
    """Return the observation that a real call of a run gives of its tool. None if it proves
    nothing, or if a simulator answered.
    """
    verdict = judge_result(result, tool, query)
    if verdict.outcome is None or result.simulated:
        return None
    told = (
        verdict.failure.message
        if verdict.failure is not None and result.content is None
        else result.content
    )
    return Observation(
        tool=tool.name,
        digest=tool.digest,
        outcome=verdict.outcome,
        arguments=result.arguments,
        reply=make_excerpt(told),
        kind=verdict.kind,
        proof=f"in a run: {verdict.proof}",
        seconds=result.seconds,
        origin="run",
    )


def _is_undocumented(diagnosis: Diagnosis, tool: Tool) -> bool:
    """Return True if a call was refused because it lacks something undocumented."""
    changes = diagnosis.overlay.changes if diagnosis.overlay else ()
    return any(
        c.change == "require" and c.key.rpartition(".")[2] not in tool.properties for c in changes
    )


def _is_missing_address(failure: Failure) -> bool:
    """Return True if an HTTP status says that the operation itself does not exist. A 404 counts
    only if the message says so, because the requested item may be missing instead (RFC 9110,
    sections 15.5.5, 15.5.6, 15.5.11, 15.6.2).
    """
    if failure.status in (405, 410, 501):
        return True
    return failure.status == 404 and _DEAD.search(failure.message) is not None


def is_transient(failure: Failure) -> bool:
    """Return True if a failure says nothing about the tool: too many calls, no answer in time, a
    broken connection.

    A missing key (401, 403), a missing address (404, refused) and a server's own error (5xx) do say
    something.
    """
    if failure.status is not None and failure.status not in (408, 425, 429):
        return False
    if failure.kind in ("rate_limit", "timeout"):
        return True
    return failure.kind == "unavailable" and failure.outcome_unknown and failure.retryable


def _judge_content(result: ToolResult, tool: Tool, query: str) -> ProbeVerdict:
    if is_empty_result(result.content, result.arguments):
        return ProbeVerdict("semantic_mismatch", "empty", "executed, and returned nothing", True)
    if proof := describe_deviation(result.content, tool):
        return ProbeVerdict("execution_failure", "deviates", proof)
    if proof := describe_irrelevance(result, tool, query):
        return ProbeVerdict("semantic_mismatch", "irrelevant", proof, True)
    return ProbeVerdict("functional_success", "", _describe_success(result))


def describe_deviation(content: Json, tool: Tool) -> str:
    """Return the difference if an object has none of the documented members; "" otherwise."""
    declared = (tool.output_schema or {}).get("properties")
    if not isinstance(declared, dict) or len(declared) < _DEVIATES or not isinstance(content, dict):
        return ""
    if content.keys() & declared.keys():
        return ""
    return (
        f"the reply has none of the members that are documented ({', '.join(list(declared)[:4])})"
    )


def describe_irrelevance(result: ToolResult, tool: Tool, query: str) -> str:
    """Return the reason why a reply cannot serve the request; "" if it may, and where request or
    reply cannot be read: a place has another name in every language.
    """
    content, about = result.content, {*split_words(tool.name), *content_words(tool.description)}
    if isinstance(content, str) and _PAGE.match(content) and not about & _WEB:
        return "the reply is a web page, not the data that is described"
    if not is_readable(query):
        return ""
    if said := _describe_mismatch(content, result.arguments):
        return said
    if isinstance(content, str | dict | list):
        found = _extract_words(content)
        known = {
            *about,
            *split_words(query),
            *content_words(query),
            *_iter_member_words(tool.output_schema or {}),
        }
        known |= {
            w for value in iter_scalars(result.arguments) for w in split_words(str(value))
        } | {*_iter_member_words(tool.input_schema)}
        if len(found) >= _ENOUGH and not found & known:
            return "the reply shares not one word with the request, the tool and its arguments"
    return ""


def is_about(request: str, tool: Tool, arguments: JsonObject, content: Json) -> bool:
    """Return True if a call or its reply holds anything of the request besides the tool's own
    words. That is a stated value, or a word of the request in the reply. A list of everything
    answers every request alike: it proves that the tool works, not that it serves. If the request
    consists of the tool's words alone, the result is True.
    """
    asked = {*content_words(request)} - {*split_words(tool.name), *content_words(tool.description)}
    said = squash_text(request)
    if not asked or any(
        len(one := squash_text(str(v))) > 1 and one in said for v in iter_scalars(arguments)
    ):
        return True
    return any(
        not asked.isdisjoint(content_words(str(value)[:2_000])) for value in iter_scalars(content)
    )


def _describe_mismatch(content: Json, arguments: JsonObject) -> str:
    """A reply about another thing: it names an argument of the call, and another value for it; the
    one that was asked for it holds nowhere. A status that says that all went well is no value, and
    in other letters than the request's the same thing may stand.
    """
    if not isinstance(content, dict):
        return ""
    held = {squash_text(str(value)) for value in iter_scalars(content)}
    for key, asked in arguments.items():
        told = content.get(key)
        if isinstance(asked, str) and isinstance(told, str) and asked and told:
            one, other = squash_text(asked), squash_text(told)
            if (
                one
                and other
                and one not in other
                and other not in one
                and one not in held
                and asked.isascii() == told.isascii()
                and not _WELL.fullmatch(told.strip())
                and not _is_abbreviation(one, other)
            ):
                return f"asked for {key} {asked!r}, it answered for {told!r}"
    return ""


def _is_abbreviation(one: str, other: str) -> bool:
    """Return True if one spelling may be short for the other: a code and its name, a day and its
    timestamp.
    """
    few, many = sorted((one, other), key=len)
    letters = iter(many)
    return (
        any(c.isdigit() for c in few)
        or len(few) <= 3 < len(many)  # of a code its name may have no letter: DE for Germany
        or (few[0] == many[0] and all(c in letters for c in few))
    )


def _extract_words(content: Json) -> frozenset[str]:
    found: set[str] = set()
    for text in _iter_texts(content):
        found.update(w for w in split_words(text) if len(w) > 2)
        if len(found) >= _MOST_WORDS:
            break
    return frozenset(found)


def _iter_texts(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _iter_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _iter_texts(inner)
    elif isinstance(value, str):
        yield value[:2_000]


def _iter_member_words(schema: JsonObject) -> Iterator[str]:
    """The words of the names that a schema speaks of, two objects deep."""
    for schema_ in (schema, schema.get("items")):
        inner = schema_.get("properties") if isinstance(schema_, dict) else None
        for key, part in inner.items() if isinstance(inner, dict) else ():
            yield from split_words(str(key))
            if isinstance(part, dict):
                yield from (
                    w for name in part.get("properties") or () for w in split_words(str(name))
                )


def _describe_success(result: ToolResult) -> str:
    given = ", ".join(
        f"{key}={to_canonical_json(value)}" for key, value in result.arguments.items()
    )
    return f"called with {given[:160] or 'no arguments'}, and answered"


def _join_lines(text: str) -> str:
    return " ".join(text.split())[:200]
