"""The settings of a command: said on the command line, in the environment, in the project's file,
in the user's, or nowhere, in this order. A profile goes before what its file and the others say in
general.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from callwright.cli.settings.config import (
    NAME,
    PROXY,
    SETTINGS,
    File,
    Setting,
    find_project_file,
    get_user_file,
    list_top_keys,
    parse_config,
    read_bytes,
    read_config,
    suggest_names,
)
from callwright.models import ModelSpec
from callwright.nouns.errors import ConfigError
from callwright.nouns.limits import LIMITS, Limit, Limits
from callwright.nouns.log_line import LogFormat, build_log_line
from callwright.tools.trust import TrustStore, digest_of, escape_terminal_text, normalize_location
from callwright.tools.trust.store import VARIABLE

if TYPE_CHECKING:
    from callwright.agent.probing.settings import TrialSettings

CONFIG, PROFILE = "CALLWRIGHT_CONFIG", "CALLWRIGHT_PROFILE"
COMMAND_LINE = "the command line"  # the origin of what it said
_IN_NO_VARIABLE = ("a list of texts", "a number of 0 or more")  # kinds
USUAL = {"model": "local", "strategy": "layered", "planner": "default"}
_CHATS = ("model", "proxy.upstream")  # the endpoints that are sent the key which api_key_env names
_NAMED = {"journal": "CALLWRIGHT_RUNS"}


@dataclass(frozen=True, slots=True)
class Settings:
    """Effective settings, each with its origin. ``chosen``: the reason for the choice of the
    profile, or "". ``unused``: a message about a file that was found and is not trusted, or "".
    """

    known: Mapping[str, Setting]
    files: tuple[File, ...] = ()
    profile: str = ""
    chosen: str = ""
    unused: str = ""

    def get(self, key: str, default: Any = None) -> Any:
        return self.known[key].value if key in self.known else default

    def take(self, *keys: str) -> dict[str, Any]:
        """Those of the keys that anybody said, as arguments."""
        return {key.rpartition(".")[2]: self.known[key].value for key in keys if key in self.known}

    def sources(self, *, say: bool = True) -> list[str]:
        """The tool sources, and behind them the overlay that says more of their tools; where none
        are named, that it is of no use is said on stderr, unless ``say`` is false.
        """
        named, laid = self.get("tools", []), self.get("overlay")
        if laid and not named and say:
            print(
                f"warning: {laid} is of no use here: it describes tools, and --tools names none",
                file=sys.stderr,
            )
        return [*named, laid] if named and laid else [*named]

    def limits(self) -> Limits:
        """Raises ConfigError."""
        return Limits(**self.take(*(f"limits.{name}" for name in LIMITS)))

    def journal(self) -> bool | Path:
        """Return the place of journals: a folder, the default one (True), or nowhere (False)."""
        return self.folder() or self.get("journal") is not False

    def folder(self) -> Path | None:
        """The folder of the runs, if one was named."""
        said = self.get("journal")
        return Path(said).expanduser() if said else None

    def evidence(self) -> bool | Path:
        """Return the place of the evidence about tools: a file, the default one (True), or nowhere
        (False).
        """
        said = self.get("evidence")
        return Path(said).expanduser() if said else said is not False

    def probing(self) -> TrialSettings:
        """Return the settings of the trials of a run. Where nothing is tried, what files and
        variables say of them is no matter. Raises ConfigError for what makes no sense.
        """
        from callwright.agent.probing.settings import TrialSettings, read_prices

        said = {
            key: one.value
            for key, one in self.known.items()
            if one.origin == COMMAND_LINE or self.get("trials", "off") != "off"
        }
        return TrialSettings(
            model=said.get("trial_model", ""),
            simulate=said.get("trial_simulate", "never"),
            prices=read_prices(said.get("trial_price", ())),
            money=said.get("trial_money", 0.0),
            relevance=said.get("trial_relevance", "rules"),
        )

    def announced(self, *asked: str, log_format: LogFormat | None = None) -> Settings:
        """Itself, ready to be acted on: told of on stderr. ``asked`` names the endpoints that are
        asked (``model``, ``encoder``, ``proxy.upstream``). With a ``log_format`` the notes have that
        form, and a file that is not used is among them. Raises ConfigError where there is no key
        for the endpoints.
        """
        unused = [self.unused] if log_format and self.unused else []
        for note in (*self.notes(), *unused):
            told = {"message": note}
            line = build_log_line("note", time.time(), told) if log_format == "json" else note
            print(line, file=sys.stderr)
        self.key_variable(asked)
        return self

    def key_variable(self, asked: Collection[str] = _CHATS) -> str:
        """The environment variable that holds the key of the endpoint that is asked, where
        ``api_key_env`` names one; else "". Raises ConfigError where that is not set.
        """
        said = self.known.get("api_key_env")
        if said is None or not any(key in asked for key in _CHATS):
            return ""
        if not os.environ.get(said.value):
            raise ConfigError(
                f"there is no key: the environment variable {said.value} is not set"
                f" ({said.origin})",
                hint=f"export {said.value}=…",
            )
        return str(said.value)

    def upstreams(self) -> list[str]:
        """The upstreams of the proxy, in the order in which they are asked."""
        said = self.get("proxy.upstream") or []
        return [said] if isinstance(said, str) else list(said)

    def find_upstream_keys(self, upstreams: Sequence[str], given: Sequence[str]) -> dict[str, str]:
        """The variables that hold the keys of the upstreams behind the first: ``URL=VARIABLE`` of
        the command line, else the ``api_key_env`` of the profile with this address. Raises
        ConfigError for an upstream that is not there, and a variable that is not set.
        """
        said = dict(_parse_upstream_key(text, upstreams[1:]) for text in given)
        models = _map_profile_models(self.files)
        for address in upstreams[1:]:
            profile = _find_by_endpoint(address.partition("#")[0], models)
            stated = [f.profiles.get(profile, {}).get("api_key_env") for f in self.files]
            variable = next((one.value for one in stated if one is not None), "")
            if variable:
                said.setdefault(address, variable)
        for address, variable in said.items():
            if not os.environ.get(variable):
                raise ConfigError(
                    f"there is no key for {address}: the environment variable {variable} is not"
                    " set",
                    hint=f"export {variable}=…",
                )
        return said

    def model(self) -> ModelSpec | None:
        """The model that is asked, with the variable that holds its key; None: the default one."""
        named = self.get("model")
        return None if named is None else ModelSpec(named, self.key_variable(["model"]))

    def notes(self) -> list[str]:
        """Return notes for the user before a command starts: the settings files that were read."""
        said = ", ".join(str(file.path) for file in self.files)
        profile = f", profile {self.profile} ({self.chosen})" if self.profile else ""
        return [f"settings: {said}{profile}"] if said else []


def _parse_upstream_key(text: str, upstreams: Sequence[str]) -> tuple[str, str]:
    """``URL=VARIABLE`` -> the upstream at this address, as it is named, and the variable."""
    url, _, variable = text.rpartition("=")
    address = _split_address(url)[0]
    found = next((one for one in upstreams if _split_address(one)[0] == address), None)
    if not url or not variable.isidentifier():
        raise ConfigError(
            "--upstream-key takes URL=VARIABLE", hint="the name of a variable, never the key itself"
        )
    if found is None:
        listed = ", ".join(upstreams) or "none"
        raise ConfigError(
            f"--upstream-key: {url} is no upstream behind the first",
            hint=f"there are: {listed}; the first is sent the key in CALLWRIGHT_API_KEY",
        )
    return found, variable


def render_settings(settings: Settings, as_json: bool = False) -> str:
    """The settings as a file would say them, each with where it was said; or as JSON."""
    usual = {f"limits.{name}": Setting(limit.default, "default") for name, limit in LIMITS.items()}
    usual |= {key: Setting(value, "default") for key, value in USUAL.items()}
    said = {**usual, **settings.known}
    keys = (*SETTINGS, *(f"limits.{name}" for name in LIMITS), *(f"proxy.{name}" for name in PROXY))
    rows = [(key, said[key]) for key in keys if key in said]
    store = TrustStore()
    trusted = {
        "folder": str(store.folder),
        "confirmed": len(store.confirmed()),
        "pinned": len(store.sources()),
    }
    if as_json:
        import orjson

        told = {key: {"value": s.value, "from": s.origin} for key, s in rows}
        whole = {
            "files": [str(f.path) for f in settings.files],
            "profile": settings.profile,
            "settings": told,
        }
        whole |= {"unused": settings.unused, "trust": trusted}
        return orjson.dumps(whole, option=orjson.OPT_INDENT_2, default=str).decode()
    none = [] if settings.unused else [f"settings: no {NAME} here or above, no {get_user_file()}"]
    held = (
        "trust: {confirmed} confirmed, {pinned} with pinned definitions (callwright trust --list)"
    )
    notes = [*(settings.notes() or none), held.format(**trusted)]
    lines, table = (
        [f"# {line}" for note in (*notes, settings.unused) for line in note.splitlines()],
        "",
    )
    for key, setting in rows:
        head, _, name = key.rpartition(".")
        if head != table:
            lines, table = [*lines, "", f"[{head}]"], head
        lines.append(f"{f'{name} = {_format_toml(setting.value)}':<32}  # {setting.origin}")
    return "\n".join(lines)


def _format_toml(value: Any) -> str:
    import orjson  # JSON's texts, numbers, booleans and lists are TOML's

    return orjson.dumps(value, default=str).decode().replace('","', '", "')


class SettingsGroup(Protocol):
    """Options of a command that are settings too: by the names that files have for them."""

    def to_settings(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Given:
    """Single settings of a command line."""

    values: Mapping[str, Any]

    def to_settings(self) -> Mapping[str, Any]:
        return self.values


def resolve_settings(
    *groups: SettingsGroup,
    config: Path | None = None,
    profile: str | None = None,
    environ: Mapping[str, str] = os.environ,
    folder: Path | None = None,
    say: bool = True,
) -> Settings:
    """The settings of a command. ``groups`` are what its command line said: None and empty lists
    are nothing said, a Setting was said elsewhere. A file that was only found counts when the user
    has confirmed it as it is; that one is not used is said on stderr, unless ``say`` is false.

    Raises ConfigError for a file, a variable or a profile that makes no sense, TrustError where the
    store of what is trusted cannot be read.
    """
    files, unused = _read_files(config, environ, folder or Path.cwd())
    if unused and say:
        print(unused, file=sys.stderr)
    values = {key: value for group in groups for key, value in group.to_settings().items()}
    said = {k: _wrap_setting(v) for k, v in values.items() if v is not None and v != []}
    told = {**_read_variables(environ), **said}
    general: dict[str, Setting] = {}
    for file in reversed(files):
        general |= file.general
    named = _find_named_profile(profile, environ, files, unused)
    name, chosen = named or _choose_profile(files, told.get("model"), general.get("model"))
    if name:
        for file in reversed(files):
            general |= file.profiles.get(name, {})
    return Settings(_keep_one_upstream(general, told), files, name, chosen, unused)


def _wrap_setting(value: Any) -> Setting:
    return value if isinstance(value, Setting) else Setting(value, COMMAND_LINE)


def _keep_one_upstream(general: dict[str, Setting], told: dict[str, Setting]) -> dict[str, Setting]:
    """The proxy has one of two: what is said nearer goes before the other that a file says."""
    either = {"proxy.upstream", "proxy.model"}
    if either & told.keys():
        general = {k: v for k, v in general.items() if k not in either}
    return {**general, **told}


def _read_files(
    config: Path | None, environ: Mapping[str, str], folder: Path
) -> tuple[tuple[File, ...], str]:
    """The nearest first, and what is to be said of one that is not used. A file that is named
    stands in the project's place; one that was only found may have come with somebody's project.
    """
    named = config or (Path(environ[CONFIG]).expanduser() if environ.get(CONFIG) else None)
    users = get_user_file(environ)
    files = [read_config(users)] if users.is_file() else []
    if named is not None:
        return (read_config(named), *files) if named != users else tuple(files), ""
    found = find_project_file(folder)
    if found is None or found == users:
        return tuple(files), ""
    raw = read_bytes(found)
    if TrustStore(environ.get(VARIABLE)).is_trusted(
        "settings", normalize_location(found), digest_of(raw)
    ):
        return (parse_config(found, raw), *files), ""
    return tuple(files), _describe_unused(found, list_top_keys(found, raw))


def _describe_unused(path: Path, keys: tuple[str, ...]) -> str:
    shown = min(str(path), os.path.relpath(path), key=len)
    held = ", ".join(keys[:6]) + (", …" if len(keys) > 6 else "")
    return (
        f"not used: {escape_terminal_text(shown)}{f' ({escape_terminal_text(held)})' if held else ''}\n"
        f"  It was only found. Read it, then: callwright trust {shlex.quote(escape_terminal_text(shown))}"
    )


def _read_variables(environ: Mapping[str, str]) -> dict[str, Setting]:
    made = {}
    for key in (key for key, told in SETTINGS.items() if told.kind not in _IN_NO_VARIABLE):
        name = _NAMED.get(key, f"CALLWRIGHT_{key.upper()}")
        if environ.get(name) and key != "api_key_env":
            value = (
                _parse_whole(name, environ[name])
                if SETTINGS[key].kind == "a whole number"
                else environ[name]
            )
            options = SETTINGS[key].options()
            if options and value not in options:
                raise ConfigError(f"{name} is {value!r}", hint=f"there are: {', '.join(options)}")
            made[key] = Setting(value, name)
    for name, limit in LIMITS.items():
        variable = f"CALLWRIGHT_{name.upper()}"
        if environ.get(variable):
            made[f"limits.{name}"] = Setting(
                _parse_number(variable, environ[variable], limit), variable
            )
    return made


def _parse_whole(variable: str, text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ConfigError(
            f"{variable} takes a whole number, not {text!r}", hint=f"or unset {variable}"
        )
    return int(text)


def _parse_number(variable: str, text: str, limit: Limit) -> float:
    try:
        value = limit.kind(text)
    except ValueError:
        wrong = limit.wrong(text)
    else:
        wrong = limit.wrong(value)
        if not wrong:
            return value
    raise ConfigError(
        f"{variable} {wrong}", hint=f"{limit.name}: {limit.about}; or unset {variable}"
    ) from None


def _find_named_profile(
    option: str | None, environ: Mapping[str, str], files: tuple[File, ...], unused: str
) -> tuple[str, str] | None:
    """The profile that the user named, and where. Raises ConfigError for one that is not there."""
    name, by = (option, "--profile") if option else (environ.get(PROFILE), PROFILE)
    if not name:
        return None
    known = list(dict.fromkeys(name for file in files for name in file.profiles))
    if name not in known:
        places = (
            ", ".join(str(file.path) for file in files)
            or f"there is no {NAME} here or above, and no {get_user_file()}"
        )
        hint = suggest_names(name, known) + (f"\n  {unused}" if unused else "")
        raise ConfigError(f"{by}: there is no profile {name!r} ({places})", hint=hint)
    return name, by


def _choose_profile(
    files: tuple[File, ...], asked: Setting | None, usual: Setting | None
) -> tuple[str, str]:
    """The profile where none was named, and why: that of the endpoint the user asks; else the
    files' own choice; else that of the endpoint they ask in general.
    """
    chosen = next((file for file in files if file.profile), None)
    if asked is None and chosen is not None:
        return chosen.profile, f"{chosen.path}: profile"
    model = asked or usual
    models = _map_profile_models(files)
    name = _find_by_endpoint(str(model.value), models) if model is not None else ""
    return name, f"its model is {models[name]}" if name else ""


def _map_profile_models(files: tuple[File, ...]) -> dict[str, str]:
    """The model of each profile that has one; the nearer file's."""
    made: dict[str, str] = {}
    for file in reversed(files):
        made |= {
            name: str(said["model"].value)
            for name, said in file.profiles.items()
            if "model" in said
        }
    return made


def _find_by_endpoint(model: str, models: Mapping[str, str]) -> str:
    """The profile of the same model at the same address, else one of this address where either
    names no model.
    """
    address, asked = _split_address(model)
    here = {
        name: served
        for name, (base, served) in ((n, _split_address(m)) for n, m in models.items())
        if base == address
    }
    exact = [name for name, served in here.items() if served == asked]
    return next(
        iter(exact or [name for name, served in here.items() if not (served and asked)]), ""
    )


def _split_address(model: str) -> tuple[str, str]:
    base, _, name = model.partition("#")
    return base.rstrip("/").lower() if "://" in base else base, name
