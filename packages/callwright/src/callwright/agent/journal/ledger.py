"""The record of what a run was told from outside: model replies, results, plans, refusals of its
budget. Resume replays them; or it folds them into facts, with which a new segment of the run
begins.

A run is made of actors: its strategy (named "") and each of its calls (named by its id). Within an
actor one answer comes after the other, and what actors share changes only where all of them have
come together; so an answer is named by its actor and its turn, whatever actor was faster. A fresh
run has an empty ledger and asks the world every time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from callwright.agent.journal.facts import EarlierCall, RecordedFacts, fold_facts, load_known
from callwright.nouns.errors import JournalError
from callwright.nouns.trace import Event, collect_blobs
from callwright.nouns.types import Effects, JsonObject

Answer = Mapping[str, Any]  # the data of an event that carries "actor" and "turn"
IsSame: TypeAlias = Callable[[JsonObject], bool]


class Ledger:
    """The recorded answers of a run, handed out once each; and the clock, which goes on where the
    last of them came.

    ``commit`` makes everything recorded so far survive the process; the default keeps nothing.
    ``run`` is what the journal is called now, ``origin`` what it was called when the run began: a
    journal that was copied or renamed is of the same run, and its idempotency keys stay the same.
    ``foreign``: somebody else made the record, so no approval in it lets a call leave.
    ``continuing``: nothing of the record is replayed; the run begins a new ``segment`` with its
    facts.
    """

    def __init__(
        self,
        events: Iterable[Event] = (),
        *,
        run: str = "",
        commit: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        foreign: bool = False,
        continuing: bool = False,
    ) -> None:
        self.run = run
        self.foreign = foreign
        self.commit = commit
        known = list(events)
        self.segment, first = _last_segment(known)
        starts = [event.data for event in known if event.kind == "run.start"]
        same = [data for data in starts if data.get("segment", 1) == self.segment]
        self.start: Answer | None = next(iter(same), None)
        self.origin: str = (starts[0].get("run") if starts else "") or run
        if continuing:
            self.segment, first = self.segment + 1, len(known)
        self._texts = collect_blobs(known)
        self._answers: dict[tuple[str, int], Event] = {}
        self._doubts: dict[tuple[str, int], Answer] = {}
        self._settled: dict[tuple[str, int], Answer] = {}
        self._past = known[:first] if self.segment > 1 else []
        # a sending in this segment -> the earlier call it stands for
        self._repeats: dict[tuple[str, int], str] = {}
        self._facts: RecordedFacts | None = None
        self._standing: list[EarlierCall] = []
        for event in known[:first]:
            self._read(event)
        for event in known[first:]:
            self._read(event)
            self._read_answer(event)
        self._turns: dict[str, int] = {}
        self._clock = clock
        self._started = clock()
        self._ahead = 0.0

    def continued(self, events: Iterable[Event]) -> Ledger:
        """The ledger of the same run as it goes on from the facts of these events."""
        return Ledger(
            events,
            run=self.run,
            commit=self.commit,
            clock=self._clock,
            foreign=self.foreign,
            continuing=True,
        )

    def _read_answer(self, event: Event) -> None:
        """Take what is replayed. A second resume records again what it replayed: the first record
        counts.
        """
        data = event.data
        if event.kind == "resolution" and self._past and not self._answers:
            self._past.append(event)
        if self._past and event.kind in ("intent", "result"):
            place, earlier = (data["id"], data.get("attempt", 1)), data.get("earlier", "")
            if earlier != data["id"]:  # else it was only shown again
                self._repeats.setdefault(place, earlier)
        if "turn" in data:
            self._answers.setdefault((data["actor"], data["turn"]), event)

    def _read(self, event: Event) -> None:
        data = event.data
        place = (data.get("id", ""), data.get("attempt", 0))
        if earlier := data.get("earlier", ""):
            self._doubts = {at: told for at, told in self._doubts.items() if at[0] != earlier}
        if (
            event.kind == "intent"
        ):  # also one after a resolution: what was said then was of an earlier sending
            self._doubts[place] = data
            self._settled.pop(place, None)
        elif event.kind == "result":
            self._doubts.pop(place, None)
        elif event.kind == "resolution":
            self._settled[(data["id"], data["attempt"])] = data

    @property
    def is_new_segment(self) -> bool:
        """True if the run goes on from facts and has recorded no answer since."""
        return self.segment > 1 and not self._answers

    @property
    def facts(self) -> RecordedFacts:
        """The facts of the run's earlier segments. Asked for once every doubt is settled."""
        if self._facts is None:
            self._facts = fold_facts(self._past)
            self._standing = [*self._facts.calls]
        return self._facts

    def take_earlier(
        self, call: str, attempt: int, tool: str, is_same: IsSame
    ) -> EarlierCall | None:
        """The earlier call that this sending stands for, which no other stands for then; None for a
        call that is new. A replay gives what was given before. ``is_same``: of the arguments of a
        call of this tool, whether they mean the same.
        """
        if self.segment == 1 or not self.facts.calls:
            return None
        wanted = self._repeats.get((call, attempt))
        found = self._find_earlier(tool, is_same) if wanted is None else self._named(wanted)
        if found is not None:
            self._standing.remove(found)
        return found

    def may_send_again(self, call: str, tool: str, is_same: IsSame) -> bool:
        """Return True if this call stands for one that is open, so that it may be sent with its
        key.
        """
        if self.segment == 1:
            return False
        found = self._named(self._repeats.get((call, 1), "")) or self._find_earlier(tool, is_same)
        return found is not None and found.result is None

    @property
    def untaken(self) -> tuple[str, ...]:
        """Ids of the earlier calls for which no call of this segment stands."""
        return tuple(one.id for one in self._standing)

    def _find_earlier(self, tool: str, is_same: IsSame) -> EarlierCall | None:
        taken = {*self._repeats.values()}
        found = (e for e in self._standing if e.tool == tool and e.id not in taken)
        return next((e for e in found if is_same(e.arguments)), None)

    def _named(self, id_: str) -> EarlierCall | None:
        return next((one for one in self._standing if one.id == id_), None)

    @property
    def unanswered(self) -> tuple[Answer, ...]:
        """Intents whose call may have left and whose result nobody knows, and which nobody has
        resolved since.
        """
        return tuple(data for place, data in self._doubts.items() if place not in self._settled)

    @property
    def doubts(self) -> tuple[Answer, ...]:
        """The unanswered calls that may not be repeated. The others are made again, with the same
        key.
        """
        return tuple(
            data for data in self.unanswered if not load_known(Effects, data["effects"]).may_repeat
        )

    def resolve(self, resolution: Answer) -> None:
        """Note what was found out of a call in doubt: the data of a ``resolution`` event."""
        self._settled[(resolution["id"], resolution["attempt"])] = resolution
        if self._past and not self._answers:
            self._past.append(Event("resolution", 0, 0.0, resolution))

    def resolution(self, call: str, attempt: int) -> Answer | None:
        """Return the resolution of a call in doubt, found out or stated by the user; None if there
        is none.
        """
        return self._settled.get((call, attempt))

    def intended(self, call: str, attempt: int) -> bool:
        """Return True if this very attempt was about to be sent before. Its idempotency key may
        then be known to the server.
        """
        return (call, attempt) in self._doubts

    def clock(self) -> float:
        """Seconds on a clock that stands still between a crash and the resume."""
        return self._clock() - self._started + self._ahead

    @property
    def began(self) -> float | None:
        """Return the clock's value at the start of a resumed run (0.0); None for a fresh run.
        Events of a resumed run count from there, not from the next event.
        """
        return 0.0 if self.start else None

    def ahead(self, actor: str) -> bool:
        """Return True if more answers are recorded for this actor. Its present action was allowed
        then.
        """
        return (actor, self._turns.get(actor, 0)) in self._answers

    def next(self, actor: str, kind: str) -> Answer | None:
        """The actor's next recorded answer if it is of this kind, else None. It is not handed out
        again.
        """
        if not self._answers:
            return None
        event = self._answers.get((actor, self._turns.get(actor, 0)))
        if event is None or event.kind != kind:
            return None
        self._turns[actor] = self._turns.get(actor, 0) + 1
        self._ahead += max(0.0, event.at - self.clock())
        return event.data

    def turn(self, actor: str) -> int:
        """The number of the answer that is recorded now.

        Raises JournalError where another kind of answer is recorded in its place: the run is not
        the one it was.
        """
        number = self._turns.get(actor, 0)
        if (actor, number) in self._answers:
            raise build_divergence_error(
                f"{actor or 'the strategy'} goes another way at its answer {number + 1}"
            )
        self._turns[actor] = number + 1
        return number

    def text(self, digest: str) -> str:
        """A text that an answer names by its digest."""
        if digest not in self._texts:
            raise JournalError(
                f"the journal lacks the text {digest}",
                hint="the journal is damaged: start a new run",
            )
        return self._texts[digest]


def _last_segment(events: list[Event]) -> tuple[int, int]:
    """The number of the last segment, and the place of its first event. The starts of earlier
    versions do not say; then there is one segment.
    """
    segment, first = 1, 0
    for place, event in enumerate(events):
        number = event.data.get("segment", 1) if event.kind == "run.start" else 1
        if number > segment:
            segment, first = number, place
    return segment, first


def build_divergence_error(what: str) -> JournalError:
    """The error of a replay that does not meet what was recorded."""
    return JournalError(
        f"the run cannot be resumed as it was: {what}",
        hint=("code, prompts, tools or settings have changed since: undo that, or start a new run"),
    )


def build_doubt_error(calls: Iterable[str], run: str) -> JournalError:
    """The error of a resume that would have to repeat a write which may have happened."""
    return JournalError(
        f"in doubt: {', '.join(calls)}. The process ended while the call was under way: it may have"
        " taken effect",
        hint=(
            f"find out what happened, then: callwright resolve {run} CALL --result JSON |"
            " --not-done | --failed WHY"
        ),
    )
