"""The suite's process: its environment, made once in the cache folder, and one line to it and back
for each case.
"""

from __future__ import annotations

import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

from callwright.jsontext import parse, write
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject
from callwright.weights.store import cache_dir
from callwright_lab.benchmarks.bfcl import driver
from callwright_lab.benchmarks.bfcl.endpoints import Endpoint
from callwright_lab.benchmarks.comparison.side import SideProcess, side_python
from callwright_lab.benchmarks.refine.bfcl import unpack_folder

IMPORTED = frozenset(
    "numpy pandas tqdm python-dotenv openai overrides tenacity filelock mpmath pydantic tree_sitter"
    " tree-sitter-java tree-sitter-javascript".split()
)
"""The suite's requirements that its inference loop, its environments and its checkers import. The
others are the clients of other vendors, and the libraries of its memory and search categories.
"""

_NAME = re.compile(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class Inference:
    """The way the suite asks. ``native``: by tools, else by its prompt for models without them.

    ``temperature`` is the suite's own. ``max_tokens`` of a reply is what the suite gives to the
    open models that it serves itself; 0: no limit. ``timeout`` is in seconds, of one question.
    """

    model: str
    native: bool
    temperature: float = 0.001
    max_tokens: int = 4096
    timeout: float = 3600.0


class Unreachable(Exception):
    """The endpoint gave no reply: there is nothing to judge."""


def find_requirements(wheel: Path) -> list[str]:
    """The suite's own requirements, as it pins them, of what is imported here."""
    (metadata,) = wheel.glob("bfcl_eval-*.dist-info/METADATA")
    lines = re.findall(r"^Requires-Dist: ([^;\n]+)$", metadata.read_text("utf-8"), re.MULTILINE)
    named = {line.strip(): _NAME.match(line) for line in lines}
    return sorted(line for line, name in named.items() if name and name[0] in IMPORTED)


def prepare_python() -> Path:
    """The interpreter of the suite's environment. Raises ConfigError where pip cannot make it."""
    return side_python("bfcl", find_requirements(unpack_folder()))


class Harness:
    """The suite with one endpoint, in a process beside ours. A context manager.

    ``python`` is the path of an interpreter with the suite's libraries. What the suite prints goes
    to ``log``.
    """

    def __init__(
        self, python: str | Path, endpoint: Endpoint, inference: Inference, log: Path
    ) -> None:
        self._python, self._endpoint, self._inference = Path(python), endpoint, inference
        self._log = log
        self._said: IO[bytes] | None = None

    def __enter__(self) -> Harness:
        folder = cache_dir() / "bfcl" / "work"
        folder.mkdir(parents=True, exist_ok=True)
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._said = self._log.open("ab")
        # -I: none of our packages and no module of this folder is seen there
        command = [
            str(self._python.absolute()),  # it is started in another folder
            "-I",
            driver.__file__,
            write(asdict(self._build_settings())).decode(),
        ]
        variables = {
            "OPENAI_BASE_URL": self._endpoint.url,
            "OPENAI_API_KEY": self._endpoint.key or "none",
            "BFCL_PROJECT_ROOT": str(folder),  # where the suite keeps its locks
        }
        self._process = SideProcess(
            command, folder, stderr=self._said, environment={**os.environ, **variables}
        )
        return self

    def _build_settings(self) -> driver.Settings:
        asked = self._inference
        return driver.Settings(
            str(unpack_folder()),
            asked.native,
            asked.model,
            asked.temperature,
            asked.max_tokens,
            asked.timeout,
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:  # a case may be under way, and takes as long as its model
            self._process.terminate()
        self._process.close()
        if self._said is not None:
            self._said.close()

    def run(self, category: str, case: str) -> JsonObject:
        """The suite's verdict on one case. Raises Unreachable, and ConfigError where the suite
        itself fails.
        """
        try:
            line = self._process.ask(write({"category": category, "case": case}))
        except OSError:
            line = b""
        if not line:
            raise ConfigError(
                f"BFCL's process ended at {case}", hint=f"what it said last is in {self._log}"
            )
        told = parse(line)
        if "unreachable" in told:
            raise Unreachable(told["unreachable"])
        if "wrong" in told:
            raise ConfigError(f"BFCL could not run {case}: {told['wrong']}")
        answer: JsonObject = told["answer"]
        return answer
