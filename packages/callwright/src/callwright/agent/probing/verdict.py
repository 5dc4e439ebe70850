"""What one reply shows of a tool: the four outcomes of GRETEL (Table 4), each with its proof.

Failed calls are read by :func:`callwright.repair.diagnose` (a status of 200 with an error inside is
an error). What is added here is the semantic mismatch: a tool that answered, and with nothing that
serves. Conservative: a reply is called empty only where nothing stands in it, and irrelevant only
where it contradicts what was asked for, is no document of its kind, or shares not one word with
request, tool and arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from callwright.dataflow.flow import content_words, words
from callwright.language import ENGLISH
from callwright.language.tokens import squash
from callwright.nouns.errors import Failure
from callwright.nouns.types import Json, JsonObject, Tool, ToolResult, canonical, scalars
from callwright.repair.diagnose import Diagnosis, diagnose
from callwright.repair.empty_result import is_empty_result
from callwright.tools.evidence import UNDOCUMENTED, Observation, Outcome, excerpt

_DEAD = ENGLISH.pattern("errors.dead")
_PAGE = ENGLISH.pattern("errors.page")
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


def judged(result: ToolResult, tool: Tool, query: str) -> ProbeVerdict:
    """Read a result as evidence of whether the tool serves this request."""
    diagnosis = diagnose(result, tool)
    failure = diagnosis.failure
    if failure is None:
        return _answered(result, tool, query)
    if failure.kind in ("cancelled", "not_executable"):
        return ProbeVerdict(
            None, failure.kind, f"could not be tried: {_line(failure.message)}", failure=failure
        )
    if failure.kind == "empty":
        return ProbeVerdict(
            "semantic_mismatch", "empty", "executed, and returned nothing", True, failure=failure
        )
    proof = _line(failure.message)
    status = (
        f"HTTP {failure.status}: " if failure.status and str(failure.status) not in proof else ""
    )
    blames = diagnosis.points_at_arguments and not _no_such_address(failure)
    if result.failure is None:  # status 200, and an error inside
        outcome: Outcome = (
            "semantic_mismatch" if failure.kind == "error_payload" else "execution_failure"
        )
        said = f"answered, and the answer is an error: {proof}"
        return ProbeVerdict(outcome, failure.kind, said, blames, is_transient(failure), failure)
    if blames and failure.kind != "crashed":
        kind = UNDOCUMENTED if _undocumented(diagnosis, tool) else failure.kind
        return ProbeVerdict(
            "parameter_mismatch", kind, f"refused the call: {status}{proof}", True, failure=failure
        )
    said = f"failed ({failure.kind.replace('_', ' ')}): {status}{proof}"
    return ProbeVerdict(
        "execution_failure", failure.kind, said, blames, is_transient(failure), failure
    )


def observed(result: ToolResult, tool: Tool, query: str) -> Observation | None:
    """What a real call of a run shows of its tool; None where nothing was learned, or a simulator
    answered.
    """
    verdict = judged(result, tool, query)
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
        reply=excerpt(told),
        kind=verdict.kind,
        proof=f"in a run: {verdict.proof}",
        seconds=result.seconds,
        origin="run",
    )


def _undocumented(diagnosis: Diagnosis, tool: Tool) -> bool:
    """Whether a call was refused for lack of something that the documentation does not know of."""
    changes = diagnosis.overlay.changes if diagnosis.overlay else ()
    return any(
        c.change == "require" and c.key.rpartition(".")[2] not in tool.properties for c in changes
    )


def _no_such_address(failure: Failure) -> bool:
    """Whether an HTTP status says that the operation itself is not there: a 404 only where it says
    so in words, for what was asked for may be missing just as well (RFC 9110, sections 15.5.5,
    15.5.6, 15.5.11, 15.6.2).
    """
    if failure.status in (405, 410, 501):
        return True
    return failure.status == 404 and _DEAD.search(failure.message) is not None


def is_transient(failure: Failure) -> bool:
    """Whether a failure says nothing of the tool: too many calls, no answer in time, a connection
    that broke.

    A missing key (401, 403), an address that is not there (404, refused), a server's own error
    (5xx) do say a lot.
    """
    if failure.status is not None and failure.status not in (408, 425, 429):
        return False
    if failure.kind in ("rate_limit", "timeout"):
        return True
    return failure.kind == "unavailable" and failure.outcome_unknown and failure.retryable


def _answered(result: ToolResult, tool: Tool, query: str) -> ProbeVerdict:
    if is_empty_result(result.content, result.arguments):
        return ProbeVerdict("semantic_mismatch", "empty", "executed, and returned nothing", True)
    if proof := deviation(result.content, tool):
        return ProbeVerdict("execution_failure", "deviates", proof)
    if proof := irrelevance(result, tool, query):
        return ProbeVerdict("semantic_mismatch", "irrelevant", proof, True)
    return ProbeVerdict("functional_success", "", _success(result))


def deviation(content: Json, tool: Tool) -> str:
    """How an object differs from the documentation altogether: it has not one of the members that
    are declared.
    """
    declared = (tool.output_schema or {}).get("properties")
    if not isinstance(declared, dict) or len(declared) < _DEVIATES or not isinstance(content, dict):
        return ""
    if content.keys() & declared.keys():
        return ""
    return (
        f"the reply has none of the members that are documented ({', '.join(list(declared)[:4])})"
    )


def irrelevance(result: ToolResult, tool: Tool, query: str) -> str:
    """Why a reply cannot serve the request; "" where it may."""
    content, about = result.content, {*words(tool.name), *content_words(tool.description)}
    if isinstance(content, str) and _PAGE.match(content) and not about & _WEB:
        return "the reply is a web page, not the data that is described"
    if said := _another(content, result.arguments):
        return said
    if isinstance(content, str | dict | list):
        found = _words_of(content)
        known = {*about, *words(query), *content_words(query), *_members(tool.output_schema or {})}
        known |= {w for value in scalars(result.arguments) for w in words(str(value))} | {
            *_members(tool.input_schema)
        }
        if len(found) >= _ENOUGH and not found & known:
            return "the reply shares not one word with the request, the tool and its arguments"
    return ""


def is_about(request: str, tool: Tool, arguments: JsonObject, content: Json) -> bool:
    """Whether a call or its reply holds anything of the request beside the tool's own words: a
    value that was said, a word of it in the reply. A list of everything answers every request
    alike; that it came proves the tool works, not that it serves. Where the request says nothing
    beside the tool's words, there is nothing to miss.
    """
    asked = {*content_words(request)} - {*words(tool.name), *content_words(tool.description)}
    said = squash(request)
    if not asked or any(len(one := squash(str(v))) > 1 and one in said for v in scalars(arguments)):
        return True
    return any(
        not asked.isdisjoint(content_words(str(value)[:2_000])) for value in scalars(content)
    )


def _another(content: Json, arguments: JsonObject) -> str:
    """A reply about another thing: it names an argument of the call, and another value for it."""
    if not isinstance(content, dict):
        return ""
    for key, asked in arguments.items():
        told = content.get(key)
        if isinstance(asked, str) and isinstance(told, str) and asked and told:
            one, other = squash(asked), squash(told)
            if one and other and one not in other and other not in one and not _akin(one, other):
                return f"asked for {key} {asked!r}, it answered for {told!r}"
    return ""


def _akin(one: str, other: str) -> bool:
    """Whether one spelling may be short for the other: a code and its name, a day and its stamp."""
    few, many = sorted((one, other), key=len)
    letters = iter(many)
    return any(c.isdigit() for c in few) or (few[0] == many[0] and all(c in letters for c in few))


def _words_of(content: Json) -> frozenset[str]:
    found: set[str] = set()
    for text in _texts(content):
        found.update(w for w in words(text) if len(w) > 2)
        if len(found) >= _MOST_WORDS:
            break
    return frozenset(found)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str):
        yield value[:2_000]


def _members(schema: JsonObject) -> Iterator[str]:
    """The words of the names that a schema speaks of, two objects deep."""
    for schema_ in (schema, schema.get("items")):
        inner = schema_.get("properties") if isinstance(schema_, dict) else None
        for key, part in inner.items() if isinstance(inner, dict) else ():
            yield from words(str(key))
            if isinstance(part, dict):
                yield from (w for name in part.get("properties") or () for w in words(str(name)))


def _success(result: ToolResult) -> str:
    given = ", ".join(f"{key}={canonical(value)}" for key, value in result.arguments.items())
    return f"called with {given[:160] or 'no arguments'}, and answered"


def _line(text: str) -> str:
    return " ".join(text.split())[:200]
