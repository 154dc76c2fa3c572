"""Settings from files: what stands in ``simonides.toml``, and where each setting comes from.

    option given > environment ``SIMONIDES_*`` > simonides.toml here > simonides.toml of the user > default

    store = "~/memories"
    bank = "garden"
    [serve]
    port = 9000

The file of the current folder may have come with somebody's project. It can therefore not name the language
model's server, which would get memories and the key, nor open the server to others, nor say what becomes of
secrets.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, UnavailableError, UnknownNameError
from simonides.records.hygiene import read_at_most

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "simonides.toml"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    Attributes:
        key: in the file; a dot means a table, as in ``serve.port``.
        kind: ``str``, ``int`` or ``list`` (of texts).
        default: where nobody says anything; ``None`` = none.
        help: a sentence.
        trusted: whether the file of the current folder may not set it.
    """

    key: str
    kind: type
    default: Any
    help: str
    trusted: bool = False

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return f"SIMONIDES_{self.key.replace('.', '_').upper()}"


SETTINGS: Mapping[str, Setting] = {
    each.key: each
    for each in (
        Setting("store", str, None, "Folder that holds the banks."),
        Setting("bank", str, "default", "Bank to use."),
        Setting("profile", str, "default", "Profile that ranks."),
        Setting("zone", str, None, "Time zone of times that state none; none = the system's."),
        Setting("embedder", str, "auto", "The embedder: a name, auto, or none."),
        Setting("heavy_reranker", str, None, "Reranker of recalls that are answered later; a name, or none."),
        Setting("redact", str, "off", "Secrets in what is written: off, mask or refuse.", trusted=True),
        Setting("llm.model", str, None, "Language model of enrich, reflect and helpers.", trusted=True),
        Setting("llm.base_url", str, None, "Its server.", trusted=True),
        Setting("serve.host", str, "127.0.0.1", "Address to listen on.", trusted=True),
        Setting("serve.port", int, 8765, "Port; 0 = any that is free."),
        Setting(
            "serve.allow_host", list, [], "A host name that clients use, besides loopback.", trusted=True
        ),
        Setting("serve.allow_origin", list, [], "Origin of web pages that may send requests.", trusted=True),
        Setting("serve.workers", int, 4, "Worker threads."),
        Setting("serve.queue", int, 64, "Requests that may wait."),
        Setting("serve.open_banks", int, 64, "Banks kept open."),
        Setting(
            "serve.maintain_every", int, 0, "Maintain every bank at this interval, in minutes; 0 = never."
        ),
        Setting("serve.maintain_steps", int, 1_000, "Maximum number of steps of one bank each time."),
        Setting("serve.maintain_profile", str, "default", "Profile whose numbers decide.", trusted=True),
    )
}
"""By key, in the order in which they are shown."""


def option_of(key: str, metavar: str, **bounds: Any) -> Any:
    """The option of a command for a setting of that command, such as ``--port`` for ``serve.port``."""
    import typer

    setting = SETTINGS[key]
    flag = f"--{key.partition('.')[2].replace('_', '-')}"
    many = setting.kind is list
    return typer.Option(
        flag,
        envvar=setting.variable,
        metavar=metavar,
        help=f"{setting.help[:-1]} (repeatable)." if many else setting.help,
        show_default=not many,
        **bounds,
    )


@dataclass(frozen=True, slots=True)
class Value:
    """What a setting is, and where it comes from: a variable, a file, or ``default``."""

    setting: Setting
    value: Any
    origin: str


def config_folder() -> Path | None:
    """Where the user's file lies, by the custom of the operating system; ``None`` without a home folder."""
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "simonides"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming") / "simonides"
    # The XDG rule: a relative value is to be ignored.
    xdg = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(xdg) if Path(xdg).is_absolute() else home / ".config") / "simonides"


def file_values() -> dict[str, Value]:
    """What the files say, by key; the current folder's before the user's. Raises what a bad file deserves."""
    folder = config_folder()
    found = {} if folder is None else _read(folder / FILE, own=True)
    return found | _read(Path(FILE), own=False)


def every_value() -> tuple[Value, ...]:
    """Every setting as a command without options has it."""
    files = file_values()
    return tuple(
        _from_environment(each) or files.get(each.key) or Value(each, each.default, "default")
        for each in SETTINGS.values()
    )


def value_of(key: str) -> Any:
    """One setting that no option sets."""
    return found_value(key).value


def found_value(key: str) -> Value:
    """One setting that no option sets, and where it comes from."""
    setting = SETTINGS[key]
    return _from_environment(setting) or file_values().get(key) or Value(setting, setting.default, "default")


def user_value(key: str) -> Any:
    """One setting as the user has it in every folder: without the file of the current one."""
    setting = SETTINGS[key]
    folder = config_folder()
    files = {} if folder is None else _read(folder / FILE, own=True)
    found = _from_environment(setting) or files.get(key)
    return found.value if found else setting.default


def _from_environment(setting: Setting) -> Value | None:
    written = os.environ.get(setting.variable, "").strip()
    if not written:
        return None
    value: Any = written.split() if setting.kind is list else written
    return Value(setting, value, setting.variable)


def _read(path: Path, *, own: bool) -> dict[str, Value]:
    try:
        if not path.is_file():
            return {}
        with path.open("rb") as stream:
            raw = read_at_most(stream, _LARGEST_FILE, str(path))
    except OSError as error:
        raise UnavailableError(f"{path}: cannot be read ({error.strerror}); mend or remove it") from error
    import tomllib

    try:
        written = tomllib.loads(raw.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(str(path), f"is not TOML ({error})") from None
    return {
        key: Value(_checked(key, value, path, own=own), value, str(path)) for key, value in _flat(written)
    }


def _flat(written: Mapping[str, Any]) -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for key, value in written.items():
        flat += (
            [(f"{key}.{inner}", each) for inner, each in value.items()]
            if isinstance(value, dict)
            else [(key, value)]
        )
    return flat


def _checked(key: str, value: Any, path: Path, *, own: bool) -> Setting:
    if key not in SETTINGS:
        raise UnknownNameError(key, key, SETTINGS, place=str(path))
    setting = SETTINGS[key]
    words = {str: "a text", int: "a whole number", list: "a list of texts"}[setting.kind]
    right = isinstance(value, setting.kind) and not isinstance(value, bool)
    if right and setting.kind is list:
        right = all(isinstance(each, str) for each in value)
    if not right:
        raise InputError(f"{path}: {key}", f"expected {words}, got {value!r}")
    if setting.trusted and not own:
        folder = config_folder()
        place = "the user's file" if folder is None else str(folder / FILE)
        raise InputError(
            f"{path}: {key}",
            f"may not come from the current folder; put it into {place}, or set {setting.variable}",
        )
    return setting


# Option → setting, by the name of its parameter; those of `serve` are settings of their own.
_LARGEST_FILE = 1 << 20
_SHARED = ("store", "bank", "profile", "redact")
# There --bank means one bank in place of those by project, or the only one that a client may use; the file of
# a project must not choose another project's.
_OTHER_BANK = frozenset({"mcp", "hook"})
# What these write counts in every folder, so the file of the current one has no say.
_EVERYWHERE = frozenset({"install", "uninstall"})


def option_defaults(commands: Mapping[str, Any]) -> dict[str, Any]:
    """What the files say, as the defaults of options of *commands* by name: by command, then by parameter."""
    values = {key: found.value for key, found in file_values().items()}
    return _defaults(commands, values) if values else {}


def _defaults(commands: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    defaults: dict[str, Any] = {}
    for name, command in commands.items():
        if hasattr(command, "commands"):
            defaults[name] = _defaults(command.commands, values)
            continue
        keys = {each: each for each in _SHARED if each != "bank" or name not in _OTHER_BANK}
        if name in _EVERYWHERE:
            keys = {}
        keys |= {key.partition(".")[2]: key for key in values if key.startswith(f"{name}.")}
        defaults[name] = {
            each.name: values[keys[each.name]]
            for each in command.params
            if each.param_type_name == "option"
            and keys.get(each.name) in values
            and each.multiple == isinstance(values[keys[each.name]], list)
        }
    return defaults
