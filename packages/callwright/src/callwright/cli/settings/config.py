"""``callwright.toml``: where it is looked for, what may stand in it, and what is said of one that
cannot be used.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from callwright.cli.settings.trials import Judges, Simulate
from callwright.jsontext import is_deeper
from callwright.language import ENGLISH
from callwright.nouns.errors import ConfigError
from callwright.nouns.limits import LIMITS
from callwright.nouns.model_profile import load_profiles
from callwright.nouns.protocols import ReplyMode
from callwright.planning import PLANNERS
from callwright.proxy.session.settings import GuardSetting, Guided, GuidedPart

NAME = "callwright.toml"
_SECRET = ENGLISH.pattern("credentials.setting")
_MOST_BYTES, _MOST_DOTS, _MOST_LEVELS = 64_000, 200, 20
_KEY_ENDS = re.compile(
    rb"[=\n]"
)  # a key of n parts takes the parser n² steps: counted before it reads
_MOST_PORTS, _MOST_TOOLS = 65_535, 1_000
TRYING = ("off", "read-only", "sandbox")  # as callwright.agent.catalog_search names them
ASKING = ("destructive", "writes")  # as callwright.agent.safety.consent names them


@dataclass(frozen=True, slots=True)
class Key:
    """Description of one setting. ``kind`` is also shown to users; ``options`` gives all values, if
    they can be listed. With ``address``, a model's address is valid too. ``near`` values may name a
    file, which is looked for beside the file that contains the setting.
    """

    kind: str
    about: str
    options: Callable[[], tuple[str, ...]] = tuple
    near: bool = False
    most: int = 0
    address: bool = False


def _list_strategies() -> tuple[str, ...]:
    from callwright.agent.strategies import (  # and all that carries a run out: not for other commands
        REFLECT,
        STRATEGIES,
    )

    return (*STRATEGIES, *(f"{name}+{how}" for name in STRATEGIES for how in REFLECT))


def _list_modes() -> tuple[str, ...]:
    from callwright.retrieval import MODES

    return tuple(MODES)


SETTINGS: Mapping[str, Key] = {
    "model": Key("a text", "as --model", near=True),
    "api_key_env": Key("a text", "the environment variable that holds the endpoint's key"),
    "tools": Key("a list of texts", "as --tools", near=True),
    "overlay": Key("a text", "as --overlay", near=True),
    "only": Key("a list of texts", "as --only"),
    "strategy": Key("a text", "as --strategy", _list_strategies),
    "instructions": Key("a text", "as --instructions"),
    "planner": Key("a text", "as --planner", lambda: PLANNERS, address=True),
    "encoder": Key("a text", "as --encoder", near=True),
    "mode": Key("a text", "as --mode", lambda: get_args(ReplyMode)),
    "model_profile": Key("a text", "as --model-profile", lambda: (*load_profiles(),)),
    "allow": Key("a list of texts", "as --allow"),
    "ask": Key("a text", "as --ask", lambda: ASKING),
    "journal": Key("a text or false", "as --journal; false is --no-journal", near=True),
    "shortlist": Key("a whole number", "as --shortlist", most=_MOST_TOOLS),
    "trials": Key("a text", "as --trials", lambda: TRYING),
    "trial_model": Key("a text", "as --trial-model"),
    "trial_simulate": Key("a text", "as --trial-simulate", lambda: (*Simulate,)),
    "trial_price": Key("a list of texts", "as --trial-price"),
    "trial_money": Key("a number of 0 or more", "as --trial-money"),
    "trial_relevance": Key("a text", "as --trial-relevance", lambda: (*Judges,)),
    "retrieval": Key("a text", "as --retrieval", _list_modes),
    "evidence": Key("a text or false", "as --evidence; false is --no-evidence", near=True),
}
PROXY: Mapping[str, Key] = {
    "upstream": Key("a text or a list of texts", "as --upstream"),
    "model": Key("a text", "as --model of the proxy", near=True),
    "host": Key("a text", "as --host"),
    "port": Key("a whole number", "as --port", most=_MOST_PORTS),
    "guided": Key("a text", "as --guided", lambda: get_args(Guided)),
    "guard": Key("a text", "as --guard", lambda: get_args(GuardSetting)),
    "effects": Key("a list of texts", "as --effects"),
    "without": Key("a list of texts", "as --without", lambda: get_args(GuidedPart)),
    "reasks": Key("a whole number", "as --reasks", most=1_000),
    "strict": Key("true or false", "as --refused-as-text"),
    "overlay": Key("a text", "as --overlay", near=True),
    "model_profile": Key("a text", "as --model-profile", lambda: (*load_profiles(),)),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and where it was said: a file with its key, an environment variable, the command
    line, the default.
    """

    value: Any
    origin: str


@dataclass(frozen=True, slots=True)
class File:
    """A file as read: settings by key (``model``, ``limits.seconds``, ``proxy.port``), in general
    and by profile.
    """

    path: Path
    general: Mapping[str, Setting]
    profiles: Mapping[str, Mapping[str, Setting]] = field(default_factory=dict)
    profile: str = ""  # the one to take where none is named


def get_user_file(environ: Mapping[str, str] = os.environ) -> Path:
    """The user's own: in the folder for configuration of the platform (XDG base directories)."""
    if sys.platform == "win32" and environ.get("APPDATA"):
        return Path(environ["APPDATA"]) / "callwright" / NAME
    base = environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "callwright" / NAME


def find_project_file(folder: Path) -> Path | None:
    """The nearest one from a folder upward."""
    return next((p / NAME for p in (folder, *folder.parents) if (p / NAME).is_file()), None)


def read_config(path: Path) -> File:
    """A file, checked whole. Raises ConfigError."""
    return parse_config(path, read_bytes(path))


def read_bytes(path: Path) -> bytes:
    """The bytes of a file: what a digest is taken of, and what is then parsed. Of one that is too
    large a few more than may be parsed. Raises ConfigError.
    """
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES + 1)
    except OSError as error:
        said = f"{path} cannot be read: {error.strerror or error}"
        raise ConfigError(said, hint="name another file with --config, or leave it out") from None


def list_top_keys(path: Path, raw: bytes) -> tuple[str, ...]:
    """The names at the top of a file that is not trusted, to tell what is not used; () where it
    cannot be parsed.
    """
    try:
        return tuple(_parse_toml(path, raw))
    except ConfigError:
        return ()


def parse_config(path: Path, raw: bytes) -> File:
    """The settings in the content of a file. Raises ConfigError."""
    table = _parse_toml(path, raw)
    tables = ("limits", "profiles", "proxy", "profile")
    general = dict(_iter_settings(path, table, "", tables))
    proxy = _get_table(path, table, "proxy", "[proxy]")
    general |= {f"proxy.{key}": s for key, s in _iter_checked(path, proxy, "[proxy]", PROXY)}
    profiles = {}
    for name, inner in _get_table(path, table, "profiles", "[profiles]").items():
        where = f"[profiles.{name}]"
        if not isinstance(inner, dict):
            raise ConfigError(
                f"{path}: {where} is no table", hint=f"{where} on a line of its own, its keys below"
            )
        profiles[name] = dict(_iter_settings(path, inner, where, ("limits",)))
    chosen = table.get("profile", "")
    if not isinstance(chosen, str):
        raise ConfigError(
            f"{path}: profile takes a text, not {chosen!r}", hint="the NAME of a [profiles.NAME]"
        )
    if chosen and chosen not in profiles:
        raise ConfigError(
            f"{path}: profile = {chosen!r}, and there is no [profiles.{chosen}]",
            hint=suggest_names(chosen, profiles),
        )
    return File(path, general, profiles, chosen)


def _parse_toml(path: Path, raw: bytes) -> dict[str, Any]:
    if len(raw) > _MOST_BYTES or any(
        part.count(b".") > _MOST_DOTS for part in _KEY_ENDS.split(raw)
    ):
        said = (
            f"{path} is larger than {_MOST_BYTES} bytes, or a key in it has more than {_MOST_DOTS}"
            " parts"
        )
        raise ConfigError(said, hint="is it the right file? Name another one with --config")
    try:
        table = tomllib.loads(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8", hint="save it as UTF-8") from None
    except (ValueError, RecursionError) as error:  # ValueError: also a number too long
        said = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:300]
        raise ConfigError(
            f"{path} is not TOML: {said}", hint='a text needs quotes: model = "local"'
        ) from None
    if is_deeper(table, _MOST_LEVELS):
        raise ConfigError(
            f"{path} is nested too deeply",
            hint=f"nothing stands more than {_MOST_LEVELS} levels deep",
        )
    return table


def _iter_settings(
    path: Path, table: Mapping[str, Any], where: str, tables: tuple[str, ...]
) -> Iterator[tuple[str, Setting]]:
    """The settings of a table and of its limits."""
    yield from _iter_checked(
        path, {k: v for k, v in table.items() if k not in tables}, where, SETTINGS, tables
    )
    limits = f"[{where.strip('[]')}.limits]" if where else "[limits]"
    for name, value in _get_table(path, table, "limits", limits).items():
        if name not in LIMITS:
            raise _build_unknown_key(path, limits, name, LIMITS)
        wrong = LIMITS[name].wrong(value)
        if wrong:
            raise ConfigError(
                f"{path}: {limits} {name} {wrong}", hint=f"{name}: {LIMITS[name].about}"
            )
        yield f"limits.{name}", Setting(value, f"{path}: {limits} {name}")


def _get_table(path: Path, table: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    inner = table.get(key, {})
    if not isinstance(inner, dict):
        raise ConfigError(
            f"{path}: {key} is no table", hint=f"{where} on a line of its own, its keys below"
        )
    return inner


def _iter_checked(
    path: Path,
    table: Mapping[str, Any],
    where: str,
    known: Mapping[str, Key],
    tables: tuple[str, ...] = (),
) -> Iterator[tuple[str, Setting]]:
    for name, value in table.items():
        if name not in known:
            raise _build_unknown_key(path, where, name, [*known, *tables])
        wrong = _explain_invalid(value, known[name])
        if wrong:
            raise ConfigError(
                f"{_describe_place(path, where, name)} {wrong}", hint=f"{name}: {known[name].about}"
            )
        said = _resolve_path(path.parent, value) if known[name].near else value
        yield name, Setting(said, _describe_place(path, where, name))


def _describe_place(path: Path, where: str, name: str) -> str:
    return f"{path}: {where} {name}" if where else f"{path}: {name}"


def _explain_invalid(value: Any, key: Key) -> str:
    """Return the reason why a value is invalid for a key, as the end of a sentence; "" if it is
    valid.
    """
    is_list = isinstance(value, list) and all(isinstance(v, str) for v in value)
    fits = {
        "a text": isinstance(value, str),
        "a list of texts": is_list,
        "a text or a list of texts": is_list or isinstance(value, str),
        "a text or false": isinstance(value, str) or value is False,
        "true or false": isinstance(value, bool),
        "a whole number": isinstance(value, int) and not isinstance(value, bool),
        "a number of 0 or more": isinstance(value, int | float)
        and not isinstance(value, bool)
        and 0 <= value < float("inf"),
    }
    if not fits[key.kind]:
        return f"takes {key.kind}, not {value!r}"
    options = key.options()
    if options and value not in options and not (key.address and "://" in value):
        return f"is {value!r}; there are: {', '.join(options)}"
    if key.most and not 0 <= value <= key.most:
        return f"is {value}, and must be 0 to {key.most}"
    return ""


def _build_unknown_key(path: Path, where: str, name: str, known: Any) -> ConfigError:
    if _SECRET.search(name):
        hint = (
            'put it into an environment variable and name that: api_key_env = "MY_KEY" (or'
            " CALLWRIGHT_API_KEY)"
        )
        return ConfigError(
            f"{_describe_place(path, where, name)}: a secret does not belong in this file",
            hint=hint,
        )
    place = where or "the top of the file"
    return ConfigError(f"{path}: {place} has no key {name!r}", hint=suggest_names(name, known))


def suggest_names(name: str, known: Any) -> str:
    """Return a hint with the known names that are nearest to a name, and with all known names."""
    found = get_close_matches(name, list(known), 2)
    listed = "it knows: " + (", ".join(known) or "none")
    return f"did you mean {' or '.join(found)}? {listed}" if found else listed


def _resolve_path(folder: Path, value: Any) -> Any:
    """A value that names a file beside the configuration, made to name it from anywhere; other
    values as they are.
    """
    if isinstance(value, list):
        return [_resolve_path(folder, v) for v in value]
    if not isinstance(value, str) or "://" in value:
        return value
    head, text = ("local:", value[6:]) if value.startswith("local:") else ("", value)
    named = re.split(r"[?:]", text, maxsplit=1)[0]
    there = named and (folder / Path(named).expanduser()).exists()
    return f"{head}{folder / Path(named).expanduser()}{text[len(named) :]}" if there else value
