"""Compare the repair code of this tree with that of a git revision, case by case.

``python benchmarks/differential.py --against REV [--corpus spoiled|right|replies|all] [--every N]``

The revision is checked out into a temporary folder. Two workers answer the same cases, one on each
tree (``differential_worker.py``). This tree makes the cases and judges both sides
(``differential_cases.py``).

Printed are, by class, how many results are equal and in what the others differ; the first
differences; the rates that gold decides, old and new; and the processor time of the new code as a
share of the old's: the median over blocks that the workers answer in turn. Exit status 1: a rate
got worse, the share of cases that fail among them, or one side failed at every case, or
``--strict`` and the calls of a case differ.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median
from types import FrameType
from typing import IO, Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from differential_cases import CORPORA, Case, Result, Section  # noqa: E402

from callwright.nouns.types import to_json  # noqa: E402

ROOT = HERE.parent
BLOCK = 50  # cases that a worker answers at a time
LONGEST = 400  # characters of a value that is shown
ALIKE = 2  # differences of one class and kind that are shown

PARTS: Mapping[str, Callable[[Result], object]] = {
    "calls": lambda r: [[c[1:] for c in r["calls"]], len({c[0] for c in r["calls"]})],
    "refusals": lambda r: sorted(kind for kind, _ in r["refused"]),
    "text": lambda r: [r.get("text"), r.get("verbatim"), r.get("cut"), r.get("fault")],
    "questions": lambda r: r.get("asked"),
    "edits": lambda r: sorted(rule for rule, _ in r["edits"]),
    "places": lambda r: [sorted(r["edits"]), sorted(r["refused"])],
    "words": lambda r: [r["said"], r.get("form")],
}
"""What results may differ in, the gravest first. Ids count as far as they tell calls apart."""
KINDS = ("failed", *PARTS)

RATES = (
    ("repaired", "answerable", 1),
    ("wrong without a word", "answerable", -1),
    ("reported", "unanswerable", 1),
    ("made up without a word", "unanswerable", -1),
    ("harmed", "right calls", -1),
    ("taken for calls", "prose", -1),
    ("right after repair", "recorded", 1),
    ("failed", "cases", -1),
)
"""A count, what it is a share of, and whether more of it is better."""


# ---------------------------------------------------------------- trees and workers


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """A tree of the revision, removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="differential-") as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", "--quiet", str(tree), revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def sources(tree: Path) -> list[Path]:
    """The folders of a tree that hold packages, in any layout."""
    return [path for path in (tree / "src", *sorted(tree.glob("packages/*/src"))) if path.is_dir()]


class Worker:
    """A process that answers cases with the code of one tree."""

    def __init__(self, tree: Path) -> None:
        paths = os.pathsep.join(str(path) for path in sources(tree))
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(HERE / "differential_worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"},
            encoding="ascii",
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in: IO[str] = self._process.stdin
        self._out: IO[str] = self._process.stdout
        self.source = Path(self._read()["source"])
        if tree.resolve() not in self.source.resolve().parents:
            raise RuntimeError(f"the worker for {tree} imported {self.source}")

    def answer(self, lines: str, count: int) -> tuple[list[Result], float]:
        """The results of a block of cases, and the processor seconds they took."""
        with suppress(BrokenPipeError):  # told by what cannot be read
            self._in.write(lines + '{"end": 1}\n')
            self._in.flush()
        results = [self._read() for _ in range(count)]
        seconds: float = self._read()["seconds"]
        return results, seconds

    def _read(self) -> Result:
        line = self._out.readline()
        if not line:
            raise RuntimeError(f"a worker ended with status {self._process.wait()}")
        row: Result = json.JSONDecoder().decode(line)
        return row

    def close(self) -> None:
        with suppress(BrokenPipeError):
            self._in.close()
        self._out.close()
        self._process.wait()


# ---------------------------------------------------------------- comparing


@dataclass
class Difference:
    """A case whose results differ."""

    section: str
    kind: str
    case: Case
    old: Result
    new: Result

    def to_json(self) -> dict[str, Any]:
        return {
            "section": self.section,
            "class": self.case.label,
            "id": self.case.id,
            "differs": self.kind,
            "case": {"tools": to_json(list(self.case.tools)), **self.case.asked},
            "old": self.old,
            "new": self.new,
        }


@dataclass
class Class:
    """What came of the cases of one class."""

    kinds: Counter[str] = field(default_factory=Counter)  # in what they differ
    old: Counter[str] = field(default_factory=Counter)  # what gold says of either side
    new: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Class) -> Class:
        return Class(self.kinds + other.kinds, self.old + other.old, self.new + other.new)

    @property
    def rate(self) -> str:
        """The first rate that gold decides here, old and new, in percent."""
        for name, whole, _ in RATES:
            if self.old[whole] and name != "failed":
                sides = (100 * _share(counts, name, whole) for counts in (self.old, self.new))
                return f"{name} " + " → ".join(f"{share:.1f}" for share in sides)
        return ""


@dataclass
class Compared:
    """What came of one section."""

    name: str
    classes: dict[str, Class] = field(default_factory=dict)
    seconds: list[tuple[float, float]] = field(default_factory=list)  # old and new, of each block

    @property
    def total(self) -> Class:
        return sum(self.classes.values(), Class())

    @property
    def ratio(self) -> float:
        """Processor time of the new code to that of the old: the median over the blocks."""
        return median(new / old for old, new in self.seconds) if self.seconds else 1.0

    @property
    def blind(self) -> list[str]:
        """The sides that failed at every case, most likely because something has moved."""
        sides = {"old": self.total.old, "new": self.total.new}
        return [name for name, counts in sides.items() if counts["failed"] == counts["cases"] > 0]

    @property
    def worse(self) -> list[str]:
        """The rates that got worse."""
        old, new = self.total.old, self.total.new
        return [
            name
            for name, whole, better in RATES
            if better * _share(new, name, whole) < better * _share(old, name, whole)
        ]


def _share(counts: Counter[str], part: str, whole: str) -> float:
    return counts[part] / counts[whole] if counts[whole] else 0.0


def difference(old: Result, new: Result) -> str:
    """The gravest part in which two results differ; "" where they are equal."""
    if "error" in old or "error" in new:
        return "" if old == new else "failed"
    return next((name for name, part in PARTS.items() if part(old) != part(new)), "")


class Comparison:
    """Two workers, and what their answers differ in."""

    def __init__(self, old: Worker, new: Worker, every: int = 1, block: int = BLOCK) -> None:
        self._old, self._new = old, new
        self._every, self._block = every, block
        self._toolsets: dict[int, tuple[str, object]] = {}
        self._turn = 0

    def compare(self, section: Section, see: Callable[[Difference], None]) -> Compared:
        """Answer the sampled cases of a section on both trees; ``see`` is told every difference."""
        made = Compared(section.name)
        cases = (make() for make in sampled(section.makes, self._every))
        while block := list(islice(cases, self._block)):
            for case, old, new in zip(block, *self._answers(block, made), strict=True):
                kind = difference(old, new)
                own = made.classes.setdefault(case.label, Class())
                own.kinds.update(["cases", kind or "equal"])
                judged = judge(case, old)
                own.old.update(judged)
                own.new.update(judge(case, new) if kind else judged)
                if kind:
                    see(Difference(section.name, kind, case, old, new))
        return made

    def _answers(self, block: Sequence[Case], made: Compared) -> list[list[Result]]:
        """The results of the old code and of the new, which take the first turn by turns."""
        lines = "".join(self._lines(case) for case in block)
        self._turn += 1
        workers = [self._old, self._new] if self._turn % 2 else [self._new, self._old]
        answers = {id(worker): worker.answer(lines, len(block)) for worker in workers}
        old, new = answers[id(self._old)], answers[id(self._new)]
        made.seconds.append((old[1], new[1]))
        return [old[0], new[0]]

    def _lines(self, case: Case) -> str:
        """The case as a line, before it its tools where they have not been sent yet."""
        known = self._toolsets.get(id(case.tools))
        row = {**case.asked, "mode": case.mode}
        if known is not None:
            return json.dumps({**row, "toolset": known[0]}) + "\n"
        name = str(len(self._toolsets))
        self._toolsets[id(case.tools)] = (name, case.tools)  # kept, so that its id stays its own
        sent = {"toolset": name, "tools": to_json(list(case.tools))}
        return "".join(json.dumps(line) + "\n" for line in (sent, {**row, "toolset": name}))


def judge(case: Case, result: Result) -> Counter[str]:
    """What gold says of a result."""
    failed = "error" in result
    counts = Counter({"cases": 1, "failed": int(failed)})
    if case.judge is not None:
        empty = {"calls": [], "edits": [], "refused": [], "said": [], "text": ""}
        counts.update(case.judge(empty if failed else result))
    return counts


def sampled(makes: Iterable[Any], every: int) -> Iterator[Any]:
    """About one of ``every``, always the same ones, in no step with what repeats in them."""
    for place, make in enumerate(makes):
        if zlib.crc32(b"%d" % place) % every == 0:
            yield make


# ---------------------------------------------------------------- telling


def tables(made: Compared) -> Iterator[str]:
    """The section in lines: a row a class, then the rates, then the time."""
    total = made.total
    kinds = [kind for kind in KINDS if total.kinds[kind]]
    yield f"## {made.name}: {total.kinds['cases']} cases, {total.kinds['equal']} equal"
    yield ""
    yield _row(["class", "cases", "equal", *(f"{kind} differ" for kind in kinds), "old → new, %"])
    yield "|---" * (4 + len(kinds)) + "|"
    for label, own in [*made.classes.items(), ("all", total)]:
        yield _row([label, *(str(own.kinds[k]) for k in ("cases", "equal", *kinds)), own.rate])
    yield ""
    worse = made.worse
    for name, whole, _ in RATES:
        if total.old[whole] or total.new[whole]:
            mark = "  WORSE" if name in worse else ""
            rates = [_rate(counts, name, whole) for counts in (total.old, total.new)]
            yield f"{name}: old {rates[0]}, new {rates[1]}{mark}"
    yield from (f"{side}: every case failed, nothing was compared" for side in made.blind)
    each = 1e3 / max(1, total.kinds["cases"])
    old, new = (each * sum(spent[side] for spent in made.seconds) for side in (0, 1))
    said = f"median of {len(made.seconds)} blocks; milliseconds a case: {old:.2f} and {new:.2f}"
    yield f"processor time new to old: {made.ratio:.3f} ({said})"
    yield ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _rate(counts: Counter[str], part: str, whole: str) -> str:
    return f"{counts[part]} of {counts[whole]} ({100 * _share(counts, part, whole):.3f} %)"


def told(found: Difference) -> str:
    """A difference for people: what came, and what either side made of it."""
    asked = found.case.asked
    came = asked["came"] if "came" in asked else asked["reply"]
    lines = [f"- {found.section}, {found.case.label}, {found.case.id}: {found.kind} differ"]
    lines.append(f"  - came: {_short(came)}")
    for side, result in (("old", found.old), ("new", found.new)):
        if "error" in result or found.kind == "failed":
            lines.append(f"  - {side}: {_short(result.get('error') or result['calls'])}")
            continue
        lines.append(f"  - {side}: {_short(PARTS[found.kind](result))}")
        lines.append(f"    - edits: {_short(result['edits'])}; said: {_short(result['said'])}")
    return "\n".join(lines)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return repr(text[:LONGEST]) if isinstance(value, str) else text[:LONGEST]


class Telling:
    """Keeps the first differences to show, and writes all of them to a file."""

    def __init__(self, shown: int, out: IO[str] | None = None) -> None:
        self._left, self._out = shown, out
        self._seen: Counter[tuple[str, ...]] = Counter()
        self.shown: list[str] = []
        self.calls = 0  # cases whose calls differ, or where one side failed

    def __call__(self, found: Difference) -> None:
        self.calls += found.kind in ("failed", "calls")
        self._seen[alike := (found.section, found.case.label, found.kind)] += 1
        if self._left > 0 and self._seen[alike] <= ALIKE:
            self._left -= 1
            self.shown.append(told(found))
        if self._out is not None:
            self._out.write(json.dumps(found.to_json()) + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and print."""
    options = _parser().parse_args(arguments)
    names = list(CORPORA) if options.corpus == "all" else [options.corpus]
    signal.signal(signal.SIGTERM, _leave)
    with ExitStack() as stack:
        tree = stack.enter_context(checked_out(options.against))
        old, new = Worker(tree), Worker(ROOT)
        for worker in (old, new):
            stack.callback(worker.close)
        out = stack.enter_context(options.out.open("w", encoding="ascii")) if options.out else None
        see = Telling(options.shown, out)
        comparison = Comparison(old, new, options.every)
        bad = False
        for name in names:
            for section in CORPORA[name]():
                made = comparison.compare(section, see)
                print("\n".join(tables(made)), flush=True)
                bad = bad or bool(made.worse or made.blind)
    first = ["## The first differences", "", *see.shown] if see.shown else ["no difference"]
    print("\n".join(first))
    return int(bad or (options.strict and see.calls > 0))


def _leave(number: int, frame: FrameType | None) -> None:
    """A signal to end lets the checkout be removed first."""
    raise SystemExit(128 + number)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--against", required=True, metavar="REV", help="the revision to compare with")
    add("--corpus", choices=(*CORPORA, "all"), default="all", help="which cases (%(default)s)")
    add("--every", type=int, default=1, metavar="N", help="about one case of N")
    add("--out", type=Path, default=None, help="write every difference, a JSON line each")
    add("--shown", type=int, default=10, help="differences to print (%(default)s)")
    add("--strict", action="store_true", help="also fail where the calls of a case differ")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
