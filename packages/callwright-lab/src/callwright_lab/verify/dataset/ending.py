"""Finds defects at the end of a trajectory: a missing answer, one without calls, an irrelevant one,
an unsupported one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from callwright.language.detect import is_foreign
from callwright_lab.verify.dataset.account import Account, Defect

_FAILED = re.compile(
    r"\b(?:i|we)(?:'m| am| was| were|'re| are)?(?: currently| still| also)? (?:unable to|not"
    r" able to"
    r"|could not|couldn'?t|cannot|can'?t|can not|don'?t have|do not have|did not|didn'?t|failed"
    r" to)\b"
    r"|\bunfortunately\b|\b(?:i|we) apologi[sz]e\b|\bi'?m sorry\b|\bi am sorry\b"
    r"|\b(?:no|not any) (?:results?|data|information|records?) (?:was|were|is|are|could"
    r" be)?\s*(?:found|returned)\b"
    r"|\b(?:returned|encountered|was|is) an error\b"
    r"|\bthere (?:was|is|seems to be) (?:an? )?(?:error|issue|problem)\b",
    re.I,
)
_ASKS = re.compile(
    r"\b(?:please|could you|can you|kindly) (?:provide|specify|share|confirm|give|tell|clarify"
    r"|let me know(?= which| what| the| your| where| when))\b[^.!?\n]{0,160}"
    r"|\bi (?:would )?need (?:the|your|more|some|additional|to know)\b[^.!?\n]{0,120}",
    re.I,
)
_MORE = re.compile(
    r"\b(?:any (?:other|further|more|additional)|anything else|if you (?:have|need|want))\b", re.I
)


def find_missing_answers(account: Account) -> Iterator[Defect]:
    """Trajectories that stop before an answer, or give up; answers that nothing was called for."""
    t = account.trajectory
    if t.given_up:
        yield Defect("given_up", f"the agent gave up: {t.answer or 'without a reason'}"[:160])
    elif not account.answers:
        return
    elif not t.answer:
        yield Defect("no_answer", f"it ends after {len(t.steps)} rounds without an answer")
    elif not t.calls and t.tools:
        yield Defect("no_call", "it is answered without any call")


def find_unanswered_requests(account: Account) -> Iterator[Defect]:
    """Answers that ask back, say that they failed, or say nothing of failures that are all there
    was.
    """
    answer = account.trajectory.answer
    if not answer or account.trajectory.given_up:
        return
    asks = next((m[0] for m in _ASKS.finditer(answer) if not _MORE.search(m[0])), "")
    if asks:
        yield Defect("asks_back", f"the answer asks: {asks.strip()[:120]!r}")
    failed = _FAILED.search(answer)
    if failed is not None:
        around = answer[max(0, failed.start() - 20) : failed.end() + 80]
        yield Defect("admitted_failure", f"the answer says: {around.strip()!r}")
    results = [result for _, _, result, _ in account.calls()]
    told = [r for r in results if r is not None]
    if (
        told
        and len(told) == len(results)
        and not any(r.ok for r in told)
        and failed is None
        and not asks
        and not is_foreign(answer)  # which may say so in words that are not known here
    ):
        why = told[-1].failure.message if told[-1].failure else ""
        yield Defect(
            "failure_as_success",
            f"all {len(told)} calls failed, the last with: {' '.join(why.split())[:120]}",
        )


def find_unsupported_claims(account: Account) -> Iterator[Defect]:
    """Statements of the answer that no result bears out; not where results are cut."""
    if account.cut:
        return
    for found in account.found:
        if found.kind in ("unsupported", "contradiction"):
            yield Defect(found.kind, found.reason)


ENDING_RULES: tuple[Callable[[Account], Iterator[Defect]], ...] = (
    find_missing_answers,
    find_unanswered_requests,
    find_unsupported_claims,
)
