"""The rules of the house that a machine can hold: structure, size, light imports, documentation that exists."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import callwright
from callwright import errors, limits, prompts, trace

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "callwright"
MODULES = sorted(p for p in SOURCE.rglob("*.py") if p.name not in ("__init__.py", "__main__.py"))
HEAVY = ("torch", "numpy", "onnxruntime", "aiohttp", "starlette", "mcp", "pydantic", "jsonschema_rs", "typer", "rich")

# Modules tested through their room's own test file. The list may only shrink.
TESTED_WITH_THEIR_ROOM: dict[str, str] = {
    "execution/executor.py": "test_orchestrator.py",
    "execution/invoke.py": "test_orchestrator.py",
    "execution/questions.py": "test_orchestrator.py",
    "strategies/job.py": "test_orchestrator.py",
    "strategies/layered.py": "test_orchestrator.py",
    "strategies/react.py": "test_orchestrator.py",
    "cli/check.py": "cli/test_app.py",
    "cli/demo.py": "cli/test_app.py",
    "cli/plan.py": "cli/test_app.py",
    "cli/run.py": "cli/test_app.py",
    "cli/tools.py": "cli/test_app.py",
    "cli/train.py": "cli/test_app.py",
    "cli/view.py": "cli/test_app.py",
    "cli/weights.py": "cli/test_app.py",
}


def _test_of(module: Path) -> Path:
    relative = module.relative_to(SOURCE)
    return ROOT / "tests" / relative.with_name(f"test_{relative.name}")


@pytest.mark.parametrize("module", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_every_module_has_its_test(module: Path) -> None:
    name = str(module.relative_to(SOURCE))
    if name in TESTED_WITH_THEIR_ROOM:
        assert (ROOT / "tests" / TESTED_WITH_THEIR_ROOM[name]).exists()
        assert not _test_of(module).exists(), f"{name} has its own test now: take it off the list"
    else:
        assert _test_of(module).exists(), f"write {_test_of(module).relative_to(ROOT)}"


@pytest.mark.parametrize("module", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_file_can_be_read_in_one_sitting(module: Path) -> None:
    assert len(module.read_text(encoding="utf-8").splitlines()) <= 420


def test_nine_in_ten_functions_are_short_and_none_is_long() -> None:
    lengths = []
    for module in MODULES:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                lengths.append((node.end_lineno - node.lineno + 1, f"{module.name}:{node.name}"))
    lengths.sort(reverse=True)
    ninth = lengths[len(lengths) // 10][0]
    assert ninth <= 30, f"the 90th percentile is {ninth} lines; longest: {lengths[:8]}"
    assert lengths[0][0] <= 75, lengths[:5]


def test_no_room_is_called_after_nothing() -> None:
    empty = {"utils", "util", "helpers", "common", "base", "core", "manager", "misc"}
    assert not {p.stem for p in SOURCE.rglob("*")} & empty


def test_import_callwright_is_light() -> None:
    code = f"import sys, callwright; print([m for m in {HEAVY!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_every_public_name_exists_and_nothing_else_is_public() -> None:
    for name in callwright.__all__:
        assert getattr(callwright, name) is not None
    assert sorted(callwright.__all__) == dir(callwright)
    with pytest.raises(AttributeError):
        callwright.nothing  # noqa: B018


def _docs() -> str:
    return "\n".join(p.read_text(encoding="utf-8") for p in [*ROOT.glob("docs/*.md"), ROOT / "README.md"])


def test_every_error_kind_limit_prompt_and_event_is_documented() -> None:
    text = _docs()
    words = [cls.__name__ for cls in errors.CallwrightError.__subclasses__()]
    words += list(errors.ViolationKind.__args__) + list(errors.FailureKind.__args__)
    words += list(limits.Limits.__dataclass_fields__) + list(prompts.names()) + list(trace.KINDS)
    missing = [word for word in words if f"`{word}`" not in text]
    assert not missing, f"not in docs/: {missing}"


def test_every_command_is_documented() -> None:
    from callwright.cli.app import app, bench, train

    def names(typer_app: object, prefix: str) -> list[str]:
        return [
            f"{prefix} {c.name or c.callback.__name__}"  # type: ignore[union-attr]
            for c in typer_app.registered_commands  # type: ignore[attr-defined]
        ]

    commands = names(app, "callwright") + names(train, "callwright train") + names(bench, "callwright bench")
    text = _docs()
    assert not [c for c in commands if c not in text]


def test_the_changelog_has_a_section_for_the_version() -> None:
    assert re.search(rf"^## {re.escape(callwright.__version__)}\b", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
