"""An external harness as data: how it is installed, started, and pointed at a gateway."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, TypeAlias

import orjson
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from harness_eval import bundled
from harness_eval.config import parse, read_yaml
from harness_eval.errors import ConfigError, nearest
from harness_eval.external.sharing import digest_of
from harness_eval.gateway.wires import WireName

PLACES = ("prompt", "base_url", "key", "model", "home", "workdir", "installed", "share")
"""What `{...}` may name in a command, a variable or a file. `base_url` has no `/v1` at its end; `installed` is the
folder of the installation; `share` the first folder of this machine that is shared with the box; `home` and `workdir`
are folders in the box."""

Packages: TypeAlias = dict[str, Annotated[str, Field(min_length=1)]]

_PLACE = re.compile(r"(?<!\$)\{([a-z_]+)\}")  # neither a shell's ${name} nor what JSON and TOML have between braces
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PACKAGE = re.compile(r"(@[A-Za-z0-9~][\w.~-]*/)?[A-Za-z0-9~][\w.~-]*(\[[\w., -]+\])?")
_LONGEST_NAME = 100  # characters: names become those of folders
_LONGEST_PART = 255  # bytes that file systems allow
STDIN = ".stdin"
"""The file below the home folder in which a command finds its input."""

_EXACT = re.compile(r"v?\d+(\.\w+)*([-+]\w+(\.\w+)*)*|file:.+")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Install(_Part):
    """Packages by name with their exact versions, from npm and PyPI; none where the box has the program already.

    `python` is the oldest Python that those from PyPI run on; `size_mb` what all of it takes on disk, as it was found.
    """

    npm: Packages = Field(default_factory=dict)
    pypi: Packages = Field(default_factory=dict)
    python: str = Field(default="", pattern=r"^(\d+\.\d+)?$")
    size_mb: int = Field(default=0, ge=0)

    @field_validator("npm", "pypi")
    @classmethod
    def _pinned(cls, packages: Packages) -> Packages:
        for name, version in packages.items():
            if not _PACKAGE.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a package")
            if not _EXACT.fullmatch(version):
                raise ValueError(f"{name}: an exact version is needed, such as 1.2.3, not {version!r}")
        return packages


class Launch(_Part):
    """One headless run: the command, its variables, and files that must be there before, by path below the home folder.

    `ends_with_error` are exit codes that are no failure of the harness but how it ends, besides 0.
    """

    command: tuple[str, ...]
    env: dict[str, str] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)
    stdin: str = ""
    ends_with_error: tuple[int, ...] = ()

    @field_validator("command")
    @classmethod
    def _something(cls, command: tuple[str, ...]) -> tuple[str, ...]:
        if not command or not command[0]:
            raise ValueError("a program is needed")
        _check_passable(command)
        return command

    @field_validator("env")
    @classmethod
    def _variables(cls, env: dict[str, str]) -> dict[str, str]:
        for name in env:
            if not _VARIABLE.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a variable")
        _check_passable(env.values())
        return env

    @field_validator("files")
    @classmethod
    def _below_home(cls, files: dict[str, str]) -> dict[str, str]:
        for name in files:
            path = PurePosixPath(name)
            odd = path.is_absolute() or ".." in path.parts or not path.name or str(path) != name or "\0" in name
            if odd or path.parts[0] == "~" or max(len(part.encode()) for part in path.parts) > _LONGEST_PART:
                raise ValueError(f"{name!r} is no path below the home folder")
            if name == STDIN or any(str(above) in files for above in path.parents):
                raise ValueError(f"{name!r} cannot be there: its place is taken by another file")
        return files

    def texts(self) -> Iterator[tuple[str, str]]:
        """Each text in which places may stand, with its key."""
        yield from ((f"command.{number}", text) for number, text in enumerate(self.command))
        yield from ((f"env.{name}", text) for name, text in self.env.items())
        yield from ((f"files.{name}", text) for name, text in self.files.items())
        yield "stdin", self.stdin

    @model_validator(mode="after")
    def _known_places(self) -> Launch:
        for key, text in self.texts():
            for place in _PLACE.findall(text):
                if place not in PLACES:
                    raise ValueError(f"{key}: {{{place}}} is no place; {nearest(place, PLACES)}")
        if not any("prompt" in _PLACE.findall(text) for _, text in self.texts()):
            raise ValueError("{prompt} stands nowhere: the harness would never hear of its task")
        return self


class External(_Part):
    """A real harness: name, version, the wire it speaks, and how to install, start and ask it for its version.

    `share` are folders of this machine that the box sees, read-only and at their own paths; `shared` is a hash over
    what is in them, filled in where the adapter is loaded.
    """

    kind: Literal["external"] = "external"
    name: str
    version: str
    about: str = ""
    licence: str = ""
    wire: WireName
    install: Install = Install()
    launch: Launch
    version_command: tuple[str, ...] = ()
    share: tuple[str, ...] = ()
    shared: str = ""

    @field_validator("version", mode="before")
    @classmethod
    def _text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int | float) else value

    @field_validator("name")
    @classmethod
    def _plain(cls, value: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9][\w.+-]*", value) or len(value) > _LONGEST_NAME:
            raise ValueError(f"name {value[:80]!r} must be letters, digits, '.', '_', '+' and '-', not many")
        return value

    @field_validator("version")
    @classmethod
    def _pinned(cls, value: str) -> str:
        if not value or not _EXACT.fullmatch(value):
            raise ValueError(f"an exact version is needed, such as 1.2.3, not {value!r}")
        return value

    @field_validator("version_command")
    @classmethod
    def _known_places(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        for place in (place for word in words for place in _PLACE.findall(word)):
            if place not in PLACES:
                raise ValueError(f"{{{place}}} is no place; {nearest(place, PLACES)}")
        _check_passable(words)
        return words

    def spec(self) -> dict[str, Any]:
        """The adapter as canonical JSON; `External.model_validate` reads it back."""
        return self.model_dump(mode="json")

    @cached_property
    def id(self) -> str:
        """Twelve hexadecimal digits over all but words on it: equal ids mean that the same is run."""
        told = self.spec()
        for words in ("name", "about", "licence", "share", *(() if self.share else ("shared",))):
            del told[words]
        del told["install"]["size_mb"]
        return hashlib.sha256(orjson.dumps(told, option=orjson.OPT_SORT_KEYS)).hexdigest()[:12]


def _check_passable(words: Collection[str]) -> None:
    """Raise where a program cannot be given these words.

    Raises:
        ValueError: one holds what no argument and no variable can.
    """
    for word in words:
        if "\0" in word or any("\ud800" <= character <= "\udfff" for character in word):
            raise ValueError(f"{word[:80]!r} holds a NUL or half a character")


def filled(text: str, places: Mapping[str, str]) -> str:
    """A text with its places filled; what a value itself holds in braces stays as it is."""
    return _PLACE.sub(lambda match: places[match[1]], text)


def named_externals() -> dict[str, Path]:
    """The adapters that travel with the package, by name."""
    return {path.stem: path for path in sorted((bundled.folder("harnesses") / "external").glob("*.yaml"))}


def load_external(name_or_path: str | Path) -> External:
    """An external harness by its name, or from a YAML file anywhere.

    Raises:
        ConfigError: if there is none of that name, or the file does not hold one; naming file and key.
    """
    known, given = named_externals(), str(name_or_path)
    if given in known:
        path = known[given]
    elif given.endswith((".yaml", ".yml")) or "/" in given:
        path = Path(given)
    else:
        raise ConfigError(f"no external harness {given!r}; {nearest(given, known)}; or give the path of a YAML file")
    external = make_external({"name": path.stem, **read_yaml(path)}, str(path))
    if not external.share:
        return external
    folders = [(path.parent / folder).resolve() for folder in external.share]
    told = {"share": [str(folder) for folder in folders], "shared": digest_of(folders, str(path))}
    return make_external({**external.spec(), **told}, str(path))


def make_external(data: Mapping[str, Any], where: str) -> External:
    """An external harness from its YAML form.

    Raises:
        ConfigError: naming `where` and the key.
    """
    return parse(External, dict(data), where)
