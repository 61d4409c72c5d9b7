"""An external harness as data: how it is installed, started, and pointed at a gateway."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, TypeAlias

import orjson
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from harness_eval import bundled
from harness_eval.config import parse, read_yaml
from harness_eval.errors import ConfigError, nearest
from harness_eval.gateway.wires import WireName

PLACES = ("prompt", "base_url", "key", "model", "home", "workdir", "installed")
"""What `{...}` may name in a command, a variable or a file. `base_url` has no `/v1` at its end; `installed` is the
folder of the installation; `home` and `workdir` are folders in the box."""

Packages: TypeAlias = dict[str, Annotated[str, Field(min_length=1)]]

_PLACE = re.compile(r"(?<!\$)\{([a-z_]+)\}")  # neither a shell's ${name} nor what JSON and TOML have between braces
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
        return command

    @field_validator("files")
    @classmethod
    def _below_home(cls, files: dict[str, str]) -> dict[str, str]:
        for name in files:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or not path.name:
                raise ValueError(f"{name!r} is no path below the home folder")
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
        if not any("{prompt}" in text for _, text in self.texts()):
            raise ValueError("{prompt} stands nowhere: the harness would never hear of its task")
        return self


class External(_Part):
    """A real harness: name, version, the wire it speaks, and how to install, start and ask it for its version."""

    kind: Literal["external"] = "external"
    name: str
    version: str
    about: str = ""
    licence: str = ""
    wire: WireName
    install: Install = Install()
    launch: Launch
    version_command: tuple[str, ...] = ()

    @field_validator("version", mode="before")
    @classmethod
    def _text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int | float) else value

    @field_validator("name")
    @classmethod
    def _plain(cls, value: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9][\w.+-]*", value):
            raise ValueError(f"name {value!r} must be letters, digits, '.', '_', '+' and '-'")
        return value

    @field_validator("version")
    @classmethod
    def _pinned(cls, value: str) -> str:
        if not value or not _EXACT.fullmatch(value):
            raise ValueError(f"an exact version is needed, such as 1.2.3, not {value!r}")
        return value

    def spec(self) -> dict[str, Any]:
        """The adapter as canonical JSON; `External.model_validate` reads it back."""
        return self.model_dump(mode="json")

    @cached_property
    def id(self) -> str:
        """Twelve hexadecimal digits over all but words on it: equal ids mean that the same is run."""
        told = self.model_dump(
            mode="json", exclude={"name": True, "about": True, "licence": True, "install": {"size_mb": True}}
        )
        return hashlib.sha256(orjson.dumps(told, option=orjson.OPT_SORT_KEYS)).hexdigest()[:12]


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
    return make_external({"name": path.stem, **read_yaml(path)}, str(path))


def make_external(data: Mapping[str, Any], where: str) -> External:
    """An external harness from its YAML form.

    Raises:
        ConfigError: naming `where` and the key.
    """
    return parse(External, dict(data), where)
