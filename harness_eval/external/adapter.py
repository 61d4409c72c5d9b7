"""An external harness as data: how it is installed, started, and pointed at a gateway."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias

import orjson
from pydantic import BaseModel, ConfigDict, Field

from harness_eval.gateway.wires import WireName

PLACES = ("prompt", "base_url", "key", "model", "home", "workdir", "installed")
"""What `{...}` may name in a command, a variable or a file. `base_url` has no `/v1` at its end; `installed` is the
folder of the installation; `home` and `workdir` are folders in the box."""

Packages: TypeAlias = dict[str, Annotated[str, Field(min_length=1)]]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Install(_Part):
    """Packages by name with their exact versions, from npm and PyPI; none where the box has the program already."""

    npm: Packages = Field(default_factory=dict)
    pypi: Packages = Field(default_factory=dict)


class Launch(_Part):
    """One headless run: the command, its variables, and files that must be there before, by path below the home folder.

    `ends_with_error` are exit codes that are no failure of the harness but how it ends, besides 0.
    """

    command: tuple[str, ...]
    env: dict[str, str] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)
    stdin: str = ""
    ends_with_error: tuple[int, ...] = ()


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

    def spec(self) -> dict[str, Any]:
        """The adapter as canonical JSON; `External.model_validate` reads it back."""
        return self.model_dump(mode="json")

    @cached_property
    def id(self) -> str:
        """Twelve hexadecimal digits over all but name and about: equal ids mean that the same is run."""
        told: Mapping[str, Any] = {key: value for key, value in self.spec().items() if key not in {"name", "about"}}
        return hashlib.sha256(orjson.dumps(told, option=orjson.OPT_SORT_KEYS)).hexdigest()[:12]
